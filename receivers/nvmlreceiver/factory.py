"""What the service knows of this package."""

from __future__ import annotations

from functools import partial

from nvmlreceiver.config import NvmlConfig
from otelgpu.component import Component, HandOver, ReceiverFactory, Settings, Stability
from otelgpu.scraping.controller import ScrapeController, Scraper
from otelgpu.scraping.devices import DeviceScraper, Vendor

PCI_VENDOR = "0x10de"


def make_scraper(settings: Settings, config: NvmlConfig) -> Scraper:
    """Return what reads all GPUs of the node once."""
    # Only an agent that reads NVIDIA GPUs pays for what the table and the library need.
    from nvmlreceiver.client import NvmlClient  # noqa: PLC0415
    from nvmlreceiver.library import Library  # noqa: PLC0415
    from nvmlreceiver.table import table  # noqa: PLC0415

    library = Library(config.library, config.driver_root)
    return DeviceScraper(
        settings,
        Vendor("NVIDIA", "nvml", partial(config.expected, PCI_VENDOR)),
        NvmlClient(library, partial(config.on_bus, PCI_VENDOR)),
        table(config.sysfs),
        config.enabled,
        config.pace,
    )


def _create(settings: Settings, config: NvmlConfig, hand_over: HandOver) -> Component:
    scraper = make_scraper(settings, config)
    return ScrapeController(settings, config.collection_interval, scraper, hand_over)


FACTORY = ReceiverFactory("nvml", NvmlConfig, _create, Stability.ALPHA)
