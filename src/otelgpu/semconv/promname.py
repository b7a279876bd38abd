"""Names in Prometheus, as its OTLP endpoint makes them with suffixes (``otlptranslator``).

A ``/metrics`` endpoint that uses these functions gives a series the very name that it has when it
comes by OTLP, and rules and dashboards serve both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from otelgpu.points.metric import Instrument

_UNITS = {
    "d": "days", "h": "hours", "min": "minutes", "s": "seconds", "ms": "milliseconds",
    "us": "microseconds", "ns": "nanoseconds",
    "By": "bytes", "KiBy": "kibibytes", "MiBy": "mebibytes", "GiBy": "gibibytes",
    "TiBy": "tebibytes", "KBy": "kilobytes", "MBy": "megabytes", "GBy": "gigabytes",
    "TBy": "terabytes",
    "m": "meters", "V": "volts", "A": "amperes", "J": "joules", "W": "watts", "g": "grams",
    "Cel": "celsius", "Hz": "hertz", "1": "", "%": "percent",
}  # fmt: skip
_PER = {
    "s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year",
}  # fmt: skip
_NO_TOKEN = re.compile(r"[^A-Za-z0-9:]+")
_NO_LABEL = re.compile(r"[^A-Za-z0-9]+")


def metric_name(name: str, unit: str, instrument: Instrument) -> str:
    """Return the Prometheus name of a metric with a UCUM unit.

    The unit's word is appended unless it is already a word of the name; ``total`` ends counters and
    ``ratio`` ends gauges of unit ``1``. An annotation unit such as ``{error}`` adds nothing.
    """
    tokens = [t for t in _NO_TOKEN.split(name) if t]
    main, _, per = (part.strip() for part in unit.partition("/"))
    suffixes = [_word(main, _UNITS), f"per_{word}" if (word := _word(per, _PER)) else ""]
    tokens += [s for s in suffixes if s and s not in tokens]
    if instrument is Instrument.COUNTER:
        tokens = [*_without(tokens, "total"), "total"]
    if instrument is Instrument.GAUGE and unit == "1":
        tokens = [*_without(tokens, "ratio"), "ratio"]
    joined = "_".join(tokens)
    return f"_{joined}" if joined[:1].isdigit() else joined


def label_name(key: str) -> str:
    """Return the Prometheus label of an attribute."""
    label = _NO_LABEL.sub("_", key)
    return f"key_{label}" if label[:1].isdigit() else label


def _word(unit: str, words: dict[str, str]) -> str:
    if not unit or "{" in unit or "}" in unit:
        return ""
    return _NO_TOKEN.sub("_", words.get(unit, unit)).strip("_")


def _without(tokens: Iterable[str], token: str) -> list[str]:
    return [t for t in tokens if t != token]
