"""A worker that is stuck, in a look-up of a name for example: memory stays bounded."""

from __future__ import annotations

import gc
import threading
import weakref

from tests.delivery.harness import Harness
from tests.delivery.samples import POWER, RESOURCE, TIME, batch

from otelgpu.delivery.ledger import Ledger
from otelgpu.delivery.outcome import Accepted, Outcome
from otelgpu.delivery.queue import LARGEST_RAW, MemoryQueue, QueueConfig
from otelgpu.points.batch import Batch
from otelgpu.points.stream import Stream


def test_objects_that_wait_are_fewer_than_requests_may() -> None:
    ledger = Ledger()
    queue: MemoryQueue[Batch] = MemoryQueue(10 * LARGEST_RAW, 1 << 30, ledger)
    one = batch(1000)
    for _ in range(2 * LARGEST_RAW // len(one)):
        queue.append(one, 0.0)
    totals = ledger.totals
    assert totals.queued == LARGEST_RAW
    assert totals.dropped == {"queue_full": LARGEST_RAW}
    assert totals.missing == 0
    taken = 0
    while (pending := queue.start_encoding()) is not None:
        queue.encoded([(b"x", len(pending))], 0, "")  # type: ignore[arg-type]
        taken += len(pending)
    assert taken == LARGEST_RAW
    queue.append(one, 0.0)
    assert ledger.totals.dropped == {"queue_full": LARGEST_RAW}, "encoded ones count no more"


def test_a_single_batch_past_the_bound_is_kept() -> None:
    ledger = Ledger()
    queue: MemoryQueue[Batch] = MemoryQueue(10 * LARGEST_RAW, 1 << 30, ledger)
    stream = Stream(POWER, {"hw.id": "gpu-0"})
    large = Batch("s", TIME, RESOURCE, [(stream, 1.0, 0)] * (LARGEST_RAW + 1))
    queue.append(large, 0.0)
    assert ledger.totals.dropped == {}
    assert queue.start_encoding() is large


def test_what_was_dropped_while_an_attempt_hangs_is_not_held() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def hang(_: bytes) -> Outcome:
        begun.set()
        assert go_on.wait(10)
        return Accepted()

    harness = Harness([hang], queue=QueueConfig(queue_size=10))
    learnt = Stream(POWER, {"hw.id": "gpu-9"})
    harness.worker.consume(Batch("s", TIME, RESOURCE, [(learnt, 1.0, 0)]))
    stuck = threading.Thread(target=harness.worker.step)
    stuck.start()
    assert begun.wait(10)
    held = []
    for number in range(50):
        ending = batch(7, ended=1, time=TIME + number)
        held.append(weakref.ref(ending))
        harness.worker.consume(ending)
    harness.worker.consume(Batch("s", TIME + 99, RESOURCE, [], [learnt]))
    harness.worker.consume(batch(9))
    del ending
    gc.collect()
    alive = sum(one() is not None for one in held)
    go_on.set()
    stuck.join()
    assert alive <= 1, "what is dropped is gone at once, not when the worker comes round"
    harness.settle()
    gone = weakref.ref(learnt)
    del learnt
    gc.collect()
    assert gone() is None, "its end was dropped, its bytes are freed all the same"
    assert harness.points.ledger.totals.missing == 0
