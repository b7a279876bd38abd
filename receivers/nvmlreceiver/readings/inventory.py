"""What describes a GPU: hw.gpu.info."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.nvml import (
    NVML_COMPUTEMODE_DEFAULT,
    NVML_COMPUTEMODE_EXCLUSIVE_PROCESS,
    NVML_COMPUTEMODE_PROHIBITED,
    NVML_DEVICE_ARCH_ADA,
    NVML_DEVICE_ARCH_AMPERE,
    NVML_DEVICE_ARCH_BLACKWELL,
    NVML_DEVICE_ARCH_HOPPER,
    NVML_DEVICE_ARCH_KEPLER,
    NVML_DEVICE_ARCH_MAXWELL,
    NVML_DEVICE_ARCH_PASCAL,
    NVML_DEVICE_ARCH_RUBIN,
    NVML_DEVICE_ARCH_TURING,
    NVML_DEVICE_ARCH_VOLTA,
    NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU,
    NVML_GPU_VIRTUALIZATION_MODE_NONE,
    NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH,
    NVML_GPU_VIRTUALIZATION_MODE_VGPU,
)
from nvmlreceiver.readings.memory import memory_info
from otelgpu.points.stream import Attributes, AttributeValue
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError
from otelgpu.scraping.table import EmitEach, Read, Row
from otelgpu.semconv import attributes as name
from otelgpu.semconv.attributes import HwGpuComputeMode, HwGpuRuntimeName, HwGpuVirtualizationMode
from otelgpu.semconv.metrics import HW_GPU_INFO

_ARCHITECTURES = {
    NVML_DEVICE_ARCH_KEPLER: "kepler",
    NVML_DEVICE_ARCH_MAXWELL: "maxwell",
    NVML_DEVICE_ARCH_PASCAL: "pascal",
    NVML_DEVICE_ARCH_VOLTA: "volta",
    NVML_DEVICE_ARCH_TURING: "turing",
    NVML_DEVICE_ARCH_AMPERE: "ampere",
    NVML_DEVICE_ARCH_ADA: "ada",
    NVML_DEVICE_ARCH_HOPPER: "hopper",
    NVML_DEVICE_ARCH_BLACKWELL: "blackwell",
    NVML_DEVICE_ARCH_RUBIN: "rubin",
}
_COMPUTE_MODES = {
    NVML_COMPUTEMODE_DEFAULT: HwGpuComputeMode.DEFAULT,
    NVML_COMPUTEMODE_PROHIBITED: HwGpuComputeMode.PROHIBITED,
    NVML_COMPUTEMODE_EXCLUSIVE_PROCESS: HwGpuComputeMode.EXCLUSIVE_PROCESS,
}
_VIRTUALIZATION_MODES = {
    NVML_GPU_VIRTUALIZATION_MODE_NONE: HwGpuVirtualizationMode.NONE,
    NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH: HwGpuVirtualizationMode.PASSTHROUGH,
    NVML_GPU_VIRTUALIZATION_MODE_VGPU: HwGpuVirtualizationMode.VGPU_GUEST,
    NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU: HwGpuVirtualizationMode.VGPU_HOST,
}


_TEN_MINUTES = 600.0
"""Cadence in seconds of what describes a GPU: modes and DRM nodes may change while it is open."""
_TRIES = 3
"""Failed tries after which a GPU is described by what could be read."""


Details = dict[str, AttributeValue | None]
"""Attributes of hw.gpu.info, None for those that the GPU does not have."""


class _Details:
    """Reads one GPU's details; a detail that fails is one less, but the GPU is named."""

    def __init__(self) -> None:
        self.failed: ReadError | None = None
        """Why a detail is missing that the GPU may have."""

    def read(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a call gives, None where it fails.

        Raises:
            TargetLostError: the GPU is lost.

        """
        try:
            return call(*arguments)
        except (TargetLostError, UnsupportedError) as error:
            if isinstance(error, TargetLostError):
                raise
        except ReadError as error:
            self.failed = error
        return None


def _cuda(details: _Details, device: NvmlDevice) -> str | None:
    version = details.read(device.nvml.call, "nvmlSystemGetCudaDriverVersion_v2")
    # 1000 * major + 10 * minor, as the CUDA driver API gives it
    return f"{version // 1000}.{version % 1000 // 10}" if version else None


def _details(details: _Details, device: NvmlDevice) -> Details:
    def text(function: str) -> Any:
        return details.read(device.nvml.text, function, device.handle)

    def number(function: str) -> Any:
        return details.read(device.ask, function)

    capability = device.traits.compute_capability
    memory = details.read(memory_info, device)
    cuda = _cuda(details, device)
    return {
        name.HW_SERIAL_NUMBER: text("nvmlDeviceGetSerial"),
        name.HW_DRIVER_VERSION: details.read(device.nvml.text, "nvmlSystemGetDriverVersion"),
        name.HW_FIRMWARE_VERSION: text("nvmlDeviceGetGspFirmwareVersion"),
        name.HW_BIOS_VERSION: text("nvmlDeviceGetVbiosVersion"),
        name.HW_GPU_INDEX: device.index,
        name.HW_GPU_MINOR: number("nvmlDeviceGetMinorNumber"),
        name.HW_GPU_PCI_ADDRESS: device.pci_address,
        name.HW_GPU_ARCHITECTURE: _ARCHITECTURES.get(device.traits.architecture or 0),
        name.HW_GPU_COMPUTE_VERSION: capability and f"{capability[0]}.{capability[1]}",
        name.HW_GPU_RUNTIME_NAME: HwGpuRuntimeName.CUDA if cuda else None,
        name.HW_GPU_RUNTIME_VERSION: cuda,
        name.HW_GPU_VIRTUALIZATION_MODE: _VIRTUALIZATION_MODES.get(
            number("nvmlDeviceGetVirtualizationMode")
        ),
        name.HW_GPU_MEMORY_SIZE: memory and memory.total,
    }


def drm_nodes(sysfs: Path, pci_address: str | None) -> dict[str, AttributeValue | None]:
    """Return the names of a GPU's DRM nodes, None where it has none."""
    found: dict[str, AttributeValue | None] = {name.HW_GPU_DRM_CARD: None}
    found[name.HW_GPU_DRM_RENDER] = None
    if pci_address is None:
        return found
    for node in sysfs.glob(f"bus/pci/devices/{pci_address}/drm/*"):
        if node.name.startswith("card"):
            found[name.HW_GPU_DRM_CARD] = node.name
        elif node.name.startswith("renderD"):
            found[name.HW_GPU_DRM_RENDER] = node.name
    return found


class _Describer:
    """Describes GPUs; remembers how often a detail has failed in a row."""

    def __init__(self, sysfs: Path) -> None:
        self._sysfs = sysfs
        self._failures: Counter[str] = Counter()
        self._lasting: dict[str, tuple[NvmlDevice, Details]] = {}

    def __call__(self, device: NvmlDevice) -> Attributes:
        """Return the attributes of hw.gpu.info.

        Raises:
            ReadError: a detail failed for now; to be tried again. After some tries the GPU is
                described without it: what always fails must not keep it nameless.
            TargetLostError: the GPU is lost.

        """
        asked = _Details()
        known, lasting = self._lasting.get(device.id, (None, {}))
        if known != device:
            lasting = _details(asked, device)
        mode = asked.read(device.ask, "nvmlDeviceGetComputeMode")
        if asked.failed is None:
            del self._failures[device.id]
            self._lasting[device.id] = device, lasting
        else:
            self._failures[device.id] += 1
            if self._failures[device.id] < _TRIES:
                raise asked.failed
        changing = {
            name.HW_GPU_COMPUTE_MODE: _COMPUTE_MODES.get(mode),
            **drm_nodes(self._sysfs, device.pci_address),
        }
        found = {**lasting, **changing}
        return {key: value for key, value in found.items() if value is not None}


def _info(attributes: Attributes) -> Iterable[tuple[Attributes, int]]:
    return [(attributes, 1)]


def rows(sysfs: Path) -> list[Row[NvmlDevice]]:
    """Return the row of hw.gpu.info; ``sysfs`` is where sysfs is mounted."""
    source = "nvmlDeviceGetSerial, nvmlSystemGetDriverVersion and others"
    describe = _Describer(sysfs)
    emits = [EmitEach(HW_GPU_INFO, _info)]
    return [Read(source, describe, emits, every=_TEN_MINUTES, describes=True)]
