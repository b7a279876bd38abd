"""The fake NVML library, and destinations."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.outage import Outage, outage
from tests.fakes import nvml_fake
from tests.fakes.nvml_fake import FakeNvml
from tests.fakes.otlp import OtlpHttpServer
from tests.peers.collector import Collector, require_collector


@pytest.fixture(scope="session")
def library() -> Path:
    return nvml_fake.require()


@pytest.fixture
def fake(library: Path, tmp_path: Path) -> FakeNvml:
    return FakeNvml(library, tmp_path / "fake")


@pytest.fixture
def sink() -> Iterator[OtlpHttpServer]:
    server = OtlpHttpServer().start()
    yield server
    server.stop()


@pytest.fixture(scope="session", autouse=True)
def long_outage(
    request: pytest.FixtureRequest, library: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Outage | None]:
    """An outage that begins with the first test here, if a test will ask for it."""
    if not any(item.path.name == "test_outage.py" for item in request.session.items):
        yield None
        return
    try:
        program = require_collector()
    except pytest.skip.Exception:
        # The test that needs it says so itself.
        yield None
        return
    with outage(library, program, tmp_path_factory.mktemp("outage")) as running:
        yield running


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    with Collector(require_collector(), tmp_path) as running:
        yield running
