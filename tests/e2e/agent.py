"""The agent as a process under a test's control."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml
from tests.peers.collector import free_ports

OTELGPU = Path(sys.executable).with_name("otelgpu")
POLL_S = 0.02


class AgentError(Exception):
    """The agent did not do what a test needs; the message ends with its log."""


class AgentProcess:
    """Runs ``otelgpu run`` with a configuration; always ended on exit."""

    def __init__(
        self, folder: Path, config: Mapping[str, Any] | Path, environ: Mapping[str, str]
    ) -> None:
        self._health = free_ports(1)[0]
        self._log_path = folder / "otelgpu.log"
        files = [config] if isinstance(config, Path) else [_write(folder, config)]
        self._command = [str(OTELGPU), "run", *(w for f in files for w in ("--config", str(f)))]
        self._environ = {
            **os.environ,
            "OTELGPU_HEALTH": f"127.0.0.1:{self._health}",
            **environ,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def start(self) -> None:
        """Starts it and waits until it says so."""
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.wait_for(lambda: "started: " in self.log(), 30)

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self._process is not None
        return self._process.pid

    def terminate(self, grace: float) -> tuple[int, float]:
        """Sends SIGTERM; gives the exit status and the seconds it took, at most ``grace``."""
        assert self._process is not None
        began = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(grace)
        except subprocess.TimeoutExpired:
            raise AgentError(f"alive {grace} s after SIGTERM\n{self.log()}") from None
        return status, time.monotonic() - began

    def ready(self) -> tuple[int, dict[str, Any]]:
        """Gives the status and the content of /readyz."""
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self._health}/readyz", timeout=5
            ) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def state(self, component: str) -> dict[str, Any]:
        """Gives the state of one component as /readyz tells it."""
        found: dict[str, Any] = next(
            c for c in self.ready()[1]["components"] if c["id"] == component
        )
        return found

    def wait_for(self, condition: Callable[[], bool], timeout: float) -> None:
        """Waits until a condition holds; raises AgentError when it ends or takes too long."""
        assert self._process is not None
        deadline = time.monotonic() + timeout
        while not condition():
            if self._process.poll() is not None:
                raise AgentError(f"ended with {self._process.returncode}\n{self.log()}")
            if time.monotonic() > deadline:
                raise AgentError(f"condition not met in {timeout} s\n{self.log()}")
            time.sleep(POLL_S)

    def log(self) -> str:
        """Gives what it has written."""
        return self._log_path.read_text(errors="replace")


def _write(folder: Path, config: Mapping[str, Any]) -> Path:
    file = folder / "otelgpu.yaml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    return file


def configuration(
    endpoint: str,
    receiver: Mapping[str, Any] | None = None,
    exporter: str = "otlp_http",
    **settings: Any,
) -> dict[str, Any]:
    """Gives a configuration that reads NVML often and sends it to one place."""
    nvml = {"collection_interval": "200ms", "timeout": "500ms", **(receiver or {})}
    return {
        "receivers": {"nvml": nvml},
        "exporters": {exporter: {"endpoint": endpoint, **settings}},
        "extensions": {"health_check": {"endpoint": "${env:OTELGPU_HEALTH}"}},
        "service": {
            "extensions": ["health_check"],
            "telemetry": {"metrics": {"interval": "200ms"}},
            "pipelines": {"metrics": {"receivers": ["nvml"], "exporters": [exporter]}},
        },
    }
