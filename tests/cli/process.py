"""The installed command, in an environment without settings of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

OTELGPU = Path(sys.executable).with_name("otelgpu")
LONG = 30.0
"""Seconds that a test waits for what must happen, before it fails."""


def environ(**variables: str) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "OTELGPU_"))}
    return {**clean, **variables}


def run(
    *arguments: str | Path, variables: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [str(OTELGPU), *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        timeout=LONG,
        env=environ(**variables),
    )


class Running:
    """``otelgpu run`` that has started; its standard error is kept."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()

    def wait_for(self, words: str) -> None:
        """Wait for a line on standard error."""
        with self._changed:
            found = self._changed.wait_for(
                lambda: any(words in line for line in self.lines), timeout=LONG
            )
            assert found, self.lines

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> int:
        """Wait for the end and return the exit code."""
        return self.process.wait(LONG)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(LONG)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


@contextmanager
def running(*arguments: str | Path, variables: Mapping[str, str] = {}) -> Iterator[Running]:
    """Start ``otelgpu run``."""
    process = subprocess.Popen(
        [str(OTELGPU), "run", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ(**variables),
    )
    agent = Running(process)
    try:
        yield agent
    finally:
        agent.close()
