"""One stream for each metric and attributes, for as long as somebody holds it."""

from __future__ import annotations

import gc
import threading

from otelgpu.points.metric import Instrument, Metric, ValueType
from otelgpu.points.stream import Attributes, Stream, Streams

WATTS = Metric("watts", "W", Instrument.GAUGE, ValueType.DOUBLE, "")
OTHER = Metric("watts", "W", Instrument.GAUGE, ValueType.DOUBLE, "")


def test_the_same_key_gives_the_same_stream() -> None:
    streams = Streams()
    stream = streams.get(WATTS, {"a": 1, "b": "x"})
    assert streams.get(WATTS, {"b": "x", "a": 1}) is stream
    assert stream.attributes == {"a": 1, "b": "x"}
    assert stream.metric is WATTS


def test_another_key_gives_another_stream() -> None:
    streams = Streams()
    variants: list[Attributes] = [{}, {"a": "1"}, {"a": "2"}, {"b": "1"}, {"a": "1", "b": "1"}]
    kept = [streams.get(metric, v) for metric in (WATTS, OTHER) for v in variants]
    assert len(set(kept)) == len(kept) == len(streams)


def test_a_stream_does_not_change_with_the_caller_s_mapping() -> None:
    streams = Streams()
    attributes = {"pid": 1}
    first = streams.get(WATTS, attributes)
    attributes["pid"] = 2
    second = streams.get(WATTS, attributes)
    assert (first.attributes, second.attributes) == ({"pid": 1}, {"pid": 2})


def test_what_nobody_holds_is_forgotten() -> None:
    streams = Streams()
    kept = streams.get(WATTS, {"pid": 0})
    for pid in range(1, 1000):
        streams.get(WATTS, {"pid": pid})
    gc.collect()
    assert len(streams) == 1
    assert streams.get(WATTS, {"pid": 0}) is kept


def test_threads_that_ask_at_once_get_the_same() -> None:
    streams = Streams()
    barrier = threading.Barrier(8)
    found: list[list[Stream]] = []

    def ask() -> None:
        barrier.wait(20)
        found.append([streams.get(WATTS, {"n": n}) for n in range(200)])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(found) == 8
    assert all(one == found[0] for one in found)
