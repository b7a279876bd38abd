"""Which processes are dead, as far as /proc can tell."""

from __future__ import annotations

import logging
import os
from pathlib import Path

_DEFAULT = Path("/proc")
_HOST_NAMESPACE = 4026531836
"""The kernel's PROC_PID_INIT_INO: inode of the PID namespace that the host was booted with."""


class Proc:
    """The processes of the host, seen by ``/proc``.

    The driver tells ids of the host. One that is missing in ``/proc`` is dead only if that is the
    host's and shows every process; else it proves nothing, and nobody is called dead. A process
    that has ended but was not reaped (a zombie) is still there: its id is still its own, and while
    the driver lists it, it holds the memory.
    """

    def __init__(self, root: Path, log: logging.Logger) -> None:
        """``root`` is where the host's ``/proc`` is mounted, by the receiver's settings."""
        self._root = root
        self._log = log
        self._told = False

    def look(self) -> Look:
        """Return what /proc says in this cycle."""
        return Look(self)

    def has(self, pid: int) -> bool:
        """Tell whether there is such a process; True where that cannot be told."""
        try:
            # Path objects would cost more than the call itself.
            os.stat(f"{self._root}/{pid}")  # noqa: PTH116
        except (FileNotFoundError, ProcessLookupError):
            return False
        except OSError:
            return True
        return True

    def shows_all(self) -> bool:
        """Tell whether a process that is not seen is dead; said once where it is not."""
        # Process 1 is always there. It is hidden from us by the mount option hidepid.
        mine = self._root == _DEFAULT and not self._is_the_hosts()
        if not mine and (self._root / "1").is_dir():
            return True
        if not self._told:
            self._told = True
            self._log.warning(
                "cannot tell which processes on GPUs are dead: %s is not the host's or does not "
                "show all processes; run in the host's PID namespace (hostPID: true), or mount the "
                "host's /proc and name it by the setting proc",
                self._root,
            )
        return False

    def _is_the_hosts(self) -> bool:
        try:
            return (self._root / "self" / "ns" / "pid").stat().st_ino == _HOST_NAMESPACE
        except OSError:
            return False


class Look:
    """What /proc says in one cycle: each process is looked up once."""

    def __init__(self, proc: Proc) -> None:
        self._proc = proc
        self._known: dict[int, bool] = {}
        self._shows_all: bool | None = None

    def is_dead(self, pid: int) -> bool:
        """Tell whether a process is known to be gone."""
        dead = self._known.get(pid)
        if dead is None:
            dead = self._known[pid] = not self._proc.has(pid) and self._can_tell()
        return dead

    def sees_all(self) -> bool:
        """Tell whether every process of the host can be seen."""
        return self._can_tell()

    def _can_tell(self) -> bool:
        if self._shows_all is None:
            self._shows_all = self._proc.shows_all()
        return self._shows_all
