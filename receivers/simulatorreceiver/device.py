"""A simulated device: what its vendor's library would answer at the timeline's moment."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from otelgpu.points.stream import Attributes
from otelgpu.scraping.errors import UnsupportedError
from simulatorreceiver.catalog import NVIDIA, Model
from simulatorreceiver.curve import numbers
from simulatorreceiver.faults import Faults
from simulatorreceiver.holders import Holder, Process, place
from simulatorreceiver.identity import description, device_id
from simulatorreceiver.loads import load_curve
from simulatorreceiver.physics import Physics
from simulatorreceiver.timeline import Timeline

_LANES = 16
_UNATTRIBUTED = 517 << 20
"""Bytes that no process accounts for: what the driver keeps for its contexts."""


@frozen
class Profiling:
    """Activity of compute units and pipes, from 0 to 1."""

    active: float
    occupancy: float
    memory_bandwidth: float
    pipes: Mapping[str, float]


@frozen
class Memory:
    """Device memory in bytes."""

    total: int
    reserved: int
    used: int
    unattributed: int

    @property
    def free(self) -> int:
        """What can still be allocated."""
        return self.total - self.reserved - self.used


@frozen
class Fan:
    """Speed of a fan in rpm."""

    speed: int
    highest: int


@frozen
class LinkTraffic:
    """Links of one type: how many are up (lanes of PCIe), and the bytes that went over them."""

    type: str
    count: int
    received: int
    transmitted: int


class SimulatedDevice:
    """One device. Methods without a figure for the model raise UnsupportedError."""

    def __init__(
        self, model: Model, seed: int, index: int, timeline: Timeline, faults: Faults | None
    ) -> None:
        placement = place(index, seed)
        draws = numbers(seed, index, "device")
        self.model = model
        self.id = device_id(model, seed, index)
        self.attributes: Attributes = {
            "hw.id": self.id,
            "hw.type": "gpu",
            "hw.vendor": model.vendor,
            "hw.model": model.name,
        }
        self.description: Attributes = description(model, seed, index)
        self.holders = placement.holders
        self.physics = Physics(model, load_curve(placement.work, seed, index))
        self.faults = faults
        self._timeline = timeline
        self._joules_before = next(draws) * 1e8
        self._errors_before = int(next(draws) * 40)
        self._phase = next(draws)

    @property
    def now(self) -> float:
        """Seconds since the simulation began."""
        return self._timeline.now

    def utilization(self) -> float:
        """Return the fraction of time in which the device works, 0 to 1."""
        return self.physics.load(self.now)

    def profiling(self) -> Profiling:
        """Return the activity of compute units and pipes."""
        if not self.model.profiling:
            raise UnsupportedError
        active = self.physics.activity(self.now)
        tensor = 0.6 * active
        pipes = {
            "tensor": tensor,
            "tensor.fp16": 0.95 * tensor,
            "tensor.fp64": 0.0,
            "tensor.int": 0.05 * tensor,
            "fp64": 0.0,
            "fp32": 0.18 * active,
            "fp16": 0.07 * active,
            "int": 0.22 * active,
        }
        return Profiling(active, 0.55 * active, 0.48 * active, pipes)

    def memory(self) -> Memory:
        """Return how the device's memory is used."""
        held = sum(self.held_memory(holder) for holder in self.holders)
        used = held + _UNATTRIBUTED
        return Memory(self.model.memory, self.model.reserved, used, _UNATTRIBUTED)

    def held_memory(self, holder: Holder) -> int:
        """Return the bytes that all processes of a holder have."""
        return sum(self.process_memory(holder, process) for process in holder.processes)

    def process_memory(self, holder: Holder, process: Process) -> int:
        """Return the bytes that a process has."""
        filled = 0.8 + 0.2 * self.physics.warmth(self.now)
        room = self.model.memory - self.model.reserved - _UNATTRIBUTED
        return int(room * holder.memory * filled * process.share)

    def energy(self) -> float:
        """Return joules since the driver was loaded."""
        return self._joules_before + self.physics.energy(self.now)

    def corrected_errors(self) -> int:
        """Return memory errors that hardware has corrected since the driver was loaded."""
        return int(self._phase + self.now / 1800)

    def lifetime_corrected_errors(self) -> int:
        """Return corrected memory errors over the life of the device."""
        if not self.model.row_remapper:
            raise UnsupportedError
        return self._errors_before + self.corrected_errors()

    def replays(self) -> int:
        """Return PCIe packets that were sent again."""
        return int(self._phase + self.now / 2400)

    def links(self) -> LinkTraffic:
        """Return the links to other devices and what has gone over them."""
        links = self.model.links
        if links is None:
            raise UnsupportedError
        received, transmitted = self._traffic(links.rate)
        return LinkTraffic(links.type, links.count, received, transmitted)

    def pcie(self) -> LinkTraffic:
        """Return the link to the host and what has gone over it."""
        # 2 GB/s a lane in generation 4, twice as much in the next.
        rate = _LANES * 2_000_000_000 << self.model.pcie_generation - 4
        received, transmitted = self._traffic(rate)
        return LinkTraffic("pcie", _LANES, received, transmitted)

    def _traffic(self, rate: int) -> tuple[int, int]:
        physics, now = self.physics, self.now
        return physics.transferred(0.11 * rate, now), physics.transferred(0.07 * rate, now)

    def fan(self) -> Fan:
        """Return the speed of the fan."""
        if not self.model.fan:
            raise UnsupportedError
        speed = int(self.model.fan * (0.3 + 0.6 * self.physics.warmth(self.now)))
        return Fan(speed, self.model.fan)

    def remapped_rows(self) -> int:
        """Return how many memory rows have been remapped: none on any simulated device."""
        if not self.model.row_remapper:
            raise UnsupportedError
        return 0

    def fabric(self) -> str:
        """Return the state of the registration with the NVLink fabric."""
        if self.model.vendor != NVIDIA or self.model.links is None:
            raise UnsupportedError
        return "completed"
