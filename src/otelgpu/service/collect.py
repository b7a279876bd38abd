"""Reads once what a configuration would send, without sending it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta

import attrs
from attrs import frozen

from otelgpu.component import Inspectable, Signal
from otelgpu.config.component import ComponentSpec
from otelgpu.config.document import Document
from otelgpu.points.batch import Batch, Point
from otelgpu.points.event import EventBatch
from otelgpu.points.stream import Stream
from otelgpu.scraping.support import DeviceSupport
from otelgpu.service.graph import LOGGER, Environment, build
from otelgpu.service.lifecycle import Lifecycle
from otelgpu.telemetry.health import ComponentHealth, health

_LONGEST = timedelta(seconds=1)
"""Most that two reads are apart: nobody waits longer for a rate."""
_STOP = 1.0
"""Seconds for stopping what has read."""


@frozen
class Collected:
    """What was read."""

    batches: list[Batch]
    """The last one of each receiver that has points; a stream is in one of them only."""
    receivers: list[ComponentHealth]
    """State of each receiver."""
    complete: bool
    """Whether every receiver came to its end in time."""
    support: Mapping[str, Sequence[DeviceSupport]]
    """By receiver: what each of its devices gave, and why it did not give the rest."""


class _Capture:
    """Stands in for the exporters: keeps the last batch of each source, and counts them."""

    def __init__(self, scrapes: Mapping[str, int]) -> None:
        self._missing = dict(scrapes)
        self._changed = threading.Condition()
        self.last: dict[str, Batch] = {}
        self._times: dict[str, set[int]] = {source: set() for source in scrapes}

    def start(self) -> None:
        """There is nothing to acquire."""

    def shutdown(self, timeout: float) -> None:
        """There is nothing to release."""

    def consume(self, batch: Batch) -> None:
        with self._changed:
            before = self.last.get(batch.source)
            if before is not None and before.time == batch.time:
                # The same hand-over through another pipeline.
                batch = attrs.evolve(batch, points=_union(before, batch))
            self.last[batch.source] = batch
            self._times[batch.source].add(batch.time)
            self._changed.notify_all()

    def consume_events(self, batch: EventBatch) -> None:
        """Events are not part of what is read once."""

    def wait(self, timeout: float) -> bool:
        """Wait until every source has handed over as often as it takes."""
        with self._changed:
            return self._changed.wait_for(self._whole, timeout)

    def _whole(self) -> bool:
        return all(len(self._times[s]) >= count for s, count in self._missing.items())


def _union(first: Batch, second: Batch) -> list[Point]:
    seen: set[Stream] = {point[0] for point in first.points}
    return [*first.points, *(p for p in second.points if p[0] not in seen)]


def collect(document: Document, environment: Environment, timeout: float) -> Collected:
    """Read everything as often as rates need, at most one second apart, within ``timeout`` (s).

    Raises:
        StartError: a receiver or a processor could not start.

    """
    document = attrs.evolve(
        document, components={k: _hasten(spec) for k, spec in document.components.items()}
    )
    metrics = [p for p in document.pipelines.values() if p.signal is Signal.METRICS]
    used = {id_ for p in metrics for id_ in p.receivers}
    specs = [document.components["receivers", id_] for id_ in sorted(used)]
    capture = _Capture({spec.id: spec.factory.scrapes for spec in specs})
    graph = build(document, environment, capture)
    lifecycle = Lifecycle(graph.components, _STOP, logging.getLogger(LOGGER))
    lifecycle.start()
    try:
        complete = capture.wait(timeout)
        # Asked before they stop, since stopping is a state too.
        support = {
            named.name.partition("::")[2]: named.component.support()
            for named in graph.components
            if named.kind == "receivers" and isinstance(named.component, Inspectable)
        }
        states = [c for c in health(graph.registry).components if c.kind == "receivers"]
    finally:
        lifecycle.stop()
    batches = [batch for batch in capture.last.values() if batch.points]
    return Collected(batches, states, complete, support)


def _hasten(spec: ComponentSpec) -> ComponentSpec:
    interval = getattr(spec.config, "collection_interval", None)
    if not isinstance(interval, timedelta) or interval <= _LONGEST:
        return spec
    return attrs.evolve(spec, config=attrs.evolve(spec.config, collection_interval=_LONGEST))
