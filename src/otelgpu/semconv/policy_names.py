"""Policies on names: their form, that they are ours to define, and that they never collide."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from otelgpu.semconv.model import Enumeration
from otelgpu.semconv.naming import class_name, constant
from otelgpu.semconv.promname import label_name, metric_name
from otelgpu.semconv.registry import Registry

_NAME = re.compile(r"[a-z][a-z0-9]*([._][a-z0-9]+)*")
_MEMBER = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_VERSIONED = re.compile(r"https?://.+/\d+\.\d+\.\d+")


def manifest(registry: Registry) -> Iterator[str]:
    """The schema URL has a version, and what we depend on is what the official facts are of."""
    url = registry.manifest.schema_url
    if not _VERSIONED.fullmatch(url):
        yield f"manifest.yaml: schema_url {url} does not end with a version such as /0.1.0"
    if registry.official.schema_url not in {d.schema_url for d in registry.manifest.dependencies}:
        yield f"manifest.yaml: does not depend on {registry.official.schema_url} (official.yaml)"


def form(registry: Registry) -> Iterator[str]:
    """Names are lower case, in words joined by dots and single underscores."""
    for name in [*_own(registry), *_keys(registry), *(e.name for e in registry.events)]:
        if not _NAME.fullmatch(name):
            yield f"{name}: a name is lower case, words joined by dots and single underscores"
    for attribute in registry.attributes:
        if isinstance(attribute.type, Enumeration):
            for member in attribute.type.members:
                if not _MEMBER.fullmatch(member.id):
                    yield f"{attribute.key}: member id {member.id} is not in snake_case"


def duplicates(registry: Registry) -> Iterator[str]:
    """Nothing is defined twice."""
    kinds = {
        "metric": [m.name for m in registry.metrics],
        "attribute": _keys(registry),
        "attribute group": [g.id for g in registry.groups],
        "event": [e.name for e in registry.events],
    }
    for kind, names in kinds.items():
        yield from (f"{n}: {kind} defined {c} times" for n, c in Counter(names).items() if c > 1)
    for attribute in registry.attributes:
        if isinstance(attribute.type, Enumeration):
            members = attribute.type.members
            for what in ([m.id for m in members], [m.text for m in members]):
                for text, count in Counter(what).items():
                    if count > 1:
                        yield f"{attribute.key}: member {text} stands {count} times"


def authority(registry: Registry) -> Iterator[str]:
    """What OpenTelemetry defines is refined or referred to, never defined anew."""
    for name in _own(registry):
        if name in registry.official.names:
            yield f"{name}: redefines an official metric; use metric_refinements"
    for key in _keys(registry):
        if key in registry.official.attributes:
            yield f"{key}: redefines an official attribute; refer to it instead"
    for key, values in registry.added.items():
        official = registry.official.attributes.get(key)
        if official is None or not official.values:
            yield f"values.yaml: {key} is no official enumeration"
            continue
        yield from (
            f"values.yaml: {key} has the value {v} already" for v in values if v in official.values
        )


def namespaces(registry: Registry) -> Iterator[str]:
    """A name is no namespace of another; official names among themselves are not our concern."""
    own = set(_own(registry))
    for parent, child in _nested(own | registry.official.names):
        if parent in own or child in own:
            yield f"{parent}: metric name is the namespace of {child}"
    keys = set(_keys(registry))
    for parent, child in _nested(keys | registry.official.attributes.keys()):
        if parent in keys or child in keys:
            yield f"{parent}: attribute name is the namespace of {child}"


def constants(registry: Registry) -> Iterator[str]:
    """Different names stay different as Python constants, Prometheus names and labels."""
    metrics = registry.metrics
    keys = {*_keys(registry), *registry.official.attributes}
    enums = [k for k in keys if registry.members(k)]
    yield from _alike("Python constant", ((m.name, constant(m.name)) for m in metrics))
    yield from _alike("Python constant", ((k, constant(k)) for k in keys))
    yield from _alike("Python class", ((k, class_name(k)) for k in enums))
    names = ((m.name, metric_name(m.name, m.unit, m.instrument)) for m in metrics)
    yield from _alike("Prometheus name", names)
    yield from _alike("Prometheus label", ((k, label_name(k)) for k in keys))


def _own(registry: Registry) -> list[str]:
    return [m.name for m in registry.metrics if m.name not in registry.refined]


def _keys(registry: Registry) -> list[str]:
    return [a.key for a in registry.attributes]


def _nested(names: set[str] | frozenset[str]) -> Iterator[tuple[str, str]]:
    for child in sorted(names):
        words = child.split(".")
        for length in range(1, len(words)):
            parent = ".".join(words[:length])
            if parent in names:
                yield parent, child


def _alike(what: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    made: dict[str, set[str]] = defaultdict(set)
    for name, translated in pairs:
        made[translated].add(name)
    for translated, names in sorted(made.items()):
        if len(names) > 1:
            yield f"{' and '.join(sorted(names))}: same {what} {translated}"


POLICIES: tuple[Callable[[Registry], Iterator[str]], ...] = (
    manifest,
    form,
    duplicates,
    authority,
    namespaces,
    constants,
)
