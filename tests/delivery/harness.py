"""A worker over a scripted transport and a clock that only tests move."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable

from otelgpu.component import Settings
from otelgpu.delivery.encoder import MetricsEncoder
from otelgpu.delivery.events import EventsEncoder
from otelgpu.delivery.ledger import Ledger
from otelgpu.delivery.outcome import Accepted, Outcome, Transport
from otelgpu.delivery.queue import MemoryQueue, QueueConfig
from otelgpu.delivery.report import Report
from otelgpu.delivery.retry import BackOff, RetryConfig
from otelgpu.delivery.sender import B, Encoder, Lane, Sender
from otelgpu.delivery.split import POINTS, RECORDS, Path
from otelgpu.delivery.worker import Worker
from otelgpu.points.stream import Streams
from otelgpu.telemetry.component import ComponentTelemetry

LOGGER = logging.getLogger("otelgpu.test")


class ManualClock:
    """Time that only moves when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def time_ns(self) -> int:
        return int(self.now * 1e9)

    def monotonic(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


Answer = Outcome | Exception | Callable[[bytes], Outcome]


class ScriptedTransport:
    """Answers by a script, then accepts; remembers what it was sent."""

    destination = "http://example.test"

    def __init__(self, script: Iterable[Answer] = (), *, gzip: bool = False) -> None:
        self.gzip = gzip
        self.script = deque(script)
        self.sent: list[bytes] = []
        self.timeouts: list[float] = []
        self.delivered: list[bytes] = []
        self.opened = False
        self.closed = False

    def open(self) -> None:
        self.opened = True

    def send(self, payload: bytes, timeout: float) -> Outcome:
        self.sent.append(payload)
        self.timeouts.append(timeout)
        answer: Answer = self.script.popleft() if self.script else Accepted()
        if isinstance(answer, Exception):
            raise answer
        outcome = answer(payload) if callable(answer) else answer
        if isinstance(outcome, Accepted):
            self.delivered.append(payload)
        return outcome

    def close(self) -> None:
        self.closed = True


class Harness:
    """One worker with all that belongs to it."""

    def __init__(
        self,
        script: Iterable[Answer] = (),
        *,
        queue: QueueConfig | None = None,
        retry: RetryConfig | None = None,
        transport: Transport | None = None,
        events_transport: Transport | None = None,
        random: Callable[[], float] = lambda: 0.5,
        gzip: bool = False,
    ) -> None:
        self.clock = ManualClock()
        self.slept: list[float] = []
        self.scripted = ScriptedTransport(script, gzip=gzip)
        self.telemetry = ComponentTelemetry({}, Streams())
        self._queue = queue or QueueConfig()
        self._retry = retry or RetryConfig()
        self._random = random
        self.points = self._sender(
            "points", MetricsEncoder("https://s"), POINTS, transport or self.scripted
        )
        self.events = self._sender(
            "events", EventsEncoder("https://s"), RECORDS, events_transport or self.scripted
        )
        self.worker = Worker(
            self.points,
            self.events,
            telemetry=self.telemetry,
            logger=LOGGER,
            clock=self.clock,
            sleep=self._sleep,
        )

    def settle(self, limit: float = 100_000) -> None:
        """Let time pass until nothing waits any more; fail after ``limit`` seconds of it."""
        deadline = self.clock.now + limit
        while (wait := self.worker.step()) is not None:
            self.clock.advance(wait)
            assert self.clock.now < deadline, "it never comes to rest"

    def _sender(
        self, noun: str, encoder: Encoder[B], path: Path, transport: Transport
    ) -> Sender[B]:
        ledger = Ledger()
        return Sender(
            Lane(noun, encoder, path, transport, 10.0),
            queue=MemoryQueue(self._queue.queue_size, self._queue.queue_bytes, ledger),
            ledger=ledger,
            report=Report(noun, transport.destination, LOGGER, self.clock),
            retry=self._retry,
            back_off=BackOff(self._retry, self._random),
            max_size=self._queue.batch.max_size,
            clock=self.clock,
        )

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.advance(seconds)


def settings(clock: ManualClock | None = None) -> Settings:
    """Return settings for a component."""
    streams = Streams()
    telemetry = ComponentTelemetry({}, streams)
    return Settings("otlp_http", LOGGER, streams, telemetry, clock or ManualClock())
