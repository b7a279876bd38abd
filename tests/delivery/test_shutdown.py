from __future__ import annotations

import threading
import time

import pytest
from attrs import evolve
from tests.delivery.harness import Harness, ScriptedTransport
from tests.delivery.samples import batch, event_batch

from otelgpu.delivery.outcome import Accepted, Outcome, Retry, Unauthorized

REFUSED = Retry("unreachable", "Connection refused", answered=False)


class HangingTransport(ScriptedTransport):
    """Answers nothing until it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self._released = threading.Event()

    late: Outcome = Retry("unreachable", "closed", answered=False)

    def send(self, payload: bytes, timeout: float) -> Outcome:
        self.entered.set()
        self._released.wait()
        return self.late

    def close(self) -> None:
        super().close()
        self._released.set()


class StubbornTransport(HangingTransport):
    """Answers nothing even when it is closed, until it is let go: too late then."""

    late = Accepted()

    def close(self) -> None:
        self.closed = True

    def let_go(self) -> None:
        super().close()


def test_what_is_queued_is_sent_at_shutdown_without_the_rest_of_a_wait() -> None:
    harness = Harness([REFUSED] * 3)
    harness.worker.consume(batch(2))
    harness.worker.consume_events(event_batch(1))
    harness.worker.step()
    harness.worker.start()
    harness.worker.shutdown(5)
    assert harness.points.ledger.totals.sent == 2
    assert harness.events.ledger.totals.sent == 1
    assert sum(harness.slept) < 2
    assert harness.scripted.closed


@pytest.mark.parametrize(
    ("answer", "attempts"),
    [(REFUSED, 3), (evolve(REFUSED, after=60.0), 1), (Unauthorized("401", "HTTP 401"), 1)],
)
def test_a_destination_that_stays_away_is_not_waited_for(
    answer: Outcome, attempts: int, caplog: pytest.LogCaptureFixture
) -> None:
    harness = Harness([answer] * 50)
    for _ in range(5):
        harness.worker.consume(batch(2))
    harness.points.drain(harness.clock.now + 10, harness._sleep)
    assert len(harness.scripted.sent) == attempts
    harness.worker.shutdown(1)
    totals = harness.points.ledger.totals
    assert (totals.dropped, totals.queued, totals.missing) == ({"shutdown": 10}, 0, 0)
    assert "10 points for http://example.test lost at shutdown" in caplog.text


def test_attempts_at_shutdown_end_with_its_deadline() -> None:
    harness = Harness()
    harness.worker.consume(batch(1))
    harness.points.drain(harness.clock.now + 3, harness._sleep)
    assert harness.scripted.timeouts == [pytest.approx(3)]


def test_a_signal_that_hangs_leaves_the_other_its_share_of_the_time() -> None:
    harness = Harness(events_transport=(events := ScriptedTransport()))

    def hang(payload: bytes) -> Outcome:
        harness.clock.advance(harness.scripted.timeouts[-1])
        return Retry("timeout", "no answer", answered=False)

    harness.scripted.script.extend([hang] * 9)
    harness.worker.consume(batch(1))
    harness.worker.consume_events(event_batch(1))
    harness.worker._drain(harness.clock.now + 10)
    assert events.timeouts == [pytest.approx(5)]
    assert harness.events.ledger.totals.sent == 1


def test_consume_never_waits_for_a_transport_that_hangs() -> None:
    transport = HangingTransport()
    harness = Harness(transport=transport)
    harness.worker.start()
    harness.worker.consume(batch(1))
    assert transport.entered.wait(10)
    consumed = threading.Event()

    def feed() -> None:
        for _ in range(100):
            harness.worker.consume(batch(3))
        consumed.set()

    feeder = threading.Thread(target=feed)
    feeder.start()
    assert consumed.wait(10)
    feeder.join()
    harness.worker.shutdown(1)
    totals = harness.points.ledger.totals
    assert (totals.accepted, totals.dropped, totals.missing) == (301, {"shutdown": 301}, 0)


def test_shutdown_keeps_to_its_time_and_a_late_answer_is_not_counted_twice() -> None:
    transport = StubbornTransport()
    harness = Harness(transport=transport)
    harness.worker.start()
    harness.worker.consume(batch(5))
    assert transport.entered.wait(10)
    begun = time.monotonic()
    harness.worker.shutdown(0.3)
    assert time.monotonic() - begun < 5
    before = harness.points.ledger.totals
    assert (before.dropped, before.queued) == ({"shutdown": 5}, 0)
    transport.let_go()
    thread = harness.worker._thread
    assert thread is not None
    thread.join(10)
    assert not thread.is_alive()
    assert harness.points.ledger.totals == before


def test_shutdown_may_come_before_start_and_twice() -> None:
    harness = Harness()
    harness.worker.shutdown(1)
    harness.worker.shutdown(1)
    harness.worker.consume(batch(2))
    totals = harness.points.ledger.totals
    assert (totals.accepted, totals.dropped, totals.queued) == (2, {"shutdown": 2}, 0)


def test_keys_and_certificates_are_checked_at_start() -> None:
    class Broken(ScriptedTransport):
        def open(self) -> None:
            raise FileNotFoundError(2, "No such file", "ca.pem")

    harness = Harness(transport=Broken())
    with pytest.raises(FileNotFoundError):
        harness.worker.start()
    harness.worker.shutdown(1)
