"""What describes a MIG instance: hw.gpu.info."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.readings.memory import memory_info
from otelgpu.points.stream import Attributes, AttributeValue
from otelgpu.scraping.errors import UnsupportedError
from otelgpu.scraping.table import EmitEach, Read, Row
from otelgpu.semconv import attributes as name
from otelgpu.semconv.attributes import HwGpuPartitionType
from otelgpu.semconv.metrics import HW_GPU_INFO

_HOUR = 3600.0
"""Cadence in seconds: an instance never changes, another one has another UUID."""


def _describe(device: NvmlDevice) -> Attributes:
    """Return the attributes of hw.gpu.info; what describes the GPU stands on the GPU's own.

    Raises:
        ReadError: the memory cannot be read now.

    """
    instance = device.instance
    if instance is None:
        raise UnsupportedError("a whole GPU")
    found: dict[str, AttributeValue | None] = {
        name.HW_GPU_PARTITION_TYPE: HwGpuPartitionType.MIG,
        name.HW_GPU_PARTITION_ID: f"{instance.gpu_instance}/{instance.compute_instance}",
        name.HW_GPU_PARTITION_PROFILE: instance.profile,
    }
    if instance.leads:
        with suppress(UnsupportedError):
            found[name.HW_GPU_MEMORY_SIZE] = memory_info(device).total
    return {key: value for key, value in found.items() if value is not None}


def _info(attributes: Attributes) -> Iterable[tuple[Attributes, int]]:
    return [(attributes, 1)]


ROWS: list[Row[NvmlDevice]] = [
    Read(
        "nvmlDeviceGetGpuInstanceId, nvmlDeviceGetName and others",
        _describe,
        [EmitEach(HW_GPU_INFO, _info)],
        every=_HOUR,
        describes=True,
    )
]
