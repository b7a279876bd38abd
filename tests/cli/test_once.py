"""One read, printed for people, for machines, or counted."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from tests.cli.process import LONG, OTELGPU, environ, run

from otelgpu.testing import assert_points, from_otlp


def test_otlp_json_is_one_request_that_is_right_by_the_convention(simulated: Path) -> None:
    done = run("once", "--config", simulated, "--format", "otlp-json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    document: Any = json.loads(done.stdout)
    request = ExportMetricsServiceRequest()
    for metrics in document["resourceMetrics"]:
        (scope,) = metrics["scopeMetrics"]
        assert scope["metrics"]
    json_format.ParseDict(document, request)
    assert_points(from_otlp(request))
    (resource,) = request.resource_metrics
    assert {a.key for a in resource.resource.attributes} >= {"service.name", "otelgpu.simulated"}


def test_a_table(simulated: Path) -> None:
    done = run("once", "--config", simulated)
    assert done.returncode == 0, done.stderr
    titles = [line for line in done.stdout.splitlines() if line and not line.startswith(" ")]
    assert len([t for t in titles if "NVIDIA H100 80GB HBM3" in t]) == 2
    assert len([t for t in titles if "AMD Instinct MI300X" in t]) == 1
    assert "  hw.power" in done.stdout


def test_series(simulated: Path) -> None:
    done = run("once", "--config", simulated, "--format", "series")
    assert done.returncode == 0, done.stderr
    head, *rows = (line.split() for line in done.stdout.splitlines())
    assert head == ["METRIC", "PROFILE", "SERIES"]
    totals = {row[1]: int(row[2]) for row in rows if row[0] == "total"}
    counts = [int(row[2]) for row in rows if row[0] != "total"]
    assert totals["minimal"] <= totals["standard"] <= totals["full"] == sum(counts)
    assert counts
    assert min(counts) > 0


NOTHING = """
receivers: {simulator: {devices: []}}
exporters: {debug: {}}
service: {pipelines: {metrics: {receivers: [simulator], exporters: [debug]}}}
"""


@pytest.mark.parametrize("form", ["table", "otlp-json", "series"])
def test_nothing_to_read_is_a_failure_with_a_reason(
    config: Callable[[str], Path], form: str
) -> None:
    done = run("once", "--config", config(NOTHING), "--format", form)
    assert done.returncode == 1
    assert "simulator: simulator.no_devices" in done.stderr
    assert "remedy:" in done.stderr
    if form == "otlp-json":
        assert json.loads(done.stdout) == {"resourceMetrics": []}


def test_a_receiver_that_is_too_slow_is_a_failure(simulated: Path) -> None:
    done = run("once", "--config", simulated, "--timeout", "0.000001")
    assert done.returncode == 1
    assert "not every receiver came to its end within 1e-06 s" in done.stderr


@pytest.mark.parametrize("arguments", [["--timeout", "0"], ["--format", "xml"], ["--no-such"]])
def test_wrong_usage(arguments: list[str]) -> None:
    done = run("once", *arguments)
    assert done.returncode == 2
    assert "Usage:" in done.stderr


def test_a_reader_that_leaves_early_is_no_traceback(simulated: Path) -> None:
    with subprocess.Popen(
        [str(OTELGPU), "once", "--config", str(simulated)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ(),
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        words = process.stderr.read()
        assert process.wait(LONG) == 1
    assert words == ""
