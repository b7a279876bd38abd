"""Peak power, rated memory bandwidth, compute units, spare rows: what is read at ``full`` only."""

from collections.abc import Callable

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, findings, value

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Profile
from otelgpu.scraping.slot import REFUSALS

Make = Callable[..., Receiver]
PEAK = "hw.gpu.power.peak"
UNITS = "hw.gpu.compute_unit.count"
BANDWIDTH = "hw.gpu.memory.bandwidth.limit"
START = 1_700_000_000_000_000
SECOND = 1_000_000


def at(fake: FakeNvml, seconds: float, *rules: str) -> None:
    """Let the driver's newest power sample be of this time."""
    time = f"value.sample_time_us={START + int(seconds * SECOND)}"
    fake.configure(time, *rules, static=1, gpus=1)


def test_peak_power_is_the_highest_sample_since_the_last_read(
    fake: FakeNvml, receiver: Make
) -> None:
    at(fake, 0, "value.peak_mw=999000")
    one = receiver(profile=Profile.FULL)
    assert value(one.scrape(), PEAK) is None
    assert one.drops()[PEAK, "first_sample"] == 1
    # That sample was of the time before the first read.
    at(fake, 10)
    assert value(one.scrape(after=10), PEAK) == 385
    at(fake, 20, "value.peak_mw=650000")
    readings = one.scrape(after=10)
    assert value(readings, PEAK) == 650
    assert value(readings, "hw.power") == 385
    assert findings(readings) == []
    calls = fake.calls()["nvmlDeviceGetSamples"]
    at(fake, 30)
    assert value(one.scrape(after=10), PEAK) == 385
    assert fake.calls()["nvmlDeviceGetSamples"] - calls == 1


def test_without_a_new_sample_there_is_no_peak(fake: FakeNvml, receiver: Make) -> None:
    at(fake, 0, "value.peak_mw=999000")
    one = receiver(profile=Profile.FULL)
    one.scrape()
    assert value(one.scrape(after=1), PEAK) is None
    assert one.drops()[PEAK, "not_found"] == 1
    at(fake, 0.1)
    assert value(one.scrape(after=1), PEAK) == 385


def test_a_clock_that_was_set_back_ends_no_peaks_for_good(fake: FakeNvml, receiver: Make) -> None:
    at(fake, 0)
    one = receiver(profile=Profile.FULL)
    one.scrape()
    for second in range(REFUSALS + 1):
        at(fake, second - 3600, "value.peak_mw=999000")
        assert value(one.scrape(after=1), PEAK) is None
    at(fake, REFUSALS + 1 - 3600)
    assert value(one.scrape(after=1), PEAK) == 385


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("value.sample_type=9", "type"),
        ("all_ones.nvmlDeviceGetSamples=", "absent"),
        ("value.peak_mw=4000000000", "out_of_range"),
        ("error.nvmlDeviceGetSamples=TIMEOUT", "timeout"),
    ],
)
def test_samples_that_cannot_be_believed(
    rule: str, reason: str, fake: FakeNvml, receiver: Make
) -> None:
    at(fake, 0)
    one = receiver(profile=Profile.FULL)
    one.scrape()
    at(fake, 10, rule)
    assert value(one.scrape(after=10), PEAK) is None
    assert one.drops()[PEAK, reason] == 1


