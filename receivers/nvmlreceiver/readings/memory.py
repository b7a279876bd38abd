"""Device memory and the window to it (BAR1)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from attrs import frozen

from nvmlreceiver.calls import MINUTE, FirstOf, call
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.fieldrequest import NOT_AVAILABLE
from nvmlreceiver.nvml import (
    NVML_CLOCK_MEM,
    NVML_DEVICE_ARCH_BLACKWELL,
    NVML_DEVICE_ARCH_PASCAL,
    nvmlMemory_v2,
)
from nvmlreceiver.scales import mega, same
from otelgpu.scraping.errors import UnsupportedError
from otelgpu.scraping.table import Emit, Read, Row
from otelgpu.semconv.attributes import HW_GPU_MEMORY_REGION, HwGpuMemoryRegion
from otelgpu.semconv.metrics import (
    HW_GPU_MEMORY_BANDWIDTH_LIMIT,
    HW_GPU_MEMORY_FREE,
    HW_GPU_MEMORY_LIMIT,
    HW_GPU_MEMORY_REGION_LIMIT,
    HW_GPU_MEMORY_REGION_USAGE,
    HW_GPU_MEMORY_RESERVED,
    HW_GPU_MEMORY_USAGE,
    HW_GPU_MEMORY_UTILIZATION,
)


@frozen
class Memory:
    """Bytes of device memory; None where the driver has no value now."""

    total: int | None
    free: int | None
    allocated: int | None = None
    kept: int | None = None
    split: bool = True
    """Whether the driver tells what is allocated from what it keeps for itself."""

    @property
    def used(self) -> int | None:
        """What is allocated.

        Raises:
            UnsupportedError: the driver does not tell it from what it reserves.

        """
        self._must_split()
        return self.allocated

    @property
    def reserved(self) -> int | None:
        """What driver and firmware keep for themselves; raises as ``used`` does."""
        self._must_split()
        return self.kept

    @property
    def utilization(self) -> float | None:
        """Used part of the whole; raises as ``used`` does."""
        used = self.used
        return None if used is None or not self.total else used / self.total

    def _must_split(self) -> None:
        if not self.split:
            raise UnsupportedError("drivers before 510 count what they reserve as used")


def _second(device: NvmlDevice) -> Memory:
    found = device.ask("nvmlDeviceGetMemoryInfo", nvmlMemory_v2)
    return Memory(
        _known(found.total), _known(found.free), _known(found.used), _known(found.reserved)
    )


def _first(device: NvmlDevice) -> Memory:
    # Drivers before 510: what the driver reserves counts as used there, which the convention
    # excludes and which cannot be told apart.
    found = device.ask("nvmlDeviceGetMemoryInfo")
    return Memory(_known(found.total), _known(found.free), split=False)


def _known(value: Any) -> int | None:
    return None if value in NOT_AVAILABLE else int(value)


def memory_info(device: NvmlDevice) -> Memory:
    """Return the memory by nvmlDeviceGetMemoryInfo_v2, else by its first version.

    Raises:
        ReadError: it cannot be read, or the GPU has no memory of its own.

    """
    found: Memory = FirstOf(_second, _first)(device)
    return found


class MemoryReading:
    """The memory of one device, kept for the row that compares it with the processes'."""

    def __init__(self) -> None:
        self._read = FirstOf(_second, _first)
        self._used: int | None = None

    def __call__(self, device: NvmlDevice) -> Memory:
        """Return the memory.

        Raises:
            ReadError: as ``memory_info`` does.

        """
        self._used = None
        found: Memory = self._read(device)
        # Drivers before 510 do not tell it.
        with suppress(UnsupportedError):
            self._used = found.used
        return found

    def take_used(self) -> int | None:
        """Return the used memory of this cycle, once: it must not serve for another cycle."""
        used, self._used = self._used, None
        return used


def rows(reading: MemoryReading) -> list[Row[NvmlDevice]]:
    """Return the row of the device memory, for one device."""
    emits: list[Emit[Memory]] = [
        Emit(HW_GPU_MEMORY_LIMIT, lambda m: m.total),
        Emit(HW_GPU_MEMORY_USAGE, lambda m: m.used),
        Emit(HW_GPU_MEMORY_FREE, lambda m: m.free),
        Emit(HW_GPU_MEMORY_RESERVED, lambda m: m.reserved),
        Emit(HW_GPU_MEMORY_UTILIZATION, lambda m: m.utilization),
    ]
    return [Read("nvmlDeviceGetMemoryInfo_v2", reading, emits)]


_RATED = range(NVML_DEVICE_ARCH_PASCAL, NVML_DEVICE_ARCH_BLACKWELL + 1)
"""Architectures of which data sheets confirm two transfers for each cycle of the memory clock that
NVML tells: HBM2 to HBM3e, GDDR5 to GDDR7 (H100: 5120 bits x 2,619 MHz x 2 = 3.35 TB/s)."""
_TRANSFERS = 2


def _bandwidth(device: NvmlDevice) -> int:
    architecture = device.traits.architecture
    if architecture is None:
        architecture = device.ask("nvmlDeviceGetArchitecture")
    if architecture not in _RATED:
        raise UnsupportedError("transfers per memory clock of this architecture are not known")
    bits = device.ask("nvmlDeviceGetMemoryBusWidth")
    megahertz = device.ask("nvmlDeviceGetMaxClockInfo", NVML_CLOCK_MEM)
    if not bits or not megahertz:
        raise UnsupportedError("no memory of its own")
    return int(bits * mega(megahertz) * _TRANSFERS // 8)


BANDWIDTH: list[Row[NvmlDevice]] = [
    Read(
        "nvmlDeviceGetMemoryBusWidth, nvmlDeviceGetMaxClockInfo",
        _bandwidth,
        [Emit(HW_GPU_MEMORY_BANDWIDTH_LIMIT, same)],
        every=MINUTE,
    ),
]

_WINDOW = {HW_GPU_MEMORY_REGION: HwGpuMemoryRegion.BAR1}

BAR1: list[Row[NvmlDevice]] = [
    Read(
        "nvmlDeviceGetBAR1MemoryInfo",
        call("nvmlDeviceGetBAR1MemoryInfo"),
        [
            Emit(HW_GPU_MEMORY_REGION_LIMIT, lambda b: _known(b.bar1Total), _WINDOW),
            Emit(HW_GPU_MEMORY_REGION_USAGE, lambda b: _known(b.bar1Used), _WINDOW),
        ],
    ),
]
