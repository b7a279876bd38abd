"""What a row of the table takes from a simulated device: attributes and number of each point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from otelgpu.points.stream import Attributes
from simulatorreceiver.catalog import NVIDIA
from simulatorreceiver.device import LinkTraffic, Profiling, SimulatedDevice
from simulatorreceiver.faults import FAULT

Values = Iterable[tuple[Attributes, float | None]]
OfDevice = Callable[[SimulatedDevice], Values]


def by(key: str, values: Mapping[str, float]) -> Iterator[tuple[Attributes, float]]:
    """Yield one point for each value of an attribute."""
    return (({key: name}, value) for name, value in values.items())


def state(key: str, states: Sequence[str]) -> Callable[[str], Values]:
    """Return what yields 1 for the state that is given to it, 0 for the others."""
    return lambda now: (({key: name}, int(name == now)) for name in states)


def always(key: str, states: Sequence[str]) -> Callable[[object], Values]:
    """Return what yields 1 for the first state, since the device is never in another."""
    return lambda _: state(key, states)(states[0])


def none_yet(link: str, errors: Sequence[str]) -> Callable[[object], Values]:
    """Return what yields 0 for each error of a link."""
    return lambda _: (({"hw.gpu.link.type": link, "error.type": error}, 0) for error in errors)


def tasks(parts: Mapping[str, float]) -> Callable[[float], Values]:
    """Return what yields utilization by task, each a part of the device's load."""
    return lambda load: by("hw.gpu.task", {task: part * load for task, part in parts.items()})


def info(device: SimulatedDevice) -> Values:
    """Yield the description."""
    yield device.description, 1


def faults(device: SimulatedDevice) -> Values:
    """Yield the faults so far; a code is born with its first fault."""
    if device.faults is not None and device.faults.count:
        yield FAULT, device.faults.count


def last_fault(device: SimulatedDevice) -> Values:
    """Yield when the last fault was."""
    if device.faults is not None and device.faults.count:
        yield FAULT, device.faults.last


def clocks(device: SimulatedDevice) -> Values:
    """Yield clocks by domain."""
    for domain in device.model.clocks:
        yield {"hw.gpu.clock.domain": domain}, device.physics.frequency(domain, device.now)


def clock_limits(device: SimulatedDevice) -> Values:
    """Yield the highest clocks by domain."""
    for domain, clock in device.model.clocks.items():
        yield {"hw.gpu.clock.domain": domain, "hw.limit_type": "max"}, clock.highest


def temperatures(device: SimulatedDevice) -> Values:
    """Yield temperatures by sensor."""
    core = device.physics.temperature(device.now)
    yield {"hw.sensor_location": device.model.sensor}, core
    if device.model.memory_sensor:
        yield {"hw.sensor_location": "memory"}, core + 5.0


def temperature_limits(device: SimulatedDevice) -> Values:
    """Yield the limits of the main sensor."""
    model = device.model
    sensor = {"hw.sensor_location": model.sensor}
    yield {**sensor, "hw.limit_type": "high.degraded"}, model.slowdown
    yield {**sensor, "hw.limit_type": "high.critical"}, model.shutdown


def heating_margin(device: SimulatedDevice) -> float:
    """Return the degrees left before clocks are held down."""
    return device.model.slowdown - device.physics.temperature(device.now)


def power_limits(device: SimulatedDevice) -> Values:
    """Yield power limits by type; AMD tells no requested one apart from the enforced."""
    model = device.model
    whole = ["enforced", "default", "max", *(["requested"] if model.vendor == NVIDIA else [])]
    limits = dict.fromkeys(whole, model.power_limit) | {"min": model.power_lowest}
    return by("hw.limit_type", limits)


def throttle_status(reasons: Sequence[str]) -> OfDevice:
    """Return what yields 1 for the reasons that hold; only the power limit ever does."""

    def status(device: SimulatedDevice) -> Values:
        capped = device.physics.capped(device.now)
        for reason in reasons:
            yield {"hw.gpu.throttle.reason": reason}, int(capped and reason == "power.sw_cap")

    return status


def throttle_time(reasons: Sequence[str]) -> OfDevice:
    """Return what yields for how long each reason has held."""

    def time(device: SimulatedDevice) -> Values:
        capped = device.physics.capped_time(device.now)
        for reason in reasons:
            yield {"hw.gpu.throttle.reason": reason}, capped if reason == "power.sw_cap" else 0.0

    return time


def processes(kinds: Sequence[str]) -> OfDevice:
    """Return what yields the processes by kind; all simulated ones compute."""

    def count(device: SimulatedDevice) -> Values:
        total = sum(len(holder.processes) for holder in device.holders)
        return by("hw.gpu.process.type", {kind: total * (kind == "compute") for kind in kinds})

    return count


def traffic(link: LinkTraffic) -> Values:
    """Yield bytes by direction."""
    common = {"hw.gpu.link.type": link.type}
    yield {**common, "network.io.direction": "receive"}, link.received
    yield {**common, "network.io.direction": "transmit"}, link.transmitted


def link_count(link: LinkTraffic) -> Values:
    """Yield links by state; none is ever down."""
    common = {"hw.gpu.link.type": link.type}
    yield {**common, "hw.gpu.link.state": "up"}, link.count
    yield {**common, "hw.gpu.link.state": "down"}, 0


def pipes(profiling: Profiling) -> Values:
    """Yield activity by pipe."""
    return by("hw.gpu.pipe", profiling.pipes)
