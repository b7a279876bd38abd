"""The hook for attrs classes: every field is read and validated, whatever is wrong with others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, TypeAlias, get_args

import attrs
from cattrs import Converter

from otelgpu.config.containers import Hook, is_union
from otelgpu.config.mistake import ConfigError, Findings, Mistake
from otelgpu.config.scalars import kind, resolved
from otelgpu.config.suggest import unknown

Field: TypeAlias = "attrs.Attribute[Any]"


def attrs_class(cls: type[Any], converter: Converter) -> Hook:
    """Make the hook of an attrs class, whose fields are the known keys of a mapping.

    A field without a value (``key:`` and nothing behind it) has its default.
    """
    fields = {field.alias or field.name: field for field in _fields(cls)}
    hooks = {name: converter.get_structure_hook(field.type) for name, field in fields.items()}

    def structure(raw: Any, _: Any) -> Any:
        raw = {} if raw is None else raw
        if not isinstance(raw, Mapping):
            raise ValueError(f"expected a mapping, got {kind(raw)}; write `key: value` lines")  # noqa: TRY004 - a mistake of the user, not of the program
        findings = Findings()
        values: dict[str, Any] = {}
        for name in [name for name in raw if name not in fields]:
            findings.add(str(name), unknown("setting", str(name), fields))
        for name, field in fields.items():
            if _given(field, name, raw):
                with findings.at(name):
                    values[name] = hooks[name](resolved(raw[name]), field.type)
            elif field.default is attrs.NOTHING:
                findings.add(name, "is required; give it a value")
        return _build(cls, fields, values, findings)

    return structure


def _fields(cls: type[Any]) -> list[Field]:
    return [field for field in attrs.fields(attrs.resolve_types(cls)) if field.init]


def _given(field: Field, name: str, raw: Mapping[str, Any]) -> bool:
    """Whether the key has a value; for ``X | None`` an empty value is one."""
    if name not in raw:
        return False
    optional = is_union(field.type) and NoneType in get_args(field.type)
    return raw[name] is not None or optional


def _build(
    cls: type[Any], fields: Mapping[str, Field], values: dict[str, Any], findings: Findings
) -> Any:
    error: Exception | None = None
    if not findings.failed:
        try:
            return cls(**values)
        except (ConfigError, ValueError, TypeError) as raised:
            error = raised
    before = len(findings.mistakes)
    _validate(cls, fields, values, findings)
    if error is not None and len(findings.mistakes) == before:
        # No field alone is to blame: the class itself compares several.
        findings.mistakes += _of_class(error)
    findings.failed = True
    findings.check()
    raise AssertionError("check raises")  # pragma: no cover


def _of_class(error: Exception) -> list[Mistake]:
    if isinstance(error, ConfigError):
        return error.mistakes
    return [Mistake("", str(error.args[0]) if error.args else "invalid values")]


def _validate(
    cls: type[Any], fields: Mapping[str, Field], values: Mapping[str, Any], findings: Findings
) -> None:
    """Run each field's validator by itself, as attrs stops at the first that objects."""
    draft = object.__new__(cls)
    present = []
    for name, field in fields.items():
        if name in values or field.default is not attrs.NOTHING:
            value = values[name] if name in values else _default(field, draft)
            object.__setattr__(draft, field.name, value)
            present.append((name, field, value))
    for name, field, value in present:
        if field.validator is None:
            continue
        with findings.at(name):
            _ask(field.validator, draft, field, value)


def _ask(validator: Callable[..., Any], draft: Any, field: Field, value: Any) -> None:
    try:
        validator(draft, field, value)
    except TypeError as error:
        raise ValueError(*error.args) from error
    except AttributeError:
        # It compares with a field that could not be read and has been reported.
        return


def _default(field: Field, draft: Any) -> Any:
    default: Any = field.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return default.factory(draft) if default.takes_self else default.factory()
    return default
