"""Strict reading of scalars: nothing is converted that the user did not write so.

Only text that came from a reference (:class:`Expanded`) takes the type that is asked for. Messages
show such text by its reference and never show what a secret was to be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import Any, get_args

from otelgpu.config import duration
from otelgpu.config.expand import UNRESOLVED, Expanded
from otelgpu.config.mistake import ConfigError
from otelgpu.config.secret import Secret

_LONGEST_SHOWN = 60


def kind(value: Any) -> str:
    """Return what a value is, in words for users, without the value."""
    if value is None:
        return "nothing"
    for type_, words in (
        (bool, "a boolean"),
        (int | float, "a number"),
        (str, "text"),
        (list, "a list"),
        (Mapping, "a mapping"),
    ):
        if isinstance(value, type_):
            return words
    return f"a {type(value).__name__}"


def show(value: Any) -> str:
    """Return a value that is no secret, for a message: scalars as written, others by kind."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | str):
        shown = repr(value)
        return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
    return kind(value)


def resolved(value: Any) -> Any:
    """Return ``value``, or stop quietly if a reference in its place has already been reported."""
    if value is UNRESOLVED:
        raise ConfigError([])
    return value


def plain(value: Any) -> Any:
    """Return a value in which references have the types that YAML gives their text."""
    if isinstance(value, Expanded):
        return value.scalar
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return resolved(value)


def text(value: Any, _: Any) -> str:
    """Read text."""
    if isinstance(value, str):
        return str.__str__(value)
    raise ValueError(f"expected text, got {show(value)}{_quotes(value)}")


def secret(value: Any, _: Any) -> Secret:
    """Read a secret."""
    if isinstance(value, str):
        return Secret(value)
    raise ValueError(f"expected text, got {kind(value)}{_quotes(value)}")


def path(value: Any, _: Any) -> Path:
    """Read the path of a file or directory."""
    written = text(value, str)
    if not written or "\0" in written:
        raise ValueError("expected a path; name a file or directory")
    return Path(written)


def boolean(value: Any, _: Any) -> bool:
    """Read a boolean."""
    found = plain(value)
    if isinstance(found, bool):
        return found
    raise ValueError(f"expected true or false, got {show(value)}")


def integer(value: Any, _: Any) -> int:
    """Read a whole number."""
    found = plain(value)
    if isinstance(found, int) and not isinstance(found, bool):
        return found
    raise ValueError(f"expected a whole number without quotes, got {show(value)}")


def number(value: Any, _: Any) -> float:
    """Read a finite number."""
    found = plain(value)
    if isinstance(found, int | float) and not isinstance(found, bool):
        try:
            result = float(found)
        except OverflowError:
            result = math.inf
        if math.isfinite(result):
            return result
    raise ValueError(f"expected a finite number without quotes, got {show(value)}")


def span(value: Any, _: Any) -> timedelta:
    """Read a duration; a plain 0 is one, any other number lacks its unit."""
    if value == 0 and not isinstance(value, bool):
        return timedelta()
    if not isinstance(value, str):
        remedy = "write one with its unit, such as 500ms, 10s or 1h30m"
        raise ValueError(f"expected a duration, got {show(value)}; {remedy}")  # noqa: TRY004 - a mistake of the user, not of the program
    try:
        return duration.parse(value)
    except ValueError as error:
        raise ValueError(f"{show(value)}: {error}") from error


def spelling(member: Enum) -> str:
    """Return how a member of an enumeration is written in YAML."""
    return member.value if isinstance(member.value, str) else member.name.lower()


def member(value: Any, cls: type[Enum]) -> Enum:
    """Read a member of an enumeration."""
    for candidate in cls:
        if isinstance(value, str) and value == spelling(candidate):
            return candidate
    raise ValueError(f"expected one of {', '.join(map(spelling, cls))}; got {show(value)}")


def literal(value: Any, cls: Any) -> Any:
    """Read one of the values that a ``Literal`` allows."""
    allowed = get_args(cls)
    for candidate in allowed:
        found = value if isinstance(candidate, str) else plain(value)
        # True equals 1, but they are not the same answer.
        if found == candidate and isinstance(found, bool) == isinstance(candidate, bool):
            return candidate
    raise ValueError(f"expected one of {', '.join(map(show, allowed))}; got {show(value)}")


def _quotes(value: Any) -> str:
    return "; put it in quotes" if isinstance(value, bool | int | float) else ""
