"""Processes: lists, memory, who is dead, and at which level."""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes import nvml_fake
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, findings, value

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Profile
from otelgpu.scraping.settings import MetricConfig

Make = Callable[..., Receiver]
MEMORY = "process.gpu.memory.usage"
COUNT = "hw.gpu.process.count"
LISTS = {f"nvmlDeviceGet{kind}RunningProcesses" for kind in ("Compute", "Graphics", "MPSCompute")}
HUGE = 1 << 40


def memory(readings: Readings) -> dict[int, float]:
    """Memory by pid, of one device."""
    found = [(s.attributes["process.pid"], v) for s, v in readings if s.metric.name == MEMORY]
    assert len(dict(found)) == len(found), "a process stands twice"
    return {int(pid): number for pid, number in found}


def counts(readings: Readings) -> dict[str, float]:
    return {
        str(s.attributes["hw.gpu.process.type"]): v for s, v in readings if s.metric.name == COUNT
    }


def proc_of(folder: Path, *pids: int) -> Path:
    """A /proc in which these processes live."""
    for pid in (1, *pids):
        (folder / str(pid)).mkdir(parents=True, exist_ok=True)
    return folder


def list_calls(fake: FakeNvml) -> Counter[str]:
    return Counter({n: c for n, c in fake.calls().items() if "RunningProcesses" in n})


def test_three_kinds_of_processes(fake: FakeNvml, receiver: Make) -> None:
    rules = {f"value.process_memory.{pid}": pid << 20 for pid in (5, 6, 7, 8)}
    fake.configure("pids=5,6", "graphics=6,7", "mps=8", gpus=1, **rules)
    readings = receiver(profile=Profile.FULL).scrape()
    # 6 has a compute and a graphics context: the same memory stands in both lists.
    assert memory(readings) == {pid: pid << 20 for pid in (5, 6, 7, 8)}
    assert counts(readings) == {"compute": 2, "graphics": 2, "mps": 1}
    own = [s.attributes for s, _ in readings if s.metric.name == MEMORY]
    assert {frozenset(a) for a in own} == {frozenset({"hw.id", "process.pid"})}
    assert findings(readings) == []


def test_a_list_that_is_empty_counts_0_and_one_that_is_not_there_nothing(
    fake: FakeNvml, receiver: Make
) -> None:
    versions = ("_v3", "_v2", "")
    refuse = [f"error.nvmlDeviceGetMPSComputeRunningProcesses{v}=NOT_SUPPORTED" for v in versions]
    fake.configure(*refuse, gpus=1)
    made = receiver(profile=Profile.FULL)
    assert counts(made.scrape()) == {"compute": 0, "graphics": 0}
    assert made.drops()[COUNT, "unsupported"] == 1
    before = list_calls(fake)
    made.scrape(after=10)
    assert set(list_calls(fake) - before) == {
        "nvmlDeviceGetComputeRunningProcesses_v3",
        "nvmlDeviceGetGraphicsRunningProcesses_v3",
    }


@pytest.mark.parametrize("layout", [16, 24, 32])
@pytest.mark.parametrize("pids", ["5", "5,6,7", "5-44"])
def test_each_layout_under_one_name(fake: FakeNvml, receiver: Make, layout: int, pids: str) -> None:
    """A driver of the 535 series wrote 32 bytes under _v3."""
    fake.configure(f"pids={pids}", gpus=1, process_layout=layout, static=1)
    made = receiver()
    found = memory(made.scrape())
    last = int(pids.replace("-", ",").split(",")[-1])
    assert set(found) == set(range(5, last + 1))
    assert len(set(found.values())) == 1
    assert 0 < sum(found.values()) <= (value(made.scrape(), "hw.gpu.memory.usage") or 0)
    assert {reason for name, reason in made.drops() if name == MEMORY} == set()


