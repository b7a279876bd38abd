"""Faults of GPUs, the driver and the library, and coming back from them without a restart."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, of, status, value

from otelgpu.points.batch import Readings

Make = Callable[..., Receiver]
UTILIZATION = "nvmlDeviceGetUtilizationRates"


def ids(receiver: Receiver) -> list[str]:
    """hw.id of the GPUs in NVML's order."""
    info = [s.attributes for s, _ in receiver.scrape() if s.metric.name == "hw.gpu.info"]
    return [str(a["hw.id"]) for a in sorted(info, key=lambda a: int(a["hw.gpu.index"]))]


@pytest.fixture
def short() -> dict[str, object]:
    """Settings with a short deadline, for calls that do not return."""
    return {"timeout": timedelta(seconds=0.3)}


@pytest.mark.parametrize(
    ("error", "state"),
    [
        ("DRIVER_NOT_LOADED", "nvml.driver_not_loaded"),
        ("LIB_RM_VERSION_MISMATCH", "nvml.version_mismatch"),
        ("NO_PERMISSION", "nvml.no_permission"),
        ("UNKNOWN", "nvml.unknown"),
        ("GPU_NOT_FOUND", "nvml.no_devices"),
        ("GPU_IS_LOST", "nvml.device_lost"),
        ("TIMEOUT", "nvml.unknown"),
    ],
)
def test_the_library_does_not_open(fake: FakeNvml, receiver: Make, error: str, state: str) -> None:
    fake.configure(init_error=error)
    made = receiver()
    assert made.scrape() == []
    assert made.state == state
    assert "NVML error" in made.detail
    assert made.own("otelgpu.receiver.up") == {(): 0}
    fake.configure(gpus=2)
    readings = made.until(lambda _: made.state == "ok")
    assert set(status(readings).values()) == {"ok"}
    assert made.own("otelgpu.receiver.up") == {(): 1}


def test_zero_gpus_are_a_state_until_there_are_some(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=0)
    made = receiver()
    assert made.scrape() == []
    assert made.state == "nvml.no_devices"
    fake.configure(gpus=2)
    assert len(status(made.until(lambda _: made.state == "ok"))) == 2


def test_a_lost_gpu_costs_only_itself(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=3, static=1)
    made = receiver()
    gpus = ids(made)
    whole = of(made.scrape(after=10), gpus[2])
    fake.configure("lost=1", gpus=3, static=1)
    readings = made.scrape(after=10)
    assert made.state == "nvml.device_lost"
    assert gpus[1] in made.detail
    assert status(readings) == {gpus[0]: "ok", gpus[1]: "failed", gpus[2]: "ok"}
    assert of(readings, gpus[2]) == whole
    # What describes the lost card is still true, and all that may be said of it.
    assert {name for name, _ in of(readings, gpus[1])} == {
        "hw.gpu.info",
        "hw.status",
        "hw.gpu.faults",
        "hw.gpu.fault.last_occurrence",
    }
    # A discovery cannot identify it meanwhile, and does not forget it.
    later = made.scrape(after=70)
    assert status(later) == status(readings)
    fake.configure(gpus=3, static=1)
    made.until(lambda _: made.state == "ok")
    # Activity begins with a new pair of samples.
    back = of(made.scrape(after=10), gpus[1])
    assert {key for key in back if not key[0].startswith("hw.gpu.fault")} == whole.keys()


