"""Temperatures, their limits, and fans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nvmlreceiver.calls import MINUTE, FirstOf, call
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.fields import field
from nvmlreceiver.nvml import (
    NVML_FI_DEV_MEMORY_TEMP,
    NVML_TEMPERATURE_GPU,
    NVML_TEMPERATURE_THRESHOLD_GPU_MAX,
    NVML_TEMPERATURE_THRESHOLD_MEM_MAX,
    NVML_TEMPERATURE_THRESHOLD_SHUTDOWN,
    NVML_TEMPERATURE_THRESHOLD_SLOWDOWN,
)
from nvmlreceiver.scales import percent, same
from otelgpu.points.stream import Attributes
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError
from otelgpu.scraping.table import Emit, EmitEach, Field, Read, Row
from otelgpu.semconv.attributes import HW_LIMIT_TYPE, HW_SENSOR_LOCATION, HwLimitType
from otelgpu.semconv.metrics import (
    HW_FAN_SPEED,
    HW_FAN_SPEED_RATIO,
    HW_GPU_HEATING_MARGIN,
    HW_TEMPERATURE,
    HW_TEMPERATURE_LIMIT,
)

_GPU = {HW_SENSOR_LOCATION: "gpu"}
_MEMORY = {HW_SENSOR_LOCATION: "memory"}
_ALL_BITS = -1

Fans = list[tuple[int, float | None]]
"""Number and reading of each fan, None where that fan does not answer."""


def _gpu_temperature(value: int) -> int | None:
    # A signed number with all bits set: what the driver says in place of no value.
    return None if value == _ALL_BITS else value


def _not_zero(value: int) -> int:
    # Boards without that sensor or limit answer 0; none that runs is at the freezing point.
    if not value:
        raise UnsupportedError("0 stands for no sensor")
    return value


def _threshold(number: int, kind: str, sensor: Mapping[str, str]) -> Row[NvmlDevice]:
    # Ada and later give margins in place of these: those are no temperatures.
    return Read(
        "nvmlDeviceGetTemperatureThreshold",
        call("nvmlDeviceGetTemperatureThreshold", number),
        [Emit(HW_TEMPERATURE_LIMIT, _not_zero, {**sensor, HW_LIMIT_TYPE: kind})],
        every=MINUTE,
    )


def _each_fan(ask: Callable[[NvmlDevice, int], Any]) -> Callable[[NvmlDevice], Fans]:
    def read(device: NvmlDevice) -> Fans:
        fans = device.traits.fans
        if fans is None:
            fans = device.ask("nvmlDeviceGetNumFans")
        if not fans:
            raise UnsupportedError("the GPU has no fan of its own")
        found: Fans = []
        failed: ReadError | None = None
        for fan in range(fans):
            try:
                found.append((fan, ask(device, fan)))
            except TargetLostError:
                raise
            except ReadError as error:
                failed = error
                found.append((fan, None))
        if failed is not None and all(value is None for _, value in found):
            raise failed
        return found

    return read


def _points(
    scale: Callable[[float], float],
) -> Callable[[Fans], Iterable[tuple[Attributes, float | None]]]:
    return lambda fans: [
        ({HW_SENSOR_LOCATION: f"fan{fan}"}, None if value is None else scale(value))
        for fan, value in fans
    ]


FIELDS: list[Field[Any]] = [
    field(NVML_FI_DEV_MEMORY_TEMP, HW_TEMPERATURE, _not_zero, _MEMORY),
]


def rows() -> list[Row[NvmlDevice]]:
    """Return the rows of temperatures, limits and fans, for one device."""
    return [
        Read(
            "nvmlDeviceGetTemperatureV",
            FirstOf(
                call("nvmlDeviceGetTemperatureV", NVML_TEMPERATURE_GPU),
                call("nvmlDeviceGetTemperature", NVML_TEMPERATURE_GPU),
            ),
            [Emit(HW_TEMPERATURE, _gpu_temperature, _GPU)],
        ),
        Read(
            "nvmlDeviceGetMarginTemperature",
            call("nvmlDeviceGetMarginTemperature"),
            [Emit(HW_GPU_HEATING_MARGIN, same)],
        ),
        _threshold(NVML_TEMPERATURE_THRESHOLD_SHUTDOWN, HwLimitType.HIGH_CRITICAL, _GPU),
        _threshold(NVML_TEMPERATURE_THRESHOLD_SLOWDOWN, HwLimitType.HIGH_DEGRADED, _GPU),
        _threshold(NVML_TEMPERATURE_THRESHOLD_GPU_MAX, HwLimitType.THROTTLED, _GPU),
        _threshold(NVML_TEMPERATURE_THRESHOLD_MEM_MAX, HwLimitType.THROTTLED, _MEMORY),
        Read(
            "nvmlDeviceGetFanSpeed_v2",
            _each_fan(lambda device, fan: device.ask("nvmlDeviceGetFanSpeed_v2", fan)),
            # The speed that the fan was told to have, as part of what is tolerable to the ear
            [EmitEach(HW_FAN_SPEED_RATIO, _points(percent))],
        ),
        Read(
            "nvmlDeviceGetFanSpeedRPM",
            _each_fan(lambda device, fan: device.nvml.fan_rpm(device.handle, fan)),
            [EmitEach(HW_FAN_SPEED, _points(same))],
        ),
    ]
