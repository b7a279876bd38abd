"""From the driver to the real upstream Collector, over both protocols."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import MetricExportResult
from tests.e2e.agent import AgentProcess, configuration
from tests.e2e.points import of, points
from tests.fakes.nvml_fake import FakeNvml
from tests.peers.collector import CONFIG, Collector

from otelgpu.points.batch import Batch
from otelgpu.points.resource import Resource
from otelgpu.points.sdk import to_metrics_data
from otelgpu.points.stream import Streams
from otelgpu.semconv.metrics import HW_ENERGY, HW_GPU_UTILIZATION, OFFICIAL_SCHEMA_URL
from otelgpu.testing import assert_points, from_otlp

pytestmark = pytest.mark.peer
GPUS = 8


def _devices(collector: Collector) -> set[str]:
    found = points(collector.received())
    return {p.attributes["hw.id"] for p in found if p.metric == "hw.gpu.memory.usage"}


@pytest.mark.parametrize("exporter", ["otlp_http", "otlp_grpc"])
def test_eight_gpus_arrive_and_conform(
    exporter: str, fake: FakeNvml, collector: Collector, tmp_path: Path
) -> None:
    fake.configure(gpus=GPUS, procs=1)
    over_http = exporter == "otlp_http"
    endpoint = collector.http_endpoint if over_http else f"http://{collector.grpc_endpoint}"
    config = configuration(endpoint, exporter=exporter)
    with AgentProcess(tmp_path, config, fake.environment) as agent:
        collector.wait_for(lambda c: len(_devices(c)) == GPUS, 30)
        collector.wait_for(lambda c: _own_metrics(c) > 0, 30)
        assert agent.ready()[0] == 200
        status, _ = agent.terminate(10)
    assert status == 0
    requests = collector.received()
    for request in requests:
        assert_points(from_otlp(request))
    names = {p.metric for p in points(requests)}
    assert len([n for n in names if n.startswith("hw.")]) >= 25
    resources = {str(r.resource) for request in requests for r in request.resource_metrics}
    assert len(resources) == 1, "one Resource for an agent"
    assert {r.schema_url for q in requests for r in q.resource_metrics} == {OFFICIAL_SCHEMA_URL}


def _own_metrics(collector: Collector) -> int:
    return sum(p.metric == "otelgpu.scrape.points" for p in points(collector.received()))


def test_the_shipped_files_work_together(
    fake: FakeNvml, collector: Collector, tmp_path: Path
) -> None:
    fake.configure(gpus=GPUS)
    environ = {**fake.environment, "OTELGPU_ENDPOINT": collector.http_endpoint}
    with AgentProcess(tmp_path, CONFIG / "otelgpu.yaml", environ) as agent:
        collector.wait_for(lambda c: len(_devices(c)) == GPUS, 30)
        assert agent.state("nvml")["state"] == "ok"
        assert agent.terminate(10)[0] == 0


def test_standard_variables_are_enough(
    fake: FakeNvml, collector: Collector, tmp_path: Path
) -> None:
    fake.configure(gpus=GPUS)
    environ = {
        **os.environ,
        **fake.environment,
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{collector.grpc_endpoint}",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        "OTEL_SERVICE_NAME": "named-by-variable",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test%20bench",
    }
    command = [str(Path(os.sys.executable).with_name("otelgpu")), "run"]  # type: ignore[attr-defined]
    log = (tmp_path / "log").open("wb")
    with log, subprocess.Popen(command, env=environ, stdout=log, stderr=log) as running:
        try:
            collector.wait_for(lambda c: len(_devices(c)) == GPUS, 30)
        finally:
            running.terminate()
        assert running.wait(15) == 0
    attributes = _attributes(collector.received()[0].resource_metrics[0].resource)
    assert attributes["service.name"] == "named-by-variable"
    assert attributes["deployment.environment.name"] == "test bench"


def _attributes(resource: Any) -> Mapping[str, str]:
    return {a.key: a.value.string_value for a in resource.attributes}


def test_the_stock_exporter_takes_our_batches(collector: Collector) -> None:
    streams = Streams()
    device = {"hw.id": "GPU-1", "hw.type": "gpu"}
    readings = [
        (streams.get(HW_GPU_UTILIZATION, {**device, "hw.gpu.task": "general"}), 0.5, 0),
        (streams.get(HW_ENERGY, device), 12.5, 1_700_000_000_000_000_000),
    ]
    resource = Resource({"service.name": "otelgpu"}, OFFICIAL_SCHEMA_URL)
    batch = Batch("test", 1_700_000_001_000_000_000, resource, readings)
    exporter = OTLPMetricExporter(endpoint=f"{collector.http_endpoint}/v1/metrics")
    assert exporter.export(to_metrics_data(batch)) is MetricExportResult.SUCCESS
    exporter.shutdown()
    collector.wait_for(lambda c: bool(c.received()), 10)
    request = collector.received()[0]
    assert_points(from_otlp(request))
    assert [p.value for p in of("GPU-1", "hw.energy", points([request]))] == [12.5]
