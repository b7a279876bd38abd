"""Identities that are well formed, plainly not real, and follow from the seed."""

from __future__ import annotations

import hashlib
from uuid import UUID

from otelgpu.points.stream import AttributeValue
from simulatorreceiver.catalog import AMD, NVIDIA, Model

_MARK = "51a0"
"""Four hex digits that every simulated identity shows."""


def simulated_uuid(*key: object) -> str:
    """Return a random-looking UUID that begins with the mark of the simulator."""
    digits = hashlib.sha256("/".join(map(str, key)).encode()).hexdigest()
    return str(UUID(_MARK + digits[:28], version=4))


def device_id(model: Model, seed: int, index: int) -> str:
    """Return a ``hw.id`` in the form that the vendor's driver gives."""
    uuid = simulated_uuid(seed, index, model.name)
    if model.vendor == AMD:
        # AMD puts the PCI device id into the first group and the serial number into the last ones.
        tail = uuid.replace("-", "")[-8:]
        return f"51ff{model.pci_device:04x}-0000-1000-80{_MARK[:2]}-{_MARK}{tail}"
    return f"GPU-{uuid}"


def description(model: Model, seed: int, index: int) -> dict[str, AttributeValue]:
    """Return the attributes that only ``hw.gpu.info`` has."""
    serial = int(simulated_uuid(seed, index, "serial")[4:8], 16)
    cuda = {"hw.gpu.compute_mode": "default"} if model.vendor == NVIDIA else {}
    return {
        **cuda,
        "otelgpu.simulated": True,
        "hw.serial_number": f"SIM-{serial:05d}",
        "hw.driver_version": "simulated",
        "hw.gpu.index": index,
        "hw.gpu.minor": index,
        "hw.gpu.pci.address": f"{index >> 8:04x}:{index & 0xFF:02x}:00.0",
        "hw.gpu.architecture": model.architecture,
        "hw.gpu.compute.version": model.compute_version,
        "hw.gpu.runtime.name": "cuda" if model.vendor == NVIDIA else "rocm",
        "hw.gpu.virtualization.mode": "none",
        "hw.gpu.memory.size": model.memory,
    }
