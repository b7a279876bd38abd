"""Reading one process list of a device."""

from __future__ import annotations

from ctypes import byref, c_uint

from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.processes.buffer import Buffer
from nvmlreceiver.processes.records import Record, decode
from otelgpu.scraping.errors import ReadError, UnsupportedError

_VERSIONS = ("_v3", "_v2", "")
_TRIES = 3
"""Calls for one list while it grows faster than the room for it."""


class ProcessList:
    """One list of one device, by the newest function that works on it."""

    def __init__(self, function: str, buffer: Buffer) -> None:
        """``function`` is NVML's name without a version."""
        self._function = function
        self._buffer = buffer
        self._symbol: str | None = None
        self.refused = False
        """Whether the device has never given this list, and has said that it does not."""

    def read(self, device: NvmlDevice) -> list[Record]:
        """Return the list as the driver tells it, unchecked.

        Raises:
            ReadError: it cannot be read now; ``layout`` where its records cannot be told apart.
            UnsupportedError: the driver or the device does not have it.
            TargetLostError: the GPU is lost.

        """
        if self._symbol is not None:
            return self._ask(device, self._symbol)
        why = UnsupportedError(f"the driver has no {self._function}")
        for symbol in (self._function + version for version in _VERSIONS):
            if device.nvml.has(symbol):
                try:
                    records = self._ask(device, symbol)
                except UnsupportedError as error:
                    why = error
                else:
                    self._symbol = symbol
                    self.refused = False
                    return records
        self.refused = True
        raise why

    def _ask(self, device: NvmlDevice, symbol: str) -> list[Record]:
        for _ in range(_TRIES):
            buffer = self._buffer
            count = c_uint(buffer.room)
            buffer.clear()
            try:
                device.nvml.invoke(symbol, device.handle, byref(count), buffer.memory)
            except ReadError as error:
                if error.reason != "insufficient_size":
                    raise
                buffer.grow(count.value)
            else:
                return decode(buffer.memory.raw, count.value, buffer.room)
        raise ReadError("insufficient_size", f"{symbol}: the list grows while it is read")
