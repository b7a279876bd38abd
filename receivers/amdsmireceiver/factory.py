"""What the service needs to know of the AMD receiver."""

from __future__ import annotations

from functools import partial

from amdsmireceiver.client import AmdSmiClient
from amdsmireceiver.config import AmdSmiConfig
from amdsmireceiver.library import Search
from otelgpu.component import Component, HandOver, ReceiverFactory, Settings, Stability
from otelgpu.scraping.controller import ScrapeController
from otelgpu.scraping.devices import DeviceScraper, Vendor

_PCI_VENDOR = "0x1002"
"""Advanced Micro Devices, Inc. [AMD/ATI]"""


def _create(settings: Settings, config: AmdSmiConfig, hand_over: HandOver) -> Component:
    scraper = DeviceScraper(
        settings,
        Vendor("AMD", "amdsmi", partial(config.expected, _PCI_VENDOR)),
        AmdSmiClient(Search(config.library, config.rocm_path)),
        # Rows come with the client that reads.
        table=lambda _: (),
        enabled=config.enabled,
        pace=config.pace,
    )
    return ScrapeController(settings, config.collection_interval, scraper, hand_over)


FACTORY = ReceiverFactory(
    type="amdsmi",
    config=AmdSmiConfig,
    create=_create,
    stability=Stability.DEVELOPMENT,
    # Where ROCm is installed, saying that it is not read yet beats saying that there is no GPU.
    probe=lambda: Search().run().library is not None,
)
