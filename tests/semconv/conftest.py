from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from otelgpu.semconv.registry import Registry, load
from otelgpu.semconv.validate import validate

MANIFEST = """
schema_url: https://example.com/schemas/0.1.0
description: A small registry.
stability: development
dependencies:
- schema_url: https://opentelemetry.io/schemas/1.44.0
  registry_path: deps
"""
OFFICIAL = """
schema_url: https://opentelemetry.io/schemas/1.44.0
metrics:
  hw.power: {instrument: gauge, unit: W, brief: Power.}
attributes:
  hw.id: {type: string}
  hw.type: {type: string, values: [gpu]}
  hw.gpu.task: {type: string, values: [general]}
  process.pid: {type: int}
  k8s.pod.name: {type: string}
names:
- hw.power
- hw.status
- hw.gpu.memory.limit
"""
VALUES = """
hw.gpu.task:
  copy: Copies.
"""
ATTRIBUTES = """
file_format: definition/2
attributes:
- key: hw.gpu.color
  brief: Color of the lamp.
  type:
    members:
    - {id: red, brief: Red., stability: development}
    - {id: dark_blue, value: dark.blue, brief: Blue., stability: development}
  stability: development
- key: hw.gpu.lamp
  brief: Number of the lamp.
  type: int
  examples: [1]
  stability: development
"""
GROUPS = """
file_format: definition/2
attribute_groups:
- id: gpu.device
  visibility: internal
  attributes:
  - {ref: hw.id, requirement_level: required}
  - {ref: hw.type, requirement_level: required}
- id: gpu.attached
  visibility: internal
  attributes:
  - {ref: k8s.pod.name, requirement_level: opt_in}
"""
METRICS = """
file_format: definition/2
metrics:
- name: hw.gpu.lamp.utilization
  brief: Share of time that the lamp is on.
  instrument: gauge
  unit: '1'
  stability: development
  requirement_level: recommended
  attributes:
  - {ref_group: gpu.device}
  - {ref_group: gpu.attached}
  - {ref: hw.gpu.color, requirement_level: required}
  annotations:
    code_generation: {metric_value_type: double}
    gpu:
      profile: standard
      range: [0, 1]
      series: 2
      source: {nvml: nvmlDeviceGetLamp}
      dcgm_exporter:
      - {name: DCGM_FI_DEV_LAMP, where: {hw.gpu.color: red}, scale: 100}
- name: hw.gpu.flashes
  brief: Flashes of the lamp.
  instrument: counter
  unit: '{flash}'
  stability: development
  requirement_level: opt_in
  attributes:
  - {ref_group: gpu.device}
  - {ref: hw.gpu.task, requirement_level: required, annotations: {gpu: {values: [copy]}}}
  annotations:
    code_generation: {metric_value_type: int}
    gpu:
      profile: full
      range: [0, 1000]
      no_source: made up
- name: process.gpu.lamp.count
  brief: Lamps that a process holds.
  instrument: updowncounter
  unit: '{lamp}'
  stability: development
  requirement_level: opt_in
  attributes:
  - {ref: hw.id, requirement_level: required}
  - {ref: process.pid, requirement_level: required}
  - ref: hw.gpu.lamp
    requirement_level: {conditionally_required: If it holds one.}
  annotations:
    code_generation: {metric_value_type: int}
    gpu:
      profile: full
      range: [0, 10]
      no_source: made up
metric_refinements:
- id: gpu.hw.power
  ref: hw.power
  attributes:
  - {ref_group: gpu.device}
  annotations:
    code_generation: {metric_value_type: double}
    gpu:
      profile: minimal
      range: [0, 1000]
      series: 1
      source: {any: a meter}
events:
- name: hw.gpu.bulb
  brief: The bulb broke.
  stability: development
  requirement_level: recommended
  attributes:
  - {ref: hw.id, requirement_level: required}
"""
FILES = {
    "official.yaml": OFFICIAL,
    "values.yaml": VALUES,
    "registry/manifest.yaml": MANIFEST,
    "registry/attributes.yaml": ATTRIBUTES,
    "registry/groups.yaml": GROUPS,
    "registry/metrics.yaml": METRICS,
}

Changed = Callable[..., Path]


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    """Write a small sound registry with one passage replaced; return its folder."""

    def write(file: str = "", old: str = "", new: str = "") -> Path:
        for name, text in FILES.items():
            if name == file:
                assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
                text = text.replace(old, new)  # noqa: PLW2901
            path = tmp_path / "semconv" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "semconv/registry"

    return write


@pytest.fixture
def findings(changed: Changed) -> Callable[..., list[str]]:
    """Validate the small registry with one passage replaced."""
    return lambda *change: validate(load(changed(*change)))


@pytest.fixture(scope="session")
def registry_folder() -> Path:
    return Path(__file__).parents[2] / "semconv/registry"


@pytest.fixture(scope="session")
def registry(registry_folder: Path) -> Registry:
    return load(registry_folder)
