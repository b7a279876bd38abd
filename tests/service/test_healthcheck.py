"""/healthz and /readyz over real HTTP."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.service.fakes import LONG, Log, document, environment

from otelgpu.points.stream import Streams
from otelgpu.service.agent import Agent, StartError
from otelgpu.service.healthcheck import HealthCheck, HealthCheckConfig
from otelgpu.telemetry.agent import Registry
from otelgpu.telemetry.component import OK
from otelgpu.telemetry.health import health


class Bench:
    def __init__(self) -> None:
        self.registry = Registry(Streams())
        self.receiver = self.registry.component("receivers", "nvml")
        self.exporter = self.registry.component("exporters", "otlp_http/main")
        self.check = HealthCheck(HealthCheckConfig("127.0.0.1:0"), lambda: health(self.registry))

    def get(self, path: str) -> tuple[int, Any]:
        return get(self.check.address, path)


def get(address: tuple[str, int], path: str) -> tuple[int, Any]:
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    try:
        with urllib.request.urlopen(f"http://{host}:{address[1]}{path}", timeout=LONG) as answer:
            assert answer.headers["Content-Type"] == "application/json"
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@contextmanager
def running(check: HealthCheck) -> Iterator[HealthCheck]:
    check.start()
    try:
        yield check
    finally:
        check.shutdown(LONG)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    with running(made.check):
        yield made


def test_healthz_answers_while_the_process_lives(bench: Bench) -> None:
    assert bench.get("/healthz") == (200, {"status": "alive"})


def test_readyz_before_anything_has_worked(bench: Bench) -> None:
    status, body = bench.get("/readyz")
    assert status == 503
    assert body["ready"] is False
    assert {c["state"] for c in body["components"]} == {"starting"}


def test_readyz_when_all_is_well(bench: Bench) -> None:
    bench.receiver.enter(OK, "8 of 8 devices")
    bench.exporter.enter(OK)
    status, body = bench.get("/readyz?verbose=1")
    assert status == 200
    assert body["ready"] is True
    assert body["components"][0] == {
        "kind": "receivers",
        "id": "nvml",
        "state": "ok",
        "ready": True,
        "cause": "All is well.",
        "remedy": "",
        "detail": "8 of 8 devices",
    }


def test_a_receiver_with_a_reason_is_ready_and_says_what_to_do(bench: Bench) -> None:
    """A roll-out must not stop at a node without a GPU."""
    bench.receiver.enter("nvml.library_not_found", "tried libnvidia-ml.so.1")
    bench.exporter.enter(OK)
    status, body = bench.get("/readyz")
    assert status == 200
    component = body["components"][0]
    assert "was not found" in component["cause"]
    assert "Install the NVIDIA driver" in component["remedy"]
    assert component["detail"] == "tried libnvidia-ml.so.1"


def test_an_exporter_that_does_not_deliver_is_not_ready(bench: Bench) -> None:
    bench.receiver.enter(OK)
    bench.exporter.enter("exporter.unreachable", "connection refused")
    status, body = bench.get("/readyz")
    assert status == 503
    assert [c["ready"] for c in body["components"]] == [True, False]
    bench.exporter.enter(OK)
    assert bench.get("/readyz")[0] == 200


def test_a_third_party_s_state_speaks_by_its_detail(bench: Bench) -> None:
    bench.exporter.enter(OK)
    bench.receiver.enter("acme.frozen", "the card is frozen")
    status, body = bench.get("/readyz")
    assert status == 200
    assert body["components"][0]["cause"] == "the card is frozen"


def test_anything_else_is_not_found(bench: Bench) -> None:
    status, body = bench.get("/metrics")
    assert status == 404
    assert "/readyz" in body["error"]


def test_shutdown_frees_the_port_and_may_be_repeated() -> None:
    made = Bench()
    made.check.shutdown(1.0)
    with running(made.check) as check:
        address = check.address
    made.check.shutdown(1.0)
    with socket.create_server(address):
        pass
    deadline = time.monotonic() + LONG
    while [t for t in threading.enumerate() if t.name == "health_check"]:
        assert time.monotonic() < deadline
        threading.Event().wait(0.005)


def test_a_client_that_says_nothing_holds_up_nobody(bench: Bench) -> None:
    with socket.create_connection(bench.check.address):
        assert bench.get("/healthz")[0] == 200


@pytest.mark.skipif(not socket.has_ipv6, reason="this Python has no IPv6")
def test_ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        pytest.skip(f"this machine has no IPv6: {error}")
    made = HealthCheck(HealthCheckConfig("[::1]:0"), lambda: health(Registry(Streams())))
    with running(made):
        assert get(made.address, "/healthz")[0] == 200


def test_a_port_in_use_names_the_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        endpoint = f"127.0.0.1:{other.getsockname()[1]}"
        text = f"""
receivers: {{r: {{}}}}
exporters: {{x: {{}}}}
extensions: {{health_check: {{endpoint: "{endpoint}"}}}}
service:
  extensions: [health_check]
  pipelines: {{metrics: {{receivers: [r], exporters: [x]}}}}
"""
        log = Log()
        agent = Agent(document(log, text), environment())
        with pytest.raises(StartError) as caught:
            agent.start()
    words = str(caught.value)
    assert words.startswith("extensions::health_check could not start")
    assert endpoint in words
    assert "extensions::health_check::endpoint" in words
    assert log.calls == [], "nothing else was started"


@pytest.mark.parametrize("endpoint", ["localhost", ":80", "host:", "host:http", "host:65536", ""])
def test_what_is_no_address_is_a_mistake_in_the_configuration(endpoint: str) -> None:
    with pytest.raises(ValueError, match=r"write 127\.0\.0\.1:13143"):
        HealthCheckConfig(endpoint)


def test_the_running_agent_tells_of_itself() -> None:
    text = """
receivers: {r: {}}
processors: {p: {}}
exporters: {x: {}}
extensions: {health_check: {endpoint: "127.0.0.1:0"}}
service:
  extensions: [health_check]
  pipelines: {metrics: {receivers: [r], processors: [p], exporters: [x]}}
"""
    agent = Agent(document(Log(), text), environment())
    agent.start()
    try:
        assert agent.health().ready
        assert [(c.kind, c.id) for c in agent.health().components] == [
            ("exporters", "x"),
            ("processors", "p@metrics"),
            ("receivers", "r"),
        ]
    finally:
        agent.stop()