def by_level(readings: Readings, metric: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for stream, number in readings:
        if stream.metric.name == metric:
            found.setdefault(str(stream.attributes["hw.id"])[:3], []).append(number)
    return found


def test_levels_of_a_gpu_in_mig_mode(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=2, **{"mig.0": "3g+2g(1c+1c)"}, static=1)
    one = receiver(profile=Profile.FULL)
    one.scrape()
    readings = one.scrape(after=10)
    # Each compute instance has its own of the 132 units, of which the first GPU tells none.
    assert by_level(readings, UNITS) == {"MIG": [48, 16, 16], "GPU": [132]}
    assert len(by_level(readings, BANDWIDTH)["GPU"]) == 2
    assert by_level(readings, BANDWIDTH).keys() == {"GPU"}
    assert by_level(readings, PEAK).keys() == {"GPU"}
    assert by_level(readings, "hw.gpu.memory.repair_bank.count").keys() == {"GPU"}


@pytest.mark.parametrize(
    ("model", "units", "bandwidth"),
    [
        # Data sheets: 3.35, 1.555, 8, 0.864, 0.32 and 1.008 TB/s
        ("h100", 132, 3_352_320_000_000),
        ("a100", 108, 1_555_200_000_000),
        ("b200", 148, 8_183_808_000_000),
        ("l40s", 142, 864_096_000_000),
        ("t4", 40, 320_064_000_000),
        ("rtx4090", 128, 1_008_096_000_000),
        ("gb10", 48, None),
    ],
)
def test_what_a_model_is_rated_for(
    model: str, units: int, bandwidth: int | None, fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(profile=model, static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    readings = one.scrape()
    assert value(readings, UNITS) == units
    assert value(readings, BANDWIDTH) == bandwidth
    assert one.drops()[BANDWIDTH, "unsupported"] == (bandwidth is None)


def test_units_of_an_unknown_number_of_cores_are_absent(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("error.nvmlDeviceGetCudaComputeCapability=NOT_SUPPORTED", static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    assert value(one.scrape(), UNITS) is None
    assert one.drops()[UNITS, "unsupported"] == 1


def test_bandwidth_of_an_unknown_architecture_is_absent(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("error.nvmlDeviceGetArchitecture=NOT_SUPPORTED", static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    assert value(one.scrape(), BANDWIDTH) is None
    assert one.drops()[BANDWIDTH, "unsupported"] == 1


def banks(readings: Readings) -> dict[str, float]:
    return {
        str(s.attributes["hw.gpu.memory.repair.availability"]): v
        for s, v in readings
        if s.metric.name == "hw.gpu.memory.repair_bank.count"
    }


def test_banks_by_spare_rows(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("value.remapped_corrected=3", static=1, gpus=1)
    readings = receiver(profile=Profile.FULL).scrape()
    assert banks(readings) == {"max": 1277, "high": 3, "partial": 0, "low": 0, "none": 0}
    assert findings(readings) == []
    fake.configure("all_ones.nvmlDeviceGetRowRemapperHistogram=", static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    assert banks(one.scrape(after=70)) == {}
    assert one.drops()["hw.gpu.memory.repair_bank.count", "absent"] == 5


@pytest.mark.parametrize(
    ("rules", "state"),
    [
        ([], "ok"),
        (["value.unrepairable=0"], "ok"),
        (["value.unrepairable=1"], "failed"),
        (["value.unrepairable=1", "value.remap_pending=1"], "failed"),
        (["value.unrepairable=0", "value.remap_pending=1"], "pending"),
        (["value.unrepairable=77"], None),
    ],
)
def test_memory_that_cannot_be_repaired(
    rules: list[str], state: str | None, fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(*rules, static=1, gpus=1)
    one = receiver()
    readings = one.scrape()
    for name in ("ok", "pending", "failed"):
        found = value(readings, "hw.gpu.memory.repair.status", hw_gpu_memory_repair_state=name)
        assert found == (None if state is None else int(name == state))
    assert one.drops()["hw.gpu.memory.repair.status", "out_of_range"] == (state is None)


def test_a_driver_without_that_flag_is_asked_once(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(static=1, gpus=1)
    one = receiver()
    for _ in range(4):
        one.scrape(after=70)
    assert fake.calls()["nvmlDeviceGetUnrepairableMemoryFlag_v1"] == 1


@pytest.mark.parametrize("model", ["h100", "b200"])
def test_a_gpu_that_remaps_rows_has_no_retired_pages(
    model: str, fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(profile=model, static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    readings = one.scrape()
    assert "hw.gpu.memory.retired_page.count" not in {s.metric.name for s, _ in readings}
    assert one.drops()["hw.gpu.memory.retired_page.count", "unsupported"] == 2


def test_power_is_the_gpus_own_and_never_the_modules(fake: FakeNvml, receiver: Make) -> None:
    """Combined boards have three domains behind one field: GPU, module and memory."""
    watts = {0: 900, 1: 2100, 2: 180}
    limits = {0: 1400, 1: 2900, 2: 300}
    rules = [f"value.field.{n}/{s}={w * 1000}" for n in (185, 186) for s, w in watts.items()]
    rules += [
        f"value.field.{n}/{s}={w * 1000}"
        for n in (187, 188, 189, 190, 192)
        for s, w in limits.items()
    ]
    fake.configure(*rules, profile="b200", static=1, gpus=4)
    readings = receiver().scrape()
    assert [v for s, v in readings if s.metric.name == "hw.power"] == [900] * 4
    assert [v for s, v in readings if s.metric.name == "hw.gpu.power.average"] == [900] * 4
    assert {v for s, v in readings if s.metric.name == "hw.gpu.power.limit"} == {1400}


def test_a_board_that_tells_the_modules_power_only_has_none(fake: FakeNvml, receiver: Make) -> None:
    rules = [f"value.field.{n}/1=2100000" for n in (185, 186)]
    rules += [f"fi_error.{n}/0=NOT_SUPPORTED" for n in (185, 186)]
    fake.configure(*rules, "error.nvmlDeviceGetPowerUsage=NOT_SUPPORTED", static=1, gpus=1)
    readings = receiver().scrape()
    assert value(readings, "hw.power") is None
    assert value(readings, "hw.gpu.power.average") is None
