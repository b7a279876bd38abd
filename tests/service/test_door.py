"""Times that only go up, one source at a time, nothing that is no number."""

from __future__ import annotations

import logging
import threading

import pytest
from tests.service.fakes import EVENT, JOULES, LONG, WATTS

from otelgpu.points.batch import Batch
from otelgpu.points.event import EventBatch
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Stream, Streams
from otelgpu.semconv import metrics as m
from otelgpu.service.door import Door
from otelgpu.telemetry.component import ComponentTelemetry

SECOND = 1_000_000_000
MS = 1_000_000
STREAM = Stream(WATTS, {})


class Sink:
    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.events: list[EventBatch] = []
        self.inside = 0
        self.together = 0

    def consume(self, batch: Batch) -> None:
        self.inside += 1
        self.together = max(self.together, self.inside)
        self.batches.append(batch)
        self.inside -= 1

    def consume_events(self, batch: EventBatch) -> None:
        self.events.append(batch)


class Clocks:
    """A wall clock that anybody may set, beside one that never steps."""

    def __init__(self) -> None:
        self.wall = 1000.0
        self.steady = 0.0

    def time_ns(self) -> int:
        return round(self.wall * SECOND)

    def monotonic(self) -> float:
        return self.steady


class Bench:
    def __init__(self) -> None:
        self.clock = Clocks()
        self.telemetry = ComponentTelemetry({}, Streams())
        self.sink = Sink()
        self.resource = Resource({})
        logger = logging.getLogger("otelgpu")
        self.door = Door(self.resource, self.clock, self.telemetry, logger)
        self.entrance = self.door.entrance("r", self.sink, self.sink)

    def at(self, seconds: float, after: float = 0.0) -> int:
        """Hand over at a wall-clock time, some seconds later; return the batch's time."""
        self.clock.wall = seconds
        self.clock.steady += after
        self.entrance.readings([(STREAM, 1.0)])
        return self.sink.batches[-1].time

    def counted(self) -> dict[str, float]:
        return {s.metric.name: value for s, value in self.telemetry.collect()}


def test_a_batch_has_all_that_it_takes() -> None:
    bench = Bench()
    bench.at(10)
    (batch,) = bench.sink.batches
    assert (batch.source, batch.resource, batch.time) == ("r", bench.resource, 10 * SECOND)
    assert batch.points == [(STREAM, 1.0, 0)]
    assert batch.ended == ()


def test_times_never_stand_still_nor_go_back() -> None:
    bench = Bench()
    times = [bench.at(seconds) for seconds in (10, 10, 5, 10.0015, 20)]
    assert times == [10 * SECOND + n * MS for n in range(4)] + [20 * SECOND]
    assert not bench.counted()


def test_less_than_a_minute_back_is_waited_out() -> None:
    bench = Bench()
    bench.at(100)
    assert bench.at(40) == 100 * SECOND + MS


def test_times_go_on_at_nearly_their_pace_until_a_clock_that_was_set_back_is_there() -> None:
    """Else a counter would seem to grow a thousand times as fast."""
    bench = Bench()
    bench.at(1000)
    assert bench.at(980, after=10) == 1009 * SECOND
    assert bench.at(990, after=10) == 1018 * SECOND
    assert bench.at(1017.999, after=10) == 1027 * SECOND
    assert bench.at(1027.5, after=10) == 1_027_500 * MS
    assert not bench.counted()


def test_a_clock_that_is_set_back_by_more_is_believed(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    bench.at(1000)
    assert bench.at(900) == 900 * SECOND
    assert bench.at(901) == 901 * SECOND
    assert bench.counted() == {"otelgpu.clock.stepped": 1}
    assert len(caplog.records) == 1
    assert "set back by 100 s" in caplog.text


def test_all_sources_share_one_order() -> None:
    bench = Bench()
    other = bench.door.entrance("other", bench.sink, bench.sink)
    for _ in range(3):
        bench.entrance.readings([])
        other.readings([])
    times = [batch.time for batch in bench.sink.batches]
    assert times == sorted(set(times))


def test_sources_come_through_one_at_a_time() -> None:
    bench = Bench()
    barrier = threading.Barrier(6)

    def run(name: str) -> None:
        entrance = bench.door.entrance(name, bench.sink, bench.sink)
        barrier.wait(LONG)
        for _ in range(200):
            entrance.readings([(STREAM, 1.0)])

    threads = [threading.Thread(target=run, args=(str(n),)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    times = [batch.time for batch in bench.sink.batches]
    assert len(times) == 1200
    assert times == sorted(set(times))
    assert bench.sink.together == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_stays_out_and_is_counted(value: float) -> None:
    bench = Bench()
    bench.entrance.readings([(STREAM, value), (Stream(WATTS, {"hw.id": "b"}), 2.0)])
    (batch,) = bench.sink.batches
    assert [point[1] for point in batch.points] == [2.0]
    ((stream, count),) = bench.telemetry.collect()
    assert stream.metric is m.OTELGPU_SCRAPE_DROPPED
    assert dict(stream.attributes) == {"otelgpu.metric": "watts", "error.type": "out_of_range"}
    assert count == 1


def test_a_counter_that_goes_back_a_little_is_held_and_counted() -> None:
    bench = Bench()
    counter = Stream(JOULES, {})
    for value in (100.0, 99.0, 101.0):
        bench.clock.wall += 1
        bench.entrance.readings([(counter, value)])
    assert [batch.points[0][1] for batch in bench.sink.batches] == [100.0, 100.0, 101.0]
    assert bench.counted() == {"otelgpu.counter.backwards": 1}


def test_a_reload_changes_no_start() -> None:
    """An entrance may be made anew: epochs belong to the door."""
    bench = Bench()
    counter = Stream(JOULES, {})
    bench.entrance.readings([(counter, 1.0)])
    bench.clock.wall += 5
    bench.door.entrance("r", bench.sink, bench.sink).readings([(counter, 2.0)])
    assert {batch.points[0][2] for batch in bench.sink.batches} == {1000 * SECOND}


def test_events() -> None:
    bench = Bench()
    bench.entrance.events([])
    assert bench.sink.events == []
    bench.entrance.events([EVENT])
    (batch,) = bench.sink.events
    assert (batch.source, batch.resource, batch.events) == ("r", bench.resource, (EVENT,))


def test_an_error_behind_the_door_does_not_lock_it() -> None:
    bench = Bench()

    class Broken(Sink):
        def consume(self, batch: Batch) -> None:
            raise ValueError("mistake")

    broken = bench.door.entrance("broken", Broken(), bench.sink)
    with pytest.raises(ValueError, match="mistake"):
        broken.readings([(STREAM, 1.0)])
    assert bench.at(2000) == 2000 * SECOND
