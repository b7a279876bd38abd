"""When the agent executes itself anew, and what the new execution knows of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from otelgpu.cli.anew import PAUSE, RETRY, VARIABLE, Restarts, uninterruptible


class Clock:
    def __init__(self) -> None:
        self.now = 10_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_nothing_is_wanted_until_it_is_asked_for(clock: Clock) -> None:
    woken: list[int] = []
    restarts = Restarts({}, lambda: woken.append(1), clock)
    assert restarts.left is None
    assert restarts.reason == ""
    restarts.ask("driver_upgraded")
    restarts.ask("library_hung")
    assert restarts.left == 0
    assert restarts.reason == "driver_upgraded"
    assert woken == [1]


def test_not_more_often_than_every_five_minutes(clock: Clock) -> None:
    first = Restarts({}, lambda: None, clock)
    first.ask("driver_upgraded")
    environ = first.environment({"HOME": "/root"})
    assert environ["HOME"] == "/root"
    clock.now += 10
    second = Restarts(environ, lambda: None, clock)
    assert second.counts == {"driver_upgraded": 1}
    second.ask("library_hung")
    assert second.left == PAUSE - 10
    clock.now += PAUSE
    assert second.left == 0
    third = Restarts(second.environment(environ), lambda: None, clock)
    assert third.counts == {"driver_upgraded": 1, "library_hung": 1}


def test_an_execution_that_cannot_be_done_now_is_tried_again(clock: Clock) -> None:
    restarts = Restarts({}, lambda: None, clock)
    restarts.ask("library_hung")
    restarts.postpone()
    assert restarts.left == RETRY
    clock.now += RETRY
    assert restarts.left == 0


@pytest.mark.parametrize(
    "text", ["", "x", "[]", "{}", '{"at": "soon", "counts": {}}', '{"at": 1, "counts": 7}', "null"]
)
def test_a_history_that_is_none_does_no_harm(text: str, clock: Clock) -> None:
    restarts = Restarts({VARIABLE: text}, lambda: None, clock)
    assert restarts.counts == {}
    restarts.ask("driver_upgraded")
    assert restarts.left == 0


def test_a_history_of_before_a_reboot_delays_nothing(clock: Clock) -> None:
    text = '{"at": 99999999, "counts": {"library_hung": 3}}'
    restarts = Restarts({VARIABLE: text}, lambda: None, clock)
    restarts.ask("driver_upgraded")
    assert restarts.left == 0
    assert restarts.counts == {"library_hung": 3}


@pytest.mark.parametrize(
    ("states", "found"),
    [(("S", "R"), False), (("S", "D"), True), ((), False), (("Z",), False)],
)
def test_a_thread_that_cannot_be_interrupted(
    states: tuple[str, ...], found: bool, tmp_path: Path
) -> None:
    for number, state in enumerate(states):
        task = tmp_path / str(number)
        task.mkdir()
        (task / "stat").write_text(f"{number} (a) D name) {state} 1 2 3\n", encoding="ascii")
    assert uninterruptible(tmp_path) is found


def test_the_threads_of_this_process() -> None:
    assert uninterruptible() is False
