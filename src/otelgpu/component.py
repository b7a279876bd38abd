"""The contracts that receivers, processors and exporters implement."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from attrs import field, frozen

from otelgpu.points.batch import Batch, Readings
from otelgpu.points.event import Event, EventBatch
from otelgpu.points.stream import Attributes, Streams
from otelgpu.scraping.support import DeviceSupport
from otelgpu.telemetry.component import ComponentTelemetry


class Component(Protocol):
    """Anything the service starts and stops.

    It says what state it is in by ``Settings.telemetry.enter``: until it says ``ok``, or a state
    that counts as ready, ``/readyz`` answers that the agent is not.
    """

    def start(self) -> None:
        """Acquire resources and begin work; raise to abort the agent's start-up."""

    def shutdown(self, timeout: float) -> None:
        """Stop, drain and release within ``timeout`` seconds; safe before start and repeated."""


class Consumer(Protocol):
    """Takes what flows through pipelines, under the hand-over's lock: it must not block.

    Batches are never changed: who wants another one makes it. A consumer of one signal only says
    so in its factory and is never given the other.
    """

    def consume(self, batch: Batch) -> None:
        """Take points; whatever is raised is counted and logged by the caller."""

    def consume_events(self, batch: EventBatch) -> None:
        """Take events; whatever is raised is counted and logged by the caller."""


class Stage(Component, Consumer, Protocol):
    """A processor or an exporter."""


@runtime_checkable
class Releasable(Protocol):
    """A component that keeps a driver in use."""

    def release(self) -> None:
        """Let go of the driver for a while, so that a device can be reset; do not wait for it."""


@runtime_checkable
class Inspectable(Protocol):
    """A component that knows what its devices have."""

    def support(self) -> Sequence[DeviceSupport]:
        """Return what each device gave when it was last asked, and why it did not give the rest."""


class HandOver(Protocol):
    """The one door from a receiver into its pipelines."""

    def readings(self, readings: Readings, restarted: Collection[str] = ()) -> None:
        """Hand over all that the source has now; a stream that is missing has ended.

        ``restarted`` are the hw.ids of devices whose driver was loaded anew since the last time:
        their counters begin anew, however high they are.
        """

    def events(self, events: Sequence[Event]) -> None:
        """Hand over events."""


class Clock(Protocol):
    """Where time comes from; injected, so that tests need not wait."""

    def time_ns(self) -> int:
        """Return wall-clock time in ns since the Unix epoch."""

    def monotonic(self) -> float:
        """Return seconds of a clock that never steps."""


class Signal(StrEnum):
    """What a pipeline carries; also the type in a pipeline's id."""

    METRICS = "metrics"
    EVENTS = "events"


class Stability(StrEnum):
    """How far users may rely on a component, in the Collector's words."""

    DEVELOPMENT = "development"
    ALPHA = "alpha"
    BETA = "beta"
    STABLE = "stable"


@frozen
class Settings:
    """What the service gives to a component, beside its configuration."""

    id: str
    """Its id in the configuration: ``type`` or ``type/name``."""
    logger: logging.Logger
    streams: Streams
    telemetry: ComponentTelemetry
    """Where the component counts what it does and says what state it is in."""
    clock: Clock
    restart: Callable[[str], None] = lambda _: None
    """Asks that the agent drain and execute itself anew, for a reason such as ``driver_upgraded``;
    it happens soon, but not more often than every five minutes."""


C = TypeVar("C")
_METRICS = frozenset({Signal.METRICS})


@frozen
class ReceiverFactory(Generic[C]):
    """What a receiver's package exports."""

    type: str
    config: builtins.type[C]
    create: Callable[[Settings, C, HandOver], Component]
    stability: Stability
    signals: frozenset[Signal] = _METRICS
    scrapes: int = 1
    """How many scrapes it takes until every metric has a value: 2 where rates are computed."""
    probe: Callable[[], bool] | None = None
    """Says whether this node has what the receiver reads; may hang as the vendor's library may."""
    resource: Attributes = field(factory=dict)
    """Attributes that the Resource must carry while such a receiver is in use."""
    single: bool = False
    """Whether an agent can have one only, since a process has its vendor's library once."""


@frozen
class ProcessorFactory(Generic[C]):
    """What a processor's package exports."""

    type: str
    config: builtins.type[C]
    create: Callable[[Settings, C, Consumer], Stage]
    stability: Stability
    signals: frozenset[Signal] = _METRICS


def _no_defaults(_: Mapping[str, str], __: Mapping[str, Any]) -> Mapping[str, Any]:
    return {}


@frozen
class ExporterFactory(Generic[C]):
    """What an exporter's package exports."""

    type: str
    config: builtins.type[C]
    create: Callable[[Settings, C], Stage]
    stability: Stability
    signals: frozenset[Signal] = _METRICS
    defaults: Callable[[Mapping[str, str], Mapping[str, Any]], Mapping[str, Any]] = _no_defaults
    """Returns raw settings that environment variables of a standard give where the file is silent;
    called with the environment and with what the file says of this exporter."""


AnyFactory = ReceiverFactory[Any] | ProcessorFactory[Any] | ExporterFactory[Any]
