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
    """The targets of one scrape, and how far a worker has come with them."""

    def __init__(self, targets: Sequence[Target], until: float) -> None:
        self.targets = targets
        self.until = until
        self.readings: list[Readings] = []
        self.since = time.monotonic()
        self.left = False
        self.done = False
        self.wake = threading.Event()
        self._lock = threading.Lock()

    def begin(self) -> bool:
        """Return whether the worker may begin its next target."""
        with self._lock:
            self.since = time.monotonic()
            return not self.left and not (self.readings and self.since >= self.until)

    def answer(self, readings: Readings) -> None:
        """Take a target's readings, unless the task was left while the worker was inside it."""
        with self._lock:
            if not self.left:
                self.readings.append(readings)

    def leave(self, deadline: float) -> bool:
        """Leave the task if its present target is over its deadline; return whether it is left."""
        with self._lock:
            if not self.done and time.monotonic() >= self.since + deadline:
                self.left = True
            return self.left

    def finish(self) -> None:
        """Say that the worker has left the library."""
        with self._lock:
            self.done = True
        self.wake.set()


class _Worker:
    """A thread that reads targets one after the other until told to stop or left behind."""

    def __init__(self, name: str, on_mistake: Callable[[Target, Exception], None]) -> None:
        self._on_mistake = on_mistake
        self.todo: SimpleQueue[_Task | None] = SimpleQueue()
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (task := self.todo.get()) is not None:
            for target in task.targets:
                if not task.begin():
                    break
                readings: Readings = []
                try:
                    target.read(readings)
                except Exception as error:  # noqa: BLE001
                    # A mistake of ours must not look like a driver that hangs.
                    self._on_mistake(target, error)
                task.answer(readings)
            task.finish()


class TargetReader:
    """Reads targets with a deadline each; ``read`` is used by one thread, ``close`` by any."""

    def __init__(
        self, name: str, deadline: float, on_mistake: Callable[[Target, Exception], None]
    ) -> None:
        self._name = name
        self._deadline = deadline
        self._on_mistake = on_mistake
        self._worker: _Worker | None = None
        self._hung: dict[str, _Task] = {}
        self._task: _Task | None = None
        self._closed = False

    @property
    def hung(self) -> frozenset[str]:
        """Ids of the targets that a thread is still inside of."""
        return frozenset(self._hung)

    def read(self, targets: Sequence[Target], budget: float = float("inf")) -> Cycle:
        """Read the targets that are not hung, in order, and say what became of each.

        ``budget`` is in seconds: no target is begun after it, but for the first.
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
        task = self._task = _Task(targets, until)
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
        if self._worker is not None:
            # If the call ever returns, the worker finds this and ends.
            self._worker.todo.put(None)
            self._worker = None

    def close(self) -> None:
        """End the worker when it has finished its target, and a ``read`` in progress at once."""
        self._closed = True
        task, worker = self._task, self._worker
        if task is not None:
            task.wake.set()
        if worker is not None:
            worker.todo.put(None)
