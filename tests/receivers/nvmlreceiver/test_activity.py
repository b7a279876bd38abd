"""Activity by GPM: means over the time between two samples of one device."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import (
    Receiver,
    findings,
    status,
    value,
)

from nvmlreceiver.factory import FACTORY
from otelgpu.points.batch import Readings
from otelgpu.points.metric import Profile
from otelgpu.scraping.settings import MetricConfig

Make = Callable[..., Receiver]
SM = "hw.gpu.compute_unit.utilization"
PIPE = "hw.gpu.pipe.utilization"
SPANNING = 0.99
"""What the fake computes from samples of two instances."""


def second(one: Receiver) -> Readings:
    one.scrape()
    return one.scrape(after=10)


def activity(readings: Readings) -> dict[str, float]:
    return {str(s.attributes["hw.id"]): v for s, v in readings if s.metric.name == SM}


def test_activity_of_an_h100(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(static=1, gpus=1)
    readings = second(receiver(profile=Profile.FULL))
    assert findings(readings) == []
    assert value(readings, SM) == 0.5
    assert value(readings, "hw.gpu.compute_unit.occupancy") == 0.4
    assert value(readings, "hw.gpu.memory.bandwidth.utilization") == 0.25
    assert value(readings, "hw.gpu.utilization", hw_gpu_task="render_compute") == 0.5
    pipes = {s.attributes["hw.gpu.pipe"]: v for s, v in readings if s.metric.name == PIPE}
    names = ["int", "tensor", "tensor.fp64", "tensor.fp16", "tensor.int", "fp64", "fp32", "fp16"]
    assert pipes == dict.fromkeys(names, 0.25)
    # 50 * 20 MiB/s, and 18 links of 50 * 1000 MiB/s
    expected = {("pcie", "transmit"): 1000, ("pcie", "receive"): 500}
    expected |= {("nvlink", way): 900_000 for way in ("transmit", "receive")}
    for (link, way), mebibytes in expected.items():
        found = value(
            readings,
            "hw.gpu.link.throughput",
            hw_gpu_link_type=link,
            network_io_direction=way,
        )
        assert found == mebibytes << 20
        assert isinstance(found, int)


@pytest.mark.parametrize(
    ("number", "pipe"),
    [
        (4, "int"),
        (5, "tensor"),
        (6, "tensor.fp64"),
        (7, "tensor.fp16"),
        (9, "tensor.int"),
        (11, "fp64"),
        (12, "fp32"),
        (13, "fp16"),
    ],
)
def test_each_pipe_is_its_own_metric(
    number: int, pipe: str, fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(f"value.gpm.{number}=7", static=1, gpus=1)
    assert value(second(receiver()), PIPE, hw_gpu_pipe=pipe) == 0.07


def test_the_second_name_of_a_pipe_is_used_where_the_first_is_missing(
    fake: FakeNvml, receiver: Make
) -> None:
    rules = ["value.gpm.8=8", "value.gpm.6=6"]
    fake.configure(*rules, static=1, gpus=1)
    assert value(second(receiver()), PIPE, hw_gpu_pipe="tensor.fp64") == 0.06
    fake.configure(*rules, "gpm_error.6=NOT_SUPPORTED", static=1, gpus=1)
    assert value(second(receiver()), PIPE, hw_gpu_pipe="tensor.fp64") == 0.08
    fake.configure(*rules, "gpm_error.6=UNKNOWN", static=1, gpus=1)
    one = receiver()
    assert value(second(one), PIPE, hw_gpu_pipe="tensor.fp64") is None
    assert one.drops()[PIPE, "unknown"] == 1


def test_two_calls_a_cycle_and_two_samples_for_good(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(static=1, gpus=2)
    one = receiver()
    for _ in range(5):
        one.scrape(after=10)
    calls = {name: n for name, n in fake.calls().items() if "Gpm" in name}
    assert calls == {
        "nvmlGpmQueryDeviceSupport": 2,
        "nvmlGpmSampleAlloc": 4,
        "nvmlGpmSampleGet": 10,
        "nvmlGpmMetricsGet": 8,
    }


def test_the_first_sample_gives_no_point(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(static=1, gpus=1)
    one = receiver()
    assert value(one.scrape(), SM) is None
    assert one.drops()[SM, "first_sample"] == 1
    assert value(one.scrape(after=1), SM) == 0.5
    assert one.drops()[SM, "first_sample"] == 1


def test_a_window_that_is_too_short_waits_for_the_next_scrape(
    fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(static=1, gpus=1)
    one = receiver()
    one.scrape()
    assert value(one.scrape(after=0.05), SM) is None
    assert one.drops()[SM, "window"] == 1
    # The first sample is the earlier one still.
    assert value(one.scrape(after=0.06), SM) == 0.5


def test_a_window_of_many_minutes_is_no_reading_of_now(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(static=1, gpus=1)
    one = receiver()
    one.scrape()
    assert value(one.scrape(after=601), SM) is None
    assert one.drops()[SM, "window"] == 1
    assert value(one.scrape(after=10), SM) == 0.5


def test_a_sample_that_fails_voids_the_pair(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(static=1, gpus=2)
    one = receiver()
    second(one)
    fake.configure("error.nvmlGpmSampleGet=UNKNOWN@0", static=1, gpus=2)
    assert len(activity(one.scrape(after=10))) == 1
    assert one.drops()[SM, "unknown"] == 1
    fake.configure(static=1, gpus=2)
    assert len(activity(one.scrape(after=10))) == 1
    assert one.drops()[SM, "first_sample"] == 3
    assert len(activity(one.scrape(after=10))) == 2


def test_without_permission_the_reason_is_told(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("error.nvmlGpmSampleGet=NO_PERMISSION", static=1, gpus=1)
    one = receiver()
    readings = second(one)
    assert value(readings, SM) is None
    assert one.drops()[SM, "no_permission"] == 2
    assert value(readings, "hw.gpu.utilization", hw_gpu_task="general") == 0.5


@pytest.mark.parametrize(
    ("given", "reason"), [(-1, "out_of_range"), (150, "out_of_range"), (0, None), (100, None)]
)
def test_a_share_outside_its_bounds_is_dropped(
    given: int, reason: str | None, fake: FakeNvml, receiver: Make
) -> None:
    """The fake gives not a number for -1."""
    fake.configure(f"value.gpm.2={given}", f"value.gpm.20={given}", static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    readings = second(one)
    expected = None if reason else given / 100
    assert value(readings, SM) == expected
    if reason:
        assert one.drops()[SM, reason] == 1
    sent = {"hw_gpu_link_type": "pcie", "network_io_direction": "transmit"}
    rate = value(readings, "hw.gpu.link.throughput", **sent)
    assert rate == (None if given < 0 else given << 20)


def test_a_gpu_without_gpm_is_asked_once(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(profile="a100", static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    for _ in range(5):
        one.scrape(after=100)
    assert one.drops()[SM, "unsupported"] == 1
    assert {n: c for n, c in fake.calls().items() if "Gpm" in n} == {"nvmlGpmQueryDeviceSupport": 1}


def test_metrics_that_are_off_cost_no_sample(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(static=1, gpus=1)
    names = [
        "hw.gpu.utilization",
        SM,
        PIPE,
        "hw.gpu.compute_unit.occupancy",
        "hw.gpu.memory.bandwidth.utilization",
    ]
    one = receiver(metrics={name: MetricConfig(enabled=False) for name in names})
    second(one)
    assert not [name for name in fake.calls() if "Gpm" in name]


def test_no_sample_outlives_its_session(fake: FakeNvml, receiver: Make) -> None:
    """The fake refuses memory of a closed session; a real library would crash."""
    fake.configure(static=1, gpus=2)
    one = receiver()
    assert len(activity(second(one))) == 2
    fake.configure(static=1, gpus=2, driver_epoch=1)
    one.until(lambda readings: set(status(readings).values()) == {"ok"})
    one.scrape(after=10)
    assert len(activity(one.scrape(after=10))) == 2
    assert (SM, "invalid_argument") not in one.drops()
    assert fake.calls()["nvmlGpmSampleAlloc"] == 8


def test_an_instance_has_activity_and_its_gpu_has_none(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=1, **{"mig.0": "3g+2g(1c+1c)"}, static=1)
    readings = second(receiver(profile=Profile.FULL))
    assert findings(readings) == []
    found = activity(readings)
    # One of each GPU instance: what its compute instances share is told once.
    assert len(found) == 2
    assert set(found.values()) == {0.5}
    assert all(name.startswith("MIG-") for name in found)
    levels = {
        s.metric.name: str(s.attributes["hw.id"])[:3]
        for s, _ in readings
        if s.metric.name in ("hw.gpu.link.throughput", "hw.gpu.utilization")
    }
    assert levels == {"hw.gpu.utilization": "MIG"}
    tasks = [
        s.attributes["hw.gpu.task"] for s, _ in readings if s.metric.name == "hw.gpu.utilization"
    ]
    assert sorted(map(str, tasks)) == sorted(2 * ["render_compute", "decoder", "jpeg", "ofa"])


def test_an_engine_that_is_missing_is_no_idle_one(fake: FakeNvml, receiver: Make) -> None:
    rules = [f"value.gpm.{number}={10 * (number - 30)}" for number in range(30, 37)]
    fake.configure(*rules, gpus=1, mig="1", static=1)
    one = receiver()
    # Seven of eight decoders answer: 0, 10 ... 60 percent
    assert value(second(one), "hw.gpu.utilization", hw_gpu_task="decoder") == 0.3
    assert one.drops()["hw.gpu.utilization", "unsupported"] == 1, "no encoder"
    fake.configure(*rules, "gpm_error.33=TIMEOUT", gpus=1, mig="1", static=1)
    assert value(one.scrape(after=10), "hw.gpu.utilization", hw_gpu_task="decoder") is None
    assert one.drops()["hw.gpu.utilization", "timeout"] == 1


def test_no_ratio_spans_two_instances_in_one_place(fake: FakeNvml, receiver: Make) -> None:
    def layout(tag: int) -> dict[str, Any]:
        return {"gpus": 1, "mig.0": f"1g+2g#{tag}", "static": 1}

    fake.configure(**layout(0))
    one = receiver()
    assert len(activity(second(one))) == 2
    for tag in range(1, 21):
        fake.configure(**layout(tag))
        assert activity(one.scrape(after=10)) == {}
        found = activity(one.scrape(after=10))
        assert list(found.values()) == [0.5, 0.5]
    # Samples of instances that are gone serve the next ones.
    assert fake.calls()["nvmlGpmSampleAlloc"] <= 8


def test_a_ratio_over_a_change_of_the_layout_is_thrown_away(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=1, **{"mig.0": "1g"}, static=1)
    one = receiver()
    second(one)
    # It is another instance by the end of the reading: its UUID is asked before and afterwards.
    rules = {"mig.0": "1g", "error.nvmlDeviceGetUUID": "INVALID_ARGUMENT@0+1", "static": "1"}
    fake.configure(gpus=1, **rules)
    assert activity(one.scrape(after=10)) == {}
    assert one.drops()[SM, "changed"] == 1


def test_what_is_printed_once_holds_activity() -> None:
    assert FACTORY.scrapes == 2


def test_no_window_spans_a_loss(fake: FakeNvml, receiver: Make) -> None:
    """A GPU that comes back may have been reset: its counters say nothing of before."""
    fake.configure(gpus=1, static=1)
    one = receiver()
    assert activity(second(one))
    fake.configure(gpus=1, static=1, lost="0")
    one.scrape(after=10)
    fake.configure(gpus=1, static=1)
    assert activity(one.scrape(after=10)) == {}
    assert activity(one.scrape(after=10))
