"""What wakes the main thread: signals, and requests of the agent's components."""

from __future__ import annotations

import os
import signal
import socket
from types import FrameType


class Wakeups:
    """Takes signals as requests from the moment it is made.

    SIGINT and SIGTERM ask to stop; a second one ends the process at once. SIGUSR1 asks to let go
    of the drivers.
    """

    def __init__(self) -> None:
        # A lock or a queue may miss a signal that comes right before it blocks: the handler, which
        # runs between two steps of the main thread, would wait for it for ever. A byte is there
        # already.
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno())
        self.stop = False
        """Whether to stop."""
        self._releases = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_stop)
        signal.signal(signal.SIGUSR1, self._on_release)

    def _on_stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.stop:
            # Asked twice: whoever asks does not want to wait for the drain.
            os._exit(1)
        self.stop = True

    def _on_release(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self._releases += 1

    def take_release(self) -> bool:
        """Return whether letting go was asked for since the last time."""
        taken, self._releases = self._releases, 0
        return taken > 0

    def wake(self) -> None:
        """Wake the main thread, from any other."""
        try:
            self._writer.send(b"\0")
        except BlockingIOError:
            # The buffer is full of wake-ups that have not been read yet: one more says nothing.
            return

    def wait(self, timeout: float | None) -> None:
        """Wait for a signal or a wake-up, at most ``timeout`` seconds; may return early."""
        if self.stop:
            return
        self._reader.settimeout(timeout)
        try:
            self._reader.recv(4096)
        except TimeoutError:
            return
