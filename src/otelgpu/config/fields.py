"""What the source of a settings class says of its fields, for the reference in READMEs."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from datetime import timedelta
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import attrs
import yaml

from otelgpu.config.containers import is_iterable, is_mapping, is_union
from otelgpu.config.dump import dump
from otelgpu.config.scalars import spelling
from otelgpu.config.secret import Secret

_WORDS = {
    str: "text",
    bool: "true or false",
    int: "whole number",
    float: "number",
    timedelta: "duration",
    Secret: "secret text",
    Path: "path",
    Any: "any",
}


@attrs.frozen
class Row:
    """One setting."""

    name: str
    """Its path below the component, such as ``tls::ca_file``."""
    type: str
    default: str
    meaning: str


def rows(cls: type[Any], prefix: str = "") -> Iterator[Row]:
    """Yield the settings of an attrs class, those of nested classes below their parents.

    Raises:
        ValueError: if a field has no string literal under it.
        OSError: if the source of the class cannot be found.

    """
    meanings = _meanings(cls)
    for field in attrs.fields(attrs.resolve_types(cls)):
        if not field.init:
            continue
        if not meanings.get(field.name):
            raise ValueError(f"{cls.__name__}.{field.name} has no text that says what it means")
        path = f"{prefix}{field.alias}"
        yield Row(path, words(field.type), _default(field), meanings[field.name])
        nested, step = _nested(field.type)
        if nested is not None:
            yield from rows(nested, f"{path}{step}::")


def words(type_: Any) -> str:
    """Return what may be written for a type, in words for users."""
    args = get_args(type_)
    if is_union(type_):
        return " or ".join(words(arg) for arg in args if arg is not NoneType)
    if is_iterable(type_):
        return f"list of {words(args[0])}"
    if is_mapping(type_):
        return f"mapping of {words(args[0])} to {words(args[1])}"
    choices = _choices(type_)
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    return "mapping" if attrs.has(type_) else _WORDS[type_]


def _choices(type_: Any) -> list[str]:
    origin: Any = get_origin(type_)
    if origin is Literal:
        return [str(value) for value in get_args(type_)]
    if isinstance(type_, type) and issubclass(type_, Enum):
        return [spelling(member) for member in type_]
    return []


def _meanings(cls: type[Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if not attrs.has(base):
            continue
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        statements = definition.body if isinstance(definition, ast.ClassDef) else []
        for field, below in zip(statements, [*statements[1:], None], strict=True):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                found[field.target.id] = _literal(below)
    return found


def _literal(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return " ".join(str(statement.value.value).replace("``", "`").split())
    return ""


def _default(field: Any) -> str:
    default = field.default
    if default is attrs.NOTHING:
        return "required"
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        if default.takes_self:
            return "depends on other settings"
        default = default.factory()
    if default is None or attrs.has(type(default)):
        return ""
    line = yaml.safe_dump(
        yaml.safe_load(dump(default)), default_flow_style=True, width=10**6, allow_unicode=True
    )
    text = line.removesuffix("...\n").strip()
    return f"`{text}`"


def _nested(type_: Any) -> tuple[type[Any] | None, str]:
    """Return the class inside of a type, and the step that leads to its fields."""
    if attrs.has(type_):
        return type_, ""
    args = [arg for arg in get_args(type_) if arg is not NoneType]
    if is_union(type_) and len(args) == 1:
        return _nested(args[0])
    if is_iterable(type_) or is_mapping(type_):
        nested, step = _nested(args[-1] if is_mapping(type_) else args[0])
        return nested, f"::<{'key' if is_mapping(type_) else 'n'}>{step}"
    return None, ""
