"""The driver's samples of how busy processes kept a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import addressof, byref, c_uint, c_ulonglong, create_string_buffer
from struct import Struct

from attrs import frozen

from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.processes.buffer import Buffer
from otelgpu.scraping.errors import ReadError, UnsupportedError
from otelgpu.semconv.attributes import HwGpuTask

_TRIES = 3
_IDLE = 2_000_000
"""Microseconds without a sample after which a process was idle; the driver samples at least once a
second."""
_FIRST_WINDOW = 10_000_000
"""Microseconds that the first look goes back, and the first after a clock was set back."""
_AHEAD = 1_000_000
"""Microseconds by which a sample's time may be ahead of our clock."""

_TASKS = (
    HwGpuTask.GENERAL,
    HwGpuTask.MEMORY,
    HwGpuTask.ENCODER,
    HwGpuTask.DECODER,
    HwGpuTask.JPEG,
    HwGpuTask.OFA,
)
"""What a sample's numbers are, in order: smUtil, memUtil, encUtil, decUtil, jpgUtil, ofaUtil."""

_Way = Callable[[NvmlDevice, int], list["Sample"]]


@frozen
class Sample:
    """How busy one process kept the GPU."""

    pid: int
    time: int
    """The driver's, in microseconds since the Unix epoch."""
    percent: Sequence[int]
    """By task, in the order of ``_TASKS``; the older function tells four of them."""

    @property
    def shares(self) -> dict[str, float | ReadError]:
        """Share of the GPU's time by task."""
        found: dict[str, float | ReadError] = {}
        for task, percent in zip(_TASKS, self.percent, strict=False):
            beyond = percent > 100  # noqa: PLR2004 - percent of a whole
            found[task] = ReadError("out_of_range") if beyond else percent / 100
        return found


@frozen
class Look:
    """What the samples since the last look say."""

    new: dict[int, Sample]
    """The newest sample of each process."""
    doubtful: frozenset[int]
    """Processes of which there are samples of another time only."""


class Samples:
    """Samples of one GPU: each is used once."""

    def __init__(self) -> None:
        self._ways: list[_Way] = [_Newer().ask, _Older().ask]
        self._works: _Way | None = None
        self._newest = 0
        self._last: dict[int, Sample] = {}

    def read(self, device: NvmlDevice, now: int) -> Look:
        """Return the samples since the last look; ``now`` is in microseconds since the epoch.

        Raises:
            ReadError: they cannot be read now.
            UnsupportedError: the GPU has none; in MIG mode none has any.
            TargetLostError: the GPU is lost.

        """
        # After a clock was set back, nothing would be newer than what we saw for a long time.
        believed = 0 < self._newest <= now + _AHEAD
        since = self._newest if believed else now - _FIRST_WINDOW
        new: dict[int, Sample] = {}
        doubtful = set()
        for sample in self._ask(device, since):
            if not sample.pid or not sample.time:
                continue
            if not since < sample.time <= now + _AHEAD:
                doubtful.add(sample.pid)
            elif sample.pid not in new or new[sample.pid].time < sample.time:
                new[sample.pid] = sample
        self._newest = max((sample.time for sample in new.values()), default=since)
        self._last.update(new)
        return Look(new, frozenset(doubtful - new.keys()))

    def quiet(self, pid: int, now: int) -> dict[str, float | ReadError]:
        """Return the shares of a process that is there and of which there is no new sample.

        The driver gives a sample of each process that was busy in any way (nvml.h), so this one was
        idle, unless the last sample is so new that there cannot be another one yet.
        """
        last = self._last.get(pid)
        if last is None:
            return {HwGpuTask.GENERAL: 0.0, HwGpuTask.MEMORY: 0.0}
        if 0 <= now - last.time < _IDLE:
            return last.shares
        return dict.fromkeys(last.shares, 0.0)

    def forget_others(self, pids: set[int]) -> None:
        """Remember nothing of processes but these."""
        for pid in self._last.keys() - pids:
            del self._last[pid]

    def _ask(self, device: NvmlDevice, since: int) -> list[Sample]:
        """Ask by the newest function that works on this GPU."""
        ways = self._ways if self._works is None else [self._works]
        why = UnsupportedError()
        for way in ways:
            try:
                found = way(device, since)
            except UnsupportedError as error:
                why = error
                continue
            except ReadError as error:
                # What nvml.h says of no sample since the given time: it works, and all were idle.
                if error.reason != "not_found":
                    raise
                found = []
            self._works = way
            return found
        raise why


class _Newer:
    """nvmlDeviceGetProcessesUtilizationInfo, from driver 550 on."""

    def __init__(self) -> None:
        self._record = Struct("=Q7I4x")
        self._buffer = Buffer(self._record.size)
        # nvmlProcessesUtilizationInfo_v1_t: version, count, lastSeenTimeStamp, procUtilArray
        self._layout = Struct("=IIQQ")
        self._head = create_string_buffer(self._layout.size)

    def ask(self, device: NvmlDevice, since: int) -> list[Sample]:
        for _ in range(_TRIES):
            room, memory = self._buffer.room, self._buffer.memory
            version = self._layout.size | 1 << 24
            self._layout.pack_into(self._head, 0, version, room, since, addressof(memory))
            function = "nvmlDeviceGetProcessesUtilizationInfo"
            try:
                device.nvml.invoke(function, device.handle, byref(self._head))
            except ReadError as error:
                if error.reason != "insufficient_size":
                    raise
                self._buffer.grow(self._layout.unpack_from(self._head)[1])
            else:
                found = _records(
                    self._buffer, self._layout.unpack_from(self._head)[1], self._record
                )
                return [Sample(pid, time, percent) for time, pid, *percent in found]
        raise ReadError("insufficient_size", "the samples grow while they are read")


class _Older:
    """nvmlDeviceGetProcessUtilization, which older drivers have as well."""

    def __init__(self) -> None:
        self._record = Struct("=I4xQ4I")
        self._buffer = Buffer(self._record.size)

    def ask(self, device: NvmlDevice, since: int) -> list[Sample]:
        for _ in range(_TRIES):
            count = c_uint(self._buffer.room)
            arguments = self._buffer.memory, byref(count), c_ulonglong(since)
            try:
                device.nvml.invoke("nvmlDeviceGetProcessUtilization", device.handle, *arguments)
            except ReadError as error:
                if error.reason != "insufficient_size":
                    raise
                self._buffer.grow(count.value)
            else:
                found = _records(self._buffer, count.value, self._record)
                return [Sample(pid, time, percent) for pid, time, *percent in found]
        raise ReadError("insufficient_size", "the samples grow while they are read")


def _records(buffer: Buffer, count: int, record: Struct) -> Sequence[tuple[int, ...]]:
    if count > buffer.room:
        raise ReadError("layout", f"{count} samples in room for {buffer.room}")
    return list(record.iter_unpack(buffer.memory.raw[: count * record.size]))
