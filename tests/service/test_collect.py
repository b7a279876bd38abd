"""Reading once what a configuration would send."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from tests.service.fakes import BOTH, LONG, Fake, FakeConfig, Log, Lookup, document, environment

from otelgpu.component import HandOver, ReceiverFactory, Settings, Stability
from otelgpu.service.collect import Collected, collect
from otelgpu.service.lifecycle import StartError


class Source(Fake):
    """A receiver that hands over what a test says, from a thread of its own."""

    script: Any = staticmethod(lambda _: None)

    def start(self) -> None:
        super().start()
        self.thread = threading.Thread(target=self.script, args=(self,))
        self.thread.start()

    def shutdown(self, timeout: float) -> None:
        super().shutdown(timeout)
        self.thread.join(LONG)


class Bench:
    def __init__(self, scrapes: int = 1, **scripts: Any) -> None:
        self.log = Log()
        self.scripts = scripts
        factories: Any = {
            ("receivers", type_): ReceiverFactory(
                type_, FakeConfig, self._create, Stability.BETA, BOTH, scrapes
            )
            for type_ in scripts
        }
        self.lookup = Lookup(self.log, factories)

    def _create(self, settings: Settings, config: FakeConfig, hand_over: HandOver) -> Fake:
        source = Source(self.log, settings, config, hand_over)
        source.script = self.scripts[settings.id]
        self.log.made.setdefault(settings.id, []).append(source)
        return source

    def collect(self, text: str, timeout: float = LONG) -> Collected:
        return collect(document(self.log, text, self.lookup), environment(), timeout)


ONE = """
receivers: {a: {collection_interval: 1h}}
exporters: {x: {}}
service: {pipelines: {metrics: {receivers: [a], exporters: [x]}}}
"""
BOTH_SOURCES = """
receivers: {a: {}, b: {}}
exporters: {x: {}}
service: {pipelines: {metrics: {receivers: [a, b], exporters: [x]}}}
"""


def values(collected: Collected) -> list[dict[str, float]]:
    return [
        {str(s.attributes["hw.id"]): value for s, value, _ in batch.points}
        for batch in collected.batches
    ]


def test_one_read() -> None:
    bench = Bench(a=lambda source: source.hand_over(gpu=7))
    collected = bench.collect(ONE)
    assert values(collected) == [{"gpu": 7}]
    assert collected.complete
    assert [(r.id, r.state) for r in collected.receivers] == [("a", "ok")]
    assert "x" not in bench.log.made, "nothing is sent"
    assert bench.log.calls == ["start a", "shutdown a"]


def test_nobody_waits_longer_than_a_second_for_the_next_read() -> None:
    bench = Bench(a=lambda source: source.hand_over(gpu=7))
    bench.collect(ONE)
    assert bench.log["a"].config.collection_interval == timedelta(seconds=1)


def test_as_many_reads_as_rates_need() -> None:
    def twice(source: Source) -> None:
        source.hand_over(gpu=1)
        source.hand_over(gpu=2)

    assert values(Bench(2, a=twice).collect(ONE)) == [{"gpu": 2}]


def test_too_few_reads_are_not_complete() -> None:
    collected = Bench(2, a=lambda source: source.hand_over(gpu=1)).collect(ONE, timeout=0.1)
    assert not collected.complete
    assert values(collected) == [{"gpu": 1}]


def test_a_receiver_without_devices_comes_to_its_end() -> None:
    def none(source: Source) -> None:
        source.settings.telemetry.enter("nvml.library_not_found", "tried all")
        source.hand_over()

    collected = Bench(a=none).collect(ONE)
    assert collected.complete
    assert collected.batches == []
    (receiver,) = collected.receivers
    assert (receiver.state, receiver.detail) == ("nvml.library_not_found", "tried all")
    assert receiver.remedy


def test_a_receiver_that_hangs_costs_itself_and_the_timeout() -> None:
    stop = threading.Event()
    bench = Bench(a=lambda source: source.hand_over(gpu=7), b=lambda _: stop.wait(LONG))
    began = time.monotonic()
    release = threading.Timer(1.0, stop.set)
    release.start()
    collected = bench.collect(BOTH_SOURCES, timeout=0.2)
    assert time.monotonic() - began < LONG / 2
    assert values(collected) == [{"gpu": 7}]
    assert not collected.complete
    release.join()


def test_two_receivers() -> None:
    collected = Bench(
        a=lambda source: source.hand_over(a=1), b=lambda source: source.hand_over(b=2)
    ).collect(BOTH_SOURCES)
    assert sorted(map(sorted, values(collected))) == [["a"], ["b"]]
    assert collected.complete


def test_two_pipelines_show_each_stream_once() -> None:
    text = """
receivers: {a: {}}
processors: {p: {}}
exporters: {x: {}}
service:
  pipelines:
    metrics: {receivers: [a], exporters: [x]}
    metrics/two: {receivers: [a], processors: [p], exporters: [x]}
"""
    collected = Bench(a=lambda source: source.hand_over(a=1, b=2)).collect(text)
    (batch,) = collected.batches
    streams = [stream for stream, _, _ in batch.points]
    assert len(streams) == len(set(streams)) == 2


def test_a_receiver_of_events_only_is_not_waited_for() -> None:
    text = """
receivers: {a: {}, b: {}}
exporters: {x: {}}
service:
  pipelines:
    metrics: {receivers: [a], exporters: [x]}
    events: {receivers: [b], exporters: [x]}
"""
    bench = Bench(a=lambda source: source.hand_over(a=1), b=lambda _: None)
    collected = bench.collect(text, timeout=LONG)
    assert collected.complete
    assert [r.id for r in collected.receivers] == ["a", "b"]


def test_a_receiver_that_cannot_start() -> None:
    bench = Bench(a=lambda _: None)
    text = ONE.replace("1h", "1h, start: no permission")
    with pytest.raises(StartError, match="receivers::a could not start: no permission"):
        bench.collect(text)
    assert bench.log.calls == ["start a", "shutdown a"]
