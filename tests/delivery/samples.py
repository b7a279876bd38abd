"""Batches for the tests of delivery, and hypothesis strategies of them."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from otelgpu.points.batch import Batch, Point
from otelgpu.points.event import Event, EventBatch, Severity
from otelgpu.points.metric import Instrument, Metric, ValueType
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Stream

TIME = 1_700_000_000_000_000_000
SCHEMA_URL = "https://example.com/schemas/1"
RESOURCE = Resource({"host.name": "node-1", "service.instance.id": "a"}, "https://example.com/r/1")
POWER = Metric("hw.gpu.power", "W", Instrument.GAUGE, ValueType.DOUBLE, "Power drawn now.")
IO = Metric("hw.gpu.io", "By", Instrument.COUNTER, ValueType.INT, "Bytes moved.")
MEMORY = Metric("hw.gpu.memory", "By", Instrument.UPDOWNCOUNTER, ValueType.INT, "In use.")

_times = itertools.count(TIME, 1_000_000_000)


def batch(points: int, *, ended: int = 0, time: int = 0) -> Batch:
    """Return a batch of power readings, one a GPU, and streams that are over."""
    made: list[Point] = [
        (Stream(POWER, {"hw.id": f"gpu-{number}"}), float(number), 0) for number in range(points)
    ]
    over = [Stream(POWER, {"hw.id": f"gone-{number}"}) for number in range(ended)]
    return Batch("nvml", time or next(_times), RESOURCE, made, over)


def event_batch(events: int) -> EventBatch:
    made = [
        Event("hw.gpu.fault", TIME, TIME + 1, Severity.ERROR, f"XID 79 {n}", {"code": 79, "n": n})
        for n in range(events)
    ]
    return EventBatch("nvml", RESOURCE, made)


# Surrogates are left to a test of their own: the standard encoder raises on them.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
attribute_values = (
    text | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.floats(allow_nan=False)
)
attributes = st.dictionaries(text, attribute_values, max_size=4)
metrics = st.builds(
    Metric, text.filter(bool), text, st.sampled_from(Instrument), st.sampled_from(ValueType), text
)
times = st.integers(1, (1 << 63) - 1)


@st.composite
def batches(draw: st.DrawFn, max_ended: int = 0) -> Batch:
    """Draw a batch whose streams share metrics, in any order; only counters have a start."""
    pool = draw(st.lists(metrics, min_size=1, max_size=4))
    points: list[Point] = []
    for _ in range(draw(st.integers(0, 8))):
        metric = draw(st.sampled_from(pool))
        integer = metric.value_type is ValueType.INT
        value = draw(
            st.integers(-(1 << 63), (1 << 63) - 1)
            if integer
            else st.floats(allow_nan=False, allow_infinity=False)
        )
        start = draw(st.just(0) | times) if metric.instrument is Instrument.COUNTER else 0
        points.append((Stream(metric, draw(attributes)), value, start))
    ended = [
        Stream(draw(st.sampled_from(pool)), draw(attributes))
        for _ in range(draw(st.integers(0, max_ended)))
    ]
    keys = text.filter(bool)  # the SDK's Resource takes no empty key
    resource = Resource(draw(st.dictionaries(keys, attribute_values, max_size=4)), draw(text))
    return Batch("source", draw(times), resource, points, ended)
