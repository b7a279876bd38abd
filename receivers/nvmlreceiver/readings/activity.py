"""Activity of compute units, pipes, memory, links and engines, by GPM (Hopper and later)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from attrs import frozen

from nvmlreceiver import nvml
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.gpm import Gpm
from nvmlreceiver.scales import percent
from otelgpu.points.metric import Metric
from otelgpu.scraping.errors import ReadError, ToldOtherwiseError, UnsupportedError
from otelgpu.scraping.table import Batched, Emit, Field, Row
from otelgpu.semconv.attributes import (
    HW_GPU_LINK_TYPE,
    HW_GPU_PIPE,
    HW_GPU_TASK,
    NETWORK_IO_DIRECTION,
    HwGpuLinkType,
    HwGpuPipe,
    HwGpuTask,
    NetworkIoDirection,
)
from otelgpu.semconv.metrics import (
    HW_GPU_COMPUTE_UNIT_OCCUPANCY,
    HW_GPU_COMPUTE_UNIT_UTILIZATION,
    HW_GPU_LINK_THROUGHPUT,
    HW_GPU_MEMORY_BANDWIDTH_UTILIZATION,
    HW_GPU_PIPE_UTILIZATION,
    HW_GPU_UTILIZATION,
)

SOURCE = "nvmlGpmMetricsGet"
_MEBI = 1 << 20


@frozen
class GpmKey:
    """One value: the first of some metrics that the GPU has, or their mean over what it has."""

    metrics: tuple[int, ...]
    """``NVML_GPM_METRIC_*``."""
    mean: bool = False
    """Engines of one kind that the GPU does not have are left out."""

    def value(self, found: Sequence[float | ReadError]) -> float | ReadError:
        """Return the value, given the metrics' own; the error where one of them failed."""
        values: list[float] = []
        missing: ReadError = UnsupportedError("no such metric")
        for one in found:
            if isinstance(one, UnsupportedError):
                missing = one
            elif isinstance(one, ReadError) or not self.mean:
                return one
            else:
                values.append(one)
        return fmean(values) if values else missing


class Reader:
    """Reads the activity of one device, and knows which of its engines GPM tells of."""

    def __init__(self, gpm: Gpm) -> None:
        self._gpm = gpm
        self._lacking: set[GpmKey] | None = None
        """What GPM does not have here; None before the first answer."""

    def check_engine(self, device: NvmlDevice, task: str) -> None:
        """Return if another call has to tell an engine's utilization.

        Raises:
            ToldOtherwiseError: GPM tells it.
            ReadError: whether it does is not known yet (``first_sample``).

        """
        if not self._gpm.supported(device):
            return
        if self._lacking is None:
            raise ReadError("first_sample", "GPM has not answered yet")
        if _ENGINE_KEYS[task] not in self._lacking:
            raise ToldOtherwiseError("told by GPM")

    def forget(self) -> None:
        """Begin with a new pair of samples: no window may span a reset of the GPU."""
        self._gpm.forget()

    def __call__(self, device: NvmlDevice, keys: Sequence[GpmKey]) -> list[float | ReadError]:
        found = iter(self._gpm.read(device, [m for key in keys for m in key.metrics]))
        values = [key.value([next(found) for _ in key.metrics]) for key in keys]
        missing = {k for k, v in zip(keys, values, strict=True) if isinstance(v, UnsupportedError)}
        self._lacking = (self._lacking or set()) - set(keys) | missing
        return values


def _ratio(metrics: Sequence[int], metric: Metric, *, mean: bool = False, **own: str) -> Field[Any]:
    attributes = {_NAMES[name]: value for name, value in own.items()}
    return Field(GpmKey(tuple(metrics), mean), [Emit(metric, percent, attributes)])


_NAMES = {"pipe": HW_GPU_PIPE, "task": HW_GPU_TASK}


def _rate(mebibytes: float) -> float:
    # Not a number stays what it is: the core drops it as out of range.
    return round(mebibytes * _MEBI) if math.isfinite(mebibytes) else mebibytes


def _traffic(number: int, link: str, direction: str) -> Field[Any]:
    attributes = {HW_GPU_LINK_TYPE: link, NETWORK_IO_DIRECTION: direction}
    return Field(GpmKey((number,)), [Emit(HW_GPU_LINK_THROUGHPUT, _rate, attributes)])


