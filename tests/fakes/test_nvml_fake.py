"""The fake NVML's ABI: against pynvml's own declarations, nvitop and gpustat."""

import ctypes
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pynvml
import pytest

if TYPE_CHECKING:
    from tests.fakes import nvml_fake
else:
    # The test folders are no packages, so the module is loaded by its path.
    _SPEC = importlib.util.spec_from_file_location(
        "nvml_fake", Path(__file__).with_name("nvml_fake.py")
    )
    nvml_fake = importlib.util.module_from_spec(_SPEC)
    _SPEC.loader.exec_module(nvml_fake)


@pytest.fixture(scope="module")
def library() -> Path:
    return nvml_fake.require()


@pytest.fixture
def fake(library: Path, tmp_path: Path) -> nvml_fake.FakeNvml:
    return nvml_fake.FakeNvml(library, tmp_path)


def test_old_driver_lacks_functions(tmp_path: Path, library: Path) -> None:
    old = nvml_fake.build(tmp_path / "old", omit=["nvmlDeviceGetMemoryInfo_v2"])
    fake = nvml_fake.FakeNvml(old, tmp_path)
    child = nvml_fake.PynvmlChild(fake)
    try:
        child.start(1)
        line = "nvmlDeviceGetMemoryInfo(h[0], nvmlMemory_v2)"
        assert child.error(line) == "NVMLError_FunctionNotFound"
        child.ask("nvmlDeviceGetMemoryInfo(h[0])")
    finally:
        child.close()
    with pytest.raises(RuntimeError, match="no such function"):
        nvml_fake.build(tmp_path / "old", omit=["nvmlNoSuchThing"])


def test_structures_have_pynvmls_sizes(library: Path) -> None:
    loaded = ctypes.CDLL(str(library))
    loaded.fake_nvml_struct_size.restype = ctypes.c_size_t
    compared = {}
    for name, structure in vars(pynvml).items():
        if not re.match(r"c_nvml\w+|nvmlPciInfo_t$", name) or not isinstance(structure, type):
            continue
        plain = name.removeprefix("c_").removesuffix("_t") + "_t"
        for wanted in (plain, plain.replace("_t", "_v1_t")):
            if size := loaded.fake_nvml_struct_size(wanted.encode()):
                compared[wanted] = (size, ctypes.sizeof(structure))
    assert {name: pair for name, pair in compared.items() if pair[0] != pair[1]} == {}
    assert len(compared) >= 27


def test_every_function_of_pynvml_exists(library: Path) -> None:
    loaded = ctypes.CDLL(str(library))
    text = Path(pynvml.__file__).read_text(encoding="utf-8")
    names = set(re.findall(r"_nvmlGetFunctionPointer\(\"(nvml\w+)\"", text))
    assert len(names) > 300
    assert [name for name in sorted(names) if not hasattr(loaded, name)] == []


def test_nvitop_shows_eight_gpus(fake: nvml_fake.FakeNvml) -> None:
    fake.configure(static=1)
    shown = subprocess.run(
        [sys.executable, "-m", "nvitop", "-1", "--ascii"],
        env={**os.environ, **fake.environment, "COLUMNS": "160"},
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    ).stdout
    power = re.findall(r"(\d+)W / 700W", shown)
    assert [int(watts) for watts in power] == [385, 416, 448, 480, 511, 542, 574, 606]
    assert "Driver Version: 570.86.15" in shown
    assert fake.calls()["nvmlDeviceGetUtilizationRates"] >= 8


def test_gpustat_reads_eight_gpus(fake: nvml_fake.FakeNvml) -> None:
    fake.configure(static=1, procs=1)
    shown = subprocess.run(
        [sys.executable, "-m", "gpustat", "--json"],
        env={**os.environ, **fake.environment},
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    ).stdout
    gpus = json.loads(shown)["gpus"]
    assert [gpu["utilization.gpu"] for gpu in gpus] == list(range(50, 90, 5))
    assert gpus[3]["memory.used"] == 21205
    assert gpus[3]["temperature.gpu"] == 56
    assert [len(gpu["processes"]) for gpu in gpus] == [1] * 8
    assert fake.calls()["nvmlInitWithFlags"] == 1


def test_in_this_process_each_nvmlinit_reads_the_environment(
    fake: nvml_fake.FakeNvml, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = nvml_fake.FakeNvml(fake.library, tmp_path / "other")
    fake.configure(gpus=3)
    other.configure(gpus=5)
    loaded = ctypes.CDLL(str(fake.library))
    for configured, gpus in ((fake, 3), (other, 5), (fake, 3)):
        for name, value in configured.environment.items():
            monkeypatch.setenv(name, value)
        count = ctypes.c_uint()
        assert loaded.nvmlInit_v2() == pynvml.NVML_SUCCESS
        assert loaded.nvmlDeviceGetCount_v2(ctypes.byref(count)) == pynvml.NVML_SUCCESS
        assert loaded.nvmlShutdown() == pynvml.NVML_SUCCESS
        assert count.value == gpus
    assert fake.calls()["nvmlDeviceGetCount_v2"] == 2
    assert other.calls()["nvmlDeviceGetCount_v2"] == 1


def test_without_a_compiler_the_build_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(nvml_fake.FakeUnavailableError, match="no C compiler"):
        nvml_fake.build(tmp_path)
