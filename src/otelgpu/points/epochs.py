"""Start times of counters that began before us and fall when a driver restarts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from attrs import define

from otelgpu.points.batch import Point, Reading, Readings
from otelgpu.points.metric import Instrument
from otelgpu.points.stream import Stream
from otelgpu.semconv.metrics import HW_GPU_FAULTS, HW_GPU_LIFETIME_ERRORS

JITTER = 0.5
"""A measured quantity that falls by less than this share did not restart: drivers jitter."""
KEPT = 600.0
"""Seconds for which an epoch outlives the last reading of its stream."""
_SWEEP = 60.0
_LASTING = frozenset({HW_GPU_FAULTS, HW_GPU_LIFETIME_ERRORS})
"""Counters that a driver keeps, or that are ours: they go on when it is loaded anew."""


@define(eq=False)
class _Epoch:
    start: int
    seen: int
    value: float
    source: str
    cycle: int
    touched: float
    over: bool = False
    """Whether what is counted from now on is counted from 0."""

    def restarted(self, reading: Reading, source: str, cycle: int) -> bool:
        """Return whether a counter that fell has begun anew, rather than jittered.

        Numbers of things do not jitter. Nor is it jitter when the counter was away in between, as
        while a driver is loaded anew; another source may lag a little.
        """
        stream, value = reading
        if value < self.value * JITTER:
            return True
        if source != self.source:
            return False
        return cycle != self.cycle + 1 or stream.metric.unit.startswith("{")


class Epochs:
    """Gives each point its start; lives as long as the service, so that reloads change nothing.

    The first point of a counter starts at its own time: what it counted before us is not ours to
    date. After a fall the new start is the time of the last reading before it, so that a conversion
    to deltas loses nothing (OpenTelemetry metrics data model, "cumulative streams: handling resets"
    and "inserting true reset points").
    """

    def __init__(self) -> None:
        self._epochs: dict[Stream, _Epoch] = {}
        self._cycles: Counter[str] = Counter()
        self._swept = float("-inf")
        self.held: list[Stream] = []
        """Streams whose last value was held in the last call: they fell by a little."""

    def points(
        self,
        source: str,
        readings: Readings,
        now: int,
        monotonic: float,
        restarted: Collection[str] = (),
    ) -> list[Point]:
        """Return a source's readings as points of the time ``now`` (ns since the Unix epoch).

        ``restarted`` are the hw.ids whose driver was loaded anew since the source's last readings.
        """
        self.held = []
        if restarted:
            self._restart(set(restarted))
        self._cycles[source] += 1
        counter = Instrument.COUNTER
        points = [
            self._counted(source, reading, now, monotonic)
            if reading[0].metric.instrument is counter
            else (*reading, 0)
            for reading in readings
        ]
        if monotonic >= self._swept + _SWEEP:
            self._sweep(monotonic)
        return points

    def _restart(self, ids: set[str]) -> None:
        """Let the counters of devices begin anew, also those that will not be seen to fall."""
        for stream, epoch in self._epochs.items():
            if stream.attributes.get("hw.id") in ids and stream.metric not in _LASTING:
                epoch.over = True

    def _counted(self, source: str, reading: Reading, now: int, monotonic: float) -> Point:
        stream, value = reading
        cycle = self._cycles[source]
        epoch = self._epochs.get(stream)
        if epoch is None:
            epoch = self._epochs[stream] = _Epoch(now, now, value, source, cycle, monotonic)
        elif value >= epoch.value and not epoch.over:
            epoch.value = value
        elif epoch.over or epoch.restarted(reading, source, cycle):
            # Always another start than before, also at a fall right after the first point: by the
            # same start a reader takes the points for one sequence and drops the one that fell.
            epoch.start = max(epoch.seen, epoch.start + 1)
            epoch.value = value
            epoch.over = False
        else:
            self.held.append(stream)
        # The wall clock may be set back: a start must not lie after its point.
        epoch.start = min(epoch.start, now)
        epoch.seen, epoch.touched = now, monotonic
        epoch.source, epoch.cycle = source, cycle
        return (stream, epoch.value, epoch.start)

    def _sweep(self, monotonic: float) -> None:
        self._swept = monotonic
        for stream in [s for s, e in self._epochs.items() if e.touched < monotonic - KEPT]:
            del self._epochs[stream]
