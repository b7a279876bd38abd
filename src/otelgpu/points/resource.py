"""Who sends: the attributes that all points of an agent share."""

from __future__ import annotations

from attrs import frozen

from otelgpu.points.stream import Attributes


@frozen(eq=False)
class Resource:
    """Attributes of the agent and its host; compared by identity, fixed while the agent runs."""

    attributes: Attributes
    schema_url: str = ""
