"""The fake NVML, and receivers on it."""

import importlib.util
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

HERE = Path(__file__).parent


def _load(name: str, path: Path) -> Any:
    # The test folders are no packages, so modules beside the tests are loaded by their path.
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from tests.fakes import nvml_fake
    from tests.receivers.nvmlreceiver import harness
else:
    nvml_fake = _load("nvmlreceiver_fake", HERE.parents[1] / "fakes" / "nvml_fake.py")
    harness = _load("nvmlreceiver_harness", HERE / "harness.py")

OLD = (
    "nvmlDeviceGetTemperatureV",
    "nvmlDeviceGetMarginTemperature",
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetCurrentClocksEventReasons",
    "nvmlDeviceGetSupportedClocksEventReasons",
    "nvmlDeviceGetGpuFabricInfoV",
    "nvmlDeviceGetFanSpeedRPM",
    "nvmlDeviceGetFieldValues",
)
"""What a driver of some years ago lacks."""


def _build(**arguments: Any) -> Path:
    try:
        return nvml_fake.build(**arguments)
    except nvml_fake.FakeUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def library() -> Path:
    return _build()


@pytest.fixture(scope="session")
def old_library() -> Path:
    return _build(out=nvml_fake.DEFAULT_OUT.with_name("fake-nvml-old"), omit=OLD)


@pytest.fixture
def fake(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[nvml_fake.FakeNvml]:
    found = nvml_fake.FakeNvml(library, tmp_path / "fake")
    for name, value in found.environment.items():
        if name.startswith("FAKE_NVML"):
            monkeypatch.setenv(name, value)
    monkeypatch.delenv("FAKE_NVML", raising=False)
    yield found
    # Without rules nothing hangs any more: threads that were left in a call come out of it.
    found.configure(gpus=1)
    _wait_for_workers()
    harness.close_nvml()


def _wait_for_workers() -> None:
    end = time.monotonic() + harness.DEADLINE
    while any(thread.name == "nvml" for thread in threading.enumerate()):
        assert time.monotonic() < end, "a worker does not end"
        time.sleep(0.005)


@pytest.fixture
def receiver(
    fake: nvml_fake.FakeNvml, library: Path
) -> Iterator[Callable[..., "harness.Receiver"]]:
    """Make a receiver; settings are those of NvmlConfig."""
    made = []

    def make(library: Path = library, **settings: Any) -> "harness.Receiver":
        made.append(harness.Receiver(harness.config(library, **settings)))
        return made[-1]

    yield make
    for one in made:
        one.close()
