"""One device as a target: its table, and what its answers say of its reachability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Metric
from otelgpu.points.stream import Attributes, Streams
from otelgpu.scraping.errors import TargetLostError
from otelgpu.scraping.reading import DeviceReading
from otelgpu.scraping.slot import Drop
from otelgpu.scraping.table import Table
from otelgpu.semconv.metrics import HW_STATUS

OK, DEGRADED, PREDICTED_FAILURE, FAILED = "ok", "degraded", "predicted_failure", "failed"
_STATES = (OK, DEGRADED, PREDICTED_FAILURE, FAILED)


class Device(Protocol):
    """What a receiver's client returns for each device it has found."""

    @property
    def id(self) -> str:
        """The device's ``hw.id``: the driver's UUID."""

    @property
    def attributes(self) -> Attributes:
        """Attributes of every point of the device: hw.id, hw.type, hw.vendor, hw.model, hw.name."""


D = TypeVar("D", bound=Device)


class DeviceTarget(Generic[D]):
    """Reads one device by its receiver's table and tells whether it can be reached."""

    def __init__(
        self,
        device: D,
        table: Table[D],
        enabled: Callable[[Metric], bool],
        streams: Streams,
        clock: Callable[[], float],
        drop: Callable[[str, Metric, str], None],
    ) -> None:
        """``drop`` counts a missing point: device id, metric, reason."""
        self.device = device
        self.reachable: bool | None = None
        """Whether the device answered when it was last read; None when that is not known."""
        self.lost = ""
        """Why the device is lost, in the driver's words; empty while it is not."""
        self._reading = DeviceReading(table, device.attributes, enabled, streams, clock)
        self._states = {
            state: streams.get(HW_STATUS, {**device.attributes, "hw.state": state})
            for state in _STATES
        }
        self._status_enabled = enabled(HW_STATUS)
        self._drop: Drop = lambda metric, reason: drop(device.id, metric, reason)

    @property
    def id(self) -> str:
        return self.device.id

    def read(self, readings: Readings) -> None:
        """Add the device's readings and its status; an unreadable device has no status."""
        try:
            self.reachable = self._reading.read(self.device, readings, self._drop) or None
            self.lost = ""
        except TargetLostError as error:
            self.reachable = False
            self.lost = str(error)
            # Only what describes the device is still true; it names the card that is lost.
            readings[:] = self._reading.description()
        if self.reachable is None:
            self._no_status("unknown")
            return
        self._status(readings, OK if self.reachable else FAILED)

    def unanswered(self, readings: Readings, reason: str) -> None:
        """Add what is known of a device that does not answer: its description, status failed."""
        self.reachable = False
        self.lost = ""
        readings += self._reading.description()
        self._reading.miss(reason, self._drop)
        self._status(readings, FAILED)

    def unread(self, readings: Readings, reason: str) -> None:
        """Add what describes a device that this cycle had no time for; count what is missing."""
        readings += self._reading.description()
        self._reading.miss(reason, self._drop)
        self._no_status(reason)

    def _no_status(self, reason: str) -> None:
        if self._status_enabled:
            self._drop(HW_STATUS, reason)

    def _status(self, readings: Readings, state: str) -> None:
        if self._status_enabled:
            readings += [(stream, int(name == state)) for name, stream in self._states.items()]
