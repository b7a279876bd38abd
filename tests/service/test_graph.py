"""Pipelines as configured: what reaches whom, and how often."""

from __future__ import annotations

import pytest
from tests.service.fakes import EVENT, Log, document, environment, watts

from otelgpu.component import Signal
from otelgpu.points.batch import Batch
from otelgpu.service.agent import Agent
from otelgpu.service.graph import build

TWO = """
receivers: {r/a: {}, r/b: {}}
processors: {p: {}}
exporters: {x/a: {}, x/b: {}}
service:
  pipelines:
    metrics: {receivers: [r/a, r/b], processors: [p], exporters: [x/a]}
    metrics/two: {receivers: [r/a], processors: [p], exporters: [x/a, x/b]}
    events: {receivers: [r/b], exporters: [x/b]}
"""


@pytest.fixture
def log() -> Log:
    log = Log()
    build(document(log, TWO), environment())
    return log


def test_fan_in_and_fan_out(log: Log) -> None:
    log["r/a"].hand_over(a=1)
    log["r/b"].hand_over(b=2)
    assert watts(log["x/a"].batches) == [{"a": 1}, {"a": 1}, {"b": 2}], "once for each pipeline"
    assert watts(log["x/b"].batches) == [{"a": 1}]
    assert {batch.source for batch in log["x/a"].batches} == {"r/a", "r/b"}


def test_each_component_is_made_once_but_processors_for_each_pipeline(log: Log) -> None:
    assert {id_: len(made) for id_, made in log.made.items()} == {
        "r/a": 1,
        "r/b": 1,
        "p": 2,
        "x/a": 1,
        "x/b": 1,
    }
    log["r/b"].hand_over(b=2)
    seen = [len(processor.batches) for processor in log.made["p"]]
    assert sorted(seen) == [0, 1], "each sees its own pipeline only"


def test_events_go_through_their_own_pipelines(log: Log) -> None:
    log["r/a"].into.events([EVENT])
    assert not any(fake.events for made in log.made.values() for fake in made)
    log["r/b"].into.events([EVENT])
    assert [batch.events for batch in log["x/b"].events] == [(EVENT,)]
    assert log["x/a"].events == []


def test_streams_end_for_each_pipeline(log: Log) -> None:
    log["r/a"].hand_over(a=1, c=3)
    log["r/a"].hand_over(a=1)
    for id_ in ("x/a", "x/b"):
        ended = [list(batch.ended) for batch in log[id_].batches if batch.ended]
        assert [[s.attributes["hw.id"] for s in streams] for streams in ended]
        assert {str(s.attributes["hw.id"]) for streams in ended for s in streams} == {"c"}


def test_settings_say_who_a_component_is(log: Log) -> None:
    assert log["r/a"].settings.logger.name == "otelgpu.receivers.r/a"
    assert [p.settings.logger.name for p in log.made["p"]] == [
        "otelgpu.processors.p@metrics",
        "otelgpu.processors.p@metrics/two",
    ]
    streams = {id(fake.settings.streams) for made in log.made.values() for fake in made}
    assert len(streams) == 1


def test_the_order_is_downstream_first() -> None:
    log = Log()
    graph = build(document(log, TWO), environment())
    kinds = [named.kind for named in graph.components]
    assert kinds == ["exporters"] * 2 + ["processors"] * 2 + ["receivers"] * 2
    assert {part.kind for part in graph.registry.components} == set(kinds)


CHAIN = """
receivers: {r: {}}
processors: {p/first: {}, p/second: {}}
exporters: {x: {}}
service:
  pipelines:
    metrics: {receivers: [r], processors: [p/first, p/second], exporters: [x]}
"""


def test_processors_run_in_the_order_in_which_they_stand() -> None:
    log = Log()
    build(document(log, CHAIN), environment())
    log["r"].hand_over(a=1)
    first, second, last = (log[id_].batches[0] for id_ in ("p/first", "p/second", "x"))
    assert log["p/first"].into is not log["p/second"].into
    assert first is not second is not last
    assert list(log.made) == ["x", "p/second", "p/first", "r"]


def test_a_component_that_no_pipeline_names_is_not_made() -> None:
    log = Log()
    text = CHAIN.replace("receivers: {r: {}}", "receivers: {r: {}, r/unused: {}}")
    build(document(log, text), environment())
    assert "r/unused" not in log.made


def test_a_processor_that_fails_costs_its_branch_alone() -> None:
    log = Log()
    text = TWO.replace("processors: {p: {}}", "processors: {p: {}, p/bad: {consume: mistake}}")
    text = text.replace("[r/a], processors: [p]", "[r/a], processors: [p/bad]")
    graph = build(document(log, text), environment())
    log["r/a"].hand_over(a=1)
    assert watts(log["x/a"].batches) == [{"a": 1}]
    assert log["x/b"].batches == []
    (bad,) = [p for p in graph.registry.components if p.id == "p/bad@metrics/two"]
    (value,) = [v for s, v in bad.telemetry.collect() if s.metric.name.endswith("component.errors")]
    assert value == 1


OWN = """
receivers: {r: {}}
exporters: {x/a: {}, x/b: {}, x/events: {}}
service:
  telemetry: {metrics: {interval: 1h}}
  pipelines:
    metrics: {receivers: [r], exporters: [x/a]}
    metrics/two: {receivers: [r], exporters: [x/a, x/b]}
    events: {receivers: [r], exporters: [x/events]}
"""


def test_own_telemetry_reaches_each_exporter_of_metrics_once() -> None:
    log = Log()
    agent = Agent(document(log, OWN), environment())
    agent.start()
    try:
        for id_ in ("x/a", "x/b"):
            fake = log[id_]
            fake.wait(lambda fake=fake: own(fake.batches))  # type: ignore[misc]
            assert len(own(fake.batches)) == 1
        assert log["x/events"].batches == []
        (batch,) = own(log["x/a"].batches)
        names = {stream.metric.name for stream, _, _ in batch.points}
        assert {"otelgpu.memory.usage", "otelgpu.exporter.state", "otelgpu.receiver.state"} <= names
        ids = {stream.attributes["otel.component.name"] for stream, _, _ in batch.points}
        assert ids == {"otelgpu", "r", "x/a", "x/b", "x/events"}
    finally:
        agent.stop()


def own(batches: list[Batch]) -> list[Batch]:
    return [batch for batch in batches if batch.source == "otelgpu"]


def test_own_telemetry_can_be_left_out() -> None:
    graph = build(document(Log(), OWN.replace("1h", "0s")), environment())
    assert "telemetry" not in [named.name for named in graph.components]


def test_a_node_with_events_only_has_nowhere_to_send_its_metrics() -> None:
    text = """
receivers: {r: {}}
exporters: {x: {}}
service:
  telemetry: {metrics: {interval: 1s}}
  pipelines:
    events: {receivers: [r], exporters: [x]}
"""
    made = document(Log(), text)
    assert [p.signal for p in made.pipelines.values()] == [Signal.EVENTS]
    graph = build(made, environment())
    assert "telemetry" not in [named.name for named in graph.components]
