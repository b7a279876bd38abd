"""A table bound to one device: reads it, and remembers what the device does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Metric
from otelgpu.points.stream import Attributes, Stream, Streams
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError
from otelgpu.scraping.table import ONCE, AnyEmit, Batched, Emit, Read, Row

D = TypeVar("D")

RETRY_UNSUPPORTED = 3600.0
"""Seconds after which something that was not supported is asked again."""
REFUSALS = 3
"""Answers "not supported" in a row before a reading that has worked is given up."""

Drop = Callable[[Metric, str], None]
"""Counts a reading that gave no point: metric and reason."""


class _Slot:
    """One value of a vendor call: its emits with their streams, and what is known of it."""

    __slots__ = ("due", "emits", "kept", "key", "refusals", "told", "worked")

    def __init__(self, key: Any, emits: list[_Bound]) -> None:
        self.key = key
        self.emits = emits
        self.kept: Readings = []
        self.due = float("-inf")
        self.worked = False
        self.refusals = 0
        self.told = False

    def take(self, result: Any, drop: Drop) -> None:
        """Take the emits' values from a result of the vendor."""
        if isinstance(result, ReadError):
            self.fail(result, drop)
            return
        kept: Readings = []
        for emit in self.emits:
            emit.take(result, kept, drop)
        self.kept = kept
        self.worked = True
        self.refusals = 0
        self.told = False

    def fail(self, error: ReadError, drop: Drop) -> None:
        """Drop the last values and count what is missing now; unsupported counts once."""
        self.kept = []
        unsupported = isinstance(error, UnsupportedError)
        self.refusals = self.refusals + 1 if unsupported else 0
        if unsupported and self.told:
            return
        for emit in self.emits:
            drop(emit.metric, error.reason)
        self.told = unsupported and self.given_up

    @property
    def given_up(self) -> bool:
        """Whether the device does not have this value, as far as we know."""
        return self.refusals >= (REFUSALS if self.worked else 1)


class _Bound:
    """An emit bound to one device; makes each stream once."""

    __slots__ = ("_common", "_each", "_store", "_stream", "_streams", "_told", "_value", "metric")

    def __init__(self, emit: AnyEmit, device: Attributes, streams: Streams) -> None:
        self.metric = emit.metric
        common = _common(emit.metric, device)
        self._common = common
        self._store = streams
        self._streams: Mapping[frozenset[tuple[str, object]], Stream] = {}
        self._value: Callable[[Any], float | None] | None = None
        self._each: Callable[[Any], Iterable[tuple[Attributes, float | None]]] | None = None
        self._stream: Stream | None = None
        self._told = False
        if isinstance(emit, Emit):
            self._value = emit.value
            self._stream = streams.get(emit.metric, {**common, **emit.attributes})
        else:
            self._each = emit.values

    def take(self, result: Any, taken: Readings, drop: Drop) -> None:
        unsupported = False
        try:
            if self._value is not None and self._stream is not None:
                self._keep(self._stream, self._value(result), taken, drop)
            elif self._each is not None:
                self._take_each(list(self._each(result)), taken, drop)
        except UnsupportedError as error:
            unsupported = True
            if not self._told:
                drop(self.metric, error.reason)
        except ReadError as error:
            drop(self.metric, error.reason)
        except Exception:  # noqa: BLE001 - a mistake in one emit must cost that emit alone
            drop(self.metric, "internal")
        self._told = unsupported

    def _take_each(
        self, found: Sequence[tuple[Attributes, float | None]], taken: Readings, drop: Drop
    ) -> None:
        streams: dict[frozenset[tuple[str, object]], Stream] = {}
        for attributes, value in found:
            key: frozenset[tuple[str, object]] = frozenset(attributes.items())
            stream = self._streams.get(key)
            if stream is None:
                stream = self._store.get(self.metric, {**self._common, **attributes})
            if key in streams:
                drop(self.metric, "duplicate")
                continue
            streams[key] = stream
            self._keep(stream, value, taken, drop)
        self._streams = streams

    def _keep(self, stream: Stream, value: float | None, taken: Readings, drop: Drop) -> None:
        metric = self.metric
        if value is None:
            drop(metric, "absent")
        elif metric.minimum <= value <= metric.maximum:
            taken.append((stream, value))
        else:
            # NaN compares false, so it ends here as well.
            drop(metric, "out_of_range")


