from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from otelgpu.points.batch import Batch
from otelgpu.points.metric import Instrument, Profile
from otelgpu.points.sdk import to_metrics_data
from otelgpu.scraping.settings import MetricConfig
from otelgpu.semconv import registry
from otelgpu.semconv.metrics import ALL
from otelgpu.testing import assert_points
from simulatorreceiver.catalog import AMD, CATALOG, H100, MI300X, NVIDIA, RTX_6000_ADA, Model
from simulatorreceiver.config import DeviceGroup, SimulatorConfig

Simulate = Callable[[SimulatorConfig], Any]

EVERYTHING = SimulatorConfig(
    devices=tuple(DeviceGroup(name, 4) for name in CATALOG), profile=Profile.FULL
)
FAN = {"hw.fan.speed", "hw.fan.speed_ratio"}
OF_HOLDERS = (
    "hw.gpu.allocation.",
    "hw.gpu.memory.unattributed",
    "hw.gpu.workload.",
    "process.",
)
REGISTRY = Path(__file__).parents[3] / "semconv" / "registry"
PROFILES = {metric.name: metric.profile for metric in ALL}


def _values(batch: Batch, name: str, **attributes: object) -> dict[str, float]:
    """Sum the values of a metric by device."""
    wanted = {key.replace("__", "."): value for key, value in attributes.items()}.items()
    found: dict[str, float] = defaultdict(float)
    for stream, value, _ in batch.points:
        if stream.metric.name == name and wanted <= stream.attributes.items():
            found[str(stream.attributes["hw.id"])] += value
    return dict(found)


@pytest.mark.parametrize("seconds", [0, 7.3, 61, 600, 86_400.5])
def test_points_keep_the_convention(simulate: Simulate, seconds: float) -> None:
    assert_points(to_metrics_data(simulate(EVERYTHING).at(seconds)))
    assert_points(to_metrics_data(simulate(SimulatorConfig(seed=7)).at(seconds)))


def test_nothing_is_counted_as_dropped(simulate: Simulate) -> None:
    simulation = simulate(EVERYTHING)
    simulation.at(10)
    simulation.at(20)
    dropped = [
        dict(stream.attributes)
        for stream, _ in simulation.settings.telemetry.collect()
        if stream.metric.name == "otelgpu.scrape.dropped"
    ]
    assert {point["error.type"] for point in dropped} == {"unsupported"}


def test_every_metric_of_the_standard_profile_is_there(simulate: Simulate) -> None:
    simulation = simulate(SimulatorConfig(devices=EVERYTHING.devices))
    found = {stream.metric.name for stream, _, _ in simulation.at(30).points}
    wanted = {
        metric.name
        for metric in ALL
        if metric.name.startswith(("hw.", "process.")) and metric.profile <= Profile.STANDARD
    }
    assert found == wanted


def test_the_default_fleet_lacks_only_fans(simulate: Simulate) -> None:
    whole = simulate(SimulatorConfig(devices=EVERYTHING.devices)).at(30)
    usual = simulate(SimulatorConfig()).at(30)
    missing = {s.metric.name for s, _, _ in whole.points} - {
        s.metric.name for s, _, _ in usual.points
    }
    # Modules of an HGX or OAM board are cooled by the chassis.
    assert missing == FAN


