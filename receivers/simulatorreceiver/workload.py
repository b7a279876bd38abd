"""What processes and holders have of the devices: points that processors make of real devices.

A simulated pid names no real process, so no processor could attribute it; the simulator hands these
points over as they would leave the pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Metric
from otelgpu.points.stream import Attributes, Streams
from otelgpu.semconv import metrics as m
from simulatorreceiver.catalog import NVIDIA
from simulatorreceiver.device import SimulatedDevice
from simulatorreceiver.holders import Holder

_Values = Iterator[tuple[Metric, float, Attributes]]
_GENERAL = {"hw.gpu.task": "general"}


class Workloads:
    """Reads the holders of all devices."""

    def __init__(
        self,
        devices: Sequence[SimulatedDevice],
        streams: Streams,
        enabled: Callable[[Metric], bool],
    ) -> None:
        self._devices = devices
        self._streams = streams
        self._enabled = enabled

    def readings(self) -> Readings:
        """Return the points of processes, allocations and workloads at the timeline's moment."""
        return [
            (self._streams.get(metric, attributes), value)
            for device in self._devices
            for metric, value, attributes in _of_device(device)
            if self._enabled(metric)
        ]


def _of_device(device: SimulatedDevice) -> _Values:
    if not device.holders:
        yield m.HW_GPU_ALLOCATION_COUNT, 0, device.attributes
        yield m.HW_GPU_ALLOCATION_FRACTION, 0, device.attributes
    for holder in device.holders:
        yield from _allocation(device, holder)
        yield from _workload(device, holder)
        yield from _processes(device, holder)


def _allocation(device: SimulatedDevice, holder: Holder) -> _Values:
    held = {**device.attributes, **holder.attributes, "hw.gpu.allocation.mode": holder.mode}
    resource = "nvidia.com/gpu" if device.model.vendor == NVIDIA else "amd.com/gpu"
    name = {"hw.gpu.allocation.resource_name": resource} if holder.scheduled else {}
    yield m.HW_GPU_ALLOCATION_COUNT, 1, {**held, **name}
    yield m.HW_GPU_ALLOCATION_FRACTION, holder.fraction, held


def _workload(device: SimulatedDevice, holder: Holder) -> _Values:
    attributes = {**device.attributes, **holder.attributes}
    physics, now, fraction = device.physics, device.now, holder.fraction
    use = device.utilization() * holder.share
    yield m.HW_GPU_WORKLOAD_UTILIZATION, use, {**attributes, **_GENERAL}
    yield m.HW_GPU_WORKLOAD_MEMORY_USAGE, device.held_memory(holder), attributes
    if holder.mode == "exclusive":
        yield m.HW_GPU_WORKLOAD_MEMORY_LIMIT, device.model.memory, attributes
    yield m.HW_GPU_WORKLOAD_ALLOCATED_TIME, fraction * now, attributes
    yield m.HW_GPU_WORKLOAD_ACTIVE_TIME, fraction * physics.active_time(now), attributes
    yield m.HW_GPU_WORKLOAD_IDLE_TIME, fraction * physics.idle_time(now), attributes
    yield m.HW_GPU_WORKLOAD_UNKNOWN_TIME, 0.0, attributes
    yield m.HW_GPU_WORKLOAD_ENERGY, fraction * physics.energy(now), attributes


def _processes(device: SimulatedDevice, holder: Holder) -> _Values:
    for process in holder.processes:
        attributes = {
            "hw.id": device.id,
            "process.pid": process.pid,
            "process.executable.name": process.executable,
            **holder.attributes,
        }
        memory = device.process_memory(holder, process)
        yield m.PROCESS_GPU_MEMORY_USAGE, memory, attributes
        use = device.utilization() * holder.share * process.share
        yield m.PROCESS_GPU_UTILIZATION, use, {**attributes, **_GENERAL}
