"""What holds for every file and every component, also for those yet to come."""

from __future__ import annotations

import ast
import logging
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from importlib.metadata import EntryPoint, distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from otelgpu.component import (
    ExporterFactory,
    ProcessorFactory,
    ReceiverFactory,
    Settings,
    Signal,
    Stability,
)
from otelgpu.config.fields import rows
from otelgpu.points.batch import Batch, Readings
from otelgpu.points.event import Event, EventBatch
from otelgpu.points.stream import Streams
from otelgpu.semconv.metrics import ALL
from otelgpu.telemetry.component import ComponentTelemetry

ROOT = Path(__file__).parents[1]
ROOTS = {"receivers": "receiver", "processors": "processor", "exporters": "exporter"}
"""Source roots of components, and how the names of packages in them end."""
BESIDES = {"README.md", ".gitkeep", "__pycache__"}
STANDARD = {"__init__.py", "config.py", "factory.py", "README.md"}
LONG = 20.0


def packages() -> list[Path]:
    return sorted(
        folder for root in ROOTS for folder in (ROOT / root).iterdir() if folder.name not in BESIDES
    )


def components() -> list[EntryPoint]:
    """Return the entry points of our own distribution."""
    ours = distribution("otelgpu").entry_points
    return sorted(
        (e for root in ROOTS for e in ours.select(group=f"otelgpu.{root}")), key=lambda e: e.value
    )


def name(of: Path | EntryPoint) -> str:
    return of.name if isinstance(of, Path) else f"{of.group.partition('.')[2]}-{of.name}"


def sources(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


@pytest.mark.parametrize("folder", packages(), ids=name)
def test_a_source_root_holds_components_only(folder: Path) -> None:
    assert folder.is_dir(), "a file in a source root would be a top-level module"
    assert folder.name.endswith(ROOTS[folder.parent.name])
    files = {path.name for path in folder.iterdir()}
    assert files >= STANDARD, f"missing: {STANDARD - files}"


def test_every_component_has_an_entry_point_and_the_other_way_round() -> None:
    assert {e.module.partition(".")[0] for e in components()} == {p.name for p in packages()}
    for entry in components():
        folder = f"{entry.group.partition('.')[2]}"
        assert (ROOT / folder / entry.module).is_dir()


def installed_modules() -> dict[str, str]:
    """Return the top-level modules of all other installed distributions, and whose they are."""
    found = {}
    for other in distributions():
        if other.metadata["Name"] == "otelgpu":
            continue
        for file in other.files or []:
            top = file.parts[0].partition(".")[0]
            if file.suffix == ".py" and not top.startswith(".") and top:
                found[top] = other.metadata["Name"]
    return found


def test_no_module_of_ours_hides_another() -> None:
    ours = {"otelgpu", *(folder.name for folder in packages())}
    others = installed_modules()
    assert {"attr", "yaml", "click"} <= others.keys(), "the scan finds what it should"
    assert not ours & sys.stdlib_module_names
    assert {module: others[module] for module in ours & others.keys()} == {}


_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}


def reads_environment(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that read environment variables."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr=attribute):
                names = {attribute}
            case ast.ImportFrom(module="os", names=imported):
                names = {alias.name for alias in imported}
            case _:
                continue
        if names & _ENVIRONMENT:
            yield node.lineno


def test_nothing_below_the_command_line_reads_the_environment() -> None:
    above = ROOT / "src" / "otelgpu" / "cli"
    found: dict[str, list[int]] = {}
    for root in ("src", *ROOTS):
        for path, tree in sources(ROOT / root):
            if lines := list(reads_environment(tree)):
                found[str(path)] = lines
    assert any(path.startswith(str(above)) for path in found), "the scan finds what it should"
    assert {p: lines for p, lines in found.items() if not p.startswith(str(above))} == {}


@pytest.mark.parametrize("root", ["src", *ROOTS])
def test_no_file_is_too_long(root: str) -> None:
    generated = ROOT / "src" / "otelgpu" / "semconv"
    found = {
        str(path.relative_to(ROOT)): count
        for path, _ in sources(ROOT / root)
        if path.parent != generated and (count := path.read_text("utf-8").count("\n")) > 400
    }
    assert found == {}


HEAVY = ("grpc", "google", "requests", "opentelemetry", "urllib3", "pynvml", "http.server")
"""What is loaded only where it is used: each costs megabytes in every agent."""


def loaded_by(*modules: str) -> set[str]:
    """Return which heavy modules an interpreter of its own loads with these."""
    lines = [f"import {', '.join(modules)}", "import sys", f"heavy = {HEAVY!r}"]
    lines.append("print(*[name for name in heavy if name in sys.modules])")
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        check=True,
        capture_output=True,
        text=True,
        timeout=LONG,
    )
    return set(done.stdout.split())


