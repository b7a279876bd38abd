"""How busy engines are. A GPU in MIG mode has none of this: absent, not 0."""

from __future__ import annotations

from typing import Any

from nvmlreceiver.calls import call
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.readings.activity import Reader
from nvmlreceiver.scales import percent
from otelgpu.scraping.table import Emit, Read, Row
from otelgpu.semconv.attributes import HW_GPU_TASK, HwGpuTask
from otelgpu.semconv.metrics import HW_GPU_UTILIZATION

_ENGINES = {
    "nvmlDeviceGetEncoderUtilization": HwGpuTask.ENCODER,
    "nvmlDeviceGetDecoderUtilization": HwGpuTask.DECODER,
    "nvmlDeviceGetJpgUtilization": HwGpuTask.JPEG,
    "nvmlDeviceGetOfaUtilization": HwGpuTask.OFA,
}


def _engine(function: str, task: str, gpm: Reader) -> Row[NvmlDevice]:
    ask = call(function)

    def read(device: NvmlDevice) -> Any:
        # Four calls less on GPUs with GPM, where it is the mean over the whole time between two
        # scrapes rather than over the driver's last sampling period.
        gpm.check_engine(device, task)
        return ask(device)

    # The second value is the driver's sampling period.
    emit: Emit[list[int]] = Emit(
        HW_GPU_UTILIZATION, lambda found: percent(found[0]), {HW_GPU_TASK: task}
    )
    return Read(function, read, [emit])


def rows(gpm: Reader) -> list[Row[NvmlDevice]]:
    """Return the rows of a GPU; of engines, those that GPM does not tell."""
    general: Emit[Any] = Emit(
        HW_GPU_UTILIZATION, lambda r: percent(r.gpu), {HW_GPU_TASK: HwGpuTask.GENERAL}
    )
    # The share of time in which memory was read or written, not its fill
    memory: Emit[Any] = Emit(
        HW_GPU_UTILIZATION, lambda r: percent(r.memory), {HW_GPU_TASK: HwGpuTask.MEMORY}
    )
    function = "nvmlDeviceGetUtilizationRates"
    return [
        Read(function, call(function), [general, memory]),
        *(_engine(function, task, gpm) for function, task in _ENGINES.items()),
    ]
