"""Counting faults and telling of them: once each, whoever tells it first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.receivers.nvmlreceiver.harness import ManualClock

from nvmlreceiver.faults.balance import WINDOW, Balance
from nvmlreceiver.faults.catalogue import Catalogue, Kind
from nvmlreceiver.faults.hub import SAME_LOSS, Hub
from nvmlreceiver.faults.sighting import Detail, Gpu, Source, xid
from nvmlreceiver.faults.telling import PAUSE
from otelgpu.points.event import Event, Severity

GPU = "GPU-1"


class Bench:
    """A hub, and what it has told."""

    def __init__(self, patience: float = 0.0) -> None:
        self.clock = ManualClock()
        self.events: list[Event] = []
        self.hub = Hub(Catalogue(), self.clock, self.events.extend, patience)
        self.hub.know([Gpu(GPU, {"hw.id": GPU}, "0000:3b:00.0")])

    def event(self, code: int, times: int = 1) -> None:
        self.hub.see(GPU, code, Source.EVENTS, Detail(), times)

    def line(self, code: int, text: str = "words", pid: int | None = None) -> None:
        self.hub.see(GPU, code, Source.KERNEL, Detail(5, text, pid))

    def after(self, seconds: float) -> None:
        self.clock.now += seconds
        self.hub.tick()

    @property
    def counts(self) -> dict[tuple[str, int], int]:
        return {(f.type, f.code): count for f, count in self.hub.counts()}

    @property
    def last(self) -> set[tuple[str, int]]:
        return {(f.type, f.code) for f, _ in self.hub.last()}

    @property
    def told(self) -> list[tuple[object, object, object]]:
        """Type, code and number of others of each event."""
        return [
            (
                e.attributes["hw.gpu.fault.type"],
                e.attributes["hw.gpu.fault.code"],
                e.attributes["hw.gpu.fault.suppressed_count"],
            )
            for e in self.events
        ]


def test_the_first_is_told_at_once_and_the_rest_once_a_minute() -> None:
    bench = Bench()
    bench.event(31)
    assert bench.told == [("xid", 31, 0)]
    for _ in range(10):
        bench.event(31)
    assert bench.told == [("xid", 31, 0)]
    bench.after(PAUSE - 1)
    assert len(bench.told) == 1
    bench.after(1)
    assert bench.told == [("xid", 31, 0), ("xid", 31, 9)]
    bench.after(10 * PAUSE)
    assert len(bench.told) == 2
    bench.event(31)
    assert bench.told[-1] == ("xid", 31, 0)
    assert bench.counts == {("xid", 31): 12}


@given(st.lists(st.tuples(st.sampled_from([13, 31, 95]), st.integers(1, 50), st.integers(0, 90))))
def test_every_fault_is_told_by_itself_or_in_anothers_number(
    steps: list[tuple[int, int, int]],
) -> None:
    bench = Bench()
    for code, times, seconds in steps:
        bench.event(code, times)
        bench.after(seconds)
    bench.after(PAUSE)
    stands = dict.fromkeys(bench.counts, 0)
    for type_, told, others in bench.told:
        stands[str(type_), int(str(told))] += 1 + int(str(others))
    assert stands == bench.counts


def test_codes_do_not_hold_each_other_up() -> None:
    bench = Bench()
    for code in range(1, 30):
        bench.event(code, 27_586)
    assert {code for _, code, _ in bench.told} == set(range(1, 30))
    assert sum(bench.counts.values()) == 29 * 27_586


def test_severity_and_words() -> None:
    bench = Bench()
    for code in (79, 94, 31, 154, 4711):
        bench.event(code)
    assert [e.severity for e in bench.events] == [
        Severity.FATAL,
        Severity.ERROR,
        Severity.WARN,
        Severity.INFO,
        Severity.WARN,
    ]
    assert bench.events[0].body == f"XID 79 on {GPU}: GPU has fallen off the bus"
    assert "does not know" in bench.events[4].body
    assert "hw.gpu.fault.message" not in bench.events[0].attributes


def test_an_event_and_its_line_are_one_fault() -> None:
    bench = Bench(patience=1.0)
    bench.event(31)
    assert bench.counts == {("xid", 31): 1}, "the count does not wait"
    assert bench.told == []
    bench.after(0.3)
    bench.line(31, "MMU Fault", 1234)
    assert bench.counts == {("xid", 31): 1}
    [event] = bench.events
    assert event.attributes["hw.gpu.fault.message"] == "MMU Fault"
    assert event.attributes["process.pid"] == 1234
    assert event.time == 5


def test_an_event_without_a_line_is_told_all_the_same() -> None:
    bench = Bench(patience=1.0)
    bench.event(31)
    bench.after(0.9)
    assert bench.told == []
    bench.after(0.1)
    assert bench.told == [("xid", 31, 0)]


def test_a_line_before_its_event() -> None:
    bench = Bench(patience=1.0)
    bench.line(31)
    assert bench.told == [("xid", 31, 0)]
    bench.event(31)
    assert bench.counts == {("xid", 31): 1}
    bench.after(PAUSE)
    assert len(bench.told) == 1


def test_a_line_much_later_is_another_fault() -> None:
    bench = Bench()
    bench.event(31)
    bench.after(WINDOW + 0.1)
    bench.line(31)
    assert bench.counts == {("xid", 31): 2}


@pytest.mark.parametrize(("events", "lines"), [(5, 5), (1000, 10), (10, 1000), (0, 3), (3, 0)])
def test_bursts_are_matched_one_to_one(events: int, lines: int) -> None:
    """The kernel limits the rate of its lines: the greater number counts."""
    for order in (("event", "line"), ("line", "event")):
        balance = Balance()
        new = 0
        for kind in order:
            for _ in range(events if kind == "event" else lines):
                source = Source.EVENTS if kind == "event" else Source.KERNEL
                new += balance.new(xid(GPU, 31), source, 1, 0.0)
        assert new == max(events, lines)


def test_a_gpu_that_is_lost_without_a_word_is_one_fault() -> None:
    bench = Bench()
    for _ in range(5):
        bench.hub.lost(GPU, "GPU is lost")
        bench.after(10)
    assert bench.counts == {("lost", 0): 1}
    [event] = bench.events
    assert event.severity is Severity.FATAL
    assert event.attributes["hw.gpu.fault.message"] == "GPU is lost"


def test_an_xid_explains_the_loss_that_follows() -> None:
    bench = Bench()
    bench.event(79)
    bench.after(5)
    bench.hub.well(GPU)
    bench.hub.lost(GPU, "GPU is lost")
    assert bench.counts == {("xid", 79): 1}
    assert bench.told == [("xid", 79, 0)]


def test_an_xid_that_comes_after_the_loss_tells_its_cause_and_is_no_other_fault() -> None:
    bench = Bench()
    bench.hub.lost(GPU, "GPU is lost")
    bench.after(30)
    bench.event(79)
    assert bench.counts == {("lost", 0): 1}
    assert bench.told == [("lost", 0, 0), ("xid", 79, 0)]
    assert bench.last == {("lost", 0), ("xid", 79)}
    bench.event(79)
    assert bench.counts == {("lost", 0): 1, ("xid", 79): 1}


def test_an_application_fault_explains_no_loss() -> None:
    bench = Bench()
    bench.event(31)
    bench.hub.lost(GPU, "GPU is lost")
    assert bench.counts == {("xid", 31): 1, ("lost", 0): 1}
    bench.event(13)
    assert bench.counts[("xid", 13)] == 1


def test_an_old_xid_explains_no_loss() -> None:
    bench = Bench()
    bench.event(79)
    bench.after(SAME_LOSS + 1)
    bench.hub.lost(GPU, "GPU is lost")
    assert bench.counts == {("xid", 79): 1, ("lost", 0): 1}


def test_a_gpu_that_comes_back_and_is_lost_again_is_another_fault() -> None:
    bench = Bench()
    bench.hub.lost(GPU, "GPU is lost")
    bench.hub.well(GPU)
    bench.hub.lost(GPU, "GPU is lost")
    assert bench.counts == {("lost", 0): 2}
    bench.hub.well(GPU)
    bench.event(79)
    bench.hub.lost(GPU, "GPU is lost")
    assert bench.counts == {("lost", 0): 2, ("xid", 79): 1}


def test_what_came_before_the_start_is_told_but_not_counted() -> None:
    bench = Bench(patience=1.0)
    bench.hub.recall(GPU, 79, Detail(1234, "fell off"), 3)
    assert bench.counts == {}
    assert bench.told == [("xid", 79, 2)]
    assert bench.events[0].time == 1234
    assert dict(bench.hub.last()) == {xid(GPU, 79): 1234}


def test_codes_beyond_what_a_driver_has_are_bounded() -> None:
    bench = Bench()
    for code in range(1, 5000):
        bench.event(code)
    assert len(bench.counts) < 300
    assert sum(bench.counts.values()) == 4999


def test_the_catalogue() -> None:
    xids = Catalogue().xids
    assert len(xids) > 100
    assert {code for code, x in xids.items() if x.loses} >= {79, 95, 119, 120}
    assert all(xids[code].kind is Kind.APPLICATION for code in (13, 31, 43, 45))
    assert all(x.meaning and x.meaning == x.meaning.strip() for x in xids.values())
    assert all(x.kind is Kind.FATAL for x in xids.values() if x.loses)
