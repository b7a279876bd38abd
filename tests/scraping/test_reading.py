"""Right or absent: what a device does not say gives no point and one count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.scraping.fakes import INFO, RATIO, WATTS
from tests.scraping.table_bench import Bench, Script, itself, keyed, ratio, watts

from otelgpu.points.metric import Metric
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError
from otelgpu.scraping.slot import REFUSALS, RETRY_FIRST, RETRY_UNSUPPORTED
from otelgpu.scraping.table import ONCE, Batched, Emit, Field, Read


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "absent"),
        (1.5, "out_of_range"),
        (-0.1, "out_of_range"),
        (float("nan"), "out_of_range"),
        (float("inf"), "out_of_range"),
        (float("-inf"), "out_of_range"),
        (UnsupportedError(), "unsupported"),
        (ReadError("no_permission"), "no_permission"),
        ("a string", "internal"),
        (ZeroDivisionError(), "internal"),
    ],
)
def test_no_point_and_one_count(answer: object, reason: str) -> None:
    bench = Bench(ratio(Script(answer)), watts(Script(7.0)))
    assert bench.read() == {"watts[x]": 7.0}
    assert bench.drops.take() == {("ratio", reason): 1}


def test_infinity_is_out_of_range_without_bounds_of_the_metric() -> None:
    bench = Bench(Read("call", Script(float("inf")), [Emit(Metric(*UNBOUNDED), itself)]))
    assert bench.read() == {}
    assert bench.drops.take() == {("free", "out_of_range"): 1}


UNBOUNDED = ("free", "1", RATIO.instrument, RATIO.value_type, "")


@pytest.mark.parametrize("zero", [0, 0.0])
def test_zero_is_a_value(zero: float) -> None:
    bench = Bench(ratio(Script(zero)))
    assert bench.read() == {"ratio[x]": 0}
    assert not bench.drops.take()


def test_an_emit_that_fails_costs_itself_alone() -> None:
    def fail(_: Any) -> float:
        raise ReadError("stale")

    emits = [Emit(RATIO, fail, {"part": "a"}), Emit(RATIO, itself, {"part": "b"})]
    bench = Bench(Read("call", Script(0.5), emits))
    assert bench.read() == {"ratio[x,b]": 0.5}
    assert bench.drops.take() == {("ratio", "stale"): 1}
    assert bench.answered


def test_what_an_emit_does_not_have_is_told_once() -> None:
    def fail(value: float) -> float:
        if value < 0:
            raise UnsupportedError
        return value

    script = Script(-1)
    bench = Bench(Read("call", script, [Emit(RATIO, fail)]))
    for _ in range(3):
        assert bench.read() == {}
    assert bench.drops.take() == {("ratio", "unsupported"): 1}
    script.answer = 0.5
    assert bench.read() == {"ratio[x]": 0.5}
    script.answer = -1
    bench.read()
    assert bench.drops.take() == {("ratio", "unsupported"): 1}


def test_the_last_value_vanishes_with_a_failure() -> None:
    script = Script(0.5)
    bench = Bench(ratio(script))
    assert bench.read() == {"ratio[x]": 0.5}
    for answer in (None, ReadError("timeout"), ValueError(), 5, UnsupportedError()):
        script.answer = answer
        assert bench.read() == {}


def test_unsupported_is_told_once_and_remembered() -> None:
    script = Script(UnsupportedError())
    bench = Bench(ratio(script))
    for _ in range(5):
        assert bench.read() == {}
    assert bench.drops.take() == {("ratio", "unsupported"): 1}
    assert len(script.asked) == 1


def test_unsupported_is_asked_again_ever_more_rarely() -> None:
    script = Script(UnsupportedError())
    bench = Bench(ratio(script))
    bench.read()
    for asked, wait in enumerate([60, 120, 240, 480, 960, 1920, 3600, 3600], start=1):
        bench.read(wait - 1)
        assert len(script.asked) == asked
        bench.read(1)
        assert len(script.asked) == asked + 1
    assert bench.drops.take() == {("ratio", "unsupported"): 1}
    script.answer = 0.5
    assert bench.read() == {}
    assert bench.read(RETRY_UNSUPPORTED) == {"ratio[x]": 0.5}
    assert bench.read() == {"ratio[x]": 0.5}


def test_a_refusal_that_passes_costs_a_minute() -> None:
    script = Script(UnsupportedError())
    bench = Bench(ratio(script))
    bench.read()
    script.answer = 0.5
    assert bench.read(RETRY_FIRST) == {"ratio[x]": 0.5}


def test_what_describes_a_device_stays_when_a_later_read_of_it_fails() -> None:
    script = Script(1)
    bench = Bench(Read("info", script, [Emit(INFO, itself)], every=600.0, describes=True))
    assert bench.read() == {"info[x]": 1}
    script.answer = ReadError("timeout")
    assert bench.read(600) == {"info[x]": 1}
    assert bench.drops.take() == {("info", "timeout"): 1}
    script.answer = 1
    asked = len(script.asked)
    assert bench.read(1) == {"info[x]": 1}, "read again soon"
    assert len(script.asked) == asked + 1
    bench.read(1)
    assert len(script.asked) == asked + 1


def test_a_cadence_of_one_interval_is_read_at_each_tick_that_jitters() -> None:
    script = Script(0.5)
    bench = Bench(ratio(script, every=60.0))
    for tick in (0, 60.001, 59.999, 60.0, 59.998):
        bench.read(tick)
    assert len(script.asked) == 5


def test_what_has_worked_is_given_up_after_three_refusals_in_a_row() -> None:
    script = Script(0.5)
    bench = Bench(ratio(script))
    bench.read()
    for answer in [UnsupportedError()] * (REFUSALS - 1) + [0.25] + [UnsupportedError()] * REFUSALS:
        script.answer = answer
        bench.read()
    asked = len(script.asked)
    assert bench.drops.take() == {("ratio", "unsupported"): 2 * REFUSALS - 1}
    bench.read()
    assert len(script.asked) == asked
    assert not bench.drops.take()


def test_another_error_between_refusals_begins_the_count_anew() -> None:
    script = Script(0.5)
    bench = Bench(ratio(script))
    bench.read()
    refusal = UnsupportedError()
    for answer in (refusal, refusal, ReadError("timeout"), refusal, refusal):
        script.answer = answer
        bench.read()
    script.answer = 0.5
    assert bench.read() == {"ratio[x]": 0.5}


def test_a_disabled_metric_costs_no_call() -> None:
    script, other = Script(0.5), Script({"a": 0.5})
    keyed = Batched("batch", other, [Field("a", [Emit(RATIO, itself)])])
    bench = Bench(ratio(script), keyed, watts(Script(7.0)), enabled=lambda m: m is not RATIO)
    assert bench.read() == {"watts[x]": 7.0}
    assert script.asked == []
    assert other.asked == []


def test_a_field_of_a_disabled_metric_is_not_asked_for() -> None:
    script = Script(lambda keys: [1.0 for _ in keys])
    fields = [Field("r", [Emit(RATIO, itself)]), Field("w", [Emit(WATTS, itself)])]
    bench = Bench(Batched("batch", script, fields), enabled=lambda m: m is WATTS)
    assert bench.read() == {"watts[x]": 1.0}
    assert script.asked == [["w"]]


def test_a_cadence_keeps_the_value_between_two_reads() -> None:
    answers = iter([0.1, 0.2])
    script = Script(lambda: next(answers))
    bench = Bench(ratio(lambda _: script.answer(), every=30.0))
    assert [bench.read()["ratio[x]"] for _ in range(4)] == [0.1, 0.1, 0.1, 0.2]


def test_a_failed_row_with_a_cadence_has_no_value_and_keeps_its_cadence() -> None:
    script = Script(0.1)
    bench = Bench(ratio(script, every=30.0), watts(Script(7.0)))
    bench.read()
    script.answer = ReadError("timeout")
    assert bench.read(30) == {"watts[x]": 7.0}
    assert bench.read(10) == {"watts[x]": 7.0}
    assert bench.drops.take() == {("ratio", "timeout"): 1}
    script.answer = 0.2
    assert bench.read(20) == {"ratio[x]": 0.2, "watts[x]": 7.0}


def test_a_device_that_answers_nothing_repeats_nothing_but_its_description() -> None:
    script, rare = Script(7.0), Script(0.1)
    info = Read("info", Script(1), [Emit(INFO, itself)], every=ONCE)
    bench = Bench(info, ratio(rare, every=60.0), watts(script))
    assert bench.read() == {"info[x]": 1, "ratio[x]": 0.1, "watts[x]": 7.0}
    script.answer = ReadError("timeout")
    assert bench.read() == {"info[x]": 1}
    assert bench.drops.take() == {("watts", "timeout"): 1, ("ratio", "unknown"): 1}
    script.answer = 7.0
    assert len(bench.read()) == 3, "what was forgotten is read anew"
    assert len(rare.asked) == 2


def test_once_is_read_once() -> None:
    script = Script(1)
    bench = Bench(Read("info", script, [Emit(INFO, itself)], every=ONCE))
    assert [bench.read(1e6) for _ in range(3)] == [{"info[x]": 1}] * 3
    assert len(script.asked) == 1


@pytest.mark.parametrize("error", [ReadError("timeout"), RuntimeError("broken")])
def test_once_is_asked_until_it_has_answered(error: Exception) -> None:
    script = Script(error)
    bench = Bench(Read("info", script, [Emit(INFO, itself)], every=ONCE))
    assert bench.read() == {}
    assert bench.read() == {}
    script.answer = 1
    assert bench.read() == {"info[x]": 1}
    assert bench.read() == {"info[x]": 1}
    assert len(script.asked) == 3


def test_what_describes_a_device_and_is_unsupported_is_asked_again_rarely() -> None:
    script = Script(UnsupportedError())
    bench = Bench(Read("info", script, [Emit(INFO, itself)], every=ONCE))
    bench.read()
    bench.read()
    assert len(script.asked) == 1
    script.answer = 1
    assert bench.read(RETRY_UNSUPPORTED) == {"info[x]": 1}


def test_a_lost_device_counts_every_missing_value_once() -> None:
    lost, info = Script(0.5), Script(1)
    bench = Bench(
        Read("info", info, [Emit(INFO, itself)], every=ONCE),
        watts(Script(7.0), every=60.0),
        ratio(lost),
        keyed(Script(lambda keys: [0.1 for _ in keys])),
    )
    bench.read()
    lost.answer = TargetLostError("fallen off the bus")
    for _ in range(2):
        bench.lose()
        assert bench.drops.take() == {
            ("watts", "lost"): 1,
            ("ratio", "lost"): 4,
        }
        assert bench.description() == {"info[x]": 1}
    lost.answer = 0.5
    assert len(bench.read()) == 6
    assert len(info.asked) == 1


def test_a_batched_answer_can_say_that_the_device_is_lost() -> None:
    answers: dict[str, Any] = {"a": 0.1, "b": TargetLostError("reset required"), "c": 0.3}
    bench = Bench(keyed(Script(lambda keys: [answers[k] for k in keys])), watts(Script(7.0)))
    bench.lose()
    assert bench.drops.take() == {("ratio", "lost"): 3, ("watts", "lost"): 1}


def test_what_is_unsupported_is_not_missing_when_the_device_is_lost() -> None:
    lost = Script(0.5)
    bench = Bench(watts(Script(UnsupportedError())), ratio(lost))
    bench.read()
    bench.drops.take()
    lost.answer = TargetLostError()
    bench.lose()
    bench.miss()
    assert bench.drops.take() == {("ratio", "lost"): 1, ("ratio", "hung"): 1}


def test_a_missed_cycle_counts_what_is_owed_but_for_the_description() -> None:
    bench = Bench(
        Read("info", Script(1), [Emit(INFO, itself)], every=ONCE), ratio(Script()), watts(Script())
    )
    bench.read()
    bench.miss()
    assert bench.drops.take() == {("ratio", "hung"): 1, ("watts", "hung"): 1}
    assert bench.description() == {"info[x]": 1}


@pytest.mark.parametrize(
    ("answers", "answered"),
    [
        ((0.5, ReadError("unknown")), True),
        ((UnsupportedError(), ReadError("unknown")), True),
        ((ReadError("unknown"), ReadError("timeout")), False),
        ((ReadError("unknown"), RuntimeError("ours")), False),
    ],
)
def test_whether_a_device_answers(answers: Sequence[Any], answered: bool) -> None:
    first, second = map(Script, answers)
    bench = Bench(ratio(first, every=30.0), watts(second, every=30.0))
    bench.read()
    assert bench.answered is answered
    bench.read()
    assert bench.answered is answered, "nothing was due: it is as it was"
