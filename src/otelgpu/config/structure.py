"""Plain YAML values to settings objects; every mistake is found in one go, each with its path."""

from __future__ import annotations

import operator
from datetime import timedelta
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, TypeVar, get_origin

import attrs
from cattrs import Converter

from otelgpu.config import scalars
from otelgpu.config.classes import attrs_class
from otelgpu.config.containers import (
    Hook,
    is_iterable,
    is_mapping,
    is_union,
    iterable,
    mapping,
    union,
)
from otelgpu.config.mistake import ConfigError, Findings, Mistake
from otelgpu.config.secret import Secret

__all__ = ["ConfigError", "Mistake", "structure"]

T = TypeVar("T")

_SCALARS: dict[Any, Hook] = {
    str: scalars.text,
    bool: scalars.boolean,
    int: scalars.integer,
    float: scalars.number,
    timedelta: scalars.span,
    Secret: scalars.secret,
    Path: scalars.path,
}


def structure(raw: Any, cls: type[T], path: str) -> T:
    """Build ``cls`` from values whose references have been expanded.

    ``cls`` is an attrs class or any type that its fields may have: text, numbers, booleans,
    ``timedelta``, ``Path``, ``Secret``, enumerations (text by value, others by name in lower case),
    ``Literal``, lists, homogeneous tuples, sets, mappings, ``X | None``, unions of scalars and
    nested attrs classes. None, an empty value, means the defaults of an attrs class.

    Raises:
        ConfigError: with all mistakes below ``path``.
        TypeError: if ``cls`` has a type that settings cannot have: a mistake in the program.

    """
    findings = Findings()
    with findings.at(path):
        value: T = _converter().get_structure_hook(cls)(scalars.resolved(raw), cls)
        return value
    raise ConfigError(findings.mistakes)


@cache
def _converter() -> Converter:
    converter = Converter()
    for type_, hook in _SCALARS.items():
        converter.register_structure_hook(type_, partial(_scalar, hook))
    converter.register_structure_hook_func(partial(operator.is_, Any), _anything)
    converter.register_structure_hook_func(_is_enum, scalars.member)
    converter.register_structure_hook_func(_is_literal, scalars.literal)
    converter.register_structure_hook_factory(is_iterable)(iterable)
    converter.register_structure_hook_factory(is_mapping)(mapping)
    converter.register_structure_hook_factory(is_union)(union)
    converter.register_structure_hook_factory(attrs.has)(attrs_class)
    return converter


def _scalar(hook: Hook, value: Any, cls: Any) -> Any:
    """Read a scalar; cattrs looks hooks up by base class, so a StrEnum comes as a str."""
    return scalars.member(value, cls) if _is_enum(cls) else hook(value, cls)


def _anything(value: Any, _: Any) -> Any:
    return scalars.plain(value)


def _is_literal(cls: Any) -> bool:
    origin: Any = get_origin(cls)
    return origin is Literal


def _is_enum(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, Enum)
