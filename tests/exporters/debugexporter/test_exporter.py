from __future__ import annotations

import errno
import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import TextIO

import pytest

from debugexporter import FACTORY
from debugexporter.config import DebugConfig, Verbosity
from debugexporter.exporter import FAILED, QUEUE, DebugExporter
from otelgpu.component import Settings, Signal
from otelgpu.config.mistake import ConfigError
from otelgpu.config.structure import structure
from otelgpu.points.batch import Batch
from otelgpu.points.event import Event, EventBatch, Severity
from otelgpu.points.resource import Resource
from otelgpu.telemetry.component import OK

Make = Callable[..., Batch]
SIZE = 4000
"""Points of a batch whose text is longer than what a pipe holds, so that writing it blocks."""
DETAILED = DebugConfig(Verbosity.DETAILED)


def _accounts(settings: Settings, kind: str = "points") -> dict[str, float]:
    found: dict[str, float] = {}
    for stream, value in settings.telemetry.collect():
        if stream.metric.name == f"otelgpu.exporter.{kind}":
            outcome = str(stream.attributes["otelgpu.outcome"])
            reason = stream.attributes.get("error.type")
            found[f"{outcome} {reason}" if reason else outcome] = value
        elif stream.metric.name == "otelgpu.exporter.queue.size":
            found["queued"] = value
    return found


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def pipe() -> Iterator[tuple[TextIO, TextIO]]:
    """A reading and a writing end; tests may close either."""
    read, write = os.pipe()
    reader, writer = os.fdopen(read, encoding="utf-8"), os.fdopen(write, "w", encoding="utf-8")
    yield reader, writer
    reader.close()
    try:
        writer.close()
    except BrokenPipeError:
        # What is left in its buffer cannot be flushed; the descriptor is closed all the same.
        assert writer.closed


def _event() -> EventBatch:
    event = Event("hw.gpu.fault", 1, 1, Severity.WARN, "broken", {"hw.id": "GPU-1"})
    return EventBatch("nvml", Resource({}), [event])


def test_writes_points_and_events_in_order(settings: Settings, batch: Make) -> None:
    output = io.StringIO()
    exporter = DebugExporter(settings, DETAILED, output)
    exporter.start()
    assert settings.telemetry.condition.state == OK
    for number in range(5):
        exporter.consume(batch(number))
    exporter.consume_events(_event())
    exporter.shutdown(20)
    lines = output.getvalue().splitlines()
    assert [line.split()[-2] for line in lines[1:10:2]] == ["0", "1", "2", "3", "4"]
    assert lines[10].endswith("WARN hw.gpu.fault GPU-1: broken")
    assert _accounts(settings) == {"sent": 5, "queued": 0}
    assert _accounts(settings, "events") == {"sent": 1, "queued": 0}


def _stuck(exporter: DebugExporter, batch: Make, reader: TextIO) -> None:
    """Let the exporter be inside of a write and its queue be full, with 10 batches too many."""
    exporter.start()
    exporter.consume(batch(0, SIZE))
    assert os.read(reader.fileno(), 1)
    for number in range(1, QUEUE + 11):
        exporter.consume(batch(number, SIZE))


def test_slow_reader_stops_nobody_and_costs_the_oldest(
    settings: Settings, batch: Make, pipe: tuple[TextIO, TextIO]
) -> None:
    reader, writer = pipe
    exporter = DebugExporter(settings, DETAILED, writer)
    _stuck(exporter, batch, reader)
    assert _accounts(settings) == {
        "sent": 0,
        "dropped queue_full": 10 * SIZE,
        "queued": (QUEUE + 1) * SIZE,
    }
    shown: list[str] = []
    thread = threading.Thread(target=lambda: shown.extend(reader))
    thread.start()
    exporter.shutdown(60)
    writer.close()
    thread.join(60)
    assert _accounts(settings) == {
        "sent": (QUEUE + 1) * SIZE,
        "dropped queue_full": 10 * SIZE,
        "queued": 0,
    }
    assert len(shown) == (QUEUE + 1) * (SIZE + 1)
    first_of_each = [line.split()[-2] for line in shown[1 :: SIZE + 1]]
    assert first_of_each == ["0", *map(str, range(11, QUEUE + 11))]


