"""Which plain scalars of YAML are not text: the core schema of YAML 1.2.

PyYAML follows YAML 1.1, where ``no`` is false, ``12:30`` is 750, ``010`` is 8 and ``2026-13-01`` is
an invalid date. Here all of these are text.
"""

from __future__ import annotations

import re

Scalar = str | int | float | bool | None

TAG = "tag:yaml.org,2002:"

_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)

Resolvers = dict[str, list[tuple[str, re.Pattern[str]]]]


def resolvers() -> Resolvers:
    """Return tags and patterns by first character, as PyYAML's ``yaml_implicit_resolvers``."""
    table: Resolvers = {"<": [(f"{TAG}merge", re.compile(r"<<\Z"))]}
    for tag, pattern, firsts in (
        ("null", _NULL, ["", "~", "n", "N"]),
        ("bool", _BOOL, "tTfF"),
        ("int", _INT, "-+0123456789"),
        ("float", _FLOAT, "-+.0123456789"),
    ):
        whole = re.compile(rf"(?:{pattern.pattern})\Z")
        for first in firsts:
            table.setdefault(first, []).append((f"{TAG}{tag}", whole))
    return table


def scalar(text: str) -> Scalar:
    """Return the value of a plain scalar.

    Raises:
        ValueError: if it is a number of too many digits.

    """
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if _INT.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text, base)
    if _FLOAT.fullmatch(text):
        return float(re.sub(r"\.(?=[iInN])", "", text))
    return text
