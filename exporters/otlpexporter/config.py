"""Settings of ``otlp_http`` and ``otlp_grpc``; where the Collector has one, its name is kept."""

from __future__ import annotations

import re
from datetime import timedelta
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from attrs import Attribute, Factory, field, frozen

from otelgpu.config.secret import Secret
from otelgpu.delivery.queue import QueueConfig
from otelgpu.delivery.retry import RetryConfig

Headers = dict[str, Secret]

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# What HTTP and gRPC both carry in a header's value: printable ASCII.
_VALUE = re.compile(r"[ -~\t]*")
_URL = re.compile(r"[!-~]+")
_GRPC_SCHEMES = ("http://", "https://", "unix:", "dns:")


class Compression(StrEnum):
    """How requests are compressed."""

    GZIP = "gzip"
    NONE = "none"


def _headers(_: object, __: object, value: Headers | None) -> None:
    for name, secret in (value or {}).items():
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a header; write letters, digits and dashes")
        if not _VALUE.fullmatch(secret.reveal()):
            raise ValueError(f"the value of header {name} is not printable ASCII; encode it")


def _metadata(instance: object, attribute: object, value: Headers | None) -> None:
    _headers(instance, attribute, value)
    for name in value or {}:
        if name.lower().endswith("-bin"):
            raise ValueError(f"{name} would be binary in gRPC; use a name without -bin")


def _timeout(_: object, __: object, value: timedelta | None) -> None:
    if value is not None and value <= timedelta(0):
        raise ValueError("timeout must be longer than 0s")


def _url(_: object, attribute: Attribute[str], value: str) -> None:
    """Accept an absolute URL; nothing where the setting may be empty."""
    if not value and attribute.name != "endpoint":
        return
    if "://" not in value:
        raise ValueError(f"{value} has no scheme; write http://{value or 'localhost:4318'}")
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"}:
        raise ValueError(f"scheme {parts.scheme} is not known; write http:// or https://")
    if not parts.hostname or not _URL.fullmatch(value):
        raise ValueError(f"{value} is no URL of a host; write {parts.scheme}://localhost:4318")
    if parts.username is not None:
        raise ValueError("a user or password does not belong in a URL; write it in headers")
    _ = parts.port  # raises ValueError where it is no port


def _grpc_target(_: object, attribute: Attribute[str], value: str) -> None:
    """Accept ``host:port``, a URL without a path, or a target of gRPC's own naming."""
    if not value and attribute.name != "endpoint":
        return
    scheme, separator, rest = value.partition("://")
    if value.startswith(("unix:", "dns:")):
        return
    if separator and not value.startswith(_GRPC_SCHEMES):
        raise ValueError(f"scheme {scheme} is not known; write http://, https:// or host:port")
    parts = urlsplit(f"//{rest if separator else value}")
    if not parts.hostname or not parts.port:
        raise ValueError(f"{value!r} names no host and port; write localhost:4317")
    if parts.path.strip("/") or parts.query:
        raise ValueError(f"gRPC takes no path; write {parts.netloc}, or use otlp_http")


class _KeyPair:
    """Checks that a client has both its certificate and its key, or neither."""

    cert_file: str
    key_file: str

    def __attrs_post_init__(self) -> None:
        if bool(self.cert_file) != bool(self.key_file):
            missing = "key_file" if self.cert_file else "cert_file"
            raise ValueError(f"a client certificate has two files; write {missing} too")


@frozen
class TlsConfig(_KeyPair):
    """TLS towards an ``https://`` endpoint. Files are read again at each new connection."""

    ca_file: str = ""
    """File with the certificates (PEM) that are trusted; empty means those of the system."""
    cert_file: str = ""
    """File with the client's certificate (PEM) for mutual TLS; empty means none."""
    key_file: str = ""
    """File with the key (PEM) of ``cert_file``; empty means none."""
    insecure_skip_verify: bool = False
    """Whether to accept any certificate: encrypted, but to nobody knows whom."""
    server_name_override: str = ""
    """Name to ask for and to find in the certificate; empty means the endpoint's host."""


@frozen
class GrpcTlsConfig(_KeyPair):
    """TLS towards a gRPC endpoint. Files are read again at each new channel."""

    insecure: bool = False
    """Whether an endpoint without a scheme is spoken to without TLS; ``http://`` always is."""
    ca_file: str = ""
    """File with the certificates (PEM) that are trusted; empty means those that gRPC brings."""
    cert_file: str = ""
    """File with the client's certificate (PEM) for mutual TLS; empty means none."""
    key_file: str = ""
    """File with the key (PEM) of ``cert_file``; empty means none."""
    server_name_override: str = ""
    """Name to ask for and to find in the certificate; empty means the endpoint's host."""


