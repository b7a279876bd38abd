"""Starts and stops a graph of components."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from otelgpu.config.document import Document
from otelgpu.service.graph import LOGGER, Environment, Graph, Named, build
from otelgpu.service.healthcheck import HealthCheck
from otelgpu.telemetry.health import Health, health


class StartError(Exception):
    """A component could not be started; what had been started is stopped again."""


class Agent:
    """The running service: extensions, exporters, processors, receivers, own telemetry."""

    def __init__(self, document: Document, environment: Environment) -> None:
        self._log = logging.getLogger(LOGGER)
        self._timeout = document.service.shutdown_timeout.total_seconds()
        self.graph: Graph = build(document, environment)
        extensions = [
            Named(
                f"extensions::{id_}",
                HealthCheck(document.components["extensions", id_].config, self.health),
            )
            for id_ in document.extensions
        ]
        self._all: Sequence[Named] = [*extensions, *self.graph.components]
        self._started: list[Named] = []

    def health(self) -> Health:
        """Return the state of all components."""
        return health(self.graph.registry)

    def start(self) -> None:
        """Start the components, the most downstream first.

        Raises:
            StartError: one of them could not start; those before it are stopped again.

        """
        for named in self._all:
            # Noted first: a component must be able to clean up after half a start.
            self._started.append(named)
            try:
                named.component.start()
            except Exception as error:
                self.stop()
                raise StartError(f"{named.name} could not start: {error}") from error

    def stop(self) -> None:
        """Stop the components, the most upstream first, each within what is left of the time."""
        deadline = time.monotonic() + self._timeout
        while self._started:
            named = self._started.pop()
            left = max(0.0, deadline - time.monotonic())
            try:
                named.component.shutdown(left)
            except Exception:  # noqa: BLE001 - the others are to be stopped all the same
                self._log.exception("%s did not stop well", named.name)
