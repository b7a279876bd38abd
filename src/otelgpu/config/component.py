"""Components in the document: their ids, their factories and their settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from attrs import frozen

from otelgpu.component import AnyFactory, ExporterFactory
from otelgpu.config.merge import merge
from otelgpu.config.mistake import Findings
from otelgpu.config.structure import structure
from otelgpu.config.suggest import unknown

KINDS = ("receivers", "processors", "exporters", "extensions")
"""The kinds of components, by the names of their sections."""

_ID = re.compile(r"(?P<type>[a-z][a-z0-9]*(?:_[a-z0-9]+)*)(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?")


class ExtensionFactory(Protocol):
    """What the configuration needs to know of an extension."""

    @property
    def type(self) -> str:
        """The first part of its id."""

    @property
    def config(self) -> Any:
        """The attrs class of its settings."""


class FactoryLookup(Protocol):
    """Where the installed components are found."""

    def get(self, kind: str, type: str) -> AnyFactory | ExtensionFactory | None:  # noqa: A002 - the Collector's word
        """Return the factory of a type, None if there is none.

        Raises:
            ImportError: if it is known but cannot be loaded; the text says what to install.

        """

    def known(self, kind: str) -> list[str]:
        """Return all types of a kind."""


@frozen
class ComponentSpec:
    """One component as the document declares it."""

    kind: str
    """One of ``KINDS``."""
    id: str
    """``type`` or ``type/name``."""
    type: str
    factory: Any
    """The factory of that kind and type: one of ``AnyFactory``, or an extension's."""
    config: Any
    """An instance of ``factory.config``."""


def component_type(id_: str) -> str:
    """Return the type in a component's id.

    Raises:
        ValueError: if it is no id.

    """
    match = _ID.fullmatch(id_)
    if match is None:
        remedy = "write `type` or `type/name`, the type in lower_snake_case"
        raise ValueError(f"{id_!r} is no id of a component; {remedy}")
    return match["type"]


class ComponentReader:
    """Reads the sections of components."""

    def __init__(
        self, factories: FactoryLookup, environ: Mapping[str, str], findings: Findings
    ) -> None:
        self._factories = factories
        self._environ = environ
        self._findings = findings

    def read(self, kind: str, section: Mapping[str, Any]) -> dict[tuple[str, str], ComponentSpec]:
        """Return the components of a section that are right; mistakes are noted in findings."""
        found = {}
        for id_, raw in section.items():
            with self._findings.at(f"{kind}::{id_}"):
                found[kind, id_] = self._component(kind, id_, raw)
        return found

    def _component(self, kind: str, id_: str, raw: Any) -> ComponentSpec:
        type_ = component_type(id_)
        try:
            factory = self._factories.get(kind, type_)
        except ImportError as error:
            raise ValueError(f"{type_!r} cannot be loaded: {error}") from error
        if factory is None:
            raise ValueError(unknown(f"type of {kind}", type_, self._factories.known(kind)))
        if isinstance(factory, ExporterFactory) and (raw is None or isinstance(raw, Mapping)):
            raw = merge(factory.defaults(self._environ, raw or {}), raw or {})
        return ComponentSpec(kind, id_, type_, factory, structure(raw, factory.config, ""))
