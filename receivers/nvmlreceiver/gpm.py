"""GPU performance monitoring (GPM): what NVML computes from two samples of a device."""

from __future__ import annotations

import struct
import weakref
from collections.abc import Callable, Sequence
from ctypes import c_char
from typing import Any

from nvmlreceiver.binding import Binding
from nvmlreceiver.device import NvmlDevice, address
from nvmlreceiver.errors import INVALID_ARGUMENT, read_error
from otelgpu.scraping.errors import ReadError, UnsupportedError

SHORTEST, LONGEST = 0.1, 600.0
"""Bounds of a window in seconds. The driver renews what it samples every 100 ms (nvml.h); a mean
over more than some minutes says nothing of now."""

_VERSION = 1
"""NVML_GPM_METRICS_GET_VERSION."""
_HEAD = struct.Struct("=IIQQ")
"""Of ``nvmlGpmMetricsGet_t``: version, number of metrics, the earlier and the later sample."""
_METRIC = struct.Struct("=IId24x")
"""``nvmlGpmMetric_t``: id, result, value; names and unit are left out."""
_ROOM = 98
"""Metrics in the first version of ``nvmlGpmMetricsGet_t``. The library touches no more than were
asked for; its present structure takes 19 KB."""
_NOT_FILLED_IN = 999


class Gpm:
    """Two samples of one device, taken in turn; used by one thread at a time.

    Samples are lent by the session (``Binding.spare_samples``) and go back to it when this object
    is gone, so that none is allocated for each instance that comes and goes, and none is touched
    after its session was closed: a few kilobytes for each device stay behind then.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock`` returns monotonic seconds."""
        self._clock = clock
        self._supported: bool | None = None
        self._samples: list[Any] = []
        """The one to be filled next, and the one that was filled last."""
        self._taken: float | None = None
        """When the last sample was taken; None while there is none to compare with."""
        self._request = bytearray(_HEAD.size + _ROOM * _METRIC.size)
        self._pointer = (c_char * len(self._request)).from_buffer(self._request)

    def supported(self, device: NvmlDevice) -> bool:
        """Return whether the GPU has GPM (nvmlGpmQueryDeviceSupport), asked once.

        Raises:
            ReadError: it cannot be told now.

        """
        if self._supported is None:
            gpu = device.instance.parent if device.instance else device
            try:
                found = gpu.ask("nvmlGpmQueryDeviceSupport").isSupportedDevice
            except UnsupportedError:
                found = 0
            self._supported = bool(found)
        return self._supported

    def read(self, device: NvmlDevice, metrics: Sequence[int]) -> list[float | ReadError]:
        """Return metrics (``NVML_GPM_METRIC_*``) since the last read, in NVML's units.

        Raises:
            ReadError: there is no sample yet to compare with (``first_sample``), the time since it
                is too short or too long for a mean (``window``), or a call failed.
            UnsupportedError: the GPU has no GPM.

        """
        if not self.supported(device):
            raise UnsupportedError("the GPU has no GPM")
        now, before = self._clock(), self._taken
        if before is not None and now - before < SHORTEST:
            # The sample of before stays, for a window that is long enough next time.
            raise ReadError("window", f"{now - before:g} s since the last sample")
        self._sample(device)
        self._taken = now
        if before is None:
            raise ReadError("first_sample", "no earlier sample to compare with")
        if now - before > LONGEST:
            raise ReadError("window", f"{now - before:g} s since the last sample")
        return self._compute(device.nvml, metrics)

    def forget(self) -> None:
        """Compare the next sample with nothing."""
        self._taken = None

    def _sample(self, device: NvmlDevice) -> None:
        """Fill the older sample; one that fails may be half filled, so both are void then."""
        # A failure, or a thread that never comes back, must leave no pair behind.
        self._taken = None
        if not self._samples:
            self._samples = _borrow(device.nvml, 2)
            weakref.finalize(self, device.nvml.spare_samples.extend, self._samples).atexit = False
        sample = self._samples[0]
        if device.instance is None:
            device.nvml.invoke("nvmlGpmSampleGet", device.handle, sample)
        else:
            parent, part = device.instance.parent, device.instance.gpu_instance
            device.nvml.invoke("nvmlGpmMigSampleGet", parent.handle, part, sample)
        self._samples.reverse()

    def _compute(self, nvml: Binding, metrics: Sequence[int]) -> list[float | ReadError]:
        count = len(metrics)
        later, earlier = (address(sample) or 0 for sample in reversed(self._samples))
        _HEAD.pack_into(self._request, 0, _VERSION, count, earlier, later)
        asked = b"".join(_METRIC.pack(metric, _NOT_FILLED_IN, 0.0) for metric in metrics)
        body = memoryview(self._request)[_HEAD.size : _HEAD.size + len(asked)]
        body[:] = asked
        nvml.invoke("nvmlGpmMetricsGet", self._pointer)
        found = _METRIC.iter_unpack(body)
        return [_value(metric, code, value) for metric, code, value in found]


def _borrow(nvml: Binding, count: int) -> list[Any]:
    """Return samples that nobody uses.

    Raises:
        ReadError: the library gives no memory for them.

    """
    found: list[Any] = []
    try:
        while len(found) < count:
            spare = nvml.spare_samples
            found.append(spare.pop() if spare else nvml.call("nvmlGpmSampleAlloc"))
    except ReadError:
        nvml.spare_samples.extend(found)
        raise
    return found


def _value(metric: int, code: int, value: float) -> float | ReadError:
    if not code:
        return value
    words = f"GPM metric {metric}: NVML error {code}"
    # The call as a whole is valid, so it is the metric that this driver does not know.
    return UnsupportedError(words) if code == INVALID_ARGUMENT else read_error(code, words)
