"""The running service."""

from __future__ import annotations

import logging

from otelgpu.component import Releasable
from otelgpu.config.document import Document
from otelgpu.service.graph import LOGGER, Environment, Graph, build
from otelgpu.service.healthcheck import HealthCheck
from otelgpu.service.lifecycle import Lifecycle, Named, StartError
from otelgpu.telemetry.health import Health, health

__all__ = ["Agent", "StartError"]


class Agent:
    """The running service: extensions, exporters, processors, receivers, own telemetry."""

    def __init__(self, document: Document, environment: Environment) -> None:
        self.graph: Graph = build(document, environment)
        extensions = [
            Named(
                f"extensions::{id_}",
                HealthCheck(document.components["extensions", id_].config, self.health),
            )
            for id_ in document.extensions
        ]
        self._lifecycle = Lifecycle(
            [*extensions, *self.graph.components],
            document.service.shutdown_timeout.total_seconds(),
            logging.getLogger(LOGGER),
        )

    def health(self) -> Health:
        """Return the state of all components."""
        return health(self.graph.registry)

    def start(self) -> None:
        """Start the components, the most downstream first.

        Raises:
            StartError: one of them could not start; those before it are stopped again.

        """
        self._lifecycle.start()

    def release(self) -> None:
        """Let go of the drivers for a while."""
        for named in self.graph.components:
            if isinstance(named.component, Releasable):
                named.component.release()

    def stop(self) -> None:
        """Stop the components, the most upstream first, within the document's shutdown_timeout."""
        self._lifecycle.stop()