def _common(metric: Metric, device: Attributes) -> Attributes:
    """Return what each point of a metric says of its device: a process's point its id alone."""
    if metric.name.startswith("process."):
        return {key: value for key, value in device.items() if key == "hw.id"}
    return device


class _Row:
    """A row of the table for one device."""

    __slots__ = ("batched", "due", "row", "slots")

    def __init__(self, row: Row[Any], slots: list[_Slot]) -> None:
        self.row = row
        self.slots = slots
        self.due = float("-inf")
        self.batched = isinstance(row, Batched)

    def wanted(self, now: float) -> list[_Slot]:
        return [s for s in self.slots if not s.given_up or now >= s.due]

    def ask(self, device: Any, slots: Sequence[_Slot]) -> Sequence[Any]:
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

    def plan(self, results: Sequence[Any], now: float) -> None:
        """Say when the row is due again after these results."""
        self.due = now + self.row.every
        if self.row.every != ONCE:
            return
        # What is read once must have been read once.
        failed = [r for r in results if isinstance(r, ReadError)]
        if any(not isinstance(r, UnsupportedError) for r in failed):
            self.due = now
        elif failed:
            self.due = now + RETRY_UNSUPPORTED


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
        self._rows: list[_Row] = []
        for row in table:
            fields = [(None, row.emits)] if isinstance(row, Read) else _fields(row)
            slots = []
            for key, emits in fields:
                bound = [_Bound(e, common, streams) for e in emits if enabled(e.metric)]
                if bound:
                    slots.append(_Slot(key, bound))
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
        for row in self._rows:
            if now >= row.due and (wanted := row.wanted(now)):
                asked = True
                try:
                    results = row.ask(device, wanted)
                except TargetLostError as error:
                    self._lose(row, error, drop)
                    raise
                lost = next((r for r in results if isinstance(r, TargetLostError)), None)
                if lost is not None:
                    self._lose(row, lost, drop)
                    raise lost
                row.plan(results, now)
                for slot, result in zip(wanted, results, strict=True):
                    slot.take(result, drop)
                    if slot.given_up:
                        slot.due = now + RETRY_UNSUPPORTED
                    answered = answered or not isinstance(result, ReadError)
                    answered = answered or isinstance(result, UnsupportedError)
            for slot in row.slots:
                readings += slot.kept
        if asked:
            self._answers = answered
            if not answered:
                self._forget(readings, drop)
        return self._answers

    def _forget(self, readings: Readings, drop: Drop) -> None:
        """Repeat no earlier value of a device that answers nothing: nobody knows if it holds."""
        readings[:] = self.description()
        for row in self._rows:
            if row.row.every != ONCE:
                row.due = float("-inf")
                for slot in row.slots:
                    if slot.kept:
                        slot.fail(ReadError("unknown", "the device answers no call"), drop)

    def _lose(self, failed: _Row, error: TargetLostError, drop: Drop) -> None:
        """Drop and count every value of this cycle, and read all anew next time."""
        for row in self._rows:
            if row is failed or row.row.every != ONCE:
                row.due = float("-inf")
                for slot in row.slots:
                    if not slot.given_up:
                        slot.fail(error, drop)

    def miss(self, reason: str, drop: Drop) -> None:
        """Count every value that this device owes in a cycle in which it was not read."""
        for row in self._rows:
            if row.row.every == ONCE:
                continue
            for slot in row.slots:
                if not slot.given_up:
                    for emit in slot.emits:
                        drop(emit.metric, reason)

    def description(self) -> Readings:
        """Return what describes the device and stays true when it no longer answers."""
        return [r for row in self._rows if row.row.every == ONCE for s in row.slots for r in s.kept]


def _fields(row: Batched[Any, Any]) -> list[tuple[Any, Sequence[AnyEmit]]]:
    return [(field.key, field.emits) for field in row.fields]
