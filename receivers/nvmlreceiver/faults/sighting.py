"""What the sources of faults have in common."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from otelgpu.points.stream import Attributes
from otelgpu.semconv.attributes import HwGpuFaultType


@frozen
class Fault:
    """What is counted: a code on a GPU."""

    gpu: str
    """hw.id of the GPU: never of a MIG instance, or one fault would be several."""
    type: str
    code: int


def xid(gpu: str, code: int) -> Fault:
    """Return an XID of a GPU."""
    return Fault(gpu, HwGpuFaultType.XID, code)


def loss(gpu: str) -> Fault:
    """Return the fault of a GPU that no longer answers, without an XID that says why."""
    return Fault(gpu, HwGpuFaultType.LOST, 0)


class Source(StrEnum):
    """Who tells of XIDs."""

    EVENTS = "events"
    """NVML's event set: at once, but without time and text."""
    KERNEL = "kernel"
    """The kernel log: with time and text, and from before the agent's start."""


@frozen
class Detail:
    """What is known of one sighting."""

    time: int = 0
    """When it happened, in ns since the Unix epoch, as the kernel says; 0 if it does not."""
    text: str = ""
    """The driver's own words."""
    pid: int | None = None
    place: str = ""
    """Which part of the GPU, such as ``GPU instance 3, compute instance 0``."""


@frozen
class Gpu:
    """A GPU as far as faults need it."""

    id: str
    attributes: Attributes
    pci_address: str | None
