"""The agent as a process: how it starts and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.process import run, running


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well_and_soon(simulated: Path, number: signal.Signals) -> None:
    with running("--config", simulated) as agent:
        agent.wait_for("started: metrics")
        began = time.monotonic()
        agent.signal(number)
        assert agent.end() == 0
        assert time.monotonic() - began < 5
        agent.wait_for("stopping")
        assert not [line for line in agent.lines if "Traceback" in line or " error " in line]


DRAINING = """
receivers: {{simulator: {{collection_interval: 100ms, devices: [{{model: AMD Instinct MI300X}}]}}}}
exporters: {{otlp_http: {{endpoint: "http://127.0.0.1:{port}", compression: none}}}}
service:
  shutdown_timeout: 1h
  pipelines: {{metrics: {{receivers: [simulator], exporters: [otlp_http]}}}}
"""


def test_a_second_signal_ends_it_at_once(config: Callable[[str], Path]) -> None:
    """The destination takes the connection and never answers: it would drain for an hour."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        path = config(DRAINING.format(port=silent.getsockname()[1]))
        with running("--config", path) as agent:
            agent.wait_for("started")
            connection, _ = silent.accept()
            with connection:
                assert connection.recv(1)
                agent.signal(signal.SIGTERM)
                agent.wait_for("stopping")
                began = time.monotonic()
                agent.signal(signal.SIGTERM)
                assert agent.end() == 1
                assert time.monotonic() - began < 5


def test_a_warning_of_the_configuration_is_json_too(config: Callable[[str], Path]) -> None:
    text = """
receivers: {simulator: {}, nvml: {}}
exporters: {otlp_http: {endpoint: "http://127.0.0.1:9"}}
service:
  telemetry: {logs: {encoding: json}}
  pipelines: {metrics: {receivers: [simulator], exporters: [otlp_http]}}
"""
    with running("--config", config(text)) as agent:
        agent.wait_for("started")
        agent.signal(signal.SIGTERM)
        assert agent.end() == 0
        agent.wait_for("stopping")
        told = [json.loads(line) for line in agent.lines]
    assert told[0]["level"] == "warning"
    assert "receivers::nvml: is not used" in told[0]["message"]


def test_points_are_shown_and_logs_are_json(config: Callable[[str], Path]) -> None:
    text = """
receivers: {simulator: {collection_interval: 100ms, devices: [{model: AMD Instinct MI300X}]}}
exporters: {debug: {}}
service:
  telemetry: {logs: {encoding: json}}
  pipelines: {metrics: {receivers: [simulator], exporters: [debug]}}
"""
    with running("--config", config(text)) as agent:
        agent.wait_for('"message": "started: metrics"')
        agent.signal(signal.SIGTERM)
        assert agent.end() == 0
        agent.wait_for('"message": "stopping"')
        objects = [json.loads(line) for line in agent.lines if line.startswith("{")]
        assert {"time", "level", "logger", "message"} == set(objects[0])
        assert agent.process.stdout is not None
        assert agent.process.stdout.read() == "", "stdout carries results only"


def test_what_cannot_start_is_a_failure_with_its_setting(config: Callable[[str], Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        text = f"""
receivers: {{simulator: {{}}}}
exporters: {{debug: {{}}}}
extensions: {{health_check: {{endpoint: "127.0.0.1:{other.getsockname()[1]}"}}}}
service:
  extensions: [health_check]
  pipelines: {{metrics: {{receivers: [simulator], exporters: [debug]}}}}
"""
        done = run("run", "--config", config(text))
    assert done.returncode == 1
    assert "extensions::health_check::endpoint" in done.stderr
    assert "Traceback" not in done.stderr


BROKEN = """
import signal, threading
from attrs import frozen
from otelgpu.component import ReceiverFactory, Stability

@frozen
class Config:
    pass

def probe():
    raise SystemError("the probe is broken")

def create(settings, config, hand_over):
    raise RuntimeError("cannot be created")

FACTORY = ReceiverFactory("acme", Config, create, Stability.BETA, probe=probe)
"""


@pytest.fixture
def acme(tmp_path: Path) -> dict[str, str]:
    """Variables under which a receiver of somebody else is installed; it is full of mistakes."""
    root = tmp_path / "acme"
    info = root / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[otelgpu.receivers]\nacme = acmereceiver:FACTORY\n")
    (root / "acmereceiver.py").write_text(BROKEN)
    return {"PYTHONPATH": os.pathsep.join([str(root)])}


def test_a_probe_that_raises_does_not_keep_it_from_starting(acme: dict[str, str]) -> None:
    with running(variables=acme) as agent:
        agent.wait_for("receiver acme is left out, its probe failed")
        agent.wait_for("started: metrics")
        agent.signal(signal.SIGTERM)
        assert agent.end() == 0


def test_an_error_of_a_component_s_own_is_a_failure(
    acme: dict[str, str], config: Callable[[str], Path]
) -> None:
    text = """
receivers: {acme: {}}
exporters: {debug: {}}
service: {pipelines: {metrics: {receivers: [acme], exporters: [debug]}}}
"""
    for command in ("run", "once"):
        done = run(command, "--config", config(text), variables=acme)
        assert done.returncode == 1
        assert "RuntimeError: cannot be created" in done.stderr
