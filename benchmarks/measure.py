"""What a process costs, read from /proc and from the process's own CPU clock."""

from __future__ import annotations

import time
from pathlib import Path

from attrs import frozen


@frozen
class Usage:
    """Use of one process at one moment."""

    at: float
    cpu: float
    """Seconds of processor time of all its threads, those that have ended too."""


def usage(pid: int) -> Usage:
    """Return processor time by the clock of the process: nanoseconds, not ticks of 10 ms."""
    # clock_getcpuclockid(3): the Linux ABI of a process's CPU clock, CPUCLOCK_SCHED.
    clock = (~pid << 3) | 2
    return Usage(time.monotonic(), time.clock_gettime(clock))


def resident(pid: int) -> float:
    """Return resident memory in MiB, exact (smaps_rollup, not statm's batched counters)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"process {pid} has no resident memory in smaps_rollup")


def threads(pid: int) -> int:
    """Return the number of threads."""
    return len(list(Path(f"/proc/{pid}/task").iterdir()))
