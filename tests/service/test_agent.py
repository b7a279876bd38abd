"""Start downstream first, stop upstream first, whatever a component does."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from tests.service.fakes import LONG, Log, document, environment

from otelgpu.service.agent import Agent, StartError
from otelgpu.service.lifecycle import _GRACE

TEXT = """
receivers: {{r: {{{receiver}}}}}
processors: {{p: {{{processor}}}}}
exporters: {{x/a: {{{exporter}}}, x/b: {{}}}}
service:
  shutdown_timeout: {timeout}
  pipelines:
    metrics: {{receivers: [r], processors: [p], exporters: [x/a, x/b]}}
"""


def agent(
    log: Log, receiver: str = "", processor: str = "", exporter: str = "", timeout: str = "10s"
) -> Agent:
    text = TEXT.format(receiver=receiver, processor=processor, exporter=exporter, timeout=timeout)
    return Agent(document(log, text), environment())


@pytest.fixture
def log() -> Iterator[Log]:
    log = Log()
    yield log
    log.released.set()
    deadline = time.monotonic() + LONG
    while [t for t in threading.enumerate() if t.name.startswith("stop ")]:
        assert time.monotonic() < deadline, "a thread is left"
        threading.Event().wait(0.005)


STARTED = ["start x/a", "start x/b", "start p", "start r"]


def test_the_most_downstream_starts_first_and_stops_last(log: Log) -> None:
    made = agent(log)
    made.start()
    assert log.calls == STARTED
    log.calls.clear()
    made.stop()
    assert log.calls[:2] == ["shutdown r", "shutdown p"]
    assert sorted(log.calls[2:]) == ["shutdown x/a", "shutdown x/b"]
    log.calls.clear()
    made.stop()
    assert log.calls == [], "stopped once"


def test_stop_without_start(log: Log) -> None:
    agent(log).stop()
    assert log.calls == []


def test_a_start_that_fails_unwinds_what_was_started(log: Log) -> None:
    made = agent(log, processor="start: no such file")
    with pytest.raises(StartError, match=r"^processors::p could not start: no such file$"):
        made.start()
    assert log.calls[:3] == STARTED[:3]
    assert log.calls[3] == "shutdown p", "half a start may have left something"
    assert sorted(log.calls[4:]) == ["shutdown x/a", "shutdown x/b"]


def test_a_component_that_raises_is_logged_and_the_others_are_stopped(
    log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    made = agent(log, receiver="shutdown: raise")
    made.start()
    made.stop()
    assert len([call for call in log.calls if call.startswith("shutdown")]) == 4
    assert "receivers::r did not stop well" in caplog.text
    assert "cannot stop" in caplog.text


@pytest.mark.parametrize("kind", ["receiver", "processor", "exporter"])
def test_a_component_that_hangs_is_left_behind(
    log: Log, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    made = agent(log, **{kind: "shutdown: hang"}, timeout="1s")
    made.start()
    began = time.monotonic()
    made.stop()
    took = time.monotonic() - began
    assert took < 1 + _GRACE + 1
    assert len([call for call in log.calls if call.startswith("shutdown")]) == 4
    name = {"receiver": "receivers::r", "processor": "processors::p", "exporter": "exporters::x/a"}
    words = f"{name[kind]} did not stop in time and is left behind"
    assert [record.getMessage() for record in caplog.records] == [words]


def test_exporters_have_time_to_drain_whatever_is_before_them(log: Log) -> None:
    """Neither a receiver that hangs nor another exporter may use up the time of an exporter."""
    made = agent(log, receiver="shutdown: hang", exporter="shutdown: hang", timeout="2s")
    made.start()
    made.stop()
    (receiver,), (first,), (second,) = (log[id_].timeouts for id_ in ("r", "x/a", "x/b"))
    assert receiver <= 1.0, "half of what there is"
    assert first == pytest.approx(second, abs=0.1), "both at once, with the same time"


def test_the_time_to_drain_is_what_is_left(log: Log) -> None:
    made = agent(log, timeout="8s")
    made.start()
    made.stop()
    assert 3.0 < log["r"].timeouts[0] <= 4.0
    assert 7.0 < log["x/a"].timeouts[0] <= 8.0


HEALTH = """
receivers: {r: {}}
exporters: {x: {start: "no such host"}}
extensions: {health_check: {endpoint: "127.0.0.1:0"}}
service:
  extensions: [health_check]
  pipelines:
    metrics: {receivers: [r], exporters: [x]}
"""


def test_extensions_are_stopped_when_a_component_cannot_start(log: Log) -> None:
    made = Agent(document(log, HEALTH), environment())
    with pytest.raises(StartError, match="exporters::x could not start"):
        made.start()
    deadline = time.monotonic() + LONG
    while [t for t in threading.enumerate() if t.name == "health_check"]:
        assert time.monotonic() < deadline
        threading.Event().wait(0.005)
