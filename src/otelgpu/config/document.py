"""The whole document: the Collector's form, checked in one go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from otelgpu.component import ReceiverFactory
from otelgpu.config.component import (
    KINDS,
    ComponentReader,
    ComponentSpec,
    ExtensionFactory,
    FactoryLookup,
)
from otelgpu.config.expand import UNRESOLVED, expand
from otelgpu.config.mistake import ConfigError, Findings, Mistake
from otelgpu.config.pipeline import Pipeline, PipelineReader
from otelgpu.config.scalars import kind as kind_of
from otelgpu.config.service import ServiceSettings
from otelgpu.config.structure import structure
from otelgpu.config.suggest import unknown

__all__ = [
    "KINDS",
    "ComponentSpec",
    "ConfigError",
    "Document",
    "ExtensionFactory",
    "FactoryLookup",
    "Mistake",
    "Pipeline",
    "ServiceSettings",
    "parse",
]

_SECTIONS = (*KINDS, "service")


@frozen
class Document:
    """A configuration without mistakes."""

    components: Mapping[tuple[str, str], ComponentSpec]
    """All declared components by kind and id, those that no pipeline names too."""
    pipelines: Mapping[str, Pipeline]
    """By id."""
    extensions: tuple[str, ...]
    """Ids of the extensions to start, in order."""
    service: ServiceSettings
    warnings: list[Mistake] = field(factory=list)
    """What is probably not meant, but does no harm."""


def parse(raw: Mapping[str, Any], factories: FactoryLookup, environ: Mapping[str, str]) -> Document:
    """Return the document in ``raw``, as :func:`otelgpu.config.load.load` gives it.

    References are expanded from ``environ`` and from files. An exporter's settings lie over those
    that its factory takes from ``environ``.

    Raises:
        ConfigError: with all mistakes, each with its path.

    """
    return _Parser(factories, environ).parse(raw)


class _Parser:
    def __init__(self, factories: FactoryLookup, environ: Mapping[str, str]) -> None:
        self._factories = factories
        self._environ = environ
        self._findings = Findings()

    def parse(self, raw: Mapping[str, Any]) -> Document:
        raw = expand(raw, self._environ, self._findings)
        for name in raw:
            if name not in _SECTIONS:
                self._findings.add(str(name), unknown("section", str(name), _SECTIONS))
        declared = {kind: self._section(raw, kind) for kind in KINDS}
        reader = ComponentReader(self._factories, self._environ, self._findings)
        components: dict[tuple[str, str], ComponentSpec] = {}
        for kind in KINDS:
            components |= reader.read(kind, declared[kind])
        for kind in ("receivers", "exporters"):
            if raw.get(kind) is None or raw[kind] == {}:
                self._findings.add(kind, f"no {kind} are declared; declare at least one")
        service = self._service(raw.get("service"))
        pipelines = PipelineReader(declared, components, self._findings).read(
            self._pipelines(raw.get("service"))
        )
        self._extensions(raw.get("service"), declared["extensions"])
        self._single(components, pipelines)
        self._findings.check()
        used = {key for pipeline in pipelines.values() for key in pipeline.ids()}
        used |= {("extensions", id_) for id_ in service.extensions}
        warnings = [_unused(*key) for key in components if key not in used]
        warnings += _twice(pipelines)
        return Document(components, pipelines, service.extensions, service, warnings)

    def _section(self, raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        section = raw.get(name)
        if section is None or section is UNRESOLVED:
            return {}
        if not isinstance(section, Mapping):
            remedy = "write one component a line, as `id:`"
            self._findings.add(name, f"expected a mapping, got {kind_of(section)}; {remedy}")
            return {}
        return section

    def _service(self, raw: Any) -> ServiceSettings:
        with self._findings.at("service"):
            return structure(raw, ServiceSettings, "")
        return ServiceSettings()

    def _pipelines(self, service: Any) -> Mapping[str, Any]:
        """Return the raw pipelines; a wrong type has been reported with the service's settings."""
        if service is None or service == {}:
            self._findings.add("service", "the section is missing; declare `service::pipelines`")
            return {}
        if not isinstance(service, Mapping):
            return {}
        pipelines = service.get("pipelines")
        if pipelines is None or pipelines == {}:
            remedy = "declare at least one, such as `metrics:`"
            self._findings.add("service::pipelines", f"no pipelines are declared; {remedy}")
        return pipelines if isinstance(pipelines, Mapping) else {}

    def _single(
        self,
        components: Mapping[tuple[str, str], ComponentSpec],
        pipelines: Mapping[str, Pipeline],
    ) -> None:
        """Refuse a second receiver of a type whose library a process has only once."""
        first: dict[str, str] = {}
        used = dict.fromkeys(key for pipeline in pipelines.values() for key in pipeline.ids())
        for spec in (components[key] for key in used if key in components):
            if isinstance(spec.factory, ReceiverFactory) and spec.factory.single:
                other = first.setdefault(spec.type, spec.id)
                if other != spec.id:
                    words = f"an agent can use one receiver of type {spec.type}"
                    remedy = f"{other!r} is another; name one of them in all pipelines"
                    self._findings.add(f"receivers::{spec.id}", f"{words}, and {remedy}")

    def _extensions(self, service: Any, declared: Mapping[str, Any]) -> None:
        written = service.get("extensions") if isinstance(service, Mapping) else None
        try:
            named = () if written is None else structure(written, tuple[str, ...], "")
        except ConfigError:
            return  # reported with the service's settings
        seen: set[str] = set()
        for index, id_ in enumerate(named):
            path = f"service::extensions::{index}"
            if id_ in seen:
                self._findings.add(path, f"{id_!r} is named twice; remove one")
            elif id_ not in declared:
                words = unknown("component", id_, declared)
                self._findings.add(path, f"{words}; declare it under `extensions:`")
            seen.add(id_)


def _twice(pipelines: Mapping[str, Pipeline]) -> list[Mistake]:
    """Return a warning for each receiver that reaches one exporter by two pipelines."""
    seen: dict[tuple[str, str, str], str] = {}
    found = []
    for id_, pipeline in pipelines.items():
        for receiver in pipeline.receivers:
            for exporter in pipeline.exporters:
                first = seen.setdefault((pipeline.signal, receiver, exporter), id_)
                if first != id_:
                    words = f"{receiver!r} reaches {exporter!r} by {first!r} too"
                    remedy = "what it reads is sent twice; remove it from one of them"
                    found.append(Mistake(f"service::pipelines::{id_}", f"{words}; {remedy}"))
    return found


def _unused(kind: str, id_: str) -> Mistake:
    where = "`service::extensions`" if kind == "extensions" else "any pipeline"
    return Mistake(f"{kind}::{id_}", f"is not used; name it in {where} or remove it")
