"""Faults that begin and end while the real pynvml runs in a process of its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.fakes.nvml_fake import FakeNvml, PynvmlChild

DEADLINE = 20.0


def test_errors_by_function_gpu_and_count(fake: FakeNvml, child: PynvmlChild) -> None:
    fake.configure("gpus=2", "error.nvmlDeviceGetPowerUsage=UNKNOWN@1+1")
    child.start(2)
    child.ask("[nvmlDeviceGetPowerUsage(gpu) for gpu in (h[0], h[1], h[0])]")
    assert child.error("nvmlDeviceGetPowerUsage(h[1])") == "NVMLError_Unknown"
    fake.configure("gpus=2", "error.*=UNKNOWN")
    assert child.error("nvmlDeviceGetCount()") == "NVMLError_Unknown"
    assert child.error("nvmlDeviceGetTemperature(h[0], 0)") == "NVMLError_Unknown"
    fake.configure("gpus=2", "error.nvmlDeviceGetHandleByIndex_v2=GPU_IS_LOST@1")
    assert child.ask("nvmlDeviceGetHandleByIndex(0) and None") is None
    assert child.error("nvmlDeviceGetHandleByIndex(1)") == "NVMLError_GpuIsLost"


def test_init_fails_then_works(fake: FakeNvml, child: PynvmlChild) -> None:
    fake.configure("init_error=DRIVER_NOT_LOADED")
    assert child.error("nvmlInit()") == "NVMLError_DriverNotLoaded"
    fake.configure("error.nvmlInitWithFlags=TIMEOUT+1")
    child.ask("nvmlInit()")
    assert child.error("nvmlInit()") == "NVMLError_Timeout"
    child.ask("nvmlShutdown()")
    fake.configure("gpus=1")
    child.start(1)


def test_lost_gpu_answers_nothing_and_comes_back(fake: FakeNvml, child: PynvmlChild) -> None:
    child.start(8)
    fake.configure("lost=3")
    for line in ("nvmlDeviceGetPowerUsage(h[3])", "nvmlDeviceGetHandleByIndex(3)"):
        assert child.error(line) == "NVMLError_GpuIsLost"
    child.ask("nvmlDeviceGetPowerUsage(h[4])")
    assert child.ask("nvmlDeviceGetCount()") == 8
    fake.configure("lost=3+2")
    child.ask("[nvmlDeviceGetPowerUsage(h[3]), nvmlDeviceGetPowerUsage(h[3])]")
    assert child.error("nvmlDeviceGetPowerUsage(h[3])") == "NVMLError_GpuIsLost"
    fake.configure()
    child.ask("nvmlDeviceGetPowerUsage(h[3])")


def test_hidden_gpu_shifts_indexes_and_keeps_uuids(fake: FakeNvml, child: PynvmlChild) -> None:
    uuids = "[nvmlDeviceGetUUID(nvmlDeviceGetHandleByIndex(i)) for i in range({})]"
    child.start(8)
    before = child.ask(uuids.format(8))
    fake.configure("hide=3")
    assert child.ask("nvmlDeviceGetCount()") == 7
    assert child.ask(uuids.format(7)) == before[:3] + before[4:]
    assert child.error("nvmlDeviceGetUUID(h[3])") == "NVMLError_GpuIsLost"
    assert child.ask("nvmlDeviceGetIndex(h[4])") == 3
    fake.configure("uuid_seed=5")
    assert not set(before) & set(child.ask(uuids.format(8)))


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("hang.nvmlDeviceGetPowerUsage=3", "nvmlDeviceGetPowerUsage(h[3])"),
        ("hang.nvmlDeviceGetCount_v2=1", "nvmlDeviceGetCount()"),
        ("hang.*=", "nvmlDeviceGetFanSpeed(h[0])"),
    ],
)
def test_hang_lasts_until_its_rule_goes(
    fake: FakeNvml, child: PynvmlChild, rule: str, line: str
) -> None:
    child.start(8)
    function = line.partition("(")[0] + ("_v2" if "Count" in line else "")
    fake.configure(rule)
    if rule.endswith("=3"):
        child.ask("nvmlDeviceGetPowerUsage(h[2])")  # another GPU is free
    before = fake.calls().get(function, 0)
    child.send(line)
    deadline = time.monotonic() + DEADLINE
    while fake.calls().get(function, 0) == before and time.monotonic() < deadline:
        assert not child.answered(0.01)
    assert fake.calls()[function] == before + 1
    assert not child.answered(0.2)
    fake.configure()
    assert "value" in child.receive() or "FanSpeed" in line


def test_all_ones(fake: FakeNvml, child: PynvmlChild) -> None:
    functions = ["PowerUsage", "TotalEnergyConsumption", "UtilizationRates", "MemoryInfo_v2"]
    fake.configure(
        "gpus=2", *(f"all_ones.nvmlDeviceGet{name}=@1" for name in [*functions, "FieldValues"])
    )
    child.start(2)
    assert child.ask("nvmlDeviceGetPowerUsage(h[1])") == 2**32 - 1
    assert child.ask("nvmlDeviceGetPowerUsage(h[0])") < 700000
    assert child.ask("nvmlDeviceGetTotalEnergyConsumption(h[1])") == 2**64 - 1
    assert child.ask("nvmlDeviceGetUtilizationRates(h[1]).gpu") == 2**32 - 1
    assert child.ask("nvmlDeviceGetMemoryInfo(h[1], nvmlMemory_v2).used") == 2**64 - 1
    assert child.ask("nvmlDeviceGetFieldValues(h[1], [186])[0].value.uiVal") == 2**32 - 1


def test_values_can_be_set(fake: FakeNvml, child: PynvmlChild) -> None:
    fake.configure("gpus=2", "value.power_mw=5", "value.power_mw=123@1", r"name=GPU \xff!")
    child.start(2)
    assert child.ask("[nvmlDeviceGetPowerUsage(gpu) for gpu in h]") == [5, 123]
    assert child.error("nvmlDeviceGetName(h[0])") == "UnicodeDecodeError"


def test_driver_reload_ends_the_session_and_restarts_counters(
    fake: FakeNvml, child: PynvmlChild
) -> None:
    fake.configure(static=1)
    child.start(8)
    energy = "nvmlDeviceGetTotalEnergyConsumption(h[1])"
    assert child.ask(energy) == 2000000000
    fake.configure(static=1, driver_epoch=1, driver="575.57.08")
    assert child.error(energy) == "NVMLError_Uninitialized"
    assert child.error("nvmlDeviceGetCount()") == "NVMLError_Uninitialized"
    child.ask("old <- h")
    child.ask("nvmlShutdown()")
    child.start(8)
    assert child.error(energy.replace("h[1]", "old[1]")) == "NVMLError_InvalidArgument"
    assert child.ask(energy) == 0
    assert child.ask("nvmlDeviceGetTotalEccErrors(h[3], 0, 0)") == 0
    assert child.ask("nvmlDeviceGetTotalEccErrors(h[3], 0, 1)") == 10
    assert child.ask("nvmlSystemGetDriverVersion()") == "575.57.08"


@pytest.mark.parametrize(
    "rule",
    [
        "error.nvmlDeviceGetPowerUsge=UNKNOWN",
        "error.nvmlDeviceGetPowerUsage=UNKNOWEN",
        "value.power=3",
        "xid=3",
        "mig=2;profile=t4",
        "lost=64",
        "speed=3",
        "gpus",
    ],
)
def test_wrong_rule_is_refused(fake: FakeNvml, child: PynvmlChild, rule: str) -> None:
    fake.configure("gpus=1", rule)
    assert child.error("nvmlInit()") == "NVMLError_InvalidArgument"
