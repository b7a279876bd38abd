"""What lies between components: guards, fan-out, the end of streams."""

from __future__ import annotations

import logging

import pytest
from tests.service.fakes import EVENT, WATTS

from otelgpu.points.batch import Batch
from otelgpu.points.event import EventBatch
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Stream, Streams
from otelgpu.semconv import metrics as m
from otelgpu.service.edges import Fanout, Guard, StreamTracker
from otelgpu.telemetry.component import ComponentTelemetry

RESOURCE = Resource({})
A, B, C = (Stream(WATTS, {"hw.id": name}) for name in "abc")


class Sink:
    def __init__(self, error: Exception | None = None) -> None:
        self.batches: list[Batch] = []
        self.events: list[EventBatch] = []
        self.error = error

    def consume(self, batch: Batch) -> None:
        if self.error is not None:
            raise self.error
        self.batches.append(batch)

    def consume_events(self, batch: EventBatch) -> None:
        if self.error is not None:
            raise self.error
        self.events.append(batch)


def batch(source: str, *streams: Stream) -> Batch:
    return Batch(source, 1, RESOURCE, [(stream, 1.0, 0) for stream in streams])


def test_what_a_source_no_longer_has_is_ended_once() -> None:
    sink = Sink()
    tracker = StreamTracker(sink)
    for streams in ((A, B, C), (B,), (B,), (A, B)):
        tracker.consume(batch("r", *streams))
    assert [list(one.ended) for one in sink.batches] == [[], [A, C], [], []]
    assert [len(one.points) for one in sink.batches] == [3, 1, 1, 2]


def test_a_stream_that_came_back_can_end_again() -> None:
    sink = Sink()
    tracker = StreamTracker(sink)
    for streams in ((A,), (), (A,), ()):
        tracker.consume(batch("r", *streams))
    assert [list(one.ended) for one in sink.batches] == [[], [A], [], [A]]


def test_sources_end_their_own_streams_only() -> None:
    sink = Sink()
    tracker = StreamTracker(sink)
    tracker.consume(batch("r", A))
    tracker.consume(batch("other", B))
    tracker.consume(batch("r"))
    assert [(one.source, list(one.ended)) for one in sink.batches[2:]] == [("r", [A])]
    assert tracker.count == 1


def test_a_stream_that_another_source_has_has_not_ended() -> None:
    sink = Sink()
    tracker = StreamTracker(sink)
    for source, streams in (("r", (A, B)), ("other", (A,)), ("r", ()), ("other", ())):
        tracker.consume(batch(source, *streams))
    assert [list(one.ended) for one in sink.batches] == [[], [], [B], [A]]


def test_a_batch_of_nothing_goes_no_further() -> None:
    sink, signs = Sink(), Sink()
    StreamTracker(sink).consume(batch("r"))
    StreamTracker(signs, pass_empty=True).consume(batch("r"))
    assert (len(sink.batches), len(signs.batches)) == (0, 1)


def test_the_batch_of_a_source_is_not_changed() -> None:
    tracker = StreamTracker(Sink())
    tracker.consume(batch("r", A))
    second = batch("r")
    tracker.consume(second)
    assert second.ended == ()


def test_how_many_streams_go_through() -> None:
    tracker = StreamTracker(Sink())
    tracker.consume(batch("r", A, B))
    tracker.consume(batch("other", C))
    assert tracker.count == 3
    tracker.consume(batch("r"))
    assert tracker.count == 1


class Guarded:
    def __init__(self, error: Exception | None) -> None:
        self.sink = Sink(error)
        self.telemetry = ComponentTelemetry({}, Streams())
        self.guard = Guard(self.sink, self.telemetry, logging.getLogger("otelgpu.exporters.x"))

    def errors(self) -> dict[object, float]:
        return {
            stream.attributes["error.type"]: value
            for stream, value in self.telemetry.collect()
            if stream.metric is m.OTELGPU_COMPONENT_ERRORS
        }


def test_an_error_is_counted_and_told_once_for_each_kind(caplog: pytest.LogCaptureFixture) -> None:
    guarded = Guarded(ValueError("mistake"))
    for _ in range(3):
        guarded.guard.consume(batch("r", A, B))
    guarded.sink.error = KeyError("other")
    guarded.guard.consume_events(EventBatch("r", RESOURCE, [EVENT]))
    assert guarded.errors() == {"ValueError": 3, "KeyError": 1}
    assert [r.getMessage() for r in caplog.records] == [
        "2 points lost by an error of this component",
        "1 events lost by an error of this component",
    ]
    assert "ValueError: mistake" in caplog.text


def test_an_error_costs_its_own_branch_alone() -> None:
    broken, well = Guarded(ValueError("mistake")), Guarded(None)
    fanout = Fanout([broken.guard, well.guard])
    one, events = batch("r", A), EventBatch("r", RESOURCE, [EVENT])
    fanout.consume(one)
    fanout.consume_events(events)
    assert well.sink.batches == [one]
    assert well.sink.events == [events]
    assert broken.errors() == {"ValueError": 2}


def test_an_interrupt_is_no_error_of_a_component() -> None:
    guard = Guard(Interrupted(), ComponentTelemetry({}, Streams()), logging.getLogger("x"))
    with pytest.raises(KeyboardInterrupt):
        guard.consume(batch("r", A))


class Interrupted(Sink):
    def consume(self, batch: Batch) -> None:
        raise KeyboardInterrupt
