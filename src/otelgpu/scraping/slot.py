"""One value of a vendor call, for one device: its emits, its streams, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Metric
from otelgpu.points.stream import Attributes, Stream, Streams
from otelgpu.scraping.errors import ReadError, ToldOtherwiseError, UnsupportedError
from otelgpu.scraping.support import Refusal
from otelgpu.scraping.table import AnyEmit, Emit, Point

RETRY_FIRST = 60.0
"""Seconds after which something that was not supported is asked again; doubled each time."""
RETRY_UNSUPPORTED = 3600.0
"""The longest such wait."""
REFUSALS = 3
"""Answers "not supported" in a row before a reading that has worked is given up."""

Drop = Callable[[Metric, str], None]
"""Counts a reading that gave no point: metric and reason."""


class Slot:
    """One value of a vendor call: its emits with their streams, and what is known of it."""

    __slots__ = ("due", "emits", "kept", "key", "refusal", "refusals", "told", "worked")

    def __init__(self, key: Any, emits: list[BoundEmit]) -> None:
        self.key = key
        self.emits = emits
        self.kept: Readings = []
        self.due = float("-inf")
        self.worked = False
        self.refusals = 0
        self.told = False
        self.refusal: Refusal | None = None
        """Why there was no result the last time."""

    def take(self, result: Any, drop: Drop, *, keep: bool = False) -> None:
        """Take the emits' values from a result; an error leaves the last ones if to ``keep``."""
        if isinstance(result, ReadError):
            self.fail(result, drop, keep=keep)
            return
        kept: Readings = []
        for emit in self.emits:
            emit.take(result, kept, drop)
        self.kept = kept
        self.worked = True
        self.refusals = 0
        self.told = False
        self.refusal = None

    def fail(self, error: ReadError, drop: Drop, *, keep: bool = False) -> None:
        """Count what is missing now, unsupported once; drop the last values unless to ``keep``."""
        if not keep:
            self.kept = []
        self.refusal = Refusal.of(error)
        unsupported = isinstance(error, UnsupportedError)
        self.refusals = self.refusals + 1 if unsupported else 0
        if unsupported and self.told:
            return
        if not isinstance(error, ToldOtherwiseError):
            for emit in self.emits:
                drop(emit.metric, error.reason)
        self.told = unsupported and self.given_up

    @property
    def given_up(self) -> bool:
        """Whether the device does not have this value, as far as we know."""
        return self._beyond >= 0

    def postpone(self, now: float) -> None:
        """Say when a value that the device does not have is asked for again."""
        self.due = now + min(RETRY_FIRST * 2.0 ** min(self._beyond, 16), RETRY_UNSUPPORTED)

    @property
    def _beyond(self) -> int:
        """Refusals in a row since the one that was enough; negative before it."""
        return self.refusals - (REFUSALS if self.worked else 1)


class BoundEmit:
    """An emit bound to one device; makes each stream once."""

    __slots__ = (
        "_common",
        "_each",
        "_store",
        "_stream",
        "_streams",
        "_told",
        "_value",
        "metric",
        "own",
        "refusal",
    )

    def __init__(self, emit: AnyEmit, device: Attributes, streams: Streams) -> None:
        self.metric = emit.metric
        self.own: Attributes = emit.attributes if isinstance(emit, Emit) else {}
        """Its attributes beyond the device's, where they do not come with the result."""
        self.refusal: Refusal | None = None
        """Why the last result gave no value."""
        common = _common(emit.metric, device)
        self._common = common
        self._store = streams
        self._streams: Mapping[frozenset[tuple[str, object]], Stream] = {}
        self._value: Callable[[Any], float | None] | None = None
        self._each: Callable[[Any], Iterable[Point]] | None = None
        self._stream: Stream | None = None
        self._told = False
        if isinstance(emit, Emit):
            self._value = emit.value
            self._stream = streams.get(emit.metric, {**common, **emit.attributes})
        else:
            self._each = emit.values

    def take(self, result: Any, taken: Readings, drop: Drop) -> None:
        unsupported = False
        self.refusal = None
        try:
            if self._value is not None and self._stream is not None:
                self._keep(self._stream, self._value(result), taken, drop)
            elif self._each is not None:
                self._take_each(list(self._each(result)), taken, drop)
        except UnsupportedError as error:
            unsupported = True
            self.refusal = Refusal.of(error)
            if not self._told:
                drop(self.metric, error.reason)
        except ReadError as error:
            self._fail(error, drop)
        except Exception as error:  # noqa: BLE001 - a mistake in one emit must cost that emit alone
            self._fail(ReadError("internal", repr(error)), drop)
        self._told = unsupported

    def _fail(self, error: ReadError, drop: Drop) -> None:
        self.refusal = Refusal.of(error)
        drop(self.metric, error.reason)

    def _take_each(self, found: Sequence[Point], taken: Readings, drop: Drop) -> None:
        streams: dict[frozenset[tuple[str, object]], Stream] = {}
        for attributes, value in found:
            if isinstance(value, ReadError):
                # Before a stream is made: it may be one that nobody will ever see.
                self._fail(value, drop)
                continue
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
            self._fail(ReadError("absent", "the driver gives no value"), drop)
        elif metric.minimum <= value <= metric.maximum:
            taken.append((stream, value))
        else:
            # NaN compares false, so it ends here as well.
            words = f"{value} is not within {metric.minimum} and {metric.maximum}"
            self._fail(ReadError("out_of_range", words), drop)


def _common(metric: Metric, device: Attributes) -> Attributes:
    """Return what each point of a metric says of its device: a process's point its id alone."""
    if metric.name.startswith("process."):
        return {key: value for key, value in device.items() if key == "hw.id"}
    return device
