"""Components that tests script, and a configuration made of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import yaml
from attrs import evolve, frozen

from otelgpu.component import (
    AnyFactory,
    Consumer,
    ExporterFactory,
    HandOver,
    ProcessorFactory,
    ReceiverFactory,
    Settings,
    Signal,
    Stability,
)
from otelgpu.config.document import Document, parse
from otelgpu.points.batch import Batch
from otelgpu.points.event import Event, EventBatch, Severity
from otelgpu.points.metric import Instrument, Metric, ValueType
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Streams
from otelgpu.service.factories import InstalledFactories
from otelgpu.service.graph import Environment
from otelgpu.telemetry.component import OK

LONG = 20.0
"""Seconds that a test waits for what must happen, before it fails."""

WATTS = Metric("watts", "W", Instrument.GAUGE, ValueType.DOUBLE, "")
JOULES = Metric("joules", "J", Instrument.COUNTER, ValueType.DOUBLE, "")
BOTH = frozenset(Signal)
EVENT = Event("hw.gpu.fault", 0, 1, Severity.ERROR, "XID 79", {})


class ManualClock:
    """Stands still until it is moved."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def time_ns(self) -> int:
        return int(self.now * 1e9)

    def monotonic(self) -> float:
        return self.now


@frozen
class FakeConfig:
    """What a fake component does."""

    collection_interval: timedelta = timedelta(seconds=10)
    start: str = ""
    """What ``start`` raises."""
    shutdown: str = ""
    """What ``shutdown`` does: nothing, ``raise`` or ``hang``."""
    consume: str = ""
    """What ``consume`` raises."""


class Fake:
    """A receiver, processor or exporter that notes all that is done to it."""

    def __init__(
        self, log: Log, settings: Settings, config: FakeConfig, into: HandOver | Consumer | None
    ) -> None:
        self.settings = settings
        self.config = config
        self.into: Any = into
        self.batches: list[Batch] = []
        self.events: list[EventBatch] = []
        self.timeouts: list[float] = []
        self.came = threading.Condition()
        self._log = log

    def start(self) -> None:
        self._log.note("start", self.settings.id)
        if self.config.start:
            raise OSError(self.config.start)
        self.settings.telemetry.enter(OK)

    def shutdown(self, timeout: float) -> None:
        self.timeouts.append(timeout)
        self._log.note("shutdown", self.settings.id)
        if self.config.shutdown == "raise":
            raise OSError("cannot stop")
        if self.config.shutdown == "hang":
            assert self._log.released.wait(LONG)

    def consume(self, batch: Batch) -> None:
        if self.config.consume:
            raise ValueError(self.config.consume)
        with self.came:
            self.batches.append(batch)
            self.came.notify_all()
        if self.into is not None:
            self.into.consume(evolve(batch))

    def consume_events(self, batch: EventBatch) -> None:
        if self.config.consume:
            raise ValueError(self.config.consume)
        self.events.append(batch)
        if self.into is not None:
            self.into.consume_events(batch)

    def hand_over(self, **values: float) -> None:
        """Hand over watts of some devices."""
        streams = self.settings.streams
        self.into.readings([(streams.get(WATTS, {"hw.id": k}), v) for k, v in values.items()])

    def wait(self, holds: Callable[[], object]) -> None:
        with self.came:
            assert self.came.wait_for(holds, LONG)


class Log:
    """What was done to all fakes, in order; also makes and finds them."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.made: dict[str, list[Fake]] = {}
        self.released = threading.Event()
        """Set to let go of what hangs."""
        self._lock = threading.Lock()

    def note(self, call: str, id_: str) -> None:
        with self._lock:
            self.calls.append(f"{call} {id_}")

    def __getitem__(self, id_: str) -> Fake:
        (fake,) = self.made[id_]
        return fake

    def receiver(self, settings: Settings, config: FakeConfig, hand_over: HandOver) -> Fake:
        return self._make(settings, config, hand_over)

    def processor(self, settings: Settings, config: FakeConfig, consumer: Consumer) -> Fake:
        return self._make(settings, config, consumer)

    def exporter(self, settings: Settings, config: FakeConfig) -> Fake:
        return self._make(settings, config, None)

    def _make(self, settings: Settings, config: FakeConfig, into: Any) -> Fake:
        fake = Fake(self, settings, config, into)
        self.made.setdefault(settings.id, []).append(fake)
        return fake


class Lookup:
    """Finds factories of fakes: r, p, x; extensions are those that are built in."""

    def __init__(self, log: Log, factories: Mapping[tuple[str, str], AnyFactory] = {}) -> None:
        beta = Stability.BETA
        self._factories: dict[tuple[str, str], AnyFactory] = {
            ("receivers", "r"): ReceiverFactory("r", FakeConfig, log.receiver, beta, BOTH),
            ("processors", "p"): ProcessorFactory("p", FakeConfig, log.processor, beta, BOTH),
            ("exporters", "x"): ExporterFactory("x", FakeConfig, log.exporter, beta, BOTH),
            **factories,
        }

    def get(self, kind: str, type: str) -> Any:  # noqa: A002 - the protocol's word
        if kind == "extensions":
            return InstalledFactories().get(kind, type)
        return self._factories.get((kind, type))

    def known(self, kind: str) -> list[str]:
        return sorted(type_ for k, type_ in self._factories if k == kind)


def document(log: Log, text: str, lookup: Lookup | None = None) -> Document:
    """Parse a configuration of fakes; own telemetry is off unless it says so."""
    raw = yaml.safe_load(text)
    telemetry = raw["service"].setdefault("telemetry", {})
    telemetry.setdefault("metrics", {"interval": "0s"})
    return parse(raw, lookup or Lookup(log), {})


def environment(clock: ManualClock | None = None) -> Environment:
    return Environment(Resource({"host.name": "node"}), clock or ManualClock(), Streams())


def watts(batches: Sequence[Batch]) -> list[dict[str, float]]:
    """Return the values of batches by device."""
    return [
        {str(stream.attributes["hw.id"]): value for stream, value, _ in batch.points}
        for batch in batches
    ]
