"""Writes from a thread of its own: what reads the output may be slow, stopped or gone."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TextIO

from attrs import frozen

from debugexporter.config import DebugConfig
from debugexporter.text import render, render_events
from otelgpu.component import Settings
from otelgpu.delivery.ledger import Drop, Ledger, Totals
from otelgpu.points.batch import Batch
from otelgpu.points.event import EventBatch
from otelgpu.points.metric import Metric
from otelgpu.semconv import metrics as m
from otelgpu.telemetry.component import OK, Observation

QUEUE = 64
"""Batches that wait at most; the oldest go when one more comes."""
FAILED = "debug.output_failed"
"""The output takes nothing: a closed pipe, a full disk."""


@frozen
class _Item:
    """A batch that is to be written."""

    count: int
    ledger: Ledger
    text: Callable[[], str]


class DebugExporter:
    """Writes every batch to a text stream."""

    def __init__(self, settings: Settings, config: DebugConfig, output: TextIO) -> None:
        self._settings = settings
        self._verbosity = config.verbosity
        self._output = output
        self._points = Ledger()
        self._events = Ledger()
        self._queue: deque[_Item] = deque()
        self._writing: _Item | None = None
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=settings.id, daemon=True)
        settings.telemetry.observe(self._observe)

    def start(self) -> None:
        self._thread.start()
        self._settings.telemetry.enter(OK)

    def shutdown(self, timeout: float) -> None:
        """Write what waits; what cannot be written in time is dropped and counted."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        with self._changed:
            left = [*self._queue, *([self._writing] if self._writing else [])]
            self._queue.clear()
            self._writing = None
            for item in left:
                item.ledger.drop(item.count, Drop.SHUTDOWN)
        if left:
            self._settings.logger.warning("%d batches were not written by shutdown", len(left))

    def consume(self, batch: Batch) -> None:
        verbosity = self._verbosity
        self._put(_Item(len(batch), self._points, lambda: render(batch, verbosity)))

    def consume_events(self, batch: EventBatch) -> None:
        verbosity = self._verbosity
        self._put(_Item(len(batch), self._events, lambda: render_events(batch, verbosity)))

    def _put(self, item: _Item) -> None:
        with self._changed:
            item.ledger.accept(item.count)
            if self._stopping:
                item.ledger.drop(item.count, Drop.SHUTDOWN)
                return
            if len(self._queue) == QUEUE:
                oldest = self._queue.popleft()
                oldest.ledger.drop(oldest.count, Drop.QUEUE_FULL)
            self._queue.append(item)
            self._changed.notify()

    def _run(self) -> None:
        while (item := self._take()) is not None:
            try:
                text = item.text()
            except Exception:
                # The thread has no caller: log here, or the exporter would die unseen.
                self._settings.logger.exception("%d items could not be shown", item.count)
                self._settle(item, partial(item.ledger.drop, reason=Drop.INTERNAL))
                continue
            error = self._write(text)
            if error is None:
                self._settle(item, item.ledger.send)
            else:
                self._settle(item, partial(item.ledger.reject, reason="output_failed"))
            self._judge(error)

    def _write(self, text: str) -> Exception | None:
        try:
            self._output.write(text)
            self._output.flush()
        except (OSError, ValueError) as error:
            # A closed stream raises ValueError. A full disk may have room again later.
            return error
        return None

    def _judge(self, error: Exception | None) -> None:
        telemetry = self._settings.telemetry
        if error is None:
            telemetry.enter(OK)
        elif telemetry.enter(FAILED, str(error)):
            self._settings.logger.warning("state %s: %s", FAILED, error)

    def _take(self) -> _Item | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._stopping)
            self._writing = self._queue.popleft() if self._queue else None
            return self._writing

    def _settle(self, item: _Item, fate: Callable[[int], None]) -> None:
        """Account for what has been written, unless the shutdown has given it up."""
        with self._changed:
            if self._writing is item:
                self._writing = None
                fate(item.count)

    def _observe(self) -> Iterable[Observation]:
        points, events = self._points.totals, self._events.totals
        yield m.OTELGPU_EXPORTER_ACCEPTED, points.accepted, {}
        yield m.OTELGPU_EXPORTER_QUEUE_SIZE, points.queued, {}
        yield from _fates(m.OTELGPU_EXPORTER_POINTS, points)
        if events.accepted:
            yield m.OTELGPU_EXPORTER_EVENT_ACCEPTED, events.accepted, {}
            yield m.OTELGPU_EXPORTER_EVENT_QUEUE_SIZE, events.queued, {}
            yield from _fates(m.OTELGPU_EXPORTER_EVENTS, events)


def _fates(metric: Metric, totals: Totals) -> Iterator[Observation]:
    yield metric, totals.sent, {"otelgpu.outcome": "sent"}
    for outcome, reasons in (("rejected", totals.rejected), ("dropped", totals.dropped)):
        for reason, count in reasons.items():
            yield metric, count, {"otelgpu.outcome": outcome, "error.type": reason}
