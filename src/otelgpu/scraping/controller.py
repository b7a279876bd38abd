"""Runs a scraper on an interval and hands what it reads into the pipelines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from typing import Protocol

from otelgpu.component import HandOver, Settings
from otelgpu.points.batch import Readings
from otelgpu.scraping.support import DeviceSupport
from otelgpu.semconv.metrics import OTELGPU_SCRAPE_DURATION, OTELGPU_SCRAPE_POINTS


class Scraper(Protocol):
    """One read of everything a receiver watches."""

    def start(self) -> None:
        """Acquire what it takes; raise to abort the agent's start-up."""

    @property
    def restarted(self) -> Collection[str]:
        """The hw.ids of devices whose driver was loaded anew before the last scrape."""

    def scrape(self) -> Readings:
        """Return what could be read now; what could not is counted by the scraper itself."""

    def support(self) -> Sequence[DeviceSupport]:
        """Return what each device gave when it was last asked, and why it did not give the rest."""

    def release(self) -> None:
        """Let go of the driver for a while, if it keeps one in use: from the next scrape on."""

    def shutdown(self, timeout: float) -> None:
        """Release; a ``scrape`` in progress must return soon after."""


class ScrapeController:
    """A receiver: one thread that scrapes on an interval."""

    def __init__(
        self,
        settings: Settings,
        interval: timedelta,
        scraper: Scraper,
        hand_over: HandOver,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        """``wait`` sleeps for seconds and returns True when it is time to end."""
        self._settings = settings
        self._interval = interval.total_seconds()
        self._scraper = scraper
        self._hand_over = hand_over
        self._stopping = threading.Event()
        self._wait = wait or self._pause
        self._nudged = threading.Event()
        self._thread = threading.Thread(target=self._run, name=settings.id, daemon=True)

    def start(self) -> None:
        self._scraper.start()
        self._thread.start()

    def shutdown(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        self._stopping.set()
        self._nudged.set()
        self._scraper.shutdown(timeout)
        if self._thread.ident is not None:
            self._thread.join(max(0.0, deadline - time.monotonic()))

    def support(self) -> Sequence[DeviceSupport]:
        """Return what each device gives, and why it does not give the rest."""
        return self._scraper.support()

    def release(self) -> None:
        """Let go of the driver now rather than when the next scrape is due."""
        self._scraper.release()
        self._nudged.set()

    def _pause(self, seconds: float) -> bool:
        self._nudged.wait(seconds)
        self._nudged.clear()
        return self._stopping.is_set()

    def _run(self) -> None:
        clock = self._settings.clock.monotonic
        due = clock()
        while True:
            began = clock()
            try:
                self._scrape()
            except Exception:
                # The thread has no caller: log here, or the receiver would die unseen.
                self._settings.logger.exception("scrape failed")
            now = clock()
            self._settings.telemetry.set(OTELGPU_SCRAPE_DURATION, now - began)
            due = next_tick(due, now, self._interval)
            if self._wait(due - now):
                return

    def _scrape(self) -> None:
        readings = self._scraper.scrape()
        if self._stopping.is_set():
            # Cut short by the shutdown: what is missing has not ended.
            return
        self._settings.telemetry.add(OTELGPU_SCRAPE_POINTS, len(readings))
        self._hand_over.readings(readings, self._scraper.restarted)


def next_tick(due: float, now: float, interval: float) -> float:
    """Return when to scrape next, in seconds of the same clock.

    Ticks keep their phase; those missed by an overrun are skipped rather than made up in a burst,
    and the next one is never nearer than half an interval.
    """
    due += interval
    if due < now + interval / 2:
        due += interval * -(-(now + interval / 2 - due) // interval)
    return due
