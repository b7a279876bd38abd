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
from otlpexporter.config import Compression, Headers, TlsConfig
from otlpexporter.deadline import DeadlineResponse
from otlpexporter.status import LONGEST_BODY, Answer, outcome

# Errors by which a kept connection turns out to have been closed by the other side meanwhile.
_STALE = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)


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
        self._host, self._port = parts.hostname or "", parts.port
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._headers = {
            "Content-Type": "application/x-protobuf",
            "User-Agent": f"otelgpu/{otelgpu.__version__}",
            **({"Content-Encoding": "gzip"} if self.gzip else {}),
            **{name: value.reveal() for name, value in destination.headers.items()},
        }
        self._connection: http.client.HTTPConnection | None = None
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
        connection = self._connection
        sock = connection.sock if connection else None
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
        except TimeoutError:
            result = Retry("timeout", f"no answer within {timeout:.3g} s", answered=False)
        except ssl.SSLError as error:
            result = Retry("tls", _tls_words(error), answered=False)
        except (OSError, http.client.HTTPException) as error:
            result = Retry("unreachable", _words(error), answered=False)
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
        except (BrokenPipeError, ConnectionResetError):
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
            connection = self._connection = self._new_connection(_left(deadline))
            connection.connect()
        if self._closed:
            raise ConnectionAbortedError("the exporter is shut down")
        connection.sock.settimeout(_left(deadline))
        return connection

    def _new_connection(self, timeout: float) -> http.client.HTTPConnection:
        if not self._secure:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        name = self._tls.server_name_override
        return _TlsConnection(self._host, self._port, timeout, self._context(), name)

    def _context(self) -> ssl.SSLContext:
        """Read the files anew each time: certificates are rotated while the agent runs."""
        tls = self._tls
        context = ssl.create_default_context(cafile=tls.ca_file or None)
        if tls.insecure_skip_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if tls.cert_file:
            context.load_cert_chain(tls.cert_file, tls.key_file)
        return context

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class _TlsConnection(http.client.HTTPConnection):
    """Asks for, and verifies, another name than the one that it connects to."""

    default_port = 443

    def __init__(
        self, host: str, port: int | None, timeout: float, context: ssl.SSLContext, name: str
    ) -> None:
        super().__init__(host, port, timeout=timeout)
        self._context = context
        self._name = name or host

    def connect(self) -> None:
        super().connect()
        plain = self.sock
        try:
            self.sock = self._context.wrap_socket(plain, server_hostname=self._name)
        except OSError:
            plain.close()
            raise


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


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
    return strerror or str(error) or type(error).__name__
