"""PCIe and NVLink: bytes, states, errors and rated bandwidth of a whole GPU."""

from collections.abc import Callable

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, findings, value

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Profile
from otelgpu.scraping.settings import MetricConfig

Make = Callable[..., Receiver]
IO = "hw.gpu.io"
ERRORS = "hw.gpu.link.errors"
LIMIT = "hw.gpu.link.bandwidth.limit"
THROUGHPUT = "hw.gpu.link.throughput"
ALL = 0xFFFFFFFF


def io(readings: Readings, link: str) -> list[float | None]:
    """Bytes sent and received over a kind of link."""
    ways = ("transmit", "receive")
    return [value(readings, IO, hw_gpu_link_type=link, network_io_direction=way) for way in ways]


def count(readings: Readings) -> list[float | None]:
    """Links up and down."""
    return [value(readings, "hw.gpu.link.count", hw_gpu_link_state=s) for s in ("up", "down")]


def errors(readings: Readings, link: str) -> dict[str, float]:
    return {
        str(s.attributes["error.type"]): v
        for s, v in readings
        if s.metric.name == ERRORS and s.attributes["hw.gpu.link.type"] == link
    }


def test_bytes_of_nvlink_are_the_sum_over_all_links(fake: FakeNvml, receiver: Make) -> None:
    rules = [f"value.field.138/{ALL}=1000", f"value.field.139/{ALL}=2000"]
    fake.configure(*rules, static=1, gpus=1)
    readings = receiver().scrape()
    assert io(readings, "nvlink") == [1000 * 1024, 2000 * 1024]
    assert findings(readings) == []


def test_nvlink_5_has_counters_of_its_own(fake: FakeNvml, receiver: Make) -> None:
    rules = [f"value.field.{number}/{ALL}={number}" for number in (138, 139, 202, 204)]
    fake.configure(*rules, profile="b200", static=1, gpus=1)
    one = receiver()
    assert io(one.scrape(), "nvlink") == [202, 204]
    # Both kinds are the same bytes: the older do not stand in, not even for a moment.
    fake.configure(*rules, f"fi_error.202/{ALL}=UNKNOWN", profile="b200", static=1, gpus=1)
    assert io(one.scrape(after=10), "nvlink") == [None, 204]
    fake.configure(*rules, profile="b200", static=1, gpus=1)
    assert io(one.scrape(after=10), "nvlink") == [202, 204]


@pytest.mark.parametrize("model", ["h100", "b200"])
def test_links_are_summed_where_the_driver_does_not(
    model: str, fake: FakeNvml, receiver: Make
) -> None:
    numbers, unit = ((202, 204), 1) if model == "b200" else ((138, 139), 1024)
    other = (138, 139) if model == "b200" else (202, 204)
    rules = [f"fi_error.{number}/{ALL}=INVALID_ARGUMENT" for number in numbers]
    rules += [f"fi_error.{number}=NOT_SUPPORTED" for number in other]
    rules += [f"value.field.{numbers[0]}/{link}={100 + link}" for link in range(18)]
    fake.configure(*rules, profile=model, static=1, gpus=1)
    one = receiver()
    whole = sum(range(100, 118)) * unit
    assert io(one.scrape(), "nvlink")[0] == whole
    # A link that is up and does not answer: a sum without it would fall.
    broken = [*rules, f"fi_error.{numbers[0]}/7=UNKNOWN"]
    fake.configure(*broken, profile=model, static=1, gpus=1)
    assert io(one.scrape(after=10), "nvlink")[0] is None
    assert one.drops()[IO, "unknown"] == 1
    # One that is down counts with what it had.
    fake.configure(
        *rules,
        f"fi_error.{numbers[0]}/17=NOT_SUPPORTED",
        "value.nvlink_active=17",
        profile=model,
        static=1,
        gpus=1,
    )
    assert io(one.scrape(after=10), "nvlink")[0] == whole


def test_a_counter_of_pcie_bytes_that_may_wrap_is_not_told(fake: FakeNvml, receiver: Make) -> None:
    """Below 4 GiB it may be one of 32 bits, which wraps many times between two scrapes."""
    fake.configure("value.pcie_tx_bytes=4294967294", static=1, gpus=1)
    one = receiver()
    sent, received = io(one.scrape(), "pcie")
    assert sent is None
    assert received == 5_000_000_000
    assert one.drops()[IO, "wraps"] == 1
    fake.configure("value.pcie_tx_bytes=4294967296", static=1, gpus=1)
    assert io(one.scrape(after=10), "pcie")[0] == 4294967296
    # It is known to be wide: a smaller count is a new start.
    fake.configure("value.pcie_tx_bytes=5", static=1, gpus=1)
    assert io(one.scrape(after=10), "pcie")[0] == 5


