"""An OTLP/HTTP destination on loopback that counts points and keeps nothing else."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)


class Sink:
    """Counts requests, bytes and data points."""

    def __init__(self) -> None:
        self.requests: list[tuple[int, int]] = []
        """Points and bytes of each request."""
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:  # http.server asks for this name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                sink.take(body, self.headers.get("Content-Encoding"))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def take(self, body: bytes, encoding: str | None) -> None:
        plain = gzip.decompress(body) if encoding == "gzip" else body
        request = ExportMetricsServiceRequest.FromString(plain)
        points = sum(
            len(metric.gauge.data_points) + len(metric.sum.data_points)
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        )
        self.requests.append((points, len(body)))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
