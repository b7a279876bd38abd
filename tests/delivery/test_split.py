from __future__ import annotations

from hypothesis import given
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from tests.delivery.samples import SCHEMA_URL, batches, event_batch

from otelgpu.delivery.encoder import MetricsEncoder
from otelgpu.delivery.events import EventsEncoder
from otelgpu.delivery.split import POINTS, RECORDS, halve
from otelgpu.points.batch import Batch


def described(payload: bytes) -> list[tuple[bytes, ...]]:
    """Return each point with all that is said of it: resource, scope and metric."""
    found: list[tuple[bytes, ...]] = []
    for resource in ExportMetricsServiceRequest.FromString(payload).resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                kind = metric.WhichOneof("data")
                data = getattr(metric, str(kind))
                points = list(data.data_points)
                assert points, "an empty metric"
                del data.data_points[:]
                about = (
                    resource.resource.SerializeToString(),
                    resource.schema_url.encode(),
                    scope.scope.SerializeToString(),
                    scope.schema_url.encode(),
                    metric.SerializeToString(),
                )
                found += [(*about, point.SerializeToString()) for point in points]
    return found


@given(batches(max_ended=3).filter(lambda sample: len(sample) > 1))
def test_two_halves_are_the_whole_in_order(sample: Batch) -> None:
    (whole,) = MetricsEncoder(SCHEMA_URL).encode(sample)
    left, right = halve(whole.payload, POINTS, whole.count)
    assert left.count == whole.count // 2
    assert left.count + right.count == whole.count
    first, second = described(left.payload), described(right.payload)
    assert (len(first), len(second)) == (left.count, right.count)
    assert first + second == described(whole.payload)


def test_log_records_are_split_too() -> None:
    (whole,) = EventsEncoder(SCHEMA_URL).encode(event_batch(5))
    left, right = halve(whole.payload, RECORDS, whole.count)
    requests = [ExportLogsServiceRequest.FromString(half.payload) for half in (left, right)]
    bodies = [
        [record.body.string_value for record in request.resource_logs[0].scope_logs[0].log_records]
        for request in requests
    ]
    assert bodies == [[f"XID 79 {n}" for n in range(2)], [f"XID 79 {n}" for n in range(2, 5)]]
    assert (left.count, right.count) == (2, 3)
    assert {request.resource_logs[0].scope_logs[0].schema_url for request in requests} == {
        SCHEMA_URL
    }
