"""What is installed, broken components too."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.process import run


def test_a_table() -> None:
    done = run("components")
    assert (done.returncode, done.stderr) == (0, "")
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["KIND", "TYPE", "STABILITY", "SIGNALS", "DISTRIBUTION"]
    columns = [row.split()[:2] for row in rows]
    assert ["receivers", "nvml"] in columns
    assert ["exporters", "otlp_http"] in columns
    assert [kind for kind, _ in columns] == sorted(
        (kind for kind, _ in columns), key=["receivers", "processors", "exporters"].index
    )


def test_json() -> None:
    done = run("components", "--format", "json")
    found = {(c["kind"], c["type"]): c for c in json.loads(done.stdout)}
    assert {"receivers", "exporters"} <= {kind for kind, _ in found}
    simulator = found["receivers", "simulator"]
    assert simulator["signals"] == "events,metrics"
    assert simulator["distribution"].startswith("otelgpu ")
    assert "broken" not in {component["stability"] for component in found.values()}


def test_broken_ones_are_named_and_the_others_listed(third_party: Path) -> None:
    variables = {"PYTHONPATH": str(third_party)}
    done = run("components", "--format", "json", variables=variables)
    assert (done.returncode, done.stderr) == (0, "")
    found = {c["type"]: c for c in json.loads(done.stdout)}
    assert found["nvml"]["stability"] != "broken"
    for type_, words in {
        "acme_missing": "ModuleNotFoundError: No module named 'acme_no_such_module'",
        "acme_nameless": "AttributeError",
        "acme_odd": "AttributeError",
        "acme_raising": "RuntimeError: needs a licence",
    }.items():
        assert found[type_]["stability"] == "broken"
        assert words in found[type_]["signals"]
        assert found[type_]["distribution"] == "acme 1.0"
    table = run("components", variables=variables)
    assert table.returncode == 0
    assert len(table.stdout.splitlines()) == len(found) + 1
