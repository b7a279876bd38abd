from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SIMULATED = """
receivers:
  simulator:
    collection_interval: 1s
    devices: [{model: NVIDIA H100 80GB HBM3, count: 2}, {model: AMD Instinct MI300X}]
exporters:
  debug:
service:
  pipelines:
    metrics: {receivers: [simulator], exporters: [debug]}
"""


@pytest.fixture
def config(tmp_path: Path) -> Callable[[str], Path]:
    """Write a configuration into a file."""

    def write(text: str, name: str = "otelgpu.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def simulated(config: Callable[[str], Path]) -> Path:
    return config(SIMULATED)


@pytest.fixture
def third_party(tmp_path: Path) -> Path:
    """A distribution of somebody else, to put on the path: its components are all broken."""
    root = tmp_path / "third-party"
    info = root / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[otelgpu.receivers]\n"
        "acme_missing = acme_no_such_module:FACTORY\n"
        "acme_nameless = acmereceiver:NO_SUCH_NAME\n"
        "acme_odd = acmereceiver:FACTORY\n"
        "acme_raising = acme_raising:FACTORY\n"
    )
    (root / "acmereceiver.py").write_text("FACTORY = 'no factory'\n")
    (root / "acme_raising.py").write_text("raise RuntimeError('needs\\na licence')\n")
    return root
