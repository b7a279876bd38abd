"""Policies on what a metric says of itself: texts, unit, range, profile and sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from otelgpu.points.metric import Instrument, ValueType
from otelgpu.semconv.model import PROFILES, Enumeration, MetricDefinition
from otelgpu.semconv.registry import Registry

BUDGETS = {"minimal": 25, "standard": 90}
"""Series that one H100 may give by NVML, profile by profile (each holds those before it)."""
VENDORS = frozenset({"nvml", "dcgm", "amdsmi", "level_zero", "any"})
_UNITS = frozenset({"1", "By", "By/s", "s", "W", "J", "Hz", "Cel", "V", "rpm"})
_ANNOTATION = re.compile(r"\{[a-z]+(_[a-z]+)*\}")
_RATIO = re.compile(r"(utilization|occupancy|ratio|fraction)$")
_SINGULAR = ("status", "process", "address", "access", "progress")
_DCGM = re.compile(r"DCGM_FI_[A-Z0-9_]+")
_STABILITY = frozenset({"development", "alpha", "beta", "release_candidate", "stable"})
_INT64 = 2**63


def texts(registry: Registry) -> Iterator[str]:
    """A brief is a sentence."""
    briefs = [(m.name, m.brief) for m in registry.metrics]
    briefs += [(a.key, a.brief) for a in registry.attributes]
    briefs += [(e.name, e.brief) for e in registry.events]
    briefs += [
        (f"{a.key}: member {m.id}", m.brief)
        for a in registry.attributes
        if isinstance(a.type, Enumeration)
        for m in a.type.members
    ]
    briefs += [
        (f"values.yaml: {k}: {v}", b) for k, vs in registry.added.items() for v, b in vs.items()
    ]
    for name, brief in briefs:
        if not brief.endswith("."):
            yield f"{name}: brief does not end with a period"


def stability(registry: Registry) -> Iterator[str]:
    """Stability is one of upstream's words."""
    entries = [(m.name, m.stability) for m in registry.metrics]
    entries += [(a.key, a.stability) for a in registry.attributes]
    entries += [(e.name, e.stability) for e in registry.events]
    for name, word in entries:
        if word not in _STABILITY:
            yield f"{name}: unknown stability {word}"


def units(registry: Registry) -> Iterator[str]:
    """Units are unprefixed; ``1`` is for ratios; counts carry what they count, in the singular."""
    for metric in registry.metrics:
        if metric.name in registry.refined:
            continue  # upstream's decision, whatever we think of it
        yield from (f"{metric.name}: {fault}" for fault in _unit_faults(metric))


def _unit_faults(metric: MetricDefinition) -> Iterator[str]:
    unit, instrument = metric.unit, metric.instrument
    is_ratio = _RATIO.search(metric.name) is not None
    if unit not in _UNITS and not _ANNOTATION.fullmatch(unit):
        yield f"unit {unit} is neither an unprefixed unit nor an annotation such as {{error}}"
    if _plural(unit.strip("{}")) and unit.startswith("{"):
        yield f"annotation unit {unit} is not in the singular"
    if instrument is Instrument.GAUGE and (unit == "1") != is_ratio:
        yield "a gauge has unit 1 if and only if it is a ratio (utilization, occupancy, fraction)"
    if unit == "1" and metric.value_type is not ValueType.DOUBLE:
        yield "a ratio is of type double"
    if instrument is not Instrument.GAUGE and unit == "1":
        yield f"unit 1 on a {instrument.value}: use an annotation unit"
    if instrument is not Instrument.COUNTER and _plural(metric.name.rpartition(".")[2]):
        yield f"the name of a {instrument.value} is not in the singular"


def _plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(_SINGULAR) and len(word) > 1


def ranges(registry: Registry) -> Iterator[str]:
    """Bounds have an order, counters start at 0, and an int fits into 64 bits."""
    for metric in registry.metrics:
        bounds = metric.hints.range
        if len(bounds) != 2:  # noqa: PLR2004  # least and greatest
            yield f"{metric.name}: range is not [least, greatest]"
            continue
        least, greatest = bounds
        if least is not None and greatest is not None and least > greatest:
            yield f"{metric.name}: range {list(bounds)} is upside down"
        if metric.instrument is Instrument.COUNTER and (least is None or least < 0):
            yield f"{metric.name}: a counter's range begins at 0 or above"
        if metric.value_type is ValueType.INT:
            if least is None or greatest is None:
                yield f"{metric.name}: an int has both bounds"
            elif least < -_INT64 or greatest >= _INT64:
                yield f"{metric.name}: range {list(bounds)} does not fit into 64 bits"


def profiles(registry: Registry) -> Iterator[str]:
    """Profiles are known, agree with the requirement level, and keep within their budgets."""
    total = 0
    for metric in registry.metrics:
        profile = metric.hints.profile
        if profile not in PROFILES:
            yield f"{metric.name}: unknown profile {profile}: {', '.join(PROFILES)}"
        level = "opt_in" if profile == "full" else "recommended"
        if metric.requirement_level != level:
            yield f"{metric.name}: profile {profile} asks for requirement_level {level}"
        if metric.hints.series < 0:
            yield f"{metric.name}: series is negative"
    for profile, budget in BUDGETS.items():
        total += sum(m.hints.series for m in registry.metrics if m.hints.profile == profile)
        if total > budget:
            yield f"profile {profile}: {total} series a GPU, more than {budget}"


def sources(registry: Registry) -> Iterator[str]:
    """Every metric names the calls that give it, or says why there are none."""
    for metric in registry.metrics:
        hints = metric.hints
        if bool(hints.source) == bool(hints.no_source):
            yield f"{metric.name}: exactly one of source and no_source is needed"
        for field in ("source", "window", "permission"):
            for vendor in getattr(hints, field):
                if vendor not in VENDORS:
                    yield f"{metric.name}: {field}: unknown vendor interface {vendor}"


def dcgm_exporter(registry: Registry) -> Iterator[str]:
    """An old name stands for one metric, chosen by attributes that the metric has."""
    seen = Counter(d.name for m in registry.metrics for d in m.hints.dcgm_exporter)
    yield from (
        f"{name}: equivalent of {count} metrics" for name, count in seen.items() if count > 1
    )
    for metric in registry.metrics:
        references = registry.references(metric.attributes)
        for equivalent in metric.hints.dcgm_exporter:
            where = f"{metric.name}: {equivalent.name}"
            if not _DCGM.fullmatch(equivalent.name):
                yield f"{where} is no name of a DCGM field"
            for key, value in equivalent.where.items():
                known = {m.text for m in registry.members(key)}
                if key not in references:
                    yield f"{where}: the metric has no attribute {key}"
                elif known and value not in known:
                    yield f"{where}: {key} has no value {value}"


POLICIES: tuple[Callable[[Registry], Iterator[str]], ...] = (
    texts,
    stability,
    units,
    ranges,
    profiles,
    sources,
    dcgm_exporter,
)
