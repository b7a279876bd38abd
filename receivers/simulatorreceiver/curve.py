"""Curves whose integrals are exact, so that counters follow from the time alone."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence


class Curve:
    """A periodic, piecewise linear function of time in seconds; its values are 0 or above."""

    def __init__(self, knots: Sequence[float], step: float) -> None:
        """``knots`` are the values every ``step`` seconds; the first follows on the last."""
        self._ends = list(zip(knots, [*knots[1:], knots[0]], strict=True))
        self._step = step
        self._integral = self._summed(lambda low, high, share: share * (low + high) / 2)

    def __call__(self, time: float) -> float:
        """Return the value at a time."""
        _, index, share = self._place(time)
        start, end = self._ends[index]
        return start + (end - start) * share

    def integral(self, time: float) -> float:
        """Return the integral from 0 to ``time``."""
        return self._integral(time)

    def mean(self, time: float, window: float) -> float:
        """Return the mean over the ``window`` seconds that end at ``time``."""
        return (self._integral(time) - self._integral(time - window)) / window

    def time_above(self, threshold: float) -> Callable[[float], float]:
        """Return how long, from 0 to a given time, the curve is above ``threshold``."""
        return self._summed(lambda start, end, share: _above(start, end, share, threshold))

    def time_below(self, threshold: float) -> Callable[[float], float]:
        """Return how long, from 0 to a given time, the curve is not above ``threshold``."""
        return self._summed(lambda start, end, share: share - _above(start, end, share, threshold))

    def _summed(self, part: Callable[[float, float, float], float]) -> Callable[[float], float]:
        """Sum a quantity of segments: ``part`` gives it for values at both ends and a length."""
        sums = [0.0]
        for start, end in self._ends:
            sums.append(sums[-1] + part(start, end, 1.0))

        def until(time: float) -> float:
            periods, index, share = self._place(time)
            start, end = self._ends[index]
            rest = part(start, start + (end - start) * share, share)
            # Rounded, so that two ways to the same sum never look like a counter that falls.
            return round((periods * sums[-1] + sums[index] + rest) * self._step, 6)

        return until

    def _place(self, time: float) -> tuple[int, int, float]:
        """Return the whole periods before ``time``, the segment, and how far into it."""
        segment = math.floor(time / self._step)
        periods, index = divmod(segment, len(self._ends))
        return periods, index, time / self._step - segment


def _above(start: float, end: float, share: float, threshold: float) -> float:
    """Return for how much of a segment of length ``share`` a line is above a threshold."""
    if (start > threshold) == (end > threshold):
        return share if start > threshold else 0.0
    crossing = share * (threshold - start) / (end - start)
    return crossing if start > threshold else share - crossing


def numbers(*key: object) -> Iterator[float]:
    """Yield numbers from 0 to 1 that look random and follow from ``key`` alone."""
    text = "/".join(map(str, key))
    count = 0
    while True:
        digest = hashlib.sha256(f"{text}/{count}".encode()).digest()
        for start in range(0, len(digest), 4):
            yield int.from_bytes(digest[start : start + 4], "big") / 0xFFFF_FFFF
        count += 1
