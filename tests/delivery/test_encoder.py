from __future__ import annotations

import gc
import weakref

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import DataPointFlags, NumberDataPoint
from opentelemetry.sdk.metrics.export import NumberDataPoint as SdkPoint
from tests.delivery.samples import IO, MEMORY, POWER, RESOURCE, SCHEMA_URL, TIME, batch, batches

from otelgpu.delivery.encoder import MetricsEncoder
from otelgpu.points.batch import Batch
from otelgpu.points.sdk import to_metrics_data
from otelgpu.points.stream import Stream


def decoded(payload: bytes) -> ExportMetricsServiceRequest:
    return ExportMetricsServiceRequest.FromString(payload)


def data_points(request: ExportMetricsServiceRequest) -> list[tuple[str, NumberDataPoint]]:
    return [
        (metric.name, point)
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in (*metric.gauge.data_points, *metric.sum.data_points)
    ]


@given(batches())
def test_bytes_are_those_of_the_standard_encoder(sample: Batch) -> None:
    expected: Message = encode_metrics(to_metrics_data(sample, SCHEMA_URL))
    encoder = MetricsEncoder(SCHEMA_URL)
    for _ in range(2):  # the second time from what the first has kept
        payloads = [one.payload for one in encoder.encode(sample)]
        assert payloads == ([expected.SerializeToString()] if sample.points else [])


@given(batches(max_ended=4))
def test_ended_streams_are_points_without_a_value_that_say_so(sample: Batch) -> None:
    encoder = MetricsEncoder(SCHEMA_URL)
    made = list(encoder.encode(sample))
    assert sum(one.count for one in made) == len(sample)
    points = [found for one in made for found in data_points(decoded(one.payload))]
    over = [(name, point) for name, point in points if point.flags]
    assert len(points) - len(over) == len(sample.points)
    assert sorted(name for name, _ in over) == sorted(s.metric.name for s in sample.ended)
    for _, point in over:
        assert point.flags == DataPointFlags.DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK
        assert point.WhichOneof("value") is None
        assert point.time_unix_nano == sample.time
    attributes = sorted(
        [(kv.key, kv.value.WhichOneof("value")) for kv in p.attributes] for _, p in over
    )
    expected = [list(stream.attributes) for stream in sample.ended]
    assert sorted([key for key, _ in one] for one in attributes) == sorted(expected)


@given(batches(max_ended=3), st.integers(1, 5))
def test_no_request_is_larger_than_the_limit_and_none_is_lost(sample: Batch, limit: int) -> None:
    whole = [found for one in MetricsEncoder("").encode(sample) for found in points_of(one.payload)]
    parts = list(MetricsEncoder("").encode(sample, limit))
    assert all(0 < one.count <= limit for one in parts)
    for one in parts:
        assert len(points_of(one.payload)) == one.count
    found = [point for one in parts for point in points_of(one.payload)]
    assert sorted(found) == sorted(whole)


def points_of(payload: bytes) -> list[bytes]:
    return [
        name.encode() + point.SerializeToString() for name, point in data_points(decoded(payload))
    ]


def test_no_metric_is_empty() -> None:
    (made,) = MetricsEncoder("").encode(batch(0, ended=1))
    (metric,) = decoded(made.payload).resource_metrics[0].scope_metrics[0].metrics
    assert len(metric.gauge.data_points) == 1
    assert not list(MetricsEncoder("").encode(batch(0)))


@pytest.mark.parametrize("value", [1 << 63, float("inf"), float("nan")])
def test_an_integer_that_does_not_fit_loses_its_point_alone(value: float) -> None:
    sample = Batch(
        "s", TIME, RESOURCE, [(Stream(IO, {}), value, TIME), (Stream(MEMORY, {}), 7.0, 0)]
    )
    (made,) = MetricsEncoder("").encode(sample)
    assert (made.count, made.skipped) == (1, 1)
    ((name, point),) = data_points(decoded(made.payload))
    assert (name, point.as_int) == ("hw.gpu.memory", 7)


def test_text_that_utf8_cannot_hold_and_numbers_past_int64_do_not_lose_the_point() -> None:
    stream = Stream(POWER, {"name": "a\ud800b", "big": 1 << 64})
    (made,) = MetricsEncoder("").encode(Batch("s", TIME, RESOURCE, [(stream, 1.0, 0)]))
    ((_, point),) = data_points(decoded(made.payload))
    assert [kv.value.string_value for kv in point.attributes] == ["a?b", str(1 << 64)]


@settings(max_examples=20)
@given(batches(max_ended=3))
def test_a_batch_can_be_encoded_after_another_resource(sample: Batch) -> None:
    encoder = MetricsEncoder(SCHEMA_URL)
    (first,) = encoder.encode(batch(1, time=TIME))
    list(encoder.encode(sample))
    (again,) = encoder.encode(batch(1, time=TIME))
    assert first == again


def test_what_is_kept_for_a_stream_is_freed_when_it_has_ended() -> None:
    encoder = MetricsEncoder("")
    stream = Stream(POWER, {"hw.id": "gpu-0"})
    list(encoder.encode(Batch("s", TIME, RESOURCE, [(stream, 1.0, 0)])))
    gone = weakref.ref(stream)
    del stream
    gc.collect()
    alive = gone()
    assert alive is not None
    list(encoder.encode(Batch("s", TIME + 1, RESOURCE, [], [alive])))
    del alive
    gc.collect()
    assert gone() is None


def test_what_is_kept_is_freed_too_when_the_end_is_never_encoded() -> None:
    encoder = MetricsEncoder("")
    stream = Stream(POWER, {"hw.id": "gpu-0"})
    list(encoder.encode(Batch("s", TIME, RESOURCE, [(stream, 1.0, 0)])))
    encoder.forget()
    gone = weakref.ref(stream)
    del stream
    gc.collect()
    assert gone() is None


def test_the_sdk_has_what_the_registry_says() -> None:
    sample = Batch("s", TIME, RESOURCE, [(Stream(IO, {"a": "b"}), 3.0, TIME - 1)], [])
    data = to_metrics_data(sample)
    scope = data.resource_metrics[0].scope_metrics[0]
    assert scope.scope.name == "otelgpu"
    assert scope.schema_url.startswith("https://")
    (metric,) = scope.metrics
    assert (metric.name, metric.unit, metric.description) == (IO.name, IO.unit, IO.brief)
    (point,) = metric.data.data_points
    assert isinstance(point, SdkPoint)
    assert point.value == 3
    assert isinstance(point.value, int)
    assert point.start_time_unix_nano == TIME - 1
