"""Halving of an encoded request, on its bytes: a queue keeps nothing else."""

from __future__ import annotations

from otelgpu.delivery import wire
from otelgpu.delivery.encoder import Encoded

Path = tuple[frozenset[int], ...]
"""Field numbers from the request down to what is counted."""

POINTS: Path = tuple(frozenset(numbers) for numbers in ((1,), (2,), (2,), (5, 7), (1,)))
"""resource_metrics, scope_metrics, metrics, gauge or sum, data_points."""

RECORDS: Path = tuple(frozenset(numbers) for numbers in ((1,), (2,), (2,)))
"""resource_logs, scope_logs, log_records."""


def halve(payload: bytes, path: Path, count: int) -> tuple[Encoded, Encoded]:
    """Return two requests with the first and the second half of ``count`` items.

    All that describes the items (resource, scope, metric) is in both; a metric of which one half
    has no point is not in that half.

    Raises:
        WireError: The payload is no request.
    """
    left, right, kept, cut = _cut(payload, path, count // 2)
    return Encoded(left, kept), Encoded(right, cut)


def _cut(message: bytes, path: Path, room: int) -> tuple[bytes, bytes, int, int]:
    left: list[bytes] = []
    right: list[bytes] = []
    kept = cut = 0
    numbers, deeper = path[0], path[1:]
    for number, _, body, raw in wire.fields(message):
        if number not in numbers or not isinstance(body, bytes):
            left.append(raw)
            right.append(raw)
        elif deeper:
            first, second, of_first, of_second = _cut(body, deeper, room - kept)
            if of_first:
                left.append(wire.length_delimited(number, first))
            if of_second:
                right.append(wire.length_delimited(number, second))
            kept, cut = kept + of_first, cut + of_second
        elif kept < room:
            left.append(raw)
            kept += 1
        else:
            right.append(raw)
            cut += 1
    return b"".join(left), b"".join(right), kept, cut
