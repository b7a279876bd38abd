"""Batches as the SDK's objects."""

from __future__ import annotations

from opentelemetry.sdk.metrics.export import Gauge, Sum

from otelgpu.points.batch import Batch
from otelgpu.points.metric import Instrument, Metric, ValueType
from otelgpu.points.resource import Resource
from otelgpu.points.sdk import to_metrics_data
from otelgpu.points.stream import Stream

GAUGE = Metric("g", "W", Instrument.GAUGE, ValueType.DOUBLE, "gauge")
COUNTER = Metric("c", "By", Instrument.COUNTER, ValueType.INT, "counter")
UPDOWN = Metric("u", "{x}", Instrument.UPDOWNCOUNTER, ValueType.INT, "updown")


def test_every_instrument() -> None:
    one, two = Stream(GAUGE, {"n": 1}), Stream(GAUGE, {"n": 2})
    count, level = Stream(COUNTER, {}), Stream(UPDOWN, {})
    over = Stream(GAUGE, {"n": 3})
    resource = Resource({"host.name": "node"}, "https://example.com/r")
    points = [(one, 1, 0), (count, 5.0, 40), (two, 2.5, 0), (level, -1, 0)]
    data = to_metrics_data(Batch("s", 50, resource, points, [over]), "https://example.com/s")
    (of_resource,) = data.resource_metrics
    assert dict(of_resource.resource.attributes) == {"host.name": "node"}
    assert of_resource.schema_url == "https://example.com/r"
    (scope,) = of_resource.scope_metrics
    assert (scope.scope.name, scope.schema_url) == ("otelgpu", "https://example.com/s")
    gauge, counter, updown = scope.metrics
    assert isinstance(gauge.data, Gauge)
    assert [(p.attributes, p.value, p.time_unix_nano) for p in gauge.data.data_points] == [
        ({"n": 1}, 1.0, 50),
        ({"n": 2}, 2.5, 50),
    ]
    assert all(type(point.value) is float for point in gauge.data.data_points)
    assert isinstance(counter.data, Sum)
    assert isinstance(updown.data, Sum)
    assert (counter.data.is_monotonic, updown.data.is_monotonic) == (True, False)
    (point,) = counter.data.data_points
    assert (point.value, type(point.value), point.start_time_unix_nano) == (5, int, 40)
