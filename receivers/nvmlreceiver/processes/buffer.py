"""Memory that the library writes records into: kept for a device, and grown when it is short."""

from __future__ import annotations

from ctypes import Array, c_char, create_string_buffer, memset

from otelgpu.scraping.errors import ReadError

UNWRITTEN = b"\xa5"
"""What no record ends with: its last byte belongs to a small number, to zeros or to all ones."""
_FIRST = 31
_MOST = 1 << 15
"""Processes on one GPU that are believed: Linux has 4 million ids in all."""


class Buffer:
    """Room for records of one size; used by one thread at a time."""

    def __init__(self, record: int) -> None:
        """``record`` is the size of the longest record in bytes."""
        self._record = record
        self.room = _FIRST
        """Records that it holds."""
        self.memory: Array[c_char] = create_string_buffer(record * _FIRST)

    def clear(self) -> None:
        """Make visible what the library writes next."""
        memset(self.memory, UNWRITTEN[0], len(self.memory))

    def grow(self, needed: int) -> None:
        """Make room for more records than the library says are ``needed``: processes come and go.

        Raises:
            ReadError: ``insufficient_size``; nobody has so many.

        """
        room = max(needed, self.room) * 3 // 2
        # No multiple of 2 or 3: `records.decode` counts on that.
        room += 1 - room % 6
        if room > _MOST:
            raise ReadError("insufficient_size", f"the driver asks for room for {needed} records")
        self.room = room
        self.memory = create_string_buffer(self._record * room)