def _series(batch: Batch) -> dict[str, Counter[str]]:
    """Count the series of each device by metric, without those that processors make."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for stream, _, _ in batch.points:
        if not stream.metric.name.startswith(OF_HOLDERS):
            found[str(stream.attributes["hw.id"])][stream.metric.name] += 1
    return found


def test_an_h100_has_the_series_that_the_registry_counts(simulate: Simulate) -> None:
    promised = {
        metric.name: metric.annotations.gpu.series
        for metric in registry.load(REGISTRY).metrics
        if PROFILES[metric.name] <= Profile.STANDARD and metric.annotations.gpu.series
    }
    config = SimulatorConfig(
        devices=(DeviceGroup(H100.name, 8),), fault_interval=timedelta(), seed=1
    )
    for counts in _series(simulate(config).at(30)).values():
        assert counts == promised


@pytest.mark.parametrize(
    ("profile", "model", "series"),
    [
        (Profile.MINIMAL, H100, 20),
        (Profile.MINIMAL, RTX_6000_ADA, 19),
        (Profile.MINIMAL, MI300X, 17),
        (Profile.STANDARD, H100, 90),
        (Profile.STANDARD, RTX_6000_ADA, 60),
        (Profile.STANDARD, MI300X, 49),
    ],
)
def test_how_many_series_a_device_has(
    simulate: Simulate, profile: Profile, model: Model, series: int
) -> None:
    devices = (DeviceGroup(model.name, 4),)
    found = _series(simulate(SimulatorConfig(profile=profile, devices=devices)).at(30))
    # One NVIDIA device has had a fault: its count and its time.
    extra = [2, 0, 0, 0] if model.vendor == NVIDIA else [0] * 4
    assert sorted(c.total() for c in found.values()) == sorted(series + n for n in extra)


def test_vendors_have_what_their_libraries_tell(simulate: Simulate) -> None:
    batch = simulate(SimulatorConfig()).at(30)
    names = defaultdict(set)
    links = defaultdict(set)
    for stream, _, _ in batch.points:
        if vendor := stream.attributes.get("hw.vendor"):
            names[vendor].add(stream.metric.name)
            links[vendor].add(stream.attributes.get("hw.gpu.link.type"))
    assert names.keys() == {NVIDIA, AMD}
    assert "hw.gpu.pipe.utilization" in names[NVIDIA] - names[AMD]
    assert "hw.gpu.memory.retired_page.count" in names[AMD] - names[NVIDIA]
    assert links[NVIDIA] == {None, "pcie", "nvlink"}
    assert links[AMD] == {None, "pcie", "xgmi"}


def test_identities_are_marked_as_simulated(simulate: Simulate) -> None:
    batch = simulate(SimulatorConfig()).at(0)
    infos = [s.attributes for s, _, _ in batch.points if s.metric.name == "hw.gpu.info"]
    assert len({info["hw.id"] for info in infos}) == 8
    assert all(info["otelgpu.simulated"] is True for info in infos)
    assert all("51a0" in str(info["hw.id"]) for info in infos)
    pids = {
        stream.attributes["process.pid"]
        for stream, _, _ in batch.points
        if "process.pid" in stream.attributes
    }
    assert pids
    assert all(int(pid) > 1 << 22 for pid in pids)


def test_same_seed_same_values(simulate: Simulate) -> None:
    first = simulate(SimulatorConfig(seed=3))
    again = simulate(SimulatorConfig(seed=3))
    other = simulate(SimulatorConfig(seed=4))
    first.at(12.5)  # what was read before makes no difference
    assert first.values(100) == again.values(100)
    assert first.values(100) != other.values(100)
    assert not first.values(100).keys() & other.values(100).keys()


def test_counters_never_fall(simulate: Simulate) -> None:
    simulation = simulate(EVERYTHING)
    before: dict[Any, float] = {}
    grown = set()
    for seconds in (0, 0.5, 1, 9.7, 60, 300, 599.9, 600, 600.1, 1200, 5000, 86_400):
        for stream, value, _ in simulation.at(seconds).points:
            if stream.metric.instrument is Instrument.COUNTER:
                assert value >= before.get(stream, 0), stream
                if value > before.get(stream, value):
                    grown.add(stream.metric.name)
                before[stream] = value
    never = {"hw.gpu.workload.unknown.time"}
    assert grown == {stream.metric.name for stream in before} - never


@pytest.mark.parametrize("seconds", [0, 33.3, 250, 4321])
def test_holders_and_unattributed_make_up_the_device(simulate: Simulate, seconds: float) -> None:
    simulation = simulate(EVERYTHING)
    start, batch = simulation.at(0), simulation.at(seconds)
    usage = _values(batch, "hw.gpu.memory.usage")
    held = _values(batch, "hw.gpu.workload.memory.usage")
    unattributed = _values(batch, "hw.gpu.memory.unattributed")
    assert usage == {name: held.get(name, 0) + unattributed[name] for name in usage}
    assert held == _values(batch, "process.gpu.memory.usage")
    free, reserved, limit = (
        _values(batch, f"hw.gpu.memory.{kind}") for kind in ("free", "reserved", "limit")
    )
    assert limit == {n: usage[n] + free[n] + reserved[n] for n in limit}

    load = _values(batch, "hw.gpu.utilization", hw__gpu__task="general")
    for name in ("hw.gpu.workload.utilization", "process.gpu.utilization"):
        parts = _values(batch, name)
        assert load == pytest.approx({n: parts.get(n, 0) for n in load})

    energy, before = _values(batch, "hw.energy"), _values(start, "hw.energy")
    for name, joules in _values(batch, "hw.gpu.workload.energy").items():
        assert joules == pytest.approx(energy[name] - before[name], abs=1e-3)


def test_allocations(simulate: Simulate) -> None:
    batch = simulate(SimulatorConfig()).at(900)
    count = _values(batch, "hw.gpu.allocation.count")
    assert sorted(count.values()) == [0, 1, 1, 1, 1, 1, 1, 2]
    fraction = _values(batch, "hw.gpu.allocation.fraction")
    assert sorted(fraction.values()) == [0, *[1] * 7]
    kinds = {
        stream.attributes.get("hw.gpu.holder.type")
        for stream, _, _ in batch.points
        if stream.metric.name == "hw.gpu.allocation.count"
    }
    assert kinds == {None, "k8s_container", "slurm_job"}

    allocated = _values(batch, "hw.gpu.workload.allocated.time")
    assert allocated == dict.fromkeys(allocated, 900)
    assert len(allocated) == 7
    active = _values(batch, "hw.gpu.workload.active.time")
    idle = _values(batch, "hw.gpu.workload.idle.time")
    assert all(0 <= active[n] + idle[n] <= 900 + 900 * 0.01 for n in allocated)
    assert max(idle.values()) > 600  # the notebook
    assert max(active.values()) > 600  # the trainer


def test_power_heat_and_energy_follow_the_load(simulate: Simulate) -> None:
    simulation = simulate(SimulatorConfig(devices=(DeviceGroup(H100.name, 1),)))
    load: list[float] = []
    power: list[float] = []
    energy = {}
    for seconds in range(0, 601, 2):
        batch = simulation.at(seconds)
        load += _values(batch, "hw.gpu.utilization", hw__gpu__task="general").values()
        power += _values(batch, "hw.power").values()
        energy[seconds], *_ = _values(batch, "hw.energy").values()
        (temperature,) = _values(batch, "hw.temperature", hw__sensor_location="gpu").values()
        (margin,) = _values(batch, "hw.gpu.heating_margin").values()
        assert 22 < temperature < H100.slowdown
        assert margin == pytest.approx(H100.slowdown - temperature)
    assert [p for _, p in sorted(zip(load, power, strict=True))] == sorted(power)
    assert H100.power_idle <= min(power) < max(power) <= H100.power_limit
    mean = sum(power[:-1]) / len(power[:-1])
    assert energy[600] - energy[0] == pytest.approx(mean * 600, rel=0.02)


def test_a_metric_that_is_switched_off_is_absent(simulate: Simulate) -> None:
    off = {"hw.gpu.io": MetricConfig(enabled=False), "hw.gpu.workload.energy": MetricConfig(False)}
    on = {"hw.temperature.limit": MetricConfig()}
    batch = simulate(SimulatorConfig(metrics={**off, **on})).at(5)
    found = {stream.metric.name for stream, _, _ in batch.points}
    assert not found & off.keys()
    assert found >= on.keys()
    assert "hw.gpu.clock.limit" not in found


def test_a_card_with_a_fan(simulate: Simulate) -> None:
    batch = simulate(SimulatorConfig(devices=(DeviceGroup(RTX_6000_ADA.name),))).at(100)
    found = {stream.metric.name for stream, _, _ in batch.points}
    assert found >= FAN
    assert "hw.gpu.link.count" not in found
    assert "hw.gpu.compute_unit.utilization" not in found


def test_no_devices(simulate: Simulate) -> None:
    simulation = simulate(SimulatorConfig(devices=()))
    assert not simulation.at(0).points
    assert simulation.settings.telemetry.condition.state == "simulator.no_devices"
