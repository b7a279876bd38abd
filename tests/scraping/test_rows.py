"""Calls that answer for many values: batched ones, and those that say which values there are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from tests.scraping.fakes import RATIO, Drops, ManualClock
from tests.scraping.table_bench import Bench, Script, itself, keyed, watts

from otelgpu.points.batch import Readings
from otelgpu.points.stream import Attributes, Streams
from otelgpu.scraping.errors import ReadError, UnsupportedError
from otelgpu.scraping.reading import DeviceReading
from otelgpu.scraping.slot import RETRY_UNSUPPORTED
from otelgpu.scraping.table import EmitEach, Read, Row


def test_each_value_of_a_batch_has_a_status_of_its_own() -> None:
    answers: dict[str, Any] = {"a": 0.1, "b": UnsupportedError(), "c": ReadError("timeout")}
    script = Script(lambda keys: [answers[k] for k in keys])
    bench = Bench(keyed(script))
    assert bench.read() == {"ratio[x,a]": 0.1}
    assert bench.drops.take() == {("ratio", "unsupported"): 1, ("ratio", "timeout"): 1}
    answers["c"] = 0.3
    assert bench.read() == {"ratio[x,a]": 0.1, "ratio[x,c]": 0.3}
    assert script.asked == [["a", "b", "c"], ["a", "c"]]
    answers["b"] = 0.2
    assert len(bench.read(RETRY_UNSUPPORTED)) == 3
    assert script.asked[-1] == ["a", "b", "c"]


def test_a_batch_of_nothing_supported_is_not_called() -> None:
    script = Script(lambda keys: [UnsupportedError()] * len(keys))
    bench = Bench(keyed(script), watts(Script(7.0)))
    bench.read()
    bench.read()
    assert len(script.asked) == 1


@pytest.mark.parametrize("error", [ReadError("timeout"), RuntimeError("broken")])
def test_a_batched_call_that_fails_fails_for_every_value(error: Exception) -> None:
    bench = Bench(keyed(Script(error)), watts(Script(7.0)))
    assert bench.read() == {"watts[x]": 7.0}
    reason = error.reason if isinstance(error, ReadError) else "internal"
    assert bench.drops.take() == {("ratio", reason): 3}


@pytest.mark.parametrize("answers", [[], [0.1], [0.1, 0.2, 0.3, 0.4], None, iter([0.1, 0.2, 0.3])])
def test_a_wrong_number_of_answers_is_attributed_to_nobody(answers: Any) -> None:
    """Nobody can tell which answer belongs to which key; other rows are read all the same."""
    bench = Bench(keyed(Script(answers)), watts(Script(7.0)))
    assert bench.read() == {"watts[x]": 7.0}
    assert bench.drops.take() == {("ratio", "internal"): 3}


def each(script: Script) -> Row[Any]:
    return Read("each", script, [EmitEach(RATIO, itself)])


def test_streams_whose_attributes_come_with_the_result() -> None:
    script = Script([({"pid": 1}, 0.1), ({"pid": 2}, None), ({"pid": 3}, 3.0)])
    bench = Bench(each(script))
    assert bench.read() == {"ratio[x,1]": 0.1}
    assert bench.drops.take() == {("ratio", "absent"): 1, ("ratio", "out_of_range"): 1}
    script.answer = [({"pid": 2}, 0.2)]
    assert bench.read() == {"ratio[x,2]": 0.2}
    script.answer = []
    assert bench.read() == {}
    assert not bench.drops.take()


def test_a_dynamic_stream_keeps_its_identity() -> None:
    streams, clock = Streams(), ManualClock()
    row = each(Script([({"pid": 1}, 0.1)]))
    reading: DeviceReading[object] = DeviceReading(
        [row], {"hw.id": "x"}, lambda _: True, streams, clock.monotonic
    )
    seen = set()
    for _ in range(3):
        readings: Readings = []
        reading.read("device", readings, Drops())
        seen |= {stream for stream, _ in readings}
    assert len(seen) == 1
    assert seen == {streams.get(RATIO, {"hw.id": "x", "pid": 1})}


def test_a_stream_that_stands_twice_is_sent_once() -> None:
    bench = Bench(each(Script([({"pid": 1}, 0.1), ({"pid": 1}, 0.2), ({"pid": 2}, 0.3)])))
    assert bench.read() == {"ratio[x,1]": 0.1, "ratio[x,2]": 0.3}
    assert bench.drops.take() == {("ratio", "duplicate"): 1}


def test_dynamic_streams_that_fail_half_way_give_nothing() -> None:
    def values(_: object) -> Iterable[tuple[Attributes, float]]:
        yield {"pid": 1}, 0.1
        raise ReadError("truncated")

    bench = Bench(Read("each", Script(), [EmitEach(RATIO, values)]))
    assert bench.read() == {}
    assert bench.drops.take() == {("ratio", "truncated"): 1}
