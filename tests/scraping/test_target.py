"""A target that hangs costs only itself."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from tests.scraping.fakes import LONG, RATIO

from otelgpu.points.batch import Readings
from otelgpu.points.stream import Stream
from otelgpu.scraping.target import Target, TargetReader, _Task

DEADLINE = 0.25
"""Seconds; long beside what a thread needs to begin its work on a busy machine."""


class Device:
    def __init__(self, name: str, act: Callable[[], object] = lambda: None) -> None:
        self.id = name
        self.stream = Stream(RATIO, {"hw.id": name})
        self.reads = 0
        self._act = act

    def read(self, readings: Readings) -> None:
        self.reads += 1
        self._act()
        readings.append((self.stream, 1))


class Driver:
    """Hangs until it is told to answer."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.left = threading.Event()
        self._answers = threading.Event()

    def __call__(self) -> None:
        self.entered.set()
        assert self._answers.wait(LONG)
        self.left.set()

    def answer(self) -> None:
        self._answers.set()


class Mistakes:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, target: Target, error: BaseException) -> None:
        self.seen.append(f"{target.id}: {error!r}")


@contextmanager
def reading(
    name: str, deadline: float = DEADLINE, mistakes: Mistakes | None = None
) -> Iterator[TargetReader]:
    reader = TargetReader(name, deadline, mistakes or Mistakes())
    try:
        yield reader
    finally:
        reader.close()
        wait_until(lambda: not threads(name), f"no thread of {name} is left")


def threads(name: str) -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == name]


def wait_until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < deadline, what
        threading.Event().wait(0.002)


def ids(readings: Readings) -> list[str]:
    return [str(stream.attributes["hw.id"]) for stream, _ in readings]


def names(targets: object) -> list[str]:
    return [target.id for target in targets]  # type: ignore[attr-defined]


def test_all_are_read_in_order_by_one_thread() -> None:
    seen: set[str] = set()
    devices = [Device(n, lambda: seen.add(threading.current_thread().name)) for n in "cab"]
    with reading("order") as reader:
        for _ in range(3):
            cycle = reader.read(devices)
            assert ids(cycle.readings) == ["c", "a", "b"]
            assert (cycle.hung, cycle.unread, cycle.stalled) == ([], [], False)
        assert len(threads("order")) == 1
    assert seen == {"order"}


def test_nothing_to_read_is_nothing() -> None:
    with reading("empty") as reader:
        assert reader.read([]).readings == []


def test_others_are_read_while_one_hangs_and_it_returns_by_itself() -> None:
    driver = Driver()
    targets = [Device("a"), Device("b", driver), Device("c")]
    with reading("one-hangs") as reader:
        for _ in range(2):
            cycle = reader.read(targets)
            assert ids(cycle.readings) == ["a", "c"]
            assert names(cycle.hung) == ["b"]
            assert not cycle.stalled
        assert targets[1].reads == 1, "nothing queues up behind a hung call"
        driver.answer()
        wait_until(lambda: not reader.read(targets).hung, "b is read again")
        cycle = reader.read(targets)
        assert ids(cycle.readings) == ["a", "b", "c"]
        assert reader.hung == frozenset()


def test_a_late_answer_is_never_used() -> None:
    driver = Driver()
    late, other = Device("late", driver), Device("other")
    with reading("late-answer") as reader:
        assert ids(reader.read([late, other]).readings) == ["other"]
        driver.answer()
        assert driver.left.wait(LONG)
        wait_until(lambda: len(threads("late-answer")) == 1, "the left worker ends")
        cycle = reader.read([other])
        assert ids(cycle.readings) == ["other"]
        assert other.reads == 2, "the left worker goes on with nobody"


def test_a_library_that_hangs_costs_two_deadlines_not_one_for_each_gpu() -> None:
    driver = Driver()
    targets = [Device(n, driver) for n in "abcdefgh"]
    with reading("library") as reader:
        began = time.monotonic()
        cycle = reader.read(targets)
        assert time.monotonic() - began < 4 * DEADLINE
        assert cycle.stalled
        assert names(cycle.hung) == ["a", "b"]
        assert names(cycle.unread) == list("cdefgh")
        assert [t.reads for t in targets] == [1, 1, 0, 0, 0, 0, 0, 0]
        driver.answer()


def test_two_that_hang_with_one_between_are_no_library_that_hangs() -> None:
    driver = Driver()
    targets = [Device("a", driver), Device("b"), Device("c", driver), Device("d")]
    with reading("two") as reader:
        cycle = reader.read(targets)
        assert ids(cycle.readings) == ["b", "d"]
        assert names(cycle.hung) == ["a", "c"]
        assert not cycle.stalled
        driver.answer()


