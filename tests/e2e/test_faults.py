"""What a person is paged for: the other GPUs go on, and what is wrong is said."""

import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agent import AgentProcess, configuration
from tests.e2e.points import Received, of, points
from tests.fakes.nvml_fake import FakeNvml
from tests.fakes.otlp import OtlpHttpServer

GPUS = 8
INTERVAL, DEADLINE = 0.2, 0.5
SLACK = 1.5
"""Seconds that a busy machine may add before a test sees what came."""
BUSY = 0.4
"""Seconds that a busy machine may add between two points."""


@pytest.fixture
def agent(fake: FakeNvml, sink: OtlpHttpServer, tmp_path: Path) -> Iterator[AgentProcess]:
    fake.configure(gpus=GPUS)
    with AgentProcess(tmp_path, configuration(sink.url), fake.environment) as running:
        running.wait_for(lambda: len(_fresh(sink, 0)) == GPUS, 20)
        yield running


def _received(sink: OtlpHttpServer) -> list[Received]:
    return list(points(r.request for r in list(sink.received) if r.request))  # type: ignore[misc]


def _fresh(sink: OtlpHttpServer, since: int) -> set[str]:
    """Devices whose power was read after a time (ns)."""
    return {
        p.attributes["hw.id"]
        for p in _received(sink)
        if p.metric == "hw.power" and p.time > since and p.value is not None
    }


def _uuids(sink: OtlpHttpServer) -> list[str]:
    info = {
        p.attributes["hw.gpu.index"]: p.attributes["hw.id"]
        for p in _received(sink)
        if p.metric == "hw.gpu.info"
    }
    return [info[index] for index in sorted(info)]


def _status(sink: OtlpHttpServer, device: str, since: int) -> dict[str, float | None]:
    found = of(device, "hw.status", _received(sink))
    return {p.attributes["hw.state"]: p.value for p in found if p.time > since}


def _is_failed(sink: OtlpHttpServer, device: str, since: int) -> bool:
    status = _status(sink, device, since)
    return status.get("failed") == 1 and status.get("ok") == 0


def test_a_lost_gpu(agent: AgentProcess, fake: FakeNvml, sink: OtlpHttpServer) -> None:
    devices = _uuids(sink)
    fake.configure(f"gpus={GPUS}", "lost=3")
    since = time.time_ns()
    agent.wait_for(lambda: _is_failed(sink, devices[3], since), 10)
    later = time.time_ns()
    others = set(devices) - {devices[3]}
    agent.wait_for(lambda: _fresh(sink, later) == others, 10)
    assert of(devices[3], "hw.gpu.info", [p for p in _received(sink) if p.time > later])
    ended = [p for p in of(devices[3], "hw.power", _received(sink)) if p.value is None]
    assert len(ended) == 1, "its power ends once, it is not repeated nor 0"
    assert agent.state("nvml")["state"] == "nvml.device_lost"
    assert devices[3] in agent.state("nvml")["detail"]
    fake.configure(gpus=GPUS)
    back = time.time_ns()
    agent.wait_for(lambda: devices[3] in _fresh(sink, back), 10)
    assert agent.terminate(10)[0] == 0


def test_a_call_hangs_on_one_gpu(agent: AgentProcess, fake: FakeNvml, sink: OtlpHttpServer) -> None:
    devices = _uuids(sink)
    fake.configure(f"gpus={GPUS}", "hang.nvmlDeviceGetMemoryInfo_v2=2")
    began = time.time_ns()
    others = set(devices) - {devices[2]}
    agent.wait_for(lambda: _fresh(sink, began) >= others, INTERVAL + DEADLINE + SLACK)
    agent.wait_for(lambda: _is_failed(sink, devices[2], began), 5)
    settled = time.time_ns()
    agent.wait_for(lambda: _fresh(sink, settled) == others, INTERVAL + SLACK)
    times = sorted({p.time for p in of(devices[5], "hw.power", _received(sink))})
    longest = max(b - a for a, b in pairwise(times)) / 1e9
    assert longest <= INTERVAL + DEADLINE + BUSY, "the others' next points: interval and deadline"
    assert agent.state("nvml")["state"] == "nvml.device_hung"
    fake.configure(gpus=GPUS)
    back = time.time_ns()
    agent.wait_for(lambda: devices[2] in _fresh(sink, back), 10)
    agent.wait_for(lambda: agent.state("nvml")["state"] == "ok", 10)


@pytest.mark.parametrize("hang", ["hang.nvmlDeviceGetMemoryInfo_v2=2", "hang.*="])
def test_sigterm_during_a_hang(
    hang: str, agent: AgentProcess, fake: FakeNvml, sink: OtlpHttpServer
) -> None:
    devices = _uuids(sink)
    fake.configure(f"gpus={GPUS}", hang)
    began = time.time_ns()
    agent.wait_for(lambda: _is_failed(sink, devices[2], began), 10)
    status, seconds = agent.terminate(10)
    assert status == 0
    assert seconds < 5


