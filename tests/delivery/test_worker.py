"""The rows of the outcome table, with time that only the test moves."""

from __future__ import annotations

import gc
import gzip
import logging
import weakref
from collections.abc import Callable
from datetime import timedelta

import pytest
from attrs import evolve
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from tests.delivery.harness import Harness, ScriptedTransport
from tests.delivery.samples import POWER, RESOURCE, TIME, batch, event_batch
from tests.fakes.otlp import points

from otelgpu.delivery.outcome import (
    Accepted,
    Outcome,
    Permanent,
    Retry,
    TooLarge,
    Unauthorized,
)
from otelgpu.delivery.queue import BatchConfig, QueueConfig
from otelgpu.delivery.retry import RetryConfig
from otelgpu.points.batch import Batch
from otelgpu.points.stream import Stream

UNAVAILABLE = Retry("503", "HTTP 503: busy")
REFUSED = Retry("unreachable", "Connection refused", answered=False)


def times(payloads: list[bytes]) -> list[int]:
    """Return the times of the requests' first points, in the order in which they were sent."""
    return [points(decoded(payload))[0].time_unix_nano for payload in payloads]


def decoded(payload: bytes) -> ExportMetricsServiceRequest:
    return ExportMetricsServiceRequest.FromString(payload)


def count(payload: bytes) -> int:
    return len(points(decoded(payload)))


def test_what_is_accepted_is_sent_oldest_first() -> None:
    harness = Harness()
    for offset in range(3):
        harness.worker.consume(batch(2, ended=1, time=TIME + offset))
    harness.settle()
    assert times(harness.scripted.delivered) == [TIME, TIME + 1, TIME + 2]
    totals = harness.points.ledger.totals
    assert (totals.accepted, totals.sent, totals.queued, totals.missing) == (9, 9, 0, 0)
    assert harness.telemetry.condition.state == "ok"


def test_events_go_their_own_way() -> None:
    logs = ScriptedTransport([REFUSED] * 4)
    harness = Harness(events_transport=logs)
    harness.worker.consume_events(event_batch(2))
    harness.worker.consume(batch(3))
    harness.worker.step()
    assert len(harness.scripted.delivered) == 1, "points do not wait for the events' destination"
    assert harness.telemetry.condition.state == "exporter.unreachable"
    harness.settle()
    assert len(logs.delivered) == 1
    assert harness.events.ledger.totals.sent == 2
    assert harness.telemetry.condition.state == "ok"


def test_a_failed_request_comes_again_before_what_is_younger() -> None:
    harness = Harness([UNAVAILABLE, REFUSED])
    for offset in range(2):
        harness.worker.consume(batch(1, time=TIME + offset))
    harness.settle()
    assert times(harness.scripted.sent) == [TIME, TIME, TIME, TIME + 1]
    assert harness.points.ledger.totals.sent == 2


def test_waits_grow_up_to_a_bound_and_begin_anew_after_success() -> None:
    harness = Harness([UNAVAILABLE] * 8)
    harness.worker.consume(batch(1))
    waits = []
    while (wait := harness.worker.step()) is not None:
        waits.append(wait)
        harness.clock.advance(wait)
    assert waits[:3] == pytest.approx([1, 1.5, 2.25])
    assert waits == sorted(waits)
    assert waits[-1] == pytest.approx(10)
    harness.scripted.script.append(UNAVAILABLE)
    harness.worker.consume(batch(1))
    assert harness.worker.step() == pytest.approx(1)


@pytest.mark.parametrize(("drawn", "expected"), [(0.0, 0.5), (0.999999, 1.5)])
def test_waits_are_spread_at_random(drawn: float, expected: float) -> None:
    harness = Harness([UNAVAILABLE], random=lambda: drawn)
    harness.worker.consume(batch(1))
    assert harness.worker.step() == pytest.approx(expected, rel=1e-3)


def test_the_wait_that_the_destination_asks_for_is_kept() -> None:
    harness = Harness([evolve(UNAVAILABLE, after=42.0), evolve(UNAVAILABLE, after=0.1)])
    harness.worker.consume(batch(1))
    assert harness.worker.step() == pytest.approx(42)
    harness.clock.advance(41)
    harness.worker.step()
    assert len(harness.scripted.sent) == 1
    harness.clock.advance(1)
    assert harness.worker.step() == pytest.approx(1.5), "no shorter than our own wait"


def test_a_wait_of_days_is_a_mistake_of_the_destination() -> None:
    harness = Harness([evolve(UNAVAILABLE, after=1e9)])
    harness.worker.consume(batch(1))
    assert harness.worker.step() == pytest.approx(3600)


