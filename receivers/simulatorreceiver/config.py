"""Settings of the simulator."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from attrs import field, frozen

from otelgpu.config.suggest import unknown
from otelgpu.scraping.settings import ScrapeConfig
from simulatorreceiver.catalog import CATALOG, H100, MI300X

_MOST = 1024
"""Devices that one receiver simulates at most: more than any node has."""


def _known_model(_: Any, __: Any, value: str) -> None:
    if value not in CATALOG:
        raise ValueError(unknown("model", value, CATALOG))


def _count(_: Any, attribute: Any, value: int) -> None:
    if not 1 <= value <= _MOST:
        raise ValueError(f"{attribute.name} must be from 1 to {_MOST}")


@frozen
class DeviceGroup:
    """Devices of one model."""

    model: str = field(validator=_known_model)
    """Their ``hw.model``, one that the simulator knows."""
    count: int = field(default=1, validator=_count)
    """How many of them there are, 1 or more."""


def _few_enough(_: Any, attribute: Any, value: tuple[DeviceGroup, ...]) -> None:
    if sum(group.count for group in value) > _MOST:
        raise ValueError(f"{attribute.name} must be {_MOST} devices at most")


@frozen
class SimulatorConfig(ScrapeConfig):
    """Settings of the simulator."""

    seed: int = 0
    """What all identities and values follow from: the same seed gives the same fleet; zero is a
    seed like any other."""
    devices: tuple[DeviceGroup, ...] = field(
        default=(DeviceGroup(H100.name, 4), DeviceGroup(MI300X.name, 4)), validator=_few_enough
    )
    """The devices of the node, in the order of their indices; an empty list means a node without
    any."""
    fault_interval: timedelta = timedelta(minutes=5)
    """Time between two faults of the first NVIDIA device that is held; zero means no faults."""
