"""Every state that a component of ours can say is explained."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from otelgpu.telemetry.component import OK, STARTING, Condition
from otelgpu.telemetry.states import all_states, describe

ROOT = Path(__file__).parents[2]
VENDORS = {"nvmlreceiver": "nvml", "amdsmireceiver": "amdsmi", "simulatorreceiver": "simulator"}
"""Receivers of devices by package: the first part of their states."""
_STATE = re.compile(r"(nvml|amdsmi|simulator|exporter|debug|otlp)\.[a-z][a-z_]+")


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the string constants of the sources in a folder, without docstrings."""
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        yield from ((path, text) for text in strings(tree, told))


def strings(tree: ast.AST, without: Container[int] = ()) -> Iterator[str]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in without
        ):
            yield node.value


def reasons(path: Path) -> set[str]:
    """Return what ``ReadError`` is raised with in a module; names stand for all they may be."""
    tree = ast.parse(path.read_text("utf-8"))
    values: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, set()).update(strings(node.value))
    found: set[str] = set()
    for node in ast.walk(tree):
        raised = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if raised and node.func.id == "ReadError" and node.args:  # type: ignore[attr-defined]
            first = node.args[0]  # type: ignore[attr-defined]
            found |= values[first.id] if isinstance(first, ast.Name) else set(strings(first))
    return found


@pytest.mark.parametrize("name", sorted(all_states()))
def test_an_entry_is_well_formed(name: str) -> None:
    state = all_states()[name]
    assert re.fullmatch(r"[a-z][a-z_]*(\.[a-z][a-z0-9_]*)?", name)
    assert re.fullmatch(r"[A-Z].*\.", state.cause), "a sentence"
    assert "\n" not in state.cause + state.remedy
    assert state.remedy == "" or state.remedy.endswith(".")
    assert isinstance(state.ready, bool)
    assert state.remedy or name in {"ok", "stopped"}, "says what to do"


def test_no_entry_stands_twice() -> None:
    """YAML takes the last of two silently."""
    text = files("otelgpu.telemetry").joinpath("states.yaml").read_text(encoding="utf-8")
    keys = re.findall(r"(?m)^([a-z][a-z._]*):", text)
    assert len(keys) == len(set(keys)) == len(yaml.safe_load(text))


def test_a_receiver_with_a_reason_is_ready_an_exporter_that_fails_is_not() -> None:
    for name, state in all_states().items():
        if name.partition(".")[0] in VENDORS.values():
            assert state.ready, name
        elif name.startswith("exporter."):
            assert not state.ready, name


@pytest.mark.parametrize("root", ["src/otelgpu", "receivers", "exporters", "processors"])
def test_every_state_in_the_code_is_explained(root: str) -> None:
    metrics = set(yaml_metrics())
    unknown = {
        (path.name, text)
        for path, text in texts(ROOT / root)
        if _STATE.fullmatch(text) and text not in all_states() and text not in metrics
    }
    assert not unknown


def yaml_metrics() -> Iterator[str]:
    from otelgpu.semconv.metrics import ALL  # noqa: PLC0415 - one use

    yield from (metric.name for metric in ALL)


def test_the_scan_finds_states() -> None:
    """A scan that finds nothing would let all pass."""
    found = {text for root in ("src", "exporters") for _, text in texts(ROOT / root)}
    assert {"exporter.unreachable", "exporter.unauthorized"} <= found


@pytest.mark.parametrize(("package", "vendor"), sorted(VENDORS.items()))
def test_every_reason_of_a_search_is_explained(package: str, vendor: str) -> None:
    """What a search for devices fails with becomes the state ``vendor.reason``."""
    folder = ROOT / "receivers" / package
    searching = [folder / name for name in ("client.py", "library.py", "shadowing.py")]
    found = {reason for path in searching if path.exists() for reason in reasons(path)}
    if package != "simulatorreceiver":
        assert "library_not_found" in found, "the scan finds what it should"
    assert {r for r in found if f"{vendor}.{r}" not in all_states()} == set()


@pytest.mark.parametrize(
    "state",
    [
        "device_hung",
        "device_lost",
        "device_unreadable",
        "discovery_hung",
        "internal",
        "library_hung",
        "no_devices",
        "nothing_readable",
        "unknown",
    ],
)
def test_what_the_scraper_of_devices_says_is_explained(state: str) -> None:
    """States of every receiver of devices; those of a vendor are in its client."""
    assert f"nvml.{state}" in all_states()
    said = {text for _, text in texts(ROOT / "src" / "otelgpu" / "scraping")}
    assert state in said | {"unknown"}


def test_states_of_nvml_s_client_are_explained() -> None:
    from nvmlreceiver.client import _STATES  # noqa: PLC0415 - of one receiver

    assert {r for r in _STATES if f"nvml.{r}" not in all_states()} == set()


def test_describing_a_condition() -> None:
    assert describe(Condition(OK)).ready
    assert not describe(Condition(STARTING)).ready
    assert "not found" in describe(Condition("nvml.library_not_found")).cause


def test_a_third_party_s_state_speaks_by_its_detail() -> None:
    assert describe(Condition("acme.frozen", "the card is frozen")).cause == "the card is frozen"
    assert describe(Condition("acme.frozen")).cause == "acme.frozen"
