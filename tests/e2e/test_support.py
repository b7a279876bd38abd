"""`otelgpu components --support`: what each device has, and why it does not have the rest."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agent import OTELGPU
from tests.fakes.nvml_fake import FakeNvml

from otelgpu.semconv.metrics import ALL

CONFIG = """
receivers: {nvml: {profile: minimal}}
exporters: {debug: {}}
service: {pipelines: {metrics: {receivers: [nvml], exporters: [debug]}}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    return path


def ask(fake: FakeNvml, config: Path, form: str = "table") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(OTELGPU), "components", "--support", "-c", str(config), "--format", form],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **fake.environment},
    )


def devices(fake: FakeNvml, config: Path) -> list[dict[str, Any]]:
    done = ask(fake, config, "json")
    assert (done.returncode, done.stderr) == (0, "")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def of(device: dict[str, Any], metric: str) -> set[tuple[str, str]]:
    """Verdicts and reasons of one metric on a device."""
    return {(m["verdict"], m["reason"]) for m in device["metrics"] if m["metric"] == metric}


def test_every_metric_of_a_device_is_named_once(fake: FakeNvml, config: Path) -> None:
    """Whatever the profile says: it is asked what the device has, not what is sent."""
    fake.configure(gpus=2, mig="7,0", static=1)
    expected = {
        m.name
        for m in ALL
        if m.name.startswith(("hw.", "process.gpu."))
        and not m.name.startswith(("hw.gpu.workload.", "hw.gpu.allocation."))
        and m.name != "hw.status"
    }
    found = devices(fake, config)
    assert len(found) == 2 + 7
    for device in found:
        assert {m["metric"] for m in device["metrics"]} == expected
    whole = next(d for d in found if not d["parent"] and of(d, "hw.gpu.utilization"))
    assert whole["model"] == "NVIDIA H100 80GB HBM3"


def test_each_verdict_has_its_reason(fake: FakeNvml, config: Path) -> None:
    fake.configure(
        "error.nvmlDeviceGetBAR1MemoryInfo=NO_PERMISSION",
        "error.nvmlDeviceGetPerformanceState=UNKNOWN",
        gpus=1,
        static=1,
    )
    [device] = devices(fake, config)
    assert of(device, "hw.power") == {("supported", "")}
    assert of(device, "hw.fan.speed") == {("unsupported", "unsupported")}
    assert of(device, "hw.gpu.memory.region.usage") == {("refused", "no_permission")}
    assert of(device, "hw.gpu.performance_state") == {("missing", "unknown")}
    assert of(device, "hw.voltage") == {("not read", "")}
    [state] = [m for m in device["metrics"] if m["metric"] == "hw.gpu.performance_state"]
    assert state["source"] == "nvmlDeviceGetPerformanceState"
    assert "NVML error 999" in state["detail"]


def test_levels_of_a_gpu_in_mig_mode(fake: FakeNvml, config: Path) -> None:
    fake.configure(gpus=1, **{"mig.0": "3g(1c+2c)"}, static=1)
    gpu, first, second = sorted(devices(fake, config), key=lambda d: d["device"])
    assert of(gpu, "hw.gpu.memory.usage") == {("elsewhere", "of its partitions")}
    assert of(first, "hw.gpu.memory.usage") == {("supported", "")}
    shared = f"of {first['device']}, which shares it"
    assert of(second, "hw.gpu.memory.usage") == {("elsewhere", shared)}
    assert of(second, "hw.power") == {("elsewhere", f"of the GPU, {gpu['device']}")}


def test_devices_that_have_the_same_are_shown_together(fake: FakeNvml, config: Path) -> None:
    fake.configure("error.nvmlDeviceGetPerformanceState=NOT_SUPPORTED@2", gpus=4, static=1)
    done = ask(fake, config)
    assert (done.returncode, done.stderr) == (0, "")
    heads = [line for line in done.stdout.splitlines() if line.startswith("nvml: ")]
    assert heads == [
        "nvml: 3 x NVIDIA H100 80GB HBM3",
        "nvml: 1 x NVIDIA H100 80GB HBM3",
    ]
    assert "unsupported: the device or its driver does not have it" in done.stdout


def test_without_a_device_it_says_why(fake: FakeNvml, config: Path) -> None:
    fake.configure(init_error="DRIVER_NOT_LOADED")
    done = ask(fake, config)
    assert done.returncode == 1
    assert "nvml.driver_not_loaded" in done.stderr
    assert "remedy: " in done.stderr


def test_a_lost_gpu_is_named_with_what_is_missing(fake: FakeNvml, config: Path) -> None:
    fake.configure("lost=1+25", gpus=2, static=1)
    found = devices_of_a_faulty_node(fake, config)
    assert {d["device"][-1] for d in found} == {"1", "2"}
    lost = next(d for d in found if d["device"].endswith("2"))
    assert ("missing", "lost") in of(lost, "hw.power")


def devices_of_a_faulty_node(fake: FakeNvml, config: Path) -> list[dict[str, Any]]:
    done = ask(fake, config, "json")
    assert "nvml.device_lost" in done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
