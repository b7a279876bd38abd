"""What the convention says of a point's value and times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from opentelemetry.sdk.metrics.export import NumberDataPoint

from otelgpu.points.metric import Instrument, Metric, ValueType


def value_findings(value: Any, metric: Metric) -> Iterator[str]:
    """Yield what is wrong with a value in the unit of its metric."""
    expected = int if metric.value_type is ValueType.INT else float
    if type(value) is not expected:
        yield f"value {value!r} is of type {type(value).__name__}, not {expected.__name__}"
    elif not math.isfinite(value):
        yield f"value {value!r} is not finite"
    elif not metric.minimum <= value <= metric.maximum:
        bounds = f"{metric.minimum} to {metric.maximum}"
        yield f"value {value!r} {metric.unit} is out of the range {bounds}"


def time_findings(point: NumberDataPoint, instrument: Instrument) -> Iterator[str]:
    """Yield what is wrong with a point's times, in ns since the Unix epoch."""
    start, time = point.start_time_unix_nano or 0, point.time_unix_nano
    if time <= 0:
        yield "time is missing"
    if start > time:
        yield f"start time {start} is later than time {time}"
    if instrument is Instrument.COUNTER and start <= 0:
        yield "a counter's start time is missing"
