from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    InMemoryMetricReader,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from otelgpu.testing import assert_points, check_points

DEVICE = {"hw.type": "gpu", "hw.id": "GPU-1"}
CUMULATIVE, DELTA = AggregationTemporality.CUMULATIVE, AggregationTemporality.DELTA
TIME = 1_700_000_000_000_000_000


def point(
    value: Any, attributes: dict[str, Any] | None = None, start: int = TIME, time: int = TIME
) -> NumberDataPoint:
    return NumberDataPoint(DEVICE | (attributes or {}), start, time, value)


def gauge(name: str, unit: str, *points: NumberDataPoint) -> Metric:
    return Metric(name, "", unit, Gauge(points))


def total(
    name: str,
    unit: str,
    *points: NumberDataPoint,
    monotonic: bool = True,
    temporality: AggregationTemporality = CUMULATIVE,
) -> Metric:
    return Metric(name, "", unit, Sum(points, temporality, monotonic))


def data(*metrics: Metric, host: str = "a") -> MetricsData:
    scope = ScopeMetrics(InstrumentationScope("test"), metrics, "")
    return MetricsData([ResourceMetrics(Resource({"host.name": host}), [scope], "")])


UTILIZATION = {"hw.gpu.task": "general"}
PROCESS: dict[str, Any] = {"hw.id": "GPU-1", "process.pid": 42}
HOLDER = {"hw.gpu.holder.type": "k8s_container", "k8s.pod.label.app.kubernetes.io/name": "x"}

CLEAN = [
    gauge("hw.power", "W", point(70.5)),
    gauge("hw.gpu.utilization", "1", point(0.5, UTILIZATION), point(1.0, {"hw.gpu.task": "jpeg"})),
    gauge("hw.temperature", "Cel", point(-3.0, {"hw.sensor_location": "gpu"})),
    total("hw.energy", "J", point(1e9, start=TIME - 5)),
    total("hw.gpu.memory.usage", "By", point(5, start=0), monotonic=False),
    total("hw.status", "1", point(1, {"hw.state": "ok"}), monotonic=False),
    total("hw.gpu.allocation.count", "{allocation}", point(1, HOLDER), monotonic=False),
    total(
        "process.gpu.memory.usage", "By", NumberDataPoint(PROCESS, 0, TIME, 7), monotonic=False
    ),
    total("otelgpu.scrape.dropped", "{data_point}",
          NumberDataPoint({"error.type": "any reason"}, TIME, TIME, 1)),
]  # fmt: skip


def test_clean_points_have_no_findings() -> None:
    assert check_points(data(*CLEAN)) == []
    assert_points(data(*CLEAN))


