"""NVLink: bytes, states, errors and rated bandwidth, summed over the links of a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nvmlreceiver import nvml
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.fields import Combined, FieldKey, field
from nvmlreceiver.nvlinks import NvLinks, states
from nvmlreceiver.scales import MEGA, same
from otelgpu.points.stream import Attributes
from otelgpu.scraping.errors import ReadError
from otelgpu.scraping.table import Emit, EmitEach, Field
from otelgpu.semconv.attributes import (
    ERROR_TYPE,
    HW_GPU_LINK_STATE,
    HW_GPU_LINK_TYPE,
    NETWORK_IO_DIRECTION,
    ErrorType,
    HwGpuLinkState,
    HwGpuLinkType,
    NetworkIoDirection,
)
from otelgpu.semconv.metrics import (
    HW_GPU_IO,
    HW_GPU_LINK_BANDWIDTH_LIMIT,
    HW_GPU_LINK_COUNT,
    HW_GPU_LINK_ERRORS,
)

_NVLINK = {HW_GPU_LINK_TYPE: HwGpuLinkType.NVLINK}
_SENT = {**_NVLINK, NETWORK_IO_DIRECTION: NetworkIoDirection.TRANSMIT}
_RECEIVED = {**_NVLINK, NETWORK_IO_DIRECTION: NetworkIoDirection.RECEIVE}
_KIBI = 1024
_ERRORS_TO_4 = (
    (nvml.NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, ErrorType.CRC_FLIT),
    (nvml.NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL, ErrorType.CRC_DATA),
    (nvml.NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, ErrorType.REPLAY),
    (nvml.NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL, ErrorType.RECOVERY),
    (nvml.NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL, ErrorType.ECC),
)
"""Totals over all links of NVLink 4 and older."""
_ERRORS_OF_5 = (
    # Of all that was received wrong; 206, 209 and 210 are parts of it, which must not be added.
    (nvml.NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS, ErrorType.OTHER),
    (nvml.NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS, ErrorType.DISCARD),
    (nvml.NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS, ErrorType.RECOVERY),
    (nvml.NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS, ErrorType.SYMBOL),
)


def _count(_: NvmlDevice, found: Sequence[float | ReadError]) -> tuple[int, int]:
    up = states(found)
    return sum(up), len(up) - sum(up)


def _count_points(found: tuple[int, int]) -> Iterable[tuple[Attributes, int]]:
    for state, count in zip((HwGpuLinkState.UP, HwGpuLinkState.DOWN), found, strict=True):
        yield {**_NVLINK, HW_GPU_LINK_STATE: state}, count


def _bandwidth(_: NvmlDevice, found: Sequence[float | ReadError]) -> float:
    """Return the rated bytes per second of the links that are up, for each direction."""
    middle = len(found) // 2
    total = 0.0
    for up, speed in zip(states(found[:middle]), found[middle:], strict=True):
        if up and isinstance(speed, ReadError):
            raise speed
        if up and not isinstance(speed, ReadError):
            total += speed
    # Field 164 is in 10^6 bytes per second.
    return int(total) * MEGA


def fields(links: NvLinks) -> list[Field[Any]]:
    """Return what is read at each scrape: bytes, as sums over the links."""

    def counter(number: int, attributes: dict[str, str], unit: int, *, newer: bool) -> Field[Any]:
        def count(value: float) -> float:
            links.chosen(newer=newer)
            return value * unit

        key = FieldKey(number, nvml.ALL_LINKS, links.total(number))
        return Field(key, [Emit(HW_GPU_IO, count, attributes)])

    return [
        counter(nvml.NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES, _SENT, 1, newer=True),
        counter(nvml.NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES, _RECEIVED, 1, newer=True),
        counter(nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, _SENT, _KIBI, newer=False),
        counter(nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, _RECEIVED, _KIBI, newer=False),
    ]


def slow_fields(links: NvLinks) -> list[Field[Any]]:
    """Return what is read once a minute: states, errors, rated bandwidth."""
    state = links.of_each(nvml.NVML_FI_DEV_NVLINK_GET_STATE)
    speed = links.of_each(nvml.NVML_FI_DEV_NVLINK_GET_STATE, nvml.NVML_FI_DEV_NVLINK_GET_SPEED)
    return [
        Field(Combined(state, _count), [EmitEach(HW_GPU_LINK_COUNT, _count_points)]),
        Field(Combined(speed, _bandwidth), [Emit(HW_GPU_LINK_BANDWIDTH_LIMIT, same, _NVLINK)]),
        *(
            field(number, HW_GPU_LINK_ERRORS, same, {**_NVLINK, ERROR_TYPE: kind})
            for number, kind in _ERRORS_TO_4
        ),
        *(
            field(
                number,
                HW_GPU_LINK_ERRORS,
                same,
                {**_NVLINK, ERROR_TYPE: kind},
                links.total(number),
                nvml.ALL_LINKS,
            )
            for number, kind in _ERRORS_OF_5
        ),
    ]