def test_an_unknown_layout_drops_the_list(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("pids=5,6,7", "graphics=8", gpus=1, process_layout=20)
    made = receiver(profile=Profile.FULL)
    readings = made.scrape()
    assert memory(readings) == {}
    assert counts(readings) == {"mps": 0}
    assert made.drops()[MEMORY, "layout"] == 2
    assert made.state == "ok"


@pytest.mark.parametrize("version", ["_v3", "_v2", ""])
def test_older_drivers_have_older_functions(fake: FakeNvml, receiver: Make, version: str) -> None:
    newer = ("_v3", "_v2", "")[: ("_v3", "_v2", "").index(version)]
    omit = [name + v for name in LISTS for v in newer]
    out = nvml_fake.DEFAULT_OUT.with_name(f"fake-nvml-lists{version or '_v1'}")
    library = nvml_fake.require(out=out, omit=sorted(omit))
    fake.configure("pids=5,6", gpus=1)
    made = receiver(library=library)
    assert set(memory(made.scrape())) == {5, 6}
    assert set(memory(made.scrape(after=10))) == {5, 6}
    assert list_calls(fake) == dict.fromkeys((name + version for name in LISTS), 2)


def test_a_list_that_outgrows_its_room(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("pids=100-299", gpus=1)
    made = receiver()
    assert len(memory(made.scrape())) == 200
    before = list_calls(fake)
    assert len(memory(made.scrape(after=10))) == 200
    # The room is kept.
    assert (list_calls(fake) - before).total() == 3


def test_a_list_that_never_fits_is_given_up_for_the_cycle(fake: FakeNvml, receiver: Make) -> None:
    rule = "error.nvmlDeviceGetComputeRunningProcesses_v3=INSUFFICIENT_SIZE"
    fake.configure("pids=5", rule, gpus=1)
    made = receiver()
    assert memory(made.scrape()) == {}
    assert made.drops()[MEMORY, "insufficient_size"] == 1
    assert list_calls(fake)["nvmlDeviceGetComputeRunningProcesses_v3"] == 3
    fake.configure("pids=5", gpus=1)
    assert set(memory(made.scrape(after=10))) == {5}


@pytest.mark.parametrize("told", [1000, 2**32 - 1])
def test_a_wrong_count_is_no_process(fake: FakeNvml, receiver: Make, told: int) -> None:
    fake.configure("pids=5", f"value.process_count={told}", gpus=1)
    made = receiver()
    assert memory(made.scrape()) == {}
    assert made.drops()[MEMORY, "layout"] == 3


def test_records_that_say_nothing_true(fake: FakeNvml, receiver: Make) -> None:
    rules = {"value.process_memory.6": -1, "value.process_memory.7": HUGE}
    fake.configure("pids=0,5,5,6,7", gpus=1, **rules)
    made = receiver(profile=Profile.FULL)
    readings = made.scrape()
    assert set(memory(readings)) == {5}
    # Their memory is not known, but they are there.
    assert counts(readings)["compute"] == 3
    reasons = {reason: n for (name, reason), n in made.drops().items() if name == MEMORY}
    assert reasons == {"no_pid": 1, "absent": 1, "out_of_range": 1}


def test_memory_that_the_driver_never_tells_is_absent(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("pids=5,6", profile="wsl", gpus=1)
    readings = receiver(profile=Profile.FULL).scrape()
    assert memory(readings) == {}
    assert counts(readings)["compute"] == 2


def test_dead_processes_are_nobodys(fake: FakeNvml, receiver: Make, tmp_path: Path) -> None:
    fake.configure("pids=100-299", gpus=1)
    living = range(100, 270)
    made = receiver(profile=Profile.FULL, proc=proc_of(tmp_path, *living))
    readings = made.scrape()
    assert set(memory(readings)) == set(living)
    assert counts(readings)["compute"] == 170
    assert made.drops()[MEMORY, "dead_process"] == 30
    named = {s.attributes.get("process.pid") for s, _ in readings} - {None}
    assert named == set(living)
    assert findings(readings) == []


def test_200_processes_cost_little(
    fake: FakeNvml, receiver: Make, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Reported, not judged: this machine may be busy."""
    fake.configure("pids=100-299", gpus=1)
    made = receiver(proc=proc_of(tmp_path, *range(100, 270)))
    made.scrape()
    began = time.process_time()
    for _ in range(20):
        assert len(memory(made.scrape(after=1))) == 170
    record_property("milliseconds_per_cycle", (time.process_time() - began) / 20 * 1000)
    assert not [reason for _, reason in made.drops() if reason == "internal"]


def test_what_proc_does_not_show_proves_nothing_and_is_said_once(
    fake: FakeNvml, receiver: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # Without process 1 it is not the host's, or others' processes are hidden.
    fake.configure("pids=5,6", gpus=2)
    made = receiver(proc=tmp_path)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            readings = made.scrape(after=10)
    assert {s.attributes["process.pid"] for s, _ in readings if s.metric.name == MEMORY} == {5, 6}
    said = [r.getMessage() for r in caplog.records if "dead" in r.getMessage()]
    assert len(said) == 1
    assert "hostPID: true" in said[0]
    assert str(tmp_path) in said[0]


def test_the_default_proc_is_believed_in_the_hosts_namespace_alone(
    fake: FakeNvml, receiver: Make
) -> None:
    """4194304 is no process: an id is below it."""
    fake.configure("pids=4194304", gpus=1)
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    made = receiver(proc=Path("/proc"))
    expected = set() if namespace == 4026531836 else {4194304}
    assert set(memory(made.scrape())) == expected


def test_a_process_that_ends_has_no_point_in_the_next_cycle(
    fake: FakeNvml, receiver: Make, tmp_path: Path
) -> None:
    fake.configure("pids=5,6", gpus=1)
    made = receiver(proc=proc_of(tmp_path, 5, 6))
    assert set(memory(made.scrape())) == {5, 6}
    (tmp_path / "6").rmdir()
    assert set(memory(made.scrape(after=10))) == {5}
    fake.configure("pids=6", gpus=1)
    (tmp_path / "6").mkdir()
    assert set(memory(made.scrape(after=10))) == {6}


def test_one_list_that_fails_costs_itself(fake: FakeNvml, receiver: Make) -> None:
    rule = "error.nvmlDeviceGetComputeRunningProcesses_v3=UNKNOWN"
    fake.configure("pids=5,6", "graphics=6,7", rule, gpus=1)
    made = receiver(profile=Profile.FULL)
    readings = made.scrape()
    assert set(memory(readings)) == {6, 7}
    assert counts(readings) == {"graphics": 2, "mps": 0}
    assert made.drops()[COUNT, "unknown"] == 1


def test_a_lost_gpu_has_no_processes(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("pids=5", gpus=2)
    made = receiver()
    made.scrape()
    rule = "error.nvmlDeviceGetGraphicsRunningProcesses_v3=GPU_IS_LOST@1"
    fake.configure("pids=5", rule, gpus=2)
    readings = made.scrape(after=10)
    assert len([s for s, _ in readings if s.metric.name == MEMORY]) == 1
    assert made.state == "nvml.device_lost"


def test_processes_that_nobody_wants_cost_no_call(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("pids=5", gpus=1)
    receiver(profile=Profile.MINIMAL).scrape()
    names = ("process.gpu.memory.usage", "process.gpu.utilization", "hw.gpu.process.count")
    off = {name: MetricConfig(enabled=False) for name in names}
    receiver(profile=Profile.FULL, metrics=off).scrape()
    made = {name for name in fake.calls() if "Process" in name}
    assert made == set()


def test_the_size_of_the_memory_is_asked_once(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("pids=5", gpus=1)
    off = ("usage", "limit", "free", "utilization", "reserved")
    made = receiver(metrics={f"hw.gpu.memory.{m}": MetricConfig(enabled=False) for m in off})
    made.scrape()
    asked = fake.calls()["nvmlDeviceGetMemoryInfo_v2"]
    made.scrape(after=10)
    assert fake.calls()["nvmlDeviceGetMemoryInfo_v2"] == asked


# MIG


def by_device(readings: Readings, metric: str) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for stream, number in readings:
        if stream.metric.name == metric:
            found[str(stream.attributes["hw.id"])] += number
    return dict(found)


def test_processes_stand_on_instances(fake: FakeNvml, receiver: Make) -> None:
    """Each instance has its own, also those that share the memory of their GPU instance."""
    fake.configure("pids=5,6,7", gpus=1, **{"mig.0": "3g+2g(1c+1c)"}, static=1)
    readings = receiver(profile=Profile.FULL).scrape()
    owners = {
        s.attributes["process.pid"]: str(s.attributes["hw.id"])
        for s, _ in readings
        if s.metric.name == MEMORY
    }
    assert set(owners) == {5, 6, 7}
    assert len(set(owners.values())) == 3
    assert all(owner.startswith("MIG-") for owner in owners.values())
    assert sum(counts_of(readings).values()) == 3
    assert not [s for s, _ in readings if s.metric.name == "process.gpu.utilization"]
    assert not {n for n in fake.calls() if "ProcessesUtil" in n or "ProcessUtil" in n}
    assert findings(readings) == []


def counts_of(readings: Readings) -> dict[str, float]:
    return by_device(readings, COUNT)


def test_a_gpu_in_mig_mode_is_not_asked_for_processes(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("pids=5,6", gpus=1, **{"mig.0": "none"})
    readings = receiver(profile=Profile.FULL).scrape()
    assert memory(readings) == {}
    assert counts(readings) == {}
    assert list_calls(fake).total() == 0


def test_records_of_another_instance_are_dropped(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("pids=5", "value.process_gpu_instance=99", gpus=1, **{"mig.0": "1g"})
    made = receiver(profile=Profile.FULL)
    readings = made.scrape()
    assert memory(readings) == {}
    assert counts(readings)["compute"] == 0
    assert made.drops()[MEMORY, "other_instance"] == 1


def test_the_bar_of_eight_gpus_one_in_mig_mode(fake: FakeNvml, receiver: Make) -> None:
    pids = ["pids=1000-1020@0", *(f"pids={100 * g}-{100 * g + 2}@{g}" for g in range(1, 8))]
    fake.configure(*pids, gpus=8, mig="7,0,0,0,0,0,0,0", static=1)
    readings = receiver(profile=Profile.FULL).scrape()
    held, used = by_device(readings, MEMORY), by_device(readings, "hw.gpu.memory.usage")
    total = by_device(readings, "hw.gpu.memory.limit")
    assert len(held) == 14
    for device, number in held.items():
        assert 0 < number <= used[device] <= total[device]
    assert set(counts_of(readings).values()) == {3}
    assert len(counts_of(readings)) == 14
    assert findings(readings) == []
