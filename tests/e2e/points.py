"""Received points by what they say."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import frozen
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import Gauge, Metric, Sum


@frozen
class Received:
    """One data point as it arrived."""

    metric: str
    attributes: Mapping[str, Any]
    time: int
    value: float | None
    """None for the point that ends a stream."""


def points(requests: Iterable[ExportMetricsServiceRequest]) -> Iterator[Received]:
    """Yields all points of all requests, oldest first."""
    for request in requests:
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in _data(metric).data_points:
                        attributes = {
                            a.key: getattr(a.value, str(a.value.WhichOneof("value")))
                            for a in point.attributes
                        }
                        kind = point.WhichOneof("value")
                        value = None if kind is None else getattr(point, kind)
                        yield Received(metric.name, attributes, point.time_unix_nano, value)


def _data(metric: Metric) -> Gauge | Sum:
    return metric.gauge if metric.HasField("gauge") else metric.sum


def of(device: str, metric: str, found: Iterable[Received], **attributes: Any) -> list[Received]:
    """Gives the points of one device and metric; attributes with _ for dots must match."""
    wanted = {"hw.id": device, **{k.replace("_", "."): v for k, v in attributes.items()}}
    return [
        p
        for p in found
        if p.metric == metric and all(p.attributes.get(k) == v for k, v in wanted.items())
    ]
