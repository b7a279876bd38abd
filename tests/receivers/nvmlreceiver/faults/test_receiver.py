"""Faults through the receiver: events of the driver, lost GPUs, floods."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, findings, status

from otelgpu.points.batch import Readings

Make = Callable[..., Receiver]
DEADLINE = 20.0


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def faults(readings: Readings, metric: str = "hw.gpu.faults") -> dict[tuple[str, object], float]:
    """Faults by type and code, over all GPUs; a GPU that stands twice fails."""
    found: dict[tuple[str, object], float] = {}
    for stream, number in readings:
        if stream.metric.name == metric:
            a = stream.attributes
            key = str(a["hw.gpu.fault.type"]), a["hw.gpu.fault.code"]
            assert key not in found or str(a["hw.id"]) != ""
            found[key] = found.get(key, 0) + number
    return found


def codes(one: Receiver) -> list[object]:
    return [event.attributes["hw.gpu.fault.code"] for event in one.events]


def test_an_xid_is_told_at_once_and_counted(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=2, static=1)
    one = receiver()
    first = one.scrape()
    assert faults(first) == {}
    fake.configure(gpus=2, static=1, xid="1:31")
    # No scrape is needed for it.
    until(lambda: codes(one) == [31])
    [event] = one.events
    assert str(event.attributes["hw.id"]).endswith("2")
    assert event.time == 0, "NVML's events have no time"
    readings = one.scrape(after=10)
    assert faults(readings) == {("xid", 31): 1}
    assert len(faults(readings, "hw.gpu.fault.last_occurrence")) == 1
    assert findings(readings) == []
    fake.configure(gpus=2, static=1, xid="1:31*4,1:13,0:31#b")
    until(lambda: faults(one.scrape()) == {("xid", 31): 6, ("xid", 13): 1})


@pytest.mark.parametrize("where", ["", "/4294967295/4294967295", "/9/0", "/77/3"])
def test_an_xid_on_a_gpu_in_mig_mode_is_one_fault_of_the_gpu(
    fake: FakeNvml,
    receiver: Make,
    where: str,
) -> None:
    fake.configure(gpus=1, mig="7", static=1)
    one = receiver()
    one.scrape()
    fake.configure(gpus=1, mig="7", static=1, xid=f"0:48{where}")
    until(lambda: codes(one) == [48])
    readings = one.scrape(after=10)
    assert faults(readings) == {("xid", 48): 1}
    ids = {s.attributes["hw.id"] for s, _ in readings if s.metric.name == "hw.gpu.faults"}
    assert {str(i)[:4] for i in ids} == {"GPU-"}
    assert ("GPU instance 9" in one.events[0].body) == (where == "/9/0")


@pytest.mark.parametrize("order", ["silent", "before", "after", "vanished"])
def test_one_fault_for_each_loss(fake: FakeNvml, receiver: Make, order: str) -> None:
    fake.configure(gpus=8, static=1)
    one = receiver()
    gpus = sorted(status(one.scrape()))
    xid = {"xid": "3:79"} if order == "before" else {}
    if xid:
        fake.configure(gpus=8, static=1, **xid)
        until(lambda: codes(one) == [79])
    rule = {"hide": "3"} if order == "vanished" else {"lost": "3"}
    fake.configure(gpus=8, static=1, **rule, **xid)
    readings = one.scrape(after=61)
    assert sum(faults(readings).values()) == 1
    assert status(readings)[gpus[3]] == "failed"
    assert [g for g, state in status(readings).items() if state == "ok"] == [
        g for g in gpus if g != gpus[3]
    ]
    if order == "after":
        fake.configure(gpus=8, static=1, lost="3", xid="3:79")
        until(lambda: codes(one) == [0, 79])
    readings = one.scrape(after=30)
    assert sum(faults(readings).values()) == 1
    # It comes back by itself, and is well; its fault stays counted.
    fake.configure(gpus=8, static=1, **({"xid": "3:79"} if order in {"before", "after"} else {}))
    readings = one.until(lambda found: set(status(found).values()) == {"ok"})
    assert sorted(status(readings)) == gpus
    assert sum(faults(readings).values()) == 1
    assert findings(readings) == []


def test_a_driver_that_is_unloaded_is_no_loss_of_its_gpus(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=2, static=1)
    one = receiver()
    one.scrape()
    fake.configure(gpus=2, static=1, driver_epoch=1, init_error="DRIVER_NOT_LOADED")
    one.until(lambda _: one.state == "nvml.driver_not_loaded")
    assert one.events == []
    fake.configure(gpus=2, static=1, driver_epoch=1)
    readings = one.until(lambda _: one.state == "ok")
    assert faults(readings) == {}
    # It listens again.
    fake.configure(gpus=2, static=1, driver_epoch=1, xid="0:31")
    until(lambda: codes(one) == [31])


def test_faults_of_a_gpu_that_hangs_are_told(fake: FakeNvml, receiver: Make) -> None:
    """XIDs 119 and 120 come with a hang: what explains it must not wait for its end."""
    fake.configure(gpus=2, static=1)
    one = receiver(timeout=timedelta(seconds=0.3))
    one.scrape()
    hang = {"hang.nvmlDeviceGetUtilizationRates": "0"}
    fake.configure(gpus=2, static=1, **hang)
    one.scrape(after=10)
    fake.configure(gpus=2, static=1, **hang, xid="0:119")
    until(lambda: codes(one) == [119])
    assert faults(one.scrape(after=10)) == {("xid", 119): 1}


def test_a_gpu_that_cannot_be_listened_to_costs_itself_alone(
    fake: FakeNvml,
    receiver: Make,
) -> None:
    refused = {"error.nvmlDeviceRegisterEvents": "UNKNOWN@0"}
    fake.configure(gpus=2, static=1, **refused)
    one = receiver()
    one.scrape()
    fake.configure(gpus=2, static=1, **refused, xid="0:31,1:13")
    until(lambda: codes(one) == [13])
    assert one.state == "ok"
    assert (("error.type", "unknown"),) in one.own("otelgpu.component.errors")
    # It is tried again at the next search.
    fake.configure(gpus=2, static=1, xid="0:31,1:13")
    one.scrape(after=61)
    fake.configure(gpus=2, static=1, xid="0:43,0:45")
    until(lambda: set(codes(one)) == {13, 43, 45})


def test_a_driver_without_events_is_read_all_the_same(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("error.nvmlEventSetCreate=NOT_SUPPORTED", gpus=1)
    one = receiver()
    assert status(one.scrape())
    assert status(one.scrape(after=61))
    assert one.state == "ok"
    assert fake.calls()["nvmlEventSetCreate"] == 1


def test_a_wait_that_fails_is_no_hot_loop(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("error.nvmlEventSetWait_v2=UNKNOWN", gpus=1)
    one = receiver()
    one.scrape()
    until(lambda: fake.calls().get("nvmlEventSetWait_v2", 0) >= 1)
    began = time.monotonic()
    until(lambda: fake.calls()["nvmlEventSetWait_v2"] >= 2)
    assert time.monotonic() - began > 0.5
    fake.configure(gpus=1, xid="0:31")
    until(lambda: codes(one) == [31])


def test_a_thread_that_ended_is_followed_by_another(fake: FakeNvml, receiver: Make) -> None:
    """It may come out of the driver late, or find NVML closed by others: faults must be heard."""
    fake.configure("error.nvmlEventSetWait_v2=UNINITIALIZED", gpus=1)
    one = receiver()
    one.scrape()
    until(lambda: not any(t.name == "nvml events" for t in threading.enumerate()))
    fake.configure(gpus=1, xid="0:31")
    one.scrape(after=61)
    until(lambda: codes(one) == [31])


FLOOD = """
import json, os, sys, time
from pathlib import Path
from tests.receivers.nvmlreceiver.harness import Receiver, config

