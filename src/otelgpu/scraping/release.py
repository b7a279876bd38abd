"""Letting go of a vendor's library for a while, so that devices can be reset or repartitioned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from otelgpu.points.batch import Readings
from otelgpu.scraping.discovery import Client, Permission


class Release:
    """A target: closes the library while it is let go of."""

    id = "release"

    def __init__(self, client: Client[Any], duration: float, clock: Callable[[], float]) -> None:
        """``duration`` is how long the library is let go of, in seconds."""
        self._client = client
        self._duration = duration
        self._clock = clock
        self._until = float("-inf")
        self.done = False
        """Whether the library is closed."""
        self.may_close = Permission(given=False)
        """Of the next try; set by the scraper before it."""

    def ask(self) -> None:
        """Let go from now on; asked again, the time begins anew."""
        self._until = self._clock() + self._duration

    @property
    def active(self) -> bool:
        """Whether the library is to be left alone."""
        return self._clock() < self._until

    @property
    def left(self) -> float:
        """Seconds until the devices are read again."""
        return max(0.0, self._until - self._clock())

    def read(self, readings: Readings) -> None:  # noqa: ARG002 - closing yields no reading
        self.done = self._client.release(self.may_close)
