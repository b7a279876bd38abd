"""Conformance checks for anything that produces GPU metrics, ours or a third party's.

This package needs the OpenTelemetry SDK, which the agent itself does not load.
"""

from otelgpu.testing.check import assert_points, check_points
from otelgpu.testing.otlp import NoRecordedValue, from_otlp

__all__ = ["NoRecordedValue", "assert_points", "check_points", "from_otlp"]
