"""HTTP answers with one deadline for the whole, not one for each read."""

from __future__ import annotations

import http.client
import io
import socket
import time
from typing import Any


class DeadlineResponse(http.client.HTTPResponse):
    """Raises TimeoutError when the answer is not complete at ``deadline`` (monotonic seconds).

    A socket's own time limit starts again with each byte: a server that sends one now and then
    would hold the exporter for ever.
    """

    def __init__(self, sock: socket.socket, *args: Any, deadline: float, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_DeadlineReader(sock, deadline))


class _DeadlineReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, deadline: float) -> None:
        super().__init__()
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
