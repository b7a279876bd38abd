"""Whatever happens, every point is in exactly one account."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.delivery.harness import Harness
from tests.delivery.samples import TIME, batch
from tests.delivery.test_worker import count, times

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

outcomes: st.SearchStrategy[Outcome | Exception] = st.one_of(
    st.just(Accepted()),
    st.builds(Accepted, st.integers(0, 12), st.just("some")),
    st.builds(Retry, st.just("503"), st.just("busy"), st.none() | st.floats(0, 100)),
    st.just(Unauthorized("401", "who?")),
    st.just(TooLarge("413", "too large")),
    st.just(Permanent("400", "no")),
    st.builds(RuntimeError, st.just("bug")),
)


class Delivery(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        queue = QueueConfig(queue_size=40, queue_bytes=1500, batch=BatchConfig(max_size=7))
        retry = RetryConfig(max_elapsed_time=timedelta(minutes=5))
        self.harness = Harness(queue=queue, retry=retry)
        self.given = 0
        self.clock = TIME

    @rule(points=st.integers(0, 12), ended=st.integers(0, 2))
    def consume(self, points: int, ended: int) -> None:
        self.clock += 1
        self.harness.worker.consume(batch(points, ended=ended, time=self.clock))
        self.given += points + ended

    @rule(answer=outcomes)
    def step(self, answer: Outcome | Exception) -> None:
        self.harness.scripted.script = type(self.harness.scripted.script)([answer])
        self.harness.worker.step()

    @rule(seconds=st.floats(0, 100))
    def pass_time(self, seconds: float) -> None:
        self.harness.clock.advance(seconds)

    @invariant()
    def every_point_is_accounted_for(self) -> None:
        totals = self.harness.points.ledger.totals
        queue = self.harness.points.queue
        assert totals.accepted == self.given
        assert totals.missing == 0
        waiting = sum(r.count for r in queue._requests) + sum(len(b) for b, _ in queue._pending)
        assert totals.queued == waiting == queue._items
        assert queue._bytes == sum(len(request.payload) for request in queue._requests)
        assert totals.queued <= 40
        assert queue._bytes <= 1500

    @invariant()
    def what_arrived_is_what_is_said_to_be_sent(self) -> None:
        delivered = sum(count(payload) for payload in self.harness.scripted.delivered)
        totals = self.harness.points.ledger.totals
        assert delivered == totals.sent + totals.rejected.get("partial_success", 0)

    @invariant()
    def it_left_in_the_order_of_its_time(self) -> None:
        sent = times(self.harness.scripted.sent)
        assert sent == sorted(sent)

    def teardown(self) -> None:
        self.harness.scripted.script.clear()
        self.harness.settle()
        assert self.harness.points.ledger.totals.queued == 0
        self.every_point_is_accounted_for()


Delivery.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestDelivery = Delivery.TestCase