def test_new_batches_do_not_shorten_a_wait_but_are_compressed_at_once() -> None:
    harness = Harness([UNAVAILABLE])
    harness.worker.consume(batch(1))
    harness.worker.step()
    harness.worker.consume(batch(500))
    assert harness.worker.step() == pytest.approx(1)
    assert len(harness.scripted.sent) == 1
    assert harness.points.queue.start_encoding() is None, "nothing is left unencoded"


def test_partial_success_counts_what_was_refused(caplog: pytest.LogCaptureFixture) -> None:
    harness = Harness([Accepted(2, "too old"), Accepted(99, "all of them")])
    harness.worker.consume(batch(5))
    harness.settle()
    harness.worker.consume(batch(3))
    harness.settle()
    totals = harness.points.ledger.totals
    assert (totals.sent, totals.rejected, totals.missing) == (3, {"partial_success": 5}, 0)
    assert "refused 2 points of 5: too old" in caplog.text
    assert len(harness.scripted.sent) == 2, "it is not sent again"


def test_words_without_a_refusal_are_passed_on(caplog: pytest.LogCaptureFixture) -> None:
    harness = Harness([Accepted(0, "use delta temporality")])
    harness.worker.consume(batch(1))
    harness.settle()
    assert "use delta temporality" in caplog.text
    assert harness.points.ledger.totals.sent == 1


def test_what_is_refused_for_good_is_not_sent_again(caplog: pytest.LogCaptureFixture) -> None:
    harness = Harness([Permanent("400", "HTTP 400: out of bounds")])
    harness.worker.consume(batch(4))
    harness.settle()
    assert harness.points.ledger.totals.rejected == {"400": 4}
    assert "refused 4 points for good: HTTP 400: out of bounds" in caplog.text
    assert harness.telemetry.condition.state == "exporter.rejected"
    harness.worker.consume(batch(1))
    harness.settle()
    assert harness.telemetry.condition.state == "ok"


def test_bad_credentials_keep_the_data_and_are_tried_rarely() -> None:
    harness = Harness([Unauthorized("401", "HTTP 401")] * 2)
    harness.worker.consume(batch(4))
    assert harness.worker.step() == pytest.approx(60)
    assert harness.telemetry.condition.state == "exporter.unauthorized"
    harness.settle()
    assert harness.points.ledger.totals.sent == 4


def at_most(limit: int) -> Callable[[bytes], Outcome]:
    def answer(payload: bytes) -> Outcome:
        return Accepted() if count(payload) <= limit else TooLarge("413", "HTTP 413")

    return answer


def test_what_is_too_large_is_halved_until_it_fits() -> None:
    harness = Harness([at_most(3)] * 50)
    harness.worker.consume(batch(11, time=TIME))
    harness.worker.consume(batch(2, time=TIME + 1))
    harness.settle()
    delivered = harness.scripted.delivered
    assert [count(payload) for payload in delivered] == [2, 3, 3, 3, 2]
    found = [p.as_double for payload in delivered for p in points(decoded(payload))]
    assert found == [float(n) for n in range(11)] + [0.0, 1.0]
    assert harness.points.ledger.totals.sent == 13


def test_a_single_point_that_is_too_large_is_dropped() -> None:
    harness = Harness([at_most(0)] * 3 + [Accepted()])
    harness.worker.consume(batch(2))
    harness.settle()
    harness.worker.consume(batch(1))
    harness.settle()
    totals = harness.points.ledger.totals
    assert (totals.dropped, totals.sent, totals.missing) == ({"too_large": 2}, 1, 0)


def test_a_large_batch_becomes_several_requests() -> None:
    harness = Harness(queue=QueueConfig(batch=BatchConfig(max_size=4)))
    harness.worker.consume(batch(9, ended=2))
    harness.settle()
    assert [count(payload) for payload in harness.scripted.delivered] == [4, 4, 3]


def test_attempts_end_after_the_configured_time() -> None:
    retry = RetryConfig(max_elapsed_time=timedelta(seconds=5))
    harness = Harness([UNAVAILABLE] * 4, retry=retry)
    harness.worker.consume(batch(2))
    harness.settle()
    totals = harness.points.ledger.totals
    assert totals.dropped == {"retries_exhausted": 2}
    assert 1 < len(harness.scripted.sent) < 5


def test_the_halves_of_a_request_have_no_more_time_than_the_whole() -> None:
    retry = RetryConfig(max_elapsed_time=timedelta(seconds=5))
    late, later = evolve(UNAVAILABLE, after=4.0), evolve(UNAVAILABLE, after=3.0)
    harness = Harness([late, TooLarge("413", "HTTP 413"), later, later], retry=retry)
    harness.worker.consume(batch(2))
    harness.settle()
    assert harness.points.ledger.totals.dropped == {"retries_exhausted": 2}


