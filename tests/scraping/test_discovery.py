"""Finding devices never ends: neither by an error nor by "none"."""

from __future__ import annotations

import pytest
from tests.scraping.fakes import Card, Library, ManualClock

from otelgpu.scraping.discovery import Discovery
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError


class Bench:
    def __init__(self, interval: float = 60.0) -> None:
        self.clock = ManualClock()
        self.library = Library([Card("a")])
        self.discovery: Discovery[Card] = Discovery(
            self.library, interval, self.clock.monotonic, shortest=1.0
        )

    def search(self) -> None:
        assert self.discovery.due
        self.discovery.read([])

    def wait(self) -> float:
        """Move to the moment of the next search; return how long that took."""
        began = self.clock.now
        while not self.discovery.due:
            self.clock.now += 0.5
            assert self.clock.now < began + 1e6
        return self.clock.now - began

    def fail(self, error: Exception | None) -> None:
        def act() -> None:
            if error is not None:
                raise error

        self.library.on_discover = act


def test_it_is_due_at_once_and_then_by_its_interval() -> None:
    bench = Bench()
    bench.search()
    assert [d.id for d in bench.discovery.inventory.devices] == ["a"]
    assert bench.discovery.error is None
    assert bench.wait() == 60.0


def test_failures_are_tried_again_with_a_back_off_up_to_the_interval() -> None:
    bench = Bench(interval=20.0)
    bench.fail(ReadError("driver_not_loaded"))
    waits = []
    for _ in range(7):
        bench.search()
        assert bench.discovery.error is not None
        assert bench.discovery.error.reason == "driver_not_loaded"
        waits.append(bench.wait())
    assert waits == [1, 2, 4, 8, 16, 20, 20]
    bench.fail(None)
    bench.search()
    assert bench.discovery.error is None
    assert bench.wait() == 20.0
    bench.fail(ReadError("driver_not_loaded"))
    bench.search()
    assert bench.discovery.inventory.devices == []
    assert bench.wait() == 1.0, "the back-off began anew"


def test_failing_for_ever_does_not_overflow() -> None:
    bench = Bench()
    bench.fail(ReadError("driver_not_loaded"))
    for _ in range(2000):
        bench.search()
        bench.wait()
    assert bench.discovery.finds == 2000


def test_no_device_is_a_state_and_no_final_answer() -> None:
    bench = Bench()
    bench.library.cards = []
    bench.search()
    assert bench.discovery.error is not None
    assert bench.discovery.error.reason == "no_devices"
    assert bench.wait() == 1.0


@pytest.mark.parametrize("error", [TargetLostError("off the bus"), UnsupportedError("x")])
def test_devices_that_are_all_unreadable_are_no_state_of_the_library(error: ReadError) -> None:
    bench = Bench()
    bench.library.cards = []
    bench.library.unreadable = [("index 0", error)]
    bench.search()
    assert bench.discovery.error is not None
    assert bench.discovery.error.reason == "device_unreadable"
    assert str(bench.discovery.error) == f"index 0: {error}"


def test_a_mistake_of_ours_backs_off_as_well() -> None:
    bench = Bench()
    bench.fail(TypeError("mistake"))
    for expected in (1, 2, 4):
        with pytest.raises(TypeError):
            bench.search()
        assert bench.wait() == expected
    assert bench.discovery.error is not None
    assert bench.discovery.error.reason == "internal"
    assert bench.discovery.finds == 3


def test_devices_that_do_not_answer_are_searched_for_sooner() -> None:
    bench = Bench()
    waits = []
    for _ in range(8):
        bench.search()
        for _ in range(3):
            bench.discovery.settle(well=False)
        waits.append(bench.wait())
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60], "once for each search"
    bench.discovery.settle(well=True)
    bench.search()
    bench.discovery.settle(well=False)
    assert bench.wait() == 1.0
