"""Check a registry against the rules of its format, of OpenTelemetry and of this convention."""

from __future__ import annotations

from otelgpu.semconv import policy_metrics, policy_names, policy_references
from otelgpu.semconv.registry import Registry


def validate(registry: Registry) -> list[str]:
    """Return one line for each broken rule; an empty list if there is none."""
    return [
        finding
        for module in (policy_names, policy_metrics, policy_references)
        for policy in module.POLICIES
        for finding in policy(registry)
    ]
