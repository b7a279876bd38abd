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
_INTERVAL = "OTEL_METRIC_EXPORT_INTERVAL"
_PROTOCOLS = {"": "otlp_http", "http/protobuf": "otlp_http", "grpc": "otlp_grpc"}
_SIMULATED = """\
************************************************************************
*  NO GPU WAS FOUND: what follows is a SIMULATED fleet, not hardware.  *
*  Its Resource and hw.gpu.info carry otelgpu.simulated=true.          *
************************************************************************"""


def default_configuration(
    environ: Mapping[str, str],
    factories: InstalledFactories,
    say: Callable[[str], None],
    deadline: float = PROBE_DEADLINE,
) -> Mapping[str, Any]:
    """Return a raw configuration for this node; ``deadline`` is each probe's, in seconds.

    Raises:
        ConfigError: a variable asks for something that we cannot do.

    """
    known = factories.known("receivers")
    receivers = [type_ for type_ in known if _found(factories, type_, say, deadline)]
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
    milliseconds = environ.get(_INTERVAL, "").strip()
    if not milliseconds:
        return {}
    if not (milliseconds.isascii() and milliseconds.isdecimal() and int(milliseconds)):
        words = f"{milliseconds!r} is no time; set it to a number of milliseconds above zero"
        raise ConfigError([Mistake(_INTERVAL, words)])
    return {"collection_interval": f"{milliseconds}ms"}


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


def _found(
    factories: InstalledFactories, type_: str, say: Callable[[str], None], deadline: float
) -> bool:
    """Say whether this node has what a receiver reads; one that cannot be asked is left out."""
    try:
        probe = factories.get("receivers", type_).probe
    except ImportError as error:
        say(f"warning: the receiver {type_} is left out, it cannot be loaded: {error}")
        return False
    if probe is None:
        return False
    answer: list[bool | Exception] = []
    thread = threading.Thread(target=lambda: answer.append(_ask(probe)), daemon=True)
    thread.start()
    thread.join(deadline)
    if not answer:
        return True
    if isinstance(answer[0], Exception):
        say(f"warning: the receiver {type_} is left out, its probe failed: {answer[0]!r}")
        return False
    return answer[0]


def _ask(probe: Callable[[], bool]) -> bool | Exception:
    try:
        return probe()
    except Exception as error:  # noqa: BLE001 - a vendor's library may raise anything
        return error
