from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelgpu.config import duration

LONGEST = timedelta(microseconds=(2**63 - 1) // 1000)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10),
        ("500ms", 0.5),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("10us", 1e-5),
        ("10µs", 1e-5),
        ("2000ns", 2e-6),
        ("0", 0),
        ("0s", 0),
    ],
)
def test_go_durations(text: str, seconds: float) -> None:
    assert duration.parse(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-1s", "cannot be negative"),
        ("10", "expected a duration"),
        ("", "expected a duration"),
        ("10 s", "expected a duration"),
        ("1d", "expected a duration"),
        ("1s junk 2s", "expected a duration"),
        ("1..5s", "expected a duration"),
        ("\u0661s", "expected a duration"),
        ("1s\n", "expected a duration"),
        ("293h" * 20_000, "cannot be longer"),
        ("9" * 5000 + "h", "cannot be longer"),
        ("1ns", "cannot be shorter"),
    ],
)
def test_others_are_refused_with_a_remedy(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"{words}.*write one such as"):
        duration.parse(text)


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=90)))
def test_rendered_durations_read_back(value: timedelta) -> None:
    assert duration.parse(duration.render(value)) == value


@given(st.text(alphabet="0123456789.nuµmsh-+dwy "))
def test_any_text_is_in_range_or_refused(text: str) -> None:
    try:
        value = duration.parse(text)
    except ValueError:
        return
    assert timedelta(0) <= value <= LONGEST
