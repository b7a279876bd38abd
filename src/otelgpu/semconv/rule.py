"""What the generated rules are made of; ``otelgpu.testing`` alone reads them."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen


@frozen
class AttributeRule:
    """What an attribute's values may be."""

    type: str
    """``string``, ``int``, ``double`` or ``boolean``."""
    values: frozenset[str] = frozenset()
    """All values of an enumeration; empty where any value may stand."""
    template: bool = False
    """Whether the attribute's name is the beginning of many: ``k8s.pod.label.<name>``."""


@frozen
class MetricRule:
    """Attributes of a metric's points."""

    required: frozenset[str]
    optional: frozenset[str]
    values: Mapping[str, frozenset[str]]
    """Attributes that this metric narrows, and what they may be here."""
