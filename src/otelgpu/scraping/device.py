"""One device as a target: its table, its partitions, and what its answers say of its health."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Metric
from otelgpu.points.stream import Attributes, Streams
from otelgpu.scraping.errors import ReadError, TargetLostError
from otelgpu.scraping.reading import DeviceReading
from otelgpu.scraping.slot import Drop
from otelgpu.scraping.support import DeviceSupport
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


class Partitions(Protocol[D]):
    """What a receiver knows of partitions: they live and die inside a device that stays."""

    def unfold(self, device: D) -> Sequence[D]:
        """Return the device as it is now and its partitions, the device first.

        Called at each scrape, so a device without partitions should cost no vendor call.

        Raises:
            ReadError: the partitions cannot be told now.
            TargetLostError: the device is lost.

        """

    def holds(self, partition: D) -> bool:
        """Whether a partition that was just read is still the one that was found.

        Raises:
            TargetLostError: the device is lost.

        """


class NoPartitions(Generic[D]):
    """Devices that are never partitioned, or whose partitions are devices of their own."""

    def unfold(self, device: D) -> Sequence[D]:
        return [device]

    def holds(self, partition: D) -> bool:  # noqa: ARG002 - there are none
        return True


class Surroundings(Protocol[D]):
    """What a target needs of the receiver that it is part of."""

    @property
    def partitions(self) -> Partitions[D]:
        """Tells a device's partitions."""

    @property
    def streams(self) -> Streams:
        """The service's streams."""

    @property
    def enabled(self) -> Callable[[Metric], bool]:
        """Tells whether a metric is to be read."""

    def bind(self, device: D) -> DeviceReading[D]:
        """Return the table of a device or a partition, bound to it."""

    def drop(self, device: str, metric: Metric, reason: str) -> None:
        """Count a missing point."""

    def came(self, name: str) -> None:
        """Say that a device or a partition is there."""

    def went(self, name: str) -> None:
        """Say that it is gone, and forget what was counted for it."""


class _Part(Generic[D]):
    """A device or one of its partitions, bound to its table."""

    def __init__(self, device: D, around: Surroundings[D]) -> None:
        self.device = device
        self.reading = around.bind(device)
        self.drop: Drop = lambda metric, reason: around.drop(device.id, metric, reason)

    def miss(self, reason: str) -> Readings:
        """Count what is missing, and return what stays true."""
        self.reading.miss(reason, self.drop)
        return self.reading.description()


class DeviceTarget(Generic[D]):
    """Reads one device and its partitions, and tells whether the device can be reached.

    Status is the device's alone: a partition is reachable when its device is.
    """

    def __init__(self, device: D, around: Surroundings[D]) -> None:
        self.device = device
        self.reachable: bool | None = None
        """Whether the device answered when it was last read; None when that is not known."""
        self.lost = ""
        """Why the device is lost, in the driver's words; empty while it is not."""
        self._around = around
        self._whole = _Part(device, around)
        self._parts: dict[str, _Part[D]] = {}
        self._states = {
            state: around.streams.get(HW_STATUS, {**device.attributes, "hw.state": state})
            for state in _STATES
        }
        self._status_enabled = around.enabled(HW_STATUS)

    @property
    def id(self) -> str:
        return self.device.id

    @property
    def ids(self) -> Iterator[str]:
        """The device's id, and those of its partitions."""
        yield self.id
        yield from self._parts

    def support(self) -> Iterator[DeviceSupport]:
        """Yield what the device gives, and each of its partitions."""
        for part in self._all:
            yield DeviceSupport(part.device.id, part.device.attributes, [*part.reading.support()])

    def renew(self, device: D) -> None:
        """Go on with the same device as it was found anew; what describes it is read again."""
        self.device = device
        self._whole = _Part(device, self._around)

    def read(self, readings: Readings) -> None:
        """Add the device's readings and its status; an unreadable device has no status."""
        try:
            self.reachable = self._read(readings) or None
            self.lost = ""
        except TargetLostError as error:
            self.reachable = False
            self.lost = str(error)
            # Only what describes the device is still true; it names the card that is lost.
            readings[:] = [r for part in self._all for r in part.reading.description()]
        if self.reachable is None:
            self._no_status("unknown")
            return
        self._status(readings, OK if self.reachable else FAILED)

    def _read(self, readings: Readings) -> bool:
        """Read the device and its partitions; return whether the device itself answered.

        Raises:
            TargetLostError: the device is lost.

        """
        try:
            self._unfold()
        except TargetLostError:
            raise
        except ReadError as error:
            missing = error.reason
        else:
            missing = ""
        whole = self._whole
        answered = whole.reading.read(whole.device, readings, whole.drop)
        for part in list(self._parts.values()):
            readings += part.miss(missing) if missing else self._read_part(part)
        return answered

    def _read_part(self, part: _Part[D]) -> Readings:
        readings: Readings = []
        part.reading.read(part.device, readings, part.drop)
        # The layout may have changed while we read: these may be another partition's values.
        if self._around.partitions.holds(part.device):
            return readings
        return part.miss("changed")

    def _unfold(self) -> None:
        whole, *found = self._around.partitions.unfold(self.device)
        if whole != self._whole.device:
            self._whole = _Part(whole, self._around)
        parts = {device.id: self._part(device) for device in found}
        before, self._parts = self._parts, parts
        for name in parts.keys() - before.keys():
            self._around.came(name)
        for name in before.keys() - parts.keys():
            self._around.went(name)

    def _part(self, device: D) -> _Part[D]:
        known = self._parts.get(device.id)
        return known if known and known.device == device else _Part(device, self._around)

    @property
    def _all(self) -> list[_Part[D]]:
        return [self._whole, *self._parts.values()]

    def unanswered(self, readings: Readings, reason: str) -> None:
        """Add what is known of a device that does not answer: its description, status failed."""
        self.reachable = False
        self.lost = ""
        self._miss(readings, reason)
        self._status(readings, FAILED)

    def gone(self, readings: Readings) -> None:
        """Add what is known of a device that has vanished: its description, status failed."""
        self.reachable = False
        self.lost = "no longer among the devices of the driver"
        for part in self._all:
            readings += part.reading.description()
        self._status(readings, FAILED)

    def unread(self, readings: Readings, reason: str) -> None:
        """Add what describes a device that this cycle had no time for; count what is missing."""
        self._miss(readings, reason)
        self._no_status(reason)

    def _miss(self, readings: Readings, reason: str) -> None:
        for part in self._all:
            readings += part.miss(reason)

    def _no_status(self, reason: str) -> None:
        if self._status_enabled:
            self._around.drop(self.id, HW_STATUS, reason)

    def _status(self, readings: Readings, state: str) -> None:
        if self._status_enabled:
            readings += [(stream, int(name == state)) for name, stream in self._states.items()]
