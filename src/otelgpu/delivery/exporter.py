"""Assembly of a queued exporter, and its accounts as the agent's own metrics."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

from attrs import frozen

from otelgpu.component import Clock, Settings
from otelgpu.delivery.encoder import MetricsEncoder
from otelgpu.delivery.events import EventsEncoder
from otelgpu.delivery.ledger import Ledger, Totals
from otelgpu.delivery.outcome import Transport
from otelgpu.delivery.queue import MemoryQueue, QueueConfig
from otelgpu.delivery.report import Report
from otelgpu.delivery.retry import BackOff, RetryConfig
from otelgpu.delivery.sender import B, Lane, Sender
from otelgpu.delivery.split import POINTS, RECORDS
from otelgpu.delivery.worker import Worker
from otelgpu.points.batch import Batch
from otelgpu.points.event import EventBatch
from otelgpu.points.metric import Metric
from otelgpu.semconv import metrics as semconv
from otelgpu.telemetry.component import Observation


@frozen
class Destination:
    """Where one signal goes."""

    transport: Transport
    timeout: float
    """Seconds that one attempt may take."""


def queued_exporter(
    settings: Settings,
    points: Destination,
    events: Destination,
    retry: RetryConfig,
    queue: QueueConfig,
) -> Worker:
    """Return an exporter that queues, sends and accounts for points and events."""
    url = semconv.SCHEMA_URL
    of_points: Lane[Batch] = Lane(
        "points", MetricsEncoder(url), POINTS, points.transport, points.timeout
    )
    of_events: Lane[EventBatch] = Lane(
        "events", EventsEncoder(url), RECORDS, events.transport, events.timeout
    )
    point_sender = _sender(of_points, settings, retry, queue)
    event_sender = _sender(of_events, settings, retry, queue)
    settings.telemetry.observe(observer(point_sender, event_sender, queue, settings.clock))
    return Worker(
        point_sender,
        event_sender,
        telemetry=settings.telemetry,
        logger=settings.logger,
        clock=settings.clock,
    )


def observer(
    points: Sender[Batch], events: Sender[EventBatch], queue: QueueConfig, clock: Clock
) -> Callable[[], Iterable[Observation]]:
    """Return what reads the accounts of both signals as ``otelgpu.exporter.*``."""

    def observe() -> Iterator[Observation]:
        of_points, of_events = points.ledger.totals, events.ledger.totals
        yield semconv.OTELGPU_EXPORTER_ACCEPTED, of_points.accepted, {}
        yield semconv.OTELGPU_EXPORTER_QUEUE_SIZE, of_points.queued, {}
        yield semconv.OTELGPU_EXPORTER_QUEUE_CAPACITY, queue.queue_size, {}
        yield from _fates(semconv.OTELGPU_EXPORTER_POINTS, of_points)
        if of_events.accepted:
            yield semconv.OTELGPU_EXPORTER_EVENT_ACCEPTED, of_events.accepted, {}
            yield semconv.OTELGPU_EXPORTER_EVENT_QUEUE_SIZE, of_events.queued, {}
            yield from _fates(semconv.OTELGPU_EXPORTER_EVENTS, of_events)
        waiting = [at for at in (points.queue.oldest, events.queue.oldest) if at is not None]
        if waiting:
            yield semconv.OTELGPU_EXPORTER_QUEUE_AGE, clock.monotonic() - min(waiting), {}

    return observe


def _sender(lane: Lane[B], settings: Settings, retry: RetryConfig, queue: QueueConfig) -> Sender[B]:
    ledger = Ledger()
    jitter = random.Random().random  # noqa: S311  spreads attempts, guards nothing
    return Sender(
        lane,
        queue=MemoryQueue(queue.queue_size, queue.queue_bytes, ledger),
        ledger=ledger,
        report=Report(lane.noun, lane.transport.destination, settings.logger, settings.clock),
        retry=retry,
        back_off=BackOff(retry, jitter),
        max_size=queue.batch.max_size,
        clock=settings.clock,
    )


def _fates(metric: Metric, totals: Totals) -> Iterator[Observation]:
    yield metric, totals.sent, {"otelgpu.outcome": "sent"}
    for outcome, reasons in (("rejected", totals.rejected), ("dropped", totals.dropped)):
        for reason, count in reasons.items():
            yield metric, count, {"otelgpu.outcome": outcome, "error.type": reason}
