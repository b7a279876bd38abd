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


@frozen
class FieldKey:
    """A field, and the call that gives the same on drivers or models without it."""

    number: int
    """``NVML_FI_*``."""
    instead: Callable[[NvmlDevice], Any] | None = None


def values(device: NvmlDevice, keys: Sequence[FieldKey]) -> Sequence[Any]:
    """Return the fields' values in order, ReadError for those that failed; nothing stands in.

    Raises:
        ReadError: the call as a whole failed.
        TargetLostError: the GPU is lost.

    """
    moved = device.traits.field_numbers
    numbers = [moved.get(key.number, key.number) for key in keys]
    known = [number for number in numbers if number is not None]
    try:
        found = iter(device.nvml.fields(device.handle, known) if known else ())
    except UnsupportedError as error:
        return [error] * len(keys)
    unknown = UnsupportedError("another field stands under this number in this driver")
    return [unknown if number is None else next(found) for number in numbers]


class FieldValues:
    """Reads fields of GPUs, by the other call where a GPU does not have a field.

    A field that has worked keeps its meaning through a refusal that passes: what stands in for it
    may count something else, and would be another stream. Only when it is refused as often as makes
    the core give a reading up does the other call take its place.
    """

    def __init__(self) -> None:
        self._refusals: dict[tuple[str, int], tuple[int, int]] = {}
        """Of fields that have worked, by GPU and field: the session, and refusals in a row."""

    def __call__(self, device: NvmlDevice, keys: Sequence[FieldKey]) -> list[Any]:
        """Return the fields' values in order, ReadError for those that failed.

        Raises:
            ReadError: the call as a whole failed.
            TargetLostError: the GPU is lost.

        """
        found = values(device, keys)
        return [self._take(device, key, value) for key, value in zip(keys, found, strict=True)]

    def _take(self, device: NvmlDevice, key: FieldKey, value: Any) -> Any:
        if key.instead is None:
            return value
        field_of = device.id, key.number
        if not isinstance(value, ReadError):
            self._refusals[field_of] = device.session, 0
        if not isinstance(value, UnsupportedError):
            return value
        session, refusals = self._refusals.get(field_of, (-1, 0))
        if session == device.session and refusals < REFUSALS:
            self._refusals[field_of] = session, refusals + 1
            return value
        return _ask(device, key.instead)


def _ask(device: NvmlDevice, instead: Callable[[NvmlDevice], Any]) -> Any:
    try:
        return instead(device)
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
) -> Field[Any]:
    """Return a row of the batch that gives one point."""
    emits: Sequence[AnyEmit] = [Emit(metric, value, attributes or {})]
    return Field(FieldKey(number, instead), emits)
