"""`otelgpu once` on the fake driver: one document, conformant, within each profile's bounds."""

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from tests.e2e.agent import OTELGPU
from tests.e2e.points import points
from tests.fakes.nvml_fake import FakeNvml

from otelgpu.testing import assert_points, from_otlp

GPUS = 8


@pytest.mark.parametrize(
    ("profile", "metrics", "series"), [("minimal", 9, 25), ("standard", 32, 90), ("full", 45, 120)]
)
def test_one_document_of_eight_gpus(
    profile: str, metrics: int, series: int, fake: FakeNvml, tmp_path: Path
) -> None:
    fake.configure(gpus=GPUS, procs=1)
    config = tmp_path / "config.yaml"
    config.write_text(
        f"receivers: {{nvml: {{profile: {profile}}}}}\n"
        "exporters: {debug: {}}\n"
        "service: {pipelines: {metrics: {receivers: [nvml], exporters: [debug]}}}\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [str(OTELGPU), "once", "--config", str(config), "--format", "otlp-json"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **fake.environment},
    )
    assert (done.returncode, done.stderr) == (0, "")
    request = json_format.Parse(done.stdout, ExportMetricsServiceRequest())
    assert_points(from_otlp(request))
    found = list(points([request]))
    assert len({p.metric for p in found}) >= metrics
    # The bound is a GPU's own; each process adds its series.
    own = [p for p in found if not p.metric.startswith("process.")]
    by_device = Counter(p.attributes["hw.id"] for p in own)
    assert len(by_device) == GPUS
    assert max(by_device.values()) <= series
