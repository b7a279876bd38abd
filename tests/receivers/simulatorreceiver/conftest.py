from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import pytest
from attrs import define, field

from otelgpu.component import Settings
from otelgpu.points.batch import Batch, Readings
from otelgpu.points.event import Event
from otelgpu.points.metric import Instrument
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Streams
from otelgpu.telemetry.component import ComponentTelemetry
from simulatorreceiver.config import SimulatorConfig
from simulatorreceiver.scraper import SimulatorScraper

EPOCH = 1_800_000_000_000_000_000
BOOT = 5_000.0


@define
class ManualClock:
    """Stands still until it is moved."""

    now: float = BOOT

    def time_ns(self) -> int:
        return EPOCH + int((self.now - BOOT) * 1e9)

    def monotonic(self) -> float:
        return self.now


@define
class Door:
    """Keeps what a receiver hands over."""

    batches: list[Readings] = field(factory=list)
    told: list[Event] = field(factory=list)

    def readings(self, readings: Readings, restarted: Collection[str] = ()) -> None:
        self.batches.append(readings)

    def events(self, events: Sequence[Event]) -> None:
        self.told += events


@define
class Simulation:
    """A scraper that is read at chosen moments."""

    scraper: SimulatorScraper
    clock: ManualClock
    door: Door
    settings: Settings

    def at(self, seconds: float) -> Batch:
        """Return what there is ``seconds`` after the start."""
        self.clock.now = BOOT + seconds
        points = [
            (stream, value, EPOCH if stream.metric.instrument is Instrument.COUNTER else 0)
            for stream, value in self.scraper.scrape()
        ]
        return Batch("simulator", self.clock.time_ns(), Resource({}), points)

    def values(self, seconds: float) -> Mapping[tuple[str, frozenset[tuple[str, object]]], float]:
        """Return all values by name and attributes."""
        points = self.at(seconds).points
        return {(s.metric.name, frozenset(s.attributes.items())): v for s, v, _ in points}


@pytest.fixture
def settings() -> Settings:
    streams = Streams()
    common = {"otel.component.type": "simulator", "otel.component.name": "simulator"}
    return Settings(
        "simulator",
        logging.getLogger("simulator"),
        streams,
        ComponentTelemetry(common, streams),
        ManualClock(),
    )


@pytest.fixture
def simulate() -> Iterator[Callable[[SimulatorConfig], Simulation]]:
    begun = []

    def simulate(config: SimulatorConfig) -> Simulation:
        streams, clock, door = Streams(), ManualClock(), Door()
        settings = Settings(
            "simulator", logging.getLogger("sim"), streams, ComponentTelemetry({}, streams), clock
        )
        scraper = SimulatorScraper(settings, config, door)
        begun.append(scraper)
        scraper.start()
        return Simulation(scraper, clock, door, settings)

    yield simulate
    for scraper in begun:
        scraper.shutdown(5)
