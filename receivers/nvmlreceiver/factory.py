"""What the service knows of this package."""

from __future__ import annotations

from functools import partial

from nvmlreceiver.config import NvmlConfig
from otelgpu.component import Component, HandOver, ReceiverFactory, Settings, Stability
from otelgpu.scraping.controller import ScrapeController
from otelgpu.scraping.devices import DeviceScraper, Vendor

PCI_VENDOR = "0x10de"


def _create(settings: Settings, config: NvmlConfig, hand_over: HandOver) -> Component:
    # Only an agent that reads NVIDIA GPUs pays for what the table and the library need.
    from nvmlreceiver.client import NvmlClient  # noqa: PLC0415
    from nvmlreceiver.library import Library  # noqa: PLC0415
    from nvmlreceiver.table import table  # noqa: PLC0415

    expected = partial(config.expected, PCI_VENDOR)
    client = NvmlClient(Library(config.library, config.driver_root), expected)
    scraper = DeviceScraper(
        settings,
        Vendor("NVIDIA", "nvml", expected),
        client,
        table(config.sysfs),
        config.enabled,
        config.pace,
    )
    return ScrapeController(settings, config.collection_interval, scraper, hand_over)


FACTORY = ReceiverFactory("nvml", NvmlConfig, _create, Stability.ALPHA)
