"""All about faults that the receiver needs: its sources, its points, and its events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.faults.catalogue import Catalogue
from nvmlreceiver.faults.hub import Hub
from nvmlreceiver.faults.kernellog import KernelLog
from nvmlreceiver.faults.sighting import Fault, Gpu
from nvmlreceiver.faults.watch import Watch
from otelgpu.component import Settings
from otelgpu.points.batch import Readings
from otelgpu.points.event import Event
from otelgpu.points.metric import Metric
from otelgpu.scraping.support import Finding, Refusal
from otelgpu.semconv import attributes as name
from otelgpu.semconv.metrics import HW_GPU_FAULT_LAST_OCCURRENCE, HW_GPU_FAULTS

_PATIENCE = 1.0
"""Seconds that an event waits for the driver's words in the kernel log, where that is read."""
_GONE = "it is no longer among the GPUs of the driver"


class Faults:
    """Faults of all GPUs: they need no vendor call, and stay true of a GPU that is lost."""

    def __init__(
        self,
        settings: Settings,
        kernel_log: str,
        enabled: Callable[[Metric], bool],
        tell: Callable[[Sequence[Event]], None],
    ) -> None:
        """``kernel_log`` is a path, empty for none; ``tell`` hands events over."""
        self._streams = settings.streams
        self._enabled = enabled
        self._hub = Hub(Catalogue(), settings.clock, tell, _PATIENCE if kernel_log else 0.0)
        self._watch = Watch(self._hub, settings.telemetry, settings.logger)
        self._kernel_log = (
            KernelLog(
                Path(kernel_log), self._hub, settings.clock, settings.telemetry, settings.logger
            )
            if kernel_log
            else None
        )

    def start(self) -> None:
        """Begin to read the kernel log, if that is wanted; NVML's events come with its devices."""
        if self._kernel_log is not None:
            self._kernel_log.start()

    def shutdown(self) -> None:
        """Let the threads end; nothing is waited for."""
        self._watch.shutdown()
        if self._kernel_log is not None:
            self._kernel_log.shutdown()

    def attach(self, devices: Sequence[NvmlDevice]) -> None:
        """Listen to these GPUs from now on."""
        self._hub.know(Gpu(d.id, d.attributes, d.pci_address) for d in devices)
        self._watch.attach(devices)

    def detach(self, timeout: float) -> bool:
        """Stop listening; return whether no thread is inside NVML any more."""
        return self._watch.detach(timeout)

    def lost(self, device: str, words: str) -> None:
        """Take it that a GPU is lost."""
        self._hub.lost(device, words)

    def gone(self, device: str) -> None:
        """Take it that a GPU has vanished from NVML."""
        self._hub.lost(device, _GONE)

    def well(self, device: str) -> None:
        """Take it that a GPU answers."""
        self._hub.well(device)

    def readings(self) -> Readings:
        """Return what has been counted."""
        self._hub.tick()
        gpus = {gpu.id: gpu for gpu in self._hub.gpus()}
        found: Readings = []
        for metric, values in (
            (HW_GPU_FAULTS, self._hub.counts()),
            (HW_GPU_FAULT_LAST_OCCURRENCE, [(f, t / 1e9) for f, t in self._hub.last()]),
        ):
            if self._enabled(metric):
                for fault, value in values:
                    found.append((self._streams.get(metric, _attributes(gpus, fault)), value))
        return found

    def support(self, device: str) -> Sequence[Finding]:
        """Return how it is with the metrics of faults on a GPU; instances have none."""
        if device not in {gpu.id for gpu in self._hub.gpus()}:
            return []
        refused = self._watch.refused
        refusal = None if refused is None else Refusal.of(refused)
        counts = sum(fault.gpu == device for fault, _ in self._hub.counts())
        return [
            Finding(metric, {}, "nvmlEventSetWait_v2", counts, refusal)
            for metric in (HW_GPU_FAULTS, HW_GPU_FAULT_LAST_OCCURRENCE)
        ]


def _attributes(gpus: dict[str, Gpu], fault: Fault) -> dict[str, str | int | float | bool]:
    gpu = gpus.get(fault.gpu)
    # Of a GPU that NVML has never shown, its place is all that is known.
    whose = gpu.attributes if gpu else {name.HW_ID: fault.gpu, name.HW_TYPE: "gpu"}
    return {**whose, name.HW_GPU_FAULT_TYPE: fault.type, name.HW_GPU_FAULT_CODE: fault.code}
