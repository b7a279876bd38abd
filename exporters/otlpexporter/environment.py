"""The standard variables ``OTEL_EXPORTER_OTLP_*`` as settings where the file is silent.

Rules: https://opentelemetry.io/docs/specs/otel/protocol/exporter. Variables of one signal become
settings of that signal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

_PREFIX = "OTEL_EXPORTER_OTLP_"
_SIGNALS = {"metrics": "METRICS_", "logs": "LOGS_"}
_TLS_FILES = {
    "CERTIFICATE": "ca_file",
    "CLIENT_CERTIFICATE": "cert_file",
    "CLIENT_KEY": "key_file",
}

_ENDPOINTS = frozenset({"endpoint", "metrics_endpoint", "logs_endpoint"})


def http_defaults(environ: Mapping[str, str], written: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings of ``otlp_http``; nothing where the file names an endpoint."""
    return _defaults(environ, written, _http_settings)


def grpc_defaults(environ: Mapping[str, str], written: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings of ``otlp_grpc``; nothing where the file names an endpoint."""
    return _defaults(environ, written, _grpc_settings)


def _defaults(
    environ: Mapping[str, str], written: Mapping[str, Any], settings: Any
) -> Mapping[str, Any]:
    # The variables belong to the destination that they name. Their headers, tokens perhaps, must
    # not go to another one.
    if _ENDPOINTS & written.keys():
        return {}
    found: dict[str, Any] = settings(environ, _PREFIX)
    for signal, infix in _SIGNALS.items():
        own = settings(environ, _PREFIX + infix)
        if "endpoint" in own:
            found[f"{signal}_endpoint"] = own.pop("endpoint")
        if "tls" in own:
            # A signal's TLS is whole: what it does not say is as for all signals.
            own["tls"] = {**found.get("tls", {}), **own["tls"]}
        if own:
            found[signal] = own
    return found


def _http_settings(environ: Mapping[str, str], prefix: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("endpoint", "compression"):
        value = _get(environ, prefix + name.upper())
        if value:
            found[name] = value
    headers = _headers(_get(environ, f"{prefix}HEADERS"))
    if headers:
        found["headers"] = headers
    timeout = _get(environ, f"{prefix}TIMEOUT")
    if timeout:
        # A plain number is in ms; anything else is left for the check of durations to refuse.
        found["timeout"] = f"{timeout}ms"
    tls = {
        setting: value
        for suffix, setting in _TLS_FILES.items()
        if (value := _get(environ, prefix + suffix))
    }
    if tls:
        found["tls"] = tls
    return found


def _grpc_settings(environ: Mapping[str, str], prefix: str) -> dict[str, Any]:
    found = _http_settings(environ, prefix)
    insecure = _get(environ, f"{prefix}INSECURE").lower()
    if insecure:
        found.setdefault("tls", {})["insecure"] = insecure == "true"
    return found


def _get(environ: Mapping[str, str], name: str) -> str:
    """Return a variable; one that is set to nothing counts as not set."""
    return environ.get(name, "").strip()


def _headers(text: str) -> dict[str, str]:
    """Read ``key=value,key2=value2`` with percent-encoded values, as W3C Baggage has them."""
    headers = {}
    for item in text.split(","):
        name, equals, value = item.partition("=")
        if equals and name.strip():
            headers[unquote(name.strip())] = unquote(value.strip())
    return headers
