"""The queue in memory: bounded in items and bytes, the oldest gives way."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

from attrs import define, field, frozen, validators

from otelgpu.delivery.ledger import Drop, Ledger

LARGEST_RAW = 200_000
"""Most items that wait to be encoded, one batch of any size aside: as objects they take ten times
the memory of requests, and there are many only while the worker is stuck, in a look-up of a name
for example."""


@frozen
class BatchConfig:
    """How points are put into requests."""

    max_size: int = field(default=8000, validator=validators.ge(0))
    """Most points (or events) in one request; 0 means any number."""


def _items_only(_: object, __: object, value: str) -> None:
    if value != "items":
        raise ValueError(
            f"sizer {value} is not known: queue_size counts points here; write sizer: items"
        )


@frozen
class QueueConfig:
    """What waits while the destination does not take it; the oldest is dropped when it is full."""

    queue_size: int = field(default=1_000_000, validator=validators.ge(1))
    """Most points (and as many events) that may wait; at most 200,000 of them before they are
    encoded, which is only while the exporter is stuck. Must be above zero."""
    sizer: str = field(default="items", validator=_items_only)
    """What ``queue_size`` counts: always ``items``, that is points."""
    queue_bytes: int = field(default=32 * 1024 * 1024, validator=validators.ge(1))
    """Most bytes of compressed requests that may wait; a point takes about 15. Must be above
    zero."""
    batch: BatchConfig = BatchConfig()
    """How points are put into requests."""


class Sized(Protocol):
    """A batch of either signal."""

    def __len__(self) -> int: ...


@define(eq=False)
class Request:
    """One encoded request: compressed with gzip, as it waits."""

    payload: bytes
    count: int
    accepted_at: float
    """Monotonic seconds when its batch was taken over."""
    tried_at: float | None = None
    """Monotonic seconds of its first attempt."""


B = TypeVar("B", bound=Sized)


class MemoryQueue(Generic[B]):
    """Batches that wait to be encoded, then requests that wait to be sent; oldest first.

    Any thread may append; one worker does the rest. It takes one request at a time and settles it
    or puts it back; what it has in its hands counts as queued and is never dropped under it.
    """

    def __init__(self, items: int, size: int, ledger: Ledger) -> None:
        self._capacity = items
        self._max_bytes = size
        self._ledger = ledger
        self._pending: deque[tuple[B, float]] = deque()
        self._requests: deque[Request] = deque()
        self._encoding: tuple[B, float] | None = None
        self._in_flight: Request | None = None
        self._items = self._bytes = self._raw = 0
        self._ended_unseen = False
        self._closed = False
        self._lock = threading.Lock()

    def append(self, batch: B, now: float) -> None:
        """Take over a batch; drop the oldest of what waits while that is too much."""
        count = len(batch)
        if not count:
            return
        with self._lock:
            self._ledger.accept(count)
            if self._closed:
                self._ledger.drop(count, Drop.SHUTDOWN)
                return
            self._pending.append((batch, now))
            self._items += count
            self._raw += count
            self._make_room()

    def start_encoding(self) -> B | None:
        """Return the oldest batch that is not encoded yet, None when there is none."""
        with self._lock:
            self._encoding = self._pending.popleft() if self._pending else None
            if self._encoding is None:
                return None
            self._raw -= len(self._encoding[0])
            return self._encoding[0]

    def encoded(self, payloads: Iterable[tuple[bytes, int]], skipped: int, reason: Drop) -> None:
        """Put requests in the place of the batch; drop ``skipped`` items that are in none."""
        with self._lock:
            if self._encoding is None:
                return
            for payload, count in payloads:
                self._requests.append(Request(payload, count, self._encoding[1]))
                self._bytes += len(payload)
            self._encoding = None
            self._forget(skipped, reason)
            self._make_room()

    def ended_unseen(self) -> bool:
        """Return whether, since the last call, ends of streams were dropped before encoding.

        Which streams is not kept: there is no bound to how many end while the worker is stuck.
        """
        with self._lock:
            unseen, self._ended_unseen = self._ended_unseen, False
            return unseen

    def take(self) -> Request | None:
        """Take the oldest request into the worker's hands, None when there is none."""
        with self._lock:
            self._in_flight = self._requests.popleft() if self._requests else None
            return self._in_flight

    def put_back(self, *requests: Request) -> None:
        """Put what was taken back to the front, whole or split."""
        with self._lock:
            if self._in_flight is None:
                return
            self._bytes += sum(len(r.payload) for r in requests) - len(self._in_flight.payload)
            self._in_flight = None
            self._requests.extendleft(reversed(requests))
            self._make_room()

    def settle(self, sent: int, rejected: int = 0, reason: str = "") -> None:
        """Be done with what was taken: ``sent`` of its items arrived, ``rejected`` were refused."""
        with self._lock:
            if self._land():
                self._items -= sent + rejected
                self._ledger.send(sent)
                self._ledger.reject(rejected, reason)

    def drop(self, reason: Drop) -> None:
        """Give up what was taken."""
        with self._lock:
            request = self._land()
            if request:
                self._forget(request.count, reason)

    def close(self) -> int:
        """Give up all that is left, and from now on whatever comes; return the items given up."""
        with self._lock:
            left, self._closed = self._items, True
            self._pending.clear()
            self._requests.clear()
            self._encoding = self._in_flight = None
            self._items = self._bytes = self._raw = 0
            self._ledger.drop(left, Drop.SHUTDOWN)
            return left

    @property
    def waiting(self) -> bool:
        """Whether there is a request to take."""
        return bool(self._requests)

    @property
    def oldest(self) -> float | None:
        """Monotonic seconds when the oldest item was taken over; None when empty."""
        with self._lock:
            if self._in_flight:
                return self._in_flight.accepted_at
            if self._requests:
                return self._requests[0].accepted_at
            if self._encoding:
                return self._encoding[1]
            return self._pending[0][1] if self._pending else None

    def _land(self) -> Request | None:
        request, self._in_flight = self._in_flight, None
        if request:
            self._bytes -= len(request.payload)
        return request

    def _forget(self, count: int, reason: Drop) -> None:
        self._items -= count
        self._ledger.drop(count, reason)

    def _make_room(self) -> None:
        while self._items > self._capacity or self._bytes > self._max_bytes:
            if self._requests:
                request = self._requests.popleft()
                self._bytes -= len(request.payload)
                self._forget(request.count, Drop.QUEUE_FULL)
            elif self._pending and self._items > self._capacity:
                self._drop_pending()
            else:
                break
        while self._raw > LARGEST_RAW and len(self._pending) > 1:
            self._drop_pending()

    def _drop_pending(self) -> None:
        batch, _ = self._pending.popleft()
        self._raw -= len(batch)
        self._ended_unseen |= bool(getattr(batch, "ended", ()))
        self._forget(len(batch), Drop.QUEUE_FULL)
