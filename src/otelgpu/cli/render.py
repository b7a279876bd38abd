"""Batches as text: a table for people, an OTLP JSON document, counts of series."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from otelgpu.delivery.otlpjson import to_otlp_json
from otelgpu.points.batch import Batch
from otelgpu.points.metric import Metric, Profile
from otelgpu.points.stream import Attributes
from otelgpu.semconv.metrics import SCHEMA_URL

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
    """Return every value, device by device; the node's own values stand under ``node``."""
    titles: dict[str, str] = {}
    found: dict[str, list[tuple[str, str]]] = {}
    for batch in batches:
        for stream, value, _ in batch.points:
            attributes = stream.attributes
            # A process's or a holder's points know the device by its id alone.
            device = str(attributes.get("hw.id", "node"))
            titles[device] = max(titles.get(device, ""), _title(device, attributes), key=len)
            rest = ", ".join(_attributes(attributes))
            name = f"{stream.metric.name}{{{rest}}}" if rest else stream.metric.name
            text = f"{_number(value)} {_unit(stream.metric)}"
            found.setdefault(device, []).append((name, text))
    parts = []
    for device, rows in found.items():
        lines = _columns(sorted(rows)).split("\n")
        parts.append("\n".join([titles[device], *(f"  {line}" for line in lines)]))
    return "\n\n".join(parts) or "nothing could be read"


def _title(device: str, attributes: Attributes) -> str:
    more = [str(attributes[k]) for k in ("hw.vendor", "hw.model") if k in attributes]
    return " ".join([device, *more])


def _attributes(attributes: Attributes) -> Iterator[str]:
    for key, value in sorted(attributes.items()):
        if key not in _IDENTITY:
            yield f"{key}={value}"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _unit(metric: Metric) -> str:
    return "" if metric.unit == "1" else metric.unit


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
