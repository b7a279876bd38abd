"""The time that a simulation is at."""

from __future__ import annotations

from otelgpu.component import Clock


class Timeline:
    """Seconds since the simulation began; stands still while a scrape reads its devices."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = 0.0
        self._epoch = 0
        self.now = 0.0
        """Seconds since ``begin``."""

    def begin(self) -> None:
        """Set the time to 0."""
        self._began = self._clock.monotonic()
        self._epoch = self._clock.time_ns()
        self.now = 0.0

    def advance(self) -> None:
        """Go on to the clock's time."""
        self.now = self._clock.monotonic() - self._began

    def wall(self, seconds: float) -> int:
        """Return a moment of the simulation in ns since the Unix epoch."""
        return self._epoch + int(seconds * 1e9)
