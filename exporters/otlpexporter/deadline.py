"""HTTP answers with one deadline for the whole, not one for each read."""

from __future__ import annotations

import http.client
import io
import socket
import time
from typing import Any

_SWITCHING, _FINAL = 101, 200


class DeadlineResponse(http.client.HTTPResponse):
    """Raises TimeoutError when the answer is not complete at ``deadline`` (monotonic seconds).

    A socket's own time limit starts again with each byte: a server that sends one now and then
    would hold the exporter for ever.
    """

    def __init__(self, sock: socket.socket, *args: Any, deadline: float, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_DeadlineReader(sock, deadline))

    def _read_status(self) -> tuple[str, int, str]:
        """Skip answers that are not the last one: http.client knows 100 alone (RFC 9110, 15.2)."""
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if status == _SWITCHING:
                raise http.client.BadStatusLine("101: it speaks another protocol from now on")
            if status < _SWITCHING or status >= _FINAL:
                return version, status, reason
            http.client.parse_headers(self.fp)


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