def test_without_retry_each_request_is_tried_once() -> None:
    harness = Harness([UNAVAILABLE, UNAVAILABLE], retry=RetryConfig(enabled=False))
    harness.worker.consume(batch(2))
    harness.worker.consume(batch(3))
    harness.worker.consume(batch(4))
    harness.settle(limit=1)
    totals = harness.points.ledger.totals
    assert (totals.dropped, totals.sent) == ({"retries_exhausted": 5}, 4)


def test_by_default_nothing_is_given_up_while_the_queue_holds_it() -> None:
    harness = Harness([REFUSED] * 2000)
    harness.worker.consume(batch(1))
    harness.settle()
    assert harness.clock.now > 1000 + 4 * 3600
    assert harness.points.ledger.totals.sent == 1


def test_an_unexpected_error_loses_one_batch_and_not_the_worker(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harness = Harness([RuntimeError("bug")])
    harness.worker.consume(batch(2))
    broken = Batch("s", TIME, RESOURCE, [(None, 1.0, 0)])  # type: ignore[list-item]
    harness.worker.consume(broken)
    harness.worker.consume(batch(3))
    harness.settle()
    totals = harness.points.ledger.totals
    assert (totals.dropped, totals.sent, totals.missing) == ({"internal": 3}, 3, 0)
    assert "RuntimeError: bug" in caplog.text


def test_the_oldest_gives_way_in_a_full_queue(caplog: pytest.LogCaptureFixture) -> None:
    harness = Harness([UNAVAILABLE], queue=QueueConfig(queue_size=10))
    harness.worker.consume(batch(4, time=TIME))
    harness.worker.step()
    for offset in range(1, 4):
        harness.worker.consume(batch(4, time=TIME + offset))
    totals = harness.points.ledger.totals
    assert (totals.dropped, totals.queued) == ({"queue_full": 8}, 8)
    harness.settle()
    assert times(harness.scripted.delivered) == [TIME + 2, TIME + 3]
    assert "the queue is full: dropped the oldest 8 points" in caplog.text


def test_bytes_bound_the_queue_too() -> None:
    harness = Harness([UNAVAILABLE], queue=QueueConfig(queue_bytes=2000))
    for _ in range(20):
        harness.worker.consume(batch(100))
        harness.worker.step()
    totals = harness.points.ledger.totals
    assert totals.dropped["queue_full"] > 0
    assert totals.queued > 0
    assert totals.missing == 0


def test_what_is_kept_for_an_ended_stream_is_freed_though_its_batch_was_dropped() -> None:
    harness = Harness(queue=QueueConfig(queue_size=2))
    stream = Stream(POWER, {"hw.id": "gpu-0"})
    harness.worker.consume(Batch("s", TIME, RESOURCE, [(stream, 1.0, 0)]))
    harness.settle()
    harness.worker.consume(Batch("s", TIME + 1, RESOURCE, [], [stream]))
    gone = weakref.ref(stream)
    del stream
    harness.worker.consume(batch(2))  # drops the batch before it
    assert harness.points.ledger.totals.dropped == {"queue_full": 1}
    harness.settle()
    gc.collect()
    assert gone() is None


def test_a_batch_that_no_queue_can_hold_is_dropped() -> None:
    harness = Harness(queue=QueueConfig(queue_size=10))
    harness.worker.consume(batch(11))
    harness.settle()
    assert harness.points.ledger.totals.dropped == {"queue_full": 11}


def test_a_transport_that_wants_it_gets_the_compressed_bytes_of_the_queue() -> None:
    harness = Harness([Accepted()], gzip=True)
    harness.worker.consume(batch(3))
    harness.settle()
    (payload,) = harness.scripted.delivered
    assert count(gzip.decompress(payload)) == 3


def test_an_outage_is_logged_once_and_its_end_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    harness = Harness([REFUSED] * 50 + [UNAVAILABLE] * 50)
    harness.worker.consume(batch(7))
    harness.settle()
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        "cannot deliver to http://example.test: Connection refused; 7 points waiting",
        "cannot deliver to http://example.test: HTTP 503: busy; 7 points waiting",
        "delivers points to http://example.test again",
    ]


def test_refusals_are_logged_once_a_minute_with_their_number(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harness = Harness([Permanent("400", "no")] * 12)
    for _ in range(12):
        harness.worker.consume(batch(1))
        harness.settle()
        harness.clock.advance(10)
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        "http://example.test refused 1 points for good: no",
        "http://example.test refused 1 points for good: no (and 5 times before)",
    ]
