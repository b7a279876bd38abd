"""What only NVIDIA's library tells."""

from __future__ import annotations

from otelgpu.scraping.table import Emit, EmitEach, Read, Row
from otelgpu.semconv import metrics as m
from simulatorreceiver import values as v
from simulatorreceiver.device import SimulatedDevice

_THROTTLED_NOW = (
    "power.sw_cap",
    "power.hw_brake",
    "thermal.sw",
    "thermal.hw",
    "hw_slowdown",
    "sync_boost",
)
_THROTTLED_SO_FAR = (
    "power.sw_cap",
    "power.hw_brake",
    "power.board_limit",
    "thermal.sw",
    "thermal.hw",
    "sync_boost",
    "reliability",
)
_RECOVERY = (
    "none",
    "gpu_reset",
    "node_reboot",
    "drain_p2p",
    "drain_and_reset",
    "recover_imex_domain",
)
_FABRIC = ("not_started", "in_progress", "completed", "degraded")
_REPAIR = ("ok", "pending", "failed")
_PCIE_ERRORS = ("non_fatal", "fatal")
_NVLINK_ERRORS = ("crc.flit", "crc.data", "replay", "recovery", "ecc")
_PARTS = {
    "general": 1.0,
    "memory": 0.58,
    "render_compute": 0.98,
    "encoder": 0.0,
    "decoder": 0.0,
    "jpeg": 0.0,
    "ofa": 0.0,
}
"""Utilization by task, as a part of the device's."""


def _itself(device: SimulatedDevice) -> SimulatedDevice:
    return device


ROWS: tuple[Row[SimulatedDevice], ...] = (
    Read(
        "utilization",
        SimulatedDevice.utilization,
        [EmitEach(m.HW_GPU_UTILIZATION, v.tasks(_PARTS))],
    ),
    Read(
        "GPM",
        SimulatedDevice.profiling,
        [
            Emit(m.HW_GPU_COMPUTE_UNIT_UTILIZATION, lambda gpm: gpm.active),
            Emit(m.HW_GPU_COMPUTE_UNIT_OCCUPANCY, lambda gpm: gpm.occupancy),
            Emit(m.HW_GPU_MEMORY_BANDWIDTH_UTILIZATION, lambda gpm: gpm.memory_bandwidth),
            EmitEach(m.HW_GPU_PIPE_UTILIZATION, v.pipes),
        ],
    ),
    Read(
        "state",
        _itself,
        [
            Emit(m.HW_GPU_POWER_AVERAGE, lambda d: d.physics.power_average(d.now)),
            Emit(m.HW_GPU_HEATING_MARGIN, v.heating_margin),
            EmitEach(m.HW_GPU_THROTTLE_STATUS, v.throttle_status(_THROTTLED_NOW)),
            EmitEach(m.HW_GPU_THROTTLE_TIME, v.throttle_time(_THROTTLED_SO_FAR)),
            EmitEach(m.HW_GPU_RECOVERY_STATUS, v.always("hw.gpu.recovery.action", _RECOVERY)),
            EmitEach(m.HW_GPU_LINK_ERRORS, v.none_yet("pcie", _PCIE_ERRORS)),
            EmitEach(m.HW_GPU_PROCESS_COUNT, v.processes(("compute", "graphics", "mps"))),
        ],
    ),
    Read(
        "PCIe errors",
        SimulatedDevice.replays,
        [
            Emit(
                m.HW_GPU_LINK_ERRORS,
                lambda count: count,
                {"hw.gpu.link.type": "pcie", "error.type": "correctable"},
            )
        ],
    ),
    Read("PCIe bytes", SimulatedDevice.pcie, [EmitEach(m.HW_GPU_IO, v.traffic)]),
    Read(
        "NVLink errors",
        SimulatedDevice.links,
        [EmitEach(m.HW_GPU_LINK_ERRORS, v.none_yet("nvlink", _NVLINK_ERRORS))],
    ),
    Read(
        "fabric",
        SimulatedDevice.fabric,
        [EmitEach(m.HW_GPU_FABRIC_STATUS, v.state("hw.gpu.fabric.state", _FABRIC))],
        every=60.0,
    ),
    Read(
        "fan",
        SimulatedDevice.fan,
        [
            Emit(m.HW_FAN_SPEED, lambda fan: fan.speed, {"hw.sensor_location": "fan0"}),
            Emit(
                m.HW_FAN_SPEED_RATIO,
                lambda fan: fan.speed / fan.highest,
                {"hw.sensor_location": "fan0"},
            ),
        ],
    ),
    Read(
        "row remapper",
        SimulatedDevice.remapped_rows,
        [
            Emit(m.HW_GPU_MEMORY_REMAPPED_ROW_COUNT, lambda n: n, {"error.type": "corrected"}),
            Emit(m.HW_GPU_MEMORY_REMAPPED_ROW_COUNT, lambda n: n, {"error.type": "uncorrected"}),
            EmitEach(
                m.HW_GPU_MEMORY_REPAIR_STATUS, v.always("hw.gpu.memory.repair.state", _REPAIR)
            ),
        ],
        every=60.0,
    ),
    Read(
        "lifetime errors",
        SimulatedDevice.lifetime_corrected_errors,
        [
            Emit(m.HW_GPU_LIFETIME_ERRORS, lambda n: n, {"error.type": "corrected"}),
            Emit(m.HW_GPU_LIFETIME_ERRORS, lambda _: 0, {"error.type": "uncorrected"}),
        ],
        every=60.0,
    ),
)
"""Rows for NVIDIA devices, beside those for all."""
