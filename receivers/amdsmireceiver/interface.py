"""What the client of AMD SMI will return: shapes and units, once and for all.

All values are in SI units and None where the device has none. The library itself says "none" in
several ways, each of which ends here: the text ``N/A``, all bits set in a field of any width (also
inside of lists), an activity above 100. Nothing in this version returns these yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import frozen

from otelgpu.points.stream import Attributes


@frozen
class AmdDevice:
    """A GPU, or a compute partition of one: AMD SMI has a processor handle for each."""

    id: str
    """``hw.id``: ``amdsmi_get_gpu_device_uuid``, with ``/p<n>`` for partition n, or
    ``pci:<address>`` where the UUID is missing, all zero or the same as another's."""
    attributes: Attributes
    """hw.id, hw.type, hw.vendor ``AMD``, hw.model (``market_name``), hw.parent of a partition."""
    pci_address: str
    """``domain:bus:device.function`` of ``amdsmi_get_gpu_device_bdf``, without the partition id
    that newer libraries put into its bits 28 to 31."""
    partition: int | None
    """``current_partition_id`` of ``amdsmi_get_gpu_kfd_info``; None for a GPU in one piece."""
    leads_socket: bool
    """Whether values of the whole board (power, energy, temperature, clocks, links) are read here:
    true for partition 0 and for a GPU in one piece, else they would count several times."""


@frozen
class GpuMetrics:
    """One ``amdsmi_get_gpu_metrics_info``: all that changes from moment to moment."""

    temperatures: Mapping[str, float]
    """Degrees Celsius by sensor: edge, hotspot, memory, vr_gfx, ... without those it lacks."""
    gfx_activity: float | None
    """0 to 1, from percent."""
    umc_activity: float | None
    """0 to 1: memory controller."""
    mm_activity: float | None
    """0 to 1: media engines."""
    energy: float | None
    """Joules since the driver was loaded: ``energy_accumulator`` x ``counter_resolution`` (uJ)."""
    socket_power: float | None
    """Watts now: ``current_socket_power`` (MI300 and later)."""
    average_socket_power: float | None
    """Watts over the firmware's window: ``average_socket_power`` (MI200, Radeon)."""
    clocks: Mapping[str, float]
    """Hertz by domain (graphics, memory, soc, video), from MHz."""
    throttled: Mapping[str, float]
    """Seconds so far by ``hw.gpu.throttle.reason``, from the residency accumulators."""
    xgmi_read: int | None
    """Bytes so far over all links, from KiB."""
    xgmi_written: int | None
    pcie_replays: int | None
    pcie_naks_sent: int | None
    pcie_naks_received: int | None
    pcie_width: int | None
    """Lanes in use."""
    pcie_speed: float | None
    """Transfers a second and lane, from units of 0.1 GT/s."""


@frozen
class MemoryUse:
    """``amdsmi_get_gpu_memory_total`` and ``_usage`` of one pool, in bytes."""

    total: int
    used: int


@frozen
class PowerCap:
    """``amdsmi_get_power_cap_info`` in watts, from microwatts."""

    cap: float
    default: float | None
    lowest: float | None
    highest: float | None


@frozen
class EccCounts:
    """Errors since the driver was loaded, ``amdsmi_get_gpu_ecc_count`` of one block."""

    corrected: int | None
    uncorrected: int | None
    deferred: int | None


@frozen
class GpuProcess:
    """One entry of ``amdsmi_get_gpu_process_list``; those of other users need root."""

    pid: int
    name: str
    memory: int | None
    """Bytes of device memory."""
    gfx_time: float | None
    """Seconds that graphics and compute engines have worked for it so far, from ns."""


class AmdSmi(Protocol):
    """The calls of the receiver's table.

    Each raises UnsupportedError (``NOT_SUPPORTED``), TargetLostError (device gone or in reset) or
    ReadError with one of the reasons ``no_permission``, ``busy`` (``BUSY``, ``RETRY``: another
    client holds the device), ``timeout`` or ``internal``. A call may hang with the device's
    firmware: the scraper's deadline covers that. Calls that sleep are not made: violation status
    (100 ms) and PCIe throughput (1 s).
    """

    def devices(self) -> Sequence[AmdDevice]:
        """Return all GPUs and partitions, by ``amdsmi_get_processor_handles`` of all sockets."""

    def gpu_metrics(self, device: AmdDevice) -> GpuMetrics:
        """Return what changes from moment to moment, by one call a cycle: it is the dear one."""

    def memory(self, device: AmdDevice) -> Mapping[str, MemoryUse]:
        """Return memory by pool: ``vram``, ``visible_vram``, ``gtt``."""

    def power_cap(self, device: AmdDevice) -> PowerCap:
        """Return the power limits."""

    def ecc(self, device: AmdDevice) -> Mapping[str, EccCounts]:
        """Return errors by block that has ECC enabled: umc, gfx, sdma, ..."""

    def retired_pages(self, device: AmdDevice) -> Mapping[str, int]:
        """Return bad pages by their status: reserved, pending, unreservable."""

    def xgmi_links(self, device: AmdDevice) -> Sequence[bool | None]:
        """Return for each link to another GPU whether it is up, None where that is not told."""

    def processes(self, device: AmdDevice) -> Sequence[GpuProcess]:
        """Return the processes that hold a context on the device."""

    def describe(self, device: AmdDevice) -> Attributes:
        """Return the attributes of ``hw.gpu.info``, read once for each discovery."""
