"""Counting accelerators on a bus made of files, as sysfs shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from otelgpu.scraping.pci import PciFunctions, count_functions

NVIDIA, AMD = "0x10de", "0x1002"
VGA, THREE_D, DISPLAY, ACCELERATOR = "0x030000", "0x030200", "0x038000", "0x120000"
AUDIO, BRIDGE, USB = "0x040300", "0x068000", "0x0c0330"


class Bus:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.devices = root / "bus" / "pci" / "devices"
        self.devices.mkdir(parents=True)
        self._count = 0

    def add(
        self, vendor: str, kind: str, driver: str | None = "nvidia", *, virtual: bool = False
    ) -> Path:
        """Add a function as sysfs has it: a link into the tree of devices, a link to its driver."""
        name = f"0000:{self._count:02x}:00.0"
        self._count += 1
        function = self.root / "devices" / name
        function.mkdir(parents=True)
        (function / "vendor").write_text(f"{vendor}\n")
        (function / "class").write_text(f"{kind}\n")
        if driver is not None:
            target = self.root / "bus" / "pci" / "drivers" / driver
            target.mkdir(parents=True, exist_ok=True)
            (function / "driver").symlink_to(target)
        if virtual:
            (function / "physfn").symlink_to(self.root / "devices" / "0000:00:00.0")
        (self.devices / name).symlink_to(function)
        return function

    def count(self, vendor: str = NVIDIA) -> PciFunctions | None:
        return count_functions(vendor, self.devices)


@pytest.fixture
def bus(tmp_path: Path) -> Bus:
    return Bus(tmp_path)


def test_eight_gpus_and_two_given_away(bus: Bus) -> None:
    for _ in range(8):
        bus.add(NVIDIA, THREE_D)
    for driver in ("vfio-pci", "pci-stub"):
        bus.add(NVIDIA, THREE_D, driver)
    assert bus.count() == PciFunctions(host=8, passed_through=2)


def test_what_is_no_accelerator_of_the_vendor_is_left_out(bus: Bus) -> None:
    bus.add(NVIDIA, VGA)
    for other in (AUDIO, BRIDGE, USB):
        bus.add(NVIDIA, other, "snd_hda_intel")
    bus.add("0x1a03", VGA, "ast")
    bus.add(AMD, ACCELERATOR, "amdgpu")
    bus.add(AMD, DISPLAY, "amdgpu")
    assert bus.count() == PciFunctions(1, 0)
    assert bus.count(AMD) == PciFunctions(2, 0)


def test_virtual_functions_are_left_out(bus: Bus) -> None:
    bus.add(NVIDIA, THREE_D)
    bus.add(NVIDIA, THREE_D, "vfio-pci", virtual=True)
    bus.add(NVIDIA, THREE_D, None, virtual=True)
    assert bus.count() == PciFunctions(1, 0)


def test_a_gpu_without_a_driver_is_the_host_s(bus: Bus) -> None:
    bus.add(NVIDIA, THREE_D, None)
    assert bus.count() == PciFunctions(1, 0)


def test_a_function_that_is_being_removed_is_not_counted(bus: Bus) -> None:
    bus.add(NVIDIA, THREE_D)
    (bus.add(NVIDIA, THREE_D) / "class").unlink()
    (bus.add(NVIDIA, THREE_D) / "vendor").unlink()
    assert bus.count() == PciFunctions(1, 0)


def test_a_bus_without_devices_is_known_to_have_none(bus: Bus) -> None:
    assert bus.count() == PciFunctions(0, 0)


def test_no_bus_says_nothing(tmp_path: Path) -> None:
    assert count_functions(NVIDIA, tmp_path / "missing") is None
    file = tmp_path / "file"
    file.write_text("")
    assert count_functions(NVIDIA, file) is None
