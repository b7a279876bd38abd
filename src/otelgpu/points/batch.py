"""What flows through a metrics pipeline: plain tuples, since one is made for each point."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from otelgpu.points.resource import Resource
from otelgpu.points.stream import Stream

Reading = tuple[Stream, float]
"""Stream and value, in the unit of the stream's metric."""

Readings = list[Reading]
"""What a receiver has read; it gets its time when it is handed over."""

Point = tuple[Stream, float, int]
"""Stream, value, start time in ns since the Unix epoch (0 for anything but a counter)."""


@frozen(eq=False)
class Batch:
    """Points of one source at one time, and that source's streams that are over. Never changed.

    ``time`` is in ns since the Unix epoch and later than that of any batch before. ``source`` is
    the id of the receiver. A stream of ``ended`` is in no later batch unless its source finds it
    again; it leaves as a point with the *no recorded value* flag.
    """

    source: str
    time: int
    resource: Resource
    points: Sequence[Point]
    ended: Sequence[Stream] = ()

    def __len__(self) -> int:
        return len(self.points) + len(self.ended)
