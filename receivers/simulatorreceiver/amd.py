"""What only AMD's library tells, or tells in another way."""

from __future__ import annotations

from otelgpu.scraping.table import Emit, EmitEach, Read, Row
from otelgpu.semconv import metrics as m
from simulatorreceiver import values as v
from simulatorreceiver.device import SimulatedDevice

_REASONS = ("power.sw_cap", "thermal.core", "thermal.memory", "thermal.vr", "thermal.prochot")
_PCIE_ERRORS = ("nak.sent", "nak.received")
_REPAIR = ("ok", "pending", "failed")
_PARTS = {"general": 1.0, "memory": 0.52, "media": 0.0}
"""Utilization by task, as a part of the device's."""


def _itself(device: SimulatedDevice) -> SimulatedDevice:
    return device


ROWS: tuple[Row[SimulatedDevice], ...] = (
    Read(
        "activity",
        SimulatedDevice.utilization,
        [EmitEach(m.HW_GPU_UTILIZATION, v.tasks(_PARTS))],
    ),
    Read(
        "state",
        _itself,
        [
            EmitEach(m.HW_GPU_THROTTLE_STATUS, v.throttle_status(_REASONS)),
            EmitEach(m.HW_GPU_THROTTLE_TIME, v.throttle_time(_REASONS)),
            Emit(m.HW_ERRORS, lambda _: 0, {"error.type": "deferred"}),
            EmitEach(m.HW_GPU_LINK_ERRORS, v.none_yet("pcie", _PCIE_ERRORS)),
            EmitEach(m.HW_GPU_PROCESS_COUNT, v.processes(("compute",))),
        ],
    ),
    Read(
        "PCIe replays",
        SimulatedDevice.replays,
        [
            Emit(
                m.HW_GPU_LINK_ERRORS,
                lambda count: count,
                {"hw.gpu.link.type": "pcie", "error.type": "replay"},
            )
        ],
    ),
    Read(
        "bad pages",
        _itself,
        [
            Emit(m.HW_GPU_MEMORY_RETIRED_PAGE_COUNT, lambda _: 0, {"error.type": "uncorrected"}),
            EmitEach(
                m.HW_GPU_MEMORY_REPAIR_STATUS, v.always("hw.gpu.memory.repair.state", _REPAIR)
            ),
        ],
        every=60.0,
    ),
)
"""Rows for AMD devices, beside those for all."""
