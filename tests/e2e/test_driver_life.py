"""The agent as a process while its driver is upgraded, or wanted by somebody else."""

import os
import shutil
import signal
import time
from pathlib import Path

from tests.e2e.agent import AgentProcess, configuration
from tests.e2e.points import Received, points
from tests.fakes.nvml_fake import LIBRARY, FakeNvml
from tests.fakes.otlp import OtlpHttpServer


def _received(sink: OtlpHttpServer) -> list[Received]:
    return list(points(r.request for r in list(sink.received) if r.request))  # type: ignore[misc]


def _has(sink: OtlpHttpServer, metric: str, since: int) -> bool:
    return any(p.metric == metric and p.time > since and p.value for p in _received(sink))


def _install(folder: Path, version: str, library: Path) -> None:
    (folder / version).mkdir()
    shutil.copy(library, folder / version / LIBRARY)
    (folder / "fresh").symlink_to(folder / version / LIBRARY)
    (folder / "fresh").replace(folder / LIBRARY)


def test_an_upgraded_driver(
    fake: FakeNvml, library: Path, sink: OtlpHttpServer, tmp_path: Path
) -> None:
    """The agent executes itself anew in the same process, and says how often it has done so."""
    _install(tmp_path, "570", library)
    fake.configure(gpus=2, module=570)
    receiver = {"library": str(tmp_path / LIBRARY), "discovery_interval": "300ms"}
    with AgentProcess(tmp_path, configuration(sink.url, receiver), fake.environment) as agent:
        agent.wait_for(lambda: _has(sink, "hw.power", 0), 20)
        pid = agent.pid
        fake.configure(gpus=2, module=580, driver_epoch=1)
        agent.wait_for(lambda: agent.state("nvml")["state"] == "nvml.version_mismatch", 10)
        upgraded = time.time_ns()
        _install(tmp_path, "580", library)
        agent.wait_for(lambda: _has(sink, "otelgpu.agent.restarts", upgraded), 20)
        agent.wait_for(lambda: _has(sink, "hw.power", upgraded), 20)
        assert agent.pid == pid
        assert agent.log().count("executing anew: driver_upgraded") == 1
        assert agent.log().count("started: ") == 2
        restarts = [p for p in _received(sink) if p.metric == "otelgpu.agent.restarts"]
        assert {p.value for p in restarts} == {1}
        assert {p.attributes["error.type"] for p in restarts} == {"driver_upgraded"}
        assert agent.terminate(10)[0] == 0


def test_the_driver_is_let_go_of(fake: FakeNvml, sink: OtlpHttpServer, tmp_path: Path) -> None:
    """SIGUSR1 works at once, not only when the next scrape is due."""
    fake.configure(gpus=2)
    receiver = {"collection_interval": "1m", "release_time": "500ms"}
    with AgentProcess(tmp_path, configuration(sink.url, receiver), fake.environment) as agent:
        agent.wait_for(lambda: _has(sink, "hw.power", 0), 20)
        os.kill(agent.pid, signal.SIGUSR1)
        agent.wait_for(lambda: agent.state("nvml")["state"] == "nvml.released", 10)
        agent.wait_for(lambda: fake.calls().get("nvmlShutdown", 0) > 0, 10)
        assert agent.terminate(10)[0] == 0
