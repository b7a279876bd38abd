"""What the service knows of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from nvmlreceiver.config import NvmlConfig
from otelgpu.component import Component, HandOver, ReceiverFactory, Settings, Signal, Stability
from otelgpu.points.event import Event
from otelgpu.scraping.controller import ScrapeController, Scraper
from otelgpu.scraping.devices import DeviceScraper, Vendor
from otelgpu.scraping.errors import ReadError

if TYPE_CHECKING:
    from nvmlreceiver.client import Listener, NvmlClient

PCI_VENDOR = "0x10de"


def make_scraper(
    settings: Settings,
    config: NvmlConfig,
    tell: Callable[[Sequence[Event]], None] = lambda _: None,
) -> Scraper:
    """Return what reads all GPUs of the node once; ``tell`` hands events over."""
    # Only an agent that reads NVIDIA GPUs pays for what the table needs.
    from nvmlreceiver.faults.faults import Faults  # noqa: PLC0415
    from nvmlreceiver.mig import Instances  # noqa: PLC0415
    from nvmlreceiver.table import Table  # noqa: PLC0415

    faults = Faults(settings, config.kernel_log, config.enabled, tell)
    return DeviceScraper(
        settings,
        Vendor("NVIDIA", "nvml", partial(config.expected, PCI_VENDOR)),
        _client(config, settings.restart, faults),
        Table(config.sysfs).rows,
        config.enabled,
        config.pace,
        Instances(),
        faults,
    )


def _client(
    config: NvmlConfig,
    restart: Callable[[str], None] = lambda _: None,
    listener: Listener | None = None,
) -> NvmlClient:
    from nvmlreceiver.client import NvmlClient  # noqa: PLC0415 - see make_scraper
    from nvmlreceiver.library import Library  # noqa: PLC0415

    library = Library(config.library, config.driver_root)
    present = partial(config.on_bus, PCI_VENDOR)
    return NvmlClient(library, present, config.sysfs / "module" / "nvidia", restart, listener)


def probe(config: NvmlConfig) -> bool:
    """Return whether this node has an NVIDIA GPU: on its PCI bus, or by the driver's word.

    The bus is asked first: a GPU whose driver is broken is one that people want to hear of.
    """
    found = config.on_bus(PCI_VENDOR)
    if found is not None and found.host:
        return True
    try:
        return bool(_client(config).discover(lambda: False).devices)
    except ReadError:
        return False


def _create(settings: Settings, config: NvmlConfig, hand_over: HandOver) -> Component:
    scraper = make_scraper(settings, config, hand_over.events)
    return ScrapeController(settings, config.collection_interval, scraper, hand_over)


FACTORY = ReceiverFactory(
    "nvml",
    NvmlConfig,
    _create,
    Stability.ALPHA,
    signals=frozenset({Signal.METRICS, Signal.EVENTS}),
    probe=lambda: probe(NvmlConfig()),
    single=True,
)
