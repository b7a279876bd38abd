from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Sequence
from datetime import timedelta
from importlib.metadata import entry_points
from typing import Any

import pytest
from attrs import define, field

from otelgpu.component import Settings, Signal
from otelgpu.config.mistake import ConfigError
from otelgpu.config.structure import structure
from otelgpu.points.batch import Readings
from otelgpu.points.event import Event
from otelgpu.points.metric import Profile
from otelgpu.points.stream import Streams
from otelgpu.semconv.metrics import OTELGPU_DEVICE_COUNT, OTELGPU_RECEIVER_UP
from otelgpu.telemetry.component import ComponentTelemetry
from simulatorreceiver import FACTORY
from simulatorreceiver.config import DeviceGroup, SimulatorConfig


@define
class Door:
    arrived: threading.Event = field(factory=threading.Event)
    batches: list[Readings] = field(factory=list)

    def readings(self, readings: Readings, restarted: Collection[str] = ()) -> None:
        self.batches.append(readings)
        if len(self.batches) > 1:
            self.arrived.set()

    def events(self, events: Sequence[Event]) -> None:
        raise AssertionError("no fault is due yet")


class SystemClock:
    def time_ns(self) -> int:
        return time.time_ns()

    def monotonic(self) -> float:
        return time.monotonic()


@pytest.fixture
def settings() -> Settings:
    streams = Streams()
    telemetry = ComponentTelemetry({}, streams)
    return Settings("simulator", logging.getLogger("sim"), streams, telemetry, SystemClock())


def test_receiver_hands_over_on_an_interval(settings: Settings) -> None:
    door = Door()
    config = SimulatorConfig(collection_interval=timedelta(milliseconds=300))
    receiver = FACTORY.create(settings, config, door)
    receiver.shutdown(1)  # safe before start
    receiver = FACTORY.create(settings, config, door)
    receiver.start()
    assert door.arrived.wait(20)
    receiver.shutdown(5)
    receiver.shutdown(5)
    assert len(door.batches[0]) > 500
    assert settings.telemetry.condition.state == "ok"
    told = {
        (stream.metric, stream.attributes.get("hw.vendor")): value
        for stream, value in settings.telemetry.collect()
    }
    assert told[OTELGPU_RECEIVER_UP, None] == 1
    assert told[OTELGPU_DEVICE_COUNT, "NVIDIA"] == told[OTELGPU_DEVICE_COUNT, "AMD"] == 4
    for thread in threading.enumerate():
        if thread.name == "simulator":
            thread.join(20)
            assert not thread.is_alive()


def test_entry_point_and_factory() -> None:
    (entry,) = (e for e in entry_points(group="otelgpu.receivers") if e.name == "simulator")
    assert entry.load() is FACTORY
    assert FACTORY.signals == {Signal.METRICS, Signal.EVENTS}
    assert FACTORY.resource == {"otelgpu.simulated": True}


def test_settings_as_written() -> None:
    raw = {
        "collection_interval": "1s",
        "seed": 5,
        "profile": "minimal",
        "devices": [{"model": "AMD Instinct MI300X", "count": 2}],
        "fault_interval": "0s",
        "metrics": {"hw.gpu.io": {"enabled": True}},
    }
    config = structure(raw, SimulatorConfig, "")
    assert config.devices == (DeviceGroup("AMD Instinct MI300X", 2),)
    assert (config.seed, config.profile) == (5, Profile.MINIMAL)
    assert config.fault_interval == timedelta()


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"devices": [{"model": "NVIDIA H100 80GB"}]}, "did you mean"),
        ({"devices": [{"model": "NVIDIA H100 80GB HBM3", "count": 0}]}, "from 1 to 1024"),
        ({"devices": [{"model": "AMD Instinct MI300X", "count": 1000}] * 2}, "at most"),
        ({"collection_interval": "0s"}, "above zero"),
        ({"seeds": 1}, "seed"),
    ],
)
def test_mistakes_in_settings(raw: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        structure(raw, SimulatorConfig, "")
