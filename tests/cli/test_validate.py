"""Every mistake is listed, exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import yaml
from tests.cli.process import run

MANY = """
receivers:
  simulator: {collection_intervall: 5s, seed: "x"}
  nvmll: {}
  simulator/two: {devices: [{model: H1000}]}
  nvml: {timeout: 0s}
exporters:
  otlp_http: {endpoint: "gateway:4318", headers: {authorization: "${env:NO_SUCH_VARIABLE}"}}
  debug: {}
service:
  pipelines:
    metrics: {receivers: [simulator, simulator/missing], exporters: [otlp_http, debug, debug]}
    tracess: {receivers: [simulator], exporters: [debug]}
"""
MISTAKES = {
    "receivers::simulator::collection_intervall": "did you mean 'collection_interval'?",
    "receivers::simulator::seed": "whole number",
    "receivers::nvmll": "did you mean 'nvml'?",
    "receivers::simulator/two::devices::0::model": "H1000",
    "receivers::nvml::timeout": "above zero",
    "exporters::otlp_http::endpoint": "has no scheme; write http://gateway:4318",
    "exporters::otlp_http::headers::authorization": "NO_SUCH_VARIABLE is not set",
    "service::pipelines::metrics::receivers::1": "declare it under `receivers:`",
    "service::pipelines::metrics::exporters::2": "named twice",
    "service::pipelines::tracess": "unknown signal",
}


def test_a_valid_file(simulated: Path) -> None:
    done = run("validate", "--config", simulated)
    assert (done.returncode, done.stdout, done.stderr) == (0, "the configuration is valid\n", "")


def test_every_mistake_at_once(config: Callable[[str], Path]) -> None:
    done = run("validate", "--config", config(MANY))
    assert done.returncode == 2
    assert done.stdout == ""
    head, *lines = done.stderr.splitlines()
    assert head == f"Error: {len(MISTAKES)} mistakes in the configuration:"
    found = dict(line.strip().split(": ", 1) for line in lines)
    assert found.keys() == MISTAKES.keys()
    assert [path for path, words in MISTAKES.items() if words not in found[path]] == []


def test_every_command_that_reads_a_configuration_refuses_it(config: Callable[[str], Path]) -> None:
    path = config(MANY)
    for command in ("run", "once"):
        done = run(command, "--config", path)
        assert done.returncode == 2, command
        assert done.stderr.count("\n") == len(MISTAKES) + 1


def test_invalid_yaml_names_its_line(config: Callable[[str], Path]) -> None:
    path = config("receivers:\n  nvml: {timeout: 5s\nexporters: {}\n")
    done = run("validate", "--config", path)
    assert done.returncode == 2
    assert "Error: 1 mistake in the configuration:" in done.stderr
    assert f"{path}:3:" in done.stderr


def test_a_name_that_stands_twice_names_both_lines(config: Callable[[str], Path]) -> None:
    path = config("receivers:\n  nvml:\n  nvml:\n")
    done = run("validate", "--config", path)
    assert done.returncode == 2
    assert f"{path}:3:3: 'nvml' is given twice, first in line 2" in done.stderr


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.yaml", tmp_path):
        done = run("validate", "--config", path)
        assert done.returncode == 2
        assert f"{path}: cannot be read" in done.stderr


def test_what_is_not_used_is_a_warning(simulated: Path, config: Callable[..., Path]) -> None:
    more = config("exporters: {debug/more: {}}", "more.yaml")
    done = run("validate", "--config", simulated, "--config", more)
    assert done.returncode == 0
    assert "warning: exporters::debug/more: is not used" in done.stderr


def test_later_files_win(simulated: Path, config: Callable[..., Path]) -> None:
    more = config("receivers: {simulator: {collection_interval: 3s}}", "more.yaml")
    done = run("validate", "--config", simulated, "--config", more, "--print")
    assert yaml.safe_load(done.stdout)["receivers"]["simulator"]["collection_interval"] == "3s"


def test_print_hides_secrets_and_reads_back(config: Callable[..., Path]) -> None:
    text = """
receivers: {simulator: }
exporters:
  otlp_http:
    endpoint: http://gateway:4318
    headers: {authorization: "Bearer ${env:TOKEN}", x-scope: hunter3}
service: {pipelines: {metrics: {receivers: [simulator], exporters: [otlp_http]}}}
"""
    path = config(text)
    done = run("validate", "--config", path, "--print", variables={"TOKEN": "hunter2"})
    assert done.returncode == 0, done.stderr
    assert "hunter" not in done.stdout + done.stderr
    assert done.stdout.count("[redacted]") == 2
    again = config(done.stdout, "again.yaml")
    assert run("validate", "--config", again).returncode == 0


def test_secrets_are_not_told_by_mistakes_either(config: Callable[[str], Path]) -> None:
    text = MANY.replace("${env:NO_SUCH_VARIABLE}", "${env:TOKEN}").replace('"x"', "${env:TOKEN}")
    done = run("validate", "--config", config(text), variables={"TOKEN": "hunter2"})
    assert done.returncode == 2
    assert "hunter2" not in done.stderr


def test_a_component_that_cannot_be_loaded(
    config: Callable[[str], Path], third_party: Path
) -> None:
    text = """
receivers: {acme_missing: {}, acme_nameless: {}, acme_raising: {}}
exporters: {debug: {}}
service: {pipelines: {metrics: {receivers: [acme_missing], exporters: [debug]}}}
"""
    variables = {"PYTHONPATH": str(third_party)}
    done = run("validate", "--config", config(text), variables=variables)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for type_ in ("missing", "nameless", "raising"):
        assert f"receivers::acme_{type_}: 'acme_{type_}' cannot be loaded" in done.stderr


def test_without_a_file_the_default_is_valid() -> None:
    done = run("validate")
    assert done.returncode == 0, done.stderr


def test_a_preference_for_deltas_is_not_followed_silently(simulated: Path) -> None:
    name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
    done = run("validate", "--config", simulated, variables={name: "delta"})
    assert done.returncode == 0
    assert f"warning: {name}=delta is not followed" in done.stderr
    assert "cumulative_to_delta" in done.stderr
    done = run("validate", "--config", simulated, variables={name: "Cumulative"})
    assert done.stderr == ""
