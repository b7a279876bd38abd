"""One GPU as the client found it."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import c_void_p, cast
from typing import Any

from attrs import field, frozen

from nvmlreceiver.binding import Binding
from nvmlreceiver.nvml import NVML_DEVICE_ARCH_AMPERE
from otelgpu.points.stream import Attributes

_GA100 = (8, 0)
"""CUDA compute capability of GA100, the one Ampere chip that reads power as older ones do."""


def address(handle: Any) -> int | None:
    """Return where a handle points to; two handles are the same GPU if that is equal."""
    return cast(handle, c_void_p).value


@frozen
class Traits:
    """What a GPU model has, which some readings depend on; None where the driver does not tell."""

    model: str | None = None
    architecture: int | None = None
    """``NVML_DEVICE_ARCH_*``."""
    compute_capability: tuple[int, int] | None = None
    fans: int | None = None
    clock_event_reasons: int | None = None
    """Bits of ``nvmlClocksEventReason*`` that the driver can report."""
    field_numbers: Mapping[int, int | None] = field(factory=dict)
    """Fields that the driver knows by another number than our header, or that must not be asked."""


@frozen
class Instance:
    """A MIG compute instance and the GPU instance that it is part of."""

    parent: NvmlDevice
    """The GPU."""
    gpu_instance: int
    compute_instance: int
    profile: str | None
    """As NVIDIA names it, such as ``1g.10gb``."""
    leads: bool
    """Whether it is the first of its GPU instance. Memory and activity belong to the GPU instance,
    so they are told of the first compute instance alone, or plain sums would be wrong."""
    alone: bool
    """Whether its GPU instance has no other."""


@frozen
class NvmlDevice:
    """A whole GPU, or a MIG instance of one.

    ``handle`` is valid while the library stays open; ``session`` counts its openings, so that a
    GPU found after another one is a new device and all that describes it is read anew.
    """

    id: str
    attributes: Attributes
    nvml: Binding = field(eq=False, repr=False)
    handle: Any = field(eq=address, repr=False)
    session: int
    index: int
    pci_address: str | None
    traits: Traits
    partitioned: bool = False
    """Whether the GPU is in MIG mode: memory, processes and activity are its instances'."""
    instance: Instance | None = None
    """Which instance this is; None of a whole GPU."""

    def ask(self, function: str, *arguments: Any) -> Any:
        """Call an NVML function on this GPU.

        Raises:
            ReadError: as ``Binding.call`` does.

        """
        return self.nvml.call(function, self.handle, *arguments)

    @property
    def averages_power(self) -> bool | None:
        """Whether nvmlDeviceGetPowerUsage is an average over 1 s or, if False, the power now.

        As its documentation says: averaged from Ampere on, but not on GA100. None if not known.
        """
        if self.traits.architecture is None:
            return None
        if self.traits.architecture != NVML_DEVICE_ARCH_AMPERE:
            return self.traits.architecture > NVML_DEVICE_ARCH_AMPERE
        capability = self.traits.compute_capability
        return None if capability is None else capability != _GA100
