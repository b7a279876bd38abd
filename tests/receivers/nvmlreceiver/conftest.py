"""The fake NVML, and receivers on it."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import nvml_fake
from tests.receivers.nvmlreceiver import harness

from nvmlreceiver.nodes import DeviceNodes

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
    return nvml_fake.require(**arguments)


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
def receiver(fake: nvml_fake.FakeNvml, library: Path) -> Iterator[Callable[..., harness.Receiver]]:
    """Make a receiver; settings are those of NvmlConfig, device nodes are those of /dev."""
    made: list[harness.Receiver] = []

    def make(
        library: Path = library, nodes: DeviceNodes | None = None, **settings: Any
    ) -> harness.Receiver:
        made.append(harness.Receiver(harness.config(library, **settings), nodes))
        return made[-1]

    yield make
    for one in made:
        one.close()
