"""What the service needs to know of the debug exporter."""

from __future__ import annotations

import sys

from debugexporter.config import DebugConfig
from debugexporter.exporter import DebugExporter
from otelgpu.component import ExporterFactory, Settings, Signal, Stability, Stage


def _create(settings: Settings, config: DebugConfig) -> Stage:
    # Standard output is for results, which somebody may read by machine.
    return DebugExporter(settings, config, sys.stderr)


FACTORY = ExporterFactory(
    type="debug",
    config=DebugConfig,
    create=_create,
    stability=Stability.ALPHA,
    signals=frozenset({Signal.METRICS, Signal.EVENTS}),
)
