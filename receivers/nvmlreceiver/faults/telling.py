"""When an event is told: the first of a fault at once, of many one a minute."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, frozen

from nvmlreceiver.faults.sighting import Detail, Fault

PAUSE = 60.0
"""Seconds between two events of the same code on the same GPU."""


@frozen
class Told:
    """An event that is to be told."""

    fault: Fault
    detail: Detail
    others: int
    """How many faults it stands for beside its own."""
    observed: int
    """ns since the Unix epoch."""


@define
class _Waiting:
    count: int
    detail: Detail
    observed: int
    until: float


class Telling:
    """Decides what is told; each fault is told by itself or stands in another's number.

    Over all events of a fault, the sum of ``1 + others`` is the number of faults.
    """

    def __init__(self, patience: float) -> None:
        """``patience`` is how long, in seconds, an event waits for the driver's words."""
        self._patience = patience
        self._last: dict[Fault, float] = {}
        self._waiting: dict[Fault, _Waiting] = {}

    def add(self, fault: Fault, times: int, detail: Detail, observed: int, now: float) -> None:
        """Note faults that were counted."""
        waiting = self._waiting.get(fault)
        if waiting is not None:
            waiting.count += times
            self.enrich(fault, detail)
            return
        since = self._last.get(fault, float("-inf"))
        until = max(since + PAUSE, now if detail.text else now + self._patience)
        self._waiting[fault] = _Waiting(times, detail, observed, until)

    def enrich(self, fault: Fault, detail: Detail) -> None:
        """Add what another source knows of a fault that has not been told yet."""
        waiting = self._waiting.get(fault)
        if waiting is None or not detail.text or waiting.detail.text:
            return
        waiting.detail = detail
        waiting.until = self._last.get(fault, float("-inf")) + PAUSE

    def due(self, now: float) -> Iterator[Told]:
        """Yield the events whose time has come."""
        for fault in [f for f, waiting in self._waiting.items() if now >= waiting.until]:
            waiting = self._waiting.pop(fault)
            self._last[fault] = now
            yield Told(fault, waiting.detail, waiting.count - 1, waiting.observed)
