"""How a device answers its load: power, energy, heat, clocks, traffic."""

from __future__ import annotations

from simulatorreceiver.catalog import Model
from simulatorreceiver.curve import Curve

IDLE = 0.01
"""Activity under which a device counts as idle, as the convention has it."""
_ROOM = 22.0
"""Degrees Celsius of the air that cools."""
_THERMAL = 60.0
"""Seconds over which heat follows power."""
_CAPPED = 0.96
"""Load above which the power limit holds the clocks down."""


class Physics:
    """Functions of the seconds since the simulation began."""

    def __init__(self, model: Model, load: Curve) -> None:
        self._model = model
        self._range = model.power_limit - model.power_idle
        self._activity = 0.92 if model.profiling else 1.0
        self._capped = load.time_above(_CAPPED)
        self._idle = load.time_below(IDLE / self._activity)
        self.load = load

    def activity(self, time: float) -> float:
        """Return compute-unit activity where the driver tells it, else utilization."""
        return self._activity * self.load(time)

    def active_time(self, time: float) -> float:
        """Return the integral of activity, in seconds."""
        return self._activity * self.load.integral(time)

    def idle_time(self, time: float) -> float:
        """Return for how long activity was under the idle threshold, in seconds."""
        return self._idle(time)

    def power(self, time: float) -> float:
        """Return watts at a moment."""
        return self._model.power_idle + self._range * self.load(time)

    def power_average(self, time: float, window: float = 1.0) -> float:
        """Return mean watts over the ``window`` seconds that end at ``time``."""
        return self._model.power_idle + self._range * self.load.mean(time, window)

    def energy(self, time: float) -> float:
        """Return joules since the simulation began."""
        return self._model.power_idle * time + self._range * self.load.integral(time)

    def warmth(self, time: float) -> float:
        """Return how far the device has warmed up: 0 is idle, 1 its power limit for long."""
        return self.load.mean(time, _THERMAL)

    def temperature(self, time: float) -> float:
        """Return degrees Celsius at the main sensor."""
        share = self.power_average(time, _THERMAL) / self._model.power_limit
        return _ROOM + 0.72 * (self._model.slowdown - _ROOM) * share

    def capped(self, time: float) -> bool:
        """Whether the power limit holds the clocks down."""
        return self.load(time) > _CAPPED

    def capped_time(self, time: float) -> float:
        """Return for how long the power limit has held the clocks down, in seconds."""
        return self._capped(time)

    def frequency(self, domain: str, time: float) -> int:
        """Return a clock in Hz."""
        clock = self._model.clocks[domain]
        load = self.load(time)
        if load < IDLE:
            return clock.idle
        dip = max(0.0, load - _CAPPED) if domain in {"graphics", "sm"} else 0.0
        return clock.highest - int(dip * clock.highest)

    def transferred(self, rate: float, time: float) -> int:
        """Return the bytes moved so far where ``rate`` bytes a second go at full load."""
        return int(rate * self.load.integral(time))
