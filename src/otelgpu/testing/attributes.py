"""What the convention says of a point's attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from otelgpu.semconv.rule import AttributeRule, MetricRule
from otelgpu.semconv.rules import ATTRIBUTES, METRICS

_TYPES: Mapping[str, type] = {"string": str, "int": int, "double": float, "boolean": bool}


def attribute_findings(metric: str, attributes: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the attributes of a point of a known metric."""
    rule = METRICS[metric]
    for key in sorted(rule.required - attributes.keys()):
        yield f"required attribute {key} is missing"
    for key, value in attributes.items():
        declared = _declared(rule, key)
        if declared is None:
            yield f"attribute {key} is not declared for this metric"
            continue
        expected = _TYPES[declared.type]
        if type(value) is not expected:
            yield f"attribute {key} is of type {type(value).__name__}, not {expected.__name__}"
            continue
        allowed = rule.values.get(key, declared.values)
        if allowed and value not in allowed:
            yield f"attribute {key} has the value {value!r}, none of {', '.join(sorted(allowed))}"
        if value == "":
            yield f"attribute {key} is empty: leave out what is not known"


def _declared(rule: MetricRule, key: str) -> AttributeRule | None:
    names = rule.required | rule.optional
    declared = ATTRIBUTES.get(key)
    if declared is not None and not declared.template:
        return declared if key in names else None
    for name in names:
        template = ATTRIBUTES[name]
        if template.template and key.startswith(f"{name}.") and len(key) > len(name) + 1:
            return template
    return None
