"""Whether the agent does its job, and why not: one answer for probes and for people."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from otelgpu.telemetry.agent import Registry
from otelgpu.telemetry.states import describe


@frozen
class ComponentHealth:
    """State of one component."""

    kind: str
    id: str
    state: str
    ready: bool
    cause: str
    remedy: str
    detail: str


@frozen
class Health:
    """State of the agent."""

    ready: bool
    components: Sequence[ComponentHealth]


def health(registry: Registry) -> Health:
    """Return the state of all components; the agent is ready when each of them is."""
    found = []
    for part in registry.components:
        condition = part.telemetry.condition
        state = describe(condition)
        found.append(
            ComponentHealth(
                part.kind,
                part.id,
                condition.state,
                state.ready,
                state.cause,
                state.remedy,
                condition.detail,
            )
        )
    return Health(all(c.ready for c in found), found)
