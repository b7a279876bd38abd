"""How busy engines are. A GPU in MIG mode has none of this: absent, not 0."""

from __future__ import annotations

from nvmlreceiver.calls import call
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.scales import percent
from otelgpu.scraping.table import Emit, Read, Row
from otelgpu.semconv.attributes import HW_GPU_TASK, HwGpuTask
from otelgpu.semconv.metrics import HW_GPU_UTILIZATION


def _engine(function: str, task: str) -> Row[NvmlDevice]:
    # The second value is the driver's sampling period.
    emit: Emit[list[int]] = Emit(
        HW_GPU_UTILIZATION, lambda found: percent(found[0]), {HW_GPU_TASK: task}
    )
    return Read(function, call(function), [emit])


ROWS: list[Row[NvmlDevice]] = [
    Read(
        "nvmlDeviceGetUtilizationRates",
        call("nvmlDeviceGetUtilizationRates"),
        [
            Emit(HW_GPU_UTILIZATION, lambda r: percent(r.gpu), {HW_GPU_TASK: HwGpuTask.GENERAL}),
            # The share of time in which memory was read or written, not its fill
            Emit(HW_GPU_UTILIZATION, lambda r: percent(r.memory), {HW_GPU_TASK: HwGpuTask.MEMORY}),
        ],
    ),
    _engine("nvmlDeviceGetEncoderUtilization", HwGpuTask.ENCODER),
    _engine("nvmlDeviceGetDecoderUtilization", HwGpuTask.DECODER),
    _engine("nvmlDeviceGetJpgUtilization", HwGpuTask.JPEG),
    _engine("nvmlDeviceGetOfaUtilization", HwGpuTask.OFA),
]
