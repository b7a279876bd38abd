"""Field values: many readings by number in one call, each with a result of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from nvmlreceiver.device import NvmlDevice
from otelgpu.points.metric import Metric
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError
from otelgpu.scraping.slot import REFUSALS
from otelgpu.scraping.table import AnyEmit, Emit, Field

SOURCE = "nvmlDeviceGetFieldValues"


_SEARCH = 24
"""Calls at most in the search for the field for which the library refuses a whole request."""
_HOPELESS = 6
"""Calls after which such a search ends if none was answered: then it is no matter of one field."""

Pair = tuple[int, int]
"""Number and scope of a field."""


@frozen
class FieldKey:
    """A field, and the call that gives the same on drivers or models without it."""

    number: int
    """``NVML_FI_*``."""
    scope: int = 0
    """``scopeId`` of ``nvmlFieldValue_t``: a link or a power domain, 0 for most fields."""
    instead: Callable[[NvmlDevice], Any] | None = None

    @property
    def pair(self) -> Pair:
        """Number and scope."""
        return self.number, self.scope


@frozen
class Combined:
    """A value made of several fields: the state of all links, for one."""

    pairs: Callable[[NvmlDevice], Sequence[Pair]]
    """Says which fields, and may ask what it depends on once; raises ReadError as calls do."""
    combine: Callable[[NvmlDevice, Sequence[Any]], Any]
    """Makes the value of theirs, of which any may be a ReadError; raises ReadError if it cannot."""


Key = FieldKey | Combined


class FieldValues:
    """Reads fields of one GPU, by the other call where the GPU does not have a field.

    A field that has worked keeps its meaning through a refusal that passes: what stands in for it
    may count something else, and would be another stream. Only when it is refused as often as makes
    the core give a reading up does the other call take its place.

    Some libraries refuse a request as a whole for one of its fields. After as many refusals in a
    row that field is searched for and from then on asked for alone.
    """

    def __init__(self) -> None:
        self._refusals: dict[Pair, int] = {}
        """Refusals in a row of fields that have worked."""
        self._refused = 0
        """Refusals in a row of the whole request."""
        self._apart: set[Pair] = set()
        """Fields for which a request is refused as a whole."""

    def __call__(self, device: NvmlDevice, keys: Sequence[Key]) -> list[Any]:
        """Return the fields' values in order, ReadError for those that failed.

        Raises:
            ReadError: the call as a whole failed.
            TargetLostError: the GPU is lost.

        """
        parts = [_parts(device, key) for key in keys]
        # A field that serves several keys is asked for once.
        pairs = list(
            dict.fromkeys(p for one in parts if not isinstance(one, ReadError) for p in one)
        )
        together = [pair for pair in pairs if pair not in self._apart]
        found = self._together(device, together) if together else {}
        for pair in pairs:
            if pair not in found:
                found[pair] = self._alone(device, pair)
        return [
            part
            if isinstance(part, ReadError)
            else self._value(device, key, [found[p] for p in part])
            for key, part in zip(keys, parts, strict=True)
        ]

    def _value(self, device: NvmlDevice, key: Key, found: Sequence[Any]) -> Any:
        if isinstance(key, FieldKey):
            return self._take(device, key, found[0])
        lost = next((one for one in found if isinstance(one, TargetLostError)), None)
        return lost or _ask(device, lambda device: key.combine(device, found))

    def _together(self, device: NvmlDevice, pairs: Sequence[Pair]) -> dict[Pair, Any]:
        try:
            found = _request(device, pairs)
        except TargetLostError:
            raise
        except UnsupportedError as error:
            return dict.fromkeys(pairs, error)
        except ReadError as error:
            self._refused += 1
            if self._refused < REFUSALS:
                raise
            if self._refused == REFUSALS:
                return self._search(device, pairs, error)
            return dict.fromkeys(pairs, error)
        self._refused = 0
        return dict(zip(pairs, found, strict=True))

    def _search(
        self, device: NvmlDevice, pairs: Sequence[Pair], error: ReadError
    ) -> dict[Pair, Any]:
        """Ask for ever smaller parts of a request that is refused, within bounds."""
        found: dict[Pair, Any] = dict.fromkeys(pairs, error)
        parts, refused, answered = [*_halves(pairs)], set(), False
        for call in range(_SEARCH):
            if not parts or (call >= _HOPELESS and not answered):
                break
            part = parts.pop(0)
            try:
                found.update(zip(part, _request(device, part), strict=True))
                answered = True
            except TargetLostError:
                raise
            except ReadError:
                if len(part) == 1:
                    refused.add(part[0])
                parts += _halves(part)
        if answered:
            self._refused = 0
            self._apart |= refused
            found.update((pair, _refusal(pair)) for pair in refused)
        return found

    def _alone(self, device: NvmlDevice, pair: Pair) -> Any:
        try:
            [value] = _request(device, [pair])
        except TargetLostError:
            raise
        except ReadError:
            return _refusal(pair)
        self._apart.discard(pair)
        return value

    def _take(self, device: NvmlDevice, key: FieldKey, value: Any) -> Any:
        if key.instead is None:
            return value
        if not isinstance(value, ReadError):
            self._refusals[key.pair] = 0
            return value
        if self._refused < REFUSALS:
            if not isinstance(value, UnsupportedError):
                return value
            refusals = self._refusals.get(key.pair)
            if refusals is not None and refusals < REFUSALS:
                self._refusals[key.pair] = refusals + 1
                return value
        return _ask(device, key.instead)


def _request(device: NvmlDevice, pairs: Sequence[Pair]) -> Sequence[Any]:
    """Ask for fields by the numbers that they have in this driver.

    Raises:
        ReadError: the call as a whole failed.

    """
    moved = device.traits.field_numbers
    numbers = [moved.get(number, number) for number, _ in pairs]
    known = [(n, scope) for n, (_, scope) in zip(numbers, pairs, strict=True) if n is not None]
    found = iter(device.nvml.fields(device.handle, known) if known else ())
    unknown = UnsupportedError("another field stands under this number in this driver")
    return [unknown if number is None else next(found) for number in numbers]


def _parts(device: NvmlDevice, key: Key) -> Sequence[Pair] | ReadError:
    if isinstance(key, FieldKey):
        return [key.pair]
    found: Sequence[Pair] | ReadError = _ask(device, key.pairs)
    return found


def _halves(pairs: Sequence[Pair]) -> list[Sequence[Pair]]:
    middle = len(pairs) // 2
    return [pairs[:middle], pairs[middle:]] if middle else []


def _refusal(pair: Pair) -> UnsupportedError:
    # As what the device does not have it is asked for ever more rarely.
    return UnsupportedError(f"a request with field {pair[0]} is refused as a whole")


def _ask(device: NvmlDevice, question: Callable[[NvmlDevice], Any]) -> Any:
    try:
        return question(device)
    except TargetLostError:
        raise
    except ReadError as error:
        return error


def field(
    number: int,
    metric: Metric,
    value: Callable[[Any], float | None],
    attributes: Mapping[str, str] | None = None,
    instead: Callable[[NvmlDevice], Any] | None = None,
    scope: int = 0,
) -> Field[Any]:
    """Return a row of the batch that gives one point."""
    emits: Sequence[AnyEmit] = [Emit(metric, value, attributes or {})]
    return Field(FieldKey(number, scope, instead), emits)
