"""What one component counts, and what state it is in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping

from attrs import frozen

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Metric
from otelgpu.points.stream import Attributes, AttributeValue, Streams
from otelgpu.semconv.metrics import OTELGPU_COMPONENT_ERRORS

OK = "ok"
STARTING = "starting"

Observation = tuple[Metric, float, Attributes]
"""Metric, value and attributes beyond the component's own."""

_NONE: Mapping[str, str] = {}


@frozen
class Condition:
    """The state a component is in: its id in ``states.yaml``, and what is special this time."""

    state: str
    detail: str = ""


class ComponentTelemetry:
    """Counters, gauges and the state of one component; safe to use from any thread.

    Every metric is one of the registry's ``otelgpu.*``; the component's type and name are added to
    its attributes.
    """

    def __init__(self, common: Attributes, streams: Streams) -> None:
        self._common = common
        self._streams = streams
        self._values: dict[tuple[Metric, frozenset[tuple[str, AttributeValue]]], float] = {}
        self._observers: list[Callable[[], Iterable[Observation]]] = []
        self._condition = Condition(STARTING)
        self._lock = threading.Lock()

    def add(self, metric: Metric, amount: float = 1, attributes: Attributes = _NONE) -> None:
        """Add to a counter."""
        key = (metric, frozenset(attributes.items()))
        with self._lock:
            self._values[key] = self._values.get(key, 0) + amount

    def set(self, metric: Metric, value: float, attributes: Attributes = _NONE) -> None:
        """Set a gauge or an up-down counter."""
        with self._lock:
            self._values[metric, frozenset(attributes.items())] = value

    def forget(self, metric: Metric, having: Attributes = _NONE) -> None:
        """End all streams of a metric that have these attributes, among others."""
        wanted = having.items()
        with self._lock:
            for key in [k for k in self._values if k[0] is metric and wanted <= k[1]]:
                del self._values[key]

    def observe(self, observer: Callable[[], Iterable[Observation]]) -> None:
        """Ask ``observer`` for its values whenever telemetry is collected; it must not block.

        What it raises is counted, and costs its own values alone.
        """
        self._observers.append(observer)

    @property
    def condition(self) -> Condition:
        """The state that the component is in now."""
        return self._condition

    def enter(self, state: str, detail: str = "") -> bool:
        """Say that the component is in ``state``; return whether that is news."""
        with self._lock:
            news = self._condition.state != state
            self._condition = Condition(state, detail)
            return news

    def collect(self) -> Readings:
        """Return all values as readings."""
        observed: list[tuple[Metric, float, dict[str, AttributeValue]]] = []
        for observer in self._observers:
            try:
                observed += [(m, v, dict(a)) for m, v, a in observer()]
            except Exception as error:  # noqa: BLE001 - the agent's other values must go out
                self.add(OTELGPU_COMPONENT_ERRORS, 1, {"error.type": type(error).__name__})
        with self._lock:
            values = [(m, v, dict(key)) for (m, key), v in self._values.items()]
        values += observed
        return [
            (self._streams.get(metric, {**self._common, **attributes}), value)
            for metric, value, attributes in values
        ]
