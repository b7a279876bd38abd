"""A receiver on the fake NVML, read step by step with a clock that tests move."""

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pynvml

from nvmlreceiver.config import NvmlConfig
from nvmlreceiver.factory import make_scraper
from nvmlreceiver.nodes import DeviceNodes
from otelgpu.component import Settings
from otelgpu.points.batch import Batch, Readings
from otelgpu.points.event import Event
from otelgpu.points.metric import Instrument
from otelgpu.points.resource import Resource
from otelgpu.points.sdk import to_metrics_data
from otelgpu.points.stream import Stream, Streams
from otelgpu.scraping.support import DeviceSupport
from otelgpu.semconv.metrics import OTELGPU_SCRAPE_DROPPED
from otelgpu.telemetry.component import ComponentTelemetry
from otelgpu.testing import check_points

DEADLINE = 20.0
BASE = {"hw.id", "hw.type", "hw.vendor", "hw.model"}

Key = tuple[str, tuple[tuple[str, Any], ...]]


class ManualClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.set_by = 0.0
        """Seconds by which the wall clock was set."""

    def monotonic(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return 1_700_000_000_000_000_000 + int((self.now + self.set_by) * 1e9)


_OPEN: WeakSet["Receiver"] = WeakSet()


class Receiver:
    """What the service makes of the factory, without its thread."""

    def __init__(self, config: NvmlConfig, nodes: DeviceNodes | None = None) -> None:
        self.clock = ManualClock()
        self.streams = Streams()
        self.telemetry = ComponentTelemetry({}, self.streams)
        logger = logging.getLogger("test.nvml")
        self.restarts: list[str] = []
        """Why a fresh process was asked for."""
        settings = Settings(
            "nvml", logger, self.streams, self.telemetry, self.clock, self.restarts.append
        )
        self.events: list[Event] = []
        """What was told."""
        self._scraper = make_scraper(settings, config, self.events.extend, nodes)
        self._scraper.start()
        _OPEN.add(self)

    def scrape(self, after: float = 0.0) -> Readings:
        """Read all once, ``after`` seconds later by the receiver's clock."""
        self.clock.now += after
        return self._scraper.scrape()

    def support(self) -> Sequence[DeviceSupport]:
        """What each device gave, and why it did not give the rest."""
        return self._scraper.support()

    def release(self) -> None:
        """Let go of the driver from the next scrape on."""
        self._scraper.release()

    @property
    def restarted(self) -> set[str]:
        """Devices whose driver was loaded anew before the last scrape."""
        return set(self._scraper.restarted)

    def until(self, reached: Callable[[Readings], bool]) -> Readings:
        """Scrape every 70 s of the receiver's clock until it is so; real time has a deadline."""
        end = time.monotonic() + DEADLINE
        while not reached(readings := self.scrape(after=70)):
            assert time.monotonic() < end, (self.state, readings)
            # A thread that was left in a call needs a moment of real time to come out of it.
            time.sleep(0.005)
        return readings

    @property
    def state(self) -> str:
        return self.telemetry.condition.state

    @property
    def detail(self) -> str:
        return self.telemetry.condition.detail

    def own(self, name: str) -> dict[tuple[tuple[str, Any], ...], float]:
        """Values of one of the receiver's own metrics by attributes."""
        return {
            tuple(sorted(stream.attributes.items())): value
            for stream, value in self.telemetry.collect()
            if stream.metric.name == name
        }

    def drops(self) -> Counter[tuple[str, str]]:
        """Count of missing points by metric and reason."""
        counts: Counter[tuple[str, str]] = Counter()
        for stream, value in self.telemetry.collect():
            if stream.metric is OTELGPU_SCRAPE_DROPPED:
                attributes = stream.attributes
                key = str(attributes["otelgpu.metric"]), str(attributes["error.type"])
                counts[key] += int(value)
        return counts

    def close(self) -> None:
        self._scraper.shutdown(1.0)


def key(stream: Stream) -> Key:
    """Metric and the attributes that tell its points apart on one GPU."""
    if stream.metric.name == "hw.gpu.info":
        return stream.metric.name, ()
    own = {k: v for k, v in stream.attributes.items() if k not in BASE}
    return stream.metric.name, tuple(sorted(own.items()))


def of(readings: Readings, gpu: str | None = None) -> dict[Key, float]:
    """Values by metric and own attributes, of one GPU where there are several."""
    found = [(s, v) for s, v in readings if gpu is None or s.attributes["hw.id"] == gpu]
    values = {key(stream): value for stream, value in found}
    assert len(values) == len(found), "a point stands twice"
    return values


def status(readings: Readings) -> dict[str, str]:
    """State of each GPU by hw.id."""
    return {
        str(s.attributes["hw.id"]): str(s.attributes["hw.state"])
        for s, v in readings
        if s.metric.name == "hw.status" and v == 1
    }


def value(readings: Readings, metric: str, **attributes: Any) -> float | None:
    """The value of a point, None if there is none; attributes as ``hw_gpu_task="general"``."""
    # Names with an underscore of their own, such as hw.sensor_location, are found as well.
    wanted = {(k.replace("_", "."), v) for k, v in attributes.items()}
    found = [
        v
        for s, v in readings
        if s.metric.name == metric
        and wanted <= {(k.replace("_", "."), v) for k, v in s.attributes.items()}
    ]
    assert len(found) <= 1, found
    return found[0] if found else None


def lines(readings: Readings) -> list[str]:
    """Readings as sorted lines of text, without what all of a GPU share."""
    found = []
    for stream, number in readings:
        own = {k: v for k, v in stream.attributes.items() if k not in BASE}
        text = ",".join(f"{k}={v}" for k, v in sorted(own.items()))
        found.append(f"{stream.metric.name}{{{text}}} {number}")
    return sorted(found)


def findings(readings: Readings) -> list[str]:
    """What the convention has against readings."""
    now = 1_700_000_000_000_000_000
    points = [(s, v, now if s.metric.instrument is Instrument.COUNTER else 0) for s, v in readings]
    assert points
    resource = Resource({"service.name": "otelgpu"})
    return check_points(to_metrics_data(Batch("nvml", now, resource, points)))


def close_nvml() -> None:
    """Close NVML for all in this process: the next test opens it on rules of its own."""
    for receiver in list(_OPEN):
        receiver.close()
    if pynvml.nvmlLib is None:
        return
    for _ in range(100):
        try:
            pynvml.nvmlShutdown()
        except pynvml.NVMLError:
            return
    raise AssertionError("NVML stays open")


def config(library: Path, **settings: Any) -> NvmlConfig:
    """Settings for a receiver on a library; no PCI bus and no process is seen unless given."""
    settings.setdefault("sysfs", Path(os.devnull))
    settings.setdefault("proc", Path(os.devnull))
    return NvmlConfig(library=str(library), **settings)
