"""The fake NVML library, and destinations."""

from collections.abc import Iterator
from pathlib import Path

import pytest
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


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    with Collector(require_collector(), tmp_path) as running:
        yield running
