"""Settings of ``otlp_http`` and ``otlp_grpc``; where the Collector has one, its name is kept."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Any

from attrs import Factory, field, frozen

from otelgpu.delivery.queue import QueueConfig
from otelgpu.delivery.retry import RetryConfig
from otlpexporter import checks
from otlpexporter.checks import Headers


class Compression(StrEnum):
    """How requests are compressed."""

    GZIP = "gzip"
    NONE = "none"


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
    server_name_override: str = field(default="", validator=checks.host)
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
    server_name_override: str = field(default="", validator=checks.host)
    """Name to ask for and to find in the certificate; empty means the endpoint's host."""


@frozen
class HttpSignalConfig:
    """What differs for one signal."""

    headers: Headers | None = field(default=None, validator=checks.headers)
    """Headers in place of the exporter's; empty means the exporter's."""
    compression: Compression | None = None
    """``gzip`` or ``none``; empty means the exporter's."""
    timeout: timedelta | None = field(default=None, validator=checks.timeout)
    """Longest time of one attempt; empty means the exporter's."""
    tls: TlsConfig | None = None
    """TLS in place of the exporter's; empty means the exporter's."""


@frozen
class GrpcSignalConfig:
    """What differs for one signal."""

    headers: Headers | None = field(default=None, validator=checks.metadata)
    """Metadata in place of the exporter's; empty means the exporter's."""
    compression: Compression | None = None
    """``gzip`` or ``none``; empty means the exporter's."""
    timeout: timedelta | None = field(default=None, validator=checks.timeout)
    """Longest time of one attempt; empty means the exporter's."""
    tls: GrpcTlsConfig | None = None
    """TLS in place of the exporter's; empty means the exporter's."""


@frozen
class OtlpHttpConfig:
    """OTLP over HTTP with protobuf."""

    endpoint: str = field(default="http://localhost:4318", validator=checks.base_url)
    """URL to which ``/v1/metrics`` and ``/v1/logs`` are appended."""
    metrics_endpoint: str = field(default="", validator=checks.url)
    """Whole URL for points; empty means ``endpoint`` with ``/v1/metrics``."""
    logs_endpoint: str = field(default="", validator=checks.url)
    """Whole URL for events; empty means ``endpoint`` with ``/v1/logs``."""
    headers: Headers = field(factory=dict, validator=checks.headers)
    """Headers of each request, such as ``Authorization``. Their values are never shown."""
    compression: Compression = Compression.GZIP
    """``gzip`` or ``none``."""
    timeout: timedelta = field(default=timedelta(seconds=10), validator=checks.timeout)
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

    endpoint: str = field(default="http://localhost:4317", validator=checks.grpc_target)
    """``host:port``, with TLS unless ``tls::insecure``; ``https://host:port``, with TLS;
    ``http://host:port`` or ``unix:///path``, without."""
    metrics_endpoint: str = field(default="", validator=checks.grpc_target)
    """Endpoint for points; empty means ``endpoint``."""
    logs_endpoint: str = field(default="", validator=checks.grpc_target)
    """Endpoint for events; empty means ``endpoint``."""
    headers: Headers = field(factory=dict, validator=checks.metadata)
    """Metadata of each call, such as ``authorization``. Their values are never shown."""
    compression: Compression = Compression.GZIP
    """``gzip`` or ``none``."""
    timeout: timedelta = field(default=timedelta(seconds=10), validator=checks.timeout)
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
