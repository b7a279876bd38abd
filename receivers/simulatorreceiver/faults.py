"""Faults of one device: an application that touches memory it does not have, now and again."""

from __future__ import annotations

from collections.abc import Iterator

from otelgpu.points.event import Event, Severity
from otelgpu.points.stream import Attributes
from otelgpu.semconv.events import HW_GPU_FAULT
from simulatorreceiver.timeline import Timeline

FAULT: Attributes = {"hw.gpu.fault.type": "xid", "hw.gpu.fault.code": 31}
_MESSAGE = "GPU memory page fault (simulated)"
_FIRST = 20.0
"""Seconds after which the first fault comes at the latest."""
_OF_EVENT = frozenset({"hw.gpu.holder.type", "k8s.namespace.name", "k8s.pod.name", "slurm.job.id"})
"""What an event says of a holder."""


class Faults:
    """Faults every ``interval`` seconds, the first of them soon."""

    def __init__(self, interval: float, timeline: Timeline) -> None:
        self._interval = interval
        self._first = min(_FIRST, interval)
        self._timeline = timeline
        self._told = 0

    @property
    def count(self) -> int:
        """How many there have been."""
        now = self._timeline.now
        return 0 if now < self._first else 1 + int((now - self._first) / self._interval)

    @property
    def last(self) -> float | None:
        """Time of the last one in seconds since the Unix epoch."""
        return self._time(self.count) / 1e9 if self.count else None

    def news(self, device: str, holder: Attributes, pid: int) -> Iterator[Event]:
        """Yield an event for each fault since the last call; ``device`` is a ``hw.id``."""
        for number in range(self._told + 1, self.count + 1):
            self._told = number
            yield Event(
                name=HW_GPU_FAULT,
                time=self._time(number),
                observed=self._timeline.wall(self._timeline.now),
                severity=Severity.WARN,
                body=_MESSAGE,
                attributes={
                    "hw.id": device,
                    "hw.type": "gpu",
                    **FAULT,
                    "hw.gpu.fault.message": _MESSAGE,
                    "process.pid": pid,
                    **{key: value for key, value in holder.items() if key in _OF_EVENT},
                },
            )

    def _time(self, number: int) -> int:
        return self._timeline.wall(self._first + (number - 1) * self._interval)
