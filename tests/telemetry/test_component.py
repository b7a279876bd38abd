"""What one component counts, sets and says of its state."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from otelgpu.points.stream import Streams
from otelgpu.semconv import metrics as m
from otelgpu.telemetry.component import OK, STARTING, ComponentTelemetry, Condition, Observation

COMMON = {"otel.component.type": "fake", "otel.component.name": "fake/one"}


def telemetry() -> ComponentTelemetry:
    return ComponentTelemetry(COMMON, Streams())


def values(of: ComponentTelemetry) -> dict[tuple[str, frozenset[tuple[str, object]]], float]:
    found: dict[tuple[str, frozenset[tuple[str, object]]], float] = {}
    for stream, value in of.collect():
        assert COMMON.items() <= stream.attributes.items()
        own = frozenset(stream.attributes.items() - COMMON.items())
        assert (stream.metric.name, own) not in found, "stands twice"
        found[stream.metric.name, own] = value
    return found


def key(name: str, **attributes: object) -> tuple[str, frozenset[tuple[str, object]]]:
    return name, frozenset(attributes.items())


def test_add_counts_by_attributes() -> None:
    t = telemetry()
    t.add(m.OTELGPU_SCRAPE_POINTS, 5)
    t.add(m.OTELGPU_SCRAPE_POINTS)
    t.add(m.OTELGPU_COMPONENT_ERRORS, 1, {"error.type": "a"})
    t.add(m.OTELGPU_COMPONENT_ERRORS, 2, {"error.type": "b"})
    assert values(t) == {
        key("otelgpu.scrape.points"): 6,
        key("otelgpu.component.errors", **{"error.type": "a"}): 1,
        key("otelgpu.component.errors", **{"error.type": "b"}): 2,
    }


def test_a_counter_that_stands_at_zero_is_sent() -> None:
    t = telemetry()
    t.add(m.OTELGPU_SCRAPE_POINTS, 0)
    assert values(t) == {key("otelgpu.scrape.points"): 0}


def test_set_replaces() -> None:
    t = telemetry()
    t.set(m.OTELGPU_DEVICE_COUNT, 8)
    t.set(m.OTELGPU_DEVICE_COUNT, 7)
    assert values(t) == {key("otelgpu.device.count"): 7}


def test_forget_ends_all_streams_of_a_metric_and_no_other() -> None:
    t = telemetry()
    t.set(m.OTELGPU_DEVICE_COUNT, 8, {"hw.vendor": "NVIDIA"})
    t.set(m.OTELGPU_DEVICE_COUNT, 8, {"hw.vendor": "AMD"})
    t.set(m.OTELGPU_RECEIVER_UP, 1)
    t.forget(m.OTELGPU_DEVICE_COUNT)
    t.forget(m.OTELGPU_MEMORY_USAGE)
    assert values(t) == {key("otelgpu.receiver.up"): 1}


def test_forget_can_end_what_belongs_to_one_device() -> None:
    t = telemetry()
    for device in ("a", "b"):
        t.add(m.OTELGPU_SCRAPE_DROPPED, 1, {"hw.id": device, "error.type": "lost"})
    t.add(m.OTELGPU_SCRAPE_DROPPED, 1, {"error.type": "unsupported"})
    t.forget(m.OTELGPU_SCRAPE_DROPPED, {"hw.id": "a"})
    assert values(t) == {
        key("otelgpu.scrape.dropped", **{"error.type": "lost", "hw.id": "b"}): 1,
        key("otelgpu.scrape.dropped", **{"error.type": "unsupported"}): 1,
    }


def test_streams_keep_their_identity() -> None:
    t = telemetry()
    t.add(m.OTELGPU_SCRAPE_POINTS, 1)
    (first,) = t.collect()
    t.add(m.OTELGPU_SCRAPE_POINTS, 1)
    (second,) = t.collect()
    assert first[0] is second[0]


def test_observers_are_asked_at_each_collection() -> None:
    t = telemetry()
    size = 0

    def observe() -> Iterator[Observation]:
        yield m.OTELGPU_EXPORTER_QUEUE_SIZE, size, {}

    t.observe(observe)
    assert values(t) == {key("otelgpu.exporter.queue.size"): 0}
    size = 7
    assert values(t) == {key("otelgpu.exporter.queue.size"): 7}


def test_an_observer_that_raises_costs_its_own_values_alone() -> None:
    t = telemetry()
    t.set(m.OTELGPU_RECEIVER_UP, 1)

    def broken() -> Iterator[Observation]:
        yield m.OTELGPU_EXPORTER_QUEUE_SIZE, 1, {}
        raise ZeroDivisionError

    t.observe(broken)
    t.observe(lambda: [(m.OTELGPU_DEVICE_COUNT, 8, {})])
    expected = {
        key("otelgpu.receiver.up"): 1,
        key("otelgpu.device.count"): 8,
        key("otelgpu.component.errors", **{"error.type": "ZeroDivisionError"}): 1,
    }
    found = values(t)
    found.pop(key("otelgpu.exporter.queue.size"), None)
    assert found == expected


def test_an_observer_may_use_the_telemetry_itself() -> None:
    t = telemetry()

    def observe() -> Iterator[Observation]:
        t.add(m.OTELGPU_SCRAPE_POINTS)
        yield m.OTELGPU_DEVICE_COUNT, 1, {}

    t.observe(observe)
    thread = threading.Thread(target=t.collect, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "the lock is held while an observer is asked"


def test_entering_a_state_says_whether_that_is_news() -> None:
    t = telemetry()
    assert t.condition == Condition(STARTING)
    assert t.enter(OK, "8 devices")
    assert not t.enter(OK, "7 devices")
    assert t.condition == Condition(OK, "7 devices"), "the detail is the latest all the same"
    assert t.enter("nvml.device_lost")
    assert t.condition == Condition("nvml.device_lost")


def test_nothing_is_lost_between_threads() -> None:
    t = telemetry()
    barrier = threading.Barrier(6)

    def count() -> None:
        barrier.wait(20)
        for _ in range(2000):
            t.add(m.OTELGPU_SCRAPE_POINTS)

    threads = [threading.Thread(target=count) for _ in range(5)]
    for thread in threads:
        thread.start()
    barrier.wait(20)
    seen = []
    while any(thread.is_alive() for thread in threads):
        seen += [value for _, value in t.collect()]
    for thread in threads:
        thread.join(20)
    assert values(t) == {key("otelgpu.scrape.points"): 10_000}
    assert seen == sorted(seen)
