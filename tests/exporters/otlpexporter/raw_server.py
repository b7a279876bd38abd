"""A server that answers with any bytes, and a port that never lets anybody in."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Self


class Ending(Enum):
    """How a connection is closed after its last answer."""

    FIN = "fin"
    NOTIFY = "notify"
    """TLS says that it is over, then closes."""


class RawServer:
    """Answers each request of a connection by the next bytes, then closes the connection."""

    def __init__(
        self,
        *connections: Sequence[bytes],
        tls: ssl.SSLContext | None = None,
        family: int = socket.AF_INET,
        ending: Ending = Ending.FIN,
    ) -> None:
        self._connections = connections
        self._tls = tls
        self._ending = ending
        host = "::1" if family == socket.AF_INET6 else "127.0.0.1"
        self._socket = socket.create_server((host, 0), family=family)
        self.address = self._socket.getsockname()
        self.port: int = self.address[1]
        self.heads: list[bytes] = []
        self._closed = 0
        self._stopping = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._serve)

    def wait_closed(self, count: int) -> None:
        """Wait until ``count`` connections were closed; fail after ten seconds."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._closed >= count, 10)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping = True
        with contextlib.suppress(OSError):  # ends the wait for a connection that never came
            socket.create_connection(self.address[:2], 5).close()
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        for answers in self._connections:
            plain, _ = self._socket.accept()
            if self._stopping:
                plain.close()
                return
            plain.settimeout(10)
            with plain, contextlib.suppress(OSError):
                self._converse(plain, answers)
            with self._changed:
                self._closed += 1
                self._changed.notify_all()

    def _converse(self, plain: socket.socket, answers: Sequence[bytes]) -> None:
        peer = self._tls.wrap_socket(plain, server_side=True) if self._tls else plain
        with peer:
            for answer in answers:
                self._read(peer)
                peer.sendall(answer)
            if self._ending is Ending.NOTIFY and isinstance(peer, ssl.SSLSocket):
                peer.settimeout(0.1)  # the client answers it only when it sends again
                peer.unwrap()

    def _read(self, peer: socket.socket) -> None:
        """Read one request."""
        data = self._more(peer)
        while b"\r\n\r\n" not in data:
            data += self._more(peer)
        head, _, body = data.partition(b"\r\n\r\n")
        self.heads.append(head)
        (length,) = [
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        ]
        read = len(body)
        while read < length:
            read += len(self._more(peer))

    def _more(self, peer: socket.socket) -> bytes:
        data = peer.recv(1 << 16)
        if not data:
            raise ConnectionError("the client has gone")
        return data


@contextmanager
def black_hole(host: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    """Yield a port where connecting hangs: its queue of connections is full and stays so."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket(family))
        listener.bind((host, port))
        listener.listen(0)
        address = listener.getsockname()[:2]
        for _ in range(8):
            filler = stack.enter_context(socket.socket(family))
            filler.setblocking(False)
            filler.connect_ex(address)
        yield address[1]


def in_thread(function: Callable[[], object]) -> threading.Thread:
    """Run ``function`` in a thread that has been started."""
    thread = threading.Thread(target=function)
    thread.start()
    return thread
