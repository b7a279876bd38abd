"""Durations in Go's syntax, as the Collector has them: ``500ms``, ``10s``, ``1h30m``."""

from __future__ import annotations

import re
from datetime import timedelta

_DURATION = re.compile(r"(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+|0", re.ASCII)
_LONGEST = timedelta(microseconds=(2**63 - 1) // 1000)
"""Go's longest duration, and the longest that Python's locks can wait."""


def parse(text: str) -> timedelta:
    """Return the duration that ``text`` says.

    Raises:
        ValueError: if it says none, or one that is negative, above 292 years or below 1 us.

    """
    import durationpy  # noqa: PLC0415 - only needed while a configuration is read

    remedy = "write one such as 500ms, 10s or 1h30m"
    if text.startswith("-"):
        raise ValueError(f"a duration cannot be negative; {remedy}")
    # durationpy lets garbage between two numbers pass, and knows units that Go does not have.
    if not _DURATION.fullmatch(text):
        raise ValueError(f"expected a duration; {remedy}")
    try:
        duration: timedelta = durationpy.from_str(text)
    except ValueError:
        duration = timedelta.max
    if duration > _LONGEST:
        raise ValueError(f"a duration cannot be longer than 292 years; {remedy}")
    if not duration and re.search("[1-9]", text):
        raise ValueError(f"a duration cannot be shorter than 1us; {remedy}, or 0s")
    return duration


def render(duration: timedelta) -> str:
    """Return the text that :func:`parse` reads as ``duration``, which is not negative."""
    micros = duration // timedelta(microseconds=1)
    if not micros:
        return "0s"
    parts = []
    for unit, size in (("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1000)):
        count, micros = divmod(micros, size)
        parts.append(f"{count}{unit}" if count else "")
    parts.append(f"{micros}us" if micros else "")
    return "".join(parts)
