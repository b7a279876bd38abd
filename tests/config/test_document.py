from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from otelgpu.component import Signal
from otelgpu.config.document import Document, FactoryLookup, parse
from otelgpu.config.dump import dump
from otelgpu.config.load import load

Read = Callable[..., Document]


def test_a_document(read: Read, good: str, installed: FactoryLookup) -> None:
    document = read(good)
    assert list(document.components) == [
        ("receivers", "nvml"),
        ("receivers", "nvml/slow"),
        ("processors", "filter"),
        ("exporters", "otlp/main"),
        ("exporters", "debug"),
        ("extensions", "status"),
    ]
    slow = document.components["receivers", "nvml/slow"]
    assert (slow.kind, slow.id, slow.type) == ("receivers", "nvml/slow", "nvml")
    assert slow.factory is installed.get("receivers", "nvml")
    assert slow.config.collection_interval == timedelta(minutes=1)
    assert document.components["receivers", "nvml"].config.collection_interval == timedelta(
        seconds=10
    )
    metrics = document.pipelines["metrics"]
    assert metrics.signal is Signal.METRICS
    assert metrics.receivers == ("nvml", "nvml/slow")
    assert (metrics.processors, metrics.exporters) == (("filter",), ("otlp/main", "debug"))
    assert document.pipelines["events/faults"].signal is Signal.EVENTS
    assert document.extensions == ("status",)
    assert document.warnings == []


def test_service_settings(read: Read, good: str) -> None:
    service = read(good).service
    assert service.shutdown_timeout == timedelta(seconds=5)
    assert service.telemetry.logs.level == "warn"
    assert service.telemetry.logs.encoding == "json"
    assert service.telemetry.metrics.interval == timedelta(seconds=30)
    resource = service.telemetry.resource
    assert resource == {"cluster": "a", "index": 1, "share": 0.5, "spot": True}
    assert [type(value) for value in resource.values()] == [str, int, float, bool]


def test_defaults_of_the_service(read: Read) -> None:
    service = read(
        "{receivers: {nvml: }, exporters: {debug: },"
        " service: {pipelines: {metrics: {receivers: [nvml], exporters: [debug]}}}}"
    ).service
    assert service.shutdown_timeout == timedelta(seconds=10)
    assert service.telemetry.metrics.interval == timedelta(seconds=10)
    assert (service.telemetry.logs.level, service.telemetry.logs.encoding) == ("info", "text")
    assert (service.telemetry.resource, service.extensions) == ({}, ())


def test_settings_of_an_exporter_lie_over_standard_variables(read: Read, good: str) -> None:
    config = read(good).components["exporters", "otlp/main"].config
    assert config.endpoint == "gw:4317"
    assert (config.tls.ca_file, config.tls.key_file) == ("/own", "/env")
    assert {name: secret.reveal() for name, secret in config.headers.items()} == {
        "from": "env$$",
        "authorization": "Bearer hunter2",
        "plain": "hunter2",
    }


def test_secrets_are_in_no_print(read: Read, good: str) -> None:
    document = read(good)
    printed = [repr(document), str(document), dump(document)]
    printed += [dump(spec.config) for spec in document.components.values()]
    assert "hunter2" not in "".join(printed)
    assert "authorization: '[redacted]'" in dump(document)


def test_dump_reads_back(tmp_path: Path, read: Read, good: str, installed: FactoryLookup) -> None:
    path = tmp_path / "dump.yaml"
    document = read(good)
    path.write_text(dump(document), "utf-8")
    again = parse(load([path]), installed, {})
    assert dump(again) == dump(document)
    assert (again.pipelines, again.service) == (document.pipelines, document.service)


def test_unused_components_are_warnings(read: Read, good: str) -> None:
    text = good.replace("nvml/slow]", "nvml]").replace("[nvml, nvml]", "[nvml]")
    text = text.replace("extensions: [status]", "extensions: []")
    assert [(w.path, w.message) for w in read(text).warnings] == [
        ("receivers::nvml/slow", "is not used; name it in any pipeline or remove it"),
        ("extensions::status", "is not used; name it in `service::extensions` or remove it"),
    ]


def test_a_good_document_loads_only_what_it_needs() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "import otelgpu.config.load, otelgpu.config.document, otelgpu.config.dump\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "otelgpu.config.document" in loaded
    assert not {"difflib", "durationpy", "otelgpu.config.fields"} & {*loaded}


def test_what_would_be_sent_twice_is_told(read: Read) -> None:
    document = read(
        """
receivers: {nvml: }
exporters: {debug: , debug/other: }
service:
  pipelines:
    metrics: {receivers: [nvml], exporters: [debug]}
    metrics/b: {receivers: [nvml], exporters: [debug, debug/other]}
"""
    )
    (warning,) = document.warnings
    assert warning.path == "service::pipelines::metrics/b"
    assert "'nvml' reaches 'debug' by 'metrics' too" in warning.message
