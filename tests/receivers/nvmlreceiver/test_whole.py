"""A whole node: eight H100s, one of them in MIG mode with seven instances, three processes each."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, findings, status

from otelgpu.cli.support import lines
from otelgpu.points.batch import Readings
from otelgpu.points.metric import Profile
from otelgpu.semconv.metrics import ALL

Make = Callable[..., Receiver]
GPUS = 8
IN_MIG = range(1001, 1022)
"""Processes on the instances, dealt out in turn."""


@pytest.fixture
def node(fake: FakeNvml, receiver: Make, tmp_path: Path) -> Callable[[Profile], Receiver]:
    """Make a receiver on the node; a fault has come."""
    pids = [f"pids={IN_MIG[0]}-{IN_MIG[-1]}@0"]
    pids += [f"pids={100 * gpu}-{100 * gpu + 2}@{gpu}" for gpu in range(1, GPUS)]
    for pid in [1, *IN_MIG, *(100 * gpu + n for gpu in range(1, GPUS) for n in range(3))]:
        (tmp_path / "proc" / str(pid)).mkdir(parents=True)

    def make(profile: Profile) -> Receiver:
        settings: dict[str, Any] = {"gpus": GPUS, "mig": "7,0,0,0,0,0,0,0", "static": 1}
        fake.configure(*pids, **settings)
        one = receiver(profile=profile, proc=tmp_path / "proc")
        one.scrape()
        # The driver's samples have the time of the receiver's clock, ten seconds later.
        sampled = {"value.samples_us": one.clock.time_ns() // 1000 + 10_000_000}
        fake.configure(*pids, **settings, **sampled, xid="2:31")
        end = time.monotonic() + 10
        while not one.events:
            assert time.monotonic() < end
            time.sleep(0.01)
        return one

    return make


def total(readings: Readings, metric: str) -> float:
    return sum(value for stream, value in readings if stream.metric.name == metric)


@pytest.mark.parametrize(("profile", "least"), [(Profile.STANDARD, 36), (Profile.FULL, 42)])
def test_metrics(node: Callable[[Profile], Receiver], profile: Profile, least: int) -> None:
    one = node(profile)
    readings = one.scrape(after=10)
    assert findings(readings) == []
    metrics = {stream.metric.name for stream, _ in readings}
    assert len(metrics) >= least, sorted(metrics)
    assert one.state == "ok"
    assert len(status(readings)) == GPUS


def test_plain_sums(node: Callable[[Profile], Receiver]) -> None:
    one = node(Profile.FULL)
    readings = one.scrape(after=10)
    sizes = sum(
        int(s.attributes["hw.gpu.memory.size"])
        for s, _ in readings
        if s.metric.name == "hw.gpu.info" and "hw.parent" not in s.attributes
    )
    assert 7 / 8 * sizes <= total(readings, "hw.gpu.memory.limit") <= sizes
    assert total(readings, "hw.gpu.memory.usage") <= total(readings, "hw.gpu.memory.limit")
    powers: dict[object, float] = defaultdict(float)
    for stream, value in readings:
        if stream.metric.name == "hw.power":
            powers[stream.attributes["hw.id"]] += value
    assert len(powers) == GPUS
    # Three processes on each of the seven whole GPUs and of the seven instances
    held = [s for s, _ in readings if s.metric.name == "process.gpu.memory.usage"]
    assert len(held) == 3 * (7 + 7)
    assert len({(s.attributes["hw.id"], s.attributes["process.pid"]) for s in held}) == len(held)
    used, attributed, rest = (
        total(readings, name)
        for name in (
            "hw.gpu.memory.usage",
            "process.gpu.memory.usage",
            "hw.gpu.memory.unattributed",
        )
    )
    assert attributed + rest == used


def test_each_metric_that_is_absent_has_its_reason(node: Callable[[Profile], Receiver]) -> None:
    one = node(Profile.FULL)
    readings = one.scrape(after=10)
    support = one.support()
    assert len(support) == GPUS + 7
    given = {
        (str(s.attributes["hw.id"]), s.metric.name) for s, _ in readings if s.metric.name in NAMES
    }
    for device in support:
        told = lines(device, support)
        assert {line.metric for line in told} == NAMES
        for line in told:
            if line.verdict == "supported":
                continue
            assert line.reason or line.verdict == "not read", line
            if line.verdict in {"elsewhere", "not read"}:
                assert (device.id, line.metric) not in given, line
    first = support[0].id
    for device in support:
        unread = {line.metric for line in lines(device, support) if line.verdict == "not read"}
        in_mig = device.id == first or "hw.parent" in device.attributes
        assert unread == NO_SOURCE | (NOT_IN_MIG if in_mig else set())


NO_SOURCE = {
    "hw.gpu.engine.time",
    "hw.gpu.memory.io",
    "hw.voltage",
    "process.gpu.memory.pool.usage",
}
"""By the registry, NVML has none of these."""
NOT_IN_MIG = {"hw.gpu.link.throughput", "process.gpu.utilization"}
"""The driver has none of these in MIG mode."""
NAMES = {
    metric.name
    for metric in ALL
    if metric.name.startswith(("hw.", "process.gpu."))
    and not metric.name.startswith(("hw.gpu.workload.", "hw.gpu.allocation."))
    and metric.name != "hw.status"
}
"""Device and process metrics of the registry that a receiver may read."""
