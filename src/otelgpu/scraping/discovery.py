"""Finding devices again and again: never gives up, never takes "none" for a final answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, Protocol, TypeVar

from attrs import frozen

from otelgpu.points.batch import Readings
from otelgpu.scraping.device import Device
from otelgpu.scraping.errors import ReadError

D_co = TypeVar("D_co", bound=Device, covariant=True)

SHORTEST = 1.0
"""Seconds until a failed discovery is tried again the first time; doubled each time after."""


@frozen
class Unreadable:
    """A device that the library counts but that cannot be identified now."""

    name: str
    """What is known of it, such as ``index 3``."""
    error: ReadError


@frozen
class Inventory(Generic[D_co]):
    """What a client found."""

    devices: Sequence[D_co]
    unreadable: Sequence[Unreadable] = ()
    epoch: Hashable = None
    """Another one says that the driver was loaded anew, and counts anew; None is not known."""


class Client(Protocol[D_co]):
    """Owns a vendor's library: loads it, finds devices, translates its errors."""

    def discover(self, may_close: Callable[[], bool]) -> Inventory[D_co]:
        """Return the devices of the node, loading and opening the library if need be.

        ``may_close`` is to be asked right before the library is closed, to be opened anew: only
        then are devices seen that came after it was opened. It answers no while another thread may
        be inside the library.

        Raises:
            ReadError: no device can be read; the reason is the second part of a state's id, such as
                ``library_not_found``.

        """

    def release(self, may_close: Callable[[], bool]) -> bool:
        """Close the library if ``may_close`` allows it; return whether it is closed.

        It is opened again by the next ``discover``.
        """


class Permission:
    """Whether one search may close the library, while nobody else is inside.

    A search that does not answer is left behind, and others go on inside the library. So the
    permission is asked for at the last moment, and taken back when the search is left.
    """

    def __init__(self, *, given: bool) -> None:
        self._given = given
        self._used = False
        self._lock = threading.Lock()

    def __call__(self) -> bool:
        with self._lock:
            self._used = self._given
            return self._given

    def take_back(self) -> bool:
        """Take the permission back; return whether it has been used, and nobody may go inside."""
        with self._lock:
            self._given = False
            return self._used


class Discovery(Generic[D_co]):
    """A target: finds the devices, with a back-off while there are none."""

    id = "discovery"

    def __init__(
        self, client: Client[D_co], interval: float, clock: Callable[[], float], shortest: float
    ) -> None:
        """``interval`` is the time in seconds between two searches while all is well."""
        self._client = client
        self._interval = interval
        self._shortest = shortest
        self._clock = clock
        self._due = float("-inf")
        self._failures = 0
        self._troubles = 0
        self._settled = 0
        self.inventory: Inventory[D_co] = Inventory([])
        self.error: ReadError | None = None
        self.finds = 0
        """How many searches have ended, well or not."""
        self.may_close = Permission(given=False)
        """Of the next search; set by the scraper before it."""

    @property
    def due(self) -> bool:
        """Whether it is time to search."""
        return self._clock() >= self._due

    def hasten(self) -> None:
        """Let it be time to search now."""
        self._due = float("-inf")

    def settle(self, *, well: bool) -> None:
        """Search sooner while what was found does not answer; backs off like a failed search."""
        if well:
            self._troubles = 0
        elif self._settled != self.finds:
            self._settled = self.finds
            self._troubles += 1
            self._due = min(self._due, self._clock() + self._backoff(self._troubles))

    def read(self, readings: Readings) -> None:  # noqa: ARG002 - finding devices yields no reading
        try:
            inventory = self._client.discover(self.may_close)
        except ReadError as error:
            self._failed(error)
        except Exception as error:
            # A mistake of ours or of a binding: whoever reads us logs it, and it backs off alike.
            self._failed(ReadError("internal", repr(error)))
            self.finds += 1
            raise
        else:
            if inventory.devices:
                self._failures = 0
                self.error = None
                self._due = self._clock() + self._interval
            else:
                self._failed(_none_readable(inventory))
            self.inventory = inventory
        self.finds += 1

    def _failed(self, error: ReadError) -> None:
        self.error = error
        self.inventory = Inventory([])
        self._failures += 1
        self._due = self._clock() + self._backoff(self._failures)

    def _backoff(self, failures: int) -> float:
        return min(self._interval, self._shortest * 2.0 ** min(failures - 1, 16))


def _none_readable(inventory: Inventory[D_co]) -> ReadError:
    """Return why there is no device: the reason becomes the receiver's state."""
    if not inventory.unreadable:
        return ReadError("no_devices")
    # A device's own error is no state of the receiver: its words go into the detail.
    words = ", ".join(f"{one.name}: {one.error}" for one in inventory.unreadable)
    refused = all(one.error.reason == "no_permission" for one in inventory.unreadable)
    return ReadError("no_permission" if refused else "device_unreadable", words)
