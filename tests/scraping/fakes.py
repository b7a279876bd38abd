"""A clock that tests move, devices that are scripted, and what a scrape yields in short."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

from attrs import define, field, frozen

from otelgpu.component import Settings
from otelgpu.points.batch import Readings
from otelgpu.points.event import Event
from otelgpu.points.metric import Instrument, Metric, ValueType
from otelgpu.points.stream import Attributes, Streams
from otelgpu.scraping.discovery import Inventory, Unreadable
from otelgpu.scraping.errors import ReadError
from otelgpu.telemetry.component import ComponentTelemetry

LONG = 20.0
"""Seconds that a test waits for what must happen, before it fails."""

RATIO = Metric("ratio", "1", Instrument.GAUGE, ValueType.DOUBLE, "", minimum=0, maximum=1)
WATTS = Metric("watts", "W", Instrument.GAUGE, ValueType.DOUBLE, "", minimum=0, maximum=1000)
INFO = Metric("info", "{device}", Instrument.UPDOWNCOUNTER, ValueType.INT, "", minimum=0, maximum=1)


class ManualClock:
    """Stands still until it is moved."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def time_ns(self) -> int:
        return int(self.now * 1e9)

    def monotonic(self) -> float:
        return self.now


class Drops:
    """Counts what gave no point, by metric and reason."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()

    def __call__(self, metric: Metric, reason: str) -> None:
        self.counts[metric.name, reason] += 1

    def take(self) -> Mapping[tuple[str, str], int]:
        """Return what was counted since the last time."""
        counts, self.counts = self.counts, Counter()
        return dict(counts)


class Door:
    """Keeps what is handed over."""

    def __init__(self) -> None:
        self.batches: list[Readings] = []

    def readings(self, readings: Readings, restarted: Collection[str] = ()) -> None:
        self.batches.append(readings)

    def events(self, events: Sequence[Event]) -> None:
        raise AssertionError("a scrape hands over no events")


@frozen
class Card:
    """A device as a client finds it."""

    id: str
    handle: int = 0

    @property
    def attributes(self) -> Attributes:
        return {"hw.id": self.id, "hw.type": "gpu"}


@define
class Library:
    """A vendor's library whose answers tests script; also the client that owns it."""

    cards: list[Card] = field(factory=list)
    unreadable: list[tuple[str, ReadError]] = field(factory=list)
    acts: dict[str, Callable[[], float | None]] = field(factory=dict)
    """What reading a card's watts does, by id; 7 W otherwise."""
    on_discover: Callable[[], None] = lambda: None
    on_close: Callable[[], None] = lambda: None
    """What closing the library does, where it may be closed."""
    discovered: list[bool] = field(factory=list)
    """Whether each search was allowed to close the library."""
    searches: int = 0
    """How many searches have begun."""
    read: list[str] = field(factory=list)
    released: bool = False
    epoch: Hashable = None

    def discover(self, may_close: Callable[[], bool]) -> Inventory[Card]:
        self.searches += 1
        self.on_discover()
        self.discovered.append(may_close())
        if self.discovered[-1]:
            self.on_close()
        return Inventory(
            list(self.cards), [Unreadable(*one) for one in self.unreadable], self.epoch
        )

    def release(self, may_close: Callable[[], bool]) -> bool:
        self.released = may_close()
        if self.released:
            self.on_close()
        return self.released

    def watts(self, card: Card) -> float | None:
        self.read.append(card.id)
        return self.acts.get(card.id, lambda: 7.0)()


def settings(clock: ManualClock | None = None, streams: Streams | None = None) -> Settings:
    """Return settings of a component named ``fake``."""
    streams = streams or Streams()
    common = {"otel.component.type": "fake", "otel.component.name": "fake"}
    return Settings(
        "fake",
        logging.getLogger("otelgpu.receivers.fake"),
        streams,
        ComponentTelemetry(common, streams),
        clock or ManualClock(),
    )


def short(readings: Readings) -> dict[str, float]:
    """Return values by metric and device; a stream that stands twice fails."""
    found: dict[str, float] = {}
    for stream, value in readings:
        extra = ",".join(str(v) for k, v in sorted(stream.attributes.items()) if k != "hw.type")
        key = f"{stream.metric.name}[{extra}]"
        assert key not in found, key
        found[key] = value
    return found


def counted(settings: Settings, metric: Metric) -> dict[tuple[object, ...], float]:
    """Return what a component counted, by the values of the attributes beyond its own."""
    return {
        tuple(
            v for k, v in sorted(stream.attributes.items()) if not k.startswith("otel.component")
        ): value
        for stream, value in settings.telemetry.collect()
        if stream.metric is metric
    }
