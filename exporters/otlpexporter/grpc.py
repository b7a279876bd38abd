"""Sends over gRPC. grpcio is imported when the first channel is made: it costs 20 MiB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

import otelgpu
from otelgpu.delivery.outcome import (
    Accepted,
    Outcome,
    Permanent,
    Retry,
    TooLarge,
    Unauthorized,
)
from otelgpu.delivery.wire import WireError
from otlpexporter.answer import partial_success, status, words
from otlpexporter.checks import Headers
from otlpexporter.config import Compression, GrpcTlsConfig
from otlpexporter.tls import client_context

if TYPE_CHECKING:
    import grpc

METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"

# https://opentelemetry.io/docs/specs/otlp/#failures says which may be sent again.
_RETRYABLE = frozenset(
    {"CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"}
)
_CREDENTIALS = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED"})
_NO_ANSWER = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"})
# gRPC's words in Go, C, Java and Rust, from either side of the connection.
_TOO_LARGE = (
    "larger than max",
    "exceeds maximum size",
    "message too large",
    "message length too large",
)
_SAYS_TOO_LARGE = frozenset({"RESOURCE_EXHAUSTED", "OUT_OF_RANGE"})
# After so many attempts in a row without an answer a channel is replaced: its name is looked up
# anew and its own, longer back-off is forgotten.
_REBUILD_AFTER = 2
_STATUS_DETAILS = "grpc-status-details-bin"
_NO_CHANNEL = "Failed to create channel"


@frozen
class GrpcDestination:
    """Where to, and how."""

    endpoint: str
    headers: Headers
    compression: Compression
    tls: GrpcTlsConfig


class GrpcTransport:
    """One channel to one endpoint."""

    gzip = False
    """grpcio compresses by itself and takes nothing that is compressed already."""

    def __init__(self, destination: GrpcDestination, method: str) -> None:
        self.destination = destination.endpoint
        self._tls = destination.tls
        self._method = method
        self._compression = destination.compression
        scheme, separator, rest = destination.endpoint.partition("://")
        web = bool(separator) and scheme in {"http", "https"}
        self._target = rest.rstrip("/") if web else destination.endpoint
        without = scheme == "http" or destination.endpoint.startswith("unix:")
        self._secure = scheme == "https" or not (without or destination.tls.insecure)
        self._metadata: tuple[tuple[str, str | bytes], ...] = tuple(
            (name.lower(), value.reveal()) for name, value in destination.headers.items()
        )
        self._channel: grpc.Channel | None = None
        self._silent = 0
        self._closed = False

    def open(self) -> None:
        """Check the files of keys and certificates."""
        if not self._secure:
            return
        tls = self._tls
        if tls.ca_file or tls.cert_file:
            # grpcio takes any bytes without a word and fails at each call.
            client_context(tls.ca_file, tls.cert_file, tls.key_file)

    def send(self, payload: bytes, timeout: float) -> Outcome:
        """Send one request and return what became of it within ``timeout`` seconds."""
        import grpc  # noqa: PLC0415  only where it is used

        if self._closed:
            return Retry("unreachable", "the exporter is shut down", answered=False)
        gzip = self._compression is Compression.GZIP
        compression = grpc.Compression.Gzip if gzip else grpc.Compression.NoCompression
        try:
            answer = self._call(payload, timeout, compression)
        except OSError as error:
            return Retry("tls", f"{error.filename}: {error.strerror}", answered=False)
        except grpc.RpcError as error:
            result = _failure(error)
        except ValueError as error:  # the channel was closed under the call
            result = Retry("unreachable", words(str(error)), answered=False)
        except Exception as error:  # noqa: BLE001  whatever grpcio meets must not lose the data
            result = Retry("bad_answer", words(repr(error)), answered=False)
        else:
            result = _accepted(answer)
        self._watch(result)
        return result

    def close(self) -> None:
        """Let go of the channel; breaks off a call that is under way."""
        self._closed = True
        self._disconnect()

    def _call(self, payload: bytes, timeout: float, compression: Any) -> bytes:
        channel = self._channel
        if channel is None:
            channel = self._channel = self._new_channel()
        # No serializers: bytes go out as they are, and come in so.
        method: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(self._method)
        return method(payload, timeout=timeout, metadata=self._metadata, compression=compression)

    def _watch(self, result: Outcome) -> None:
        silent = isinstance(result, Retry) and not result.answered
        self._silent = self._silent + 1 if silent else 0
        if self._silent >= _REBUILD_AFTER:
            self._disconnect()

    def _new_channel(self) -> grpc.Channel:
        import grpc  # noqa: PLC0415  only where it is used

        options: list[tuple[str, Any]] = [
            ("grpc.primary_user_agent", f"otelgpu/{otelgpu.__version__}"),
            # Else a new channel would inherit the connection, and the back-off, of the old one.
            ("grpc.use_local_subchannel_pool", 1),
            # Variables are the command line's to read, and otlp_http knows no proxy either.
            ("grpc.enable_http_proxy", 0),
        ]
        if not self._secure:
            return grpc.insecure_channel(self._target, options)
        if self._tls.server_name_override:
            options.append(("grpc.ssl_target_name_override", self._tls.server_name_override))
        return grpc.secure_channel(self._target, self._credentials(), options)

    def _credentials(self) -> grpc.ChannelCredentials:
        """Read the files anew each time: certificates are rotated while the agent runs."""
        import grpc  # noqa: PLC0415  only where it is used

        tls = self._tls
        files = (tls.ca_file, tls.key_file, tls.cert_file)
        return grpc.ssl_channel_credentials(*(Path(f).read_bytes() if f else None for f in files))

    def _disconnect(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()


def _accepted(answer: bytes) -> Accepted:
    try:
        return partial_success(answer)
    except WireError:
        return Accepted(0, "an answer that is no OTLP")


def _failure(error: grpc.RpcError) -> Outcome:
    # grpcio raises what is an error and a call at once; only the call has these.
    call: Any = error
    code: str = call.code().name
    details = words(call.details() or "")
    text = f"gRPC {code}{f': {details}' if details else ''}"
    after = _retry_info(call.trailing_metadata() or ())
    large = any(sign in details for sign in _TOO_LARGE)
    if code in _SAYS_TOO_LARGE and after is None and large:
        return TooLarge(code, text)
    if code in _RETRYABLE:
        return Retry(code, text, after, answered=code not in _NO_ANSWER or after is not None)
    if code == "UNKNOWN" and details.startswith(_NO_CHANNEL):
        return Retry("unreachable", text, answered=False)
    if code in _CREDENTIALS:
        return Unauthorized(code, text)
    if code == "RESOURCE_EXHAUSTED":
        return Retry(code, text, after)
    return Permanent(code, text)


def _retry_info(metadata: Any) -> float | None:
    for key, value in metadata:
        if key == _STATUS_DETAILS and isinstance(value, bytes):
            try:
                return status(value)[1]
            except WireError:
                return None
    return None
