"""The processes of one device: lists read once a cycle for all metrics, and samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import frozen

from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.processes.buffer import Buffer
from nvmlreceiver.processes.listing import Deaths, Listing, merge
from nvmlreceiver.processes.lists import ProcessList
from nvmlreceiver.processes.liveness import Proc
from nvmlreceiver.processes.records import LONGEST, Record
from nvmlreceiver.processes.samples import Samples
from nvmlreceiver.readings.memory import memory_info
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError
from otelgpu.scraping.table import Point
from otelgpu.semconv.attributes import HW_GPU_TASK, PROCESS_PID, HwGpuProcessType

FUNCTIONS = {
    HwGpuProcessType.COMPUTE: "nvmlDeviceGetComputeRunningProcesses",
    HwGpuProcessType.GRAPHICS: "nvmlDeviceGetGraphicsRunningProcesses",
    HwGpuProcessType.MPS: "nvmlDeviceGetMPSComputeRunningProcesses",
}
"""NVML's function by kind of list, without its version."""


@frozen
class _Listed:
    """What the lists of this cycle say, for the samples."""

    pids: frozenset[int]
    complete: bool
    """Whether a process that is in no list is none of this device."""
    deaths: Deaths


class Processes:
    """The processes of one GPU or MIG instance; remembers something of it, so of no other."""

    def __init__(self, proc: Proc, time_ns: Callable[[], int]) -> None:
        """``time_ns`` is the wall clock, as the driver's samples have its time."""
        self._proc = proc
        self._time_ns = time_ns
        buffer = Buffer(LONGEST)
        self._lists = {kind: ProcessList(name, buffer) for kind, name in FUNCTIONS.items()}
        self._samples = Samples()
        self._total: int | None = None
        self._sized = False
        self._listed: _Listed | None = None
        self._accounted: int | None = None
        """Bytes of all processes of this cycle, None where not all are known."""

    def lists(self, device: NvmlDevice, kinds: Sequence[str]) -> list[Listing | ReadError]:
        """Return what lists say, in the order of ``kinds``.

        Raises:
            TargetLostError: the GPU is lost.

        """
        self._listed = self._accounted = None
        records: dict[str, list[Record]] = {}
        failed: dict[str, ReadError] = {}
        for kind in kinds:
            try:
                records[kind] = self._lists[kind].read(device)
            except TargetLostError:
                raise
            except ReadError as error:
                failed[kind] = error
        look = self._proc.look()
        total = self._size(device) if any(records.values()) else None
        listings = merge(records, total, device.instance, look)
        refused = all(isinstance(error, UnsupportedError) for error in failed.values())
        pids = {pid for listing in listings.values() for pid, _ in listing.memory}
        complete = bool(records) and refused
        self._listed = _Listed(frozenset(pids), complete, look)
        self._accounted = _accounted(listings) if complete else None
        return [failed[kind] if kind in failed else listings[kind] for kind in kinds]

    def unattributed(self, used: int | None) -> int:
        """Return the bytes of the used ones that no process of this cycle's lists accounts for.

        Raises:
            UnsupportedError: we cannot see all processes of the host.
            ReadError: the memory of a process is not known (``not_all_listed``), or the used memory
                is not (``absent``).

        """
        if not self._proc.look().sees_all():
            raise UnsupportedError("not all processes of the host can be seen: hostPID, or proc")
        accounted, self._accounted = self._accounted, None
        if accounted is None:
            raise ReadError("not_all_listed", "not every process and its memory is known")
        if used is None:
            raise ReadError("absent", "the used memory is not known")
        return used - accounted

    def _size(self, device: NvmlDevice) -> int | None:
        """Return the device's memory in bytes, None where it cannot be told (now)."""
        if not self._sized:
            try:
                self._total = memory_info(device).total
            except TargetLostError:
                raise
            except UnsupportedError:
                # The GPU shares the memory of its host.
                self._total = None
            except ReadError:
                return None
            self._sized = True
        return self._total

    def utilization(self, device: NvmlDevice) -> list[Point]:
        """Return how busy each process kept the GPU since the last cycle, by task.

        Raises:
            ReadError: the samples cannot be read now.
            UnsupportedError: the GPU has none.
            TargetLostError: the GPU is lost.

        """
        listed = self._listed_now(device)
        if listed.complete and not listed.pids:
            # Samples could only be of processes that are gone.
            return []
        now = self._time_ns() // 1000
        look = self._samples.read(device, now)
        points: list[Point] = []
        for pid in listed.pids:
            if pid in look.new:
                points += _points(pid, look.new[pid].shares)
            elif pid in look.doubtful:
                points.append(({PROCESS_PID: pid}, ReadError("stale")))
            else:
                points += _points(pid, self._samples.quiet(pid, now))
        for pid in look.new.keys() - listed.pids:
            if listed.deaths.is_dead(pid):
                points.append(({PROCESS_PID: pid}, ReadError("dead_process")))
            elif listed.complete:
                points.append(({PROCESS_PID: pid}, ReadError("not_listed")))
            else:
                points += _points(pid, look.new[pid].shares)
        self._samples.forget_others({*listed.pids, *look.new})
        return points

    def _listed_now(self, device: NvmlDevice) -> _Listed:
        """Return what the lists of this cycle say; nobody has read them if no metric needs them."""
        if self._listed is None:
            self.lists(device, [kind for kind, one in self._lists.items() if not one.refused])
        listed, self._listed = self._listed, None
        return listed or _Listed(frozenset(), False, self._proc.look())


def _accounted(listings: Mapping[str, Listing]) -> int | None:
    """Return the bytes that living processes hold, None where not all are known."""
    total = 0
    for listing in listings.values():
        if any(refusal.reason != "dead_process" for refusal in listing.refusals):
            return None
        for _, memory in listing.memory:
            if not isinstance(memory, int):
                return None
            total += memory
    return total


def _points(pid: int, shares: dict[str, float | ReadError]) -> Iterable[Point]:
    return [({PROCESS_PID: pid, HW_GPU_TASK: task}, share) for task, share in shares.items()]
