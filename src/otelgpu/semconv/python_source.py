"""Python modules from the registry: constants for the agent, rules for the tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otelgpu.semconv.model import PROFILES, MetricDefinition, Reference
from otelgpu.semconv.naming import class_name, constant
from otelgpu.semconv.registry import Registry

HEADER = "# Generated from semconv/registry by `otelgpu semconv generate`: do not edit.\n"
_LAID_OUT = "# fmt: off\n"


def metrics_module(registry: Registry) -> str:
    """Return the module with one ``Metric`` for each metric, by name."""
    lines = [
        HEADER + _LAID_OUT + '"""Metrics of the GPU semantic convention."""\n',
        "from otelgpu.points.metric import Instrument, Metric, Profile, ValueType\n",
        f"SCHEMA_URL = {_text(registry.manifest.schema_url)}",
        '"""Version of this convention; it goes with the scope of our points."""',
        f"OFFICIAL_SCHEMA_URL = {_text(registry.official.schema_url)}",
        '"""Version of OpenTelemetry\'s conventions; it goes with the Resource."""\n',
        *(f"{constant(m.name)} = {_metric(m)}" for m in registry.metrics),
        "\nALL: tuple[Metric, ...] = (",
        *(f"    {constant(m.name)}," for m in registry.metrics),
        ")",
    ]
    return "\n".join(lines) + "\n"


def _metric(metric: MetricDefinition) -> str:
    hints = metric.hints
    least, greatest = hints.range
    arguments = [
        _text(metric.name),
        _text(metric.unit),
        f"Instrument.{metric.instrument.name}",
        f"ValueType.{metric.value_type.name}",
        _text(metric.brief),
        f"Profile.{PROFILES[hints.profile].name}",
        'float("-inf")' if least is None else repr(least),
    ]
    arguments += [] if greatest is None else [repr(greatest)]
    return f"Metric({', '.join(arguments)})"


def attributes_module(registry: Registry) -> str:
    """Return the module with attribute keys, and a class of values for each enumeration."""
    keys = _keys(registry)
    blocks = [
        HEADER
        + '"""Attribute keys of the GPU semantic convention, and values of enumerations."""\n',
        "\n".join(f"{constant(key)} = {_text(key)}" for key in keys),
    ]
    for key in keys:
        members = registry.members(key)
        if members:
            values = "\n".join(f"    {_value_constant(m.id)} = {_text(m.text)}" for m in members)
            head = f'\n\nclass {class_name(key)}:\n    """Values of ``{key}``."""\n'
            blocks.append(f"{head}\n{values}")
    return "\n".join(blocks) + "\n"


def events_module(registry: Registry) -> str:
    """Return the module with event names."""
    names = sorted(event.name for event in registry.events)
    lines = "\n".join(f"{constant(name)} = {_text(name)}" for name in names)
    return f'{HEADER}"""Event names of the GPU semantic convention."""\n\n{lines}\n'


def rules_module(registry: Registry) -> str:
    """Return the module with what points may carry, by metric and by attribute."""
    attributes = [f"    {_text(k)}: {_attribute_rule(registry, k)}," for k in _keys(registry)]
    metrics = [
        f"    {_text(m.name)}: {_metric_rule(list(registry.references(m.attributes).values()))},"
        for m in registry.metrics
    ]
    return "\n".join(
        [
            HEADER + _LAID_OUT + '"""Rules that ``otelgpu.testing`` checks points by."""\n',
            "from collections.abc import Mapping\n",
            "from otelgpu.semconv.rule import AttributeRule, MetricRule\n",
            "ATTRIBUTES: Mapping[str, AttributeRule] = {",
            *attributes,
            "}\n",
            "METRICS: Mapping[str, MetricRule] = {",
            *metrics,
            "}",
            "",
        ]
    )


def _attribute_rule(registry: Registry, key: str) -> str:
    type_ = registry.type_of(key)
    template = type_.startswith("template[")
    official = registry.official.attributes.get(key)
    values = [m.text for m in registry.members(key)]
    if official is not None and official.open:
        values = []
    arguments = [_text(type_.removeprefix("template[").removesuffix("]"))]
    arguments += [_set(values)] if values else []
    arguments += ["template=True"] if template else []
    return f"AttributeRule({', '.join(arguments)})"


def _metric_rule(references: Sequence[Reference]) -> str:
    required = [r.ref for r in references if r.level == "required"]
    optional = [r.ref for r in references if r.level != "required"]
    narrowed = {r.ref: r.annotations.gpu.values for r in references if r.annotations.gpu.values}
    values = ", ".join(f"{_text(key)}: {_set(v)}" for key, v in sorted(narrowed.items()))
    return f"MetricRule({_set(required)}, {_set(optional)}, {{{values}}})"


def _keys(registry: Registry) -> list[str]:
    return sorted({*(a.key for a in registry.attributes), *registry.official.attributes})


def _value_constant(member: str) -> str:
    return member.strip("_").upper().replace(".", "_")


def _set(values: Iterable[str]) -> str:
    inside = ", ".join(_text(v) for v in sorted(values))
    return f"frozenset({{{inside}}})" if inside else "frozenset()"


def _text(value: str) -> str:
    quote = "'" if '"' in value and "'" not in value else '"'
    return quote + value.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote
