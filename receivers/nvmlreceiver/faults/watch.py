"""NVML's events: an event set of all GPUs, waited for by a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from ctypes import Structure, byref, c_uint, c_ulonglong, c_void_p
from typing import Any

from attrs import frozen

from nvmlreceiver.binding import Binding
from nvmlreceiver.device import NvmlDevice, address
from nvmlreceiver.errors import TIMEOUT, read_error
from nvmlreceiver.faults.hub import Hub
from nvmlreceiver.faults.sighting import Detail, Source
from nvmlreceiver.nvml import nvmlEventTypeXidCriticalError
from otelgpu.scraping.errors import ReadError, UnsupportedError
from otelgpu.semconv.metrics import OTELGPU_COMPONENT_ERRORS
from otelgpu.telemetry.component import ComponentTelemetry

WAIT_MS = 200
"""How long a call waits for an event; closing NVML has to wait for as long."""
BATCH = 10_000
"""Events that are taken together when they come in a flood."""
_NO_INSTANCE = 2**32 - 1
_WAITS = ("nvmlEventSetWait_v2", "nvmlEventSetWait")
_BACKOFF = 1.0
"""Seconds of rest after a wait that failed; doubled up to a minute."""

Found = tuple[int, int, int, int]
"""Address of the GPU's handle, XID, GPU instance, compute instance."""


class _EventData(Structure):
    """``nvmlEventData_t`` with the handle as a number."""

    _fields_ = (
        ("device", c_void_p),
        ("eventType", c_ulonglong),
        ("eventData", c_ulonglong),
        ("gpuInstanceId", c_uint),
        ("computeInstanceId", c_uint),
    )


@frozen
class _Session:
    """One opening of NVML, and the event set in it."""

    number: int
    binding: Binding
    events: c_void_p
    wait: Callable[..., int]
    gpus: dict[int, str]
    """hw.id by address of the handle."""
    ending: threading.Event