def test_shutdown_gives_up_on_a_reader_that_has_stopped(
    settings: Settings, batch: Make, pipe: tuple[TextIO, TextIO], caplog: pytest.LogCaptureFixture
) -> None:
    reader, writer = pipe
    exporter = DebugExporter(settings, DETAILED, writer)
    _stuck(exporter, batch, reader)
    exporter.shutdown(0.05)
    accounts = {
        "sent": 0,
        "dropped queue_full": 10 * SIZE,
        "dropped shutdown": (QUEUE + 1) * SIZE,
        "queued": 0,
    }
    assert _accounts(settings) == accounts
    assert "65 batches were not written" in caplog.text
    exporter.consume(batch(0))
    accounts["dropped shutdown"] += 1

    # The thread comes out of its write and ends; what it wrote late is not counted twice.
    drain = threading.Thread(target=reader.read)
    drain.start()
    exporter.shutdown(60)
    writer.close()
    drain.join(60)
    assert _accounts(settings) == accounts


def test_closed_pipe_is_a_state(
    settings: Settings,
    batch: Make,
    pipe: tuple[TextIO, TextIO],
    caplog: pytest.LogCaptureFixture,
) -> None:
    reader, writer = pipe
    reader.close()
    exporter = DebugExporter(settings, DETAILED, writer)
    exporter.start()
    for number in range(3):
        exporter.consume(batch(number))
        _until(lambda: _accounts(settings)["queued"] == 0)
    assert settings.telemetry.condition.state == FAILED
    assert "Broken pipe" in settings.telemetry.condition.detail
    assert _accounts(settings) == {"sent": 0, "rejected output_failed": 3, "queued": 0}
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    exporter.shutdown(20)


def test_closed_stream_is_a_state(settings: Settings, batch: Make) -> None:
    output = io.StringIO()
    output.close()
    exporter = DebugExporter(settings, DETAILED, output)
    exporter.start()
    exporter.consume(batch(1))
    exporter.shutdown(20)
    assert settings.telemetry.condition.state == FAILED
    assert _accounts(settings)["rejected output_failed"] == 1


class FullDisk(io.StringIO):
    """Has no room until it is told to."""

    room = False

    def flush(self) -> None:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_output_may_come_back(settings: Settings, batch: Make) -> None:
    output = FullDisk()
    exporter = DebugExporter(settings, DETAILED, output)
    exporter.start()
    exporter.consume(batch(1))
    _until(lambda: settings.telemetry.condition.state == FAILED)
    output.room = True
    exporter.consume(batch(2))
    exporter.shutdown(20)
    assert settings.telemetry.condition.state == OK
    assert _accounts(settings) == {"sent": 1, "rejected output_failed": 1, "queued": 0}


def test_batch_that_cannot_be_shown_costs_only_itself(
    settings: Settings, batch: Make, caplog: pytest.LogCaptureFixture
) -> None:
    output = io.StringIO()
    exporter = DebugExporter(settings, DETAILED, output)
    exporter.start()
    exporter.consume(Batch("nvml", 10**30, Resource({}), batch(1).points))
    exporter.consume(batch(2))
    exporter.shutdown(20)
    assert _accounts(settings) == {"sent": 1, "dropped internal": 1, "queued": 0}
    assert "could not be shown" in caplog.text
    assert settings.telemetry.condition.state == OK


def test_shutdown_without_start_and_twice(settings: Settings, batch: Make) -> None:
    output = io.StringIO()
    exporter = DebugExporter(settings, DETAILED, output)
    exporter.consume(batch(1))
    exporter.shutdown(0.1)
    exporter.shutdown(0.1)
    assert output.getvalue() == ""
    assert _accounts(settings) == {"sent": 0, "dropped shutdown": 1, "queued": 0}


def test_factory(settings: Settings, batch: Make, capfd: pytest.CaptureFixture[str]) -> None:
    (entry,) = (e for e in entry_points(group="otelgpu.exporters") if e.name == "debug")
    assert entry.load() is FACTORY
    assert FACTORY.signals == {Signal.METRICS, Signal.EVENTS}
    exporter = FACTORY.create(settings, structure({"verbosity": "normal"}, DebugConfig, ""))
    exporter.start()
    exporter.consume(batch(7))
    exporter.shutdown(20)
    sys.stderr.flush()
    out, err = capfd.readouterr()
    assert out == ""
    assert "7 W" in err


def test_unknown_verbosity() -> None:
    with pytest.raises(ConfigError, match="basic, normal, detailed"):
        structure({"verbosity": "loud"}, DebugConfig, "")
