"""Reads the kernel log in a thread of its own, from its oldest record on."""

from __future__ import annotations

import errno
import logging
import os
import select
import threading
import time
from collections.abc import Callable
from pathlib import Path

from attrs import define

from nvmlreceiver.faults.hub import Hub
from nvmlreceiver.faults.kernel import LossLine, NameLine, XidLine, parse, record
from nvmlreceiver.faults.sighting import Detail, Source
from otelgpu.component import Clock
from otelgpu.semconv.metrics import OTELGPU_COMPONENT_ERRORS
from otelgpu.telemetry.component import ComponentTelemetry

_RECORD = 8192
"""Bytes of a read, which gives one record; the kernel's own limit for one (CONSOLE_EXT_LOG_MAX)."""
_POLL = 0.5
"""Seconds that a wait takes at most: so long does stopping, and an event that waits for words."""
_AGAIN = 60.0
"""Seconds until a log that cannot be read is opened again."""
_REMEDY = (
    "reading the kernel log takes CAP_SYSLOG (or root) where kernel.dmesg_restrict is 1, "
    "and /dev/kmsg must be there in a container"
)


@define
class _Old:
    """XIDs of one code on one GPU from before the agent's start."""

    times: int
    detail: Detail


class KernelLog:
    """Tells the hub what NVIDIA's driver writes into the kernel log."""

    def __init__(
        self,
        path: Path,
        hub: Hub,
        clock: Clock,
        telemetry: ComponentTelemetry,
        logger: logging.Logger,
        uptime: Callable[[], float] = time.monotonic,
    ) -> None:
        """``uptime`` gives seconds of the clock that stamps the records."""
        self._path = path
        self._hub = hub
        self._clock = clock
        self._telemetry = telemetry
        self._log = logger
        self._uptime = uptime
        self._started_at = uptime()
        self._names: dict[str, str] = {}
        """UUIDs by PCI address, as the log itself tells them."""
        self._next = 0
        self._old: dict[tuple[str, int], _Old] = {}
        self._said = False
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nvml kernel log", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def shutdown(self) -> None:
        """Let the thread end; it is not waited for."""
        self._ending.set()

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                self._follow()
            except OSError as error:
                self._fail(error)
            self._ending.wait(_AGAIN)

    def _fail(self, error: OSError) -> None:
        reason = errno.errorcode.get(error.errno or 0, "other").lower()
        self._telemetry.add(OTELGPU_COMPONENT_ERRORS, 1, {"error.type": f"kernel_log.{reason}"})
        if not self._said:
            self._said = True
            self._log.warning("cannot read %s: %s; %s", self._path, error.strerror, _REMEDY)

    def _follow(self) -> None:
        """Read records until told to end.

        Raises:
            OSError: the log cannot be opened or read.

        """
        descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            rest = b""
            while not self._ending.is_set():
                raw = self._read(descriptor)
                if raw:
                    # The device gives one record at a time; what stands in for it may give more.
                    *lines, rest = (rest + raw).split(b"\n")
                    for line in lines:
                        self._take(line)
                    continue
                self._tell_old()
                self._hub.tick()
                if raw is None:
                    select.select([descriptor], [], [], _POLL)
                else:
                    # The end of what is no device, and may grow.
                    self._ending.wait(_POLL)
        finally:
            os.close(descriptor)

    def _read(self, descriptor: int) -> bytes | None:
        """Return what there is now, None if there is nothing yet, empty at the end of a file."""
        while True:
            try:
                return os.read(descriptor, _RECORD)
            except BlockingIOError:
                return None
            except BrokenPipeError:
                # Records were overwritten before we came to read them; the next read goes on.
                lost = {"error.type": "kernel_log.overrun"}
                self._telemetry.add(OTELGPU_COMPONENT_ERRORS, 1, lost)

    def _take(self, raw: bytes) -> None:
        found = record(raw)
        if found is None or found.sequence < self._next:
            # Opened anew, the log begins with what was read before.
            return
        self._next = found.sequence + 1
        line = parse(found.text)
        if isinstance(line, NameLine):
            self._names[line.address] = line.uuid
        elif isinstance(line, LossLine):
            if found.microseconds / 1e6 >= self._started_at:
                self._hub.lost(self._gpu(line.address), line.text)
        elif isinstance(line, XidLine):
            self._xid(line, found.microseconds)

    def _xid(self, line: XidLine, microseconds: int) -> None:
        seconds = microseconds / 1e6
        wall = self._clock.time_ns() - int((self._uptime() - seconds) * 1e9)
        detail = Detail(wall, line.text, line.pid)
        gpu = self._gpu(line.address)
        if seconds >= self._started_at:
            self._hub.see(gpu, line.code, Source.KERNEL, detail)
            return
        old = self._old.setdefault((gpu, line.code), _Old(0, detail))
        old.times += 1
        old.detail = detail

    def _tell_old(self) -> None:
        """Tell what came before the start: the last of each code, and how many there were."""
        for (gpu, code), old in self._old.items():
            self._hub.recall(gpu, code, old.detail, old.times)
        self._old.clear()

    def _gpu(self, address: str) -> str:
        return self._names.get(address) or self._hub.by_address(address)
