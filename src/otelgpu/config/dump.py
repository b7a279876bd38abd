"""Effective settings as YAML, for ``validate --print``."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import timedelta
from enum import Enum
from typing import Any

import attrs
import yaml

from otelgpu.config import duration
from otelgpu.config.document import KINDS, Document
from otelgpu.config.scalars import spelling
from otelgpu.config.schema import Resolvers, resolvers
from otelgpu.config.secret import REDACTED, Secret


def _both() -> Resolvers:
    ours, theirs = resolvers(), yaml.SafeDumper.yaml_implicit_resolvers
    return {c: [*theirs.get(c, []), *ours.get(c, [])] for c in ours.keys() | theirs.keys()}


class _Dumper(yaml.SafeDumper):
    """Quotes text that YAML 1.1 or 1.2 would read as something else."""

    yaml_implicit_resolvers = _both()

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def dump(config: Any) -> str:
    """Return a document, or the settings of one component, as YAML with secrets redacted.

    What is redacted apart, the text reads back as the same settings.
    """
    plain = _document(config) if isinstance(config, Document) else _plain(config)
    return yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def _document(document: Document) -> dict[str, Any]:
    sections: dict[str, Any] = {kind: {} for kind in KINDS}
    for (kind, id_), spec in document.components.items():
        sections[kind][id_] = _plain(spec.config)
    filled = {kind: section for kind, section in sections.items() if section}
    return {**filled, "service": _plain(document.service)}


def _plain(value: Any) -> Any:
    if attrs.has(type(value)):
        fields = (field for field in attrs.fields(type(value)) if field.init)
        return {field.alias: _plain(getattr(value, field.name)) for field in fields}
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((_plain(item) for item in value), key=str)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _scalar(value)


def _key(key: Any) -> str:
    return spelling(key) if isinstance(key, Enum) else str(key)


def _scalar(value: Any) -> Any:
    if isinstance(value, Secret):
        return REDACTED
    if isinstance(value, Enum):
        return spelling(value)
    if isinstance(value, timedelta):
        return duration.render(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    # A dollar sign that is left would be read as the start of a reference.
    return str(value).replace("$", "$$")
