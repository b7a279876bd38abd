"""Which accelerators the node should have, as the PCI bus tells it: no driver needed."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

SYSFS_DEVICES = Path("/sys/bus/pci/devices")
_DISPLAY_CLASSES = ("0x0300", "0x0302", "0x0380")
"""VGA, 3D and other display controllers (PCI Code and ID Assignment, base class 03h)."""
_ACCELERATOR_CLASS = "0x1200"
"""Processing accelerators: some AMD Instinct and Intel devices show this one."""
_PASSED_THROUGH = frozenset({"vfio-pci", "pci-stub", "xen-pciback"})
"""Drivers that give a function away to a virtual machine."""


@frozen
class PciFunctions:
    """Accelerator functions of one vendor on this node."""

    host: int
    """Functions that a driver of this node may use."""
    passed_through: int
    """Functions that were given to a virtual machine."""


def count_functions(vendor: str, devices: Path = SYSFS_DEVICES) -> PciFunctions | None:
    """Count a vendor's display and accelerator functions in sysfs.

    ``vendor`` is the PCI vendor id as sysfs writes it, such as ``0x10de``. SR-IOV virtual functions
    are left out. Returns None where sysfs has no PCI bus that we may read.
    """
    try:
        functions = sorted(devices.iterdir())
    except OSError:
        return None
    host = passed = 0
    for device in functions:
        if _read(device / "vendor") != vendor or (device / "physfn").exists():
            continue
        if not _read(device / "class").startswith((*_DISPLAY_CLASSES, _ACCELERATOR_CLASS)):
            continue
        driver = device / "driver"
        if driver.exists() and driver.resolve().name in _PASSED_THROUGH:
            passed += 1
        else:
            host += 1
    return PciFunctions(host, passed)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        # A function that is being removed: its files vanish one after the other.
        return ""
