"""The models that can be simulated: figures of data sheets and of the vendors' tools."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

_MIB = 1 << 20
_MHZ = 1_000_000
_GB = 1_000_000_000

NVIDIA = "NVIDIA"
AMD = "AMD"


@frozen
class Clock:
    """Frequencies of one clock domain, in Hz."""

    idle: int
    highest: int


@frozen
class Links:
    """Links between GPUs."""

    type: str
    """Value of ``hw.gpu.link.type``."""
    count: int
    rate: int
    """Bytes a second that all links together carry one way."""


@frozen
class Model:
    """What is fixed for all devices of a model."""

    name: str
    """Value of ``hw.model``."""
    vendor: str
    architecture: str
    compute_version: str
    pci_device: int
    """PCI device id."""
    memory: int
    """Bytes of device memory."""
    reserved: int
    """Bytes that driver and firmware keep."""
    power_limit: float
    """Watts, as shipped."""
    power_lowest: float
    """Watts, the lowest limit that can be set."""
    power_idle: float
    clocks: Mapping[str, Clock]
    """By ``hw.gpu.clock.domain``."""
    compute_units: int
    sensor: str
    """Value of ``hw.sensor_location`` of the main sensor."""
    slowdown: float
    """Degrees Celsius at which clocks are held down by hardware."""
    shutdown: float
    pcie_generation: int
    memory_sensor: bool = True
    links: Links | None = None
    fan: int = 0
    """Highest speed of its fan in rpm; 0 where it has none."""
    profiling: bool = False
    """Whether the driver tells the activity of compute units and pipes."""
    row_remapper: bool = False
    """Whether rows of its memory can be remapped."""


H100 = Model(
    name="NVIDIA H100 80GB HBM3",
    vendor=NVIDIA,
    architecture="hopper",
    compute_version="9.0",
    pci_device=0x2330,
    memory=81_559 * _MIB,
    reserved=551 * _MIB,
    power_limit=700.0,
    power_lowest=200.0,
    power_idle=72.0,
    clocks={
        "graphics": Clock(345 * _MHZ, 1980 * _MHZ),
        "sm": Clock(345 * _MHZ, 1980 * _MHZ),
        "memory": Clock(2619 * _MHZ, 2619 * _MHZ),
        "video": Clock(765 * _MHZ, 1545 * _MHZ),
    },
    compute_units=132,
    sensor="gpu",
    slowdown=89.0,
    shutdown=94.0,
    pcie_generation=5,
    links=Links("nvlink", 18, 450 * _GB),
    profiling=True,
    row_remapper=True,
)

RTX_6000_ADA = Model(
    name="NVIDIA RTX 6000 Ada Generation",
    vendor=NVIDIA,
    architecture="ada",
    compute_version="8.9",
    pci_device=0x26B1,
    memory=49_140 * _MIB,
    reserved=535 * _MIB,
    power_limit=300.0,
    power_lowest=100.0,
    power_idle=22.0,
    clocks={
        "graphics": Clock(210 * _MHZ, 3105 * _MHZ),
        "sm": Clock(210 * _MHZ, 3105 * _MHZ),
        "memory": Clock(405 * _MHZ, 10_001 * _MHZ),
        "video": Clock(1185 * _MHZ, 2415 * _MHZ),
    },
    compute_units=142,
    sensor="gpu",
    slowdown=95.0,
    shutdown=98.0,
    pcie_generation=4,
    memory_sensor=False,
    fan=4500,
)

MI300X = Model(
    name="AMD Instinct MI300X",
    vendor=AMD,
    architecture="cdna3",
    compute_version="gfx942",
    pci_device=0x74A1,
    memory=196_592 * _MIB,
    reserved=283 * _MIB,
    power_limit=750.0,
    power_lowest=0.0,
    power_idle=130.0,
    clocks={
        "graphics": Clock(132 * _MHZ, 2100 * _MHZ),
        "memory": Clock(900 * _MHZ, 1300 * _MHZ),
        "soc": Clock(29 * _MHZ, 1333 * _MHZ),
    },
    compute_units=304,
    sensor="hotspot",
    slowdown=100.0,
    shutdown=110.0,
    pcie_generation=5,
    links=Links("xgmi", 7, 448 * _GB),
)

CATALOG: Mapping[str, Model] = {m.name: m for m in (H100, RTX_6000_ADA, MI300X)}
