"""How many compute units (streaming multiprocessors) there are."""

from __future__ import annotations

from collections.abc import Mapping

from nvmlreceiver.calls import MINUTE
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.scales import same
from otelgpu.scraping.errors import ReadError, UnsupportedError
from otelgpu.scraping.table import Emit, Read, Row
from otelgpu.semconv.metrics import HW_GPU_COMPUTE_UNIT_COUNT

_CORES: Mapping[tuple[int, int], int] = {
    (5, 0): 128,
    (5, 2): 128,
    (5, 3): 128,
    (6, 0): 64,
    (6, 1): 128,
    (6, 2): 128,
    (7, 0): 64,
    (7, 2): 64,
    (7, 5): 64,
    (8, 0): 64,
    (8, 6): 128,
    (8, 7): 128,
    (8, 9): 128,
    (9, 0): 128,
    (10, 0): 128,
    (10, 3): 128,
    (12, 0): 128,
    (12, 1): 128,
}
"""Cores of one multiprocessor by CUDA compute capability, from NVIDIA's programming guide."""


def _of_whole(device: NvmlDevice) -> int:
    capability = device.traits.compute_capability
    if capability is None:
        capability = tuple(device.ask("nvmlDeviceGetCudaComputeCapability"))
    cores = _CORES.get(capability)
    if cores is None:
        raise UnsupportedError("cores per multiprocessor of this architecture are not known")
    count = device.ask("nvmlDeviceGetNumGpuCores")
    if count % cores:
        raise ReadError("inconsistent", f"{count} cores are no multiple of {cores}")
    return int(count // cores)


def _of_instance(device: NvmlDevice) -> int:
    return int(device.ask("nvmlDeviceGetAttributes_v2").multiprocessorCount)


_EMITS = [Emit(HW_GPU_COMPUTE_UNIT_COUNT, same)]
WHOLE: list[Row[NvmlDevice]] = [Read("nvmlDeviceGetNumGpuCores", _of_whole, _EMITS, MINUTE)]
INSTANCE: list[Row[NvmlDevice]] = [
    # Each compute instance has multiprocessors of its own.
    Read("nvmlDeviceGetAttributes_v2", _of_instance, _EMITS, MINUTE)
]
