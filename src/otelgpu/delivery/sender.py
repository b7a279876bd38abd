"""Encodes what one signal has queued and sends it, oldest first, one request at a time."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

from attrs import frozen

from otelgpu.component import Clock
from otelgpu.delivery.encoder import Encoded
from otelgpu.delivery.ledger import Drop, Ledger
from otelgpu.delivery.outcome import (
    Accepted,
    Outcome,
    Permanent,
    Retry,
    TooLarge,
    Transport,
    Unauthorized,
)
from otelgpu.delivery.queue import MemoryQueue, Request, Sized
from otelgpu.delivery.report import Report
from otelgpu.delivery.retry import BackOff, RetryConfig
from otelgpu.delivery.split import Path, halve

PARTIAL_SUCCESS = "partial_success"
"""``error.type`` of points that an otherwise good answer refuses."""

# gzip at level 1: a quarter of the time of level 6 for 6 % more bytes (measured on our points).
_LEVEL = 1
# At shutdown: attempts at a destination that fails, and seconds between them.
_LAST_ATTEMPTS = 3
_LAST_PAUSE = 0.5

B = TypeVar("B", bound=Sized)
B_contra = TypeVar("B_contra", contravariant=True)


class Encoder(Protocol[B_contra]):
    """Makes requests of batches of one signal."""

    def encode(self, batch: B_contra, limit: int) -> Iterator[Encoded]:
        """Yield requests of at most ``limit`` items, 0 for any number."""

    def forget(self) -> None:
        """Free what is kept between batches: the ends of some streams are never encoded."""


@frozen
class Lane(Generic[B]):
    """What is special to one signal."""

    noun: str
    """What is counted, for people: ``points``."""
    encoder: Encoder[B]
    path: Path
    """Where the items are in a request, for splitting."""
    transport: Transport
    timeout: float
    """Seconds that one attempt may take."""


class Sender(Generic[B]):
    """One signal on its way to one destination. Only ``append`` may come from another thread."""

    def __init__(
        self,
        lane: Lane[B],
        *,
        queue: MemoryQueue[B],
        ledger: Ledger,
        report: Report,
        retry: RetryConfig,
        back_off: BackOff,
        max_size: int,
        clock: Clock,
    ) -> None:
        self.lane = lane
        self.queue = queue
        self.ledger = ledger
        self.report = report
        self._retry = retry
        self._back_off = back_off
        self._max_size = max_size
        self._clock = clock
        self._not_before = 0.0

    def append(self, batch: B) -> None:
        """Take over a batch; neither encodes nor waits."""
        self.queue.append(batch, self._clock.monotonic())

    def encode_pending(self) -> None:
        """Turn what came into compressed requests: an outage then holds bytes, not objects."""
        if self.queue.ended_unseen():
            self.lane.encoder.forget()
        while (pending := self.queue.start_encoding()) is not None:
            payloads, skipped, reason = self._encode(pending)
            self.queue.encoded(payloads, skipped, reason)
        self.report.overflow(self.ledger.totals.dropped.get(Drop.QUEUE_FULL, 0))

    def wait(self) -> float | None:
        """Return the seconds until the next attempt is due; None when nothing waits."""
        if not self.queue.waiting:
            return None
        return max(0.0, self._not_before - self._clock.monotonic())

    def send_next(self, timeout: float) -> Outcome | None:
        """Send the oldest request; None when there was none or it met an error of our own."""
        request = self.queue.take()
        if request is None:
            return None
        if request.tried_at is None:
            request.tried_at = self._clock.monotonic()
        try:
            payload = request.payload
            if not self.lane.transport.gzip:
                payload = gzip.decompress(payload)
            outcome = self.lane.transport.send(payload, timeout)
            self._settle(request, outcome)
        except Exception as error:  # noqa: BLE001  the worker outlives whatever one request meets
            self.queue.drop(Drop.INTERNAL)
            self.report.internal(error, request.count)
            return None
        return outcome

    def drain(self, deadline: float, pause: Callable[[float], None]) -> None:
        """Send what waits until ``deadline``, without waiting long for a failing destination."""
        self.encode_pending()
        attempts = 0
        while self.queue.waiting:
            left = deadline - self._clock.monotonic()
            if left <= 0:
                return
            match self.send_next(min(self.lane.timeout, left)):
                case Retry(after=asked):
                    attempts += 1
                    wait = max(asked or 0, _LAST_PAUSE)
                    if attempts == _LAST_ATTEMPTS or wait >= deadline - self._clock.monotonic():
                        return
                    pause(wait)
                case Unauthorized():
                    return
                case _:
                    attempts = 0

    def _encode(self, batch: B) -> tuple[list[tuple[bytes, int]], int, Drop]:
        try:
            made = list(self.lane.encoder.encode(batch, self._max_size))
            payloads = [(_compress(one.payload), one.count) for one in made if one.count]
        except Exception as error:  # noqa: BLE001  the worker outlives whatever one batch meets
            self.report.internal(error, len(batch))
            return [], len(batch), Drop.INTERNAL
        skipped = sum(one.skipped for one in made)
        if skipped:
            self.report.unencodable(skipped)
        return payloads, skipped, Drop.UNENCODABLE

    def _settle(self, request: Request, outcome: Outcome) -> None:
        match outcome:
            case Retry():
                self._keep(request, outcome, self._back_off.next(outcome.after))
                return
            case Unauthorized():
                self._keep(request, outcome, self._back_off.slow())
                return
            case Accepted():
                rejected = min(max(outcome.rejected, 0), request.count)
                self.queue.settle(request.count - rejected, rejected, PARTIAL_SUCCESS)
                self.report.accepted(outcome, rejected, request.count)
            case TooLarge():
                self._split(request)
                self.report.too_large(outcome, request.count)
            case Permanent():
                self.queue.settle(0, request.count, outcome.reason)
                self.report.refused(outcome, request.count)
        self._back_off.reset()
        self._not_before = 0.0

    def _keep(self, request: Request, outcome: Retry | Unauthorized, wait: float) -> None:
        now = self._clock.monotonic()
        longest = self._retry.max_elapsed_time.total_seconds()
        tried_at = now if request.tried_at is None else request.tried_at
        if not self._retry.enabled or (longest and now + wait - tried_at > longest):
            self.queue.drop(Drop.RETRIES_EXHAUSTED)
            self.report.gave_up(outcome, request.count)
        else:
            self.queue.put_back(request)
        self._not_before = now + wait if self._retry.enabled else now
        self.report.kept(outcome, self.ledger.totals.queued)

    def _split(self, request: Request) -> None:
        if request.count == 1:
            self.queue.drop(Drop.TOO_LARGE)
            return
        halves = halve(gzip.decompress(request.payload), self.lane.path, request.count)
        self.queue.put_back(
            *(
                Request(_compress(half.payload), half.count, request.accepted_at, request.tried_at)
                for half in halves
            )
        )


def _compress(payload: bytes) -> bytes:
    return gzip.compress(payload, _LEVEL, mtime=0)
