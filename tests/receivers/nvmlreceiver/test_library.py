"""Finding NVIDIA's library and its Python binding."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from ctypes import c_void_p
from pathlib import Path
from typing import Any

import pynvml
import pytest
from tests.fakes.nvml_fake import LIBRARY, FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, status

from nvmlreceiver import nvml
from nvmlreceiver.binding import Binding
from nvmlreceiver.config import NvmlConfig
from nvmlreceiver.device import NvmlDevice, Traits
from nvmlreceiver.identity import Found, is_uuid
from nvmlreceiver.library import FOLDERS, Library
from nvmlreceiver.shadowing import load_binding
from otelgpu.config.mistake import ConfigError
from otelgpu.config.structure import structure
from otelgpu.scraping.errors import ReadError

Make = Callable[..., Receiver]
ROOT = Path(__file__).resolve().parents[3]

CHILD = """
import json, sys
from pathlib import Path
from nvmlreceiver.config import NvmlConfig
from nvmlreceiver.factory import FACTORY, make_scraper
import logging, time
from otelgpu.component import Settings
from otelgpu.points.stream import Streams
from otelgpu.telemetry.component import ComponentTelemetry

class Clock:
    monotonic = staticmethod(time.monotonic)
    time_ns = staticmethod(time.time_ns)

