"""The Resource of the agent: who sends, and on which host."""

from __future__ import annotations

import os
import platform
import re
import socket
import uuid
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from otelgpu import __version__
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Attributes, AttributeValue
from otelgpu.semconv.metrics import OFFICIAL_SCHEMA_URL

_MACHINE_ID = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_ID = re.compile("[0-9a-f]{32}")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_NAMESPACE = uuid.UUID("5a1f1f5c-6f0c-4e0e-8f5b-0d1c7f6f3f11")
"""Of service.instance.id; chosen once at random."""


def make_resource(
    environ: Mapping[str, str], extra: Attributes, configured: Attributes
) -> Resource:
    """Return the Resource: what the host tells, then variables of the SDK, then the configuration.

    Later ones win.
    ``environ`` may hold OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES (OpenTelemetry environment
    variable specification). ``extra`` is what components require: nothing overrides it.
    """
    attributes: dict[str, AttributeValue] = {
        "service.name": "otelgpu",
        "service.version": __version__,
        **_host(),
        **_from_variable(environ.get("OTEL_RESOURCE_ATTRIBUTES", "")),
    }
    if name := environ.get("OTEL_SERVICE_NAME"):
        attributes["service.name"] = name
    attributes |= {**configured, **extra}
    attributes.setdefault("service.instance.id", _instance(attributes))
    return Resource(attributes, OFFICIAL_SCHEMA_URL)


def _host() -> dict[str, AttributeValue]:
    machine = platform.machine()
    found: dict[str, AttributeValue] = {
        "host.name": socket.gethostname(),
        "host.arch": _ARCHITECTURES.get(machine, machine),
        "os.type": platform.system().lower(),
    }
    for file in _MACHINE_ID:
        try:
            text = file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        # machine-id(5): 32 hex digits; before the first boot is over it is empty or a word.
        if _ID.fullmatch(text):
            found["host.id"] = text
            break
    return {key: value for key, value in found.items() if value}


def _instance(attributes: Attributes) -> str:
    """Return an id that stays the same on this host: series must not change with a restart."""
    host = attributes.get("host.id") or attributes.get("host.name") or os.uname().nodename
    return str(uuid.uuid5(_NAMESPACE, f"{attributes['service.name']}@{host}"))


def _from_variable(text: str) -> dict[str, AttributeValue]:
    """Read ``key=value,key=value`` with percent-encoded values; a malformed part is left out."""
    pairs = (part.partition("=") for part in text.split(","))
    return {k.strip(): unquote(v.strip()) for k, equals, v in pairs if equals and k.strip()}
