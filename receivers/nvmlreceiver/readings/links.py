"""The PCIe link, and the registration with the NVLink fabric."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import frozen

from nvmlreceiver.calls import MINUTE, call
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.errors import MissingError
from nvmlreceiver.fields import FieldKey, field
from nvmlreceiver.nvml import (
    NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS,
    NVML_FI_DEV_PCIE_COUNT_FATAL_ERROR,
    NVML_FI_DEV_PCIE_COUNT_NON_FATAL_ERROR,
    NVML_GPU_FABRIC_STATE_COMPLETED,
    NVML_GPU_FABRIC_STATE_IN_PROGRESS,
    NVML_GPU_FABRIC_STATE_NOT_STARTED,
)
from nvmlreceiver.scales import same
from otelgpu.points.metric import Metric
from otelgpu.points.stream import Attributes
from otelgpu.scraping.errors import UnsupportedError
from otelgpu.scraping.table import ALWAYS, Emit, EmitEach, Field, Read, Row
from otelgpu.semconv.attributes import (
    ERROR_TYPE,
    HW_GPU_FABRIC_STATE,
    HW_GPU_LINK_TYPE,
    ErrorType,
    HwGpuFabricState,
    HwGpuLinkType,
)
from otelgpu.semconv.metrics import (
    HW_GPU_FABRIC_STATUS,
    HW_GPU_LINK_ERRORS,
    HW_GPU_PCIE_GENERATION_CURRENT,
    HW_GPU_PCIE_GENERATION_MAX,
    HW_GPU_PCIE_WIDTH_CURRENT,
    HW_GPU_PCIE_WIDTH_MAX,
)


@frozen
class _Replays:
    count: int


def _replays(device: NvmlDevice) -> _Replays:
    return _Replays(device.ask("nvmlDeviceGetPcieReplayCounter"))


def _pcie(error: str) -> dict[str, str]:
    return {HW_GPU_LINK_TYPE: HwGpuLinkType.PCIE, ERROR_TYPE: error}


def _correctable(found: Any) -> Iterable[tuple[Attributes, float]]:
    # Replays are among the correctable errors: one or the other, never both.
    if isinstance(found, _Replays):
        yield _pcie(ErrorType.REPLAY), found.count
    else:
        yield _pcie(ErrorType.CORRECTABLE), found


FIELDS: list[Field[Any]] = [
    Field(
        FieldKey(NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS, _replays),
        [EmitEach(HW_GPU_LINK_ERRORS, _correctable)],
    ),
    field(
        NVML_FI_DEV_PCIE_COUNT_NON_FATAL_ERROR,
        HW_GPU_LINK_ERRORS,
        same,
        _pcie(ErrorType.NON_FATAL),
    ),
    field(NVML_FI_DEV_PCIE_COUNT_FATAL_ERROR, HW_GPU_LINK_ERRORS, same, _pcie(ErrorType.FATAL)),
]


@frozen
class _Fabric:
    state: str
    tells_health: bool


_FABRIC = {
    NVML_GPU_FABRIC_STATE_NOT_STARTED: HwGpuFabricState.NOT_STARTED,
    NVML_GPU_FABRIC_STATE_IN_PROGRESS: HwGpuFabricState.IN_PROGRESS,
    NVML_GPU_FABRIC_STATE_COMPLETED: HwGpuFabricState.COMPLETED,
}
_FLAGS = (0, 2, 4, 6)
"""Places in the health mask of two bits each: degraded bandwidth, route in recovery, route
unhealthy, access timeout in recovery; 1 says that it is so (NVML_GPU_FABRIC_HEALTH_MASK_*)."""
_CONFIGURATION, _CORRECT = 8, 1
"""Place of the four bits that tell what is wrong with the configuration; 0 is not told."""


def _is_degraded(mask: int) -> bool:
    wrong = mask >> _CONFIGURATION & 0b1111
    return wrong > _CORRECT or any(mask >> place & 0b11 == 1 for place in _FLAGS)


def _fabric_state(info: Any, health: int) -> str:
    state = _FABRIC.get(info.state)
    if state is None:
        raise UnsupportedError(f"fabric state {info.state}")
    if state != HwGpuFabricState.COMPLETED:
        return state
    if info.status:
        return HwGpuFabricState.FAILED
    return HwGpuFabricState.DEGRADED if _is_degraded(health) else state


def _fabric(device: NvmlDevice) -> _Fabric:
    try:
        info = device.nvml.fabric(device.handle)
    except MissingError:
        info = device.nvml.fabric_before_550(device.handle)
        return _Fabric(_fabric_state(info, 0), tells_health=False)
    return _Fabric(_fabric_state(info, info.healthMask), tells_health=True)


def _fabric_points(found: _Fabric) -> Iterable[tuple[Attributes, int]]:
    for state in _FABRIC.values():
        yield {HW_GPU_FABRIC_STATE: state}, int(state == found.state)
    if found.state == HwGpuFabricState.FAILED:
        # A series of its own only while it is so.
        yield {HW_GPU_FABRIC_STATE: found.state}, 1


def _degraded_point(found: _Fabric) -> int:
    if not found.tells_health:
        raise UnsupportedError("drivers before 550 do not tell the health of the fabric")
    return int(found.state == HwGpuFabricState.DEGRADED)


def _link(function: str, metric: Metric, every: float = ALWAYS) -> Row[NvmlDevice]:
    return Read(function, call(function), [Emit(metric, same)], every)


ROWS: list[Row[NvmlDevice]] = [
    _link("nvmlDeviceGetCurrPcieLinkGeneration", HW_GPU_PCIE_GENERATION_CURRENT),
    _link("nvmlDeviceGetCurrPcieLinkWidth", HW_GPU_PCIE_WIDTH_CURRENT),
    _link("nvmlDeviceGetMaxPcieLinkGeneration", HW_GPU_PCIE_GENERATION_MAX, MINUTE),
    _link("nvmlDeviceGetMaxPcieLinkWidth", HW_GPU_PCIE_WIDTH_MAX, MINUTE),
    Read(
        "nvmlDeviceGetGpuFabricInfoV",
        _fabric,
        [
            EmitEach(HW_GPU_FABRIC_STATUS, _fabric_points),
            Emit(
                HW_GPU_FABRIC_STATUS,
                _degraded_point,
                {HW_GPU_FABRIC_STATE: HwGpuFabricState.DEGRADED},
            ),
        ],
        every=MINUTE,
    ),
]
