from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal

import pytest
from attrs import Factory, field, frozen

from otelgpu.config import reference
from otelgpu.config.reference import BEGIN, END, refresh, section, table, update
from otelgpu.config.secret import Secret
from otelgpu.config.service import ServiceSettings


@frozen
class Tls:
    ca_file: Path | None = None
    """File with certificates;
    empty means the system's."""


@frozen
class Base:
    endpoint: str
    """Where to, ``host:port``."""


@frozen
class Config(Base):
    timeout: timedelta = field(default=timedelta(seconds=10), kw_only=True)
    """Time for one request; 0 means no limit | none."""
    mode: Literal["a", "b"] = "a"
    """Which."""
    headers: dict[str, Secret] = Factory(dict)
    """Sent along."""
    tls: Tls = Tls()
    """Encryption."""
    more: tuple[Tls, ...] = ()
    """Others."""
    metrics: dict[str, Tls] = Factory(dict)
    """By name."""


@frozen
class Silent:
    endpoint: str


TABLE = """\
| Setting | Type | Default | Meaning |
|---|---|---|---|
| `endpoint` | text | required | Where to, `host:port`. |
| `timeout` | duration | `10s` | Time for one request; 0 means no limit \\| none. |
| `mode` | `a`, `b` | `a` | Which. |
| `headers` | mapping of text to secret text | `{}` | Sent along. |
| `tls` | mapping |  | Encryption. |
| `tls::ca_file` | path |  | File with certificates; empty means the system's. |
| `more` | list of mapping | `[]` | Others. |
| `more::<n>::ca_file` | path |  | File with certificates; empty means the system's. |
| `metrics` | mapping of text to mapping | `{}` | By name. |
| `metrics::<key>::ca_file` | path |  | File with certificates; empty means the system's. |
"""


def test_table() -> None:
    assert table(Config) == TABLE


def test_every_setting_says_what_it_means() -> None:
    with pytest.raises(ValueError, match=r"Silent\.endpoint has no text"):
        table(Silent)


def test_types_that_share_settings_share_a_table() -> None:
    assert section({"a": Config, "b": Config}) == TABLE
    both = section({"b": Config, "a": Config, "tls": Tls})
    assert both.startswith(f"### `a`, `b`\n\n{TABLE}\n### `tls`\n\n| Setting")


def test_update_replaces_what_is_between_the_markers() -> None:
    once = update(f"# A\n\n{BEGIN}\nold\n{END}\n\nb\n", TABLE)
    assert once == f"# A\n\n{BEGIN}\n\n{TABLE}\n{END}\n\nb\n"
    assert update(once, TABLE) == once


@pytest.mark.parametrize(
    "readme", ["", BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}", f"{END}{BEGIN}{END}"]
)
def test_update_needs_its_markers(readme: str) -> None:
    with pytest.raises(ValueError, match="needs one"):
        update(readme, TABLE)


def test_service_settings_are_documented() -> None:
    assert "`telemetry::metrics::interval` | duration | `10s`" in table(ServiceSettings)


def test_refresh(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"# A\n{BEGIN}\n{END}\n")
    found = {readme: {"a": Config}}
    stale = [f"{readme}: stale; run python -m otelgpu.config.reference"]
    assert refresh(found, check=True) == stale
    assert refresh(found, check=False) == []
    assert readme.read_text() == f"# A\n{BEGIN}\n\n{TABLE}\n{END}\n"
    assert refresh(found, check=True) == []
    readme.write_text("# A\n")
    assert refresh(found, check=False) == [f"{readme}: needs one {BEGIN} and, below, one {END}"]


PACKAGE = """
from types import SimpleNamespace
from otelgpu.config.service import LogSettings
FACTORY = SimpleNamespace(type="demo", config=LogSettings)
"""


def test_installed_components_are_found(tmp_path: Path) -> None:
    package, metadata = tmp_path / "demoreceiver", tmp_path / "demo-1.dist-info"
    package.mkdir()
    metadata.mkdir()
    (package / "__init__.py").write_text(PACKAGE)
    (package / "README.md").write_text(f"{BEGIN}\n{END}\n")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: demo\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[otelgpu.receivers]\ndemo = demoreceiver:FACTORY\n")
    done = subprocess.run(
        [sys.executable, "-m", "otelgpu.config.reference", "--check"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 1
    assert f"{package / 'README.md'}: stale" in done.stderr


def test_readmes_of_installed_components_are_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry_points(group="otelgpu.receivers")
    status = reference.main(["--check"])
    assert (status, capsys.readouterr().err) == (0, "")
