"""Field values: many readings by number in one call, each with a result of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from nvmlreceiver.device import NvmlDevice
from otelgpu.points.metric import Metric
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError
from otelgpu.scraping.table import AnyEmit, Emit, Field

SOURCE = "nvmlDeviceGetFieldValues"


@frozen
class FieldKey:
    """A field, and the call that gives the same on drivers or models without it."""

    number: int
    """``NVML_FI_*``."""
    instead: Callable[[NvmlDevice], Any] | None = None


def values(device: NvmlDevice, keys: Sequence[FieldKey]) -> list[Any]:
    """Return the fields' values in order, ReadError for those that failed.

    Raises:
        ReadError: the call as a whole failed.
        TargetLostError: the GPU is lost.

    """
    found: Sequence[Any]
    try:
        found = device.nvml.fields(device.handle, [key.number for key in keys])
    except UnsupportedError as error:
        found = [error] * len(keys)
    return [_instead(device, key, value) for key, value in zip(keys, found, strict=True)]


def _instead(device: NvmlDevice, key: FieldKey, value: Any) -> Any:
    if key.instead is None or not isinstance(value, UnsupportedError):
        return value
    try:
        return key.instead(device)
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
