"""Sends over HTTP, by the standard library: no other client is as small or starts as fast."""

from __future__ import annotations

import contextlib
import functools
import http.client
import socket
import ssl
import threading
import time
from urllib.parse import urlsplit

from attrs import frozen

import otelgpu
from otelgpu.delivery.outcome import Outcome, Retry
from otlpexporter.answer import words
from otlpexporter.checks import Headers
from otlpexporter.config import Compression, TlsConfig
from otlpexporter.connect import connect, left
from otlpexporter.deadline import DeadlineResponse
from otlpexporter.status import LONGEST_BODY, Answer, outcome
from otlpexporter.tls import TlsFileError, client_context

_CUT = (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError, ssl.SSLZeroReturnError)
# Errors by which a kept connection turns out to have been closed by the other side meanwhile.
_STALE = (http.client.RemoteDisconnected, *_CUT)
_PORTS = {"http": 80, "https": 443}


@frozen
class HttpDestination:
    """Where to, and how."""

    url: str
    headers: Headers
    compression: Compression
    tls: TlsConfig


class HttpTransport:
    """One kept connection to one URL; connects anew, with a new look-up, after any failure."""

    def __init__(self, destination: HttpDestination) -> None:
        self.gzip = destination.compression is Compression.GZIP
        self.destination = destination.url
        self._tls = destination.tls
        parts = urlsplit(destination.url)
        self._secure = parts.scheme == "https"
        # Named always: http.client would look for it behind the last colon of an IPv6 address.
        self._host, self._port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._headers = {
            "content-type": "application/x-protobuf",
            "user-agent": f"otelgpu/{otelgpu.__version__}",
            **({"content-encoding": "gzip"} if self.gzip else {}),
            **{name.lower(): value.reveal() for name, value in destination.headers.items()},
        }
        self._connection: http.client.HTTPConnection | None = None
        self._socket: socket.socket | None = None
        self._closed = False
        self._in_use = threading.Lock()

    def open(self) -> None:
        """Check the files of keys and certificates."""
        if self._secure:
            self._context()

    def send(self, payload: bytes, timeout: float) -> Outcome:
        """Send one request and return what became of it within ``timeout`` seconds."""
        with self._in_use:
            result = self._send(payload, timeout)
        if self._closed:
            self._release()
        return result

    def close(self) -> None:
        """Let go of the connection; breaks off an exchange that is under way."""
        self._closed = True
        sock = self._socket
        if sock is not None:
            with contextlib.suppress(OSError):  # the other side has closed it
                sock.shutdown(socket.SHUT_RDWR)
        self._release()

    def _release(self) -> None:
        """Close the connection, unless a thread is using it: that thread comes here after it."""
        if self._in_use.acquire(blocking=False):
            try:
                self._disconnect()
            finally:
                self._in_use.release()

    def _send(self, payload: bytes, timeout: float) -> Outcome:
        try:
            return outcome(self._exchange(payload, time.monotonic() + timeout))
        except TlsFileError as error:
            result = Retry("tls", _words(error), answered=False)
        except TimeoutError:
            result = Retry("timeout", f"no answer within {timeout:.3g} s", answered=False)
        except ssl.SSLError as error:
            result = Retry("tls", _tls_words(error), answered=False)
        except (OSError, http.client.HTTPException) as error:
            result = Retry("unreachable", _words(error), answered=False)
        except Exception as error:  # noqa: BLE001  whatever a server answers must not lose the data
            result = Retry("bad_answer", f"an answer that cannot be read: {words(repr(error))}")
        self._disconnect()
        return result

    def _exchange(self, payload: bytes, deadline: float) -> Answer:
        kept = self._connection is not None
        try:
            return self._once(payload, deadline)
        except _STALE:
            self._disconnect()
            if not kept:
                raise
            return self._once(payload, deadline)

    def _once(self, payload: bytes, deadline: float) -> Answer:
        connection = self._connected(deadline)
        connection.response_class = functools.partial(DeadlineResponse, deadline=deadline)  # type: ignore[assignment]
        try:
            connection.request("POST", self._path, payload, self._headers)
        except _CUT:
            # A server may answer (413, 401) and close before it has read all.
            response = connection.getresponse()
        else:
            response = connection.getresponse()
        with response:
            body = response.read(LONGEST_BODY)
            whole = response.isclosed()
        if response.will_close or not whole:
            self._disconnect()
        return Answer(response.status, response.headers, body)

    def _connected(self, deadline: float) -> http.client.HTTPConnection:
        connection = self._connection
        if connection is None:
            connection = self._new_connection(deadline)
        if self._closed:
            raise ConnectionAbortedError("the exporter is shut down")
        connection.sock.settimeout(left(deadline))
        return connection

    def _new_connection(self, deadline: float) -> http.client.HTTPConnection:
        """Connect; ``_disconnect`` clears away what a failure leaves."""
        context = self._context() if self._secure else None
        sock = connect(self._host, self._port, deadline, self._hold)
        if context is not None:
            name = self._tls.server_name_override or self._host
            wrapped = context.wrap_socket(sock, server_hostname=name, do_handshake_on_connect=False)
            sock = wrapped
            self._hold(sock)
            wrapped.settimeout(left(deadline))
            wrapped.do_handshake()
        connection = self._connection = http.client.HTTPConnection(self._host, self._port)
        connection.default_port = _PORTS["https" if self._secure else "http"]
        connection.auto_open = 0
        connection.sock = sock
        return connection

    def _hold(self, sock: socket.socket) -> None:
        """Let ``close`` know the socket that the thread is about to wait for."""
        self._socket = sock
        if self._closed:
            raise ConnectionAbortedError("the exporter is shut down")

    def _context(self) -> ssl.SSLContext:
        """Read the files anew each time: certificates are rotated while the agent runs."""
        tls = self._tls
        context = client_context(tls.ca_file, tls.cert_file, tls.key_file)
        if tls.insecure_skip_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        sock, self._socket = self._socket, None
        if connection is not None:
            connection.close()
        if sock is not None:
            sock.close()


def _tls_words(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"the server's certificate is not accepted: {error.verify_message}; "
            "set tls.ca_file to the certificate of its authority"
        )
    reason = error.reason or error
    return f"TLS failed: {reason}; does the port speak TLS, and want a client certificate?"


def _words(error: Exception) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    if strerror and isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {strerror}"
    # A server that speaks no HTTP has its line in here: it must not write lines of our log.
    return words(strerror or str(error) or type(error).__name__)
