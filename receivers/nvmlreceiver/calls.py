"""Calls of the table: NVML functions of a GPU by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.errors import MissingError
from otelgpu.scraping.errors import UnsupportedError
from otelgpu.scraping.slot import REFUSALS

Call = Callable[[NvmlDevice], Any]

MINUTE = 60.0
"""Cadence in seconds of what hardly ever changes but is not fixed for the life of the device."""


def call(function: str, *arguments: Any) -> Call:
    """Return the call of one function; it raises ReadError as ``Binding.call`` does."""
    return lambda device: device.ask(function, *arguments)


class FirstOf:
    """A call that asks the next way where the one before is not supported; made for one device.

    A way whose function the driver lacks is not asked again: that holds for as long as the driver
    is loaded. A way that has worked keeps its place through a refusal that passes, since another
    may tell another quantity; only when it is refused as often as makes the core give a reading up
    does the next one stand in.
    """

    def __init__(self, *ways: Call) -> None:
        self._ways = list(ways)
        self._refusals: dict[Call, int] = {}
        """Of ways that have worked: refusals in a row."""

    def __call__(self, device: NvmlDevice) -> Any:
        """Return what the first way gives that is supported.

        Raises:
            ReadError: as ``Binding.call`` does; UnsupportedError if no way is supported.

        """
        for way in self._ways[:-1]:
            try:
                found = way(device)
            except UnsupportedError as error:
                refusals = self._refusals.get(way, REFUSALS)
                if refusals < REFUSALS:
                    self._refusals[way] = refusals + 1
                    raise
                if isinstance(error, MissingError):
                    self._ways.remove(way)
            else:
                self._refusals[way] = 0
                return found
        return self._ways[-1](device)
