"""When to send again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from attrs import Attribute, field, frozen, validators

LONGEST_WAIT = timedelta(hours=1)
"""A destination that asks for more, by a wrong clock for example, is asked again after this."""


def _positive(_: object, attribute: Attribute[timedelta], value: timedelta) -> None:
    if value <= timedelta(0):
        raise ValueError(f"{attribute.name} must be longer than 0s")


def _not_negative(_: object, attribute: Attribute[timedelta], value: timedelta) -> None:
    if value < timedelta(0):
        raise ValueError(f"{attribute.name} must not be negative; 0s means never give up")


@frozen
class RetryConfig:
    """How requests that were not taken are sent again: exponential back-off with jitter."""

    enabled: bool = True
    """Whether to send again at all. When false, a request that fails once is dropped."""
    initial_interval: timedelta = field(default=timedelta(seconds=1), validator=_positive)
    """Wait after the first failure. Must be above zero."""
    randomization_factor: float = field(default=0.5, validator=[validators.ge(0), validators.le(1)])
    """Share of a wait by which it is longer or shorter at random, 0 to 1; 0 means no jitter."""
    multiplier: float = field(default=1.5, validator=validators.ge(1))
    """Factor from one wait to the next, 1 or more; 1 means that all waits are alike."""
    max_interval: timedelta = field(default=timedelta(seconds=10), validator=_positive)
    """Longest wait before jitter; also how often a destination that refuses our credentials is
    asked again, six times this long. Must be above zero."""
    max_elapsed_time: timedelta = field(default=timedelta(0), validator=_not_negative)
    """Time after a request's first attempt after which it is dropped; 0s means never give up: the
    queue's bound alone decides what is lost."""


class BackOff:
    """Waits between attempts: each longer than the last, up to a bound, with jitter."""

    def __init__(self, config: RetryConfig, random: Callable[[], float]) -> None:
        self._config = config
        self._random = random
        self._wait = config.initial_interval.total_seconds()

    def next(self, asked: float | None = None) -> float:
        """Return the seconds to wait now, no fewer than the destination ``asked`` for."""
        config = self._config
        spread = config.randomization_factor * (2 * self._random() - 1)
        wait = self._wait * (1 + spread)
        self._wait = min(self._wait * config.multiplier, config.max_interval.total_seconds())
        return max(wait, min(asked or 0, LONGEST_WAIT.total_seconds()))

    def slow(self) -> float:
        """Return the seconds to wait where only a person or a new token can help."""
        spread = self._config.randomization_factor * (2 * self._random() - 1)
        return 6 * self._config.max_interval.total_seconds() * (1 + spread)

    def reset(self) -> None:
        """Begin anew: an attempt was answered well."""
        self._wait = self._config.initial_interval.total_seconds()
