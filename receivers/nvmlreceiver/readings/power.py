"""Power, its limits, and energy."""

from __future__ import annotations

from typing import Any

from nvmlreceiver.calls import call
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.fields import field
from nvmlreceiver.nvml import (
    NVML_FI_DEV_POWER_AVERAGE,
    NVML_FI_DEV_POWER_CURRENT_LIMIT,
    NVML_FI_DEV_POWER_DEFAULT_LIMIT,
    NVML_FI_DEV_POWER_INSTANT,
    NVML_FI_DEV_POWER_MAX_LIMIT,
    NVML_FI_DEV_POWER_MIN_LIMIT,
    NVML_FI_DEV_POWER_REQUESTED_LIMIT,
    NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION,
)
from nvmlreceiver.scales import milli
from otelgpu.scraping.errors import UnsupportedError
from otelgpu.scraping.table import Field
from otelgpu.semconv.attributes import HW_LIMIT_TYPE, HwLimitType
from otelgpu.semconv.metrics import HW_ENERGY, HW_GPU_POWER_AVERAGE, HW_GPU_POWER_LIMIT, HW_POWER


def _now(device: NvmlDevice) -> Any:
    if device.averages_power is not False:
        raise UnsupportedError("nvmlDeviceGetPowerUsage is an average on this GPU")
    return device.ask("nvmlDeviceGetPowerUsage")


def _average(device: NvmlDevice) -> Any:
    if not device.averages_power:
        raise UnsupportedError("nvmlDeviceGetPowerUsage is no average on this GPU")
    return device.ask("nvmlDeviceGetPowerUsage")


def _constraint(place: int) -> Any:
    return lambda device: device.ask("nvmlDeviceGetPowerManagementLimitConstraints")[place]


FIELDS: list[Field[Any]] = [
    field(NVML_FI_DEV_POWER_INSTANT, HW_POWER, milli, instead=_now),
    field(NVML_FI_DEV_POWER_AVERAGE, HW_GPU_POWER_AVERAGE, milli, instead=_average),
    field(
        NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION,
        HW_ENERGY,
        milli,
        instead=call("nvmlDeviceGetTotalEnergyConsumption"),
    ),
]

SLOW_FIELDS: list[Field[Any]] = [
    field(number, HW_GPU_POWER_LIMIT, milli, {HW_LIMIT_TYPE: kind}, instead)
    for number, kind, instead in (
        (
            NVML_FI_DEV_POWER_CURRENT_LIMIT,
            HwLimitType.ENFORCED,
            call("nvmlDeviceGetEnforcedPowerLimit"),
        ),
        (
            NVML_FI_DEV_POWER_REQUESTED_LIMIT,
            HwLimitType.REQUESTED,
            call("nvmlDeviceGetPowerManagementLimit"),
        ),
        (
            NVML_FI_DEV_POWER_DEFAULT_LIMIT,
            HwLimitType.DEFAULT,
            call("nvmlDeviceGetPowerManagementDefaultLimit"),
        ),
        (NVML_FI_DEV_POWER_MIN_LIMIT, HwLimitType.MIN, _constraint(0)),
        (NVML_FI_DEV_POWER_MAX_LIMIT, HwLimitType.MAX, _constraint(1)),
    )
]
