"""What lies between the components of a pipeline: guards, fan-out, and the stream tracker."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from attrs import evolve

from otelgpu.component import Consumer
from otelgpu.points.batch import Batch
from otelgpu.points.event import EventBatch
from otelgpu.points.stream import Stream
from otelgpu.semconv.metrics import OTELGPU_COMPONENT_ERRORS
from otelgpu.telemetry.component import ComponentTelemetry


class Guard:
    """Calls one component; what it raises is counted and logged, and costs its branch alone."""

    def __init__(
        self, consumer: Consumer, telemetry: ComponentTelemetry, logger: logging.Logger
    ) -> None:
        self._consumer = consumer
        self._telemetry = telemetry
        self._log = logger
        self._said: str | None = None

    def consume(self, batch: Batch) -> None:
        try:
            self._consumer.consume(batch)
        except Exception as error:  # noqa: BLE001 - one component must not end the receiver
            self._lost(error, len(batch), "points")

    def consume_events(self, batch: EventBatch) -> None:
        try:
            self._consumer.consume_events(batch)
        except Exception as error:  # noqa: BLE001 - one component must not end the receiver
            self._lost(error, len(batch), "events")

    def _lost(self, error: Exception, count: int, what: str) -> None:
        self._telemetry.add(OTELGPU_COMPONENT_ERRORS, 1, {"error.type": type(error).__name__})
        if self._said != repr(error):
            # The same mistake at each batch is told once; the counter tells how often.
            self._said = repr(error)
            self._log.error("%d %s lost by an error of this component", count, what, exc_info=error)


class Fanout:
    """Gives one batch to several consumers, each of which is a guard."""

    def __init__(self, consumers: Sequence[Consumer]) -> None:
        self._consumers = consumers

    def consume(self, batch: Batch) -> None:
        for consumer in self._consumers:
            consumer.consume(batch)

    def consume_events(self, batch: EventBatch) -> None:
        for consumer in self._consumers:
            consumer.consume_events(batch)


class StreamTracker:
    """Last stage before the exporters: names the streams that a source no longer has."""

    def __init__(self, next_consumer: Consumer, *, pass_empty: bool = False) -> None:
        """``pass_empty`` lets a batch through in which nothing is, as a sign of life."""
        self._next = next_consumer
        self._pass_empty = pass_empty
        self._before: dict[str, dict[Stream, None]] = {}

    @property
    def count(self) -> int:
        """How many streams go through now."""
        return sum(map(len, list(self._before.values())))

    def consume(self, batch: Batch) -> None:
        now = dict.fromkeys([point[0] for point in batch.points])
        before = self._before.get(batch.source)
        self._before[batch.source] = now
        if before and (gone := [stream for stream in before if stream not in now]):
            batch = evolve(batch, ended=[s for s in gone if not self._has(s)])
        if len(batch) or self._pass_empty:
            self._next.consume(batch)

    def consume_events(self, batch: EventBatch) -> None:
        self._next.consume_events(batch)

    def _has(self, stream: Stream) -> bool:
        """Return whether any source has a stream: two may see one device."""
        return any(stream in streams for streams in self._before.values())
