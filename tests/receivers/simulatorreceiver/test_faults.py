from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from otelgpu.points.event import Severity
from otelgpu.semconv import registry
from otelgpu.semconv.events import HW_GPU_FAULT
from simulatorreceiver.catalog import MI300X
from simulatorreceiver.config import DeviceGroup, SimulatorConfig

Simulate = Callable[[SimulatorConfig], Any]
REGISTRY = Path(__file__).parents[3] / "semconv" / "registry"
EPOCH = 1_800_000_000_000_000_000
CODE = {"hw.gpu.fault.type": "xid", "hw.gpu.fault.code": 31}


def _faults(simulation: Any, seconds: float) -> list[tuple[str, float]]:
    return [
        (stream.metric.name, value)
        for stream, value, _ in simulation.at(seconds).points
        if CODE.items() <= stream.attributes.items()
    ]


def test_faults_are_counted_and_timed(simulate: Simulate) -> None:
    simulation = simulate(SimulatorConfig(fault_interval=timedelta(seconds=100)))
    assert _faults(simulation, 19) == []
    for seconds, count, last in ((20, 1, 20), (119, 1, 20), (121, 2, 120), (1000, 10, 920)):
        assert _faults(simulation, seconds) == [
            ("hw.gpu.faults", count),
            ("hw.gpu.fault.last_occurrence", EPOCH / 1e9 + last),
        ]


def test_each_fault_is_one_event(simulate: Simulate) -> None:
    simulation = simulate(SimulatorConfig(fault_interval=timedelta(seconds=100)))
    for seconds in (0, 25, 30, 245):
        simulation.at(seconds)
    events = simulation.door.told
    assert [event.time for event in events] == [EPOCH + s * 10**9 for s in (20, 120, 220)]
    assert [event.observed for event in events] == [EPOCH + s * 10**9 for s in (25, 245, 245)]
    device = next(
        stream.attributes["hw.id"]
        for stream, _, _ in simulation.at(250).points
        if stream.metric.name == "hw.gpu.faults"
    )
    for event in events:
        assert (event.name, event.severity) == (HW_GPU_FAULT, Severity.WARN)
        assert event.body
        assert {**event.attributes, "process.pid": 0, "hw.gpu.fault.message": ""} == {
            **CODE,
            "hw.id": device,
            "hw.type": "gpu",
            "process.pid": 0,
            "hw.gpu.fault.message": "",
            "hw.gpu.holder.type": "k8s_container",
            "k8s.namespace.name": "training",
            "k8s.pod.name": "trainer-00",
        }


def test_events_keep_the_convention(simulate: Simulate) -> None:
    convention = registry.load(REGISTRY)
    (definition,) = (e for e in convention.events if e.name == HW_GPU_FAULT)
    declared = convention.references(definition.attributes)
    required = {key for key, ref in declared.items() if ref.requirement_level == "required"}
    simulation = simulate(SimulatorConfig())
    simulation.at(1000)
    assert len(simulation.door.told) == 4
    for event in simulation.door.told:
        assert required
        assert required <= event.attributes.keys() <= declared.keys()


def test_zero_means_no_faults(simulate: Simulate) -> None:
    simulation = simulate(SimulatorConfig(fault_interval=timedelta()))
    assert _faults(simulation, 10_000) == []
    assert simulation.door.told == []


def test_amd_devices_have_no_xid(simulate: Simulate) -> None:
    simulation = simulate(SimulatorConfig(devices=(DeviceGroup(MI300X.name, 8),)))
    assert _faults(simulation, 10_000) == []