def test_all_gpus_hang(agent: AgentProcess, fake: FakeNvml, sink: OtlpHttpServer) -> None:
    devices = _uuids(sink)
    fake.configure(f"gpus={GPUS}", "hang.*=")
    began = time.time_ns()
    agent.wait_for(lambda: all(_is_failed(sink, d, began) for d in devices), 10)
    settled = time.time_ns()
    agent.wait_for(
        lambda: (
            any(p.metric == "otelgpu.cpu.time" and p.time > settled for p in _received(sink))
            and all(_is_failed(sink, d, settled) for d in devices)
        ),
        5,
    )
    assert agent.state("nvml")["state"] == "nvml.library_hung"
    fake.configure(gpus=GPUS)
    back = time.time_ns()
    agent.wait_for(lambda: _fresh(sink, back) == set(devices), 15)


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        ("init_error=DRIVER_NOT_LOADED", "nvml.driver_not_loaded"),
        ("init_error=LIB_RM_VERSION_MISMATCH", "nvml.version_mismatch"),
        ("init_error=NO_PERMISSION", "nvml.no_permission"),
        ("hang.nvmlDeviceGetCount_v2=1", "nvml.discovery_hung"),
        ("gpus=0", "nvml.no_devices"),
    ],
)
def test_trouble_at_start_is_said_and_overcome(
    fault: str, state: str, fake: FakeNvml, sink: OtlpHttpServer, tmp_path: Path
) -> None:
    rules = [fault] if fault.startswith("gpus") else [f"gpus={GPUS}", fault]
    fake.configure(*rules)
    with AgentProcess(tmp_path, configuration(sink.url), fake.environment) as agent:
        agent.wait_for(lambda: agent.state("nvml")["state"] == state, 15)
        told = agent.state("nvml")
        assert told["cause"]
        assert told["remedy"]
        assert told["ready"]
        fake.configure(gpus=GPUS)
        agent.wait_for(lambda: len(_fresh(sink, 0)) == GPUS, 30)
        agent.wait_for(lambda: _last(sink, "otelgpu.receiver.up") == 1, 5)
        assert agent.terminate(10)[0] == 0
    up = [p.value for p in _received(sink) if p.metric == "otelgpu.receiver.up"]
    assert up[0] == 0


def test_library_missing_then_installed(
    fake: FakeNvml, sink: OtlpHttpServer, tmp_path: Path
) -> None:
    fake.configure(gpus=GPUS)
    missing = tmp_path / "lib" / fake.library.name
    receiver = {"library": str(missing)}
    with AgentProcess(
        tmp_path, configuration(sink.url, receiver), fake.environment | {"LD_LIBRARY_PATH": ""}
    ) as agent:
        agent.wait_for(lambda: agent.state("nvml")["state"] == "nvml.library_not_found", 15)
        assert str(missing) in agent.state("nvml")["detail"]
        missing.parent.mkdir()
        missing.symlink_to(fake.library)
        agent.wait_for(lambda: len(_fresh(sink, 0)) == GPUS, 30)


def test_seven_devices_on_eight_pci_functions(
    fake: FakeNvml, sink: OtlpHttpServer, tmp_path: Path
) -> None:
    sysfs = tmp_path / "sys" / "bus" / "pci" / "devices"
    for function in range(GPUS):
        device = sysfs / f"0000:{0x1A + function:02x}:00.0"
        device.mkdir(parents=True)
        (device / "vendor").write_text("0x10de\n")
        (device / "class").write_text("0x030200\n")
    fake.configure(f"gpus={GPUS}", "hide=5")
    config = configuration(sink.url, {"sysfs": str(tmp_path / "sys")})
    with AgentProcess(tmp_path, config, fake.environment) as agent:
        agent.wait_for(lambda: _last(sink, "otelgpu.device.count") == GPUS - 1, 15)
        assert _last(sink, "otelgpu.device.expected") == GPUS
        assert len(_fresh(sink, 0)) == GPUS - 1


def _last(sink: OtlpHttpServer, metric: str) -> Any:
    values = [p.value for p in _received(sink) if p.metric == metric]
    return values[-1] if values else None


def test_every_call_unknown(agent: AgentProcess, fake: FakeNvml, sink: OtlpHttpServer) -> None:
    fake.configure(f"gpus={GPUS}", "error.*=UNKNOWN")
    agent.wait_for(lambda: agent.state("nvml")["state"] != "ok", 10)
    settled = time.time_ns()
    agent.wait_for(lambda: _last_time(sink, "otelgpu.cpu.time") > settled, 5)
    values = [p for p in _received(sink) if p.time > settled and p.value is not None]
    assert not [p for p in values if p.metric.startswith("hw.") and p.metric != "hw.gpu.info"]
    fake.configure(gpus=GPUS)
    back = time.time_ns()
    agent.wait_for(lambda: len(_fresh(sink, back)) == GPUS, 20)


def _last_time(sink: OtlpHttpServer, metric: str) -> int:
    return max((p.time for p in _received(sink) if p.metric == metric), default=0)
