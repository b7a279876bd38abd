from __future__ import annotations

import pytest
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.metrics.v1 import metrics_pb2 as pb
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricsData

from otelgpu.testing import NoRecordedValue, assert_points, check_points, from_otlp

TIME = 1_700_000_000_000_000_000
DEVICE = {"hw.type": "gpu", "hw.id": "GPU-1"}


def pairs(attributes: dict[str, str]) -> list[KeyValue]:
    return [KeyValue(key=k, value=AnyValue(string_value=v)) for k, v in attributes.items()]


def request(*metrics: pb.Metric) -> ExportMetricsServiceRequest:
    scope = pb.ScopeMetrics(metrics=metrics)
    return ExportMetricsServiceRequest(resource_metrics=[pb.ResourceMetrics(scope_metrics=[scope])])


def power(*points: pb.NumberDataPoint) -> pb.Metric:
    return pb.Metric(name="hw.power", unit="W", gauge=pb.Gauge(data_points=points))


def ended(**attributes: str) -> pb.NumberDataPoint:
    return pb.NumberDataPoint(attributes=pairs(DEVICE | attributes), time_unix_nano=TIME, flags=1)


def test_what_the_sdks_exporter_encodes_comes_back() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    meter = provider.get_meter("third-party")
    meter.create_gauge("hw.power", "W").set(70.5, DEVICE)
    meter.create_counter("hw.errors", "{error}").add(2, {**DEVICE, "error.type": "corrected"})
    collected = reader.get_metrics_data()
    provider.shutdown()
    assert isinstance(collected, MetricsData)
    decoded = from_otlp(encode_metrics(collected))
    assert_points(decoded)
    (resource,), (original,) = decoded.resource_metrics, collected.resource_metrics
    assert dict(resource.resource.attributes) == dict(original.resource.attributes)
    for got, sent in zip(
        resource.scope_metrics[0].metrics, original.scope_metrics[0].metrics, strict=True
    ):
        assert (got.name, got.unit) == (sent.name, sent.unit)
        (g,), (s,) = got.data.data_points, sent.data.data_points
        assert (g.value, dict(g.attributes or {})) == (s.value, dict(s.attributes or {}))  # type: ignore[union-attr]
        assert g.time_unix_nano == s.time_unix_nano


def test_a_point_that_ends_its_stream_is_checked_for_its_identity_only() -> None:
    decoded = from_otlp(request(power(ended())))
    (point,) = decoded.resource_metrics[0].scope_metrics[0].metrics[0].data.data_points
    assert isinstance(point, NoRecordedValue)
    assert_points(decoded)
    assert (
        "attribute gpu is not declared"
        in check_points(from_otlp(request(power(ended(gpu="0")))))[0]
    )


def test_a_stream_does_not_end_and_go_on_at_once() -> None:
    going_on = pb.NumberDataPoint(attributes=pairs(DEVICE), time_unix_nano=TIME, as_double=1)
    findings = check_points(from_otlp(request(power(going_on, ended()))), several_times=True)
    assert any("stream stands twice" in f for f in findings)


def test_an_int_on_the_wire_is_no_double() -> None:
    point = pb.NumberDataPoint(attributes=pairs(DEVICE), time_unix_nano=TIME, as_int=1)
    assert "of type int, not float" in check_points(from_otlp(request(power(point))))[0]


def test_a_temporality_that_is_not_told_is_found() -> None:
    point = pb.NumberDataPoint(
        attributes=pairs(DEVICE), start_time_unix_nano=1, time_unix_nano=TIME, as_double=1
    )
    metric = pb.Metric(
        name="hw.energy", unit="J", sum=pb.Sum(data_points=[point], is_monotonic=True)
    )
    assert "cumulative, not unspecified" in check_points(from_otlp(request(metric)))[0]


@pytest.mark.parametrize("kind", ["histogram", "summary", "exponential_histogram"])
def test_other_kinds_of_data_are_found(kind: str) -> None:
    metric = pb.Metric(name="hw.power", unit="W")
    getattr(metric, kind).SetInParent()
    assert check_points(from_otlp(request(metric))) == ["hw.power: is a histogram, not a gauge"]


def test_values_that_no_attribute_has_are_found() -> None:
    point = pb.NumberDataPoint(attributes=pairs(DEVICE), time_unix_nano=TIME, as_double=1)
    items = ArrayValue(values=[AnyValue(string_value="a")])
    point.attributes.append(KeyValue(key="hw.model", value=AnyValue(array_value=items)))
    point.attributes.append(KeyValue(key="hw.name", value=AnyValue()))
    findings = check_points(from_otlp(request(power(point))))
    assert any("hw.model is of type tuple" in f for f in findings)
    assert any("hw.name is of type NoneType" in f for f in findings)


def test_an_attribute_that_stands_twice_is_malformed() -> None:
    point = pb.NumberDataPoint(attributes=[*pairs(DEVICE), *pairs(DEVICE)], as_double=1)
    with pytest.raises(ValueError, match=r"hw\.power: attribute hw\.type stands twice"):
        from_otlp(request(power(point)))


def test_a_point_without_value_and_flag_is_malformed() -> None:
    with pytest.raises(ValueError, match="neither a value nor the no-recorded-value flag"):
        from_otlp(request(power(pb.NumberDataPoint(time_unix_nano=TIME))))
