"""How many vendor calls and series there are."""

from collections import Counter
from collections.abc import Callable

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, of

from otelgpu.points.metric import Profile
from otelgpu.scraping.settings import MetricConfig
from otelgpu.semconv.metrics import ALL

Make = Callable[..., Receiver]
ANY = {"nvmlDeviceGetCount_v2": 1}
"""The one call of a cycle that is not for a single GPU."""


def calls_of(fake: FakeNvml, action: Callable[[], object]) -> Counter[str]:
    before = Counter(fake.calls())
    action()
    made = Counter(fake.calls()) - before
    # The event thread waits by itself, whatever is read.
    del made["nvmlEventSetWait_v2"]
    return made


@pytest.mark.parametrize(
    "model", ["h100", "a100", "b200", "gb200", "l40s", "rtx4090", "t4", "v100", "gb10", "thor"]
)
def test_calls_at_the_standard_profile(fake: FakeNvml, receiver: Make, model: str) -> None:
    fake.configure(profile=model, gpus=1)
    made = receiver()
    made.scrape()
    usual = calls_of(fake, lambda: made.scrape(after=10))
    # Late enough for every cadence and the next discovery.
    everything = calls_of(fake, lambda: made.scrape(after=70)) - Counter(ANY)
    assert 0 < usual.total() <= 22, usual
    assert usual.total() < everything.total() <= 26, everything


def per_cycle(fake: FakeNvml, made: Receiver, cycles: int = 30) -> list[int]:
    """Calls of each cycle at the default interval, without the one that is for all GPUs."""
    made.scrape()
    return [
        (calls_of(fake, lambda: made.scrape(after=10)) - Counter(ANY)).total()
        for _ in range(cycles)
    ]


@pytest.mark.parametrize("model", ["h100", "a100", "b200", "gb200", "l40s", "t4", "v100"])
def test_no_cycle_costs_more_than_22_calls(fake: FakeNvml, receiver: Make, model: str) -> None:
    """With processes, rarely read rows, new searches and what is asked again: five minutes."""
    fake.configure(profile=model, gpus=1, procs=3)
    calls = per_cycle(fake, receiver())
    assert max(calls) <= 22, calls


@pytest.mark.parametrize(("processes", "calls"), [(0, 16), (3, 17)])
def test_most_cycles_cost_17_calls_on_an_h100(
    fake: FakeNvml, receiver: Make, processes: int, calls: int
) -> None:
    fake.configure(gpus=4, procs=processes)
    made = receiver()
    made.scrape()
    made.scrape(after=10)
    assert calls_of(fake, lambda: made.scrape(after=10)).total() == 4 * calls


@pytest.mark.parametrize(
    ("profile", "least", "most"),
    [(Profile.MINIMAL, 15, 25), (Profile.STANDARD, 80, 100), (Profile.FULL, 100, 130)],
)
def test_series_of_an_h100(
    fake: FakeNvml, receiver: Make, profile: Profile, least: int, most: int
) -> None:
    fake.configure(gpus=1)
    made = receiver(profile=profile)
    made.scrape()
    assert least <= len(made.scrape(after=10)) <= most


@pytest.mark.parametrize(
    ("profile", "least"), [(Profile.MINIMAL, 9), (Profile.STANDARD, 31), (Profile.FULL, 44)]
)
def test_metrics_of_an_h100(fake: FakeNvml, receiver: Make, profile: Profile, least: int) -> None:
    fake.configure(gpus=1)
    made = receiver(profile=profile)
    made.scrape()
    metrics = {stream.metric for stream, _ in made.scrape(after=10)}
    assert len(metrics) >= least
    assert all(metric.profile <= profile for metric in metrics)


@pytest.mark.parametrize(("profile", "most"), [(Profile.MINIMAL, 10), (Profile.FULL, 25)])
def test_calls_of_most_cycles(fake: FakeNvml, receiver: Make, profile: Profile, most: int) -> None:
    fake.configure(gpus=1)
    made = receiver(profile=profile)
    made.scrape()
    assert calls_of(fake, lambda: made.scrape(after=10)).total() <= most


def test_a_metric_that_is_switched_off_costs_no_call(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=1)
    off = ["hw.gpu.utilization", "hw.gpu.clock.frequency", "hw.gpu.throttle.status", "hw.gpu.info"]
    made = receiver(metrics={name: MetricConfig(enabled=False) for name in off})
    readings = made.scrape()
    assert readings
    assert not {name for name, _ in of(readings)} & set(off)
    calls = fake.calls()
    assert calls["nvmlDeviceGetFieldValues"] > 0
    for function in (
        "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetEncoderUtilization",
        "nvmlDeviceGetDecoderUtilization",
        "nvmlDeviceGetClockInfo",
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetSerial",
    ):
        assert calls.get(function, 0) == 0, function


def test_without_any_metric_nothing_is_read(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=1)
    names = [metric.name for metric in ALL if not metric.name.startswith("otelgpu.")]
    made = receiver(metrics={name: MetricConfig(enabled=False) for name in names})
    made.scrape()
    assert calls_of(fake, lambda: made.scrape(after=10)).total() == 0
    assert made.scrape() == []
    assert made.state == "ok"


def test_a_metric_of_a_wider_profile_can_be_added(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=1)
    added = {"hw.gpu.performance_state": MetricConfig(enabled=True)}
    plain = of(receiver().scrape())
    more = of(receiver(metrics=added).scrape())
    assert {name for name, _ in more.keys() - plain.keys()} == set(added)
