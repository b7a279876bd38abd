"""The agent as a source: what its components count, their states, memory and processor time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Metric
from otelgpu.points.stream import Streams
from otelgpu.scraping.support import DeviceSupport
from otelgpu.semconv.metrics import (
    OTELGPU_CPU_TIME,
    OTELGPU_EXPORTER_STATE,
    OTELGPU_MEMORY_USAGE,
    OTELGPU_PROCESSOR_STATE,
    OTELGPU_RECEIVER_STATE,
    OTELGPU_STREAM_COUNT,
)
from otelgpu.telemetry.component import ComponentTelemetry

SOURCE = "otelgpu"
"""Name of the agent as a source of batches."""
_STATM = Path("/proc/self/statm")
_STATE_METRICS: Mapping[str, Metric] = {
    "receivers": OTELGPU_RECEIVER_STATE,
    "processors": OTELGPU_PROCESSOR_STATE,
    "exporters": OTELGPU_EXPORTER_STATE,
}


@frozen(eq=False)
class Monitored:
    """One component and what it tells of itself."""

    kind: str
    """Section of the configuration: ``receivers``, ``processors`` or ``exporters``."""
    id: str
    telemetry: ComponentTelemetry


class Registry:
    """Everything in the agent that counts and has states."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self.components: list[Monitored] = []
        self.agent = self._telemetry("agent", SOURCE)

    def component(self, kind: str, id_: str) -> ComponentTelemetry:
        """Return the telemetry of a new component."""
        telemetry = self._telemetry(id_.partition("/")[0], id_)
        self.components.append(Monitored(kind, id_, telemetry))
        return telemetry

    def _telemetry(self, type_: str, name: str) -> ComponentTelemetry:
        common = {"otel.component.type": type_, "otel.component.name": name}
        return ComponentTelemetry(common, self._streams)


class AgentScraper:
    """Collects the agent's own metrics: a scraper like any receiver's."""

    def __init__(self, registry: Registry, stream_count: Callable[[], int]) -> None:
        self._registry = registry
        self._stream_count = stream_count
        self._page = os.sysconf("SC_PAGE_SIZE")
        self.restarted: frozenset[str] = frozenset()

    def start(self) -> None:
        """There is nothing to acquire."""

    def shutdown(self, timeout: float) -> None:
        """There is nothing to release."""

    def release(self) -> None:
        """There is no driver."""

    def support(self) -> list[DeviceSupport]:
        """There is no device."""
        return []

    def scrape(self) -> Readings:
        """Return all values that the components have now."""
        agent = self._registry.agent
        agent.set(OTELGPU_CPU_TIME, time.process_time())
        agent.set(OTELGPU_STREAM_COUNT, self._stream_count())
        memory = self._memory()
        if memory is not None:
            agent.set(OTELGPU_MEMORY_USAGE, memory)
        readings = agent.collect()
        for part in self._registry.components:
            metric = _STATE_METRICS[part.kind]
            part.telemetry.forget(metric)
            part.telemetry.set(metric, 1, {"otelgpu.state": part.telemetry.condition.state})
            readings += part.telemetry.collect()
        return readings

    def _memory(self) -> int | None:
        """Return resident memory in bytes (proc_pid_statm(5)), None where /proc is not Linux's."""
        try:
            return int(_STATM.read_text(encoding="ascii").split()[1]) * self._page
        except (OSError, ValueError, IndexError):
            return None
