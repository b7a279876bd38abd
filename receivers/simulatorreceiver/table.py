"""Which simulated call yields which metrics; the shape of every receiver's table.

Each vendor has what its own receiver can read: of an AMD device there is no activity of compute
units (that needs ROCm's profiler), no NVLink, no traffic of PCIe and no row remapper.
"""

from __future__ import annotations

from collections.abc import Mapping

from otelgpu.scraping.table import ONCE, Emit, EmitEach, Read, Row, Table
from otelgpu.semconv import metrics as m
from simulatorreceiver import amd, nvidia
from simulatorreceiver import values as v
from simulatorreceiver.catalog import AMD, NVIDIA
from simulatorreceiver.device import Memory, SimulatedDevice

_MINUTE = 60.0


def _itself(device: SimulatedDevice) -> SimulatedDevice:
    return device


def _memory_utilization(memory: Memory) -> float:
    return memory.used / memory.total


_COMMON: tuple[Row[SimulatedDevice], ...] = (
    Read("description", _itself, [EmitEach(m.HW_GPU_INFO, v.info)], every=ONCE),
    Read(
        "limits",
        _itself,
        [
            EmitEach(m.HW_GPU_POWER_LIMIT, v.power_limits),
            EmitEach(m.HW_GPU_CLOCK_LIMIT, v.clock_limits),
            EmitEach(m.HW_TEMPERATURE_LIMIT, v.temperature_limits),
            Emit(m.HW_GPU_COMPUTE_UNIT_COUNT, lambda d: d.model.compute_units),
            Emit(m.HW_GPU_PCIE_GENERATION_MAX, lambda d: d.model.pcie_generation),
        ],
        every=_MINUTE,
    ),
    Read(
        "memory",
        SimulatedDevice.memory,
        [
            Emit(m.HW_GPU_MEMORY_LIMIT, lambda memory: memory.total),
            Emit(m.HW_GPU_MEMORY_USAGE, lambda memory: memory.used),
            Emit(m.HW_GPU_MEMORY_FREE, lambda memory: memory.free),
            Emit(m.HW_GPU_MEMORY_RESERVED, lambda memory: memory.reserved),
            Emit(m.HW_GPU_MEMORY_UTILIZATION, _memory_utilization),
            Emit(m.HW_GPU_MEMORY_UNATTRIBUTED, lambda memory: memory.unattributed),
        ],
    ),
    Read(
        "power",
        _itself,
        [
            Emit(m.HW_POWER, lambda d: d.physics.power(d.now)),
            Emit(m.HW_ENERGY, SimulatedDevice.energy),
            EmitEach(m.HW_GPU_CLOCK_FREQUENCY, v.clocks),
            EmitEach(m.HW_TEMPERATURE, v.temperatures),
        ],
    ),
    Read(
        "PCIe",
        SimulatedDevice.pcie,
        [
            Emit(m.HW_GPU_PCIE_WIDTH_CURRENT, lambda link: link.count),
            Emit(m.HW_GPU_PCIE_WIDTH_MAX, lambda link: link.count),
        ],
    ),
    Read(
        "links",
        SimulatedDevice.links,
        [EmitEach(m.HW_GPU_LINK_COUNT, v.link_count), EmitEach(m.HW_GPU_IO, v.traffic)],
    ),
    Read(
        "corrected errors",
        SimulatedDevice.corrected_errors,
        [
            Emit(m.HW_ERRORS, lambda count: count, {"error.type": "corrected"}),
            Emit(m.HW_ERRORS, lambda _: 0, {"error.type": "uncorrected"}),
        ],
    ),
    Read(
        "faults",
        _itself,
        [
            EmitEach(m.HW_GPU_FAULTS, v.faults),
            EmitEach(m.HW_GPU_FAULT_LAST_OCCURRENCE, v.last_fault),
        ],
    ),
)

TABLES: Mapping[str, Table[SimulatedDevice]] = {
    NVIDIA: (*_COMMON, *nvidia.ROWS),
    AMD: (*_COMMON, *amd.ROWS),
}
"""The table of each vendor."""
