"""Real OTLP receivers over HTTP and gRPC on the loopback, which answer by a script.

They decode what they get with the official message classes and remember it. Stopped ones can be
started again on the same port.
"""

from __future__ import annotations

import gzip
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import grpc
from attrs import field, frozen
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

METRICS_METHOD = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
LOGS_METHOD = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
PROTOBUF = "application/x-protobuf"

OtlpRequest = ExportMetricsServiceRequest | ExportLogsServiceRequest


@frozen
class Reply:
    """One HTTP answer of a script."""

    status: int = 200
    headers: Mapping[str, str] = field(factory=dict)
    body: bytes = b""
    delay: float = 0
    """Seconds before the answer."""
    hang: bool = False
    """Never answer, until the server is stopped."""
    hang_up: bool = False
    """Close the connection without an answer."""
    drip: float = 0
    """Seconds between the bytes of the answer."""


@frozen
class GrpcReply:
    """One gRPC answer of a script."""

    code: grpc.StatusCode = grpc.StatusCode.OK
    details: str = ""
    metadata: tuple[tuple[str, str | bytes], ...] = ()
    body: bytes | None = None
    hang: bool = False


@frozen(eq=False)
class Received:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    request: OtlpRequest | None
    """None where the bytes are no OTLP."""
    accepted: bool
    """Whether it was answered well."""


def partial_success(rejected: int, message: str) -> bytes:
    """Return the body of an answer that refuses some points."""
    response = ExportMetricsServiceResponse()
    response.partial_success.rejected_data_points = rejected
    response.partial_success.error_message = message
    return response.SerializeToString()


def status(message: str, after: float | None = None) -> bytes:
    """Return a ``google.rpc.Status``, with a ``RetryInfo`` of ``after`` seconds."""
    made = Status(code=14, message=message)
    if after is not None:
        delay = Duration(seconds=int(after), nanos=int(after % 1 * 1e9))
        made.details.add().Pack(RetryInfo(retry_delay=delay))
    return bytes(made.SerializeToString())


def points(request: OtlpRequest | None) -> list[Any]:
    """Return the data points or log records of a request."""
    if isinstance(request, ExportLogsServiceRequest):
        return [r for of in request.resource_logs for s in of.scope_logs for r in s.log_records]
    assert request is not None
    return [
        point
        for of in request.resource_metrics
        for scope in of.scope_metrics
        for metric in scope.metrics
        for point in (*metric.gauge.data_points, *metric.sum.data_points)
    ]


