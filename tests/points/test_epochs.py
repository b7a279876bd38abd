"""Start times of counters: a conversion to deltas loses nothing and invents nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelgpu.points.batch import Point
from otelgpu.points.epochs import KEPT, Epochs
from otelgpu.points.metric import Instrument, Metric, ValueType
from otelgpu.points.stream import Stream
from otelgpu.semconv.metrics import HW_GPU_LIFETIME_ERRORS

COUNTER = Stream(Metric("c", "J", Instrument.COUNTER, ValueType.DOUBLE, ""), {})
OTHER = Stream(Metric("c", "J", Instrument.COUNTER, ValueType.DOUBLE, ""), {"part": "b"})
GAUGE = Stream(Metric("g", "W", Instrument.GAUGE, ValueType.DOUBLE, ""), {})
MS = 1_000_000


class Bench:
    def __init__(self) -> None:
        self.epochs = Epochs()
        self.now = 0
        self.monotonic = 0.0

    def point(self, value: float, stream: Stream = COUNTER, after: int = 1) -> tuple[float, int]:
        """Return value and start (ms) of a reading some ms after the last one."""
        self.now += after * MS
        self.monotonic += after / 1000
        (point,) = self.epochs.points("test", [(stream, value)], self.now, self.monotonic)
        assert point[0] is stream
        return point[1], point[2] // MS


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([100, 150], [(100, 1), (150, 1)]),
        ([0, 0, 5], [(0, 1), (0, 1), (5, 1)]),
        ([100, 99.9, 150], [(100, 1), (100, 1), (150, 1)]),
        ([100, 50, 150], [(100, 1), (100, 1), (150, 1)]),
        ([100, 150, 20, 30], [(100, 1), (150, 1), (20, 2), (30, 2)]),
        ([100, 150, 0, 30, 10], [(100, 1), (150, 1), (0, 2), (30, 2), (10, 4)]),
        ([100, 90, 80, 20], [(100, 1), (100, 1), (100, 1), (20, 3)]),
    ],
)
def test_counters(values: list[float], expected: list[tuple[float, int]]) -> None:
    """A jitter holds the value; a restart begins at the reading before it."""
    bench = Bench()
    assert [bench.point(value) for value in values] == expected


COUNT = Stream(Metric("n", "{error}", Instrument.COUNTER, ValueType.INT, ""), {})


def test_numbers_of_things_do_not_jitter() -> None:
    bench = Bench()
    values = [bench.point(value, COUNT) for value in (2, 2, 1, 3)]
    assert values == [(2, 1), (2, 1), (1, 2), (3, 2)]


def test_a_fall_after_an_absence_is_no_jitter() -> None:
    """A driver that was loaded anew may soon have counted more than half of what it had."""
    bench = Bench()
    bench.point(400.0)
    bench.epochs.points("test", [], bench.now + MS, 0)
    assert bench.point(300.0, after=5) == (300.0, 1)
    assert bench.point(299.0) == (300.0, 1), "jitter again"


def test_another_source_may_lag() -> None:
    epochs = Epochs()
    epochs.points("nvml", [(COUNTER, 400.0)], MS, 0)
    ((_, value, start),) = epochs.points("dcgm", [(COUNTER, 390.0)], 2 * MS, 0)
    assert (value, start) == (400.0, MS)


def test_what_was_held_is_told_for_this_call_only() -> None:
    epochs = Epochs()
    epochs.points("test", [(COUNTER, 10.0), (OTHER, 10.0)], 1, 0)
    epochs.points("test", [(COUNTER, 9.0), (OTHER, 11.0)], 2, 0)
    assert epochs.held == [COUNTER]
    epochs.points("test", [(COUNTER, 10.0), (OTHER, 1.0)], 3, 0)
    assert epochs.held == []


def test_only_counters_have_a_start() -> None:
    epochs = Epochs()
    for value in (5.0, 1.0):
        assert epochs.points("test", [(GAUGE, value)], 7, 0) == [(GAUGE, value, 0)]


def test_a_fall_right_after_the_first_point_has_a_start_of_its_own() -> None:
    """By the same start a reader would take both points for one sequence and drop the second."""
    epochs = Epochs()
    ((_, _, first),) = epochs.points("test", [(COUNTER, 100.0)], 5 * MS, 0)
    ((_, value, second),) = epochs.points("test", [(COUNTER, 20.0)], 6 * MS, 0)
    assert first == 5 * MS
    assert value == 20.0
    assert first < second < 6 * MS


def test_an_epoch_outlives_its_stream_by_ten_minutes() -> None:
    bench = Bench()
    bench.point(100)
    half = int(KEPT / 2 * 1000)
    bench.point(1, GAUGE, after=half)
    assert bench.point(150, after=half - 1000) == (150, 1), "the same epoch"
    bench.point(1, GAUGE, after=int((KEPT + 61) * 1000))
    value, start = bench.point(160)
    assert value == 160
    assert start == bench.now // MS, "a new one"


def test_what_is_over_is_forgotten() -> None:
    bench = Bench()
    for number in range(100):
        bench.point(1, Stream(COUNTER.metric, {"n": number}), after=60_000)
    assert len(bench.epochs._epochs) <= KEPT / 60 + 2


def test_a_start_is_never_later_than_its_point() -> None:
    """The wall clock is set back: the sequence begins anew, by its first new point."""
    epochs = Epochs()
    epochs.points("test", [(COUNTER, 100.0)], 1000 * MS, 0)
    ((_, value, start),) = epochs.points("test", [(COUNTER, 150.0)], 200 * MS, 1)
    assert (value, start) == (150.0, 200 * MS)
    ((_, _, start),) = epochs.points("test", [(COUNTER, 160.0)], 201 * MS, 2)
    assert start == 200 * MS


def test_a_reset_while_the_clock_is_set_back() -> None:
    epochs = Epochs()
    epochs.points("test", [(COUNTER, 100.0)], 1000 * MS, 0)
    ((_, value, start),) = epochs.points("test", [(COUNTER, 10.0)], 200 * MS, 1)
    assert (value, start) == (10.0, 200 * MS)
    ((_, value, start),) = epochs.points("test", [(COUNTER, 1.0)], 201 * MS, 2)
    assert value == 1.0
    assert 200 * MS < start < 201 * MS


def deltas(points: list[tuple[Point, int]]) -> float:
    """Sum up by OpenTelemetry's data model: another start is another sequence, from zero.

    But for the very first point, whose start is its own time: what it counted before is not known.
    """
    total = 0.0
    (_, before, started), _ = points[0]
    for (_, value, start), time in points[1:]:
        assert start < time
        if start != started:
            total += value
        else:
            assert value >= before, "a sequence never falls"
            total += value - before
        before, started = value, start
    return total


steps = st.lists(
    st.tuples(st.booleans(), st.integers(0, 1000)),
    min_size=1,
    max_size=60,
)


@given(first=st.integers(0, 10_000), steps=steps)
def test_deltas_lose_nothing_over_resets(first: int, steps: list[tuple[bool, int]]) -> None:
    """What the device counted since our first reading is what the deltas add up to."""
    epochs = Epochs()
    now, value, truth = MS, first, 0
    points = [(epochs.points("test", [(COUNTER, value)], now, 0)[0], now)]
    for reset, counted in steps:
        now += MS
        if reset and 2 * counted < value:
            value = counted
        else:
            value += counted
        truth += counted
        points.append((epochs.points("test", [(COUNTER, value)], now, 0)[0], now))
    starts = [start for (_, _, start), _ in points]
    assert starts == sorted(starts)
    assert deltas(points) == truth


@given(values=st.lists(st.integers(0, 100), min_size=2, max_size=60))
def test_whatever_a_counter_does_its_sequences_never_fall(values: list[int]) -> None:
    bench = Epochs()
    points = []
    for number, value in enumerate(values, 1):
        points.append((bench.points("test", [(COUNTER, value)], number * MS, 0)[0], number * MS))
    assert deltas(points) >= 0


def test_a_driver_that_was_loaded_anew_counts_anew_however_high_it_counts() -> None:
    energy = Metric("hw.energy", "J", Instrument.COUNTER, ValueType.DOUBLE, "")
    one, other = (Stream(energy, {"hw.id": name}) for name in ("GPU-1", "GPU-2"))
    lifetime = Stream(HW_GPU_LIFETIME_ERRORS, {"hw.id": "GPU-1"})
    epochs = Epochs()

    def starts(now: int, value: float, restarted: set[str]) -> list[int]:
        readings = [(stream, value) for stream in (one, other, lifetime)]
        return [start for _, _, start in epochs.points("test", readings, now, now, restarted)]

    assert starts(1, 100, set()) == [1, 1, 1]
    # What a GPU has counted over its life does not begin anew.
    assert starts(2, 200, {"GPU-1"}) == [2, 1, 1]
    assert starts(3, 300, set()) == [2, 1, 1]


def test_a_driver_that_was_loaded_anew_while_the_counter_could_not_be_read() -> None:
    """The first value that is read afterwards is one of the new epoch."""
    stream = Stream(Metric("hw.energy", "J", Instrument.COUNTER, ValueType.INT, ""), {"hw.id": "x"})
    epochs = Epochs()
    epochs.points("test", [(stream, 5)], 1, 1)
    assert epochs.points("test", [], 2, 2, {"x"}) == []
    assert epochs.points("test", [(stream, 50)], 3, 3) == [(stream, 50, 2)]
