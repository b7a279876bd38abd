"""A table of devices with their headline values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import define

from otelgpu.points.batch import Batch
from otelgpu.semconv.metrics import (
    HW_GPU_MEMORY_LIMIT,
    HW_GPU_MEMORY_USAGE,
    HW_GPU_UTILIZATION,
    HW_POWER,
    HW_STATUS,
    HW_TEMPERATURE,
)

_HEADS = ("GPU", "MODEL", "UTIL", "MEMORY", "POWER", "TEMP", "STATUS")
_LEFT = (0, 1, 6)
"""Columns of text; the others hold numbers and stand on the right."""
_SENSORS = ("gpu", "edge", "hotspot")
"""Sensors that stand for the whole device, the best first."""
_UNKNOWN = "-"
_GIB = 1 << 30
_SHORT = 12
"""Characters of an id that tell most devices apart: ``GPU-`` and eight digits."""


@define
class _Device:
    """Headline values of a device, None where the batch has none."""

    model: str
    utilization: float | None = None
    usage: float | None = None
    limit: float | None = None
    power: float | None = None
    temperatures: dict[str, float] | None = None
    status: str = _UNKNOWN


def device_lines(batch: Batch) -> list[str]:
    """Return a line for each device of the batch and one above them, none without a device.

    Memory is in GiB of 2**30 bytes. What the batch does not say is shown as ``-``, never as 0.
    """
    devices = _devices(batch)
    if not devices:
        return []
    rows = [_HEADS, *(_cells(_label(name, devices), d) for name, d in devices.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [_line(row, widths) for row in rows]


def _devices(batch: Batch) -> Mapping[str, _Device]:
    devices: dict[str, _Device] = {}
    for stream, value, _ in batch.points:
        attributes, metric = stream.attributes, stream.metric
        if "hw.id" not in attributes or "process.pid" in attributes:
            continue
        name = str(attributes["hw.id"])
        device = devices.setdefault(name, _Device(str(attributes.get("hw.model", _UNKNOWN))))
        if metric is HW_GPU_UTILIZATION and attributes["hw.gpu.task"] == "general":
            device.utilization = value
        elif metric is HW_GPU_MEMORY_USAGE:
            device.usage = value
        elif metric is HW_GPU_MEMORY_LIMIT:
            device.limit = value
        elif metric is HW_POWER:
            device.power = value
        elif metric is HW_TEMPERATURE:
            sensor = str(attributes["hw.sensor_location"])
            device.temperatures = {**(device.temperatures or {}), sensor: value}
        elif metric is HW_STATUS and value:
            device.status = str(attributes["hw.state"])
    return devices


def _cells(label: str, device: _Device) -> Sequence[str]:
    return (
        label,
        device.model,
        _UNKNOWN if device.utilization is None else f"{device.utilization:.0%}",
        _memory(device.usage, device.limit),
        _UNKNOWN if device.power is None else f"{device.power:.0f} W",
        _temperature(device.temperatures or {}),
        device.status,
    )


def _memory(usage: float | None, limit: float | None) -> str:
    if usage is None and limit is None:
        return _UNKNOWN
    return f"{_gib(usage)} / {_gib(limit)} GiB"


def _gib(size: float | None) -> str:
    return _UNKNOWN if size is None else f"{size / _GIB:.1f}"


def _temperature(temperatures: Mapping[str, float]) -> str:
    for sensor in _SENSORS:
        if sensor in temperatures:
            return f"{temperatures[sensor]:.0f} °C"
    return _UNKNOWN


def _label(name: str, names: Collection[str]) -> str:
    """Return a short form of an id: its beginning, with its end where others begin alike."""
    if sum(other[:_SHORT] == name[:_SHORT] for other in names) == 1:
        return name[:_SHORT]
    first, _, _ = name.removeprefix("GPU-").removeprefix("MIG-").partition("-")
    short = f"{first}…{name[-8:]}"
    return short if sum(other.endswith(name[-8:]) for other in names) == 1 else name


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        cell.ljust(width) if index in _LEFT else cell.rjust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return f"  {'  '.join(padded)}".rstrip()
