"""Batches as OTLP/JSON: what a person or a script reads, by no means the fast way.

Rules: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import otelgpu
from otelgpu.delivery import wire
from otelgpu.points.batch import Batch
from otelgpu.points.metric import Instrument, Metric, ValueType
from otelgpu.points.stream import Attributes, AttributeValue, Stream

_CUMULATIVE = 2
_NO_RECORDED_VALUE = 1

Json = dict[str, Any]


def to_otlp_json(batch: Batch, schema_url: str) -> Json:
    """Return ``batch`` as an ``ExportMetricsServiceRequest`` for ``json.dumps``.

    It says the same as the encoder's bytes: ended streams are points without a value.
    """
    points: dict[Metric, list[Json]] = {}
    for stream, value, start in batch.points:
        point = _point(stream, batch.time)
        if start:
            point["startTimeUnixNano"] = str(start)
        if stream.metric.value_type is ValueType.INT:
            point["asInt"] = str(int(value))
        else:
            point["asDouble"] = _double(float(value))
        points.setdefault(stream.metric, []).append(point)
    for stream in batch.ended:
        point = {**_point(stream, batch.time), "flags": _NO_RECORDED_VALUE}
        points.setdefault(stream.metric, []).append(point)
    scope = {
        "scope": {"name": otelgpu.__name__, "version": otelgpu.__version__},
        "metrics": [_metric(metric, of_metric) for metric, of_metric in points.items()],
        **_url(schema_url),
    }
    resource = {
        "resource": {"attributes": _attributes(batch.resource.attributes)},
        "scopeMetrics": [scope],
        **_url(batch.resource.schema_url),
    }
    return {"resourceMetrics": [resource]}


def _point(stream: Stream, time: int) -> Json:
    return {"attributes": _attributes(stream.attributes), "timeUnixNano": str(time)}


def _metric(metric: Metric, points: list[Json]) -> Json:
    described = {"name": metric.name, "description": metric.brief, "unit": metric.unit}
    if metric.instrument is Instrument.GAUGE:
        return {**described, "gauge": {"dataPoints": points}}
    total: Json = {"dataPoints": points, "aggregationTemporality": _CUMULATIVE}
    if metric.instrument is Instrument.COUNTER:
        total["isMonotonic"] = True
    return {**described, "sum": total}


def _attributes(attributes: Attributes) -> list[Json]:
    return [{"key": key, "value": _any_value(value)} for key, value in attributes.items()]


def _any_value(value: AttributeValue) -> Mapping[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int) and wire.INT64_MIN <= value <= wire.INT64_MAX:
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": _double(value)}
    return {"stringValue": str(value)}


def _double(value: float) -> float | str:
    """JSON has no number for these three; protobuf's mapping writes them as strings."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _url(schema_url: str) -> Json:
    return {"schemaUrl": schema_url} if schema_url else {}
