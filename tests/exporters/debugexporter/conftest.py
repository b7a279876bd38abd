from __future__ import annotations

import logging
import time
from collections.abc import Callable

import pytest

from otelgpu.component import Settings
from otelgpu.points.batch import Batch, Point
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Streams
from otelgpu.semconv import metrics as m
from otelgpu.telemetry.component import ComponentTelemetry

TIME = 1_800_000_000_123_000_000


class SystemClock:
    def time_ns(self) -> int:
        return time.time_ns()

    def monotonic(self) -> float:
        return time.monotonic()


@pytest.fixture
def settings() -> Settings:
    streams = Streams()
    common = {"otel.component.type": "debug", "otel.component.name": "debug"}
    telemetry = ComponentTelemetry(common, streams)
    return Settings("debug", logging.getLogger("debug"), streams, telemetry, SystemClock())


@pytest.fixture
def batch(settings: Settings) -> Callable[..., Batch]:
    """Make batches of some points that are told apart by their values."""
    stream = settings.streams.get(m.HW_POWER, {"hw.id": "GPU-1", "hw.type": "gpu"})

    def batch(number: int, size: int = 1) -> Batch:
        points: list[Point] = [(stream, number, 0)] * size
        return Batch("nvml", TIME, Resource({}), points)

    return batch
