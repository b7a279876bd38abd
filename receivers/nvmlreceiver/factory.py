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
from otelgpu.scraping.pci import PciFunctions
from otelgpu.semconv.metrics import HW_GPU_LINK_THROUGHPUT

if TYPE_CHECKING:
    from nvmlreceiver.client import Listener, NvmlClient
    from nvmlreceiver.nodes import DeviceNodes

PCI_VENDOR = "0x10de"


def make_scraper(
    settings: Settings,
    config: NvmlConfig,
    tell: Callable[[Sequence[Event]], None] = lambda _: None,
    nodes: DeviceNodes | None = None,
) -> Scraper:
    """Return what reads all GPUs of the node once.

    ``tell`` hands events over; ``nodes`` are those of /dev if not given.
    """
    # Only an agent that reads NVIDIA GPUs pays for what the table needs.
    from nvmlreceiver.faults.faults import Faults  # noqa: PLC0415
    from nvmlreceiver.mig import Instances  # noqa: PLC0415
    from nvmlreceiver.processes.liveness import Proc  # noqa: PLC0415
    from nvmlreceiver.readings.processes import ProcessRows  # noqa: PLC0415
    from nvmlreceiver.table import Table  # noqa: PLC0415

    faults = Faults(settings, config.kernel_log, config.enabled, tell)
    processes = ProcessRows(Proc(config.proc, settings.logger), settings.clock.time_ns)
    # Not by the profile, since it takes 20 ms for each direction: only where it is asked for.
    asked = config.metrics.get(HW_GPU_LINK_THROUGHPUT.name)
    slow = asked is not None and asked.enabled
    clock = settings.clock.monotonic
    return DeviceScraper(
        settings,
        Vendor("NVIDIA", "nvml", partial(_expected, config)),
        _client(config, settings.restart, faults, nodes),
        Table(config.sysfs, clock, processes, slow_throughput=slow).rows,
        config.enabled,
        config.pace,
        Instances(),
        faults,
    )


def _expected(config: NvmlConfig) -> PciFunctions | None:
    """Return how many GPUs there should be, None where nothing can tell.

    A bus without any says nothing: GPUs of Jetson are not on it, nor are those of WSL.
    """
    found = config.expected(PCI_VENDOR)
    silent = config.expected_devices is None and found == PciFunctions(0, 0)
    return None if silent else found


def _client(
    config: NvmlConfig,
    restart: Callable[[str], None] = lambda _: None,
    listener: Listener | None = None,
    nodes: DeviceNodes | None = None,
) -> NvmlClient:
    from nvmlreceiver.client import NvmlClient  # noqa: PLC0415 - see make_scraper
    from nvmlreceiver.library import Library  # noqa: PLC0415
    from nvmlreceiver.nodes import DeviceNodes  # noqa: PLC0415

    library = Library(config.library, config.driver_root)
    present = partial(config.on_bus, PCI_VENDOR)
    return NvmlClient(library, present, nodes or DeviceNodes(config.sysfs), restart, listener)


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
    # Activity is a mean over the time between two samples.
    scrapes=2,
    probe=lambda: probe(NvmlConfig()),
    single=True,
)
