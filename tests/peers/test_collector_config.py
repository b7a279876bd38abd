"""collector-config/ under the real Collector: its own check, then data through it."""

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (
    OTLPMetricExporter as GrpcExporter,
)
from opentelemetry.exporter.otlp.proto.http.metric_exporter import (
    OTLPMetricExporter as HttpExporter,
)
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2_grpc import LogsServiceStub
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import MetricsServiceStub
from opentelemetry.proto.metrics.v1.metrics_pb2 import DataPointFlags
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Metric,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from tests.peers.collector import CONFIG, Collector, CollectorError, require_collector

COLLECTOR = CONFIG / "collector.yaml"
DELTA = CONFIG / "delta.yaml"
NOT_FOR_THE_COLLECTOR = {"builder.yaml", "otelgpu.yaml"}
SECOND = 1_000_000_000

pytestmark = [pytest.mark.peer, pytest.mark.timeout(90)]


@pytest.fixture(scope="module")
def binary() -> Path:
    return require_collector()


@pytest.fixture
def collector(binary: Path, tmp_path: Path) -> Iterator[Collector]:
    with Collector(binary, tmp_path) as running:
        yield running


def validate(binary: Path, *configs: str | Path) -> subprocess.CompletedProcess[str]:
    words = [word for config in configs for word in ("--config", str(config))]
    return subprocess.run(
        [binary, "validate", *words], capture_output=True, text=True, timeout=30, check=False
    )


def gauge(name: str, value: float, time_ns: int) -> Metric:
    point = NumberDataPoint({"hw.id": "GPU-1\u2028\u00e9"}, None, time_ns, value)  # type: ignore[arg-type]
    return Metric(name, "what it is", "1", Gauge([point]))


def counter(
    name: str, value: float, start_ns: int, time_ns: int, *, monotonic: bool = True
) -> Metric:
    point = NumberDataPoint({"hw.id": "GPU-1"}, start_ns, time_ns, value)
    total = Sum([point], AggregationTemporality.CUMULATIVE, is_monotonic=monotonic)
    return Metric(name, "", "By", total)


def metrics_data(*metrics: Metric) -> MetricsData:
    scope = ScopeMetrics(InstrumentationScope("test", "1"), metrics, "https://example.com/1")
    resource = Resource({"host.name": "node-1", "host.cpus": 2})
    return MetricsData([ResourceMetrics(resource, [scope], "https://example.com/2")])


def send(exporter: HttpExporter | GrpcExporter, batches: Sequence[MetricsData]) -> None:
    try:
        for batch in batches:
            assert exporter.export(batch) is MetricExportResult.SUCCESS
    finally:
        exporter.shutdown()


def http_exporter(collector: Collector) -> HttpExporter:
    return HttpExporter(endpoint=f"{collector.http_endpoint}/v1/metrics", timeout=10)


def test_no_file_is_left_out_here() -> None:
    files = {path.name for path in CONFIG.glob("*.yaml")} - NOT_FOR_THE_COLLECTOR

    assert files == {COLLECTOR.name, DELTA.name}


@pytest.mark.parametrize("configs", [(COLLECTOR,), (COLLECTOR, DELTA)], ids=["alone", "delta"])
def test_the_collector_accepts_the_files(
    binary: Path, tmp_path: Path, configs: tuple[Path, ...]
) -> None:
    result = validate(binary, *configs)
    assert result.returncode == 0, result.stderr

    # The check says nothing about names that will go; the log of a start does.
    with Collector(binary, tmp_path, configs) as collector:
        collector.stop()
    assert "Everything is ready" in collector.log()
    assert "deprecated" not in collector.log()


def test_the_check_refuses_what_is_wrong(binary: Path) -> None:
    result = validate(binary, COLLECTOR, "yaml:processors::memory_limiter::limit: 1")

    assert result.returncode != 0
    assert "invalid keys: limit" in result.stderr


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_points_come_out_as_they_went_in(collector: Collector, protocol: str) -> None:
    now = time.time_ns()
    first = metrics_data(
        gauge("hw.gpu.utilization", 0.1 + 0.2, now),
        counter("hw.gpu.io", 2**62 + 1, now - SECOND, now),
    )
    second = metrics_data(gauge("hw.gpu.utilization", 1e-300, now + SECOND))
    exporter = (
        http_exporter(collector)
        if protocol == "http"
        else GrpcExporter(endpoint=collector.grpc_endpoint, insecure=True, timeout=10)
    )

    send(exporter, [first, second])

    assert collector.received() == [encode_metrics(first), encode_metrics(second)]
    assert collector.received_logs() == []