@frozen
class HttpSignalConfig:
    """What differs for one signal."""

    headers: Headers | None = field(default=None, validator=_headers)
    """Headers in place of the exporter's; empty means the exporter's."""
    compression: Compression | None = None
    """``gzip`` or ``none``; empty means the exporter's."""
    timeout: timedelta | None = field(default=None, validator=_timeout)
    """Longest time of one attempt; empty means the exporter's."""
    tls: TlsConfig | None = None
    """TLS in place of the exporter's; empty means the exporter's."""


@frozen
class GrpcSignalConfig:
    """What differs for one signal."""

    headers: Headers | None = field(default=None, validator=_metadata)
    """Metadata in place of the exporter's; empty means the exporter's."""
    compression: Compression | None = None
    """``gzip`` or ``none``; empty means the exporter's."""
    timeout: timedelta | None = field(default=None, validator=_timeout)
    """Longest time of one attempt; empty means the exporter's."""
    tls: GrpcTlsConfig | None = None
    """TLS in place of the exporter's; empty means the exporter's."""


@frozen
class OtlpHttpConfig:
    """OTLP over HTTP with protobuf."""

    endpoint: str = field(default="http://localhost:4318", validator=_url)
    """URL to which ``/v1/metrics`` and ``/v1/logs`` are appended."""
    metrics_endpoint: str = field(default="", validator=_url)
    """Whole URL for points; empty means ``endpoint`` with ``/v1/metrics``."""
    logs_endpoint: str = field(default="", validator=_url)
    """Whole URL for events; empty means ``endpoint`` with ``/v1/logs``."""
    headers: Headers = field(factory=dict, validator=_headers)
    """Headers of each request, such as ``Authorization``. Their values are never shown."""
    compression: Compression = Compression.GZIP
    """``gzip`` or ``none``."""
    timeout: timedelta = field(default=timedelta(seconds=10), validator=_timeout)
    """Longest time of one attempt, from connecting to the last byte of the answer. Must be above
    zero."""
    tls: TlsConfig = Factory(TlsConfig)
    """TLS, for endpoints that begin with ``https://``."""
    metrics: HttpSignalConfig = Factory(HttpSignalConfig)
    """What differs for points."""
    logs: HttpSignalConfig = Factory(HttpSignalConfig)
    """What differs for events."""
    retry_on_failure: RetryConfig = Factory(RetryConfig)
    """How requests that were not taken are sent again."""
    sending_queue: QueueConfig = Factory(QueueConfig)
    """What waits while the destination does not take it."""


@frozen
class OtlpGrpcConfig:
    """OTLP over gRPC."""

    endpoint: str = field(default="http://localhost:4317", validator=_grpc_target)
    """``host:port``, with TLS unless ``tls::insecure``; ``https://host:port``, with TLS;
    ``http://host:port`` or ``unix:///path``, without."""
    metrics_endpoint: str = field(default="", validator=_grpc_target)
    """Endpoint for points; empty means ``endpoint``."""
    logs_endpoint: str = field(default="", validator=_grpc_target)
    """Endpoint for events; empty means ``endpoint``."""
    headers: Headers = field(factory=dict, validator=_metadata)
    """Metadata of each call, such as ``authorization``. Their values are never shown."""
    compression: Compression = Compression.GZIP
    """``gzip`` or ``none``."""
    timeout: timedelta = field(default=timedelta(seconds=10), validator=_timeout)
    """Longest time of one attempt. Must be above zero."""
    tls: GrpcTlsConfig = Factory(GrpcTlsConfig)
    """TLS, unless the endpoint begins with ``http://``."""
    metrics: GrpcSignalConfig = Factory(GrpcSignalConfig)
    """What differs for points."""
    logs: GrpcSignalConfig = Factory(GrpcSignalConfig)
    """What differs for events."""
    retry_on_failure: RetryConfig = Factory(RetryConfig)
    """How requests that were not taken are sent again."""
    sending_queue: QueueConfig = Factory(QueueConfig)
    """What waits while the destination does not take it."""


def for_signal(config: Any, signal: Any, name: str) -> Any:
    """Return the setting ``name`` of one signal: its own where it has one, else the exporter's."""
    own = getattr(signal, name)
    return getattr(config, name) if own is None else own
