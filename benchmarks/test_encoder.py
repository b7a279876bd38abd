"""From readings to bytes: our encoder beside the standard one, on the same batch in one run."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics

from otelgpu.delivery.encoder import MetricsEncoder
from otelgpu.points.batch import Batch, Readings
from otelgpu.points.epochs import Epochs
from otelgpu.points.resource import Resource
from otelgpu.points.sdk import to_metrics_data
from otelgpu.points.stream import Streams
from otelgpu.semconv.metrics import ALL, SCHEMA_URL

GPUS = 8
TASKS = ("general", "memory")


def readings() -> Readings:
    """Return about 700 readings of 8 GPUs: each device metric twice, by one more attribute."""
    streams = Streams()
    found: Readings = []
    for gpu in range(GPUS):
        device = {
            "hw.id": f"GPU-00000000-0000-0000-0000-{gpu:012x}",
            "hw.type": "gpu",
            "hw.vendor": "NVIDIA",
            "hw.model": "NVIDIA H100 80GB HBM3",
        }
        for metric in ALL:
            if metric.name.startswith("hw."):
                for task in TASKS:
                    stream = streams.get(metric, {**device, "hw.gpu.task": task})
                    found.append((stream, 1))
    return found


READINGS = readings()
RESOURCE = Resource({"service.name": "otelgpu", "host.name": "node"})


def _batch(epochs: Epochs, time: int) -> Batch:
    return Batch("nvml", time, RESOURCE, epochs.points("nvml", READINGS, time, time / 1e9))


@pytest.mark.benchmark(group="readings to bytes")
def test_ours(benchmark: Any) -> None:
    encoder, epochs = MetricsEncoder(SCHEMA_URL), Epochs()
    times = iter(range(10**18, 10**19, 10**9))
    result = benchmark(lambda: list(encoder.encode(_batch(epochs, next(times)))))
    benchmark.extra_info["points"] = len(READINGS)
    benchmark.extra_info["us_per_point"] = benchmark.stats["median"] * 1e6 / len(READINGS)
    assert result


@pytest.mark.benchmark(group="readings to bytes")
def test_standard(benchmark: Any) -> None:
    epochs = Epochs()
    times = iter(range(10**18, 10**19, 10**9))

    def encode() -> bytes:
        data = to_metrics_data(_batch(epochs, next(times)))
        return encode_metrics(data).SerializeToString()

    result = benchmark(encode)
    benchmark.extra_info["us_per_point"] = benchmark.stats["median"] * 1e6 / len(READINGS)
    assert result
