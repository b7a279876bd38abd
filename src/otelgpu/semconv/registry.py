"""Read the registry's YAML files; what is malformed is told by file, entry and field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from attrs import frozen

from otelgpu.semconv.model import (
    AttributeDefinition,
    AttributeGroup,
    Enumeration,
    EventDefinition,
    Manifest,
    Member,
    MetricDefinition,
    MetricRefinement,
    Official,
    OfficialAttribute,
    OfficialMetric,
    Reference,
)
from otelgpu.semconv.structure import Structurer

T = TypeVar("T")

FILE_FORMAT = "definition/2"
_SECTIONS: Mapping[str, tuple[type, str]] = {
    "attributes": (AttributeDefinition, "key"),
    "attribute_groups": (AttributeGroup, "id"),
    "metrics": (MetricDefinition, "name"),
    "metric_refinements": (MetricRefinement, "ref"),
    "events": (EventDefinition, "name"),
}


class RegistryError(ValueError):
    """The registry cannot be read; ``findings`` has one line for each mistake."""

    def __init__(self, findings: Sequence[str]) -> None:
        super().__init__("\n".join(findings))
        self.findings = findings


@frozen
class Registry:
    """All definitions, ours and what we take from OpenTelemetry."""

    manifest: Manifest
    attributes: Sequence[AttributeDefinition]
    groups: Sequence[AttributeGroup]
    metrics: Sequence[MetricDefinition]
    """By name; official ones that we refine are among them."""
    refined: frozenset[str]
    """Names of the official ones."""
    events: Sequence[EventDefinition]
    official: Official
    added: Mapping[str, Mapping[str, str]]
    """Values that we add to official enumerations, with their briefs."""

    def references(self, entries: Sequence[Reference]) -> Mapping[str, Reference]:
        """Return references by attribute key, groups expanded; of two the later one counts."""
        groups = {group.id: group for group in self.groups}
        found: dict[str, Reference] = {}
        for entry in entries:
            if entry.ref_group in groups:
                found |= {r.ref: r for r in groups[entry.ref_group].attributes}
            elif entry.ref:
                found[entry.ref] = entry
        return found

    def members(self, key: str) -> Sequence[Member]:
        """Return the known values of an attribute; none where it takes any value."""
        for attribute in self.attributes:
            if attribute.key == key:
                is_enum = isinstance(attribute.type, Enumeration)
                return attribute.type.members if is_enum else ()  # type: ignore[union-attr]
        official = self.official.attributes.get(key)
        known = (
            [Member(v, "Defined by OpenTelemetry.") for v in official.values] if official else []
        )
        return [*known, *(Member(v, brief) for v, brief in self.added.get(key, {}).items())]

    def type_of(self, key: str) -> str:
        """Return an attribute's type in Weaver's words; an enumeration's is ``string``."""
        for attribute in self.attributes:
            if attribute.key == key:
                return "string" if isinstance(attribute.type, Enumeration) else attribute.type
        return self.official.attributes[key].type


def load(folder: Path) -> Registry:
    """Read the registry in ``folder``; ``official.yaml`` and ``values.yaml`` lie beside it.

    Raises:
        FileNotFoundError: there is no registry.
        RegistryError: a file is malformed.
    """
    for path in (folder / "manifest.yaml", folder.parent / "official.yaml"):
        if not path.is_file():
            raise FileNotFoundError(f"no registry in {folder}: {path} does not exist")
    to = Structurer()
    sections = _sections(folder, to)
    official = _official(folder.parent / "official.yaml", to)
    added = _added(folder.parent / "values.yaml", to)
    manifest = to.build(_read(folder / "manifest.yaml", to), Manifest, "manifest.yaml")
    refinements: list[MetricRefinement] = sections["metric_refinements"]
    refined = [m for r in refinements if (m := _refined(r, official, to))]
    if to.findings or manifest is None:
        raise RegistryError(to.findings)
    return Registry(
        manifest=manifest,
        attributes=sections["attributes"],
        groups=sections["attribute_groups"],
        metrics=sorted([*sections["metrics"], *refined], key=_name),
        refined=frozenset(r.ref for r in refinements),
        events=sections["events"],
        official=official,
        added=added,
    )


def _name(metric: MetricDefinition) -> str:
    return metric.name


def _read(path: Path, to: Structurer) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as e:
        to.findings.append(f"{path.name}: no YAML: {e}")
        return {}
    if not isinstance(document, dict):
        to.findings.append(f"{path.name}: a mapping is expected")
        return {}
    return document


def _sections(folder: Path, to: Structurer) -> dict[str, list[Any]]:
    sections: dict[str, list[Any]] = {name: [] for name in _SECTIONS}
    for path in sorted(folder.rglob("*.yaml")):
        where = path.relative_to(folder).as_posix()
        if where == "manifest.yaml":
            continue
        document = dict(_read(path, to))
        if document.pop("file_format", None) != FILE_FORMAT:
            to.findings.append(f"{where}: file_format is not {FILE_FORMAT}")
        for name, entries in document.items():
            if name not in _SECTIONS:
                to.findings.append(f"{where}: unknown section {name}")
                continue
            type_, label = _SECTIONS[name]
            for entry in _entries(entries, f"{where}: {name}", to):
                title = f"{where}: {entry.get(label, f'entry without {label}')}"
                made = to.build(entry, type_, title)
                sections[name] += [] if made is None else [made]
    return sections


def _entries(entries: Any, where: str, to: Structurer) -> Iterable[Mapping[str, Any]]:
    if isinstance(entries, list) and all(isinstance(e, dict) for e in entries):
        return entries
    to.findings.append(f"{where}: a list of mappings is expected")
    return ()


def _official(path: Path, to: Structurer) -> Official:
    document = _read(path, to)
    metrics = _facts(document, "metrics", OfficialMetric, path, to)
    attributes = _facts(document, "attributes", OfficialAttribute, path, to)
    names = frozenset(document.get("names", ()))
    return Official(str(document.get("schema_url", "")), metrics, attributes, names)


def _facts(
    document: Mapping[str, Any], section: str, type_: type[T], path: Path, to: Structurer
) -> Mapping[str, T]:
    made = {
        name: to.build(facts, type_, f"{path.name}: {name}")
        for name, facts in dict(document.get(section, {})).items()
    }
    return {name: facts for name, facts in made.items() if facts is not None}


def _added(path: Path, to: Structurer) -> Mapping[str, Mapping[str, str]]:
    if not path.is_file():
        return {}
    return to.build(_read(path, to), dict[str, dict[str, str]], path.name) or {}


def _refined(
    refinement: MetricRefinement, official: Official, to: Structurer
) -> MetricDefinition | None:
    facts = official.metrics.get(refinement.ref)
    if facts is None:
        to.findings.append(f"{refinement.ref}: refined, but official.yaml does not know it")
        return None
    return MetricDefinition(
        name=refinement.ref,
        brief=facts.brief,
        instrument=facts.instrument,
        unit=facts.unit,
        stability="development",
        requirement_level="opt_in"
        if refinement.annotations.gpu.profile == "full"
        else "recommended",
        attributes=refinement.attributes,
        annotations=refinement.annotations,
        note=refinement.note,
    )
