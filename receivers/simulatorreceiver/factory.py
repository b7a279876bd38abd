"""What the service needs to know of the simulator."""

from __future__ import annotations

from otelgpu.component import Component, HandOver, ReceiverFactory, Settings, Signal, Stability
from otelgpu.scraping.controller import ScrapeController
from simulatorreceiver.config import SimulatorConfig
from simulatorreceiver.scraper import SimulatorScraper


def _create(settings: Settings, config: SimulatorConfig, hand_over: HandOver) -> Component:
    scraper = SimulatorScraper(settings, config, hand_over)
    return ScrapeController(settings, config.collection_interval, scraper, hand_over)


FACTORY = ReceiverFactory(
    type="simulator",
    config=SimulatorConfig,
    create=_create,
    stability=Stability.ALPHA,
    signals=frozenset({Signal.METRICS, Signal.EVENTS}),
    resource={"otelgpu.simulated": True},
)