BROKEN = [
    (gauge("hw.gpu.warmth", "W", point(1.0)), "hw.gpu.warmth: unknown metric"),
    (gauge("hw_power_watts", "W", point(1.0)), "that is the Prometheus name of hw.power"),
    (gauge("hw.power", "mW", point(1.0)), "hw.power: unit is 'mW', not 'W'"),
    (total("hw.power", "W", point(1.0)), "hw.power: is a counter, not a gauge"),
    (gauge("hw.energy", "J", point(1.0)), "hw.energy: is a gauge, not a counter"),
    (total("hw.energy", "J", point(1.0), monotonic=False), "is a updowncounter, not a counter"),
    (total("hw.energy", "J", point(1.0), temporality=DELTA), "a sum is cumulative, not delta"),
    (Metric("hw.power", "", "W", Histogram([], CUMULATIVE)), "is a histogram, not a gauge"),
    (gauge("hw.power", "W"), "hw.power: metric without points"),
    (gauge("hw.power", "W", point(1)), "value 1 is of type int, not float"),
    (total("hw.errors", "{error}", point(1.0, {"error.type": "corrected"})),
         "of type float, not int"),
    (total("hw.errors", "{error}", point(True, {"error.type": "corrected"})),
         "of type bool, not int"),
    (gauge("hw.power", "W", point(float("nan"))), "value nan is not finite"),
    (gauge("hw.power", "W", point(float("inf"))), "value inf is not finite"),
    (gauge("hw.power", "W", point(-1.0)), "value -1.0 W is out of the range 0 to 20000"),
    (gauge("hw.gpu.utilization", "1", point(99.0, UTILIZATION)), "out of the range 0 to 1"),
    (gauge("hw.gpu.utilization", "1", point(0.5)), "required attribute hw.gpu.task is missing"),
    (gauge("hw.power", "W", NumberDataPoint({}, 0, TIME, 1.0)),
         "required attribute hw.id is missi"),
    (gauge("hw.power", "W", NumberDataPoint(None, 0, TIME, 1.0)), "attribute hw.type is missing"),
    (gauge("hw.power", "W", point(1.0, {"gpu": "0"})), "attribute gpu is not declared"),
    (gauge("hw.power", "W", point(1.0, UTILIZATION)), "attribute hw.gpu.task is not declared"),
    (total("hw.energy", "J", point(1.0, {"k8s.pod.name": "p"})),
         "attribute k8s.pod.name is not decl"),
    (gauge("hw.power", "W", point(1.0, {"k8s.pod.label": "p"})), "k8s.pod.label is not declared"),
    (gauge("hw.power", "W", point(1.0, {"k8s.pod.label.": "p"})), "k8s.pod.label. is not declared"),
    (gauge("hw.power", "W", point(1.0, {"k8s.pod.label.a": 1})), "is of type int, not str"),
    (total("process.gpu.memory.usage", "By",
           NumberDataPoint({"hw.id": "x", "process.pid": "1"}, 0, TIME, 1), monotonic=False),
     "attribute process.pid is of type str, not int"),
    (gauge("hw.gpu.utilization", "1", point(0.5, {"hw.gpu.task": "gaming"})),
         "value 'gaming', none"),
    (gauge("hw.power", "W", point(1.0, {"hw.type": "cpu"})),
         "hw.type has the value 'cpu', none of"),
    (total("hw.errors", "{error}", point(1, {"error.type": "replay"})),
         "value 'replay', none of corr"),
    (gauge("hw.power", "W", point(1.0, {"hw.model": ""})), "attribute hw.model is empty"),
    (gauge("hw.power", "W", point(1.0), point(2.0)), "stream stands twice"),
    (gauge("hw.power", "W", point(1.0, time=TIME), point(2.0, time=TIME + 1)),
         "stream stands twice"),
    (gauge("hw.power", "W", point(1.0, start=TIME + 1)), "is later than time"),
    (gauge("hw.power", "W", point(1.0, start=0, time=0)), "time is missing"),
    (total("hw.energy", "J", point(1.0, start=0)), "a counter's start time is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "expected"), BROKEN)
def test_a_breach_is_found(metric: Metric, expected: str) -> None:
    found = check_points(data(metric))
    assert any(expected in finding for finding in found), found
    assert all(finding.startswith(metric.name) for finding in found)
    with pytest.raises(AssertionError):
        assert_points(data(metric))


def test_a_finding_on_a_point_names_metric_and_attributes() -> None:
    (found,) = check_points(data(gauge("hw.power", "W", point(-1.0))))
    assert found.startswith("hw.power{'hw.type': 'gpu', 'hw.id': 'GPU-1'}: value -1.0")


def test_all_findings_are_raised_at_once() -> None:
    broken = data(gauge("hw.power", "mW", point(-1.0)), gauge("x", "", point(1.0)))
    with pytest.raises(AssertionError) as caught:
        assert_points(broken)
    assert len(str(caught.value).splitlines()) == len(check_points(broken)) == 3


def test_nothing_to_check_is_no_success() -> None:
    assert check_points(data()) == []
    with pytest.raises(AssertionError, match="there is no point to check"):
        assert_points(data())


def test_the_same_stream_in_another_metric_object_stands_twice() -> None:
    metric = gauge("hw.power", "W", point(1.0))
    assert any("stream stands twice" in f for f in check_points(data(metric, metric)))


def test_the_same_stream_of_two_resources_is_two_streams() -> None:
    metric = gauge("hw.power", "W", point(1.0))
    both = [*data(metric, host="a").resource_metrics, *data(metric, host="b").resource_metrics]
    assert check_points(MetricsData(both)) == []


def test_several_batches_may_hold_a_stream_once_for_each_time() -> None:
    later = gauge("hw.power", "W", point(1.0), point(1.0, time=TIME + 1))
    assert check_points(data(later), several_times=True) == []
    assert check_points(data(later)) != []
    again = gauge("hw.power", "W", point(1.0), point(1.0))
    assert check_points(data(again), several_times=True) != []


def test_points_of_the_sdks_own_instruments_are_checked() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    meter = provider.get_meter("third-party")
    meter.create_gauge("hw.power", "W").set(70.5, DEVICE)
    meter.create_up_down_counter("hw.gpu.memory.usage", "By").add(5, DEVICE)
    meter.create_counter("hw.errors", "{error}").add(2, {**DEVICE, "error.type": "corrected"})
    collected = reader.get_metrics_data()
    provider.shutdown()
    assert isinstance(collected, MetricsData)
    assert_points(collected)
