"""What the devices of this node have, as ``otelgpu components --support`` shows it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from attrs import frozen

from otelgpu.config.document import Document
from otelgpu.points.metric import Profile
from otelgpu.points.stream import Attributes
from otelgpu.scraping.support import DeviceSupport, Finding
from otelgpu.semconv.metrics import ALL

_HEADS = {
    "supported": "supported",
    "unsupported": "unsupported: the device or its driver does not have it",
    "refused": "refused: the driver has it, but not for this user",
    "missing": "missing: it could not be read now",
    "elsewhere": "told of another level, so that plain sums are right",
    "not read": "not read by this receiver",
}
_DEVICE_METRICS = ("hw.", "process.gpu.")
_DERIVED = ("hw.gpu.workload.", "hw.gpu.allocation.")
"""What processors make of readings."""


@frozen(order=True)
class Line:
    """One value: how it is with it, and why."""

    verdict: str
    metric: str
    attributes: str = ""
    source: str = ""
    reason: str = ""
    detail: str = ""


def ask_for_all(document: Document) -> Document:
    """Return a configuration by which receivers read everything that they know."""

    def widen(spec: Any) -> Any:
        if not isinstance(getattr(spec.config, "profile", None), Profile):
            return spec
        return attrs.evolve(spec, config=attrs.evolve(spec.config, profile=Profile.FULL))

    return attrs.evolve(
        document, components={key: widen(spec) for key, spec in document.components.items()}
    )


def lines(device: DeviceSupport, others: Iterable[DeviceSupport]) -> list[Line]:
    """Return a device's lines, those of metrics that are told of its parent or parts included."""
    found = {_line(finding) for finding in device.findings}
    told = {(x.metric, x.attributes) for x in found if x.verdict == "supported"}
    # One value may have several sources: where one gives it, nobody misses it in the others.
    found = {x for x in found if x.verdict == "supported" or (x.metric, x.attributes) not in told}
    seen = {finding.metric for finding in device.findings}
    family = [o for o in others if _related(device, o)]
    for metric in ALL:
        if metric in seen or not metric.name.startswith(_DEVICE_METRICS):
            continue
        if metric.name.startswith(_DERIVED) or metric.name == "hw.status":
            continue
        level = next((o for o in family if any(f.metric is metric for f in o.findings)), None)
        if level is None:
            found.add(Line("not read", metric.name))
        else:
            found.add(Line("elsewhere", metric.name, reason=_where(device, level)))
    return sorted(found, key=lambda line: ([*_HEADS].index(line.verdict), line))


def _related(device: DeviceSupport, other: DeviceSupport) -> bool:
    """Whether another one is the device's GPU, its partition, or one of the same GPU."""
    parent, others = device.attributes.get("hw.parent"), other.attributes.get("hw.parent")
    return other.id == parent or others == device.id or (parent is not None and others == parent)


def _where(device: DeviceSupport, level: DeviceSupport) -> str:
    if "hw.parent" not in level.attributes:
        return f"of the GPU, {level.id}"
    if "hw.parent" in device.attributes:
        return f"of {level.id}, which shares it"
    return "of its partitions"


def _line(finding: Finding) -> Line:
    refusal = finding.refusal if finding.verdict.value != "supported" else None
    return Line(
        finding.verdict.value,
        finding.metric.name,
        _own(finding.attributes),
        finding.source,
        refusal.reason if refusal else "",
        refusal.words if refusal and refusal.words != refusal.reason else "",
    )


def _own(attributes: Attributes) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(attributes.items()))


def as_table(support: Mapping[str, Sequence[DeviceSupport]]) -> Iterator[str]:
    """Yield lines for people; devices that have the same are shown together."""
    for receiver, devices in support.items():
        groups: dict[tuple[str, ...], list[DeviceSupport]] = defaultdict(list)
        for device in devices:
            groups[tuple(_shown(lines(device, devices)))].append(device)
        for shown, alike in groups.items():
            model = alike[0].attributes.get("hw.model", "")
            kind = "partition of " if "hw.parent" in alike[0].attributes else ""
            yield f"{receiver}: {len(alike)} x {kind}{model}"
            yield from (f"  {device.id}" for device in alike)
            yield from shown
            yield ""


def _shown(found: Sequence[Line]) -> Iterator[str]:
    width = max((len(_name(line)) for line in found), default=0)
    for verdict, head in _HEADS.items():
        chosen = [line for line in found if line.verdict == verdict]
        if chosen:
            yield f"  {head} ({len({line.metric for line in chosen})} metrics)"
        for line in chosen:
            why = ": ".join(part for part in (line.reason, line.detail) if part)
            # What the verdict says already
            why = why.removeprefix("unsupported: ").removeprefix("unsupported")
            source = line.source if line.verdict != "not read" else ""
            yield "  ".join(["   ", _name(line).ljust(width), source, why]).rstrip()


def _name(line: Line) -> str:
    return f"{line.metric}{{{line.attributes}}}" if line.attributes else line.metric


def as_json(support: Mapping[str, Sequence[DeviceSupport]]) -> list[dict[str, Any]]:
    """Return the same as data: one object for each device."""
    return [
        {
            "receiver": receiver,
            "device": device.id,
            "model": device.attributes.get("hw.model", ""),
            "parent": device.attributes.get("hw.parent", ""),
            "metrics": [attrs.asdict(line) for line in lines(device, devices)],
        }
        for receiver, devices in support.items()
        for device in devices
    ]
