"""Batches of points as OTLP requests, straight to bytes.

Field numbers and their order are those of opentelemetry/proto/metrics/v1/metrics.proto. The tests
hold the output byte for byte against the standard encoder's, which takes ten times as long.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from attrs import frozen

import otelgpu
from otelgpu.delivery import wire
from otelgpu.points.batch import Batch, Point
from otelgpu.points.metric import Instrument, Metric, ValueType
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Stream

# Tags of NumberDataPoint.
_START, _TIME, _AS_DOUBLE, _AS_INT = 0x11, 0x19, 0x21, 0x31
_FLAGS_NO_RECORDED_VALUE = b"\x40\x01"

_pack_double = struct.Struct("<BQBd").pack
_pack_int = struct.Struct("<BQBq").pack
_pack_started_double = struct.Struct("<BQBQBd").pack
_pack_started_int = struct.Struct("<BQBQBq").pack
_pack_time = struct.Struct("<BQ").pack
# Bytes of the parts of a point: time and value, with a start before them, time and flags.
_PLAIN, _STARTED, _ENDED = 18, 27, 11

_CUMULATIVE = b"\x10\x02"
_MONOTONIC = b"\x18\x01"

_Known = tuple[Metric, bool, bytes, bytes, bytes]
"""Metric, whether its values are integers, head of a point without and with start, attributes."""


@frozen
class Encoded:
    """One request: the message's bytes, the points in it, and those left out of it.

    ``skipped`` counts points whose value the wire cannot hold, such as an integer past int64.
    """

    payload: bytes
    count: int
    skipped: int = 0


class MetricsEncoder:
    """Encodes batches; keeps the bytes of each stream's attributes until the stream has ended.

    Not safe to use from two threads at once.
    """

    def __init__(self, schema_url: str) -> None:
        self._streams: dict[Stream, _Known] = {}
        self._metrics: dict[Metric, bytes] = {}
        self._envelope = Envelope(schema_url)

    def encode(self, batch: Batch, limit: int = 0) -> Iterator[Encoded]:
        """Yield ``ExportMetricsServiceRequest`` messages of at most ``limit`` points, 0 for any."""
        points, ended = batch.points, batch.ended
        size = limit or len(batch)
        for first in range(0, len(batch), size or 1):
            last = first + size
            rest = max(first - len(points), 0), max(last - len(points), 0)
            yield self._request(batch, points[first:last], ended[rest[0] : rest[1]])
        for stream in ended:
            self._streams.pop(stream, None)

    def forget(self) -> None:
        """Free what is kept for all streams; those that go on are encoded anew once."""
        self._streams.clear()

    def _request(self, batch: Batch, points: Sequence[Point], ended: Sequence[Stream]) -> Encoded:
        groups: dict[Metric, list[bytes]] = {}
        skipped = self._add_points(groups, batch.time, points)
        self._add_ended(groups, batch.time, ended)
        metrics = b"".join([self._metric(metric, parts) for metric, parts in groups.items()])
        payload = self._envelope.around(batch.resource, metrics)
        return Encoded(payload, len(points) + len(ended) - skipped, skipped)

    def _add_points(
        self, groups: dict[Metric, list[bytes]], time: int, points: Sequence[Point]
    ) -> int:
        known_streams, skipped = self._streams, 0
        for stream, value, start in points:
            known = known_streams.get(stream)
            metric, is_int, plain, started, attributes = known or self._learn(stream)
            try:
                if start:
                    head = started
                    if is_int:
                        body = _pack_started_int(_START, start, _TIME, time, _AS_INT, int(value))
                    else:
                        body = _pack_started_double(_START, start, _TIME, time, _AS_DOUBLE, value)
                else:
                    head = plain
                    if is_int:
                        body = _pack_int(_TIME, time, _AS_INT, int(value))
                    else:
                        body = _pack_double(_TIME, time, _AS_DOUBLE, value)
            except (struct.error, OverflowError, ValueError):
                skipped += 1
                continue
            parts = groups.get(metric)
            if parts is None:
                groups[metric] = [head, body, attributes]
            else:
                parts += (head, body, attributes)
        return skipped

    def _add_ended(
        self, groups: dict[Metric, list[bytes]], time: int, ended: Sequence[Stream]
    ) -> None:
        time_field = _pack_time(_TIME, time)
        for stream in ended:
            known = self._streams.get(stream) or self._learn(stream)
            metric, attributes = known[0], known[-1]
            head = b"\x0a" + wire.varint(_ENDED + len(attributes))
            groups.setdefault(metric, []).extend(
                (head, time_field, attributes, _FLAGS_NO_RECORDED_VALUE)
            )

    def _learn(self, stream: Stream) -> _Known:
        attributes = b"".join([wire.key_value(7, k, v) for k, v in stream.attributes.items()])
        known = (
            stream.metric,
            stream.metric.value_type is ValueType.INT,
            b"\x0a" + wire.varint(_PLAIN + len(attributes)),
            b"\x0a" + wire.varint(_STARTED + len(attributes)),
            attributes,
        )
        self._streams[stream] = known
        return known

    def _metric(self, metric: Metric, parts: list[bytes]) -> bytes:
        head = self._metrics.get(metric)
        if head is None:
            head = wire.string(1, metric.name) + wire.string(2, metric.brief)
            head = self._metrics[metric] = head + wire.string(3, metric.unit)
        if metric.instrument is Instrument.GAUGE:
            data = wire.length_delimited(5, b"".join(parts))
        else:
            parts.append(_CUMULATIVE)
            if metric.instrument is Instrument.COUNTER:
                parts.append(_MONOTONIC)
            data = wire.length_delimited(7, b"".join(parts))
        return wire.length_delimited(2, head + data)


class Envelope:
    """The messages around metrics or log records: one resource, one scope, their schema URLs."""

    def __init__(self, schema_url: str) -> None:
        scope = wire.string(1, otelgpu.__name__) + wire.string(2, otelgpu.__version__)
        self._scope = wire.length_delimited(1, scope)
        self._schema_url = wire.string(3, schema_url)
        self._resource: Resource | None = None
        self._resource_bytes = b""

    def around(self, resource: Resource, items: bytes) -> bytes:
        """Return the request with ``items``, which are fields 2 of ``Scope{Metrics,Logs}``."""
        if resource is not self._resource:
            attributes = [wire.key_value(1, k, v) for k, v in resource.attributes.items()]
            self._resource_bytes = wire.length_delimited(1, b"".join(attributes))
            self._resource = resource
        scope = wire.length_delimited(2, self._scope + items + self._schema_url)
        url = wire.string(3, resource.schema_url)
        return wire.length_delimited(1, self._resource_bytes + scope + url)
