"""Reads the simulated node: its devices by tables, its holders, its faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from otelgpu.component import HandOver, Settings
from otelgpu.points.batch import Readings
from otelgpu.points.event import Event
from otelgpu.scraping.devices import DeviceScraper, Pace, Vendor
from otelgpu.scraping.pci import PciFunctions
from otelgpu.scraping.support import DeviceSupport
from simulatorreceiver.catalog import NVIDIA
from simulatorreceiver.client import SimulatedClient, build
from simulatorreceiver.config import SimulatorConfig
from simulatorreceiver.device import SimulatedDevice
from simulatorreceiver.table import TABLES
from simulatorreceiver.timeline import Timeline
from simulatorreceiver.workload import Workloads


class SimulatorScraper:
    """A scraper of devices for each vendor, as a node with both would have; one moment for all."""

    def __init__(self, settings: Settings, config: SimulatorConfig, hand_over: HandOver) -> None:
        self._timeline = Timeline(settings.clock)
        self._devices = build(config, self._timeline)
        self._hand_over = hand_over
        self.restarted: frozenset[str] = frozenset()
        self._workloads = Workloads(self._devices, settings.streams, config.enabled)
        # A node without devices still has a receiver that says so.
        vendors = dict.fromkeys(device.model.vendor for device in self._devices) or [NVIDIA]
        self._scrapers = [_scraper(settings, config, vendor, self._devices) for vendor in vendors]

    def start(self) -> None:
        self._timeline.begin()
        for scraper in self._scrapers:
            scraper.start()

    def shutdown(self, timeout: float) -> None:
        for scraper in self._scrapers:
            scraper.shutdown(timeout)

    def release(self) -> None:
        """There is no driver."""

    def support(self) -> list[DeviceSupport]:
        """Return what each device gives."""
        return [found for scraper in self._scrapers for found in scraper.support()]

    def scrape(self) -> Readings:
        """Read all at one moment; faults since the last scrape leave as events."""
        self._timeline.advance()
        readings = self._workloads.readings()
        for scraper in self._scrapers:
            readings += scraper.scrape()
        if events := list(self._events()):
            self._hand_over.events(events)
        return readings

    def _events(self) -> Iterator[Event]:
        for device in self._devices:
            if device.faults is not None:
                holder = device.holders[0]
                pid = holder.processes[0].pid
                yield from device.faults.news(device.id, holder.attributes, pid)


def _scraper(
    settings: Settings, config: SimulatorConfig, vendor: str, devices: Sequence[SimulatedDevice]
) -> DeviceScraper[SimulatedDevice]:
    own = [device for device in devices if device.model.vendor == vendor]
    expected = partial(PciFunctions, host=len(own), passed_through=0)
    pace = Pace(config.collection_interval.total_seconds(), config.timeout.total_seconds())
    return DeviceScraper(
        settings,
        Vendor(vendor, "simulator", expected),
        SimulatedClient(own),
        lambda _: TABLES[vendor],
        config.enabled,
        pace,
    )
