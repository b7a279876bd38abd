"""Licenses of virtual GPUs, seen from their host or from inside one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nvmlreceiver.calls import MINUTE
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.nvml import (
    NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU,
    NVML_GPU_VIRTUALIZATION_MODE_VGPU,
    NVML_GRID_LICENSE_STATE_LICENSED,
    NVML_GRID_LICENSE_STATE_UNINITIALIZED,
    NVML_GRID_LICENSE_STATE_UNKNOWN,
)
from otelgpu.points.stream import Attributes
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError
from otelgpu.scraping.table import EmitEach, Read, Row
from otelgpu.semconv.attributes import HW_ID, HW_PARENT, HW_STATE, HwState
from otelgpu.semconv.metrics import HW_GPU_VGPU_LICENSE_STATUS

_NOT_KNOWN = frozenset({NVML_GRID_LICENSE_STATE_UNKNOWN, NVML_GRID_LICENSE_STATE_UNINITIALIZED})

Licenses = list[tuple[Attributes, bool | None]]
"""Who has a license or has none: attributes of the virtual GPU, and None where it is not known."""


def _licenses(device: NvmlDevice) -> Licenses:
    mode = device.ask("nvmlDeviceGetVirtualizationMode")
    if mode == NVML_GPU_VIRTUALIZATION_MODE_VGPU:
        return [({}, _guest(device))]
    if mode == NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU:
        return _host(device)
    raise UnsupportedError("neither a virtual GPU nor the host of some")


def _guest(device: NvmlDevice) -> bool:
    found = device.ask("nvmlDeviceGetGridLicensableFeatures_v4")
    features = found.gridLicensableFeatures[: found.licensableFeaturesCount]
    enabled = [feature for feature in features if feature.featureEnabled]
    if not found.isGridLicenseSupported or not enabled:
        raise UnsupportedError("nothing that needs a license")
    return any(feature.featureState for feature in enabled)


def _host(device: NvmlDevice) -> Licenses:
    found: Licenses = []
    failed: ReadError | None = None
    for instance in device.ask("nvmlDeviceGetActiveVgpus"):
        try:
            uuid = device.nvml.text("nvmlVgpuInstanceGetUUID", instance)
            info = device.nvml.call("nvmlVgpuInstanceGetLicenseInfo_v2", instance)
        except TargetLostError:
            raise
        except ReadError as error:
            # It ended, or its guest has no driver: the others go on.
            failed = error
            continue
        if uuid is not None:
            found.append(({HW_ID: uuid, HW_PARENT: device.id}, _licensed(info)))
    if failed is not None and not found:
        raise failed
    return found


def _licensed(info: Any) -> bool | None:
    if info.currentState in _NOT_KNOWN:
        return True if info.isLicensed == 1 else None
    return bool(info.currentState == NVML_GRID_LICENSE_STATE_LICENSED)


def _points(found: Licenses) -> Iterable[tuple[Attributes, int | None]]:
    for attributes, licensed in found:
        for state, expected in ((HwState.OK, True), (HwState.FAILED, False)):
            value = None if licensed is None else int(licensed is expected)
            yield {**attributes, HW_STATE: state}, value


ROWS: list[Row[NvmlDevice]] = [
    Read(
        "nvmlVgpuInstanceGetLicenseInfo_v2, nvmlDeviceGetGridLicensableFeatures_v4",
        _licenses,
        [EmitEach(HW_GPU_VGPU_LICENSE_STATUS, _points)],
        every=MINUTE,
    ),
]
