"""Batches as objects of the OpenTelemetry SDK. For the edges only: they cost a microsecond a point.

Importing this module imports the SDK.
"""

from __future__ import annotations

from opentelemetry.sdk.metrics import export as sdk
from opentelemetry.sdk.resources import Resource as SdkResource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

import otelgpu
from otelgpu.points.batch import Batch
from otelgpu.points.metric import Instrument, Metric, ValueType


def to_metrics_data(batch: Batch, schema_url: str | None = None) -> sdk.MetricsData:
    """Return the points of ``batch``; metrics are in the order in which they are first seen.

    ``schema_url`` is the scope's, our convention's where not given. Ended streams are left out:
    the SDK's point has no place for the *no recorded value* flag.
    """
    points: dict[Metric, list[sdk.NumberDataPoint]] = {}
    for stream, value, start in batch.points:
        metric = stream.metric
        number = int(value) if metric.value_type is ValueType.INT else float(value)
        point = sdk.NumberDataPoint(dict(stream.attributes), start, batch.time, number)
        points.setdefault(metric, []).append(point)
    url = _schema_url() if schema_url is None else schema_url
    scope = sdk.ScopeMetrics(
        scope=InstrumentationScope(otelgpu.__name__, otelgpu.__version__, url),
        metrics=[_metric(metric, of_metric) for metric, of_metric in points.items()],
        schema_url=url,
    )
    resource = SdkResource(dict(batch.resource.attributes), batch.resource.schema_url)
    return sdk.MetricsData([sdk.ResourceMetrics(resource, [scope], resource.schema_url)])


def _metric(metric: Metric, points: list[sdk.NumberDataPoint]) -> sdk.Metric:
    data: sdk.Gauge | sdk.Sum = sdk.Gauge(points)
    if metric.instrument is not Instrument.GAUGE:
        monotonic = metric.instrument is Instrument.COUNTER
        data = sdk.Sum(points, sdk.AggregationTemporality.CUMULATIVE, monotonic)
    return sdk.Metric(metric.name, metric.brief, metric.unit, data)


def _schema_url() -> str:
    from otelgpu.semconv.metrics import SCHEMA_URL  # noqa: PLC0415  points know no convention

    return SCHEMA_URL
