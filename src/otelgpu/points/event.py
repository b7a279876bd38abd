"""What flows through an events pipeline: faults and the like, sent as OTLP log records."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from attrs import frozen

from otelgpu.points.resource import Resource
from otelgpu.points.stream import Attributes


class Severity(IntEnum):
    """Severity numbers of the OpenTelemetry log data model that events use."""

    INFO = 9
    WARN = 13
    ERROR = 17
    FATAL = 21


@frozen(eq=False)
class Event:
    """One thing that happened.

    ``time`` is when it happened as the driver tells it, 0 where the driver does not; ``observed``
    is when the agent saw it. Both are in ns since the Unix epoch. ``name`` is an event name of the
    registry.
    """

    name: str
    time: int
    observed: int
    severity: Severity
    body: str
    attributes: Attributes


@frozen(eq=False)
class EventBatch:
    """Events of one source. Never changed."""

    source: str
    resource: Resource
    events: Sequence[Event]

    def __len__(self) -> int:
        return len(self.events)
