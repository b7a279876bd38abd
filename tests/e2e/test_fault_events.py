"""A fault of a GPU reaches the destination as a log record while the agent runs."""

import time
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from tests.e2e.agent import AgentProcess, configuration
from tests.fakes.nvml_fake import FakeNvml
from tests.fakes.otlp import OtlpHttpServer


def _records(sink: OtlpHttpServer) -> list[Any]:
    return [
        record
        for received in list(sink.received)
        if isinstance(received.request, ExportLogsServiceRequest)
        for resource in received.request.resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]


def _attributes(record: Any) -> dict[str, Any]:
    return {
        pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in record.attributes
    }


def _config(sink: OtlpHttpServer, **receiver: Any) -> dict[str, Any]:
    config = configuration(sink.url, {"collection_interval": "1m", **receiver})
    config["service"]["pipelines"]["events"] = {"receivers": ["nvml"], "exporters": ["otlp_http"]}
    return config


def test_an_xid(fake: FakeNvml, sink: OtlpHttpServer, tmp_path: Path) -> None:
    """Long before the next scrape is due."""
    fake.configure(gpus=2)
    with AgentProcess(tmp_path, _config(sink), fake.environment) as agent:
        agent.wait_for(lambda: agent.state("nvml")["state"] == "ok", 10)
        before = time.time_ns()
        fake.configure(gpus=2, xid="1:79")
        agent.wait_for(lambda: len(_records(sink)) == 1, 10)
        [record] = _records(sink)
        assert record.event_name == "hw.gpu.fault"
        assert record.severity_number == 21
        assert record.body.string_value.startswith("XID 79 on GPU-")
        assert record.time_unix_nano == 0
        assert record.observed_time_unix_nano >= before
        attributes = _attributes(record)
        assert attributes["hw.gpu.fault.code"] == 79
        assert attributes["hw.id"].endswith("2")
        assert agent.terminate(10)[0] == 0


def test_an_xid_with_the_kernels_words(
    fake: FakeNvml, sink: OtlpHttpServer, tmp_path: Path
) -> None:
    """One record from two sources, with the text, the process and the time of the kernel log."""
    log = tmp_path / "kmsg"
    log.write_text("6,1,1000,-;NVRM: loading NVIDIA UNIX Open Kernel Module\n", encoding="utf-8")
    fake.configure(gpus=2)
    config = _config(sink, kernel_log=str(log))
    with AgentProcess(tmp_path, config, fake.environment) as agent:
        agent.wait_for(lambda: agent.state("nvml")["state"] == "ok", 10)
        now = time.time_ns()
        with log.open("a", encoding="utf-8") as file:
            file.write(
                f"4,2,{time.monotonic_ns() // 1000},-;NVRM: Xid (PCI:0000:1b:00): 31, pid=4711, "
                "name=python3, MMU Fault\n"
            )
        fake.configure(gpus=2, xid="1:31")
        agent.wait_for(lambda: len(_records(sink)) >= 1, 10)
        [record] = _records(sink)
        attributes = _attributes(record)
        assert attributes["hw.id"].endswith("2")
        assert attributes["hw.gpu.fault.message"] == "MMU Fault"
        assert attributes["process.pid"] == 4711
        assert abs(record.time_unix_nano - now) < 1_000_000_000
        assert agent.terminate(10)[0] == 0
