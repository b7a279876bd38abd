"""Batches of events as OTLP log requests, straight to bytes.

Field numbers are those of opentelemetry/proto/logs/v1/logs.proto.
"""

from __future__ import annotations

from collections.abc import Iterator

from otelgpu.delivery import wire
from otelgpu.delivery.encoder import Encoded, Envelope
from otelgpu.points.event import Event, EventBatch


class EventsEncoder:
    """Encodes batches of events. Not safe to use from two threads at once."""

    def __init__(self, schema_url: str) -> None:
        self._envelope = Envelope(schema_url)

    def encode(self, batch: EventBatch, limit: int = 0) -> Iterator[Encoded]:
        """Yield ``ExportLogsServiceRequest`` messages of at most ``limit`` events, 0 for any."""
        size = limit or len(batch)
        for first in range(0, len(batch), size or 1):
            events = batch.events[first : first + size]
            records = b"".join([_record(event) for event in events])
            yield Encoded(self._envelope.around(batch.resource, records), len(events))

    def forget(self) -> None:
        """Nothing is kept between batches of events."""


def _record(event: Event) -> bytes:
    record = (
        wire.fixed64(1, event.time),
        wire.unsigned(2, event.severity),
        wire.string(3, event.severity.name),
        wire.length_delimited(5, wire.length_delimited(1, wire.utf8(event.body))),
        *[wire.key_value(6, k, v) for k, v in event.attributes.items()],
        wire.fixed64(11, event.observed),
        wire.string(12, event.name),
    )
    return wire.length_delimited(2, b"".join(record))
