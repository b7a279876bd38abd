from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from otelgpu.cli.semconv import semconv
from otelgpu.semconv.metrics import ALL


def run(*arguments: str) -> Result:
    return CliRunner().invoke(semconv, arguments)


def test_check_says_what_it_has_checked(registry_folder: Path) -> None:
    result = run("check", "--registry", str(registry_folder))
    assert result.exit_code == 0, result.output
    assert f"{len(ALL)} metrics" in result.stdout
    assert "no findings" in result.stdout


def test_check_tells_each_finding_and_fails(changed: Callable[..., Path]) -> None:
    folder = changed("registry/metrics.yaml", "series: 2", "series: -2")
    result = run("check", "--registry", str(folder))
    assert result.exit_code == 1
    assert result.stderr == "hw.gpu.lamp.utilization: series is negative\n"
    assert result.stdout == ""


def test_check_tells_a_malformed_file(changed: Callable[..., Path]) -> None:
    folder = changed("registry/metrics.yaml", "unit: '1'", "unit: 1")
    result = run("check", "--registry", str(folder))
    assert result.exit_code == 1
    assert "metrics.yaml: hw.gpu.lamp.utilization: 1 is not of type str" in result.stderr


@pytest.mark.parametrize("command", ["check", "generate"])
def test_a_missing_registry_is_a_mistake_of_usage(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(command)
    assert result.exit_code == 2
    assert "no registry in semconv/registry" in result.stderr
    assert "--registry" in result.stderr


def test_generate_writes_once_and_check_sees_a_change(changed: Callable[..., Path]) -> None:
    folder = changed()
    root = folder.parents[1]
    assert run("generate", "--check", "--registry", str(folder)).exit_code == 1
    written = run("generate", "--registry", str(folder))
    assert written.exit_code == 0
    assert "written: docs/metrics.md" in written.stdout
    assert (root / "src/otelgpu/semconv/metrics.py").is_file()
    assert run("generate", "--registry", str(folder)).stdout == ""
    assert run("generate", "--check", "--registry", str(folder)).exit_code == 0
    (root / "docs/metrics.md").write_text("edited")
    stale = run("generate", "--check", "--registry", str(folder))
    assert (stale.exit_code, stale.stderr) == (1, "stale: docs/metrics.md\n")
    assert (root / "docs/metrics.md").read_text() == "edited"


def test_generate_writes_elsewhere_on_request(changed: Callable[..., Path], tmp_path: Path) -> None:
    folder = changed()
    other = tmp_path / "other"
    assert run("generate", "--registry", str(folder), "--output", str(other)).exit_code == 0
    assert (other / "docs/metrics.md").is_file()
    assert not (folder.parents[1] / "docs").exists()


def test_list_prints_a_table() -> None:
    result = run("list")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0].split() == ["name", "instrument", "unit", "profile", "prometheus"]
    assert len(lines) == len(ALL) + 1
    power = next(line for line in lines if line.startswith("hw.power "))
    assert power.split() == ["hw.power", "gauge", "W", "minimal", "hw_power_watts"]


def test_list_prints_json() -> None:
    rows = json.loads(run("list", "--format", "json").stdout)
    assert len(rows) == len(ALL)
    assert {r["name"]: r["prometheus"] for r in rows}["hw.energy"] == "hw_energy_joules_total"
