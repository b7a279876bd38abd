"""The NVLinks of one GPU: how many there are, and sums over them."""

from __future__ import annotations

from collections.abc import Sequence

from nvmlreceiver import nvml
from nvmlreceiver.calls import Call
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.fields import Pair
from otelgpu.scraping.errors import ReadError, UnsupportedError

_UP = frozenset({nvml.NVML_NVLINK_STATE_ACTIVE, nvml.NVML_NVLINK_STATE_SLEEP})
"""A link that sleeps is trained and wakes up by itself."""
_DOWN = frozenset({nvml.NVML_NVLINK_STATE_INACTIVE, nvml.NVML_NVLINK_STATE_ACTIVE_TRAFFIC_DISABLED})


class NvLinks:
    """What one GPU has of NVLink: how many links, and which of two kinds of counters."""

    def __init__(self) -> None:
        self._links: range | None = None
        self._last: dict[Pair, float] = {}
        """Counts of links by field, kept for those that are down now."""
        self._newer: bool | None = None
        """Whether NVLink 5 counters are used; decided at the first that answers."""

    def links(self, device: NvmlDevice) -> range:
        """Return the numbers of the links that the GPU has (field 91), asked once.

        Raises:
            ReadError: it cannot be told now.
            UnsupportedError: the GPU has none.

        """
        if self._links is None:
            [count] = device.nvml.fields(device.handle, [(nvml.NVML_FI_DEV_NVLINK_LINK_COUNT, 0)])
            if isinstance(count, UnsupportedError):
                count = 0
            if isinstance(count, ReadError):
                raise count
            if count > nvml.NVML_NVLINK_MAX_LINKS:
                raise ReadError("out_of_range", f"{count} NVLinks")
            self._links = range(int(count))
        if not self._links:
            raise UnsupportedError("the GPU has no NVLink")
        return self._links

    def of_each(self, *numbers: int) -> Call:
        """Return what says which fields to ask for: these, of each link."""
        return lambda device: [(n, link) for n in numbers for link in self.links(device)]

    def total(self, number: int) -> Call:
        """Return the call that sums a counter over links, where the driver does not.

        Every link that is up must answer: a partial sum would fall. One that is down counts with
        what it had.
        """
        pairs = self.of_each(nvml.NVML_FI_DEV_NVLINK_GET_STATE, number)

        def read(device: NvmlDevice) -> float:
            found = device.nvml.fields(device.handle, pairs(device))
            middle = len(found) // 2
            up = states(found[:middle])
            for link, value in enumerate(found[middle:]):
                if not isinstance(value, ReadError):
                    self._last[number, link] = value
                elif up[link]:
                    raise value
            return sum(count for (kept, _), count in self._last.items() if kept == number)

        return read

    def chosen(self, *, newer: bool) -> None:
        """Use counters of one kind: a driver may have both, and they are the same bytes.

        Raises:
            UnsupportedError: the other kind is used.

        """
        if self._newer is None:
            self._newer = newer
        if self._newer != newer:
            raise UnsupportedError("counted by the other fields")


def states(found: Sequence[float | ReadError]) -> list[bool]:
    """Return whether each link is up.

    Raises:
        ReadError: of one link it cannot be told.

    """
    for state in found:
        if isinstance(state, ReadError):
            raise state
        if state not in _UP | _DOWN:
            raise ReadError("unknown_state", f"NVLink state {state}")
    return [state in _UP for state in found]
