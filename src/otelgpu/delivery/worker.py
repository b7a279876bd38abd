"""The exporter that all queued exporters are: a worker thread over one sender for each signal."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from otelgpu.component import Clock
from otelgpu.delivery.sender import Sender
from otelgpu.points.batch import Batch
from otelgpu.points.event import EventBatch
from otelgpu.telemetry.component import OK, STARTING, ComponentTelemetry, Condition

# Share and most seconds of the time for shutdown that are kept for breaking off a hanging attempt.
_RESERVE_SHARE = 0.1
_RESERVE = 0.5
_AFTER_ERROR = 1.0


class Worker:
    """Takes batches without waiting and sends them from one thread of its own.

    Signals take turns, one request each. While one waits between attempts the other goes on; an
    attempt that hangs holds both up, for as long as its ``timeout`` (and a look-up of a name, which
    has no time limit).
    """

    def __init__(
        self,
        points: Sender[Batch],
        events: Sender[EventBatch],
        *,
        telemetry: ComponentTelemetry,
        logger: logging.Logger,
        clock: Clock,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._points = points
        self._events = events
        self._senders: tuple[Sender[Any], ...] = (points, events)
        self._telemetry = telemetry
        self._logger = logger
        self._clock = clock
        self._sleep = sleep
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._drain_until: float | None = None
        self._condition = Condition(STARTING)

    def start(self) -> None:
        """Check keys and certificates, then start the thread.

        Raises:
            OSError: A file of keys or certificates cannot be read or used.
        """
        if self._thread is not None:
            return
        for sender in self._senders:
            sender.lane.transport.open()
        # A daemon: a look-up or a driver that never returns must not keep the agent from leaving.
        self._thread = threading.Thread(target=self._run, name="exporter", daemon=True)
        self._thread.start()

    def consume(self, batch: Batch) -> None:
        """Queue points: takes a lock for a moment, nothing else."""
        self._points.append(batch)
        self._wake.set()

    def consume_events(self, batch: EventBatch) -> None:
        """Queue events: takes a lock for a moment, nothing else."""
        self._events.append(batch)
        self._wake.set()

    def step(self) -> float | None:
        """Encode what came and send what is due, one request a signal; return the seconds to wait.

        None means until something comes.
        """
        for sender in self._senders:
            sender.encode_pending()
            if sender.wait() == 0:
                sender.send_next(sender.lane.timeout)
        self._enter()
        waits = [wait for sender in self._senders if (wait := sender.wait()) is not None]
        return min(waits, default=None)

    def shutdown(self, timeout: float) -> None:
        """Send what is queued within ``timeout`` seconds; count and log what remained."""
        reserve = min(timeout * _RESERVE_SHARE, _RESERVE)
        self._drain_until = self._clock.monotonic() + timeout - reserve
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout - reserve)
        for sender in self._senders:
            sender.lane.transport.close()
        if self._thread is not None:
            self._thread.join(reserve)
        for sender in self._senders:
            sender.report.left(sender.queue.close())

    def _run(self) -> None:
        while self._drain_until is None:
            wait: float | None = _AFTER_ERROR
            try:
                wait = self.step()
            except Exception:  # without its worker an exporter is dead and nobody would notice
                self._logger.exception("the exporter's worker goes on after an error")
            self._wake.wait(wait)
            self._wake.clear()
        self._drain(self._drain_until)

    def _drain(self, deadline: float) -> None:
        for index, sender in enumerate(self._senders):
            now = self._clock.monotonic()
            # A signal that hangs leaves the other its share of the time.
            share = (deadline - now) / (len(self._senders) - index)
            try:
                sender.drain(now + share, self._sleep)
            except Exception:  # the other signal has its turn whatever this one meets
                self._logger.exception("the exporter's queue could not be emptied")
        self._enter()

    def _enter(self) -> None:
        conditions = [sender.report.condition for sender in self._senders]
        bad = [c for c in conditions if c.state not in {OK, STARTING}]
        good = [c for c in conditions if c.state == OK]
        condition = (bad + good + conditions)[0]
        if condition != self._condition:
            self._condition = condition
            self._telemetry.enter(condition.state, condition.detail)