def modules_of(folder: Path) -> list[str]:
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        found.append(".".join(part for part in parts if part != "__init__"))
    return found


def test_what_is_loaded_is_seen() -> None:
    """Else the tests below would find nothing."""
    assert {"grpc", "pynvml"} <= loaded_by("grpc", "pynvml")


@pytest.mark.parametrize("entry", components(), ids=name)
def test_loading_a_factory_loads_nothing_heavy(entry: EntryPoint) -> None:
    """`otelgpu components` loads them all, and the agent each that it uses."""
    assert loaded_by(entry.module) == set()


@pytest.mark.parametrize("folder", packages(), ids=name)
def test_no_module_of_a_component_loads_something_heavy(folder: Path) -> None:
    """What a component needs it loads when it is started: validate and components need none."""
    modules = modules_of(folder)
    assert modules
    assert loaded_by(*modules) == set()


def test_the_command_and_the_service_load_nothing_heavy() -> None:
    core = [
        module
        for part in ("cli", "service", "config", "points", "scraping", "telemetry", "delivery")
        for module in modules_of(ROOT / "src" / "otelgpu" / part)
    ]
    # Named from their parent's folder: make them absolute, and leave out the edge to the SDK.
    core = [f"otelgpu.{module}" for module in core if module != "points.sdk"]
    assert loaded_by(*core) == set()


class Clock:
    def time_ns(self) -> int:
        return time.time_ns()

    def monotonic(self) -> float:
        return time.monotonic()


class Door:
    """Takes what a receiver hands over."""

    def readings(self, readings: Readings, restarted: Collection[str] = ()) -> None:
        for stream, value in readings:
            assert stream.metric in ALL
            assert isinstance(value, int | float)

    def events(self, events: Sequence[Event]) -> None:
        assert events


class Sink:
    def consume(self, batch: Batch) -> None: ...

    def consume_events(self, batch: EventBatch) -> None: ...


def make(entry: EntryPoint) -> Any:
    """Create a component with the settings that it has by default."""
    factory = entry.load()
    streams = Streams()
    common = {"otel.component.type": entry.name, "otel.component.name": entry.name}
    settings = Settings(
        entry.name,
        logging.getLogger(f"otelgpu.contract.{entry.name}"),
        streams,
        ComponentTelemetry(common, streams),
        Clock(),
    )
    config = factory.config()
    if isinstance(factory, ReceiverFactory):
        return factory.create(settings, config, Door())
    if isinstance(factory, ProcessorFactory):
        return factory.create(settings, config, Sink())
    return factory.create(settings, config)


def wait_until(holds: Callable[[], bool], what: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < deadline, what()
        threading.Event().wait(0.01)


each = pytest.mark.parametrize("entry", components(), ids=name)
KINDS: dict[str, type[Any]] = {
    "receivers": ReceiverFactory,
    "processors": ProcessorFactory,
    "exporters": ExporterFactory,
}


@each
def test_a_factory_says_what_it_is(entry: EntryPoint) -> None:
    factory = entry.load()
    assert isinstance(factory, KINDS[entry.group.partition(".")[2]])
    assert factory.type == entry.name
    assert factory.stability in Stability
    assert factory.signals
    assert factory.signals <= frozenset(Signal)


@each
def test_every_setting_is_documented(entry: EntryPoint) -> None:
    """In the class, from which the README's table is made; and in the README."""
    spec = find_spec(entry.module)
    assert spec is not None
    assert spec.origin is not None
    readme = Path(spec.origin).with_name("README.md").read_text("utf-8")
    for row in rows(entry.load().config):
        assert row.meaning
        assert f"`{row.name}`" in readme, row.name


@each
def test_shutdown_without_a_start_and_twice(entry: EntryPoint) -> None:
    component = make(entry)
    component.shutdown(5.0)
    component.shutdown(5.0)


@each
def test_start_and_shutdown_leave_no_thread(entry: EntryPoint) -> None:
    before = set(threading.enumerate())
    component = make(entry)
    component.start()
    component.shutdown(5.0)
    component.shutdown(5.0)

    def left() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread not in before]

    wait_until(lambda: not left(), left)


@each
def test_creating_starts_nothing(entry: EntryPoint) -> None:
    before = set(threading.enumerate())
    component = make(entry)
    assert set(threading.enumerate()) <= before
    component.shutdown(5.0)


def test_the_installation_is_not_stale() -> None:
    """What the command finds is what the checkout declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for root in ROOTS:
        declared = project["entry-points"].get(f"otelgpu.{root}", {})
        ours = distribution("otelgpu").entry_points.select(group=f"otelgpu.{root}")
        assert {e.name: e.value for e in ours} == declared, "run pip install --editable . again"
