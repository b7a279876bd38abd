"""A simulated device: what its vendor's library would answer, computed from the time alone."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from otelgpu.points.stream import Attributes
from otelgpu.scraping.errors import UnsupportedError
from simulatorreceiver.catalog import NVIDIA, Links, Model
from simulatorreceiver.curve import numbers
from simulatorreceiver.holders import Holder, Placement, Process, place
from simulatorreceiver.identity import description, device_id
from simulatorreceiver.loads import load_curve
from simulatorreceiver.timeline import Timeline

_UNATTRIBUTED = 517 << 20
"""Bytes that no process accounts for: what the driver keeps for its contexts."""
_ROOM = 22.0
"""Degrees Celsius of the air that cools."""
_WARM_UP = 60.0
"""Seconds over which temperatures and memory follow the load."""
_CAPPED = 0.96
"""Load above which the power limit holds the clocks down."""
_WORKING = 0.01
"""Activity under which a device counts as idle."""


@frozen
class Profiling:
    """Activity of compute units and pipes, from 0 to 1."""

    active: float
    occupancy: float
    memory_bandwidth: float
    pipes: Mapping[str, float]


@frozen
class Temperatures:
    """In degrees Celsius."""

    core: float
    memory: float | None
    margin: float


@frozen(eq=False)
class SimulatedDevice:
    """One device; all its answers are for the same moment, the timeline's."""

    model: Model
    seed: int
    index: int
    timeline: Timeline
    id: str = field(init=False)
    attributes: Attributes = field(init=False)
    description: Attributes = field(init=False)
    placement: Placement = field(init=False)

    def __attrs_post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "id", device_id(self.model, self.seed, self.index))
        set_(self, "description", description(self.model, self.seed, self.index))