def test_no_target_is_begun_after_the_budget_but_for_the_first() -> None:
    with reading("budget") as reader:
        cycle = reader.read([Device("a"), Device("b"), Device("c")], budget=0)
        assert ids(cycle.readings) == ["a"]
        assert names(cycle.unread) == ["b", "c"]
        assert not cycle.hung
        assert not cycle.stalled


def test_the_budget_ends_in_the_middle() -> None:
    slow = threading.Event()
    devices = [Device("a"), Device("b", lambda: slow.wait(0.06)), Device("c")]
    with reading("budget-middle", deadline=LONG) as reader:
        cycle = reader.read(devices, budget=0.05)
        assert names(cycle.unread) == ["c"]
        assert ids(cycle.readings) == ["a", "b"]


@pytest.mark.parametrize("error", [TypeError("mistake"), SystemExit(1)])
def test_a_mistake_of_ours_is_no_hang(error: BaseException) -> None:
    def fail() -> None:
        raise error

    mistakes = Mistakes()
    with reading("mistake", deadline=LONG, mistakes=mistakes) as reader:
        for _ in range(2):
            cycle = reader.read([Device("a", fail), Device("b")])
            assert ids(cycle.readings) == ["b"]
            assert not cycle.hung
    assert mistakes.seen == [f"a: {error!r}"] * 2


def test_close_ends_a_read_in_progress_at_once() -> None:
    driver = Driver()
    after = Device("after")
    with reading("closing", deadline=LONG) as reader:

        def close() -> None:
            driver.entered.wait(LONG)
            reader.close()

        closer = threading.Thread(target=close)
        closer.start()
        began = time.monotonic()
        cycle = reader.read([Device("before"), Device("stuck", driver), after])
        assert time.monotonic() - began < LONG / 2
        assert ids(cycle.readings) == ["before"]
        assert not cycle.hung, "a shutdown is no hang"
        closer.join(LONG)
        driver.answer()
    assert after.reads == 0, "the worker ends with its target"


def test_nothing_is_read_after_close() -> None:
    device = Device("a")
    reader = TargetReader("closed", DEADLINE, Mistakes())
    reader.close()
    reader.close()
    cycle = reader.read([device])
    assert (cycle.readings, names(cycle.unread)) == ([], ["a"])
    assert device.reads == 0
    assert not threads("closed")


def test_close_at_any_moment_leaves_no_thread() -> None:
    """Whatever the moment: also between the check for it and the making of a worker."""
    seed = random.Random(7)
    until = time.monotonic() + 2.0
    rounds = 0
    while rounds < 200 and time.monotonic() < until:
        rounds += 1
        reader = TargetReader("any-moment", DEADLINE, Mistakes())
        pause = seed.random() * 0.0005
        closer = threading.Timer(pause, reader.close)
        closer.start()
        while not reader.read([Device("a"), Device("b")]).unread:
            pass
        closer.join(LONG)
    assert rounds > 10
    wait_until(lambda: not threads("any-moment"), "no thread is left")


def test_answers_are_never_attributed_to_another_target() -> None:
    """Targets that take about their deadline: each is read, hung or unread, and says what it is."""
    seed = random.Random(11)
    deadline = 0.003
    active: set[str] = set()
    lock = threading.Lock()
    overlaps: list[str] = []

    def device(name: str) -> Device:
        def act() -> None:
            with lock:
                if name in active:
                    overlaps.append(name)
                active.add(name)
            if seed.random() < 0.3:
                threading.Event().wait(deadline * (0.8 + 0.4 * seed.random()))
            with lock:
                active.discard(name)

        return Device(name, act)

    devices = [device(str(n)) for n in range(6)]
    until = time.monotonic() + 3.0
    cycles = hangs = 0
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with reading("race", deadline=deadline) as reader:
            while cycles < 400 and time.monotonic() < until:
                cycles += 1
                cycle = reader.read(devices)
                hangs += len(cycle.hung)
                parts = [*ids(cycle.readings), *names(cycle.hung), *names(cycle.unread)]
                assert sorted(parts) == list("012345"), "each target has one fate"
                assert not cycle.unread or cycle.stalled
    finally:
        sys.setswitchinterval(switch)
    assert cycles > 20
    assert hangs
    assert not overlaps, "no target is read by two threads at once"


def test_an_answer_at_the_last_moment_is_no_hang_of_the_next_target() -> None:
    """The deadline runs anew with each answer: nobody is blamed before it was asked."""
    task = _Task([Device("a"), Device("b")], until=float("inf"))
    task.begin()
    began = task.since
    wait_until(lambda: time.monotonic() > began + 0.01, "the deadline of a is over")
    asked = task.answer([])
    assert asked is not None
    assert asked.id == "b"
    assert not task.leave(time.monotonic() - began)
    assert not task.done


def test_the_last_answer_ends_the_task_itself() -> None:
    task = _Task([Device("a")], until=float("inf"))
    task.begin()
    assert task.answer([]) is None
    assert not task.leave(0.0)
    assert task.done
