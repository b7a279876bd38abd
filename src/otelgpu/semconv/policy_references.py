"""Policies on the attributes that signals use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from otelgpu.points.metric import Instrument
from otelgpu.semconv.model import MetricDefinition, Reference
from otelgpu.semconv.registry import Registry

ATTRIBUTE_TYPES = ("string", "int", "double", "boolean", "template[string]")
_LEVELS = ("required", "recommended", "opt_in", "conditionally_required")
_JOINED = re.compile(r"\.(info|limit|max|count)$")


def resolve(registry: Registry) -> Iterator[str]:
    """Every reference leads to a definition and says how much the attribute is needed."""
    groups = {group.id for group in registry.groups}
    keys = {*(a.key for a in registry.attributes), *registry.official.attributes}
    for owner, references in _owners(registry):
        for reference in references:
            if bool(reference.ref) == bool(reference.ref_group):
                yield f"{owner}: a reference is either ref or ref_group"
            elif reference.ref_group and reference.ref_group not in groups:
                yield f"{owner}: unknown attribute group {reference.ref_group}"
            elif reference.ref and reference.ref not in keys:
                yield f"{owner}: unknown attribute {reference.ref}"
            if reference.level not in _LEVELS:
                yield f"{owner}: {reference.ref}: unknown requirement level {reference.level}"
            elif bool(reference.condition) != (reference.level == "conditionally_required"):
                yield f"{owner}: {reference.ref}: a condition belongs to conditionally_required"


def group_references(registry: Registry) -> Iterator[str]:
    """Groups hold attributes only: one level of nesting is enough to read."""
    for group in registry.groups:
        if any(reference.ref_group for reference in group.attributes):
            yield f"{group.id}: a group refers to a group"


def values(registry: Registry) -> Iterator[str]:
    """The values that a metric narrows an attribute to are values of that attribute."""
    for owner, references in _owners(registry):
        for reference in references:
            known = {m.text for m in registry.members(reference.ref)}
            for value in reference.annotations.gpu.values:
                if value not in known:
                    yield f"{owner}: {reference.ref} has no value {value}"


def types(registry: Registry) -> Iterator[str]:
    """Attributes are of types that a point can carry."""
    for key in [*(a.key for a in registry.attributes), *registry.official.attributes]:
        if registry.type_of(key) not in ATTRIBUTE_TYPES:
            yield f"{key}: type {registry.type_of(key)} is none of {', '.join(ATTRIBUTE_TYPES)}"


def identity(registry: Registry) -> Iterator[str]:
    """Device metrics say which device, process metrics which process too."""
    for metric in registry.metrics:
        references = registry.references(metric.attributes)
        wanted = {"hw.": ("hw.id", "hw.type"), "process.": ("hw.id", "process.pid")}
        for prefix, keys in wanted.items():
            for key in keys:
                missing = key not in references or references[key].level != "required"
                if metric.name.startswith(prefix) and missing:
                    yield f"{metric.name}: {key} is not required"


def holders(registry: Registry) -> Iterator[str]:
    """A pod's name may join a device's reading, never a counter or the right side of a join."""
    for metric in registry.metrics:
        attached = any(r.ref_group == "gpu.attached" for r in metric.attributes)
        if attached and _keeps_identity(metric):
            yield f"{metric.name}: gpu.attached on a counter, info, limit, max or count"


def _keeps_identity(metric: MetricDefinition) -> bool:
    return metric.instrument is Instrument.COUNTER or _JOINED.search(metric.name) is not None


def used(registry: Registry) -> Iterator[str]:
    """What is defined is used."""
    references = [r for _, owned in _owners(registry) for r in owned]
    refs = {r.ref for r in references}
    groups = {r.ref_group for r in references}
    yield from (
        f"{a.key}: attribute is used nowhere" for a in registry.attributes if a.key not in refs
    )
    yield from (
        f"{g.id}: attribute group is used nowhere" for g in registry.groups if g.id not in groups
    )
    yield from (
        f"official.yaml: attribute {key} is used nowhere"
        for key in registry.official.attributes
        if key not in refs
    )
    yield from (
        f"official.yaml: metric {name} is not refined"
        for name in registry.official.metrics
        if name not in registry.refined
    )


def _owners(registry: Registry) -> Iterator[tuple[str, Sequence[Reference]]]:
    yield from ((m.name, m.attributes) for m in registry.metrics)
    yield from ((e.name, e.attributes) for e in registry.events)
    yield from ((g.id, g.attributes) for g in registry.groups)


POLICIES: tuple[Callable[[Registry], Iterator[str]], ...] = (
    resolve,
    group_references,
    values,
    types,
    identity,
    holders,
    used,
)
