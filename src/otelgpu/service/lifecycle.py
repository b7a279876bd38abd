"""Starts and stops components in order, within a time that none of them can use up for all."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Sequence

from attrs import frozen

from otelgpu.component import Component

_GRACE = 1.0
"""Seconds beyond the time for stopping in which whatever keeps to its time may still return."""


class StartError(Exception):
    """A component could not be started; what had been started is stopped again."""


@frozen(eq=False)
class Named:
    """A component and its name in logs."""

    name: str
    """Its kind and id, such as ``exporters::otlp_http``."""
    component: Component

    @property
    def kind(self) -> str:
        """First part of the name."""
        return self.name.partition("::")[0]


class Lifecycle:
    """Components that start and stop together."""

    def __init__(self, components: Sequence[Named], timeout: float, logger: logging.Logger) -> None:
        """``components`` are in the order of their start; ``timeout`` (s) is for stopping all."""
        self._components = components
        self._timeout = timeout
        self._log = logger
        self._started: list[Named] = []

    def start(self) -> None:
        """Start the components, in order.

        Raises:
            StartError: one of them could not start; those before it are stopped again.

        """
        for named in self._components:
            # Noted first: a component must be able to clean up after half a start.
            self._started.append(named)
            try:
                named.component.start()
            except Exception as error:
                self.stop()
                raise StartError(f"{named.name} could not start: {error}") from error

    def stop(self) -> None:
        """Stop the components, the last started first.

        All have the time together. Exporters have all that is left, at once: one whose destination
        does not answer must not take the others' time to drain. Anything else has half of what is
        left at most. A component that does not return in its time is left behind.
        """
        deadline = time.monotonic() + self._timeout
        started = self._started[::-1]
        self._started.clear()
        waves = itertools.groupby(started, lambda n: n.kind if n.kind == "exporters" else n)
        for kind, wave in waves:
            left = max(0.0, deadline - time.monotonic())
            share = left if kind == "exporters" else left / 2
            threads = [(named, self._stopping(named, share)) for named in wave]
            until = time.monotonic() + share
            for named, thread in threads:
                thread.join(max(0.0, min(until + _GRACE, deadline + _GRACE) - time.monotonic()))
                if thread.is_alive():
                    self._log.warning("%s did not stop in time and is left behind", named.name)

    def _stopping(self, named: Named, timeout: float) -> threading.Thread:
        def shutdown() -> None:
            try:
                named.component.shutdown(timeout)
            except Exception:  # noqa: BLE001 - the others are to be stopped all the same
                self._log.exception("%s did not stop well", named.name)

        thread = threading.Thread(target=shutdown, name=f"stop {named.name}", daemon=True)
        thread.start()
        return thread
