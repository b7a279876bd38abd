"""The fake NVML and a process that runs the real pynvml on it."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.fakes import nvml_fake
else:
    # The test folders are no packages, so the module is loaded by its path.
    _SPEC = importlib.util.spec_from_file_location(
        "nvml_fake", Path(__file__).parents[1] / "nvml_fake.py"
    )
    nvml_fake = importlib.util.module_from_spec(_SPEC)
    _SPEC.loader.exec_module(nvml_fake)


@pytest.fixture(scope="module")
def library() -> Path:
    return nvml_fake.require()


@pytest.fixture
def fake(library: Path, tmp_path: Path) -> nvml_fake.FakeNvml:
    return nvml_fake.FakeNvml(library, tmp_path)


@pytest.fixture
def child(fake: nvml_fake.FakeNvml) -> Iterator[nvml_fake.PynvmlChild]:
    process = nvml_fake.PynvmlChild(fake)
    yield process
    process.close()
