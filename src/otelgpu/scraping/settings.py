"""Settings that every receiver with a table has, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from attrs import field, frozen

from otelgpu.config.suggest import unknown
from otelgpu.points.metric import Metric, Profile
from otelgpu.scraping.devices import Pace
from otelgpu.scraping.pci import PciFunctions, count_functions
from otelgpu.semconv.metrics import ALL

_OWN = "otelgpu."
"""What the agent says of itself is not read from a device: no receiver's setting governs it."""


def positive(_: Any, attribute: Any, value: timedelta) -> None:
    """Validate a duration that must not be zero.

    Raises:
        ValueError: if it is zero.

    """
    if value <= timedelta():
        raise ValueError(f"{attribute.name} must be above zero; write one such as 10s")


def known_metrics(_: Any, __: Any, value: Mapping[str, MetricConfig]) -> None:
    """Validate that all keys name metrics of the convention.

    Raises:
        ValueError: naming each that does not, and what was probably meant.

    """
    known = [metric.name for metric in ALL if not metric.name.startswith(_OWN)]
    wrong = [unknown("metric", name, known) for name in value if name not in known]
    if wrong:
        raise ValueError("; ".join(wrong))


def _not_negative(_: Any, attribute: Any, value: int | None) -> None:
    if value is not None and value < 0:
        raise ValueError(f"{attribute.name} cannot be negative; write how many there should be")


@frozen
class MetricConfig:
    """What is set for one metric."""

    enabled: bool = True
    """Whether the metric is read, whatever the profile says."""


@frozen
class ScrapeConfig:
    """Settings of a receiver that reads on an interval."""

    collection_interval: timedelta = field(default=timedelta(seconds=10), validator=positive)
    """Time between the starts of two scrapes."""
    timeout: timedelta = field(default=timedelta(seconds=5), validator=positive)
    """How long one target (a device, the discovery) may take to answer before it counts as hung."""
    profile: Profile = Profile.STANDARD
    """How much is read; each profile holds the ones before it."""
    metrics: Mapping[str, MetricConfig] = field(factory=dict, validator=known_metrics)
    """Single metrics to read or leave out, by name, whatever the profile says. A vendor call that
    only metrics left out would need is not made."""

    @property
    def enabled(self) -> Callable[[Metric], bool]:
        """Tells whether a metric is to be read."""
        return enabled(self.profile, self.metrics)


@frozen
class HardwareConfig(ScrapeConfig):
    """Settings of a receiver that reads the devices of its node."""

    discovery_interval: timedelta = field(default=timedelta(seconds=60), validator=positive)
    """Time between two searches for devices while all is well; after a failure the next comes
    sooner."""
    release_time: timedelta = field(default=timedelta(minutes=5), validator=positive)
    """How long SIGUSR1 makes the receiver let go of the driver, so that a GPU can be reset or
    partitioned; sent again, the time begins anew."""
    expected_devices: int | None = field(default=None, validator=_not_negative)
    """How many devices the node should have; where not set, those of the vendor on the PCI bus."""
    sysfs: Path = Path("/sys")
    """Where sysfs is mounted, from which devices on the PCI bus are counted."""

    @property
    def pace(self) -> Pace:
        """The times as the scraper wants them."""
        return Pace(
            interval=self.collection_interval.total_seconds(),
            timeout=self.timeout.total_seconds(),
            discovery=self.discovery_interval.total_seconds(),
            release=self.release_time.total_seconds(),
        )

    def on_bus(self, vendor: str) -> PciFunctions | None:
        """Return a vendor's functions on the PCI bus, None where sysfs has none.

        ``vendor`` is the PCI vendor id as sysfs writes it, such as ``0x10de``.
        """
        return count_functions(vendor, self.sysfs / "bus" / "pci" / "devices")

    def expected(self, vendor: str) -> PciFunctions | None:
        """Return how many devices there should be, None where nothing can tell."""
        found = self.on_bus(vendor)
        if self.expected_devices is None:
            return found
        return PciFunctions(self.expected_devices, found.passed_through if found else 0)


def enabled(profile: Profile, metrics: Mapping[str, MetricConfig]) -> Callable[[Metric], bool]:
    """Return what tells whether a metric is to be read: as set for it, else by the profile."""

    def is_enabled(metric: Metric) -> bool:
        config = metrics.get(metric.name)
        return metric.profile <= profile if config is None else config.enabled

    return is_enabled
