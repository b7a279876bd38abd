from __future__ import annotations

from collections.abc import Callable

import pytest

from otelgpu.semconv.registry import Registry
from otelgpu.semconv.validate import validate

Findings = Callable[..., list[str]]

MANIFEST, OFFICIAL, VALUES = "registry/manifest.yaml", "official.yaml", "values.yaml"
ATTRIBUTES, GROUPS, METRICS = (
    "registry/attributes.yaml",
    "registry/groups.yaml",
    "registry/metrics.yaml",
)
SECOND_ATTRIBUTE = """- key: %s
  brief: Another.
  type: string
  stability: development
- key: hw.gpu.lamp
"""


def test_the_registry_has_no_findings(registry: Registry) -> None:
    assert validate(registry) == []


def test_the_small_registry_has_no_findings(findings: Findings) -> None:
    assert findings() == []


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (MANIFEST, "schemas/0.1.0", "schemas/next", "does not end with a version"),
        (MANIFEST, "1.44.0", "1.43.0",
         "does not depend on https://opentelemetry.io/schemas/1.44.0"),
        (METRICS, "hw.gpu.flashes", "hw.gpu.Flashes", "hw.gpu.Flashes: a name is lower case"),
        (METRICS, "hw.gpu.bulb", "hw.gpu..bulb", "hw.gpu..bulb: a name is lower case"),
        (ATTRIBUTES, "id: red", "id: Red", "member id Red is not in snake_case"),
        (METRICS, "hw.gpu.flashes", "hw.gpu.lamp.utilization", "metric defined 2 times"),
        (ATTRIBUTES, "hw.gpu.lamp", "hw.gpu.color", "attribute defined 2 times"),
        (GROUPS, "id: gpu.attached", "id: gpu.device", "attribute group defined 2 times"),
        (ATTRIBUTES, "id: dark_blue", "id: red", "member red stands 2 times"),
        (ATTRIBUTES, "value: dark.blue", "value: red", "member red stands 2 times"),
        (METRICS, "name: hw.gpu.flashes", "name: hw.status", "redefines an official metric"),
        (ATTRIBUTES, "key: hw.gpu.lamp", "key: hw.id", "redefines an official attribute"),
        (VALUES, "hw.gpu.task", "hw.gpu.color", "hw.gpu.color is no official enumeration"),
        (VALUES, "copy: Copies", "general: All", "has the value general already"),
        (METRICS, "hw.gpu.flashes", "hw.gpu.lamp",
         "metric name is the namespace of hw.gpu.lamp.ut"),
        (METRICS, "hw.gpu.flashes", "hw.gpu.memory", "is the namespace of hw.gpu.memory.limit"),
        (METRICS, "hw.gpu.flashes", "hw.power.flashes", "hw.power: metric name is the namespace"),
        (ATTRIBUTES, "key: hw.gpu.lamp", "key: hw.gpu.color.lamp", "attribute name is the names"),
        (METRICS, "hw.gpu.flashes", "hw.gpu_lamp.utilization", "same Python constant"),
        (ATTRIBUTES, "- key: hw.gpu.lamp\n", SECOND_ATTRIBUTE % "hw.gpu_lamp",
         "same Prometheus la"),
        (ATTRIBUTES, "key: hw.gpu.lamp", "key: hw.gpu_task", "same Python constant HW_GPU_TASK"),
        (METRICS, "unit: '{lamp}'", "unit: '{lamps}'", "unit {lamps} is not in the singular"),
        (METRICS, "Flashes of the lamp.", "Flashes of the lamp",
         "brief does not end with a period"),
        (ATTRIBUTES, "brief: Red.", "brief: Red", "hw.gpu.color: member red: brief does not end"),
        (VALUES, "Copies.", "Copies", "hw.gpu.task: copy: brief does not end"),
        (METRICS, "unit: '{flash}'", "unit: ms", "unit ms is neither an unprefixed unit"),
        (METRICS, "unit: '{flash}'", "unit: '1'", "unit 1 on a counter"),
        (METRICS, "hw.gpu.lamp.utilization", "hw.gpu.lamp.share", "if and only if it is a ratio"),
        (METRICS, "unit: '1'", "unit: W", "if and only if it is a ratio"),
        (METRICS, "process.gpu.lamp.count", "process.gpu.lamps",
         "updowncounter is not in the sing"),
        (METRICS, "range: [0, 10]", "range: [10, 0]", "upside down"),
        (METRICS, "range: [0, 10]", "range: [0]", "range is not [least, greatest]"),
        (METRICS, "range: [0, 10]", "range: [0, null]", "an int has both bounds"),
        (METRICS, "range: [0, 10]", "range: [0, 9223372036854775808]", "does not fit into 64 bits"),
        (METRICS, "range: [0, 1000]\n      no", "range: [-1, 9]\n      no",
         "counter's range begins"),
        (METRICS, "profile: standard", "profile: usual", "unknown profile usual"),
        (METRICS, "profile: standard", "profile: full", "asks for requirement_level opt_in"),
        (METRICS, "series: 2", "series: -2", "series is negative"),
        (METRICS, "series: 2", "series: 90", "profile standard: 91 series a GPU, more than 90"),
        (METRICS, "series: 1\n", "series: 26\n", "profile minimal: 26 series a GPU, more than 25"),
        (METRICS, "source: {any: a meter}", "cadence: start",
         "exactly one of source and no_source"),
        (METRICS, "source: {any: a", "no_source: x\n      source: {any: a",
         "exactly one of source"),
        (METRICS, "{any: a meter}", "{meter: a meter}", "unknown vendor interface meter"),
        (METRICS, "name: DCGM_FI_DEV_LAMP", "name: LAMP", "LAMP is no name of a DCGM field"),
        (METRICS, "{hw.gpu.color: red}", "{hw.gpu.lamp: red}", "has no attribute hw.gpu.lamp"),
        (METRICS, "{hw.gpu.color: red}", "{hw.gpu.color: pink}", "hw.gpu.color has no value pink"),
        (METRICS, "{any: a meter}", "{any: a}\n      dcgm_exporter: [{name: DCGM_FI_DEV_LAMP}]",
         "DCGM_FI_DEV_LAMP: equivalent of 2 metrics"),
        (METRICS, "ref: hw.gpu.lamp\n", "ref: hw.gpu.lump\n", "unknown attribute hw.gpu.lump"),
        (METRICS, "{ref_group: gpu.attached}", "{ref_group: gpu.x}",
         "unknown attribute group gpu.x"),
        (METRICS, "{ref: hw.gpu.color, ", "{ref: hw.gpu.color, ref_group: gpu.device, ",
         "either ref or ref_group"),
        (METRICS, "conditionally_required:", "sometimes:", "unknown requirement level sometimes"),
        (METRICS, "{conditionally_required: If it holds one.}", "conditionally_required",
         "a condition belongs to conditionally_required"),
        (GROUPS, "{ref: k8s.pod.name, requirement_level: opt_in}", "{ref_group: gpu.device}",
         "a group refers to a group"),
        (METRICS, "{values: [copy]}", "{values: [paste]}", "hw.gpu.task has no value paste"),
        (OFFICIAL, "process.pid: {type: int}", "process.pid: {type: 'int[]'}",
         "type int[] is none"),
        (GROUPS, "{ref: hw.type, requirement_level: required}",
         "{ref: hw.type, requirement_level: opt_in}", "hw.type is not required"),
        (METRICS, "{ref: process.pid, requirement_level: required}",
         "{ref: process.pid, requirement_level: opt_in}", "process.pid is not required"),
        (METRICS, "lamp.utilization", "lamp.count", "gpu.attached on a counter, info, limit, max"),
        (ATTRIBUTES, "- key: hw.gpu.lamp\n", SECOND_ATTRIBUTE % "hw.gpu.bulb",
         "hw.gpu.bulb: attribute is"),
        (METRICS, "  - {ref_group: gpu.attached}\n", "",
         "gpu.attached: attribute group is used nowhere"),
        (OFFICIAL, "hw.id: {", "hw.name: {type: string}\n  hw.id: {",
         "attribute hw.name is used no"),
        (OFFICIAL, "hw.power: {",
         "hw.energy: {instrument: counter, unit: J, brief: E.}\n  hw.power: {",
         "metric hw.energy is not refined"),
        (METRICS, "lamp.\n  instrument: counter\n  unit: '{flash}'\n  stability: development",
         "lamp.\n  instrument: counter\n  unit: '{flash}'\n  stability: ripe",
         "unknown stability ripe"),
        (METRICS, "{metric_value_type: double}\n    gpu:\n      profile: standard",
         "{metric_value_type: int}\n    gpu:\n      profile: standard",
         "a ratio is of type double"),
        (METRICS, "process.gpu.lamp.count", "hw.gpu.flashes_total", "same Prometheus name"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_found(
    findings: Findings, file: str, old: str, new: str, expected: str
) -> None:
    found = findings(file, old, new)
    assert any(expected in finding for finding in found), found
