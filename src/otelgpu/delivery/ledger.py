"""Where every point is: at every moment accepted = sent + rejected + dropped + queued."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

from attrs import frozen


class Drop(StrEnum):
    """Why the agent itself gave points up; the values are ``error.type`` in the registry."""

    QUEUE_FULL = "queue_full"
    TOO_LARGE = "too_large"
    RETRIES_EXHAUSTED = "retries_exhausted"
    UNENCODABLE = "unencodable"
    INTERNAL = "internal"
    SHUTDOWN = "shutdown"


@frozen
class Totals:
    """Items of one signal, all at one moment; by reason where the fate has one."""

    accepted: int
    queued: int
    sent: int
    rejected: Mapping[str, int]
    dropped: Mapping[str, int]

    @property
    def missing(self) -> int:
        """Items that no account holds: 0, or there is a bug."""
        gone = self.sent + sum(self.rejected.values()) + sum(self.dropped.values())
        return self.accepted - self.queued - gone


class Ledger:
    """Accounts of one exporter and one signal; safe to use from any thread.

    The queue moves items from one account to another while it holds its own lock, so that
    ``queued`` is always what the queue holds.
    """

    def __init__(self) -> None:
        self._accepted = self._queued = self._sent = 0
        self._rejected: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self._lock = threading.Lock()

    def accept(self, count: int) -> None:
        """Take over items: they are queued."""
        with self._lock:
            self._accepted += count
            self._queued += count

    def send(self, count: int) -> None:
        """Move queued items to those that the destination has."""
        with self._lock:
            self._queued -= count
            self._sent += count

    def reject(self, count: int, reason: str) -> None:
        """Move queued items to those that the destination refused for good."""
        if count:
            with self._lock:
                self._queued -= count
                self._rejected[reason] += count

    def drop(self, count: int, reason: Drop) -> None:
        """Move queued items to those that the agent gave up."""
        if count:
            with self._lock:
                self._queued -= count
                self._dropped[reason.value] += count

    @property
    def totals(self) -> Totals:
        """All accounts at this moment."""
        with self._lock:
            return Totals(
                self._accepted,
                self._queued,
                self._sent,
                dict(self._rejected),
                dict(self._dropped),
            )
