"""Warnings that come once a minute at most, however often their cause does."""

from __future__ import annotations

import logging
from collections.abc import Hashable

from otelgpu.component import Clock

INTERVAL = 60.0
"""Seconds between two warnings of one kind."""


class Notices:
    """Logs the first of each kind and says later how many were not logged. For one thread."""

    def __init__(self, logger: logging.Logger, clock: Clock) -> None:
        self._logger = logger
        self._clock = clock
        self._last: dict[Hashable, float] = {}
        self._held_back: dict[Hashable, int] = {}

    def warning(self, kind: Hashable, message: str, *args: object) -> None:
        """Warn, unless one of this ``kind`` came less than a minute ago."""
        now = self._clock.monotonic()
        if now - self._last.get(kind, float("-inf")) < INTERVAL:
            self._held_back[kind] = self._held_back.get(kind, 0) + 1
            return
        self._last[kind] = now
        held_back = self._held_back.pop(kind, 0)
        if held_back:
            message += " (and %d times before)"
            args = (*args, held_back)
        self._logger.warning(message, *args)
