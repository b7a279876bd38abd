"""What people are told of one signal's delivery: its state, and warnings."""

from __future__ import annotations

import logging

from otelgpu.component import Clock
from otelgpu.delivery.ledger import Drop
from otelgpu.delivery.notices import Notices
from otelgpu.delivery.outcome import Accepted, Permanent, Retry, TooLarge, Unauthorized
from otelgpu.telemetry.component import OK, STARTING, Condition

UNREACHABLE = "exporter.unreachable"
"""Nobody answers: no address, no connection, no answer in time, TLS not agreed upon."""
UNAVAILABLE = "exporter.unavailable"
"""The destination answers that it cannot take anything now."""
UNAUTHORIZED = "exporter.unauthorized"
"""The destination does not accept the credentials."""
REJECTED = "exporter.rejected"
"""The destination refuses what it is sent, for good."""


class Report:
    """State of one signal's delivery. A state is logged when it comes, a loss once a minute."""

    def __init__(self, noun: str, destination: str, logger: logging.Logger, clock: Clock) -> None:
        self.condition = Condition(STARTING)
        self._noun = noun
        self._destination = destination
        self._logger = logger
        self._notices = Notices(logger, clock)
        self._reason = ""
        self._overflow_seen = 0

    def accepted(self, outcome: Accepted, rejected: int, count: int) -> None:
        """The destination took ``count`` items but for ``rejected`` ones."""
        if self.condition.state not in {OK, STARTING}:
            self._logger.info("delivers %s to %s again", self._noun, self._destination)
        self._enter(OK, "", "")
        if rejected or outcome.words:
            self._notices.warning(
                OK,
                "%s refused %s of %d: %s",
                self._destination,
                self._items(rejected),
                count,
                outcome.words or "no reason given",
            )

    def kept(self, outcome: Retry | Unauthorized, queued: int) -> None:
        """The destination did not take it; ``queued`` items wait now."""
        state = UNAUTHORIZED
        if isinstance(outcome, Retry):
            state = UNAVAILABLE if outcome.answered else UNREACHABLE
        if self._enter(state, outcome.reason, outcome.words):
            self._notices.warning(
                (state, outcome.reason),
                "cannot deliver to %s: %s; %s waiting",
                self._destination,
                outcome.words,
                self._items(queued),
            )

    def refused(self, outcome: Permanent, count: int) -> None:
        """The destination refused ``count`` items for good."""
        self._enter(REJECTED, outcome.reason, outcome.words)
        self._notices.warning(
            (REJECTED, outcome.reason),
            "%s refused %s for good: %s",
            self._destination,
            self._items(count),
            outcome.words,
        )

    def too_large(self, outcome: TooLarge, count: int) -> None:
        """The destination takes no request of ``count`` items."""
        self._notices.warning(
            Drop.TOO_LARGE,
            "%s takes no request of %s: %s; set sending_queue.batch.max_size lower",
            self._destination,
            self._items(count),
            outcome.words,
        )

    def gave_up(self, outcome: Retry | Unauthorized, count: int) -> None:
        """Items were dropped after all attempts that the configuration allows."""
        lost = self._items(count)
        self._notices.warning(Drop.RETRIES_EXHAUSTED, "gave up %s after: %s", lost, outcome.words)

    def unencodable(self, count: int) -> None:
        """Items were dropped since their values are no numbers that OTLP holds."""
        lost = self._items(count)
        self._notices.warning(Drop.UNENCODABLE, "dropped %s with values that do not fit", lost)

    def overflow(self, dropped: int) -> None:
        """``dropped`` items in all have been dropped since the queue was full."""
        if dropped > self._overflow_seen:
            lost = self._items(dropped - self._overflow_seen)
            self._overflow_seen = dropped
            self._notices.warning(Drop.QUEUE_FULL, "the queue is full: dropped the oldest %s", lost)

    def internal(self, error: Exception, count: int) -> None:
        """An error of our own lost items: logged each time, with its traceback."""
        lost = self._items(count)
        self._logger.error("an unexpected error lost %s", lost, exc_info=error)

    def left(self, count: int) -> None:
        """Items remained at shutdown."""
        if count:
            lost = self._items(count)
            self._logger.warning("%s for %s lost at shutdown", lost, self._destination)

    def _enter(self, state: str, reason: str, words: str) -> bool:
        news = (self.condition.state, self._reason) != (state, reason)
        self.condition, self._reason = Condition(state, words), reason
        return news

    def _items(self, count: int) -> str:
        return f"{count} {self._noun}"
