"""The one door from receivers into the pipelines."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Sequence

from attrs import define

from otelgpu.component import Clock, Consumer
from otelgpu.points.batch import Batch, Readings
from otelgpu.points.epochs import Epochs
from otelgpu.points.event import Event, EventBatch
from otelgpu.points.resource import Resource
from otelgpu.semconv.metrics import (
    OTELGPU_CLOCK_STEPPED,
    OTELGPU_COUNTER_BACKWARDS,
    OTELGPU_SCRAPE_DROPPED,
)
from otelgpu.telemetry.component import ComponentTelemetry

_MILLISECOND = 1_000_000
STEP = 60_000_000_000
"""A wall clock that is set back by more than this (ns) is believed; less is waited out."""
PACE = 0.9
"""Pace of our times until a clock that was set back is there: near 1, so that rates stay right."""


class Door:
    """Lets one source at a time through, each batch with a time later than the last.

    Backends refuse a batch that is older than the Resource's last one. Nothing behind this door may
    block: look-ups, disk and network have threads of their own.
    """

    def __init__(
        self,
        resource: Resource,
        clock: Clock,
        telemetry: ComponentTelemetry,
        logger: logging.Logger,
    ) -> None:
        self._resource = resource
        self._clock = clock
        self._telemetry = telemetry
        self._log = logger
        self._epochs = Epochs()
        self._last = 0
        self._stamped = clock.monotonic()
        self._lock = threading.Lock()

    def entrance(self, source: str, metrics: Consumer, events: Consumer) -> Entrance:
        """Return the way in for one source, and where its two signals go."""
        return Entrance(self, source, metrics, events)

    def readings(
        self, source: str, readings: Readings, restarted: Collection[str], consumer: Consumer
    ) -> None:
        """Stamp what a source has read and send it on."""
        with self._lock:
            time = self._time()
            finite = [r for r in readings if r[1] - r[1] == 0]
            if len(finite) != len(readings):
                self._refuse(readings)
            points = self._epochs.points(source, finite, time, self._stamped, restarted)
            for stream in self._epochs.held:
                attributes = {"otelgpu.metric": stream.metric.name}
                self._telemetry.add(OTELGPU_COUNTER_BACKWARDS, 1, attributes)
            consumer.consume(Batch(source, time, self._resource, points))

    def events(self, source: str, events: Sequence[Event], consumer: Consumer) -> None:
        """Send a source's events on."""
        with self._lock:
            consumer.consume_events(EventBatch(source, self._resource, tuple(events)))

    def _refuse(self, readings: Readings) -> None:
        """Count values that are no finite numbers: no backend takes them."""
        for stream, value in readings:
            if value - value != 0:
                attributes = {"otelgpu.metric": stream.metric.name, "error.type": "out_of_range"}
                self._telemetry.add(OTELGPU_SCRAPE_DROPPED, 1, attributes)

    def _time(self) -> int:
        wall, monotonic = self._clock.time_ns(), self._clock.monotonic()
        passed = int((monotonic - self._stamped) * PACE * 1e9)
        self._stamped = monotonic
        if wall < self._last - STEP:
            seconds = (self._last - wall) / 1e9
            self._log.warning("the wall clock was set back by %.0f s; times go back too", seconds)
            self._telemetry.add(OTELGPU_CLOCK_STEPPED)
            self._last = wall
        elif wall > self._last:
            self._last = wall
        else:
            self._last += max(_MILLISECOND, passed)
        return self._last


@define(eq=False)
class Entrance:
    """The door as one source sees it: a ``HandOver``."""

    _door: Door
    _source: str
    _metrics: Consumer
    _events: Consumer

    def readings(self, readings: Readings, restarted: Collection[str] = ()) -> None:
        """Hand over all that the source has now; a stream that is missing has ended."""
        self._door.readings(self._source, readings, restarted, self._metrics)

    def events(self, events: Sequence[Event]) -> None:
        """Hand over events."""
        if events:
            self._door.events(self._source, events, self._events)