library, rules = Path(sys.argv[1]), Path(sys.argv[2])
TOTAL = 800_000

def rss():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def configure(xid):
    fresh = rules.with_name("fresh")
    fresh.write_text(f"gpus=2\\nstatic=1\\nxid={xid}\\n")
    fresh.replace(rules)

one = Receiver(config(library))
one.scrape()
configure("0:1")
while not one.events:
    time.sleep(0.01)
one.scrape(after=10)
before = rss()
codes = range(2, 31)
each = TOTAL // len(codes)
first = TOTAL - each * (len(codes) - 1)
items = [f"1:{code}*{first if code == 2 else each}" for code in codes]
# All distinct ones first, then the flood.
began = time.monotonic()
configure(",".join([f"1:{code}" for code in codes] + items))
while len(one.events) < 1 + len(codes):
    time.sleep(0.01)
firsts = time.monotonic() - began

def count():
    readings = one.scrape()
    powers = [v for s, v in readings if s.metric.name == "hw.power"]
    assert len(powers) == 2, "the other metrics go on"
    return sum(v for s, v in readings if s.metric.name == "hw.gpu.faults")

slowest = 0.0
while (counted := count()) < 1 + len(codes) + TOTAL:
    began_scrape = time.monotonic()
    one.scrape()
    slowest = max(slowest, time.monotonic() - began_scrape)
    time.sleep(0.1)
    assert time.monotonic() - began < 60, counted
seconds = time.monotonic() - began
told = sum(1 + e.attributes["hw.gpu.fault.suppressed_count"] for e in one.events)
print(json.dumps({"counted": counted, "grown": rss() - before, "seconds": seconds, "firsts": firsts,
                  "events": len(one.events), "slowest": slowest}))
os._exit(0)
"""


@pytest.mark.timeout(120)
def test_a_flood_of_800_000(fake: FakeNvml, library: Path) -> None:
    """Exact counts, the first of each not delayed, memory and the other metrics unaffected."""
    fake.configure(gpus=2, static=1)
    rules = Path(fake.environment["FAKE_NVML_CONFIG"])
    done = subprocess.run(
        [sys.executable, "-c", FLOOD, str(library), str(rules)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **fake.environment, "PYTHONPATH": str(Path.cwd())},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["counted"] == 1 + 29 + 800_000
    assert found["events"] <= 1 + 29 + 29
    assert found["firsts"] < 2.0
    assert found["grown"] < 10 * 2**20