def test_links_are_counted_by_state(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("value.nvlink_active=16", static=1, gpus=1)
    assert count(receiver().scrape()) == [16, 2]


@pytest.mark.parametrize(("state", "expected"), [(2, [18, 0]), (3, [17, 1]), (9, [None, None])])
def test_states_of_a_link(
    state: int, expected: list[int | None], fake: FakeNvml, receiver: Make
) -> None:
    """Asleep is up; up but of no use is down; what is not known makes the count unknown."""
    fake.configure(f"value.field.165/3={state}", static=1, gpus=1)
    one = receiver()
    assert count(one.scrape()) == expected
    assert one.drops()["hw.gpu.link.count", "unknown_state"] == (state == 9)


def test_a_link_that_does_not_answer_makes_the_count_unknown(
    fake: FakeNvml, receiver: Make
) -> None:
    fake.configure("fi_error.165/3=UNKNOWN", static=1, gpus=1)
    one = receiver()
    readings = one.scrape()
    assert count(readings) == [None, None]
    assert one.drops()["hw.gpu.link.count", "unknown"] == 1
    assert value(readings, "hw.power") == 385


@pytest.mark.parametrize("rule", ["fi_error.91=NOT_SUPPORTED", "value.field.91=0", "profile=t4"])
def test_a_gpu_without_nvlink_has_no_links(rule: str, fake: FakeNvml, receiver: Make) -> None:
    fake.configure(rule, static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    readings = one.scrape()
    assert count(readings) == [None, None]
    assert one.drops()["hw.gpu.link.count", "unsupported"] == 1
    assert value(readings, LIMIT, hw_gpu_link_type="nvlink") is None


def test_more_links_than_there_can_be_are_none(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("value.field.91=4000000000", static=1, gpus=1)
    one = receiver()
    assert count(one.scrape()) == [None, None]
    assert one.drops()["hw.gpu.link.count", "out_of_range"] == 1


def test_errors_of_links_by_kind(fake: FakeNvml, receiver: Make) -> None:
    kinds = {38: "crc.flit", 45: "crc.data", 52: "replay", 59: "recovery", 160: "ecc"}
    rules = [f"value.field.{number}={number}" for number in (*kinds, 173, 179, 180)]
    fake.configure(*rules, static=1, gpus=1)
    readings = receiver().scrape()
    assert errors(readings, "nvlink") == {kind: number for number, kind in kinds.items()}
    assert errors(readings, "pcie") == {"correctable": 173, "non_fatal": 179, "fatal": 180}


def test_errors_of_nvlink_5(fake: FakeNvml, receiver: Make) -> None:
    kinds = {208: "_OTHER", 212: "discard", 215: "recovery", 221: "symbol"}
    rules = [f"value.field.{number}/{ALL}={number}" for number in (*kinds, 206, 209, 210)]
    fake.configure(*rules, profile="b200", static=1, gpus=1)
    readings = receiver().scrape()
    assert errors(readings, "nvlink") == {kind: number for number, kind in kinds.items()}
    assert findings(readings) == []


@pytest.mark.parametrize(
    ("model", "nvlink", "pcie"),
    [
        # 18 links of 26,562 MB/s; 16 lanes of 32 GT/s
        ("h100", 478_116_000_000, 63_015_384_615),
        ("b200", 956_250_000_000, 63_015_384_615),
        ("t4", None, 15_753_846_153),
    ],
)
def test_rated_bandwidth_in_each_direction(
    model: str, nvlink: int | None, pcie: int, fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(profile=model, static=1, gpus=1)
    readings = receiver(profile=Profile.FULL).scrape()
    assert value(readings, LIMIT, hw_gpu_link_type="nvlink") == nvlink
    assert value(readings, LIMIT, hw_gpu_link_type="pcie") == pcie
    assert findings(readings) == []


def test_links_belong_to_a_gpu_in_mig_mode_as_well(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=1, mig="2", static=1)
    readings = receiver(profile=Profile.FULL).scrape()
    own = {IO, "hw.gpu.link.count", ERRORS, LIMIT}
    levels = {(s.metric.name, "hw.parent" in s.attributes) for s, _ in readings}
    assert {(name, False) for name in own} <= levels
    assert not {(name, True) for name in own} & levels


def test_reading_links_costs_no_call_more(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(static=1, gpus=1)
    one = receiver()
    one.scrape()
    before = fake.calls()["nvmlDeviceGetFieldValues"]
    one.scrape(after=1)
    assert fake.calls()["nvmlDeviceGetFieldValues"] - before == 1
    assert not [name for name in fake.calls() if "NvLink" in name]


def throughput(readings: Readings, link: str) -> list[float | None]:
    ways = ("transmit", "receive")
    return [
        value(readings, THROUGHPUT, hw_gpu_link_type=link, network_io_direction=way) for way in ways
    ]


def test_slow_throughput_is_read_only_where_it_is_asked_for(fake: FakeNvml, receiver: Make) -> None:
    rules = ["value.pcie_tx=20", "value.pcie_rx=10"]
    fake.configure(*rules, profile="a100", static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    one.scrape()
    assert throughput(one.scrape(after=10), "pcie") == [None, None]
    assert "nvmlDeviceGetPcieThroughput" not in fake.calls()
    asked = receiver(metrics={THROUGHPUT: MetricConfig(enabled=True)})
    assert throughput(asked.scrape(), "pcie") == [20_000, 10_000]


def test_slow_throughput_is_never_read_where_gpm_gives_it(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(static=1, gpus=1)
    one = receiver(metrics={THROUGHPUT: MetricConfig(enabled=True)})
    one.scrape()
    assert throughput(one.scrape(after=10), "pcie") == [1000 << 20, 500 << 20]
    assert "nvmlDeviceGetPcieThroughput" not in fake.calls()