def test_the_end_of_a_series_comes_out_as_it_went_in(collector: Collector) -> None:
    request = ExportMetricsServiceRequest()
    resource_metrics = request.resource_metrics.add()
    resource_metrics.resource.attributes.add(key="host.name").value.string_value = "node-1"
    scope_metrics = resource_metrics.scope_metrics.add()
    scope_metrics.scope.name = "test"
    point = scope_metrics.metrics.add(name="hw.gpu.utilization").gauge.data_points.add()
    point.time_unix_nano = time.time_ns()
    point.flags = DataPointFlags.DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK

    with grpc.insecure_channel(collector.grpc_endpoint) as channel:
        stub = MetricsServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
        stub.Export(request, timeout=10)

    assert collector.received() == [request]


def test_events_come_out_as_they_went_in(collector: Collector) -> None:
    request = ExportLogsServiceRequest()
    resource_logs = request.resource_logs.add()
    resource_logs.resource.attributes.add(key="host.name").value.string_value = "node-1"
    scope_logs = resource_logs.scope_logs.add()
    scope_logs.scope.name = "test"
    record = scope_logs.log_records.add()
    record.time_unix_nano = time.time_ns()
    record.event_name = "hw.gpu.fault"
    record.body.string_value = "Xid 79"

    with grpc.insecure_channel(collector.grpc_endpoint) as channel:
        stub = LogsServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
        stub.Export(request, timeout=10)

    assert collector.received_logs() == [request]
    assert collector.received() == []


@pytest.mark.parametrize("end", [Collector.stop, Collector.kill], ids=["stop", "kill"])
def test_what_was_acknowledged_outlives_the_process(
    collector: Collector, end: Callable[[Collector], None]
) -> None:
    now = time.time_ns()
    before = metrics_data(gauge("hw.gpu.utilization", 0.25, now))
    after = metrics_data(gauge("hw.gpu.utilization", 0.5, now + SECOND))

    send(http_exporter(collector), [before])
    end(collector)
    assert collector.received() == [encode_metrics(before)]
    collector.start()
    send(http_exporter(collector), [after])

    assert collector.received() == [encode_metrics(before), encode_metrics(after)]


def test_a_collector_that_cannot_start_says_why(binary: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("receivers: {nosuch: {}}\n")

    with (
        pytest.raises(CollectorError, match="nosuch"),
        Collector(binary, tmp_path, [COLLECTOR, broken]),
    ):
        pass


def test_delta_converts_counters_and_nothing_else(binary: Path, tmp_path: Path) -> None:
    with Collector(binary, tmp_path, [COLLECTOR, DELTA]) as collector:
        began = time.time_ns()
        times = [began + SECOND, began + 2 * SECOND]
        long_ago = began - 3600 * SECOND
        batches = [
            metrics_data(
                counter("old", old, long_ago, at),
                counter("new", new, began, at),
                counter("memory", 7, long_ago, at, monotonic=False),
                gauge("ratio", 0.5, at),
            )
            for at, old, new in zip(times, (100, 130), (5, 12), strict=True)
        ]

        send(http_exporter(collector), batches)
        points = list(numbers(collector))

    assert points == [
        # The base of "old" is not sent: the Collector cannot know how much of it went out before.
        ("new", "delta", began, times[0], 5),
        ("memory", "cumulative", long_ago, times[0], 7),
        ("ratio", "gauge", 0, times[0], 0.5),
        ("old", "delta", times[0], times[1], 30),
        ("new", "delta", times[0], times[1], 7),
        ("memory", "cumulative", long_ago, times[1], 7),
        ("ratio", "gauge", 0, times[1], 0.5),
    ]


def numbers(collector: Collector) -> Iterator[tuple[str, str, int, int, float]]:
    temporality = {1: "delta", 2: "cumulative"}
    for request in collector.received():
        for metric in request.resource_metrics[0].scope_metrics[0].metrics:
            is_sum = metric.HasField("sum")
            kind = temporality[metric.sum.aggregation_temporality] if is_sum else "gauge"
            for point in (metric.sum if is_sum else metric.gauge).data_points:
                value = point.as_int if point.HasField("as_int") else point.as_double
                yield metric.name, kind, point.start_time_unix_nano, point.time_unix_nano, value
