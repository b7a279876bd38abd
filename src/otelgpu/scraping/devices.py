"""One scrape of all devices of a vendor: discovery, reading, status, and the receiver's state."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

from attrs import evolve, frozen

from otelgpu.component import Settings
from otelgpu.points.batch import Readings
from otelgpu.points.metric import Metric
from otelgpu.scraping.beside import Beside
from otelgpu.scraping.device import Device, DeviceTarget, NoPartitions, Partitions
from otelgpu.scraping.discovery import SHORTEST, Client, Discovery, Permission
from otelgpu.scraping.pci import PciFunctions
from otelgpu.scraping.reading import DeviceReading
from otelgpu.scraping.release import Release
from otelgpu.scraping.support import DeviceSupport
from otelgpu.scraping.table import Table
from otelgpu.scraping.target import Target, TargetReader
from otelgpu.semconv.metrics import (
    OTELGPU_COMPONENT_ERRORS,
    OTELGPU_DEVICE_COUNT,
    OTELGPU_DEVICE_EXPECTED,
    OTELGPU_RECEIVER_UP,
    OTELGPU_SCRAPE_DROPPED,
    OTELGPU_TARGET_HUNG,
)
from otelgpu.telemetry.component import OK

D = TypeVar("D", bound=Device)

_STUCK = frozenset({"library_hung", "discovery_hung"})
GONE = 600.0
"""Seconds for which a device that vanished is told of as failed."""
PATIENCE = 600.0
"""Seconds for which a library may hang as a whole before the agent is to be executed anew."""


@frozen
class Vendor:
    """What is special about a vendor's devices."""

    name: str
    """Value of hw.vendor."""
    states: str
    """First part of the ids of the receiver's states."""
    expected: Callable[[], PciFunctions | None]
    """Counts the devices that the node should have, without the vendor's driver."""


@frozen
class Pace:
    """Times of a receiver, in seconds."""

    interval: float
    """Between two scrapes; a scrape begins no target after it."""
    timeout: float
    """Deadline of one target."""
    discovery: float = 60.0
    """Between two searches for devices."""
    shortest: float = SHORTEST
    """Before the first new try after a failed search."""
    release: float = 300.0
    """For which the driver is let go of when asked to."""


