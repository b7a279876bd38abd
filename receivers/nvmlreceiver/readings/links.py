"""The links of a GPU: PCIe, NVLink, and the registration with the NVLink fabric."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import frozen

from nvmlreceiver.calls import MINUTE
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.errors import MissingError
from nvmlreceiver.nvlinks import NvLinks
from nvmlreceiver.nvml import (
    NVML_GPU_FABRIC_STATE_COMPLETED,
    NVML_GPU_FABRIC_STATE_IN_PROGRESS,
    NVML_GPU_FABRIC_STATE_NOT_STARTED,
)
from nvmlreceiver.readings import nvlink, pcie
from otelgpu.points.stream import Attributes
from otelgpu.scraping.errors import UnsupportedError
from otelgpu.scraping.table import Emit, EmitEach, Field, Read, Row
from otelgpu.semconv.attributes import HW_GPU_FABRIC_STATE, HwGpuFabricState
from otelgpu.semconv.metrics import HW_GPU_FABRIC_STATUS


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


ROWS: list[Row[NvmlDevice]] = [
    *pcie.ROWS,
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


class Links:
    """What is read of the links of one GPU."""

    def __init__(self) -> None:
        self._nvlinks = NvLinks()

    def fields(self) -> list[Field[Any]]:
        """Return what is read at each scrape."""
        return [*pcie.fields(), *nvlink.fields(self._nvlinks)]

    def slow_fields(self) -> list[Field[Any]]:
        """Return what is read once a minute."""
        return nvlink.slow_fields(self._nvlinks)


def throughput(has_gpm: Callable[[NvmlDevice], bool]) -> list[Row[NvmlDevice]]:
    """Return the rows of PCIe throughput for GPUs without GPM: 20 ms for each direction."""
    return pcie.throughput(has_gpm)
