"""One thread that scrapes on an interval, whatever a scrape does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scraping.fakes import LONG, RATIO, Door, ManualClock, counted, settings

from otelgpu.points.batch import Readings
from otelgpu.points.stream import Stream
from otelgpu.scraping.controller import ScrapeController, next_tick
from otelgpu.scraping.support import DeviceSupport
from otelgpu.semconv import metrics as m

INTERVAL = timedelta(seconds=10)
STREAM = Stream(RATIO, {})


class FakeScraper:
    def __init__(self, scrape: Callable[[], Readings]) -> None:
        self._scrape = scrape
        self.calls: list[str] = []
        self.restarted: frozenset[str] = frozenset()

    def support(self) -> list[DeviceSupport]:
        return []

    def release(self) -> None:
        self.calls.append("release")

    def start(self) -> None:
        self.calls.append("start")

    def scrape(self) -> Readings:
        return self._scrape()

    def shutdown(self, timeout: float) -> None:
        self.calls.append("shutdown")


class Bench:
    """A controller whose waits move the clock; it ends after some scrapes."""

    def __init__(self, scrapes: int, act: Callable[[Bench], None] = lambda _: None) -> None:
        self.clock = ManualClock(1000.0)
        self.settings = settings(self.clock)
        self.door = Door()
        self.began: list[float] = []
        self.waits: list[float] = []
        self._left = scrapes
        self._act = act
        self.scraper = FakeScraper(self._scrape)
        self.controller = ScrapeController(
            self.settings, INTERVAL, self.scraper, self.door, self._wait
        )

    def _scrape(self) -> Readings:
        self.began.append(self.clock.now)
        self._act(self)
        return [(STREAM, 0.5)]

    def _wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.clock.now += seconds
        self._left -= 1
        return self._left <= 0

    def run(self) -> None:
        self.controller.start()
        for thread in [t for t in threading.enumerate() if t.name == "fake"]:
            thread.join(LONG)
            assert not thread.is_alive()


def test_it_scrapes_at_once_and_then_on_its_interval() -> None:
    bench = Bench(4)
    bench.run()
    assert bench.began == [1000, 1010, 1020, 1030]
    assert bench.door.batches == [[(STREAM, 0.5)]] * 4
    assert counted(bench.settings, m.OTELGPU_SCRAPE_POINTS) == {(): 4}
    assert counted(bench.settings, m.OTELGPU_SCRAPE_DURATION) == {(): 0}


def test_the_duration_is_taken_off_the_wait() -> None:
    def slow(bench: Bench) -> None:
        bench.clock.now += 3

    bench = Bench(3, slow)
    bench.run()
    assert bench.began == [1000, 1010, 1020]
    assert bench.waits == [7, 7, 7]
    assert counted(bench.settings, m.OTELGPU_SCRAPE_DURATION) == {(): 3}


def test_ticks_missed_by_an_overrun_are_skipped() -> None:
    def overrun(bench: Bench) -> None:
        bench.clock.now += 34 if len(bench.began) == 1 else 0

    bench = Bench(3, overrun)
    bench.run()
    assert bench.began == [1000, 1040, 1050]


def test_the_next_tick_is_never_nearer_than_half_an_interval() -> None:
    def overrun(bench: Bench) -> None:
        bench.clock.now += 17 if len(bench.began) == 1 else 0

    bench = Bench(3, overrun)
    bench.run()
    assert bench.began == [1000, 1030, 1040]


def test_an_exception_is_logged_and_the_thread_lives(caplog: pytest.LogCaptureFixture) -> None:
    def fail(bench: Bench) -> None:
        if len(bench.began) < 3:
            raise ZeroDivisionError("mistake")

    bench = Bench(4, fail)
    bench.run()
    assert len(bench.began) == 4
    assert len(bench.door.batches) == 2
    assert [r.getMessage() for r in caplog.records] == ["scrape failed"] * 2
    assert "ZeroDivisionError: mistake" in caplog.text


def test_nothing_is_handed_over_when_stopping() -> None:
    """A scrape that the shutdown has cut short lacks streams that have not ended."""
    entered, cut = threading.Event(), threading.Event()
    door = Door()

    def scrape() -> Readings:
        entered.set()
        assert cut.wait(LONG)
        return [(STREAM, 0.5)]

    class Cut(FakeScraper):
        def shutdown(self, timeout: float) -> None:
            cut.set()

    controller = ScrapeController(settings(), INTERVAL, Cut(scrape), door)
    controller.start()
    assert entered.wait(LONG)
    controller.shutdown(LONG)
    assert door.batches == []
    assert not [t for t in threading.enumerate() if t.name == "fake"]


def test_shutdown_ends_the_wait_at_once() -> None:
    done = threading.Event()

    def scrape() -> Readings:
        done.set()
        return []

    controller = ScrapeController(settings(), timedelta(days=1), FakeScraper(scrape), Door())
    controller.start()
    assert done.wait(LONG)
    controller.shutdown(LONG)
    controller.shutdown(LONG)
    assert not [t for t in threading.enumerate() if t.name == "fake"]


def test_shutdown_without_start_and_after_a_start_that_failed() -> None:
    class Broken(FakeScraper):
        def start(self) -> None:
            raise OSError("no")

    Bench(1).controller.shutdown(1.0)
    controller = ScrapeController(settings(), INTERVAL, Broken(list), Door())
    with pytest.raises(OSError, match="no"):
        controller.start()
    controller.shutdown(1.0)


moments = st.floats(0, 1e9)


@given(due=moments, overrun=st.floats(0, 1e6), interval=st.floats(1e-3, 1e5))
def test_next_tick(due: float, overrun: float, interval: float) -> None:
    now = due + overrun
    tick = next_tick(due, now, interval)
    error = 1e-6 * max(1.0, interval)
    assert tick >= now + interval / 2 - error, "never nearer than half an interval"
    assert tick <= max(due + interval, now + 1.5 * interval) + error, "none is left out"
    steps = (tick - due) / interval
    assert abs(steps - round(steps)) * interval < 1e-3 * interval + error, "the phase is kept"


def test_next_tick_without_an_overrun_is_one_interval_later() -> None:
    assert next_tick(100, 100, 10) == 110
    assert next_tick(100, 105, 10) == 110
    assert next_tick(100, 105.1, 10) == 120
