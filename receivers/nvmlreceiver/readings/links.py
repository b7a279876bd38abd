"""The PCIe link, and the registration with the NVLink fabric."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import frozen

from nvmlreceiver.calls import MINUTE, call
from nvmlreceiver.device import NvmlDevice
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
        FieldKey(NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS, instead=_replays),
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


def _fabric_state(info: Any) -> str:
    state = _FABRIC.get(info.state)
    if state is None:
        raise UnsupportedError(f"fabric state {info.state}")
    if state != HwGpuFabricState.COMPLETED:
        return state
    if info.status:
        return HwGpuFabricState.FAILED
    return HwGpuFabricState.DEGRADED if _is_degraded(info.healthMask) else state


def _fabric(device: NvmlDevice) -> str:
    return _fabric_state(device.nvml.fabric(device.handle))


def _fabric_points(now: str) -> Iterable[tuple[Attributes, int]]:
    for state in (*_FABRIC.values(), HwGpuFabricState.DEGRADED):
        yield {HW_GPU_FABRIC_STATE: state}, int(state == now)
    if now == HwGpuFabricState.FAILED:
        # A series of its own only while it is so.
        yield {HW_GPU_FABRIC_STATE: now}, 1


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
        [EmitEach(HW_GPU_FABRIC_STATUS, _fabric_points)],
        every=MINUTE,
    ),
]
