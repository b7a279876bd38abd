"""Records of process lists.

``nvmlProcessInfo`` grew twice: 16 bytes (v1), 24 with the ids of the MIG instance (v2), 32 with the
protected memory. The name of a function does not say which one it writes: a driver of the 535
series wrote the longest under ``_v3``, where bindings expect 24 bytes, and shifted every record but
the first. So it is seen from what was written, at each call.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from nvmlreceiver.processes.buffer import UNWRITTEN
from otelgpu.scraping.errors import ReadError

_LAYOUTS = (Struct("=I4xQ"), Struct("=I4xQ2I"), Struct("=I4xQ2IQ"))
LONGEST = _LAYOUTS[-1].size
"""Bytes of the longest record; the buffer has these for each, so no layout overruns it."""
_PIDS = 1 << 22
"""Linux' PID_MAX_LIMIT; no id is above it."""
_IDS = 1 << 16
_NO_ID = 2**32 - 1
_NO_MEMORY = 2**64 - 1


class Record(NamedTuple):
    """A process as a list tells it; None for what the driver does not tell."""

    pid: int
    memory: int | None
    """Bytes."""
    gpu_instance: int | None = None
    compute_instance: int | None = None


def decode(written: bytes, count: int, room: int) -> list[Record]:
    """Return the records that a list function left in a buffer.

    ``written`` is the whole buffer, which was all ``UNWRITTEN`` before the call and has place for
    ``room`` records of the longest layout; ``count`` is what the function said that it wrote.

    Raises:
        ReadError: ``layout``; no layout explains what was written, so nothing of it can be used.

    """
    if not 0 <= count <= room:
        raise ReadError("layout", f"{count} records in room for {room}")
    if not count:
        return []
    used = len(written.rstrip(UNWRITTEN))
    for layout in _LAYOUTS:
        own, rest = written[: count * layout.size], written[count * layout.size : used]
        # A driver may clear all the room that it was told of. As that is no multiple of 2 or 3,
        # it is never mistaken for records of another layout.
        whole = used == room * layout.size and not rest.strip(b"\0")
        if used == len(own) or whole:
            records = [_record(*found) for found in layout.iter_unpack(own)]
            if all(_is_plausible(record) for record in records):
                return records
    raise ReadError("layout", f"{count} records in {used} bytes are of no known layout")


def _record(
    pid: int, memory: int, gpu: int = _NO_ID, compute: int = _NO_ID, _protected: int = 0
) -> Record:
    return Record(
        pid,
        None if memory == _NO_MEMORY else memory,
        None if gpu == _NO_ID else gpu,
        None if compute == _NO_ID else compute,
    )


def _is_plausible(record: Record) -> bool:
    ids = record.gpu_instance or 0, record.compute_instance or 0
    return record.pid <= _PIDS and max(ids) < _IDS
