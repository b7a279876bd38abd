"""What a receiver knows of its devices without asking them at a scrape: faults, for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from otelgpu.points.batch import Readings
from otelgpu.scraping.support import Finding


class Beside(Protocol):
    """Runs beside the scrapes, and is told by them how the devices are.

    Its readings are added to each scrape, also of devices that are lost, hang or are let go of.
    """

    def start(self) -> None:
        """Begin; raise to abort the agent's start-up."""

    def shutdown(self) -> None:
        """End soon; do not wait."""

    def readings(self) -> Readings:
        """Return what is known now; must not block."""

    def support(self, device: str) -> Sequence[Finding]:
        """Return how it is with these readings on a device or partition."""

    def lost(self, device: str, words: str) -> None:
        """Take it that a device is lost, in the driver's words; told at each scrape."""

    def gone(self, device: str) -> None:
        """Take it that a device has vanished while others are there."""

    def well(self, device: str) -> None:
        """Take it that a device answers; told at each scrape."""
