"""Where all sources of faults meet: counts them, and makes events of them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from nvmlreceiver.faults.balance import Balance
from nvmlreceiver.faults.catalogue import Catalogue
from nvmlreceiver.faults.sighting import Detail, Fault, Gpu, Source, loss, xid
from nvmlreceiver.faults.telling import Telling, Told
from otelgpu.component import Clock
from otelgpu.points.event import Event, Severity
from otelgpu.points.stream import AttributeValue
from otelgpu.semconv import attributes as name
from otelgpu.semconv.attributes import HwGpuFaultType, HwType
from otelgpu.semconv.events import HW_GPU_FAULT

SAME_LOSS = 600.0
"""Seconds within which an XID explains a loss, and is no fault beside it."""
_MOST_CODES = 256
"""Codes on one GPU that are told apart; a driver has some 200."""
_OTHER = 0
"""Code that those beyond them are counted by: no XID has it."""


class Hub:
    """Counts faults by GPU and code; used by any thread.

    ``tell`` gets the events, never under the lock: what it leads to may take its time.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        clock: Clock,
        tell: Callable[[Sequence[Event]], None],
        patience: float,
    ) -> None:
        """``patience``: seconds that an event waits for the driver's words, 0 if none come."""
        self._catalogue = catalogue
        self._clock = clock
        self._tell = tell
        self._balance = Balance()
        self._telling = Telling(patience)
        self._counts: Counter[Fault] = Counter()
        self._last: dict[Fault, int] = {}
        self._gpus: dict[str, Gpu] = {}
        self._fatal: dict[str, float] = {}
        """When the last XID came that loses a GPU, by GPU; monotonic."""
        self._lost: dict[str, float] = {}
        """GPUs that are lost now, and when they were; monotonic."""
        self._unexplained: dict[str, float] = {}
        """Losses that were counted and have no XID yet."""
        self._lock = threading.Lock()

    def know(self, gpus: Iterable[Gpu]) -> None:
        """Say what GPUs there are; one that was there stays known."""
        with self._lock:
            self._gpus.update({gpu.id: gpu for gpu in gpus})

    def by_address(self, address: str) -> str:
        """Return the hw.id of the GPU at a PCI address (sysfs' form)."""
        with self._lock:
            for gpu in self._gpus.values():
                if gpu.pci_address == address:
                    return gpu.id
        return f"pci:{address}"

    def gpus(self) -> list[Gpu]:
        """Return all GPUs that were ever known."""
        with self._lock:
            return list(self._gpus.values())

    def counts(self) -> list[tuple[Fault, int]]:
        """Return the faults since the start, by GPU and code."""
        with self._lock:
            return list(self._counts.items())

    def last(self) -> list[tuple[Fault, int]]:
        """Return when each code came last, in ns since the Unix epoch; also before the start."""
        with self._lock:
            return list(self._last.items())

    def see(self, gpu: str, code: int, source: Source, detail: Detail, times: int = 1) -> None:
        """Take an XID that a source has told ``times`` times."""
        now, wall = self._clock.monotonic(), self._clock.time_ns()
        with self._lock:
            fault = self._bounded(xid(gpu, code))
            if self._catalogue[code].loses:
                self._fatal[gpu] = now
            self._last[fault] = max(self._last.get(fault, 0), detail.time or wall)
            new = self._balance.new(fault, source, times, now)
            if new:
                self._counts[fault] += new - self._explains(gpu, code, now)
                self._telling.add(fault, new, detail, wall, now)
            else:
                self._telling.enrich(fault, detail)
            self._counts += Counter()  # a count of 0 is none
        self.tick()

    def _explains(self, gpu: str, code: int, now: float) -> int:
        """Return 1 if an XID tells the cause of a loss that was counted already, else 0."""
        since = self._unexplained.get(gpu)
        if since is None or not self._catalogue[code].loses or now > since + SAME_LOSS:
            return 0
        del self._unexplained[gpu]
        return 1

    def recall(self, gpu: str, code: int, detail: Detail, times: int) -> None:
        """Take an XID from before the agent's start: told, but not counted."""
        now, wall = self._clock.monotonic(), self._clock.time_ns()
        with self._lock:
            fault = self._bounded(xid(gpu, code))
            self._last[fault] = max(self._last.get(fault, 0), detail.time)
            self._telling.add(fault, times, detail, wall, now)
        self.tick()

    def lost(self, gpu: str, words: str) -> None:
        """Take it that a GPU no longer answers; once for each loss, however often it is told."""
        now, wall = self._clock.monotonic(), self._clock.time_ns()
        with self._lock:
            if gpu in self._lost:
                return
            self._lost[gpu] = now
            if now <= self._fatal.get(gpu, float("-inf")) + SAME_LOSS:
                return
            fault = loss(gpu)
            self._unexplained[gpu] = now
            self._counts[fault] += 1
            self._last[fault] = wall
            self._telling.add(fault, 1, Detail(text=words), wall, now)
        self.tick()

    def well(self, gpu: str) -> None:
        """Take it that a GPU answers: when it is lost again, that is another fault."""
        with self._lock:
            if self._lost.pop(gpu, None) is not None:
                self._fatal.pop(gpu, None)
                self._unexplained.pop(gpu, None)

    def tick(self) -> None:
        """Tell the events whose time has come."""
        with self._lock:
            told = list(self._telling.due(self._clock.monotonic()))
            events = [self._event(one) for one in told]
        if events:
            self._tell(events)

    def _bounded(self, fault: Fault) -> Fault:
        if fault in self._last or sum(f.gpu == fault.gpu for f in self._last) < _MOST_CODES:
            return fault
        return Fault(fault.gpu, fault.type, _OTHER)

    def _event(self, told: Told) -> Event:
        fault, detail = told.fault, told.detail
        if fault.type == HwGpuFaultType.LOST:
            severity, meaning = Severity.FATAL, "the GPU no longer answers"
            head = f"GPU {fault.gpu} is lost"
        else:
            known = self._catalogue[fault.code]
            severity, meaning = known.severity, known.meaning
            head = f"XID {fault.code} on {fault.gpu}"
        body = f"{head}: {meaning}"
        if detail.place:
            body += f" ({detail.place})"
        if told.others:
            body += f"; {told.others} more of them since the last such event"
        attributes: dict[str, AttributeValue] = {
            name.HW_ID: fault.gpu,
            name.HW_TYPE: HwType.GPU,
            name.HW_GPU_FAULT_TYPE: fault.type,
            name.HW_GPU_FAULT_CODE: fault.code,
            name.HW_GPU_FAULT_SUPPRESSED_COUNT: told.others,
        }
        if detail.text:
            attributes[name.HW_GPU_FAULT_MESSAGE] = detail.text
        if detail.pid is not None:
            attributes[name.PROCESS_PID] = detail.pid
        return Event(HW_GPU_FAULT, detail.time, told.observed, severity, body, attributes)
