"""Components are found by entry points of installed distributions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from otelgpu.component import ExporterFactory, ReceiverFactory
from otelgpu.service.factories import InstalledFactories
from otelgpu.service.healthcheck import FACTORY


@pytest.fixture
def third_party(tmp_path: Path) -> Iterator[Path]:
    """A distribution of somebody else, with a component that works and three that do not."""
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[otelgpu.receivers]\n"
        "acme = acmereceiver:FACTORY\n"
        "acme_missing = acme_no_such_module:FACTORY\n"
        "acme_nameless = acmereceiver:NO_SUCH_NAME\n"
        "acme_raising = acme_raising:FACTORY\n"
        "acme_odd = acme_odd:FACTORY\n"
    )
    (tmp_path / "acmereceiver.py").write_text(
        "from otelgpu.component import ReceiverFactory, Stability\n"
        "FACTORY = ReceiverFactory('acme', object, object, Stability.BETA)\n"
    )
    (tmp_path / "acme_odd.py").write_text("FACTORY = 'no factory'\n")
    (tmp_path / "acme_raising.py").write_text("raise RuntimeError('needs a licence')\n")
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))
    for module in ("acmereceiver", "acme_odd"):
        sys.modules.pop(module, None)


def test_ours_are_found() -> None:
    factories = InstalledFactories()
    assert {"amdsmi", "nvml", "simulator"} <= set(factories.known("receivers"))
    assert {"debug", "otlp_grpc", "otlp_http"} <= set(factories.known("exporters"))
    assert isinstance(factories.get("receivers", "simulator"), ReceiverFactory)
    assert isinstance(factories.get("exporters", "debug"), ExporterFactory)
    for kind in ("receivers", "exporters"):
        for type_ in factories.known(kind):
            assert factories.get(kind, type_).type == type_


def test_extensions_are_built_in() -> None:
    factories = InstalledFactories()
    assert factories.known("extensions") == ["health_check"]
    assert factories.get("extensions", "health_check") is FACTORY


def test_what_is_not_installed_is_none() -> None:
    assert InstalledFactories().get("receivers", "no_such_type") is None
    assert InstalledFactories().get("processors", "nvml") is None


@pytest.mark.usefixtures("third_party")
def test_a_third_party_s_component_is_found() -> None:
    factories = InstalledFactories()
    assert "acme" in factories.known("receivers")
    assert factories.get("receivers", "acme").type == "acme"


@pytest.mark.usefixtures("third_party")
@pytest.mark.parametrize(
    ("type_", "words"),
    [
        ("acme_missing", "acme_no_such_module"),
        ("acme_nameless", "NO_SUCH_NAME"),
        ("acme_raising", "needs a licence"),
        ("acme_odd", "acme_odd:FACTORY is no ReceiverFactory"),
    ],
)
def test_one_that_cannot_be_loaded_says_why(type_: str, words: str) -> None:
    """Whatever it raises: the configuration reports it as a mistake."""
    with pytest.raises(ImportError, match=words):
        InstalledFactories().get("receivers", type_)
