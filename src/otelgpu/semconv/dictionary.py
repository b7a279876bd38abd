"""The metric dictionary: one Markdown page with all that the registry says of each metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otelgpu.semconv.model import PROFILES, Cadence, Hints, MetricDefinition, Reference
from otelgpu.semconv.promname import metric_name
from otelgpu.semconv.registry import Registry

_INTERFACES = {
    "any": "any",
    "nvml": "NVML",
    "dcgm": "DCGM (field ids)",
    "amdsmi": "AMD SMI",
    "level_zero": "Level Zero",
}
_CADENCES = {
    Cadence.SCRAPE: "each scrape",
    Cadence.MINUTE: "once a minute is enough",
    Cadence.START: "when the device is found",
    Cadence.EVENT: "when it happens",
}
_INTRODUCTION = """\
<!-- Generated from semconv/registry by `otelgpu semconv generate`: do not edit. -->

# Metrics

Every metric of the convention; the README of a receiver says what it sends today. Schema: `{schema_url}`, on top of OpenTelemetry's semantic
conventions `{official}`. A value that a device does not have is absent, never 0.

Each *profile* holds the ones before it. With all that NVML can tell of an H100 that makes about {minimal} series a
GPU with `minimal`, {standard} with `standard` and {full} with `full`; points of holders, processes and
faults come on top, one for each.

*Window* is the time over which the driver itself has averaged or counted. *Range* is what is
plausible: a reading outside is dropped and counted. All sums are cumulative.
"""


def page(registry: Registry) -> str:
    """Return the page."""
    blocks = [_introduction(registry), "## Index", _index(registry)]
    for title, metrics in _sections(registry):
        blocks.append(f"## {title}")
        blocks += [block for m in metrics for block in _metric(registry, m)]
    blocks.append("## Attribute groups")
    for group in registry.groups:
        blocks += [f"### Group `{group.id}`", _references(registry, group.attributes)]
    return "\n\n".join(block.strip("\n") for block in blocks) + "\n"


def _introduction(registry: Registry) -> str:
    series = dict.fromkeys(PROFILES, 0)
    for metric in registry.metrics:
        for profile, rank in PROFILES.items():
            if PROFILES[metric.hints.profile] <= rank:
                series[profile] += metric.hints.series
    return _INTRODUCTION.format(
        schema_url=registry.manifest.schema_url, official=registry.official.schema_url, **series
    )


def _index(registry: Registry) -> str:
    rows = [
        (
            f"[`{m.name}`](#{_anchor(m.name)})",
            m.instrument.value,
            f"`{m.unit}`",
            m.hints.profile,
            f"`{_prometheus(m)}`",
        )
        for m in registry.metrics
    ]
    return _table(("metric", "instrument", "unit", "profile", "Prometheus name"), rows)


def _sections(registry: Registry) -> Iterator[tuple[str, list[MetricDefinition]]]:
    sections: dict[str, list[MetricDefinition]] = {}
    for metric in registry.metrics:
        words = metric.name.split(".")
        depth = 3 if metric.name.startswith("hw.gpu.") and len(words) > 3 else 2  # noqa: PLR2004
        namespace = ".".join(words[: min(depth, len(words) - 1)])
        sections.setdefault(f"`{namespace}`", []).append(metric)
    yield from sorted(sections.items())


def _metric(registry: Registry, metric: MetricDefinition) -> Iterator[str]:
    yield f"### {metric.name}"
    yield " ".join(filter(None, (metric.brief, metric.note)))
    if metric.deprecated:
        yield f"**Deprecated**: {metric.deprecated.get('renamed_to') or metric.deprecated['note']}"
    yield _table(("", ""), list(_facts(registry, metric)))
    yield _references(registry, metric.attributes)
    hints = metric.hints
    yield _sources(hints) if hints.source else f"Source: {hints.no_source}."
    if hints.dcgm_exporter:
        yield "\n".join(["dcgm-exporter:", "", *_equivalents(hints)])


def _facts(registry: Registry, metric: MetricDefinition) -> Iterator[tuple[str, str]]:
    hints = metric.hints
    official = metric.name in registry.refined
    yield "instrument", f"{metric.instrument.value}, {metric.value_type.value}"
    yield "unit", f"`{metric.unit}`"
    yield "Prometheus", f"`{_prometheus(metric)}`"
    yield "defined by", "OpenTelemetry, refined here" if official else "this convention"
    series = f", {hints.series} series on an H100" if hints.series else ""
    yield "profile", hints.profile + series
    yield "range", _range(hints.range)
    yield "worth reading", _CADENCES[hints.cadence]


def _references(registry: Registry, references: Sequence[Reference]) -> str:
    groups = [
        f"[`{r.ref_group}`](#{_anchor(f'Group {r.ref_group}')})" for r in references if r.ref_group
    ]
    rows = [
        (f"`{r.ref}`", _level(r), registry.type_of(r.ref), _values(registry, r))
        for r in references
        if r.ref
    ]
    text = f"Attributes of {', '.join(groups)}" if groups else "Attributes"
    if not rows:
        return f"{text}."
    return f"{text}{' and' if groups else ''}:\n\n" + _table(
        ("attribute", "requirement", "type", "values"), rows
    )


def _level(reference: Reference) -> str:
    level = reference.level.replace("_", " ").replace("opt in", "opt-in")
    return f"{level}: {reference.condition}" if reference.condition else level


def _values(registry: Registry, reference: Reference) -> str:
    narrowed = reference.annotations.gpu.values
    known = [m.text for m in registry.members(reference.ref)]
    official = registry.official.attributes.get(reference.ref)
    if not narrowed and official is not None and official.open:
        return "any"
    return ", ".join(f"`{v}`" for v in narrowed or known) or "any"


def _sources(hints: Hints) -> str:
    rows = [
        (_INTERFACES[i], hints.source[i], hints.window.get(i, ""), hints.permission.get(i, ""))
        for i in _INTERFACES
        if i in hints.source
    ]
    table = _table(("interface", "source", "window", "permission"), rows)
    general = hints.permission.get("any", "")
    if general and "any" not in hints.source:
        return f"{table}\n\nPermission needed: {general}."
    return table


def _equivalents(hints: Hints) -> Iterator[str]:
    for old in hints.dcgm_exporter:
        scale = "" if old.scale == 1 else f" (its value is ours times {old.scale:.10g})"
        where = " and ".join(f"`{key}`=`{value}`" for key, value in old.where.items())
        yield f"- `{old.name}`{f' where {where}' if where else ''}{scale}"


def _range(bounds: Sequence[float | None]) -> str:
    least, greatest = bounds
    if greatest is None:
        return f"{_number(least)} or more"
    return f"{_number(least)} to {_number(greatest)}"


def _number(value: float | None) -> str:
    if value is None:
        return "no bound"
    power = int(value).bit_length()
    if value == 2**power - 1 and power > 40:  # noqa: PLR2004  # easier to read as a power
        return f"2^{power} - 1"
    return f"{value:,}"


def _prometheus(metric: MetricDefinition) -> str:
    return metric_name(metric.name, metric.unit, metric.instrument)


def _anchor(heading: str) -> str:
    return heading.lower().replace(".", "").replace(" ", "-")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in cells)
