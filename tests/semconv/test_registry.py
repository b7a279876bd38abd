from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from otelgpu.points.metric import Instrument
from otelgpu.semconv.registry import Registry, RegistryError, load

METRICS = "registry/metrics.yaml"


def test_a_folder_without_registry_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no registry in .*manifest\.yaml does not exist"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (METRICS, "unit: '1'", "unit: 1",
         "metrics.yaml: hw.gpu.lamp.utilization: .*not of type str"),
        (METRICS, "instrument: counter", "instrument: meter", "hw.gpu.flashes: .*meter"),
        (METRICS, "series: 2", "serie: 2", "hw.gpu.lamp.utilization: .*serie"),
        (METRICS, "  unit: '{flash}'\n", "", "hw.gpu.flashes: required field missing @ .*unit"),
        (METRICS, "series: 2", "cadence: weekly", "hw.gpu.lamp.utilization: .*cadence"),
        (METRICS, "range: [0, 10]", "range: [0, ten]", "'ten' is not of type int or float or null"),
        (METRICS, "ref: hw.power", "ref: hw.sound", "hw.sound: refined, but official.yaml"),
        (METRICS, "events:", "spans:", "metrics.yaml: unknown section spans"),
        (METRICS, "definition/2", "definition/1", "metrics.yaml: file_format is not definition/2"),
        (METRICS, "events:\n- name: hw.gpu.bulb\n", "events:\n- nothing\n- name: hw.gpu.bulb\n",
         "metrics.yaml: events: a list of mappings is expected"),
        ("registry/groups.yaml", "- id: gpu.attached", "- id: [", "groups.yaml: no YAML"),
        ("values.yaml", "copy: Copies.", "copy: 1", "values.yaml: .*not of type str"),
        ("official.yaml", "unit: W", "units: W", "official.yaml: hw.power: "),
        ("registry/manifest.yaml", "stability: development", "", "manifest.yaml: required field"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_told_by_entry_and_field(
    changed: Callable[..., Path], file: str, old: str, new: str, expected: str
) -> None:
    with pytest.raises(RegistryError, match=expected):
        load(changed(file, old, new))


def test_all_mistakes_are_told_at_once(changed: Callable[..., Path]) -> None:
    folder = changed(METRICS, "unit: '1'", "unit: 1")
    (folder / "extra.yaml").write_text("file_format: definition/2\nspans: []\n")
    with pytest.raises(RegistryError) as caught:
        load(folder)
    assert len(caught.value.findings) == 2


def test_a_refinement_takes_unit_and_instrument_from_upstream(registry: Registry) -> None:
    power = next(m for m in registry.metrics if m.name == "hw.power")
    assert (power.unit, power.instrument) == ("W", Instrument.GAUGE)
    assert "hw.power" in registry.refined


def test_values_of_an_official_enumeration_are_upstreams_and_ours(registry: Registry) -> None:
    tasks = [m.text for m in registry.members("hw.gpu.task")]
    assert {"general", "render_compute"} < set(tasks)


def test_the_status_of_a_gpu_keeps_upstreams_unit(registry: Registry) -> None:
    status = next(m for m in registry.metrics if m.name == "hw.status")
    assert status.unit == "1"
    assert status.instrument is Instrument.UPDOWNCOUNTER