class DeviceScraper(Generic[D]):
    """Reads all devices that a client finds, by one table."""

    def __init__(
        self,
        settings: Settings,
        vendor: Vendor,
        client: Client[D],
        table: Callable[[D], Table[D]],
        enabled: Callable[[Metric], bool],
        pace: Pace,
        partitions: Partitions[D] | None = None,
        beside: Beside | None = None,
    ) -> None:
        """``table`` returns the rows for a device or a partition, made for it alone."""
        self._settings = settings
        self._telemetry = settings.telemetry
        self._log = settings.logger
        self._vendor = vendor
        self._table = table
        self.partitions: Partitions[D] = partitions or NoPartitions()
        self.enabled = enabled
        self.streams = settings.streams
        self._pace = pace
        self._beside = beside
        self._gone: dict[str, tuple[DeviceTarget[D], float]] = {}
        """Devices that vanished while others stayed, and until when they are told of."""
        clock = settings.clock.monotonic
        self._discovery = Discovery(client, pace.discovery, clock, pace.shortest)
        self._reader = TargetReader(settings.id, pace.timeout, self._mistake)
        self._targets: dict[str, DeviceTarget[D]] = {}
        self._release = Release(client, pace.release, clock)
        self._epoch: Hashable = None
        self.restarted: frozenset[str] = frozenset()
        """Devices and partitions whose driver was loaded anew before the last scrape."""
        self._stuck_since: float | None = None
        self._released = False
        """Whether devices may have been changed on purpose since the last search."""
        self._finds = 0
        self._closing = False
        self._first = 0

    def start(self) -> None:
        """Count what should be there; a node without a driver is a state, not an error."""
        if self._beside is not None:
            self._beside.start()
        expected = self._vendor.expected()
        if expected is not None:
            common = {"hw.vendor": self._vendor.name}
            self._telemetry.set(OTELGPU_DEVICE_EXPECTED, expected.host, common)
            if expected.passed_through:
                vfio = {**common, "otelgpu.device.binding": "vfio"}
                self._telemetry.set(OTELGPU_DEVICE_EXPECTED, expected.passed_through, vfio)

    def shutdown(self, timeout: float) -> None:  # noqa: ARG002 - nothing here waits
        """Leave the library open: a thread may be inside it, and the process is about to end."""
        if self._beside is not None:
            self._beside.shutdown()
        self._reader.close()

    def scrape(self) -> Readings:
        """Search for devices when it is time, and read all there are."""
        readings = self._scrape()
        if self._beside is not None and not self._reader.closed:
            readings += self._beside.readings()
        return readings

    def _scrape(self) -> Readings:
        self.restarted = frozenset()
        if self._release.active:
            return self._let_go()
        if self._release.done:
            self._release.done = False
            self._released = True
            self._discovery.hasten()
        if self._discovery.due or self._discovery.finds != self._finds:
            self._search()
        if self._closing or Release.id in self._reader.hung:
            return self._closed_to_us()
        order = list(self._targets.values())
        order = order[self._first :] + order[: self._first]
        cycle = self._reader.read(order, self._pace.interval)
        readings = cycle.readings
        if self._reader.closed:
            # Cut short by the shutdown: what was not read is no state of its device.
            return readings
        for target in cycle.hung:
            self._telemetry.add(OTELGPU_TARGET_HUNG, 1, {"hw.id": target.id})
            self._targets[target.id].unanswered(readings, "hung")
        for target in cycle.unread:
            if cycle.stalled:
                self._targets[target.id].unanswered(readings, "hung")
            else:
                self._targets[target.id].unread(readings, "late")
        self._begin_with(cycle.unread[0] if cycle.unread else None)
        for target in self._missing():
            target.gone(readings)
        self._say_how_they_are()
        self._judge()
        return readings

    def _missing(self) -> list[DeviceTarget[D]]:
        """Return the devices that vanished not long ago."""
        now = self._settings.clock.monotonic()
        for name, (target, until) in list(self._gone.items()):
            if now > until:
                del self._gone[name]
                for part in target.ids:
                    self.went(part)
        return [target for target, _ in self._gone.values()]

    def _say_how_they_are(self) -> None:
        if self._beside is None:
            return
        for target in self._targets.values():
            if target.lost:
                self._beside.lost(target.id, target.lost)
            elif target.reachable:
                self._beside.well(target.id)

    def support(self) -> list[DeviceSupport]:
        """Return what each device gave when it was last asked, and why it did not give the rest."""
        found = [one for target in self._targets.values() for one in target.support()]
        beside = self._beside
        if beside is None:
            return found
        return [evolve(one, findings=[*one.findings, *beside.support(one.id)]) for one in found]

    def release(self) -> None:
        """Let go of the driver for a while, from the next scrape on."""
        self._release.ask()

    def _let_go(self) -> Readings:
        """Read nothing, and close the library if nobody is inside."""
        self._reader.read([])
        if not self._release.done and not self._reader.hung:
            self._release.may_close = Permission(given=True)
            self._reader.read([self._release])
        readings: Readings = []
        for target in self._targets.values():
            target.unread(readings, "released")
        self._telemetry.set(OTELGPU_RECEIVER_UP, 0)
        self._telemetry.set(OTELGPU_DEVICE_COUNT, 0, {"hw.vendor": self._vendor.name})
        inside = "" if self._release.done else "; not closed yet, since a call does not return"
        self._enter("released", f"for {self._release.left:.0f} s{inside}")
        return readings

    def _closed_to_us(self) -> Readings:
        """Read nothing: a call that does not return is closing or opening the library."""
        readings: Readings = []
        for target in self._targets.values():
            target.unanswered(readings, "hung")
        self._judge()
        return readings

    def _search(self) -> None:
        if self._discovery.due:
            if Discovery.id not in self._reader.hung:
                self._discovery.may_close = Permission(given=not self._reader.hung)
            self._reader.read([self._discovery])
            if Discovery.id in self._reader.hung:
                self._telemetry.add(OTELGPU_TARGET_HUNG, 1)
                self._closing = self._discovery.may_close.take_back()
        if self._discovery.finds == self._finds:
            return
        self._finds = self._discovery.finds
        self._closing = False
        inventory = self._discovery.inventory
        # A device that the library counts but cannot name now is one of those that we know.
        targets = {d.id: self._target(d) for d in inventory.devices}
        missing = [t for t in self._targets.values() if t.id not in targets]
        for target in missing[: len(inventory.unreadable)]:
            targets[target.id] = target
        self._say_changes(targets)
        self._note_vanished(targets)
        if inventory.epoch is not None:
            if self._epoch not in (None, inventory.epoch):
                self._log.warning("the driver was loaded anew: counters begin anew")
                self.restarted = frozenset(i for t in targets.values() for i in t.ids)
            self._epoch = inventory.epoch
        if list(targets) != list(self._targets):
            self._first = 0
        self._targets = targets

    def _target(self, device: D) -> DeviceTarget[D]:
        known = self._targets.get(device.id)
        if known is None:
            return DeviceTarget(device, self)
        if known.device != device and known.id not in self._reader.hung:
            known.renew(device)
        return known

    def bind(self, device: D) -> DeviceReading[D]:
        """Return the table of a device or a partition, bound to it."""
        return DeviceReading(
            self._table(device),
            device.attributes,
            self.enabled,
            self.streams,
            self._settings.clock.monotonic,
        )

    def _say_changes(self, targets: dict[str, DeviceTarget[D]]) -> None:
        for name in targets:
            if name not in self._targets:
                self.came(name)

    def _note_vanished(self, targets: dict[str, DeviceTarget[D]]) -> None:
        """Go on telling of a device that vanished while others are there: somebody misses it.

        When all vanish it is the driver that is gone, and after a release somebody has changed the
        devices on purpose: neither is a loss of a device.
        """
        alone = bool(targets) and not self._released
        self._released = False
        until = self._settings.clock.monotonic() + GONE
        for target in self._targets.values():
            if target.id in targets:
                continue
            if not alone:
                for name in target.ids:
                    self.went(name)
                continue
            self._log.warning("%s has vanished", target.id)
            self._gone[target.id] = target, until
            if self._beside is not None:
                self._beside.gone(target.id)
        for name in targets:
            self._gone.pop(name, None)

    def came(self, name: str) -> None:
        """Say that a device or a partition is there."""
        self._log.info("found %s", name)

    def went(self, name: str) -> None:
        """Say that it is gone, and forget what was counted for it."""
        self._log.warning("%s is gone", name)
        # Partitions come with new ids: what was counted for old ones must not pile up.
        for metric in (OTELGPU_SCRAPE_DROPPED, OTELGPU_TARGET_HUNG):
            self._telemetry.forget(metric, {"hw.id": name})

    def _begin_with(self, target: Target | None) -> None:
        """Begin the next cycle with a target that this one had no time for."""
        ids = list(self._targets)
        self._first = ids.index(target.id) if target is not None else 0

    def _judge(self) -> None:
        """Say what state the receiver is in."""
        targets = self._targets.values()
        up = sum(t.reachable is True for t in targets)
        common = {"hw.vendor": self._vendor.name}
        self._telemetry.set(OTELGPU_RECEIVER_UP, int(up > 0))
        self._telemetry.set(OTELGPU_DEVICE_COUNT, up, common)
        self._discovery.settle(well=up > 0 or not targets)
        state, detail = next(self._states(up))
        self._mind(stuck=state in _STUCK)
        self._enter(state, detail)

    def _mind(self, *, stuck: bool) -> None:
        """Ask for a fresh process when a library has not answered for long: nothing else helps."""
        now = self._settings.clock.monotonic()
        if not stuck:
            self._stuck_since = None
        elif self._stuck_since is None:
            self._stuck_since = now
        elif now >= self._stuck_since + PATIENCE:
            self._stuck_since = now
            self._settings.restart("library_hung")

    def _enter(self, state: str, detail: str) -> None:
        if state != OK:
            state = f"{self._vendor.states}.{state}"
        if self._telemetry.enter(state, detail):
            log = self._log.info if state == OK else self._log.warning
            log("state %s: %s", state, detail)

    def _states(self, up: int) -> Iterator[tuple[str, str]]:
        """Yield what is wrong, the worst first, and at last that all is well."""
        targets, hung = self._targets.values(), self._reader.hung
        if Discovery.id in hung and (self._closing or not targets):
            yield "discovery_hung", f"no answer within {self._pace.timeout:g} s"
        if not targets and self._discovery.error is not None:
            yield self._discovery.error.reason, str(self._discovery.error)
        stuck = [t.id for t in targets if t.id in hung]
        if stuck and not up:
            yield "library_hung", ", ".join(stuck)
        if lost := [f"{t.id} ({t.lost})" for t in [*targets, *self._missing()] if t.lost]:
            yield "device_lost", ", ".join(lost)
        if stuck:
            yield "device_hung", ", ".join(stuck)
        if unreadable := self._discovery.inventory.unreadable:
            yield "device_unreadable", ", ".join(f"{u.name}: {u.error}" for u in unreadable)
        if targets and not up:
            yield "nothing_readable", f"none of {len(targets)} devices answers a call"
        yield OK, f"{up} of {len(targets)} devices"

    def drop(self, device: str, metric: Metric, reason: str) -> None:
        """Count a missing point."""
        attributes = {"otelgpu.metric": metric.name, "error.type": reason}
        if reason != "unsupported":
            # What a model does not have would be one more series for each device for ever.
            attributes["hw.id"] = device
        self._telemetry.add(OTELGPU_SCRAPE_DROPPED, 1, attributes)

    def _mistake(self, target: Target, error: BaseException) -> None:
        self._log.error("reading %s failed", target.id, exc_info=error)
        self._telemetry.add(OTELGPU_COMPONENT_ERRORS, 1, {"error.type": type(error).__name__})
