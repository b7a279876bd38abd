"""The worked example of CONTRIBUTING.md: its entry and its row are all that a new reading takes."""

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.fakes import nvml_fake
from tests.fakes.nvml_fake import FakeNvml

ROOT = Path(__file__).parents[1]
REGISTRY = Path("semconv/registry/metrics/memory.yaml")
TABLE = Path("receivers/nvmlreceiver/readings/memory.py")


def _block(language: str, about: str) -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"^ *```{language}\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    return next(textwrap.dedent(block) for block in blocks if about in block)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the sources with the example's entry and row in it."""
    folder = tmp_path / "checkout"
    for name in ("src", "receivers", "exporters", "semconv"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    registry = folder / REGISTRY
    entry = _block("yaml", "hw.gpu.memory.bus_width")
    known = registry.read_text(encoding="utf-8")
    known = re.sub(r"^metrics:\n", lambda found: found[0] + entry, known, flags=re.MULTILINE)
    registry.write_text(known, encoding="utf-8")
    table = folder / TABLE
    row = textwrap.indent(_block("python", "nvmlDeviceGetMemoryBusWidth").strip(), "    ")
    text = table.read_text(encoding="utf-8")
    assert text.rstrip().endswith("]"), "the rows are the last thing in the file"
    text = text.rstrip().removesuffix("]") + row + ",\n]\n"
    imports = (
        "from nvmlreceiver.calls import MINUTE\n"
        "from nvmlreceiver.scales import same\n"
        "from otelgpu.semconv.metrics import HW_GPU_MEMORY_BUS_WIDTH\n"
    )
    head, marker, rest = text.partition("from __future__ import annotations\n")
    table.write_text(head + marker + imports + rest, encoding="utf-8")
    return folder


def _run(checkout: Path, *arguments: str, **environ: str) -> str:
    paths = ":".join(str(checkout / root) for root in ("src", "receivers", "exporters"))
    done = subprocess.run(
        [sys.executable, "-c", "from otelgpu.cli import main; main()", *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=checkout,
        env={"PYTHONPATH": paths, **environ},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_one_entry_and_one_row(checkout: Path, tmp_path: Path) -> None:
    library = nvml_fake.require()
    _run(checkout, "semconv", "check")
    _run(checkout, "semconv", "generate")
    config = tmp_path / "config.yaml"
    config.write_text(
        f"receivers: {{nvml: {{profile: full, library: '{library}'}}}}\n"
        "exporters: {debug: {}}\n"
        "service: {pipelines: {metrics: {receivers: [nvml], exporters: [debug]}}}\n",
        encoding="utf-8",
    )
    fake = FakeNvml(library, tmp_path / "fake")
    fake.configure(gpus=2, static=1)
    listed = _run(
        checkout, "once", "--config", str(config), "--format", "series", **fake.environment
    )
    assert re.search(r"^hw\.gpu\.memory\.bus_width +full +2$", listed, re.MULTILINE)
    page = (checkout / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert "hw_gpu_memory_bus_width" in page