streams = Streams()
telemetry = ComponentTelemetry({}, streams)
settings = Settings("nvml", logging.getLogger(), streams, telemetry, Clock())
scraper = make_scraper(settings, NvmlConfig(**json.loads(sys.argv[1])))
scraper.start()
readings = scraper.scrape()
print(json.dumps([len(readings), telemetry.condition.state, telemetry.condition.detail]))
"""
"""A receiver with a process of its own: number of readings, state, and its detail."""


def in_a_process(settings: dict[str, str], **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHILD, json.dumps(settings)],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )
    number, state, detail = json.loads(done.stdout)
    return number, state, detail


def test_a_library_that_is_missing_is_found_when_it_comes(
    fake: FakeNvml, receiver: Make, library: Path, tmp_path: Path
) -> None:
    fake.configure(gpus=2)
    place = tmp_path / "driver" / LIBRARY
    made = receiver(library=place)
    assert made.scrape() == []
    assert made.state == "nvml.library_not_found"
    assert str(place) in made.detail
    assert "No such file" in made.detail
    place.parent.mkdir()
    shutil.copy(library, place)
    assert len(status(made.until(lambda _: made.state == "ok"))) == 2


def test_under_a_driver_root_every_path_tried_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReadError) as raised:
        Library("", str(tmp_path)).load()
    assert raised.value.reason == "library_not_found"
    for folder in ("usr/lib64", f"usr/lib/{os.uname().machine}-linux-gnu", "usr/lib/wsl/lib"):
        assert str(tmp_path / folder / LIBRARY) in str(raised.value)


def test_a_driver_root_is_searched(
    fake: FakeNvml, receiver: Make, library: Path, tmp_path: Path
) -> None:
    fake.configure(gpus=1)
    place = tmp_path / "root" / "usr" / "lib" / f"{os.uname().machine}-linux-gnu"
    place.mkdir(parents=True)
    shutil.copy(library, place / LIBRARY)
    number, state, _ = in_a_process({"driver_root": str(tmp_path / "root")}, **fake.environment)
    assert number > 0
    assert state == "ok"


def test_a_file_that_is_no_library_is_broken(tmp_path: Path) -> None:
    wrong = tmp_path / LIBRARY
    wrong.write_text("no ELF", encoding="ascii")
    with pytest.raises(ReadError, match=r"too short|invalid ELF") as raised:
        Library(str(wrong), "").load()
    assert raised.value.reason == "library_broken"


def test_another_library_is_broken() -> None:
    with pytest.raises(ReadError, match="has no nvmlInitWithFlags") as raised:
        Library("libc.so.6", "").load()
    assert raised.value.reason == "library_broken"


def test_the_loader_finds_it(fake: FakeNvml) -> None:
    fake.configure(gpus=1)
    number, state, _ = in_a_process({}, **fake.environment)
    assert number > 0
    assert state == "ok"


def test_folders_of_operators_are_tried_after_the_loader() -> None:
    number, state, detail = in_a_process({}, LD_LIBRARY_PATH="")
    if state != "nvml.library_not_found":
        pytest.skip(f"this machine has an NVIDIA driver: {state}")
    assert number == 0
    tried = [LIBRARY, *(f"{folder}/{LIBRARY}" for folder in FOLDERS)]
    places = [detail.index(f"{path}: ") for path in tried]
    assert places == sorted(places)


def test_an_old_package_that_shadows_the_binding_is_named(tmp_path: Path) -> None:
    package = tmp_path / "pynvml"
    package.mkdir()
    (package / "__init__.py").write_text("def nvmlInit(): pass\n", encoding="ascii")
    installed = tmp_path / "pynvml-11.5.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: pynvml\nVersion: 11.5.0\n", encoding="ascii"
    )
    number, state, detail = in_a_process({}, PYTHONPATH=str(tmp_path))
    assert (number, state) == (0, "nvml.binding_shadowed")
    assert str(package / "__init__.py") in detail
    assert "the package pynvml 11.5.0 stands in place of nvidia-ml-py" in detail
    assert "pip uninstall pynvml && pip install --force-reinstall nvidia-ml-py" in detail


def test_a_package_that_cannot_be_imported_is_a_state(tmp_path: Path) -> None:
    (tmp_path / "pynvml.py").write_text("raise RuntimeError('too old')\n", encoding="ascii")
    _, state, detail = in_a_process({}, PYTHONPATH=str(tmp_path))
    assert state == "nvml.binding_shadowed"
    assert "too old" in detail


def test_the_package_is_imported_without_the_binding() -> None:
    code = "import sys, nvmlreceiver; sys.exit('pynvml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_constants_are_those_of_the_binding() -> None:
    names = [name for name in vars(nvml) if name.lower().startswith("nvml")]
    assert len(names) > 50
    for name in names:
        assert getattr(nvml, name) == getattr(pynvml, name), name


@pytest.mark.parametrize(
    ("uuid", "usable"),
    [
        ("GPU-8f1d2c3b-0000-4111-8222-933344445555", True),
        ("GPU-00000000-0000-0000-0000-000000000000", False),
        ("", False),
        ("\ufffd\ufffd", False),
    ],
)
def test_zeros_are_no_uuid(uuid: str, *, usable: bool) -> None:
    assert is_uuid(uuid) is usable


@pytest.mark.parametrize(
    ("uuid", "pci", "unique", "name"),
    [
        ("GPU-1", "0000:1a:00.0", True, "GPU-1"),
        ("GPU-1", "0000:1a:00.0", False, "pci:0000:1a:00.0"),
        ("", "0000:1a:00.0", True, "pci:0000:1a:00.0"),
    ],
)
def test_identity(uuid: str, pci: str, name: str, *, unique: bool) -> None:
    assert found(uuid, pci).device(binding(), 1, unique=unique).id == name


@pytest.mark.parametrize(("uuid", "unique"), [("", True), ("GPU-1", False)])
def test_without_any_identity_there_is_no_device(uuid: str, *, unique: bool) -> None:
    with pytest.raises(ReadError) as raised:
        found(uuid, None).device(binding(), 1, unique=unique)
    assert raised.value.reason == "no_identity"


def test_a_device_is_the_same_while_its_handle_and_session_are() -> None:
    def device(session: int, index: int, place: int) -> NvmlDevice:
        one = found("GPU-1", None, place=place).at(index)
        return one.device(binding(), session, unique=True)

    assert device(1, 0, 16) == device(1, 0, 16)
    assert device(1, 0, 16) != device(2, 0, 16)
    assert device(1, 0, 16) != device(1, 1, 16)
    assert device(1, 0, 16) != device(1, 0, 32)


def found(uuid: str, pci: str | None, place: int = 16) -> Found:
    return Found(c_void_p(place), uuid, pci, Traits(), complete=True, index=0)


def binding() -> Binding:
    return Binding(load_binding())


def test_settings_are_checked() -> None:
    wrong: dict[str, Any] = {
        "collection_interval": "0s",
        "expected_devices": -1,
        "metrics": {"hw.gpu.powr.limit": {"enabled": False}},
        "profile": "all",
    }
    with pytest.raises(ConfigError) as raised:
        structure(wrong, NvmlConfig, "receivers::nvml")
    messages = {mistake.path: mistake.message for mistake in raised.value.mistakes}
    assert len(messages) == 4
    assert any("did you mean 'hw.gpu.power.limit'" in text for text in messages.values())