_PIPES: Sequence[tuple[str, Sequence[int]]] = (
    (HwGpuPipe.INT, [nvml.NVML_GPM_METRIC_INTEGER_UTIL]),
    (HwGpuPipe.TENSOR, [nvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL]),
    # Two names of matrix products of 64-bit floats, never added up: DCGM takes the first.
    (
        HwGpuPipe.TENSOR_FP64,
        [nvml.NVML_GPM_METRIC_DFMA_TENSOR_UTIL, nvml.NVML_GPM_METRIC_DMMA_TENSOR_UTIL],
    ),
    (HwGpuPipe.TENSOR_FP16, [nvml.NVML_GPM_METRIC_HMMA_TENSOR_UTIL]),
    (HwGpuPipe.TENSOR_INT, [nvml.NVML_GPM_METRIC_IMMA_TENSOR_UTIL]),
    (HwGpuPipe.FP64, [nvml.NVML_GPM_METRIC_FP64_UTIL]),
    (HwGpuPipe.FP32, [nvml.NVML_GPM_METRIC_FP32_UTIL]),
    (HwGpuPipe.FP16, [nvml.NVML_GPM_METRIC_FP16_UTIL]),
)
_ENGINES: Sequence[tuple[str, int, int]] = (
    (HwGpuTask.DECODER, nvml.NVML_GPM_METRIC_NVDEC_0_UTIL, 8),
    (HwGpuTask.JPEG, nvml.NVML_GPM_METRIC_NVJPG_0_UTIL, 8),
    (HwGpuTask.OFA, nvml.NVML_GPM_METRIC_NVOFA_0_UTIL, 2),
    (HwGpuTask.ENCODER, nvml.NVML_GPM_METRIC_NVENC_0_UTIL, 4),
)
"""Task, metric of the first engine, and how many engines there can be."""

_PCIE, _NVLINK = HwGpuLinkType.PCIE, HwGpuLinkType.NVLINK
_SENT, _RECEIVED = NetworkIoDirection.TRANSMIT, NetworkIoDirection.RECEIVE

_COMPUTE: list[Field[Any]] = [
    _ratio([nvml.NVML_GPM_METRIC_GRAPHICS_UTIL], HW_GPU_UTILIZATION, task=HwGpuTask.RENDER_COMPUTE),
    _ratio([nvml.NVML_GPM_METRIC_SM_UTIL], HW_GPU_COMPUTE_UNIT_UTILIZATION),
    _ratio([nvml.NVML_GPM_METRIC_SM_OCCUPANCY], HW_GPU_COMPUTE_UNIT_OCCUPANCY),
    *(_ratio(numbers, HW_GPU_PIPE_UTILIZATION, pipe=pipe) for pipe, numbers in _PIPES),
    _ratio([nvml.NVML_GPM_METRIC_DRAM_BW_UTIL], HW_GPU_MEMORY_BANDWIDTH_UTILIZATION),
]
_LINKS: list[Field[Any]] = [
    _traffic(nvml.NVML_GPM_METRIC_PCIE_TX_PER_SEC, _PCIE, _SENT),
    _traffic(nvml.NVML_GPM_METRIC_PCIE_RX_PER_SEC, _PCIE, _RECEIVED),
    _traffic(nvml.NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC, _NVLINK, _SENT),
    _traffic(nvml.NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC, _NVLINK, _RECEIVED),
]
_ENGINE_KEYS = {
    task: GpmKey(tuple(range(first, first + count)), mean=True) for task, first, count in _ENGINES
}
_ENGINE_FIELDS: list[Field[Any]] = [
    Field(key, [Emit(HW_GPU_UTILIZATION, percent, {HW_GPU_TASK: task})])
    for task, key in _ENGINE_KEYS.items()
]


def whole(reader: Reader) -> list[Row[NvmlDevice]]:
    """Return the row of a GPU that is not in MIG mode."""
    return [Batched(SOURCE, reader, [*_COMPUTE, *_ENGINE_FIELDS, *_LINKS])]


def instance(gpm: Gpm) -> list[Row[NvmlDevice]]:
    """Return the row of a GPU instance: of its engines NVML tells nothing else."""
    return [Batched(SOURCE, Reader(gpm), [*_COMPUTE, *_ENGINE_FIELDS])]