class Watch:
    """Listens to NVML's events while NVML is open."""

    def __init__(self, hub: Hub, telemetry: ComponentTelemetry, logger: logging.Logger) -> None:
        self._hub = hub
        self._telemetry = telemetry
        self._log = logger
        self._session: _Session | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._refused_in = 0
        self.refused: UnsupportedError | None = None
        """Why the driver tells no events, None if it does."""

    def attach(self, devices: Sequence[NvmlDevice]) -> None:
        """Listen to these GPUs; cheap where that is the case already. Never fails."""
        if not devices or self._closed:
            return
        binding, number = devices[0].nvml, devices[0].session
        if self._session is not None and self._session.number != number:
            # NVML was closed behind our back: the set of before is invalid.
            self._end()
            self._session = None
        elif self._thread is not None and not self._thread.is_alive():
            # It came out late, or ended by itself: without another one faults would go unheard.
            self._thread = None
            self._free()
        if self._session is None:
            self._session = self._open(binding, number)
        if self._session is None:
            return
        for device in devices:
            if address(device.handle) not in self._session.gpus:
                self._register(self._session, device)
        if self._thread is None and self._session.gpus:
            self._thread = threading.Thread(
                target=self._run, args=(self._session,), name="nvml events", daemon=True
            )
            self._thread.start()

    def detach(self, timeout: float) -> bool:
        """Stop listening; return whether no thread is inside NVML any more.

        Waits for ``timeout`` seconds at most; a thread in a wait comes out of it within WAIT_MS.
        """
        thread = self._end()
        if thread is not None:
            thread.join(timeout)
            if thread.is_alive():
                # It frees nothing that somebody else uses: it is asked again at the next try.
                self._thread = thread
                return False
        self._free()
        return True

    def _free(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            self._quiet(session.binding.aside, "nvmlEventSetFree", session.events)

    def shutdown(self) -> None:
        """Let the thread come out of NVML and end, without waiting for it; also one begun since."""
        self._closed = True
        self._end()

    def _end(self) -> threading.Thread | None:
        thread, self._thread = self._thread, None
        if self._session is not None:
            self._session.ending.set()
        return thread

    def _open(self, binding: Binding, number: int) -> _Session | None:
        if self.refused is not None and self._refused_in == number:
            return None
        events = c_void_p()
        try:
            wait = binding.entry(*_WAITS)
            binding.aside("nvmlEventSetCreate", byref(events))
        except UnsupportedError as error:
            self.refused, self._refused_in = error, number
            self._log.info("the driver tells no faults by events: %s", error)
            return None
        except ReadError as error:
            self._count(error)
            return None
        self.refused = None
        return _Session(number, binding, events, wait, {}, threading.Event())

    def _register(self, session: _Session, device: NvmlDevice) -> None:
        """Listen to one GPU; one that refuses is asked again at the next discovery."""
        place = address(device.handle)
        if place is None:
            return
        kinds = c_ulonglong(nvmlEventTypeXidCriticalError)
        try:
            session.binding.aside("nvmlDeviceRegisterEvents", device.handle, kinds, session.events)
        except UnsupportedError:
            # Nothing to try again: noted, so that it is not asked at each discovery.
            session.gpus[place] = device.id
        except ReadError as error:
            self._log.warning("no faults of %s by events for now: %s", device.id, error)
            self._count(error)
        else:
            session.gpus[place] = device.id

    def _quiet(self, call: Callable[..., Any], *arguments: Any) -> None:
        try:
            call(*arguments)
        except ReadError as error:
            self._count(error)

    def _count(self, error: ReadError) -> None:
        self._telemetry.add(OTELGPU_COMPONENT_ERRORS, 1, {"error.type": error.reason})

    def _run(self, session: _Session) -> None:
        rest = _BACKOFF
        while not session.ending.is_set() and not self._closed:
            failed = self._take(session)
            self._hub.tick()
            if failed is None:
                rest = _BACKOFF
            elif failed.reason == "uninitialized":
                # NVML was closed by others of this process: the set is gone with it.
                return
            else:
                self._count(failed)
                session.ending.wait(rest)
                rest = min(rest * 2, 60.0)

    def _take(self, session: _Session) -> ReadError | None:
        """Take what has come, or wait for it; return why that failed."""
        found: Counter[Found] = Counter()
        code = _drain(session, found)
        for (place, xid, instance, compute), times in found.items():
            gpu = session.gpus.get(place)
            if gpu is not None:
                detail = Detail(place=_place(instance, compute))
                self._hub.see(gpu, xid, Source.EVENTS, detail, times)
        if code in (0, TIMEOUT):
            return None
        return read_error(code, f"waiting for events failed (NVML error {code})")


def _drain(session: _Session, found: Counter[Found]) -> int:
    """Take events until there is none for now; return NVML's last answer, 0 if more may be there.

    Nothing is locked and nothing but a number kept for each: a flood costs its calls.
    """
    data = _EventData()
    pointer = byref(data)
    wait, events = session.wait, session.events
    milliseconds = c_uint(WAIT_MS)
    until = 0.0
    for _ in range(BATCH):
        code = wait(events, pointer, milliseconds)
        if code:
            return int(code)
        if data.eventType == nvmlEventTypeXidCriticalError:
            event = data.device or 0, data.eventData, data.gpuInstanceId, data.computeInstanceId
            found[event] += 1
        now = time.monotonic()
        # The first of a flood is not to wait for its end.
        until = until or now + WAIT_MS / 1000
        milliseconds = c_uint(0)
        if now > until or session.ending.is_set():
            break
    return 0


def _place(instance: int, compute: int) -> str:
    if instance == _NO_INSTANCE:
        return ""
    if compute == _NO_INSTANCE:
        return f"GPU instance {instance}"
    return f"GPU instance {instance}, compute instance {compute}"
