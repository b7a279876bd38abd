"""Builds components from a checked configuration and connects them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from otelgpu.component import Clock, Consumer, Settings, Signal, Stage
from otelgpu.config.component import ComponentSpec
from otelgpu.config.document import Document
from otelgpu.config.pipeline import Pipeline
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Streams
from otelgpu.scraping.controller import ScrapeController
from otelgpu.semconv.metrics import OTELGPU_AGENT_RESTARTS
from otelgpu.service.door import Door
from otelgpu.service.edges import Fanout, Guard, StreamTracker
from otelgpu.service.lifecycle import Named
from otelgpu.telemetry.agent import SOURCE, AgentScraper, Registry

LOGGER = "otelgpu"


@frozen
class Graph:
    """All components, connected; nothing is started."""

    registry: Registry
    components: Sequence[Named]
    """The most downstream first: the order in which they start; they stop in the other."""


@frozen
class Environment:
    """What the service has for all components."""

    resource: Resource
    clock: Clock
    streams: Streams = field(factory=Streams)
    restart: Callable[[str], None] = lambda _: None
    """Asks that the agent be executed anew, for a reason."""
    restarts: Mapping[str, int] = field(factory=dict)
    """How often that has been done, by reason."""


def build(document: Document, environment: Environment, capture: Stage | None = None) -> Graph:
    """Create the components of all pipelines, and the agent's own telemetry as one more source.

    ``capture`` stands in for all exporters; the agent's own telemetry is left out then.
    """
    return _Builder(document, environment, capture).build()


class _Builder:
    def __init__(self, document: Document, environment: Environment, capture: Stage | None) -> None:
        self._document = document
        self._capture = capture
        self._environment = environment
        self._registry = Registry(environment.streams)
        self._components: list[Named] = []
        self._trackers: list[StreamTracker] = []
        self._log = logging.getLogger(LOGGER)

    def build(self) -> Graph:
        exporters = {id_: self._exporter(id_) for id_ in self._ids("exporters")}
        heads = {
            name: self._chain(name, pipeline, exporters)
            for name, pipeline in self._document.pipelines.items()
        }
        environment = self._environment
        door = Door(environment.resource, environment.clock, self._registry.agent, self._log)
        for id_ in self._ids("receivers"):
            into: dict[Signal, list[Consumer]] = {signal: [] for signal in Signal}
            for name, pipeline in self._document.pipelines.items():
                if id_ in pipeline.receivers:
                    into[pipeline.signal].append(heads[name])
            self._receiver(id_, door, into)
        for reason, count in environment.restarts.items():
            self._registry.agent.set(OTELGPU_AGENT_RESTARTS, count, {"error.type": reason})
        if self._capture is None:
            self._own_telemetry(door, exporters)
        return Graph(self._registry, self._components)

    def _ids(self, kind: str) -> list[str]:
        pipelines = self._document.pipelines.values()
        return list(dict.fromkeys(id_ for p in pipelines for id_ in getattr(p, kind)))

    def _exporter(self, id_: str) -> Consumer:
        if self._capture is not None:
            return self._capture
        spec, settings = self._prepare("exporters", id_)
        return self._stage("exporters", settings, spec.factory.create(settings, spec.config))

    def _chain(self, name: str, pipeline: Pipeline, exporters: Mapping[str, Consumer]) -> Consumer:
        """Return the first consumer of a pipeline: each pipeline has processors of its own."""
        tail: Consumer = Fanout([exporters[id_] for id_ in pipeline.exporters])
        if pipeline.signal is Signal.METRICS:
            tail = self._track(tail)
        for id_ in reversed(pipeline.processors):
            spec, settings = self._prepare("processors", id_, f"{id_}@{name}")
            tail = self._stage(
                "processors", settings, spec.factory.create(settings, spec.config, tail)
            )
        return tail

    def _track(self, consumer: Consumer) -> StreamTracker:
        tracker = StreamTracker(consumer, pass_empty=self._capture is not None)
        self._trackers.append(tracker)
        return tracker

    def _receiver(self, id_: str, door: Door, into: Mapping[Signal, list[Consumer]]) -> None:
        spec, settings = self._prepare("receivers", id_)
        entrance = door.entrance(id_, Fanout(into[Signal.METRICS]), Fanout(into[Signal.EVENTS]))
        component = spec.factory.create(settings, spec.config, entrance)
        self._components.append(Named(f"receivers::{id_}", component))

    def _own_telemetry(self, door: Door, exporters: Mapping[str, Consumer]) -> None:
        """Send the agent's own metrics to every exporter of metrics, once to each."""
        interval = self._document.service.telemetry.metrics.interval
        pipelines = self._document.pipelines.values()
        ids = {id_: None for p in pipelines if p.signal is Signal.METRICS for id_ in p.exporters}
        if not interval or not ids:
            return
        tail = self._track(Fanout([exporters[id_] for id_ in ids]))
        settings = self._settings(SOURCE, self._registry.agent, self._log)
        scraper = AgentScraper(self._registry, lambda: sum(t.count for t in self._trackers))
        entrance = door.entrance(SOURCE, tail, Fanout([]))
        controller = ScrapeController(settings, interval, scraper, entrance)
        self._components.append(Named("telemetry", controller))

    def _prepare(self, kind: str, id_: str, name: str = "") -> tuple[ComponentSpec, Settings]:
        spec = self._document.components[kind, id_]
        telemetry = self._registry.component(kind, name or id_)
        logger = logging.getLogger(f"{LOGGER}.{kind}.{name or id_}")
        return spec, self._settings(id_, telemetry, logger)

    def _settings(self, id_: str, telemetry: Any, logger: logging.Logger) -> Settings:
        streams, clock = self._environment.streams, self._environment.clock
        return Settings(id_, logger, streams, telemetry, clock, self._environment.restart)

    def _stage(self, kind: str, settings: Settings, stage: Any) -> Consumer:
        self._components.append(Named(f"{kind}::{settings.id}", stage))
        return Guard(stage, settings.telemetry, settings.logger)
