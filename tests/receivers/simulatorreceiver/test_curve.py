from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulatorreceiver.curve import Curve, numbers
from simulatorreceiver.loads import KNOTS, STEP, Work, load_curve

KNOT_LISTS = st.lists(st.floats(0, 1), min_size=1, max_size=8)
TIMES = st.floats(0, 10_000)


def test_values_lie_between_the_knots() -> None:
    curve = Curve([0.0, 1.0, 0.5], 2.0)
    assert [curve(t) for t in (0, 1, 2, 3, 4, 5, 6, 7)] == [0, 0.5, 1, 0.75, 0.5, 0.25, 0, 0.5]


def test_integral_goes_on_over_periods() -> None:
    curve = Curve([0.0, 1.0], 1.0)
    assert [curve.integral(t) for t in (0, 0.5, 1, 2, 20)] == [0, 0.125, 0.5, 1, 10]
    assert curve.mean(20, 2) == 0.5
    assert curve.integral(-2) == -1


def test_time_above_a_threshold() -> None:
    above = Curve([0.0, 1.0], 1.0).time_above(0.75)
    assert [above(t) for t in (0, 0.5, 0.75, 1, 1.25, 1.5, 2, 20)] == [
        *(0, 0, 0, 0.25, 0.5, 0.5, 0.5, 5)
    ]
    assert Curve([0.5], 1.0).time_above(0.5)(100) == 0


@given(KNOT_LISTS, st.floats(0.1, 60))
def test_integral_agrees_with_a_sum_of_small_steps(knots: list[float], step: float) -> None:
    curve = Curve(knots, step)
    end, pieces = 1.7 * step * len(knots), 1000
    width = end / pieces
    total = sum(curve((i + 0.5) * width) * width for i in range(pieces))
    assert curve.integral(end) == pytest.approx(total, rel=0.02, abs=0.02 * step)


@given(KNOT_LISTS, TIMES, st.floats(0, 100), st.floats(0, 1))
def test_integrals_never_fall(
    knots: list[float], time: float, further: float, threshold: float
) -> None:
    curve = Curve(knots, 8.0)
    assert curve.integral(time + further) >= curve.integral(time)
    above = curve.time_above(threshold)
    below = curve.time_below(threshold)
    assert 0 <= above(time) <= above(time + further)
    assert 0 <= below(time) <= below(time + further)
    assert above(time) + below(time) == pytest.approx(time, abs=1e-5)


def test_numbers_follow_from_the_key_alone() -> None:
    first = [x for x, _ in zip(numbers(1, "a"), range(100), strict=False)]
    again = [x for x, _ in zip(numbers(1, "a"), range(100), strict=False)]
    other = [x for x, _ in zip(numbers(1, "b"), range(100), strict=False)]
    assert first == again != other
    assert all(0 <= x <= 1 for x in first)
    assert 0.4 < sum(first) / 100 < 0.6


@pytest.mark.parametrize("work", Work)
@pytest.mark.parametrize("seed", range(20))
def test_loads_are_fractions(work: Work, seed: int) -> None:
    curve = load_curve(work, seed, 3)
    loads = [curve(i * STEP) for i in range(KNOTS)]
    assert all(0 <= load <= 1 for load in loads)
    assert (max(loads) > 0) == (work is not Work.NONE)
