"""How busy each process kept the GPU, from samples that are each used once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import nvml_fake
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, findings

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Profile
from otelgpu.scraping.settings import MetricConfig

Make = Callable[..., Receiver]
METRIC = "process.gpu.utilization"
FUNCTION = "nvmlDeviceGetProcessesUtilizationInfo"
SECOND = 1_000_000


class Gpu:
    """One GPU on the fake whose driver has the receiver's time."""

    def __init__(self, fake: FakeNvml, made: Receiver) -> None:
        self._fake = fake
        self.made = made

    @property
    def now(self) -> int:
        """The time in microseconds."""
        return self.made.clock.time_ns() // 1000

    def read(self, after: float, *rules: str, **settings: Any) -> dict[int, dict[str, float]]:
        """Shares by process and task, ``after`` seconds later, by these rules of the driver."""
        self.made.clock.now += after
        driver = {"value.samples_us": self.now, "gpus": 1, "static": 1, **settings}
        self._fake.configure(*rules, **driver)
        return shares(self.made.scrape())

    def dropped(self) -> dict[str, int]:
        return {reason: n for (name, reason), n in self.made.drops().items() if name == METRIC}


def shares(readings: Readings) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = {}
    for stream, number in readings:
        if stream.metric.name == METRIC:
            own = stream.attributes
            tasks = found.setdefault(int(str(own["process.pid"])), {})
            assert own["hw.gpu.task"] not in tasks
            tasks[str(own["hw.gpu.task"])] = number
    return found


@pytest.fixture
def gpu(fake: FakeNvml, receiver: Make) -> Gpu:
    return Gpu(fake, receiver())


IDLE = {"general": 0.0, "memory": 0.0}


def test_shares_by_task(gpu: Gpu) -> None:
    busy = ("value.process_sm.5=40", "value.process_memory_util.5=20", "value.process_encoder.5=3")
    found = gpu.read(0, "pids=5,6", *busy, "value.process_sm.6=0")
    assert found == {
        5: {
            "general": 0.4,
            "memory": 0.2,
            "encoder": 0.03,
            "decoder": 0,
            "jpeg": 0,
            "ofa": 0,
        },
        6: IDLE,
    }
    readings = gpu.made.scrape()
    own = [s.attributes for s, _ in readings if s.metric.name == METRIC]
    assert all(set(a) == {"hw.id", "process.pid", "hw.gpu.task"} for a in own)
    assert findings(readings) == []


def test_a_sample_is_used_once(gpu: Gpu) -> None:
    rules = ("pids=5", "value.process_sm.5=40")
    at = f"value.process_sampled_us.5={gpu.now - SECOND}"
    assert gpu.read(0, *rules, at)[5]["general"] == 0.4
    # The driver has no newer one: idle, for every task that it had.
    assert gpu.read(10, *rules, at)[5] == dict.fromkeys(
        ("general", "memory", "encoder", "decoder", "jpeg", "ofa"), 0.0
    )
    newer = f"value.process_sampled_us.5={gpu.now}"
    assert gpu.read(10, *rules, newer)[5]["general"] == 0.4


def test_between_two_samples_a_process_is_as_busy_as_before(gpu: Gpu) -> None:
    """The driver samples at most once in a second: a faster reader must not see it idle."""
    rules = ("pids=5", "value.process_sm.5=40", f"value.process_sampled_us.5={gpu.now}")
    assert [gpu.read(0.2, *rules)[5]["general"] for _ in range(9)] == [0.4] * 9
    assert gpu.read(0.2, *rules)[5]["general"] == 0


def test_nobody_was_busy(gpu: Gpu) -> None:
    found = gpu.read(0, "pids=5,6", "value.process_sm.5=0", "value.process_sm.6=0")
    assert found == {5: IDLE, 6: IDLE}
    assert gpu.dropped() == {}


def test_a_call_that_fails_says_of_nobody_that_it_was_idle(gpu: Gpu) -> None:
    assert gpu.read(0, "pids=5", f"error.{FUNCTION}=UNKNOWN") == {}
    assert gpu.dropped() == {"unknown": 1}
    assert gpu.read(10, "pids=5")[5]["general"] == 0.5


def test_samples_of_long_ago_are_not_the_first_look_s(gpu: Gpu) -> None:
    at = gpu.now - 11 * SECOND
    rules = ("pids=5", "value.process_sm.5=40", f"value.process_sampled_us.5={at}")
    assert gpu.read(0, *rules) == {5: IDLE}


def test_samples_of_the_future_are_nobodys(gpu: Gpu) -> None:
    at = gpu.now + 5 * SECOND
    found = gpu.read(0, "pids=5", "value.process_sm.5=40", f"value.process_sampled_us.5={at}")
    assert found == {}
    assert gpu.dropped() == {"stale": 1}


def test_a_clock_that_is_set_back(gpu: Gpu) -> None:
    assert gpu.read(0, "pids=5", "value.process_sm.5=40")[5]["general"] == 0.4
    # An hour earlier: no sample will be newer than the last for an hour.
    gpu.made.clock.set_by = -3600
    assert gpu.read(10, "pids=5", "value.process_sm.5=30")[5]["general"] == 0.3
    assert gpu.read(10, "pids=5", "value.process_sm.5=20")[5]["general"] == 0.2


