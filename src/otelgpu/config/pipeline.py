"""Pipelines: which components data flows through, and whether they suit each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from otelgpu.component import Signal
from otelgpu.config.component import ComponentSpec
from otelgpu.config.mistake import ConfigError, Findings
from otelgpu.config.structure import structure
from otelgpu.config.suggest import unknown

PIPELINE_KINDS = ("receivers", "processors", "exporters")


@frozen
class Pipeline:
    """One pipeline; ids of components in order."""

    signal: Signal
    receivers: tuple[str, ...]
    processors: tuple[str, ...]
    exporters: tuple[str, ...]

    def ids(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and id of every component."""
        for kind in PIPELINE_KINDS:
            for id_ in getattr(self, kind):
                yield kind, id_


class PipelineReader:
    """Reads ``service::pipelines`` and compares it with the components."""

    def __init__(
        self,
        declared: Mapping[str, Collection[str]],
        components: Mapping[tuple[str, str], ComponentSpec],
        findings: Findings,
    ) -> None:
        self._declared = declared
        self._components = components
        self._findings = findings

    def read(self, section: Mapping[str, Any]) -> dict[str, Pipeline]:
        """Return the pipelines whose ids are right; mistakes are noted in findings.

        The form of the section is checked with the service's settings: a list that is wrong there
        is passed over here.
        """
        pipelines = {}
        for id_, raw in section.items():
            path = f"service::pipelines::{id_}"
            lists = {kind: _ids(raw, kind) for kind in PIPELINE_KINDS}
            signal = None
            with self._findings.at(path):
                signal = _signal(id_)
            for kind, ids in lists.items():
                self._check(f"{path}::{kind}", kind, ids, signal)
            if signal is not None:
                pipelines[id_] = Pipeline(signal, *(ids or () for ids in lists.values()))
        return pipelines

    def _check(
        self, path: str, kind: str, ids: Sequence[str] | None, signal: Signal | None
    ) -> None:
        if ids is None:
            return
        if not ids and kind != "processors":
            self._findings.add(path, f"is empty; name at least one of {kind}")
        for index, id_ in enumerate(ids):
            where = f"{path}::{index}"
            if id_ in ids[:index]:
                self._findings.add(where, f"{id_!r} is named twice; remove one")
            elif id_ not in self._declared[kind]:
                message = unknown("component", id_, self._declared[kind])
                self._findings.add(where, f"{message}; declare it under `{kind}:`")
            elif (kind, id_) in self._components and signal is not None:
                self._carries(where, self._components[kind, id_], signal)

    def _carries(self, path: str, spec: ComponentSpec, signal: Signal) -> None:
        signals = spec.factory.signals
        if signal not in signals:
            carried = " and ".join(sorted(signals)) or "nothing"
            words = f"{spec.id!r} does not carry {signal}, only {carried}"
            self._findings.add(path, f"{words}; name it in a pipeline of those")


def _ids(pipeline: Any, kind: str) -> tuple[str, ...] | None:
    """Return the ids of one list, None where its form is wrong."""
    if pipeline is not None and not isinstance(pipeline, Mapping):
        return None
    written = (pipeline or {}).get(kind)
    try:
        return () if written is None else structure(written, tuple[str, ...], kind)
    except ConfigError:
        return None


def _signal(id_: str) -> Signal:
    known = ", ".join(f"`{signal}`, `{signal}/name`" for signal in Signal)
    type_, slash, name = id_.partition("/")
    if slash and (not name or "/" in name or name.split() != [name]):
        raise ValueError(f"{id_!r} is no id of a pipeline; write one of {known}")
    try:
        return Signal(type_)
    except ValueError as error:
        words = unknown("signal", type_, [signal.value for signal in Signal])
        raise ValueError(f"{words}; write one of {known}") from error
