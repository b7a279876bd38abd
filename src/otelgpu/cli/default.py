"""The configuration for a node without one: what is found by probing, sent or shown."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from otelgpu.config.document import ConfigError, Mistake
from otelgpu.service.factories import InstalledFactories

PROBE_DEADLINE = 5.0
"""Seconds; a library that does not answer within them is there, and hangs."""
_SIMULATOR = "simulator"
_ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
)
_PROTOCOLS = {"": "otlp_http", "http/protobuf": "otlp_http", "grpc": "otlp_grpc"}
_SIMULATED = """\
************************************************************************
*  NO GPU WAS FOUND: what follows is a SIMULATED fleet, not hardware.  *
*  Its Resource and hw.gpu.info carry otelgpu.simulated=true.          *
************************************************************************"""


def default_configuration(
    environ: Mapping[str, str], factories: InstalledFactories, say: Callable[[str], None]
) -> Mapping[str, Any]:
    """Return a raw configuration for this node.

    Raises:
        ConfigError: a variable asks for a protocol that we do not speak.

    """
    receivers = [type_ for type_ in factories.known("receivers") if _found(factories, type_)]
    if not receivers:
        say(_SIMULATED)
        receivers = [_SIMULATOR]
    exporter, settings = _exporter(environ)
    pipeline = {"exporters": [exporter]}
    events = [r for r in receivers if "events" in factories.get("receivers", r).signals]
    pipelines = {"metrics": {"receivers": receivers, **pipeline}}
    if events:
        pipelines["events"] = {"receivers": events, **pipeline}
    return {
        "receivers": {type_: _interval(environ) for type_ in receivers},
        "exporters": {exporter: settings},
        "service": {"pipelines": pipelines},
    }


def _interval(environ: Mapping[str, str]) -> dict[str, str]:
    """Follow OTEL_METRIC_EXPORT_INTERVAL (ms), as an SDK's periodic reader does."""
    milliseconds = environ.get("OTEL_METRIC_EXPORT_INTERVAL", "").strip()
    return {"collection_interval": f"{milliseconds}ms"} if milliseconds else {}


def _exporter(environ: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    if not any(environ.get(name) for name in _ENDPOINTS):
        return "debug", {"verbosity": "normal"}
    for name in ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        protocol = environ.get(name, "").strip()
        if protocol:
            break
    if protocol not in _PROTOCOLS:
        words = f"{protocol!r} is not spoken; set it to http/protobuf or grpc"
        raise ConfigError([Mistake(name, words)])
    return _PROTOCOLS[protocol], {}


def _found(factories: InstalledFactories, type_: str) -> bool:
    probe = factories.get("receivers", type_).probe
    if probe is None:
        return False
    answer: list[bool] = []
    thread = threading.Thread(target=lambda: answer.append(probe()), daemon=True)
    thread.start()
    thread.join(PROBE_DEADLINE)
    return answer[0] if answer else thread.is_alive()
