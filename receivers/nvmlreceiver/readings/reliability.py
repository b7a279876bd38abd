"""ECC, repair of memory, and what the driver asks for after a fault."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nvmlreceiver.calls import MINUTE, Call, call
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.fieldrequest import NOT_AVAILABLE
from nvmlreceiver.fields import Combined, FieldKey, Pair, field
from nvmlreceiver.nvml import (
    NVML_AGGREGATE_ECC,
    NVML_FI_DEV_ECC_DBE_AGG_TOTAL,
    NVML_FI_DEV_ECC_DBE_VOL_TOTAL,
    NVML_FI_DEV_ECC_SBE_AGG_TOTAL,
    NVML_FI_DEV_ECC_SBE_VOL_TOTAL,
    NVML_FI_DEV_GET_GPU_RECOVERY_ACTION,
    NVML_FI_DEV_REMAPPED_COR,
    NVML_FI_DEV_REMAPPED_FAILURE,
    NVML_FI_DEV_REMAPPED_PENDING,
    NVML_FI_DEV_REMAPPED_UNC,
    NVML_FI_DEV_RETIRED_DBE,
    NVML_FI_DEV_RETIRED_PENDING,
    NVML_FI_DEV_RETIRED_SBE,
    NVML_GPU_RECOVERY_ACTION_BUS_RESET,
    NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET,
    NVML_GPU_RECOVERY_ACTION_DRAIN_P2P,
    NVML_GPU_RECOVERY_ACTION_GPU_RESET,
    NVML_GPU_RECOVERY_ACTION_NODE_REBOOT,
    NVML_GPU_RECOVERY_ACTION_NONE,
    NVML_GPU_RECOVERY_ACTION_RECOVER_IMEX_DOMAIN,
    NVML_GPU_RECOVERY_ACTION_SYSTEM_REBOOT,
    NVML_MEMORY_ERROR_TYPE_CORRECTED,
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
    NVML_VOLATILE_ECC,
)
from nvmlreceiver.scales import same
from otelgpu.points.stream import Attributes
from otelgpu.scraping.errors import ReadError, UnsupportedError
from otelgpu.scraping.table import EmitEach, Field, Read, Row
from otelgpu.semconv.attributes import (
    ERROR_TYPE,
    HW_GPU_MEMORY_REPAIR_AVAILABILITY,
    HW_GPU_MEMORY_REPAIR_STATE,
    HW_GPU_RECOVERY_ACTION,
    ErrorType,
    HwGpuMemoryRepairAvailability,
    HwGpuMemoryRepairState,
    HwGpuRecoveryAction,
)
from otelgpu.semconv.metrics import (
    HW_ERRORS,
    HW_GPU_LIFETIME_ERRORS,
    HW_GPU_MEMORY_REMAPPED_ROW_COUNT,
    HW_GPU_MEMORY_REPAIR_BANK_COUNT,
    HW_GPU_MEMORY_REPAIR_STATUS,
    HW_GPU_MEMORY_RETIRED_PAGE_COUNT,
    HW_GPU_RECOVERY_STATUS,
)

_CORRECTED = {ERROR_TYPE: ErrorType.CORRECTED}
_UNCORRECTED = {ERROR_TYPE: ErrorType.UNCORRECTED}


def _ecc(error: int, counter: int) -> Call:
    return call("nvmlDeviceGetTotalEccErrors", error, counter)


_ACTIONS = {
    NVML_GPU_RECOVERY_ACTION_NONE: HwGpuRecoveryAction.NONE,
    NVML_GPU_RECOVERY_ACTION_GPU_RESET: HwGpuRecoveryAction.GPU_RESET,
    NVML_GPU_RECOVERY_ACTION_NODE_REBOOT: HwGpuRecoveryAction.NODE_REBOOT,
    NVML_GPU_RECOVERY_ACTION_DRAIN_P2P: HwGpuRecoveryAction.DRAIN_P2P,
    NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET: HwGpuRecoveryAction.DRAIN_AND_RESET,
    NVML_GPU_RECOVERY_ACTION_RECOVER_IMEX_DOMAIN: HwGpuRecoveryAction.RECOVER_IMEX_DOMAIN,
}
_RARE_ACTIONS = {
    NVML_GPU_RECOVERY_ACTION_BUS_RESET: HwGpuRecoveryAction.BUS_RESET,
    NVML_GPU_RECOVERY_ACTION_SYSTEM_REBOOT: HwGpuRecoveryAction.SYSTEM_REBOOT,
}
"""Only the newest drivers have these: a series exists only while one of them is asked for."""


def _recovery(now: int) -> Iterable[tuple[Attributes, int]]:
    rare = _RARE_ACTIONS.get(now)
    if now not in _ACTIONS and rare is None:
        raise ReadError("unknown_action", f"recovery action {now}")
    for number, action in _ACTIONS.items():
        yield {HW_GPU_RECOVERY_ACTION: action}, int(now == number)
    if rare is not None:
        yield {HW_GPU_RECOVERY_ACTION: rare}, 1


FIELDS: list[Field[Any]] = [
    field(
        NVML_FI_DEV_ECC_SBE_VOL_TOTAL,
        HW_ERRORS,
        same,
        _CORRECTED,
        _ecc(NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC),
    ),
    field(
        NVML_FI_DEV_ECC_DBE_VOL_TOTAL,
        HW_ERRORS,
        same,
        _UNCORRECTED,
        _ecc(NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC),
    ),
    Field(
        FieldKey(NVML_FI_DEV_GET_GPU_RECOVERY_ACTION), [EmitEach(HW_GPU_RECOVERY_STATUS, _recovery)]
    ),
]

SLOW_FIELDS: list[Field[Any]] = [
    field(
        NVML_FI_DEV_ECC_SBE_AGG_TOTAL,
        HW_GPU_LIFETIME_ERRORS,
        same,
        _CORRECTED,
        _ecc(NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_AGGREGATE_ECC),
    ),
    field(
        NVML_FI_DEV_ECC_DBE_AGG_TOTAL,
        HW_GPU_LIFETIME_ERRORS,
        same,
        _UNCORRECTED,
        _ecc(NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_AGGREGATE_ECC),
    ),
    field(NVML_FI_DEV_REMAPPED_COR, HW_GPU_MEMORY_REMAPPED_ROW_COUNT, same, _CORRECTED),
    field(NVML_FI_DEV_REMAPPED_UNC, HW_GPU_MEMORY_REMAPPED_ROW_COUNT, same, _UNCORRECTED),
    field(NVML_FI_DEV_RETIRED_SBE, HW_GPU_MEMORY_RETIRED_PAGE_COUNT, same, _CORRECTED),
    field(NVML_FI_DEV_RETIRED_DBE, HW_GPU_MEMORY_RETIRED_PAGE_COUNT, same, _UNCORRECTED),
]

_REPAIR: Sequence[Pair] = [
    (NVML_FI_DEV_REMAPPED_FAILURE, 0),
    (NVML_FI_DEV_REMAPPED_PENDING, 0),
    (NVML_FI_DEV_RETIRED_PENDING, 0),
]


class _Repair:
    """The state of repair: rows are remapped from Ampere on, pages retired before."""

    def __init__(self) -> None:
        self._has_flag = True

    def __call__(self, device: NvmlDevice, found: Sequence[float | ReadError]) -> str:
        """Return the state, given the fields of ``_REPAIR``."""
        for value in found:
            if isinstance(value, ReadError) and not isinstance(value, UnsupportedError):
                raise value
        failed, *pending = [0 if isinstance(v, ReadError) else v for v in found]
        if all(isinstance(value, UnsupportedError) for value in found):
            raise UnsupportedError("the GPU repairs no memory")
        if failed or self._unrepairable(device):
            return HwGpuMemoryRepairState.FAILED
        return HwGpuMemoryRepairState.PENDING if any(pending) else HwGpuMemoryRepairState.OK

    def _unrepairable(self, device: NvmlDevice) -> bool:
        if self._has_flag:
            try:
                return device.nvml.unrepairable_memory(device.handle)
            except UnsupportedError:
                self._has_flag = False
        return False


def _repair_points(now: str) -> Iterable[tuple[Attributes, int]]:
    states = (
        HwGpuMemoryRepairState.OK,
        HwGpuMemoryRepairState.PENDING,
        HwGpuMemoryRepairState.FAILED,
    )
    return [({HW_GPU_MEMORY_REPAIR_STATE: state}, int(state == now)) for state in states]


def repair() -> Field[Any]:
    """Return the field of one GPU that tells the state of repair; read once a minute."""
    key = Combined(lambda _: _REPAIR, _Repair())
    return Field(key, [EmitEach(HW_GPU_MEMORY_REPAIR_STATUS, _repair_points)])


def _banks(found: Any) -> Iterable[tuple[Attributes, int | None]]:
    for availability in (
        HwGpuMemoryRepairAvailability.MAX,
        HwGpuMemoryRepairAvailability.HIGH,
        HwGpuMemoryRepairAvailability.PARTIAL,
        HwGpuMemoryRepairAvailability.LOW,
        HwGpuMemoryRepairAvailability.NONE,
    ):
        count = getattr(found, availability)
        known = None if count in NOT_AVAILABLE else count
        yield {HW_GPU_MEMORY_REPAIR_AVAILABILITY: availability}, known


ROWS: list[Row[NvmlDevice]] = [
    Read(
        "nvmlDeviceGetRowRemapperHistogram",
        call("nvmlDeviceGetRowRemapperHistogram"),
        [EmitEach(HW_GPU_MEMORY_REPAIR_BANK_COUNT, _banks)],
        every=MINUTE,
    ),
]
