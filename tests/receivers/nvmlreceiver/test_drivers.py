"""Drivers that lack functions and fields, or know them by other names and numbers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.goldens import build
from tests.receivers.nvmlreceiver.harness import Key, Receiver, close_nvml, of, value

from nvmlreceiver.drivers import Version, field_numbers, parse_version
from otelgpu.points.metric import Profile

Make = Callable[..., Receiver]

SECOND = "nvmlDeviceGetMemoryInfo_v2"
FIRST = "nvmlDeviceGetMemoryInfo"
NEW = "nvmlDeviceGetTemperatureV"
OLD = "nvmlDeviceGetTemperature"


def gone(driver: int, new: dict[Key, float], old: dict[Key, float]) -> set[str]:
    """Names of metrics that a driver lacks; points that it has must be the same."""
    same = {k: v for k, v in new.items() if k in old and k[0] != "hw.gpu.info"}
    assert {k: old[k] for k in same} == same, driver
    return {name for name, _ in new} - {name for name, _ in old}


@pytest.mark.parametrize(
    ("driver", "model", "expected"),
    [
        (
            470,
            "a100",
            {
                # Functions and fields that came with 510, or are newer than this driver's header.
                "hw.gpu.compute_unit.count",
                "hw.gpu.link.bandwidth.limit",
                "hw.gpu.link.count",
                "hw.gpu.memory.bandwidth.limit",
                "hw.gpu.memory.usage",
                "hw.gpu.memory.utilization",
                "hw.gpu.memory.reserved",
                "hw.gpu.recovery.status",
            },
        ),
        (
            470,
            "rtx4090",
            {
                "hw.gpu.compute_unit.count",
                "hw.gpu.io",
                "hw.gpu.link.bandwidth.limit",
                "hw.gpu.memory.bandwidth.limit",
                "hw.fan.speed",
                "hw.gpu.heating_margin",
                "hw.gpu.memory.usage",
                "hw.gpu.memory.utilization",
                "hw.gpu.memory.reserved",
                "hw.gpu.recovery.status",
                # Field 186 only: what the call of this driver gives is an average.
                "hw.power",
            },
        ),
        (535, "h100", {"hw.gpu.heating_margin", "hw.gpu.recovery.status"}),
        (570, "h100", set()),
        (575, "h100", set()),
    ],
)
def test_a_driver_gives_the_best_it_can(
    fake: FakeNvml, receiver: Make, driver: int, model: str, expected: set[str]
) -> None:
    library = build(driver)
    fake.configure(profile=model, static=1, gpus=1)
    new = of(receiver(profile=Profile.FULL).scrape())
    close_nvml()
    made = receiver(library=library, profile=Profile.FULL)
    old = of(made.scrape())
    assert made.state == "ok"
    assert gone(driver, new, old) == expected


@pytest.mark.parametrize("driver", [470, 535, 570])
def test_what_a_driver_lacks_is_counted_once(fake: FakeNvml, receiver: Make, driver: int) -> None:
    library = build(driver)
    fake.configure(profile="rtx4090", static=1, gpus=1)
    made = receiver(library=library, profile=Profile.FULL)
    made.scrape()
    drops = made.drops()
    # Activity and the peak compare two scrapes.
    assert {reason for _, reason in drops} <= {"unsupported", "first_sample"}
    for _ in range(20):
        made.scrape(after=10)
    assert made.drops() == drops


def test_fans_are_counted_by_asking_where_the_driver_does_not(
    fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(profile="rtx4090", static=1, gpus=1)
    readings = receiver(library=build(470)).scrape()
    fans = {
        s.attributes["hw.sensor_location"]
        for s, _ in readings
        if s.metric.name == "hw.fan.speed_ratio"
    }
    assert fans == {"fan0", "fan1"}


def test_the_health_of_the_fabric_is_unknown_before_550(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("value.fabric_health=1", gpus=1)
    made = receiver(library=build(535))
    readings = made.scrape()
    states = {
        s.attributes["hw.gpu.fabric.state"]: v
        for s, v in readings
        if s.metric.name == "hw.gpu.fabric.status"
    }
    assert states == {"completed": 1, "in_progress": 0, "not_started": 0}
    assert made.drops()["hw.gpu.fabric.status", "unsupported"] == 1


@pytest.mark.parametrize(
    ("branch", "version", "given"),
    [
        (575, "575.57.08", True),
        (575, "580.65.06", True),
        # Which numbers these followed is not known.
        (575, "580.70.01", False),
        (580, "580.126.09", True),
        # Without these fields: 251 to 253 are something else.
        (570, "570.86.15", False),
    ],
)
def test_throttle_times_have_other_numbers_in_some_drivers(
    fake: FakeNvml, receiver: Make, branch: int, version: str, *, given: bool
) -> None:
    # This model has power smoothing, whose settings stand under our numbers in some drivers.
    fake.configure(profile="b200", static=1, gpus=1, driver=version)
    readings = receiver(library=build(branch)).scrape()
    for reason, expected in (
        ("thermal.sw", 2.69e-07),
        ("thermal.hw", 2.7e-07),
        ("power.hw_brake", 2.71e-07),
    ):
        found = value(readings, "hw.gpu.throttle.time", hw_gpu_throttle_reason=reason)
        assert found == (expected if given else None), reason
    assert value(readings, "hw.gpu.throttle.time", hw_gpu_throttle_reason="power.sw_cap")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("580.126.09", (580, 126)),
        ("470.256", (470, 256)),
        ("N/A", None),
        ("", None),
        (None, None),
        ("12", None),
    ],
)
def test_versions(text: str | None, version: Version | None) -> None:
    assert parse_version(text) == version


def test_a_driver_that_does_not_tell_its_version_has_our_numbers() -> None:
    assert field_numbers(None) == {}


def test_a_function_that_the_driver_lacks_is_asked_once(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(f"error.{NEW}=FUNCTION_NOT_FOUND", gpus=2)
    made = receiver()
    for _ in range(5):
        temperatures = [s for s, _ in made.scrape(after=10) if s.metric.name == "hw.temperature"]
        assert len(temperatures) == 2 * 2
    calls = fake.calls()
    assert calls[NEW] == 2
    assert calls[OLD] == 2 * 5


def test_a_function_that_the_device_refuses_is_asked_again(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(f"error.{NEW}=NOT_SUPPORTED", "value.temp=33", gpus=1)
    made = receiver()
    gpu = "hw.temperature", (("hw.sensor_location", "gpu"),)
    assert of(made.scrape())[gpu] == 33
    made.scrape(after=10)
    assert fake.calls()[NEW] == fake.calls()[OLD] == 2
    fake.configure("value.temp=44", gpus=1)
    assert of(made.scrape(after=10))[gpu] == 44
    assert fake.calls()[OLD] == 2


def test_a_refusal_that_passes_does_not_change_the_quantity(fake: FakeNvml, receiver: Make) -> None:
    """The first version of the memory structure counts what is reserved as used."""
    fake.configure(gpus=1)
    made = receiver()
    assert value(made.scrape(), "hw.gpu.memory.usage")
    for _ in range(3):
        fake.configure(f"error.{SECOND}=NOT_SUPPORTED", gpus=1)
        readings = made.scrape(after=10)
        assert value(readings, "hw.gpu.memory.limit") is None
        fake.configure(gpus=1)
        assert value(made.scrape(after=10), "hw.gpu.memory.usage")
    assert fake.calls().get(FIRST, 0) == 0


def test_what_is_gone_for_good_is_told_the_other_way(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=2)
    made = receiver()
    made.scrape()
    fake.configure(f"error.{SECOND}=NOT_SUPPORTED@0", gpus=2)

    def limits() -> int:
        found = made.scrape(after=10)
        return sum(s.metric.name == "hw.gpu.memory.limit" for s, _ in found)

    # Of the other GPU alone, until the reading has been given up and is asked for again.
    assert [limits() for _ in range(3)] == [1, 1, 1]
    assert [limits() for _ in range(20)][-1] == 2
    assert fake.calls()[FIRST] > 0
    fake.configure(gpus=2)
    usage = [s for s, _ in made.scrape(after=10) if s.metric.name == "hw.gpu.memory.usage"]
    assert len(usage) == 2


def test_an_old_driver_lacks_what_came_later(tmp_path: Path) -> None:
    """The fake's own promise: the library of a branch does not export it."""
    assert b"nvmlDeviceGetMemoryInfo_v2\0" in build(535).read_bytes()
    assert build(470) != build(535)
