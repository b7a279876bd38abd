from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Sequence
from datetime import timedelta
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from attrs import define, field

from amdsmireceiver import FACTORY
from amdsmireceiver.client import AmdSmiClient
from amdsmireceiver.config import AmdSmiConfig
from amdsmireceiver.library import LIBRARY, Search
from otelgpu.component import Settings
from otelgpu.config.structure import structure
from otelgpu.points.batch import Readings
from otelgpu.points.event import Event
from otelgpu.points.stream import Streams
from otelgpu.scraping.errors import ReadError
from otelgpu.semconv.metrics import OTELGPU_DEVICE_EXPECTED, OTELGPU_RECEIVER_UP
from otelgpu.telemetry.component import ComponentTelemetry


def _absent(name: str) -> object:
    raise OSError(f"{name}: cannot open shared object file: No such file or directory")


def _rocm(root: Path, *, binding: bool = False) -> Path:
    (root / "lib").mkdir(parents=True)
    (root / "lib" / LIBRARY).touch()
    if binding:
        module = root / "share" / "amd_smi" / "amdsmi"
        module.mkdir(parents=True)
        (module / "__init__.py").touch()
    return root


@pytest.fixture
def settings() -> Settings:
    class Clock:
        def time_ns(self) -> int:
            return time.time_ns()

        def monotonic(self) -> float:
            return time.monotonic()

    streams = Streams()
    telemetry = ComponentTelemetry({}, streams)
    return Settings("amdsmi", logging.getLogger("amdsmi"), streams, telemetry, Clock())


@define
class Door:
    batches: list[Readings] = field(factory=list)
    arrived: threading.Event = field(factory=threading.Event)

    def readings(self, readings: Readings, restarted: Collection[str] = ()) -> None:
        self.batches.append(readings)
        self.arrived.set()

    def events(self, events: Sequence[Event]) -> None:
        raise AssertionError("it has no events")


def test_nothing_installed_names_every_place(tmp_path: Path) -> None:
    (tmp_path / "rocm-6.4.1").mkdir()
    found = Search(opt=tmp_path, load=_absent).run()
    assert found.library is None
    assert found.tried == [
        str(tmp_path / "rocm" / "lib" / LIBRARY),
        str(tmp_path / "rocm-6.4.1" / "lib" / LIBRARY),
        f"{LIBRARY} by the loader",
    ]
    with pytest.raises(ReadError, match=r"rocm-6\.4\.1.*by the loader; install ROCm") as error:
        AmdSmiClient(Search(opt=tmp_path, load=_absent)).discover(lambda: True)
    assert error.value.reason == "library_not_found"


def test_real_loader_says_that_a_library_is_not_there(tmp_path: Path) -> None:
    found = Search(opt=tmp_path).run()
    if found.library is not None:
        pytest.skip("this machine has AMD SMI on the loader's path")
    assert found.tried[-1] == f"{LIBRARY} by the loader"


def test_newest_rocm_comes_first(tmp_path: Path) -> None:
    for version in ("6.9.0", "6.10.0", "5.0"):
        _rocm(tmp_path / f"rocm-{version}")
    found = Search(opt=tmp_path, load=_absent).run()
    assert found.library == str(tmp_path / "rocm-6.10.0" / "lib" / LIBRARY)
    _rocm(tmp_path / "rocm")
    found = Search(opt=tmp_path, load=_absent).run()
    assert found.library == str(tmp_path / "rocm" / "lib" / LIBRARY)


def test_library_that_only_the_loader_knows(tmp_path: Path) -> None:
    asked: list[str] = []
    found = Search(opt=tmp_path, load=asked.append).run()
    assert (found.library, asked) == (LIBRARY, [LIBRARY])


def test_settings_are_the_only_places(tmp_path: Path) -> None:
    _rocm(tmp_path / "rocm")
    root, file = tmp_path / "elsewhere", tmp_path / "lib.so"
    found = Search(rocm_path=root, opt=tmp_path, load=_absent).run()
    assert found.library is None
    assert found.tried[0] == str(root / "lib" / LIBRARY)
    found = Search(library=file, opt=tmp_path, load=lambda _: None).run()
    assert (found.library, found.tried) == (None, [str(file)])
    file.touch()
    assert Search(library=file, opt=tmp_path, load=_absent).run().library == str(file)


@pytest.mark.parametrize("binding", [True, False])
def test_found_but_not_read_yet(tmp_path: Path, *, binding: bool) -> None:
    root = _rocm(tmp_path / "rocm", binding=binding)
    with pytest.raises(ReadError, match="does not read AMD GPUs yet") as error:
        AmdSmiClient(Search(opt=tmp_path, load=_absent)).discover(lambda: False)
    assert error.value.reason == "not_read_yet"
    assert str(root / "lib" / LIBRARY) in str(error.value)
    place = str(root / "share" / "amd_smi" / "amdsmi")
    assert (place in str(error.value)) == binding


def _run(settings: Settings, config: AmdSmiConfig, door: Door) -> None:
    receiver = FACTORY.create(settings, config, door)
    receiver.shutdown(1)  # safe before start
    receiver = FACTORY.create(settings, config, door)
    receiver.start()
    assert door.arrived.wait(20)
    receiver.shutdown(5)
    receiver.shutdown(5)


def test_receiver_says_why_it_reads_nothing(settings: Settings, tmp_path: Path) -> None:
    missing = tmp_path / LIBRARY
    pci = tmp_path / "sys" / "bus" / "pci" / "devices" / "0000:05:00.0"
    pci.mkdir(parents=True)
    (pci / "vendor").write_text("0x1002\n")
    (pci / "class").write_text("0x120000\n")
    door = Door()
    config = AmdSmiConfig(library=missing, sysfs=tmp_path / "sys")
    _run(settings, config, door)
    assert door.batches[0] == []
    condition = settings.telemetry.condition
    assert condition.state == "amdsmi.library_not_found"
    assert str(missing) in condition.detail
    told = {
        (stream.metric, stream.attributes.get("hw.vendor")): value
        for stream, value in settings.telemetry.collect()
    }
    assert told[OTELGPU_DEVICE_EXPECTED, "AMD"] == 1
    assert told[OTELGPU_RECEIVER_UP, None] == 0


def test_receiver_sees_an_installation_while_it_runs(settings: Settings, tmp_path: Path) -> None:
    _rocm(tmp_path / "rocm")
    config = AmdSmiConfig(
        rocm_path=tmp_path / "rocm",
        collection_interval=timedelta(milliseconds=20),
        sysfs=tmp_path,
        expected_devices=8,
    )
    _run(settings, config, Door())
    assert settings.telemetry.condition.state == "amdsmi.not_read_yet"
    (expected,) = (
        value
        for stream, value in settings.telemetry.collect()
        if stream.metric is OTELGPU_DEVICE_EXPECTED
    )
    assert expected == 8


def test_entry_point_and_settings() -> None:
    (entry,) = (e for e in entry_points(group="otelgpu.receivers") if e.name == "amdsmi")
    assert entry.load() is FACTORY
    assert FACTORY.probe is not None
    assert FACTORY.probe() in {True, False}
    raw = {"library": "/a/b.so", "rocm_path": "/opt/rocm", "profile": "full"}
    config = structure(raw, FACTORY.config, "")
    assert (config.library, config.rocm_path) == (Path("/a/b.so"), Path("/opt/rocm"))
