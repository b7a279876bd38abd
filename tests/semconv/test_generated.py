from __future__ import annotations

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from otelgpu.points.metric import Profile
from otelgpu.semconv import attributes, events, metrics, rules
from otelgpu.semconv.generate import files, stale, write
from otelgpu.semconv.naming import class_name, constant
from otelgpu.semconv.registry import Registry, load

ROOT = Path(__file__).parents[2]


def test_generated_files_are_fresh(registry: Registry) -> None:
    assert stale(registry, ROOT) == [], "run `otelgpu semconv generate`"


def test_generation_is_deterministic(registry: Registry, registry_folder: Path) -> None:
    assert files(registry) == files(load(registry_folder))


def test_what_is_written_is_fresh_and_a_change_is_stale(registry: Registry, tmp_path: Path) -> None:
    assert sorted(write(registry, tmp_path)) == sorted(files(registry))
    assert stale(registry, tmp_path) == []
    page = tmp_path / "docs/metrics.md"
    page.write_text(page.read_text() + "edited")
    assert stale(registry, tmp_path) == ["docs/metrics.md"]
    assert write(registry, tmp_path) == ["docs/metrics.md"]


@pytest.mark.skipif(find_spec("ruff") is None, reason="ruff is not installed")
@pytest.mark.parametrize("check", [["check"], ["format", "--check"]])
def test_generated_modules_are_formatted(registry: Registry, check: list[str]) -> None:
    modules = [path for path in files(registry) if path.endswith(".py")]
    command = [sys.executable, "-m", "ruff", *check, "--no-cache", *modules]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_each_metric_has_a_constant_of_its_name(registry: Registry) -> None:
    assert len(metrics.ALL) == len(registry.metrics) > 90
    for metric, definition in zip(metrics.ALL, registry.metrics, strict=True):
        assert getattr(metrics, definition.name.upper().replace(".", "_")) is metric
        assert metric.name == definition.name
        assert metric.unit == definition.unit
        assert metric.instrument is definition.instrument
        assert metric.value_type is definition.value_type
        assert metric.profile.name.lower() == definition.hints.profile
        least, greatest = definition.hints.range
        assert metric.minimum == (-sys.float_info.max if least is None else least)
        assert metric.maximum == (sys.float_info.max if greatest is None else greatest)


def test_attributes_have_constants_and_enumerations_classes(registry: Registry) -> None:
    for attribute in registry.attributes:
        assert getattr(attributes, constant(attribute.key)) == attribute.key
        members = registry.members(attribute.key)
        if members:
            values = vars(getattr(attributes, class_name(attribute.key))).values()
            assert {m.text for m in members} <= set(map(str, values))
    assert attributes.HwGpuTask.RENDER_COMPUTE == "render_compute"
    assert attributes.HwGpuPipe.TENSOR_FP64 == "tensor.fp64"
    assert attributes.ErrorType.CRC_FLIT == "crc.flit"
    assert events.HW_GPU_FAULT == "hw.gpu.fault"


def test_rules_cover_all_metrics_and_only_known_attributes() -> None:
    assert set(rules.METRICS) == {m.name for m in metrics.ALL}
    for rule in rules.METRICS.values():
        assert rule.required | rule.optional <= set(rules.ATTRIBUTES)
        assert not rule.required & rule.optional


def test_a_pod_name_never_joins_a_counter_an_info_or_a_limit() -> None:
    carries = {n for n, r in rules.METRICS.items() if "k8s.pod.name" in r.optional}
    assert {"hw.gpu.utilization", "hw.power", "hw.gpu.memory.usage"} <= carries
    never = {
        "hw.energy",
        "hw.gpu.io",
        "hw.gpu.info",
        "hw.gpu.memory.limit",
        "hw.gpu.pcie.width.max",
    }
    assert not carries & never


def test_the_minimal_profile_has_what_the_convention_promises() -> None:
    minimal = {m.name for m in metrics.ALL if m.profile is Profile.MINIMAL}
    assert {
        "hw.gpu.info", "hw.status", "hw.gpu.utilization", "hw.gpu.memory.usage",
        "hw.gpu.memory.limit", "hw.power", "hw.energy", "hw.temperature", "hw.errors",
        "hw.gpu.faults", "hw.gpu.allocation.count", "hw.gpu.workload.allocated.time",
    } < minimal  # fmt: skip


def test_constants_load_neither_yaml_nor_the_sdk() -> None:
    code = (
        "import sys; import otelgpu.semconv.metrics, otelgpu.semconv.attributes, "
        "otelgpu.semconv.events, otelgpu.semconv.promname; print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(ast.literal_eval(done.stdout))
    assert "otelgpu.semconv.metrics" in loaded
    heavy = {m for m in loaded if m.split(".")[0] in ("yaml", "cattrs", "opentelemetry", "click")}
    assert heavy == set()
    assert "otelgpu.semconv.rules" not in loaded


def test_the_page_tells_each_metric(registry: Registry) -> None:
    page = files(registry)["docs/metrics.md"]
    for metric in registry.metrics:
        assert f"\n### {metric.name}\n" in page
    assert (
        "DCGM_FI_DEV_GPU_UTIL` where `hw.gpu.task`=`general` (its value is ours times 100)" in page
    )
    assert "hw_gpu_throttle_time_seconds_total" in page
