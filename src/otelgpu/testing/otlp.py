"""Decoded OTLP requests as the SDK's metrics data, so that both are checked alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

if TYPE_CHECKING:
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
        ExportMetricsServiceRequest,
    )
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.metrics.v1 import metrics_pb2

_NO_RECORDED_VALUE = 1
"""``DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK`` of OTLP."""


class NoRecordedValue(NumberDataPoint):
    """A point that ends its stream; its value means nothing."""


def from_otlp(request: ExportMetricsServiceRequest) -> MetricsData:
    """Return the metrics of a request.

    Histograms and summaries, which the convention does not use, come without their points.

    Raises:
        ValueError: a point, scope or Resource has an attribute twice, or a number without a value.
    """
    return MetricsData(
        [
            ResourceMetrics(
                # not Resource.create: it would add what the sender never sent
                resource=Resource(_attributes(r.resource.attributes), r.schema_url),
                scope_metrics=[
                    ScopeMetrics(
                        scope=InstrumentationScope(s.scope.name, s.scope.version, s.schema_url),
                        metrics=[_metric(m) for m in s.metrics],
                        schema_url=s.schema_url,
                    )
                    for s in r.scope_metrics
                ],
                schema_url=r.schema_url,
            )
            for r in request.resource_metrics
        ]
    )


def _metric(metric: metrics_pb2.Metric) -> Metric:
    kind = metric.WhichOneof("data")
    data: Sum | Gauge | Histogram
    if kind == "gauge":
        data = Gauge(_points(metric.name, metric.gauge.data_points))
    elif kind == "sum":
        data = Sum(
            _points(metric.name, metric.sum.data_points),
            _temporality(metric.sum.aggregation_temporality),
            metric.sum.is_monotonic,
        )
    else:
        data = Histogram([], AggregationTemporality.CUMULATIVE)
    return Metric(metric.name, metric.description, metric.unit, data)


def _temporality(value: int) -> AggregationTemporality:
    try:
        return AggregationTemporality(value)
    except ValueError:
        return AggregationTemporality.UNSPECIFIED


def _points(name: str, points: Iterable[metrics_pb2.NumberDataPoint]) -> Sequence[NumberDataPoint]:
    return [_point(name, point) for point in points]


def _point(name: str, point: metrics_pb2.NumberDataPoint) -> NumberDataPoint:
    field = point.WhichOneof("value")
    ended = bool(point.flags & _NO_RECORDED_VALUE)
    if field is None and not ended:
        raise ValueError(f"{name}: a point has neither a value nor the no-recorded-value flag")
    return (NoRecordedValue if ended else NumberDataPoint)(
        attributes=_attributes(point.attributes, name),
        start_time_unix_nano=point.start_time_unix_nano,
        time_unix_nano=point.time_unix_nano,
        value=0 if field is None else getattr(point, field),
    )


def _attributes(pairs: Iterable[KeyValue], name: str = "Resource") -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for pair in pairs:
        if pair.key in attributes:
            raise ValueError(f"{name}: attribute {pair.key} stands twice")
        attributes[pair.key] = _value(pair.value)
    return attributes


def _value(value: AnyValue) -> Any:
    field = value.WhichOneof("value")
    if field is None:
        return None
    if field == "array_value":
        return tuple(_value(v) for v in value.array_value.values)
    if field == "kvlist_value":
        return tuple((pair.key, _value(pair.value)) for pair in value.kvlist_value.values)
    return getattr(value, field)
