"""Batches as text: pure functions, one line for each thing that is shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from debugexporter.config import Verbosity
from debugexporter.devices import device_lines
from otelgpu.points.batch import Batch, Point
from otelgpu.points.event import Event, EventBatch
from otelgpu.points.metric import Instrument, ValueType
from otelgpu.points.stream import Stream


def render(batch: Batch, verbosity: Verbosity) -> str:
    """Return what is shown of a batch: whole lines, each with its line feed."""
    lines = [_head(batch)]
    if verbosity is Verbosity.NORMAL:
        lines += device_lines(batch)
    elif verbosity is Verbosity.DETAILED:
        lines += (_point(point) for point in batch.points)
        lines += (f"  {_stream(stream)} ended" for stream in batch.ended)
    return "".join(f"{line}\n" for line in lines)


def render_events(batch: EventBatch, verbosity: Verbosity) -> str:
    """Return what is shown of events: a line each, with their attributes when detailed."""
    detailed = verbosity is Verbosity.DETAILED
    lines = [line for event in batch.events for line in _event(batch.source, event, detailed)]
    return "".join(f"{line}\n" for line in lines)


def _head(batch: Batch) -> str:
    ids = {point[0].attributes.get("hw.id") for point in batch.points} - {None}
    counts = [_count(len(batch.points), "point")]
    if ids:
        counts.append(_count(len(ids), "device"))
    if batch.ended:
        counts.append(f"{len(batch.ended)} ended")
    return f"{_time(batch.time)} {batch.source}: {', '.join(counts)}"


def _point(point: Point) -> str:
    stream, value, start = point
    metric = stream.metric
    number = str(int(value)) if metric.value_type is ValueType.INT else f"{value:.6g}"
    unit = "" if metric.unit == "1" else f" {metric.unit}"
    since = f" since {_time(start)}" if metric.instrument is Instrument.COUNTER else ""
    return f"  {_stream(stream)} {number}{unit}{since}"


def _event(source: str, event: Event, detailed: bool) -> Iterator[str]:
    time = _time(event.time or event.observed)
    device = event.attributes.get("hw.id", "")
    where = f" {device}" if device else ""
    yield f"{time} {source}: {event.severity.name} {event.name}{where}: {_clean(event.body)}"
    if detailed:
        for key, value in event.attributes.items():
            yield f"  {key}={_clean(str(value))}"


def _stream(stream: Stream) -> str:
    pairs = (f'{key}="{_clean(str(value))}"' for key, value in stream.attributes.items())
    return f"{stream.metric.name}{{{', '.join(pairs)}}}"


def _clean(text: str) -> str:
    """Return text without control characters, which could forge lines or command a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _time(nanoseconds: int) -> str:
    """Return a time of the Unix epoch as RFC 3339 in UTC, to the millisecond."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{moment}.{rest // 1_000_000:03d}Z"
