"""A table bound to one device: reads it, and remembers what the device does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil
from typing import Any, Generic, TypeVar

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Metric
from otelgpu.points.stream import Attributes, Streams
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError
from otelgpu.scraping.slot import RETRY_FIRST, BoundEmit, Drop, Slot
from otelgpu.scraping.support import Finding
from otelgpu.scraping.table import ONCE, AnyEmit, Batched, Forgetful, Read, Row

D = TypeVar("D")

RETRIES = 1
"""Values, of those that a device did not have, that one cycle asks for again."""
EARLY = 0.05
"""Share of its cadence by which a row may be read early: ticks jitter, and half a tick too late
would be a whole interval."""


class _Row:
    """A row of the table for one device."""

    __slots__ = ("due", "row", "slots")

    def __init__(self, row: Row[Any], slots: list[Slot]) -> None:
        self.row = row
        self.slots = slots
        self.due = float("-inf")

    def wanted(self, now: float, retries: int) -> list[Slot]:
        """Return what to ask for, of what was not there at most ``retries`` that are due."""
        late = [s for s in self.slots if s.given_up and now >= s.due][:retries]
        return [s for s in self.slots if not s.given_up or s in late]

    def ask(self, device: Any, slots: Sequence[Slot]) -> Sequence[Any]:
        """Return one result or ReadError for each slot, whatever the row's call does.

        Raises:
            TargetLostError: the device is gone.

        """
        try:
            if not isinstance(self.row, Batched):
                return [self.row.call(device)]
            results = self.row.call(device, [s.key for s in slots])
            if len(results) == len(slots):
                return results
            # Nobody can tell which answer belongs to which key.
            words = f"{len(results)} answers for {len(slots)} keys"
            return [ReadError("internal", words)] * len(slots)
        except TargetLostError:
            raise
        except ReadError as error:
            return [error] * len(slots)
        except Exception as error:  # noqa: BLE001 - a mistake in one row must cost that row alone
            return [ReadError("internal", repr(error))] * len(slots)

    def is_due(self, now: float) -> bool:
        """Whether it is time to ask again."""
        return now >= self.due

    def may_wait(self, now: float) -> bool:
        """Whether it is early enough for another cycle to do: rarely read rows take turns."""
        return 0 < self.row.every < ONCE and now < self.due + self.row.every

    @property
    def describes(self) -> bool:
        """Whether the values stay true of a device that is lost or hangs."""
        return self.row.every == ONCE or (isinstance(self.row, Read) and self.row.describes)

    def plan(self, results: Sequence[Any], now: float) -> None:
        """Say when the row is due again after these results."""
        self.due = now + self.row.every * (1 - EARLY)
        if not self.describes:
            return
        # What is read rarely, or once, must have been read.
        failed = [r for r in results if isinstance(r, ReadError)]
        if any(not isinstance(r, UnsupportedError) for r in failed):
            self.due = now
        elif failed:
            self.due = now + RETRY_FIRST


class DeviceReading(Generic[D]):
    """Reads one device by a table; a row that only disabled metrics need costs no call."""

    def __init__(
        self,
        table: Iterable[Row[D]],
        common: Attributes,
        enabled: Callable[[Metric], bool],
        streams: Streams,
        clock: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._answers = True
        self._last = float("-inf")
        self._rows: list[_Row] = []
        for row in table:
            fields = [(None, row.emits)] if isinstance(row, Read) else _fields(row)
            slots = []
            for key, emits in fields:
                bound = [BoundEmit(e, common, streams) for e in emits if enabled(e.metric)]
                if bound:
                    slots.append(Slot(key, bound))
            if slots:
                self._rows.append(_Row(row, slots))

    def read(self, device: D, readings: Readings, drop: Drop) -> bool:
        """Fill ``readings``, this device's own; return whether the device answered any call.

        In a cycle in which nothing was due, that is what it did when it was last asked.

        Raises:
            TargetLostError: the device is gone; nothing of this cycle is to be used.

        """
        now = self._clock()
        asked = answered = False
        turns = self._turns(now)
        retries = RETRIES
        for row in self._rows:
            wait = turns <= 0 and row.may_wait(now)
            if row.is_due(now) and not wait and (wanted := row.wanted(now, retries)):
                asked = True
                turns -= 0 < row.row.every < ONCE
                retries -= sum(slot.given_up for slot in wanted)
                try:
                    results = [_bare(result) for result in row.ask(device, wanted)]
                except TargetLostError as error:
                    self._lose(row, error, drop)
                    raise
                lost = next((r for r in results if isinstance(r, TargetLostError)), None)
                if lost is not None:
                    self._lose(row, lost, drop)
                    raise lost
                row.plan(results, now)
                for slot, result in zip(wanted, results, strict=True):
                    slot.take(result, drop, keep=row.describes)
                    if slot.given_up:
                        slot.postpone(now)
                    answered = answered or not isinstance(result, ReadError)
                    answered = answered or isinstance(result, UnsupportedError)
            for slot in row.slots:
                readings += slot.kept
        if asked:
            self._answers = answered
            if not answered:
                self._forget(readings, drop)
        return self._answers

    def _turns(self, now: float) -> int:
        """Return how many of the rarely read rows this cycle may read of those that could wait.

        As many as keeps each to its cadence: all in one cycle would make that one dear, for us and
        for who shares the driver.
        """
        passed, self._last = now - self._last, now
        slow = [row.row.every for row in self._rows if 0 < row.row.every < ONCE]
        return ceil(min(sum(passed / every for every in slow), len(slow)))

    def _forget(self, readings: Readings, drop: Drop) -> None:
        """Repeat no earlier value of a device that answers nothing: nobody knows if it holds."""
        readings[:] = self.description()
        for row in self._rows:
            if not row.describes:
                row.due = float("-inf")
                for slot in row.slots:
                    if slot.kept:
                        slot.fail(ReadError("unknown", "the device answers no call"), drop)

    def _lose(self, failed: _Row, error: TargetLostError, drop: Drop) -> None:
        """Drop and count every value of this cycle, and read all anew next time."""
        for row in self._rows:
            if isinstance(row.row.call, Forgetful):
                row.row.call.forget()
            if row is failed or not row.describes:
                row.due = float("-inf")
                for slot in row.slots:
                    if not slot.given_up:
                        slot.fail(error, drop, keep=row.describes)

    def miss(self, reason: str, drop: Drop) -> None:
        """Count every value that this device owes in a cycle in which it was not read."""
        for row in self._rows:
            if row.describes:
                continue
            for slot in row.slots:
                if not slot.given_up:
                    for emit in slot.emits:
                        drop(emit.metric, reason)

    def support(self) -> Iterator[Finding]:
        """Yield what became of each value when it was last asked for."""
        for row in self._rows:
            for slot in row.slots:
                for emit in slot.emits:
                    points = sum(stream.metric is emit.metric for stream, _ in slot.kept)
                    refusal = slot.refusal or emit.refusal
                    if refusal is not None and refusal.elsewhere:
                        continue
                    yield Finding(emit.metric, emit.own, row.row.source, points, refusal)

    def description(self) -> Readings:
        """Return what describes the device and stays true when it no longer answers."""
        return [r for row in self._rows if row.describes for s in row.slots for r in s.kept]


def _bare(result: Any) -> Any:
    return result.bare() if isinstance(result, ReadError) else result


def _fields(row: Batched[Any, Any]) -> list[tuple[Any, Sequence[AnyEmit]]]:
    return [(field.key, field.emits) for field in row.fields]
