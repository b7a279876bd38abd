"""The agent as a source: its own values, right by the convention."""

from __future__ import annotations

import os
import time

from otelgpu.points.batch import Batch
from otelgpu.points.epochs import Epochs
from otelgpu.points.resource import Resource
from otelgpu.points.sdk import to_metrics_data
from otelgpu.points.stream import Streams
from otelgpu.semconv import metrics as m
from otelgpu.telemetry.agent import AgentScraper, Registry
from otelgpu.telemetry.component import OK
from otelgpu.testing import assert_points


def scrape(registry: Registry, count: int = 12) -> dict[tuple[str, str, str], float]:
    """Return values by component, metric and state."""
    found = {}
    for stream, value in AgentScraper(registry, lambda: count).scrape():
        a = stream.attributes
        key = (
            str(a["otel.component.name"]),
            stream.metric.name,
            str(a.get("otelgpu.state", a.get("error.type", ""))),
        )
        assert key not in found
        found[key] = value
    return found


def test_values_of_the_agent_itself() -> None:
    before = time.process_time()
    found = scrape(Registry(Streams()))
    assert set(found) == {
        ("otelgpu", "otelgpu.cpu.time", ""),
        ("otelgpu", "otelgpu.stream.count", ""),
        ("otelgpu", "otelgpu.memory.usage", ""),
    }
    assert found["otelgpu", "otelgpu.stream.count", ""] == 12
    assert before <= found["otelgpu", "otelgpu.cpu.time", ""] <= time.process_time()
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - not a path of ours
        (line,) = [line for line in status if line.startswith("VmRSS")]
    resident = int(line.split()[1]) * 1024
    assert abs(found["otelgpu", "otelgpu.memory.usage", ""] - resident) < 16 << 20
    assert resident > os.sysconf("SC_PAGE_SIZE")


def test_each_component_is_in_one_state() -> None:
    registry = Registry(Streams())
    receiver = registry.component("receivers", "nvml")
    registry.component("processors", "filter@metrics").enter(OK)
    registry.component("exporters", "otlp_http/main").enter("exporter.unreachable")
    found = scrape(registry)
    assert found["nvml", "otelgpu.receiver.state", "starting"] == 1
    assert found["filter@metrics", "otelgpu.processor.state", "ok"] == 1
    assert found["otlp_http/main", "otelgpu.exporter.state", "exporter.unreachable"] == 1
    receiver.enter("nvml.no_devices")
    states = {k[2]: v for k, v in scrape(registry).items() if k[1] == "otelgpu.receiver.state"}
    assert states == {"nvml.no_devices": 1}, "the state that is over has ended"


def test_the_type_is_the_first_part_of_the_id() -> None:
    registry = Registry(Streams())
    registry.component("exporters", "otlp_http/main")
    types = {
        str(stream.attributes["otel.component.name"]): stream.attributes["otel.component.type"]
        for stream, _ in AgentScraper(registry, lambda: 0).scrape()
    }
    assert types == {"otelgpu": "agent", "otlp_http/main": "otlp_http"}


def test_the_batch_is_right_by_the_convention() -> None:
    registry = Registry(Streams())
    receiver = registry.component("receivers", "nvml")
    receiver.add(m.OTELGPU_SCRAPE_POINTS, 7)
    receiver.set(m.OTELGPU_SCRAPE_DURATION, 0.01)
    receiver.set(m.OTELGPU_RECEIVER_UP, 1)
    receiver.set(m.OTELGPU_DEVICE_COUNT, 8, {"hw.vendor": "NVIDIA"})
    receiver.set(m.OTELGPU_DEVICE_EXPECTED, 8, {"hw.vendor": "NVIDIA"})
    vfio = {"hw.vendor": "NVIDIA", "otelgpu.device.binding": "vfio"}
    receiver.set(m.OTELGPU_DEVICE_EXPECTED, 1, vfio)
    receiver.add(
        m.OTELGPU_SCRAPE_DROPPED,
        1,
        {"otelgpu.metric": "hw.power", "error.type": "lost", "hw.id": "GPU-1"},
    )
    receiver.add(m.OTELGPU_TARGET_HUNG, 1, {"hw.id": "GPU-1"})
    receiver.add(m.OTELGPU_COMPONENT_ERRORS, 1, {"error.type": "ValueError"})
    registry.component("exporters", "otlp_http").enter(OK)
    registry.component("processors", "filter@metrics").enter(OK)
    registry.agent.add(m.OTELGPU_CLOCK_STEPPED)
    registry.agent.add(m.OTELGPU_COUNTER_BACKWARDS, 1, {"otelgpu.metric": "hw.energy"})
    now = time.time_ns()
    points = Epochs().points("otelgpu", AgentScraper(registry, lambda: 3).scrape(), now, 0.0)
    assert_points(to_metrics_data(Batch("otelgpu", now, Resource({}), points)))
