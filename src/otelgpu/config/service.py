"""The ``service`` section of the document."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from attrs import Factory, frozen

ResourceValue = str | int | float | bool


@frozen
class LogSettings:
    """The agent's own log, on stderr."""

    level: Literal["debug", "info", "warn", "error"] = "info"
    """The least severe records that are written."""
    encoding: Literal["text", "json"] = "text"
    """One line of text, or one JSON object a line."""


@frozen
class MetricSettings:
    """The agent's own metrics, sent through its pipelines."""

    interval: timedelta = timedelta(seconds=10)
    """Time between two hand-overs of the agent's own metrics; 0 means that they are not sent."""


@frozen
class TelemetrySettings:
    """What the agent tells of itself."""

    logs: LogSettings = LogSettings()
    """The agent's own log."""
    metrics: MetricSettings = MetricSettings()
    """The agent's own metrics."""
    resource: dict[str, ResourceValue] = Factory(dict)
    """Attributes that are put on the one Resource, over those that are detected."""


@frozen
class ServiceSettings:
    """What the service does with the components."""

    pipelines: dict[str, PipelineSettings] = Factory(dict)
    """Pipelines by id: ``metrics`` or ``events``, each also with ``/name``."""
    extensions: tuple[str, ...] = ()
    """Ids of the extensions to start."""
    telemetry: TelemetrySettings = TelemetrySettings()
    """What the agent tells of itself."""
    shutdown_timeout: timedelta = timedelta(seconds=10)
    """Time that all components together have to drain and stop; 0 means that none is waited for."""


@frozen
class PipelineSettings:
    """One pipeline as it is written; ids of components in order."""

    receivers: tuple[str, ...] = ()
    """Where its data comes from; at least one."""
    processors: tuple[str, ...] = ()
    """Run in the order in which they stand."""
    exporters: tuple[str, ...] = ()
    """Where its data goes; at least one."""
