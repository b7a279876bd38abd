"""A receiver's table: which vendor call yields which metrics.

A table is a list of rows. A row is one vendor call; its emits are the metrics taken from the
result, each with its own fate. ``otelgpu.scraping.reading`` reads one device by it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from attrs import field, frozen

from otelgpu.points.metric import Metric
from otelgpu.points.stream import Attributes
from otelgpu.scraping.errors import ReadError

D = TypeVar("D")
R = TypeVar("R")

ALWAYS = 0.0
"""Cadence of a row that is read at each scrape."""
ONCE = float("inf")
"""Cadence of a row that describes its device: read until it has answered, then never again."""


@runtime_checkable
class Forgetful(Protocol):
    """A row's call that compares what it reads with what it has read before."""

    def forget(self) -> None:
        """Compare with nothing of before: the device was lost, and may have been reset."""


@frozen
class Emit(Generic[R]):
    """One point taken from a call's result.

    ``value`` returns a number in the metric's unit, or None where the vendor has no value, or
    raises ReadError. Any other exception is a mistake of ours: it is counted as ``internal`` and
    costs this emit only.
    """

    metric: Metric
    value: Callable[[R], float | None]
    attributes: Mapping[str, str | int | bool] = field(factory=dict)


Point = tuple[Attributes, float | ReadError | None]
"""Attributes and number of one point of many, or why it alone is missing."""


@frozen
class EmitEach(Generic[R]):
    """Points whose attributes are known only from the result: pids, links, fault codes.

    ``values`` yields attributes and number; the same rules as for ``Emit``. A ReadError in place of
    a number costs that point alone.
    """

    metric: Metric
    values: Callable[[R], Iterable[Point]]


AnyEmit = Emit[Any] | EmitEach[Any]


@frozen
class Read(Generic[D, R]):
    """One vendor call and all that is taken from its result.

    ``source`` names the call as the vendor's documentation does. ``every`` is in seconds; between
    two reads the last values are repeated, so it suits values that change rarely. ``describes``
    says that the values tell what the device is: they stay true of one that is lost or hangs.
    """

    source: str
    call: Callable[[D], R]
    emits: Sequence[Emit[R] | EmitEach[R]]
    every: float = ALWAYS
    describes: bool = False


@frozen
class Field(Generic[R]):
    """One value of a batched call: the vendor's key for it, and what is taken from it."""

    key: Hashable
    emits: Sequence[Emit[R] | EmitEach[R]]


@frozen
class Batched(Generic[D, R]):
    """One vendor call that answers for many keys, each with a status of its own.

    ``call`` gets the keys still wanted and returns one value or ReadError for each, in order. A key
    that the device does not support is left out of later requests.
    """

    source: str
    call: Callable[[D, Sequence[Any]], Sequence[R | ReadError]]
    fields: Sequence[Field[R]]
    every: float = ALWAYS


Row = Read[D, Any] | Batched[D, Any]
Table = Sequence[Row[D]]
