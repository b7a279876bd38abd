"""The receiver as the service makes it."""

import logging
import threading
import time
from collections.abc import Collection, Sequence
from datetime import timedelta
from importlib.metadata import entry_points
from pathlib import Path

from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import DEADLINE, config, findings

from nvmlreceiver import FACTORY
from otelgpu.component import Settings
from otelgpu.points.batch import Readings
from otelgpu.points.event import Event
from otelgpu.points.stream import Streams
from otelgpu.telemetry.component import ComponentTelemetry


class Door:
    """Takes what a receiver hands over."""

    def __init__(self) -> None:
        self.taken: list[Readings] = []
        self.twice = threading.Event()

    def readings(self, readings: Readings, restarted: Collection[str] = ()) -> None:
        self.taken.append(readings)
        if len(self.taken) > 1:
            self.twice.set()

    def events(self, events: Sequence[Event]) -> None:
        raise AssertionError(events)


class WallClock:
    monotonic = staticmethod(time.monotonic)
    time_ns = staticmethod(time.time_ns)


def test_it_is_found_by_its_type() -> None:
    (entry,) = entry_points(group="otelgpu.receivers", name=FACTORY.type)
    assert entry.load() is FACTORY


def test_it_reads_again_and_again(fake: FakeNvml, library: Path) -> None:
    fake.configure(gpus=2)
    streams, door = Streams(), Door()
    telemetry = ComponentTelemetry({}, streams)
    settings = Settings("nvml", logging.getLogger("test.nvml"), streams, telemetry, WallClock())
    interval = timedelta(seconds=0.05)
    component = FACTORY.create(settings, config(library, collection_interval=interval), door)
    component.start()
    try:
        assert door.twice.wait(DEADLINE)
    finally:
        component.shutdown(5.0)
    first, second, *_ = door.taken
    # The same streams, not only equal ones
    assert {id(stream) for stream, _ in first} == {id(stream) for stream, _ in second}
    assert findings(second) == []
    assert telemetry.condition.state == "ok"
