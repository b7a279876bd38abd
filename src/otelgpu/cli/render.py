"""Batches as text: a table for people, an OTLP JSON document, counts of series."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from otelgpu.delivery.otlpjson import to_otlp_json
from otelgpu.points.batch import Batch, Reading
from otelgpu.points.metric import Metric, Profile
from otelgpu.points.stream import Attributes, AttributeValue
from otelgpu.semconv.metrics import HW_GPU_INFO, SCHEMA_URL

_SMALL = 0.001
_WIDEST = 72
"""A longer cell moves the rest of its own line only."""
_IDENTITY = frozenset({"hw.id", "hw.type", "hw.vendor", "hw.model", "hw.name", "hw.parent"})


def as_otlp_json(batches: Sequence[Batch]) -> str:
    """Return one ``ExportMetricsServiceRequest`` in OTLP's JSON encoding."""
    resources = [r for b in batches for r in to_otlp_json(b, SCHEMA_URL)["resourceMetrics"]]
    return json.dumps({"resourceMetrics": resources}, indent=2)


def as_series(batches: Sequence[Batch]) -> str:
    """Return the number of series by metric and profile, and how many each profile has in all."""
    counts: Counter[Metric] = Counter(stream.metric for b in batches for stream, _, _ in b.points)
    rows = [("METRIC", "PROFILE", "SERIES")]
    rows += [
        (metric.name, metric.profile.name.lower(), str(counts[metric]))
        for metric in sorted(counts, key=lambda m: (m.profile, m.name))
    ]
    for profile in Profile:
        total = sum(n for metric, n in counts.items() if metric.profile <= profile)
        rows.append(("total", profile.name.lower(), str(total)))
    return _columns(rows)


def as_table(batches: Sequence[Batch]) -> str:
    """Return every value, device by device: first what the device is, then what was read."""
    return "\n\n".join(map(_device, _by_device(batches).items())) or "nothing could be read"


def _device(entry: tuple[str, list[Reading]]) -> str:
    title, readings = entry
    described: list[tuple[str, str]] = []
    rows: list[tuple[str, str]] = []
    for stream, value in readings:
        if stream.metric is HW_GPU_INFO:
            described += [(key, str(text)) for key, text in _own(stream.attributes)]
            continue
        attributes = ", ".join(f"{key}={text}" for key, text in _own(stream.attributes))
        name = f"{stream.metric.name}{{{attributes}}}" if attributes else stream.metric.name
        rows.append((name, f"{_number(value)} {_unit(stream.metric)}"))
    lines = _columns([*described, *sorted(rows)]).split("\n")
    return "\n".join([title, *(f"  {line}" for line in lines)])


def _by_device(batches: Sequence[Batch]) -> dict[str, list[Reading]]:
    """Return readings by device; a process's or a holder's points know it by its id alone."""
    models: dict[AttributeValue, AttributeValue] = {}
    found: dict[AttributeValue, list[Reading]] = {}
    for batch in batches:
        for stream, value, _ in batch.points:
            device = stream.attributes.get("hw.id", "node")
            if "hw.model" in stream.attributes:
                models[device] = stream.attributes["hw.model"]
            found.setdefault(device, []).append((stream, value))
    return {f"{device}  {models.get(device, '')}".strip(): r for device, r in found.items()}


def _own(attributes: Attributes) -> list[tuple[str, AttributeValue]]:
    """Return the attributes that are not the device's on every point."""
    return [(key, value) for key, value in sorted(attributes.items()) if key not in _IDENTITY]


def _number(value: float) -> str:
    if isinstance(value, int) or value == 0:
        return f"{value:,.0f}"
    return f"{value:,.3f}".rstrip("0").rstrip(".") if abs(value) >= _SMALL else f"{value:.3g}"


def _unit(metric: Metric) -> str:
    return "" if metric.unit == "1" else metric.unit.strip("{}")


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*rows, strict=True)]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
