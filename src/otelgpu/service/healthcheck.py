"""The extension ``health_check``: /healthz and /readyz for probes and for people."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import Attribute, asdict, field, frozen

from otelgpu.telemetry.health import Health

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer


def _host_and_port(_: object, attribute: Attribute[str], value: str) -> None:
    host, colon, port = value.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:  # noqa: PLR2004 - TCP
        raise ValueError(f"{attribute.name} {value!r} is no host:port; write 127.0.0.1:13143")


@frozen
class HealthCheckConfig:
    """Settings of the health check."""

    endpoint: str = field(default="127.0.0.1:13143", validator=_host_and_port)
    """Address to listen on, ``host:port``; port 0 means any free one. An IPv6 host is in brackets.
    """


class HealthCheck:
    """Serves the agent's health over HTTP.

    ``/healthz`` answers 200 while the process lives. ``/readyz`` answers 200 when every receiver
    has devices or a reason for having none and every exporter delivers, else 503; its body, JSON,
    gives each component's state with cause and remedy.
    """

    def __init__(self, config: HealthCheckConfig, health: Callable[[], Health]) -> None:
        self._config = config
        self._health = health
        self._server: ThreadingHTTPServer | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens, once started."""
        if self._server is None:
            raise RuntimeError("the health check has not been started")
        return self._server.server_address[0], self._server.server_address[1]  # type: ignore[return-value]

    def start(self) -> None:
        """Listen.

        Raises:
            OSError: the address is in use or not ours.

        """
        host, _, port = self._config.endpoint.rpartition(":")
        try:
            self._server = _server(host.strip("[]"), int(port), self._health)
        except OSError as error:
            words = error.strerror or str(error)
            raise OSError(
                f"health_check cannot listen on {self._config.endpoint}: {words}; set "
                "extensions::health_check::endpoint to another address"
            ) from error
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.1,), name="health_check", daemon=True).start()

    def shutdown(self, timeout: float) -> None:  # noqa: ARG002 - ends within its poll
        """Stop listening."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()


def _server(host: str, port: int, health: Callable[[], Health]) -> ThreadingHTTPServer:
    # Only an agent that has the extension pays for the server's modules.
    import socket  # noqa: PLC0415
    import socketserver  # noqa: PLC0415
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # noqa: PLC0415

    class Handler(BaseHTTPRequestHandler):
        """Answers one probe."""

        server_version = "otelgpu"
        sys_version = ""
        timeout = 5

        def do_GET(self) -> None:
            """Answer /healthz and /readyz."""
            path = self.path.partition("?")[0]
            if path == "/healthz":
                self._answer(200, {"status": "alive"})
            elif path == "/readyz":
                state = health()
                self._answer(200 if state.ready else 503, asdict(state))
            else:
                self._answer(404, {"error": "try /healthz or /readyz"})

        def _answer(self, status: int, body: dict[str, Any]) -> None:
            content = json.dumps(body, indent=2).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
            """Say nothing: probes come every few seconds."""

    class Server(ThreadingHTTPServer):
        """A server of either address family."""

        daemon_threads = True
        allow_reuse_port = False
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        def server_bind(self) -> None:
            """Leave out the look-up of our own name: it can block where DNS does not answer."""
            socketserver.TCPServer.server_bind(self)

    return Server((host, port), Handler)


@frozen
class HealthCheckFactory:
    """What the configuration needs to know of this extension."""

    type: str = "health_check"
    config: Any = HealthCheckConfig


FACTORY = HealthCheckFactory()
