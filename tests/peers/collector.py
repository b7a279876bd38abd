"""The real upstream Collector as a process under a test's control."""

import http.client
import json
import os
import random
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from tests.peers import build

CONFIG = Path(__file__).resolve().parents[2] / "collector-config"
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 20.0
POLL_S = 0.02
LOG_TAIL_LINES = 40
HOST = "127.0.0.1"
REQUIRE_VARIABLE = "OTELGPU_REQUIRE_PEERS"

Request = TypeVar("Request", ExportMetricsServiceRequest, ExportLogsServiceRequest)


class CollectorError(Exception):
    """The Collector did not do what a test needs; the message ends with the tail of its log."""


def find_collector(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Gives the path of the Collector that `make peers` built, or None."""
    try:
        return build.find(build.otelcol(), build.cache_root(environ))
    except build.PeerError:
        return None


def require_collector(environ: Mapping[str, str] = os.environ) -> Path:
    """Gives the Collector's path, or skips the test with the reason.

    With OTELGPU_REQUIRE_PEERS in the environment (continuous integration) it fails instead, so that
    a missing peer cannot pass for a good run.
    """
    try:
        return build.find(build.otelcol(), build.cache_root(environ))
    except build.PeerError as reason:
        if environ.get(REQUIRE_VARIABLE):
            pytest.fail(str(reason))
        pytest.skip(str(reason))


def free_ports(count: int) -> list[int]:
    """Gives free TCP ports of 127.0.0.1 that the kernel does not hand out by itself.

    From its own range the kernel could give a port away between `stop` and `restart`, and a client
    that keeps trying a closed port there can end up connected to itself.
    """
    lowest_of_kernel = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    held: list[socket.socket] = []
    try:
        while len(held) < count:
            candidate = socket.socket()
            try:
                candidate.bind((HOST, random.randrange(10000, lowest_of_kernel)))
            except OSError:
                candidate.close()
            else:
                held.append(candidate)
        return [holder.getsockname()[1] for holder in held]
    finally:
        for holder in held:
            holder.close()


class Collector:
    """Runs the Collector with given files of configuration, each on ports of its own.

    As a context manager it is started on entry and always ended on exit. ``folder`` is the test's
    own: the log and the file of received data lie there. What is received is there for reading when
    the sender has its answer (collector.yaml, `rotation`), also after `kill`.
    """

    def __init__(
        self,
        binary: Path,
        folder: Path,
        configs: Sequence[Path] = (CONFIG / "collector.yaml",),
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        grpc, http_port, health, own = free_ports(4)
        self.grpc_endpoint = f"{HOST}:{grpc}"
        self.http_endpoint = f"http://{HOST}:{http_port}"
        self._health = health
        self._file = folder / "received" / "otlp.json"
        self._log_path = folder / "otelcol.log"
        self._command = [
            str(binary),
            *(word for path in configs for word in ("--config", str(path))),
        ]
        self._environ = {
            **environ,
            "OTELCOL_GRPC": self.grpc_endpoint,
            "OTELCOL_HTTP": f"{HOST}:{http_port}",
            "OTELCOL_HEALTH": f"{HOST}:{health}",
            "OTELCOL_SELF_PORT": str(own),
            "OTELCOL_FILE": str(self._file),
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
        self.kill()

    def start(self) -> None:
        """Starts it and waits until it takes data; raises CollectorError when it does not."""
        if self._process is not None:
            raise CollectorError("the Collector is running already")
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self._await_health(self._process)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Ends it in order (SIGTERM); raises CollectorError when that takes over 20 s or fails."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            status = process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise CollectorError(f"no end after {STOP_TIMEOUT_S} s\n{self.log_tail()}") from None
        if status != 0:
            raise CollectorError(f"ended with status {status}\n{self.log_tail()}")

    def kill(self) -> None:
        """Ends it at once (SIGKILL); it may be over already."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def restart(self) -> None:
        """Stops it and starts it again on the same ports; what was received stays."""
        self.stop()
        self.start()

    def received(self) -> list[ExportMetricsServiceRequest]:
        """Gives the metrics requests so far, oldest first, as the pipeline put them out.

        They equal what was sent but for a missing resource or scope, which comes out as an empty
        one. Raises CollectorError when the file was rotated (over 100 MB).
        """
        return list(self._read("resourceMetrics", ExportMetricsServiceRequest))

    def received_logs(self) -> list[ExportLogsServiceRequest]:
        """Gives the logs requests so far, oldest first.

        Trace and span ids must be empty: OTLP's JSON has them in hex, where protobuf's reader takes
        base64 (OTLP 1.x, "JSON Protobuf Encoding").
        """
        return list(self._read("resourceLogs", ExportLogsServiceRequest))

    def wait_for(self, condition: Callable[[Self], bool], timeout: float) -> None:
        """Waits until a condition holds; raises CollectorError after ``timeout`` seconds."""
        deadline = time.monotonic() + timeout
        while not condition(self):
            if time.monotonic() > deadline:
                raise CollectorError(f"condition not met in {timeout} s\n{self.log_tail()}")
            time.sleep(POLL_S)

    def log(self) -> str:
        """Gives its log since the first start."""
        return self._log_path.read_text(errors="replace")

    def log_tail(self) -> str:
        """Gives the last lines of its log."""
        return "\n".join(self.log().splitlines()[-LOG_TAIL_LINES:])

    def _read(self, key: str, kind: type[Request]) -> Iterator[Request]:
        if not self._file.is_file():
            return
        if len(list(self._file.parent.iterdir())) > 1:
            raise CollectorError(f"{self._file} was rotated: what came first may be gone")
        # Bytes, and by line feed only: the last line may still be in the writing, and the text of
        # an attribute may hold other characters that Python takes for the end of a line.
        for line in self._file.read_bytes().split(b"\n")[:-1]:
            if key in json.loads(line):
                yield json_format.Parse(line, kind())

    def _await_health(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._healthy():
            if process.poll() is not None:
                raise CollectorError(f"ended at start ({process.returncode})\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise CollectorError(f"not up after {START_TIMEOUT_S} s\n{self.log_tail()}")
            time.sleep(POLL_S)

    def _healthy(self) -> bool:
        connection = http.client.HTTPConnection(HOST, self._health, timeout=1)
        try:
            connection.request("GET", "/")
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
