"""What is read from models of GPUs whose values stand still."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import (
    Receiver,
    close_nvml,
    findings,
    key,
    of,
    value,
)

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Profile
from otelgpu.points.stream import Attributes
from otelgpu.semconv.metrics import HW_GPU_INFO

Make = Callable[..., Receiver]
PCIE = {"hw_gpu_link_type": "pcie"}
MODELS = ["h100", "a100", "b200", "rtx4090", "t4", "gb10"]


@pytest.mark.parametrize("model", MODELS)
def test_all_readings_follow_the_convention(fake: FakeNvml, receiver: Make, model: str) -> None:
    fake.configure(profile=model, gpus=3)
    made = receiver(profile=Profile.FULL)
    assert findings(made.scrape()) == []
    assert findings(made.scrape(after=10)) == []


@pytest.mark.parametrize("profile", list(Profile))
def test_a_profile_holds_those_before_it(fake: FakeNvml, receiver: Make, profile: Profile) -> None:
    fake.configure(static=1, gpus=1)
    whole = receiver(profile=Profile.FULL).scrape()
    expected = {key(s): v for s, v in whole if s.metric.profile <= profile}
    assert of(receiver(profile=profile).scrape()) == expected


def test_gpus_are_told_apart_by_their_uuid(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(static=1, gpus=8)
    readings = receiver().scrape()
    gpus = {s.attributes["hw.id"] for s, _ in readings}
    assert len(gpus) == 8
    assert all(str(gpu).startswith("GPU-") for gpu in gpus)
    assert {s.attributes["hw.model"] for s, _ in readings} == {"NVIDIA H100 80GB HBM3"}


def test_a_gpu_in_mig_mode_has_no_utilization(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(static=1, gpus=1, mig=2)
    made = receiver()
    readings = made.scrape()
    assert value(readings, "hw.power") == 385
    assert value(readings, "hw.gpu.utilization") is None
    # It is known that there is none, so nobody is asked.
    assert "nvmlDeviceGetUtilizationRates" not in fake.calls()


def test_utilization_above_all_bounds_is_dropped(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("value.util_gpu=150", static=1, gpus=1)
    made = receiver()
    readings = made.scrape()
    assert value(readings, "hw.gpu.utilization", hw_gpu_task="general") is None
    assert value(readings, "hw.gpu.utilization", hw_gpu_task="memory") == 0.25
    assert made.drops()["hw.gpu.utilization", "out_of_range"] == 1


def test_what_stands_for_unknown_is_absent(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("value.pstate=32", "value.temp_mem=0", "value.recovery_action=9", gpus=1)
    made = receiver(profile=Profile.FULL)
    readings = made.scrape()
    assert value(readings, "hw.gpu.performance_state") is None
    assert ("hw.temperature", (("hw.sensor_location", "memory"),)) not in of(readings)
    assert value(readings, "hw.gpu.recovery.status") is None
    assert made.drops()["hw.gpu.recovery.status", "unknown_action"] == 1


@pytest.mark.parametrize(("number", "action"), [(6, "bus_reset"), (7, "system_reboot")])
def test_an_action_of_the_newest_drivers(
    number: int, action: str, fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(f"value.recovery_action={number}", gpus=1)
    readings = receiver().scrape()
    assert value(readings, "hw.gpu.recovery.status", hw_gpu_recovery_action=action) == 1
    assert value(readings, "hw.gpu.recovery.status", hw_gpu_recovery_action="none") == 0


def test_a_registration_with_the_fabric_that_failed(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("value.fabric_status=999", gpus=1)
    readings = receiver().scrape()
    assert value(readings, "hw.gpu.fabric.status", hw_gpu_fabric_state="failed") == 1
    assert value(readings, "hw.gpu.fabric.status", hw_gpu_fabric_state="completed") == 0


@pytest.mark.parametrize(
    ("mask", "state"),
    [
        (0b10_10_10_10, "completed"),  # each of them told, and well
        (0b1 << 8, "completed"),  # the right configuration
        (0b01, "degraded"),
        (0b01 << 2, "degraded"),
        (0b01 << 4, "degraded"),
        (0b01 << 6, "degraded"),
        (0b101 << 8, "degraded"),
    ],
)
def test_any_fault_of_the_fabric_counts(
    mask: int, state: str, fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(f"value.fabric_health={mask}", gpus=1)
    readings = receiver().scrape()
    assert value(readings, "hw.gpu.fabric.status", hw_gpu_fabric_state=state) == 1


def _info(readings: Readings) -> Attributes:
    (attributes,) = (s.attributes for s, _ in readings if s.metric is HW_GPU_INFO)
    return attributes


def test_a_detail_that_fails_for_a_moment_is_read_again(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("error.nvmlDeviceGetSerial=TIMEOUT", gpus=1)
    made = receiver()
    assert value(made.scrape(), "hw.gpu.info") is None
    assert made.drops()["hw.gpu.info", "timeout"] == 1
    fake.configure(gpus=1)
    assert _info(made.scrape(after=1))["hw.serial_number"] == "1652823000000"


def test_a_detail_that_always_fails_does_not_keep_a_gpu_nameless(
    fake: FakeNvml, receiver: Make
) -> None:
    fake.configure("error.nvmlDeviceGetSerial=UNKNOWN", gpus=1)
    made = receiver()
    made.scrape()
    made.scrape(after=1)
    info = _info(made.scrape(after=1))
    assert info["hw.bios_version"] == "96.00.99.00.01"
    assert "hw.serial_number" not in info
    fake.configure(gpus=1)
    assert _info(made.scrape(after=600))["hw.serial_number"] == "1652823000000"


def test_a_refusal_that_passes_changes_no_meaning(fake: FakeNvml, receiver: Make) -> None:
    """Correctable errors and replays are two things: one must not end and the other begin."""
    fake.configure(gpus=1)
    made = receiver()
    made.scrape()
    for _ in range(3):
        fake.configure("fi_error.173=NOT_SUPPORTED", gpus=1)
        readings = made.scrape(after=1)
        assert value(readings, "hw.gpu.link.errors", **PCIE, error_type="correctable") is None
        assert value(readings, "hw.gpu.link.errors", **PCIE, error_type="replay") is None
        fake.configure(gpus=1)
        readings = made.scrape(after=1)
        assert value(readings, "hw.gpu.link.errors", **PCIE, error_type="correctable") == 0


def test_a_field_that_is_gone_for_good_is_read_by_the_other_call(
    fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(gpus=1)
    made = receiver()
    made.scrape()
    fake.configure("fi_error.173=NOT_SUPPORTED", gpus=1)
    for _ in range(3):
        made.scrape(after=1)
    readings = made.until(
        lambda found: value(found, "hw.gpu.link.errors", **PCIE, error_type="replay") is not None
    )
    assert value(readings, "hw.gpu.link.errors", **PCIE, error_type="correctable") is None


def test_without_ecc_there_are_no_error_counts(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("value.ecc_mode=0", gpus=1)
    readings = receiver().scrape()
    assert value(readings, "hw.errors") is None
    assert value(readings, "hw.gpu.lifetime_errors") is None
    assert value(readings, "hw.power") is not None


def test_throttling_is_what_holds_clocks_down_against_the_will(
    fake: FakeNvml, receiver: Make
) -> None:
    # Idle, application clocks and display clocks; power cap; hardware thermal slowdown; and board
    # limit, which the driver does not name among what it can report.
    fake.configure(f"value.reasons={0x1 | 0x2 | 0x100 | 0x4 | 0x40 | 0x200:#x}", gpus=1)
    readings = receiver().scrape()
    found = {
        s.attributes["hw.gpu.throttle.reason"]: v
        for s, v in readings
        if s.metric.name == "hw.gpu.throttle.status"
    }
    assert found == {
        "power.sw_cap": 1,
        "hw_slowdown": 0,
        "sync_boost": 0,
        "thermal.sw": 0,
        "thermal.hw": 1,
        "power.hw_brake": 0,
        "power.board_limit": 1,
    }


@pytest.mark.parametrize(
    ("rules", "state"),
    [
        ([], "ok"),
        (["value.remap_pending=1"], "pending"),
        (["value.remap_pending=1", "value.remap_failure=1"], "failed"),
        (["profile=t4", "value.retired_pending=1"], "pending"),
    ],
)
def test_state_of_memory_repair(
    fake: FakeNvml, receiver: Make, rules: list[str], state: str
) -> None:
    fake.configure(*rules, gpus=1)
    readings = receiver().scrape()
    for one in ("ok", "pending", "failed"):
        found = value(readings, "hw.gpu.memory.repair.status", hw_gpu_memory_repair_state=one)
        assert found == (one == state)


@pytest.mark.parametrize(
    ("model", "instant", "average"),
    [
        ("t4", 40, None),
        ("a100", 226, None),  # GA100: the one Ampere chip that does not average
        ("rtx4090", None, 235),
        ("h100", None, 385),
    ],
)
def test_the_old_power_call_stands_in_by_architecture(
    fake: FakeNvml, receiver: Make, model: str, instant: float | None, average: float | None
) -> None:
    rules = ["fi_error.185=NOT_SUPPORTED", "fi_error.186=INVALID_ARGUMENT"]
    fake.configure(*rules, profile=model, static=1, gpus=1)
    readings = receiver().scrape()
    assert value(readings, "hw.power") == instant
    assert value(readings, "hw.gpu.power.average") == average


def test_pcie_replays_stand_in_where_errors_are_not_counted(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("fi_error.173=NOT_SUPPORTED", "value.pcie_replay=7", gpus=1)
    readings = receiver().scrape()
    assert value(readings, "hw.gpu.link.errors", **PCIE, error_type="replay") == 7
    assert value(readings, "hw.gpu.link.errors", **PCIE, error_type="correctable") is None


def test_a_driver_of_some_years_ago(fake: FakeNvml, receiver: Make, old_library: Path) -> None:
    fake.configure(profile="t4", static=1, gpus=1)
    new = of(receiver(profile=Profile.FULL).scrape())
    close_nvml()
    made = receiver(library=old_library, profile=Profile.FULL)
    old = of(made.scrape())
    assert made.state == "ok"
    gone = {name for name, _ in new.keys() - old.keys()}
    assert gone == {
        # The first version of the structure counts what the driver reserves as used.
        "hw.gpu.memory.usage",
        "hw.gpu.memory.utilization",
        "hw.gpu.memory.reserved",
        # Field values only
        "hw.gpu.throttle.time",
        "hw.gpu.link.errors",
        "hw.gpu.io",
        "hw.gpu.recovery.status",
        "hw.gpu.memory.retired_page.count",
        "hw.gpu.memory.repair.status",
    }
    replay = ("hw.gpu.link.errors", (("error.type", "replay"), ("hw.gpu.link.type", "pcie")))
    assert old.keys() - new.keys() == {replay}
    assert old == {k: v for k, v in new.items() if k in old} | {replay: 0}


def test_a_name_that_is_no_utf8_costs_no_device(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(r"name=NVIDIA\xff\x07 X", gpus=1)
    made = receiver()
    models = {s.attributes["hw.model"] for s, _ in made.scrape()}
    assert models == {"NVIDIA\ufffd\ufffd X"}
    assert made.state == "ok"


def test_drm_nodes_come_from_sysfs(fake: FakeNvml, receiver: Make, tmp_path: Path) -> None:
    fake.configure(gpus=1)
    device = tmp_path / "bus" / "pci" / "devices" / "0000:1a:00.0"
    (device / "drm" / "card1").mkdir(parents=True)
    (device / "drm" / "renderD128").mkdir()
    (info,) = [
        s.attributes for s, _ in receiver(sysfs=tmp_path).scrape() if s.metric.name == "hw.gpu.info"
    ]
    assert info["hw.gpu.drm.card"] == "card1"
    assert info["hw.gpu.drm.render"] == "renderD128"
