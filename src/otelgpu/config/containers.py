"""Hooks for lists, mappings and unions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from collections.abc import Set as AbstractSet
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from cattrs import Converter

from otelgpu.config.expand import Expanded
from otelgpu.config.mistake import Findings
from otelgpu.config.scalars import kind, plain, resolved, show
from otelgpu.config.secret import Secret

Hook = Callable[[Any, Any], Any]

_ITERABLES: dict[Any, Callable[[Iterable[Any]], Any]] = {
    list: list,
    Sequence: tuple,
    tuple: tuple,
    set: frozenset,
    frozenset: frozenset,
    AbstractSet: frozenset,
}
_MAPPINGS = {dict, Mapping, MutableMapping}
_SCALARS = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def is_iterable(cls: Any) -> bool:
    """Whether a list in YAML is read for this type."""
    return get_origin(cls) in _ITERABLES


def is_mapping(cls: Any) -> bool:
    """Whether a mapping with free keys is read for this type."""
    return get_origin(cls) in _MAPPINGS


def is_union(cls: Any) -> bool:
    """Whether a type is a union, written in either way."""
    return get_origin(cls) in {Union, UnionType}


def iterable(cls: Any, converter: Converter) -> Hook:
    """Make the hook of a list, tuple or set type.

    Raises:
        TypeError: for a tuple of a fixed length, which settings do not use.

    """
    build = _ITERABLES[get_origin(cls)]
    item_type, *rest = get_args(cls)
    if rest not in ([], [...]):
        raise TypeError(f"{cls} has no place in settings; use tuple[X, ...] or a class")
    hook = converter.get_structure_hook(item_type)

    def structure(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise ValueError(f"expected a list, got {kind(value)}; write [a, b] or - lines")  # noqa: TRY004 - a mistake of the user, not of the program
        findings = Findings()
        items = []
        for index, item in enumerate(value):
            with findings.at(str(index)):
                items.append(hook(resolved(item), item_type))
        findings.check()
        return build(items)

    return structure


def mapping(cls: Any, converter: Converter) -> Hook:
    """Make the hook of a mapping type; its keys are read like scalars."""
    key_type, item_type = get_args(cls)
    key_hook = converter.get_structure_hook(key_type)
    hook = converter.get_structure_hook(item_type)

    def structure(value: Any, _: Any) -> dict[Any, Any]:
        if not isinstance(value, Mapping):
            raise ValueError(f"expected a mapping, got {kind(value)}; write `key: value` lines")  # noqa: TRY004 - a mistake of the user, not of the program
        findings = Findings()
        items = {}
        for key, item in value.items():
            with findings.at(str(key)):
                items[key_hook(key, key_type)] = hook(resolved(item), item_type)
        findings.check()
        return items

    return structure


def union(cls: Any, converter: Converter) -> Hook:
    """Make the hook of ``X | None`` or of a union of scalar types.

    Raises:
        TypeError: for any other union: which of two classes is meant would be a guess.

    """
    members = tuple(t for t in get_args(cls) if t is not NoneType)
    optional = len(members) < len(get_args(cls))
    if len(members) == 1:
        hook = converter.get_structure_hook(members[0])
    elif all(member in _SCALARS for member in members):
        hook = _one_of(members)
    else:
        raise TypeError(f"{cls} has no place in settings; use X | None or a union of scalars")
    as_text = str in members or Secret in members

    def structure(value: Any, _: Any) -> Any:
        empty = isinstance(value, Expanded) and not as_text and plain(value) is None
        if optional and (value is None or empty):
            return None
        return hook(value, members[0])

    return structure


def _one_of(members: Sequence[Any]) -> Hook:
    def structure(value: Any, _: Any) -> Any:
        found = plain(value)
        if type(found) in members:
            return found
        if isinstance(value, str) and str in members:
            return str.__str__(value)
        if type(found) is int and float in members:
            return float(found)
        words = ", ".join(_SCALARS[member] for member in members)
        raise ValueError(f"expected one of: {words}; got {show(value)}")

    return structure
