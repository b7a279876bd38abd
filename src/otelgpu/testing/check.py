"""Check points against the convention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Metric,
    MetricsData,
    NumberDataPoint,
    Sum,
)

from otelgpu.points.metric import Instrument
from otelgpu.points.metric import Metric as Definition
from otelgpu.semconv.metrics import ALL
from otelgpu.semconv.promname import metric_name
from otelgpu.testing.attributes import attribute_findings
from otelgpu.testing.otlp import NoRecordedValue
from otelgpu.testing.values import time_findings, value_findings

_DEFINITIONS = {metric.name: metric for metric in ALL}


def check_points(data: MetricsData, *, several_times: bool = False) -> list[str]:
    """Return one line for each breach of the convention, empty when there is none.

    Checked are: known metric, instrument, cumulative temporality, unit, type and range of the
    value, times (ns since the Unix epoch), required, undeclared and mistyped attributes, values of
    enumerations, and that no stream stands twice. A point with the *no recorded value* flag, as
    ``from_otlp`` makes it, is checked for all but its value. Conditionally required attributes are
    allowed and not asked for. The data of one collection have each stream once;
    ``several_times`` allows it once for each time, as in a request that holds several batches.
    """
    seen: set[Any] = set()
    return [
        finding
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for finding in _metric(metric, resource.resource.attributes, seen, several_times)
    ]


def assert_points(data: MetricsData, *, several_times: bool = False) -> None:
    """Check points as ``check_points`` does.

    Raises:
        AssertionError: with every finding, or because there is no point to check.
    """
    findings = check_points(data, several_times=several_times)
    metrics = (m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics)
    if not any(metric.data.data_points for metric in metrics):
        findings.append("there is no point to check")
    if findings:
        raise AssertionError("\n".join(findings))


def _metric(
    metric: Metric, resource: Mapping[str, Any], seen: set[Any], several_times: bool
) -> Iterator[str]:
    definition = _DEFINITIONS.get(metric.name)
    if definition is None:
        yield f"{metric.name}: unknown metric{_hint(metric.name)}"
        return
    if metric.unit != definition.unit:
        yield f"{metric.name}: unit is {metric.unit!r}, not {definition.unit!r}"
    data = metric.data
    kind = _kind(data)
    if kind != definition.instrument.value:
        yield f"{metric.name}: is a {kind}, not a {definition.instrument.value}"
    if not isinstance(data, Gauge | Sum):
        return
    if isinstance(data, Sum) and data.aggregation_temporality != AggregationTemporality.CUMULATIVE:
        yield f"{metric.name}: a sum is cumulative, not {data.aggregation_temporality.name.lower()}"
    if not data.data_points:
        yield f"{metric.name}: metric without points"
    for point in data.data_points:
        label = f"{metric.name}{dict(point.attributes or {})}"
        findings = _point(definition, point, resource, seen, several_times)
        yield from (f"{label}: {finding}" for finding in findings)


def _point(
    definition: Definition,
    point: NumberDataPoint,
    resource: Mapping[str, Any],
    seen: set[Any],
    several_times: bool,
) -> Iterator[str]:
    attributes = point.attributes or {}
    yield from attribute_findings(definition.name, attributes)
    yield from time_findings(point, definition.instrument)
    if not isinstance(point, NoRecordedValue):
        yield from value_findings(point.value, definition)
    stream = (
        definition.name,
        _identity(attributes),
        _identity(resource),
        point.time_unix_nano if several_times else None,
    )
    if stream in seen:
        yield "stream stands twice"
    seen.add(stream)


def _kind(data: Any) -> str:
    if isinstance(data, Gauge):
        return Instrument.GAUGE.value
    if isinstance(data, Sum):
        return Instrument.COUNTER.value if data.is_monotonic else Instrument.UPDOWNCOUNTER.value
    return type(data).__name__.lower()


def _identity(attributes: Mapping[str, Any]) -> frozenset[tuple[str, type, str]]:
    return frozenset((key, type(value), repr(value)) for key, value in attributes.items())


def _hint(name: str) -> str:
    for known in ALL:
        if name == metric_name(known.name, known.unit, known.instrument):
            return f"; that is the Prometheus name of {known.name}"
    return ""
