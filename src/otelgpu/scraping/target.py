"""Reading many targets so that one that hangs costs only itself.

A vendor call can block for ever, and a thread in it cannot be ended. So one worker thread reads the
targets of a scrape in turn; when a target does not answer by its deadline, the worker is left to
it, the target counts as hung until the worker comes back, and a fresh worker goes on with the rest.
The worker gets the whole list at once: a hand-off for each target would cost more than the reading.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Protocol

from attrs import frozen

from otelgpu.points.batch import Readings

LIBRARY_HANGS = 2
"""Targets in a row that hang before the whole library counts as hung for this scrape."""


class Target(Protocol):
    """What can fail or hang by itself: a GPU, a hostengine, the discovery of devices."""

    @property
    def id(self) -> str:
        """Name of the target, unique in its receiver."""

    def read(self, readings: Readings) -> None:
        """Add this target's readings; failures become readings and counts."""


@frozen
class Cycle:
    """What became of the targets of one scrape."""

    readings: Readings
    hung: Sequence[Target]
    """Did not answer by their deadline, now or earlier."""
    unread: Sequence[Target]
    """Not asked: the library hangs, or the cycle's budget was used up."""
    stalled: bool = False
    """Whether the whole library hangs."""


class _Task:
    """The targets of one scrape, and how far a worker has come with them.

    Every step is taken under one lock, so that a task is never left between two targets: what is
    left is always the target that the worker is inside of, or about to enter.
    """

    def __init__(self, targets: Sequence[Target], until: float) -> None:
        self._targets = targets
        self._until = until
        self.readings: list[Readings] = []
        self.since = time.monotonic()
        self.left = False
        self.done = False
        """Whether the worker is out of the library."""
        self.wake = threading.Event()
        self._stopped = False
        self._lock = threading.Lock()

    def begin(self) -> Target | None:
        """Return the first target, None if there is nothing to read."""
        with self._lock:
            return self._next()

    def answer(self, readings: Readings) -> Target | None:
        """Take a target's readings, unless it was left; return the next target."""
        with self._lock:
            if not self.left:
                self.readings.append(readings)
            return self._next()

    def leave(self, deadline: float) -> bool:
        """Leave the task if its present target is over its deadline; return whether it is left."""
        with self._lock:
            if not self.done and time.monotonic() >= self.since + deadline:
                self.left = True
            return self.left

    def stop(self) -> None:
        """Let the worker begin no further target, and whoever waits for it go on."""
        with self._lock:
            self._stopped = True
        self.wake.set()

    def _next(self) -> Target | None:
        self.since = time.monotonic()
        answered = len(self.readings)
        late = answered > 0 and self.since >= self._until
        if self.left or self._stopped or late or answered == len(self._targets):
            self.done = True
            self.wake.set()
            return None
        return self._targets[answered]


class _Worker:
    """A thread that reads targets one after the other until told to stop or left behind."""

    def __init__(self, name: str, on_mistake: Callable[[Target, BaseException], None]) -> None:
        self._on_mistake = on_mistake
        self.todo: SimpleQueue[_Task | None] = SimpleQueue()
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (task := self.todo.get()) is not None:
            target = task.begin()
            while target is not None:
                readings: Readings = []
                try:
                    target.read(readings)
                except BaseException as error:  # noqa: BLE001
                    # A mistake of ours, or a binding that calls sys.exit, must not end this thread:
                    # that would look like a driver that hangs.
                    self._on_mistake(target, error)
                target = task.answer(readings)


class TargetReader:
    """Reads targets with a deadline each; ``read`` is used by one thread, ``close`` by any."""

    def __init__(
        self, name: str, deadline: float, on_mistake: Callable[[Target, BaseException], None]
    ) -> None:
        """``deadline`` is in seconds; ``on_mistake`` is called on a thread of the reader."""
        self._name = name
        self._deadline = deadline
        self._on_mistake = on_mistake
        self._worker: _Worker | None = None
        self._hung: dict[str, _Task] = {}
        self._task: _Task | None = None
        self._closed = False
        self._lock = threading.Lock()

    @property
    def hung(self) -> frozenset[str]:
        """Ids of the targets that a thread is still inside of."""
        return frozenset(self._hung)

    @property
    def closed(self) -> bool:
        """Whether no more is to be read."""
        return self._closed

    def read(self, targets: Sequence[Target], budget: float = float("inf")) -> Cycle:
        """Read the targets that are not hung, in order, and say what became of each.

        ``budget`` is in seconds: no target is begun after it, but for the first, and for one more
        after a target that hung, which tells a device that hangs from a library that does.
        """
        self._hung = {name: task for name, task in self._hung.items() if not task.done}
        rest = [target for target in targets if target.id not in self._hung]
        until = time.monotonic() + budget
        readings: Readings = []
        hangs = 0
        while rest and hangs < LIBRARY_HANGS and not self._closed:
            task, answered = self._work(rest, until)
            for part in task.readings[:answered]:
                readings += part
            rest = rest[answered:]
            if task.left:
                hangs = 1 if answered else hangs + 1
                self._leave(rest.pop(0), task)
            else:
                break
        hung = [target for target in targets if target.id in self._hung]
        return Cycle(readings, hung, rest, stalled=hangs >= LIBRARY_HANGS)

    def _work(self, targets: Sequence[Target], until: float) -> tuple[_Task, int]:
        """Hand targets to the worker; return when all have answered or one is over its deadline."""
        task = _Task(targets, until)
        with self._lock:
            # Under the lock: a worker made after ``close`` would wait for ever.
            if self._closed:
                return task, 0
            self._task = task
            if self._worker is None:
                self._worker = _Worker(self._name, self._on_mistake)
            self._worker.todo.put(task)
        while not self._closed:
            task.wake.wait(max(0.0, task.since + self._deadline - time.monotonic()))
            if task.done or task.leave(self._deadline):
                break
        return task, len(task.readings)

    def _leave(self, target: Target, task: _Task) -> None:
        self._hung[target.id] = task
        with self._lock:
            if self._worker is not None:
                # If the call ever returns, the worker finds this and ends.
                self._worker.todo.put(None)
                self._worker = None

    def close(self) -> None:
        """End the worker when it has finished its target, and a ``read`` in progress at once."""
        with self._lock:
            self._closed = True
            task, worker = self._task, self._worker
            self._worker = None
        if task is not None:
            task.stop()
        if worker is not None:
            worker.todo.put(None)