def test_a_clock_that_is_set_forward(gpu: Gpu) -> None:
    assert gpu.read(0, "pids=5", "value.process_sm.5=40")[5]["general"] == 0.4
    gpu.made.clock.set_by = 3600
    assert gpu.read(10, "pids=5", "value.process_sm.5=30")[5]["general"] == 0.3


def test_more_than_the_whole_is_dropped(gpu: Gpu) -> None:
    found = gpu.read(0, "pids=5", "value.process_sm.5=101", "value.process_memory_util.5=100")
    assert "general" not in found[5]
    assert found[5]["memory"] == 1
    assert gpu.dropped() == {"out_of_range": 1}


def test_samples_of_processes_that_are_gone_are_left_out(
    fake: FakeNvml, receiver: Make, tmp_path: Path
) -> None:
    for pid in (1, 5):
        (tmp_path / str(pid)).mkdir()
    gpu = Gpu(fake, receiver(proc=tmp_path))
    assert set(gpu.read(0, "pids=5,6")) == {5}
    assert gpu.dropped() == {"dead_process": 1}


def test_a_process_that_is_in_no_list_is_none_of_this_gpu(gpu: Gpu) -> None:
    """A sample of process 7 is there still; where /proc tells nothing, the lists do."""
    assert set(gpu.read(0, "pids=5,7")) == {5, 7}
    ended = ("pids=5,7", "value.process_ended.7=1")
    assert set(gpu.read(10, *ended)) == {5}
    assert gpu.dropped() == {"not_listed": 1}
    # Without all of the lists nobody knows; the sample itself says that it was there.
    failed = "error.nvmlDeviceGetMPSComputeRunningProcesses_v3=UNKNOWN"
    assert set(gpu.read(10, *ended, failed)) == {5, 7}


def test_older_drivers_have_the_older_function(fake: FakeNvml, receiver: Make) -> None:
    out = nvml_fake.DEFAULT_OUT.with_name("fake-nvml-no-utilization-info")
    gpu = Gpu(fake, receiver(library=nvml_fake.require(out=out, omit=[FUNCTION])))
    found = gpu.read(0, "pids=5,6", "value.process_sm.5=40", "value.process_sm.6=0")
    assert found[5] == {"general": 0.4, "memory": 0.12, "encoder": 0, "decoder": 0}
    assert found[6] == IDLE
    assert gpu.read(10, "pids=5", "value.process_sm.5=30")[5]["general"] == 0.3
    assert fake.calls()["nvmlDeviceGetProcessUtilization"] == 2


def test_the_older_function_stands_in_where_the_newer_is_refused(fake: FakeNvml, gpu: Gpu) -> None:
    refused = f"error.{FUNCTION}=NOT_SUPPORTED"
    assert gpu.read(0, "pids=5", "value.process_sm.5=40", refused)[5]["general"] == 0.4
    gpu.read(10, "pids=5", refused)
    assert fake.calls()[FUNCTION] == 1


def test_a_refusal_that_passes_changes_no_function(fake: FakeNvml, gpu: Gpu) -> None:
    gpu.read(0, "pids=5")
    assert gpu.read(10, "pids=5", f"error.{FUNCTION}=NOT_SUPPORTED") == {}
    assert "ofa" in gpu.read(10, "pids=5")[5]
    assert fake.calls().get("nvmlDeviceGetProcessUtilization", 0) == 0


def test_200_samples(fake: FakeNvml, gpu: Gpu) -> None:
    sampled = [f"value.process_sm.{pid}=1" for pid in range(100, 300)]
    found = gpu.read(0, "pids=100-299", *sampled)
    assert len(found) == 200
    assert {tasks["general"] for tasks in found.values()} == {0.01}
    asked = fake.calls()[FUNCTION]
    gpu.read(10, "pids=100-299", *sampled)
    assert fake.calls()[FUNCTION] == asked + 1


def test_samples_alone_need_the_lists_too(fake: FakeNvml, receiver: Make) -> None:
    only = {
        "process.gpu.memory.usage": MetricConfig(enabled=False),
        "hw.gpu.process.count": MetricConfig(enabled=False),
    }
    gpu = Gpu(fake, receiver(metrics=only, profile=Profile.FULL))
    found = gpu.read(0, "pids=5,6", "value.process_sm.5=40", "value.process_sm.6=0")
    assert found[5]["general"] == 0.4
    assert found[6] == IDLE
    lists = sum(n for name, n in fake.calls().items() if "RunningProcesses" in name)
    gpu.read(10, "pids=5")
    after = sum(n for name, n in fake.calls().items() if "RunningProcesses" in name)
    assert after == lists + 3


def test_without_processes_samples_are_not_asked_for(fake: FakeNvml, gpu: Gpu) -> None:
    gpu.read(0)
    assert fake.calls().get(FUNCTION, 0) == 0
    assert gpu.read(10, "pids=5")[5]
