"""The highest power in the driver's own samples, which a scrape every few seconds would miss."""

from __future__ import annotations

import struct
from ctypes import byref, c_uint, c_uint64
from typing import Any

from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.fieldrequest import value_of
from nvmlreceiver.nvml import NVML_TOTAL_POWER_SAMPLES
from nvmlreceiver.scales import milli
from otelgpu.scraping.errors import ReadError
from otelgpu.scraping.slot import REFUSALS
from otelgpu.scraping.table import Emit, Read, Row
from otelgpu.semconv.metrics import HW_GPU_POWER_PEAK

_SOURCE = "nvmlDeviceGetSamples"
_SAMPLE = struct.Struct("=QQ")
"""``nvmlSample_t``: time in microseconds, and the value's bits."""
_MOST = 10_000
"""Samples for which memory is taken at most; drivers keep some hundred."""


class _Peak:
    """The maximum over what the driver has sampled since the last read, in milliwatts."""

    def __init__(self) -> None:
        self._seen = 0
        """Time of the newest sample that was read."""
        self._missing = 0
        self._samples: Any = None

    def __call__(self, device: NvmlDevice) -> float:
        """Return the maximum.

        Raises:
            ReadError: there is no sample since the last read (``not_found``), no read before this
                one (``first_sample``), or the call failed.

        """
        before = self._seen
        try:
            kind, found = self._read(device)
        except ReadError as error:
            # The driver's clock may have been set back: begin anew.
            self._missing = self._missing + 1 if error.reason == "not_found" else 0
            if self._missing >= REFUSALS:
                self._seen = 0
            raise
        self._missing = 0
        self._seen = max(time for time, _ in found)
        if not before:
            raise ReadError("first_sample", "samples of the time before the first read")
        return max(value_of(kind, raw) for _, raw in found)

    def _read(self, device: NvmlDevice) -> tuple[int, list[tuple[int, int]]]:
        """Return the kind of the values, and time and bits of each new sample: one at least."""
        kind, count = c_uint(), c_uint()
        if self._samples is None:
            self._ask(device, 0, kind, count, None)
            room = min(count.value, _MOST)
            self._samples = (c_uint64 * (2 * max(room, 1)))()
        room = count.value = len(self._samples) // 2
        self._ask(device, self._seen, kind, count, self._samples)
        taken = list(_SAMPLE.iter_unpack(self._samples))[: min(count.value, room)]
        found = [(time, raw) for time, raw in taken if time > self._seen]
        if not found:
            raise ReadError("not_found", "no sample since the last read")
        return kind.value, found

    def _ask(
        self, device: NvmlDevice, since: int, kind: c_uint, count: c_uint, samples: Any
    ) -> None:
        device.nvml.invoke(
            _SOURCE,
            device.handle,
            NVML_TOTAL_POWER_SAMPLES,
            c_uint64(since),
            byref(kind),
            byref(count),
            samples,
        )


def rows() -> list[Row[NvmlDevice]]:
    """Return the row of one GPU, which remembers what it has seen."""
    return [Read(_SOURCE, _Peak(), [Emit(HW_GPU_POWER_PEAK, milli)])]
