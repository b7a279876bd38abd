"""The PCIe link: bytes, errors, width, generation, bandwidth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import frozen

from nvmlreceiver import nvml
from nvmlreceiver.calls import MINUTE, call
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.fields import FieldKey, field
from nvmlreceiver.scales import same
from otelgpu.points.metric import Metric
from otelgpu.points.stream import Attributes
from otelgpu.scraping.errors import ReadError, UnsupportedError
from otelgpu.scraping.table import ALWAYS, Emit, EmitEach, Field, Read, Row
from otelgpu.semconv.attributes import (
    ERROR_TYPE,
    HW_GPU_LINK_TYPE,
    NETWORK_IO_DIRECTION,
    ErrorType,
    HwGpuLinkType,
    NetworkIoDirection,
)
from otelgpu.semconv.metrics import (
    HW_GPU_IO,
    HW_GPU_LINK_BANDWIDTH_LIMIT,
    HW_GPU_LINK_ERRORS,
    HW_GPU_LINK_THROUGHPUT,
    HW_GPU_PCIE_GENERATION_CURRENT,
    HW_GPU_PCIE_GENERATION_MAX,
    HW_GPU_PCIE_WIDTH_CURRENT,
    HW_GPU_PCIE_WIDTH_MAX,
)

_PCIE = {HW_GPU_LINK_TYPE: HwGpuLinkType.PCIE}
_SENT = {**_PCIE, NETWORK_IO_DIRECTION: NetworkIoDirection.TRANSMIT}
_RECEIVED = {**_PCIE, NETWORK_IO_DIRECTION: NetworkIoDirection.RECEIVE}
_KILO = 1000
_WRAP = 2**32

_LANE = {
    1: 2_500_000_000 / 8 * 8 / 10,
    2: 5_000_000_000 / 8 * 8 / 10,
    3: 8_000_000_000 / 8 * 128 / 130,
    4: 16_000_000_000 / 8 * 128 / 130,
    5: 32_000_000_000 / 8 * 128 / 130,
    6: 64_000_000_000 / 8 * 242 / 256,
}
"""Bytes per second of one lane in each direction by NVML_PCIE_LINK_MAX_SPEED_*: transfers per
second less the line's own coding (8b/10b, 128b/130b, flits of 256 bytes)."""


@frozen
class _Replays:
    count: int


def _replays(device: NvmlDevice) -> _Replays:
    return _Replays(device.ask("nvmlDeviceGetPcieReplayCounter"))


def _correctable(found: Any) -> Iterable[tuple[Attributes, float]]:
    # Replays are among the correctable errors: one or the other, never both.
    if isinstance(found, _Replays):
        yield {**_PCIE, ERROR_TYPE: ErrorType.REPLAY}, found.count
    else:
        yield {**_PCIE, ERROR_TYPE: ErrorType.CORRECTABLE}, found


class _Bytes:
    """A count of bytes of which nvml.h says that it may wrap.

    One of 32 bits wraps many times between two scrapes of a busy GPU, so what it counts cannot be
    told: only one that was seen above that is wide enough.
    """

    def __init__(self) -> None:
        self._wide = False

    def __call__(self, value: float) -> float:
        self._wide = self._wide or value >= _WRAP
        if not self._wide:
            raise ReadError("wraps", "a counter of bytes that may be of 32 bits")
        return value


def fields() -> list[Field[Any]]:
    """Return what is read at each scrape."""
    return [
        field(nvml.NVML_FI_DEV_PCIE_COUNT_TX_BYTES, HW_GPU_IO, _Bytes(), _SENT),
        field(nvml.NVML_FI_DEV_PCIE_COUNT_RX_BYTES, HW_GPU_IO, _Bytes(), _RECEIVED),
        Field(
            FieldKey(nvml.NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS, instead=_replays),
            [EmitEach(HW_GPU_LINK_ERRORS, _correctable)],
        ),
        *(
            field(number, HW_GPU_LINK_ERRORS, same, {**_PCIE, ERROR_TYPE: kind})
            for number, kind in (
                (nvml.NVML_FI_DEV_PCIE_COUNT_NON_FATAL_ERROR, ErrorType.NON_FATAL),
                (nvml.NVML_FI_DEV_PCIE_COUNT_FATAL_ERROR, ErrorType.FATAL),
            )
        ),
    ]


def _bandwidth(device: NvmlDevice) -> int:
    lane = _LANE.get(device.ask("nvmlDeviceGetPcieLinkMaxSpeed"))
    if lane is None:
        raise ReadError("unknown_speed", "a PCIe link speed that is not known")
    return int(lane * device.ask("nvmlDeviceGetMaxPcieLinkWidth"))


def _link(function: str, metric: Metric, every: float = ALWAYS) -> Row[NvmlDevice]:
    return Read(function, call(function), [Emit(metric, same)], every)


ROWS: list[Row[NvmlDevice]] = [
    _link("nvmlDeviceGetCurrPcieLinkGeneration", HW_GPU_PCIE_GENERATION_CURRENT),
    _link("nvmlDeviceGetCurrPcieLinkWidth", HW_GPU_PCIE_WIDTH_CURRENT),
    _link("nvmlDeviceGetMaxPcieLinkGeneration", HW_GPU_PCIE_GENERATION_MAX, MINUTE),
    _link("nvmlDeviceGetMaxPcieLinkWidth", HW_GPU_PCIE_WIDTH_MAX, MINUTE),
    Read(
        "nvmlDeviceGetPcieLinkMaxSpeed, nvmlDeviceGetMaxPcieLinkWidth",
        _bandwidth,
        [Emit(HW_GPU_LINK_BANDWIDTH_LIMIT, same, _PCIE)],
        MINUTE,
    ),
]


def throughput(has_gpm: Callable[[NvmlDevice], bool]) -> list[Row[NvmlDevice]]:
    """Return rows for GPUs without GPM, each of whose calls takes 20 ms: not to be read unasked."""

    def read(counter: int) -> Callable[[NvmlDevice], Any]:
        def ask(device: NvmlDevice) -> Any:
            if has_gpm(device):
                raise UnsupportedError("GPM gives the same")
            return device.ask("nvmlDeviceGetPcieThroughput", counter)

        return ask

    return [
        # nvml.h says KB/s.
        Read(
            "nvmlDeviceGetPcieThroughput",
            read(counter),
            [Emit(HW_GPU_LINK_THROUGHPUT, lambda kilobytes: kilobytes * _KILO, attributes)],
        )
        for counter, attributes in (
            (nvml.NVML_PCIE_UTIL_TX_BYTES, _SENT),
            (nvml.NVML_PCIE_UTIL_RX_BYTES, _RECEIVED),
        )
    ]
