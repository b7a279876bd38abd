"""Clocks, what holds them down, and performance states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nvmlreceiver.calls import MINUTE, Call, FirstOf, call
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.fields import field
from nvmlreceiver.nvml import (
    NVML_CLOCK_MEM,
    NVML_CLOCK_SM,
    NVML_CLOCK_VIDEO,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN,
    NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT,
    NVML_FI_DEV_PERF_POLICY_POWER,
    NVML_FI_DEV_PERF_POLICY_RELIABILITY,
    NVML_FI_DEV_PERF_POLICY_SYNC_BOOST,
    NVML_PSTATE_UNKNOWN,
    nvmlClocksEventReasonSwPowerCap,
    nvmlClocksEventReasonSwThermalSlowdown,
    nvmlClocksEventReasonSyncBoost,
    nvmlClocksThrottleReasonBoardLimit,
    nvmlClocksThrottleReasonHwPowerBrakeSlowdown,
    nvmlClocksThrottleReasonHwSlowdown,
    nvmlClocksThrottleReasonHwThermalSlowdown,
    nvmlClocksThrottleReasonReliability,
)
from nvmlreceiver.scales import mega, nano
from otelgpu.points.stream import Attributes
from otelgpu.scraping.table import Emit, EmitEach, Field, Read, Row
from otelgpu.semconv.attributes import (
    HW_GPU_CLOCK_DOMAIN,
    HW_GPU_THROTTLE_REASON,
    HW_LIMIT_TYPE,
    HwGpuClockDomain,
    HwGpuThrottleReason,
    HwLimitType,
)
from otelgpu.semconv.metrics import (
    HW_GPU_CLOCK_FREQUENCY,
    HW_GPU_CLOCK_LIMIT,
    HW_GPU_PERFORMANCE_STATE,
    HW_GPU_THROTTLE_STATUS,
    HW_GPU_THROTTLE_TIME,
)

_DOMAINS = {
    NVML_CLOCK_SM: HwGpuClockDomain.SM,
    NVML_CLOCK_MEM: HwGpuClockDomain.MEMORY,
    NVML_CLOCK_VIDEO: HwGpuClockDomain.VIDEO,
}
"""As DCGM has them. The graphics domain runs at the SM's clock since Kepler: a call and a series
that tell nothing."""

_REASONS: Mapping[int, str] = {
    nvmlClocksEventReasonSwPowerCap: HwGpuThrottleReason.POWER_SW_CAP,
    nvmlClocksThrottleReasonHwSlowdown: HwGpuThrottleReason.HW_SLOWDOWN,
    nvmlClocksEventReasonSyncBoost: HwGpuThrottleReason.SYNC_BOOST,
    nvmlClocksEventReasonSwThermalSlowdown: HwGpuThrottleReason.THERMAL_SW,
    nvmlClocksThrottleReasonHwThermalSlowdown: HwGpuThrottleReason.THERMAL_HW,
    nvmlClocksThrottleReasonHwPowerBrakeSlowdown: HwGpuThrottleReason.POWER_HW_BRAKE,
    nvmlClocksThrottleReasonBoardLimit: HwGpuThrottleReason.POWER_BOARD_LIMIT,
    nvmlClocksThrottleReasonReliability: HwGpuThrottleReason.RELIABILITY,
}
"""What is involuntary. Idle, application and display clocks are asked for: no throttling."""
_RECENT = nvmlClocksThrottleReasonBoardLimit | nvmlClocksThrottleReasonReliability
"""Where a driver does not tell which reasons it knows, these do not count as known."""

# Nanoseconds, as nvml.h says of the fields by which it names these counters.
FIELDS: list[Field[Any]] = [
    field(number, HW_GPU_THROTTLE_TIME, nano, {HW_GPU_THROTTLE_REASON: reason})
    for number, reason in (
        (NVML_FI_DEV_PERF_POLICY_POWER, HwGpuThrottleReason.POWER_SW_CAP),
        (NVML_FI_DEV_PERF_POLICY_SYNC_BOOST, HwGpuThrottleReason.SYNC_BOOST),
        (NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT, HwGpuThrottleReason.POWER_BOARD_LIMIT),
        (NVML_FI_DEV_PERF_POLICY_RELIABILITY, HwGpuThrottleReason.RELIABILITY),
        (NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN, HwGpuThrottleReason.THERMAL_SW),
        (NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN, HwGpuThrottleReason.THERMAL_HW),
        (
            NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN,
            HwGpuThrottleReason.POWER_HW_BRAKE,
        ),
    )
]


def _reasons() -> Call:
    ask = FirstOf(
        call("nvmlDeviceGetCurrentClocksEventReasons"),
        # The name before driver 535
        call("nvmlDeviceGetCurrentClocksThrottleReasons"),
    )

    def read(device: NvmlDevice) -> tuple[int, int]:
        """Return the bits that are set and those that the driver can set on this GPU."""
        supported = device.traits.clock_event_reasons
        return ask(device), sum(_REASONS) - _RECENT if supported is None else supported

    return read


def _throttle(found: tuple[int, int]) -> Iterable[tuple[Attributes, int]]:
    now, supported = found
    for bit, reason in _REASONS.items():
        if bit & (supported | now):
            yield {HW_GPU_THROTTLE_REASON: reason}, int(bool(bit & now))


def _state(value: int) -> int | None:
    return None if value == NVML_PSTATE_UNKNOWN else value


def rows() -> list[Row[NvmlDevice]]:
    """Return the rows of clocks and what holds them down, for one device."""
    return [
        *(
            Read(
                "nvmlDeviceGetClockInfo",
                call("nvmlDeviceGetClockInfo", number),
                [Emit(HW_GPU_CLOCK_FREQUENCY, mega, {HW_GPU_CLOCK_DOMAIN: domain})],
            )
            for number, domain in _DOMAINS.items()
        ),
        *(
            Read(
                "nvmlDeviceGetMaxClockInfo",
                call("nvmlDeviceGetMaxClockInfo", number),
                [
                    Emit(
                        HW_GPU_CLOCK_LIMIT,
                        mega,
                        {HW_GPU_CLOCK_DOMAIN: domain, HW_LIMIT_TYPE: HwLimitType.MAX},
                    )
                ],
                every=MINUTE,
            )
            for number, domain in _DOMAINS.items()
        ),
        Read(
            "nvmlDeviceGetCurrentClocksEventReasons",
            _reasons(),
            [EmitEach(HW_GPU_THROTTLE_STATUS, _throttle)],
        ),
        Read(
            "nvmlDeviceGetPerformanceState",
            call("nvmlDeviceGetPerformanceState"),
            [Emit(HW_GPU_PERFORMANCE_STATE, _state)],
        ),
    ]
