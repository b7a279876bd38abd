"""Calls of the table: NVML functions of a GPU by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nvmlreceiver.device import NvmlDevice
from otelgpu.scraping.errors import UnsupportedError

Call = Callable[[NvmlDevice], Any]

MINUTE = 60.0
"""Cadence in seconds of what hardly ever changes but is not fixed for the life of the device."""


def call(function: str, *arguments: Any) -> Call:
    """Return the call of one function; it raises ReadError as ``Binding.call`` does."""
    return lambda device: device.ask(function, *arguments)


def first_of(*calls: Call) -> Call:
    """Return a call that asks the next way where the one before is not supported."""

    def ask(device: NvmlDevice) -> Any:
        for attempt in calls[:-1]:
            try:
                return attempt(device)
            except UnsupportedError:
                continue
        return calls[-1](device)

    return ask
