"""The stand-in for a vendor's library: finds the simulated devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from otelgpu.scraping.discovery import Inventory
from simulatorreceiver.catalog import CATALOG, NVIDIA
from simulatorreceiver.config import SimulatorConfig
from simulatorreceiver.device import SimulatedDevice
from simulatorreceiver.faults import Faults
from simulatorreceiver.holders import place
from simulatorreceiver.timeline import Timeline


class SimulatedClient:
    """Knows the devices of one vendor, as a vendor's library does."""

    def __init__(self, devices: Sequence[SimulatedDevice]) -> None:
        self._inventory = Inventory(devices)

    def release(self, may_close: Callable[[], bool]) -> bool:  # noqa: ARG002 - nothing is open
        """Return that nothing is open."""
        return True

    def discover(
        self,
        may_close: Callable[[], bool],  # noqa: ARG002 - there is nothing to close
    ) -> Inventory[SimulatedDevice]:
        """Return the same devices always; a real client would ask its library here."""
        return self._inventory


def build(config: SimulatorConfig, timeline: Timeline) -> list[SimulatedDevice]:
    """Make the devices that the configuration asks for, in order."""
    models = [CATALOG[group.model] for group in config.devices for _ in range(group.count)]
    interval = config.fault_interval.total_seconds()
    faulty = next(
        (i for i, m in enumerate(models) if m.vendor == NVIDIA and place(i, config.seed).holders),
        None,
    )
    return [
        SimulatedDevice(
            model,
            config.seed,
            index,
            timeline,
            Faults(interval, timeline) if interval and index == faulty else None,
        )
        for index, model in enumerate(models)
    ]
