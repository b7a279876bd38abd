"""Requests for field values as bytes: ``struct`` reads them at a tenth of what ctypes costs."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_uint64, memmove
from threading import local
from typing import Any

from otelgpu.scraping.errors import ReadError

NOT_AVAILABLE = frozenset({2**32 - 1, 2**64 - 1})
"""``NVML_VALUE_NOT_AVAILABLE`` of each width: all bits set. A 64-bit counter that happens to hold
the 32-bit one is absent for that read."""
VALUE = struct.Struct("=Q")
ENTRY = struct.Struct("=24xIIQ")
"""Of ``nvmlFieldValue_t``: ``valueType``, ``nvmlReturn``, and the value's bits."""

_BLANK = struct.Struct("=II16xIIQ")
_WORDS = ENTRY.size // VALUE.size
_NOT_FILLED_IN = 999
"""NVML_ERROR_UNKNOWN: what an entry says that the library leaves as it was."""
_KEPT = 32
"""Requests kept at most; what a GPU does not have and is asked again for makes new ones."""

_UNSIGNED = frozenset({1, 2, 3})
_DECODE: Mapping[int, Callable[[int], float]] = {
    0: lambda raw: float(struct.unpack("=d", VALUE.pack(raw))[0]),
    1: lambda raw: raw & 0xFFFFFFFF,
    2: lambda raw: raw,
    3: lambda raw: raw,
    4: lambda raw: int(struct.unpack("=q", VALUE.pack(raw))[0]),
    5: lambda raw: int(struct.unpack("=i4x", VALUE.pack(raw))[0]),
    6: lambda raw: raw & 0xFFFF,
}
"""By ``nvmlValueType_t``, for the little-endian 64-bit machines that NVIDIA's driver runs on."""


def value_of(kind: int, raw: int) -> float:
    """Return the number in an ``nvmlValue_t`` of a kind (``nvmlValueType_t``), given its bits.

    Raises:
        ReadError: the kind is unknown (``type``), or all bits are set (``absent``).

    """
    decode = _DECODE.get(kind)
    if decode is None:
        raise ReadError("type", f"a value of unknown type {kind}")
    value = decode(raw)
    if kind in _UNSIGNED and value in NOT_AVAILABLE:
        raise ReadError("absent", "all bits are set")
    return value


class FieldRequests(local):
    """Memory for requests, of each thread its own: a call that hangs may write into it late."""

    def __init__(self) -> None:
        self._arrays: dict[int, Any] = {}
        self._blanks: dict[Sequence[tuple[int, int]], bytes] = {}

    def fill(self, keys: tuple[tuple[int, int], ...]) -> Any:
        """Return an array of ``nvmlFieldValue_t`` that asks for number and scope of each key.

        It is overwritten by the next request of as many fields on this thread.
        """
        size = len(keys)
        array = self._arrays.get(size)
        if array is None:
            array = self._arrays[size] = (c_uint64 * (_WORDS * size))()
        blank = self._blanks.get(keys)
        if blank is None:
            if len(self._blanks) == _KEPT:
                self._blanks.clear()
            blank = b"".join(_BLANK.pack(*key, 0, _NOT_FILLED_IN, 0) for key in keys)
            self._blanks[keys] = blank
        memmove(array, blank, len(blank))
        return array