class Recorder:
    """What has come in; lets tests wait for it."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self._changed = threading.Condition()

    def add(self, received: Received) -> None:
        with self._changed:
            self.received.append(received)
            self._changed.notify_all()

    def wait_for(self, condition: Callable[[], bool], deadline: float = 10) -> None:
        """Wait until ``condition`` holds after a request; fail after ``deadline`` seconds."""
        with self._changed:
            assert self._changed.wait_for(condition, deadline), f"only {len(self.received)} came"

    @property
    def accepted(self) -> list[Any]:
        """Points and log records of all requests that were answered well."""
        return [p for r in list(self.received) if r.accepted for p in points(r.request)]


class OtlpHttpServer(Recorder):
    """OTLP over HTTP: answers by the script, then 200; by ``answer`` where that is given."""

    def __init__(
        self,
        script: Iterable[Reply] = (),
        answer: Callable[[Received], Reply] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__()
        self.script = deque(script)
        self.answer = answer
        self.connections = 0
        self._tls = tls
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self.stopping = threading.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def start(self) -> Self:
        self.stopping.clear()
        self._server = _Server(("127.0.0.1", self.port), _Handler)
        self._server.owner = self
        if self._tls:
            self._server.socket = self._tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def stop(self) -> None:
        self.stopping.set()
        if self._server and self._thread:
            self._server.shutdown()
            self._thread.join()
            self._server.hang_up()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    owner: OtlpHttpServer

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._open: set[Any] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.owner.connections += 1
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        for request in list(self._open):
            try:
                request.shutdown(2)
            except OSError:
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what tests do."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        owner = self.server.owner
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        received = Received(self.path, headers, body, _decoded(self.path, body), accepted=False)
        if owner.script:
            reply = owner.script.popleft()
        else:
            reply = owner.answer(received) if owner.answer else Reply()
        good = 200 <= reply.status < 300 and not reply.hang and not reply.hang_up
        owner.add(Received(self.path, headers, body, received.request, accepted=good))
        self._reply(reply)

    def _reply(self, reply: Reply) -> None:
        stopping = self.server.owner.stopping
        if reply.hang:
            stopping.wait()
        if reply.hang or reply.hang_up:
            self.close_connection = True
            return
        stopping.wait(reply.delay)
        lines = [f"HTTP/1.1 {reply.status} Scripted"]
        if reply.status != 204:
            lines.append(f"Content-Length: {len(reply.body)}")
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        answer = "\r\n".join([*lines, "", ""]).encode() + reply.body
        if not reply.drip:
            self.wfile.write(answer)
            return
        for byte in answer:
            if stopping.wait(reply.drip):
                return
            self.wfile.write(bytes([byte]))

    def log_message(self, *args: Any) -> None:
        """Tests read what was received, not a log."""


class OtlpGrpcServer(Recorder):
    """OTLP over gRPC: answers by the script, then OK."""

    def __init__(
        self,
        script: Iterable[GrpcReply] = (),
        credentials: grpc.ServerCredentials | None = None,
        max_message: int = -1,
    ) -> None:
        super().__init__()
        self.script = deque(script)
        self.port = 0
        self._credentials = credentials
        self._max_message = max_message
        self._server: grpc.Server | None = None
        self._stopping = threading.Event()

    @property
    def endpoint(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> Self:
        self._stopping.clear()
        options = [
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", self._max_message),
        ]
        self._server = grpc.server(ThreadPoolExecutor(4), options=options)
        self._server.add_generic_rpc_handlers((_GrpcService(self._export),))
        address = f"127.0.0.1:{self.port}"
        if self._credentials:
            self.port = self._server.add_secure_port(address, self._credentials)
        else:
            self.port = self._server.add_insecure_port(address)
        self._server.start()
        return self

    def stop(self) -> None:
        self._stopping.set()
        if self._server:
            self._server.stop(0).wait()
            self._server = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _export(self, path: str, body: bytes, context: grpc.ServicerContext) -> bytes:
        headers = {key: str(value) for key, value in context.invocation_metadata()}
        reply = self.script.popleft() if self.script else GrpcReply()
        good = reply.code is grpc.StatusCode.OK and not reply.hang
        self.add(Received(path, headers, body, _decoded(path, body), accepted=good))
        if reply.hang:
            self._stopping.wait()
        context.set_trailing_metadata(reply.metadata)
        if reply.code is not grpc.StatusCode.OK:
            context.abort(reply.code, reply.details)
        if reply.body is not None:
            return reply.body
        logs = path == LOGS_METHOD
        response = ExportLogsServiceResponse() if logs else ExportMetricsServiceResponse()
        return response.SerializeToString()


class _GrpcService(grpc.GenericRpcHandler):
    def __init__(self, export: Callable[[str, bytes, grpc.ServicerContext], bytes]) -> None:
        self._export = export

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        path = handler_call_details.method
        if path not in {METRICS_METHOD, LOGS_METHOD}:
            return None
        return grpc.unary_unary_rpc_method_handler(
            lambda body, context: self._export(path, body, context)
        )


def _decoded(path: str, body: bytes) -> OtlpRequest | None:
    logs = "log" in path.lower()
    request: OtlpRequest = ExportLogsServiceRequest() if logs else ExportMetricsServiceRequest()
    try:
        request.ParseFromString(body)
    except DecodeError:
        return None
    return request