def test_a_gpu_that_cannot_be_identified_costs_only_itself(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("error.nvmlDeviceGetUUID=UNKNOWN@1", gpus=3)
    made = receiver()
    assert len(status(made.scrape())) == 2
    assert made.state == "nvml.device_unreadable"
    assert "index 1" in made.detail
    fake.configure(gpus=3)
    assert len(status(made.until(lambda _: made.state == "ok"))) == 3


def test_every_call_answers_unknown_from_the_start(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("error.*=UNKNOWN", gpus=2)
    made = receiver()
    assert made.scrape() == []
    assert made.state == "nvml.unknown"
    fake.configure(gpus=2)
    assert len(status(made.until(lambda _: made.state == "ok"))) == 2


def test_every_call_answers_unknown_while_running(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=2)
    made = receiver()
    gpus = ids(made)
    fake.configure("error.*=UNKNOWN", gpus=2)
    readings = made.scrape(after=10)
    # Not known is not failed, and nothing that describes a card has become untrue.
    assert {name for name, _ in of(readings, gpus[0])} <= {
        "hw.gpu.info",
        "hw.gpu.power.limit",
        "hw.gpu.lifetime_errors",
        "hw.gpu.memory.remapped_row.count",
        "hw.gpu.memory.repair.status",
        "hw.gpu.fabric.status",
        "hw.gpu.pcie.width.max",
    }
    assert made.state == "nvml.nothing_readable"
    assert made.drops()["hw.status", "unknown"] == 2
    made.scrape(after=70)
    assert made.state == "nvml.unknown"
    fake.configure(gpus=2)
    assert set(status(made.until(lambda _: made.state == "ok"))) == set(gpus)


def test_nvml_is_opened_anew_when_only_that_can_help(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=2)
    made = receiver()
    gpus = ids(made)
    made.scrape(after=70)
    assert fake.calls()["nvmlInitWithFlags"] == 1
    # The driver is reloaded: the session and its handles are dead.
    fake.configure(gpus=2, driver_epoch=1, driver="580.1")
    readings = made.until(lambda _: made.state == "ok")
    assert fake.calls()["nvmlInitWithFlags"] >= 2
    assert set(status(readings)) == set(gpus)
    versions = {s.attributes.get("hw.driver_version") for s, _ in readings} - {None}
    assert versions == {"580.1"}


def test_nvml_is_opened_anew_when_gpus_are_found_but_not_read(
    fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(gpus=2, procs=1)
    made = receiver()
    made.scrape()
    found = {"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlInitWithFlags"}
    reading = fake.calls().keys() - found
    fake.configure(*(f"error.{function}=UNKNOWN" for function in reading), gpus=2)
    made.scrape(after=10)
    assert made.state == "nvml.nothing_readable"
    assert fake.calls()["nvmlInitWithFlags"] == 1
    made.until(lambda _: fake.calls()["nvmlInitWithFlags"] > 1)
    assert made.state == "nvml.device_unreadable"
    fake.configure(gpus=2)
    made.until(lambda _: made.state == "ok")


def test_a_new_gpu_on_the_bus_is_looked_for(fake: FakeNvml, receiver: Make, tmp_path: Path) -> None:
    def plug(address: str) -> None:
        device = tmp_path / "bus" / "pci" / "devices" / address
        device.mkdir(parents=True)
        (device / "vendor").write_text("0x10de\n", encoding="ascii")
        (device / "class").write_text("0x030200\n", encoding="ascii")

    plug("0000:1a:00.0")
    fake.configure(gpus=1)
    made = receiver(sysfs=tmp_path)
    made.scrape()
    made.scrape(after=70)
    assert fake.calls()["nvmlInitWithFlags"] == 1
    assert made.own("otelgpu.device.expected") == {(("hw.vendor", "NVIDIA"),): 1}
    plug("0000:3a:00.0")
    made.scrape(after=70)
    assert fake.calls()["nvmlInitWithFlags"] == 2


def test_gpus_that_are_expected_can_be_set(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=2)
    made = receiver(expected_devices=8)
    made.scrape()
    assert made.own("otelgpu.device.expected") == {(("hw.vendor", "NVIDIA"),): 8}
    assert made.own("otelgpu.device.count") == {(("hw.vendor", "NVIDIA"),): 2}


def test_a_gpu_that_is_gone_ends(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=3)
    made = receiver()
    gpus = ids(made)
    fake.configure("hide=0", gpus=3)
    readings = made.until(lambda _: made.state == "ok")
    assert set(status(readings)) == set(gpus[1:])
    assert ids(made) == gpus[1:]


def test_indexes_that_shift_move_no_value_and_a_gpu_returns(fake: FakeNvml, receiver: Make) -> None:
    rules = [f"value.power_mw={100_000 * (gpu + 1)}@{gpu}" for gpu in range(3)]
    fake.configure(*rules, gpus=3)
    made = receiver()
    gpus = ids(made)

    def watts(readings: Readings) -> dict[str, float | None]:
        found = dict.fromkeys(status(readings))
        return {gpu: of(readings, gpu)["hw.power", ()] for gpu in found}

    whole = dict(zip(gpus, (100, 200, 300), strict=True))
    assert watts(made.scrape(after=10)) == whole
    fake.configure(*rules, "hide=0", gpus=3)
    made.until(lambda found: len(status(found)) == 2)
    left = made.scrape(after=10)
    assert watts(left) == {gpu: whole[gpu] for gpu in gpus[1:]}
    assert made.state == "ok"
    fake.configure(*rules, gpus=3)
    made.until(lambda found: len(status(found)) == 3)
    assert watts(made.scrape(after=10)) == whole
    # In the driver's order again, each with its own index
    assert ids(made) == gpus


@pytest.mark.parametrize(
    "rule", ["error.nvmlDeviceGetUUID=NOT_SUPPORTED@0", "all_ones.nvmlDeviceGetUUID=0"]
)
def test_a_gpu_without_uuid_is_named_by_its_address(
    fake: FakeNvml, receiver: Make, rule: str
) -> None:
    fake.configure(rule, gpus=2)
    made = receiver()
    gpus = ids(made)
    assert gpus[0] == "pci:0000:1a:00.0"
    assert gpus[1].startswith("GPU-")
    assert made.state == "ok"


def test_a_call_hangs_on_one_gpu(fake: FakeNvml, receiver: Make, short: dict[str, object]) -> None:
    fake.configure(gpus=3)
    made = receiver(**short)
    gpus = ids(made)
    fake.configure(f"hang.{UTILIZATION}=1", gpus=3)
    readings = made.scrape(after=10)
    assert made.state == "nvml.device_hung"
    assert gpus[1] in made.detail
    assert status(readings) == {gpus[0]: "ok", gpus[1]: "failed", gpus[2]: "ok"}
    assert value([r for r in readings if r[0].attributes["hw.id"] == gpus[2]], "hw.power")
    assert made.drops()["hw.power", "hung"] == 1
    # The library is not closed under the thread that is inside it, however long that takes.
    closed = fake.calls().get("nvmlShutdown", 0)
    for _ in range(3):
        assert status(made.scrape(after=70)) == status(readings)
    assert fake.calls().get("nvmlShutdown", 0) == closed
    fake.configure(gpus=3)
    assert set(status(made.until(lambda _: made.state == "ok")).values()) == {"ok"}


def test_calls_hang_on_all_gpus(fake: FakeNvml, receiver: Make, short: dict[str, object]) -> None:
    fake.configure(gpus=4)
    made = receiver(**short)
    gpus = ids(made)
    fake.configure(f"hang.{UTILIZATION}=", gpus=4)
    readings = made.scrape(after=10)
    assert made.state == "nvml.library_hung"
    assert status(readings) == dict.fromkeys(gpus, "failed")
    assert made.own("otelgpu.receiver.up") == {(): 0}
    fake.configure(gpus=4)
    assert status(made.until(lambda _: made.state == "ok")) == dict.fromkeys(gpus, "ok")


@pytest.mark.parametrize("function", ["nvmlInitWithFlags", "nvmlDeviceGetCount_v2"])
def test_discovery_hangs(
    fake: FakeNvml, receiver: Make, short: dict[str, object], function: str
) -> None:
    fake.configure(f"hang.{function}=0", gpus=2)
    made = receiver(**short)
    assert made.scrape() == []
    assert made.state == "nvml.discovery_hung"
    fake.configure(gpus=2)
    assert len(status(made.until(lambda _: made.state == "ok"))) == 2


def test_discovery_hangs_on_one_gpu_while_running(
    fake: FakeNvml, receiver: Make, short: dict[str, object]
) -> None:
    fake.configure(gpus=2)
    made = receiver(**short)
    gpus = ids(made)
    fake.configure("hang.nvmlDeviceGetHandleByIndex_v2=1", gpus=2)
    assert status(made.scrape(after=70)) == dict.fromkeys(gpus, "ok")
    fake.configure(gpus=2)
    assert status(made.until(lambda _: made.state == "ok")) == dict.fromkeys(gpus, "ok")
