"""Executing the agent anew in its process: what a driver's upgrade or a hung library needs.

A loaded library stays the old one in a process, and a thread in a call that does not return keeps
it from being closed. The process id stays the same, so that whoever supervises the agent sees none
of it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

VARIABLE = "OTELGPU_RESTARTS"
"""Carries the history to the new execution: the time of the last one, and counts by reason."""
PAUSE = 300.0
"""Seconds between two executions, at least."""
RETRY = 30.0
"""Seconds until an execution is tried again that a thread stood in the way of."""
_TASKS = Path("/proc/self/task")


class Restarts:
    """Requests for an execution anew, and the history of those that were followed."""

    def __init__(
        self,
        environ: Mapping[str, str],
        wake: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``clock`` gives seconds that go on over an execution; ``wake`` is called at a request."""
        self._wake = wake
        self._clock = clock
        self._reason = ""
        self._lock = threading.Lock()
        self._last, self.counts = _parse(environ.get(VARIABLE, ""))
        if self._last > clock():
            # Of before a reboot: that clock began anew.
            self._last = float("-inf")
        self._not_before = self._last + PAUSE

    def ask(self, reason: str) -> None:
        """Ask for an execution; from any thread. Of several requests the first gives the reason."""
        with self._lock:
            news = not self._reason
            self._reason = self._reason or reason
        if news:
            self._wake()

    @property
    def reason(self) -> str:
        """Why an execution is wanted, empty if it is not."""
        return self._reason

    @property
    def left(self) -> float | None:
        """Seconds until a wanted execution may be done, 0 if now, None if none is wanted."""
        return max(0.0, self._not_before - self._clock()) if self._reason else None

    def postpone(self) -> None:
        """Try again later."""
        self._not_before = self._clock() + RETRY

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the new execution."""
        counts = {**self.counts, self._reason: self.counts.get(self._reason, 0) + 1}
        return {**environ, VARIABLE: json.dumps({"at": self._clock(), "counts": counts})}


def _parse(text: str) -> tuple[float, dict[str, int]]:
    """Return the time and the counts of a history; a text that is none is no history."""
    try:
        found = json.loads(text)
        counts = {str(reason): int(count) for reason, count in found["counts"].items()}
        return float(found["at"]), counts
    except (ValueError, TypeError, KeyError, AttributeError):
        return float("-inf"), {}


def uninterruptible(tasks: Path = _TASKS) -> bool:
    """Return whether a thread of this process cannot be interrupted now (state D).

    An execution ends all other threads, and would wait for such a one with the agent gone.
    """
    for stat in tasks.glob("*/stat"):
        try:
            # The name, in brackets, may hold anything; the state follows it.
            state = stat.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if state[:1] == ["D"]:
            return True
    return False


def execute(environ: Mapping[str, str]) -> None:
    """Replace this process's program by itself, with the arguments that it was started with.

    Raises:
        OSError: it could not be executed; the process goes on.

    """
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - the folder itself opens one
        number = int(name)
        if number > sys.stderr.fileno():
            try:
                # A vendor's library may have left its device files open to children.
                os.set_inheritable(number, False)
            except OSError:
                continue
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], dict(environ))  # noqa: S606
