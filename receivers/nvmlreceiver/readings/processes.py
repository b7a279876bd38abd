"""Processes: their memory, their number by kind of context, and how busy they keep the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.processes.listing import Listing
from nvmlreceiver.processes.liveness import Proc
from nvmlreceiver.processes.reading import FUNCTIONS, Processes
from nvmlreceiver.readings.memory import MemoryReading
from otelgpu.scraping.table import AnyEmit, Batched, Emit, EmitEach, Field, Point, Read, Row
from otelgpu.semconv.attributes import HW_GPU_PROCESS_TYPE, PROCESS_PID
from otelgpu.semconv.metrics import (
    HW_GPU_MEMORY_UNATTRIBUTED,
    HW_GPU_PROCESS_COUNT,
    PROCESS_GPU_MEMORY_USAGE,
    PROCESS_GPU_UTILIZATION,
)


def _memory(listing: Listing) -> Iterable[Point]:
    told = [({PROCESS_PID: pid}, memory) for pid, memory in listing.memory]
    return [*told, *(({}, refusal) for refusal in listing.refusals)]


def _emits(kind: str) -> list[AnyEmit]:
    return [
        EmitEach(PROCESS_GPU_MEMORY_USAGE, _memory),
        Emit(HW_GPU_PROCESS_COUNT, lambda listing: listing.count, {HW_GPU_PROCESS_TYPE: kind}),
    ]


class ProcessRows:
    """Makes the rows for a device; what they remember of it ends with it."""

    def __init__(self, proc: Proc, time_ns: Callable[[], int]) -> None:
        """``time_ns`` is the wall clock."""
        self._proc = proc
        self._time_ns = time_ns

    def gpu(self, memory: MemoryReading) -> list[Row[NvmlDevice]]:
        """Return the rows for a GPU that is not in MIG mode; they follow those of its memory."""
        processes = Processes(self._proc, self._time_ns)
        source = "nvmlDeviceGetProcessesUtilizationInfo"
        emits = [EmitEach(PROCESS_GPU_UTILIZATION, lambda points: points)]
        return [
            _lists(processes),
            Read(source, processes.utilization, emits),
            _unattributed(processes, memory),
        ]

    def instance(self, memory: MemoryReading | None) -> list[Row[NvmlDevice]]:
        """Return the rows for a MIG instance: the driver has no utilization in MIG mode.

        ``memory`` is that of its GPU instance, None where other compute instances share it.
        """
        processes = Processes(self._proc, self._time_ns)
        rows = [_lists(processes)]
        return rows if memory is None else [*rows, _unattributed(processes, memory)]


def _unattributed(processes: Processes, memory: MemoryReading) -> Row[NvmlDevice]:
    # No call: both have been read in this cycle, so they are of the same moment, nearly.
    return Read(
        "nvmlDeviceGetMemoryInfo_v2 less the lists of processes",
        lambda _: processes.unattributed(memory.take_used()),
        [Emit(HW_GPU_MEMORY_UNATTRIBUTED, lambda size: size)],
    )


def _lists(processes: Processes) -> Row[NvmlDevice]:
    source = ", ".join(f"{function}_v3" for function in FUNCTIONS.values())
    fields = [Field(kind, _emits(kind)) for kind in FUNCTIONS]
    return Batched(source, processes.lists, fields)
