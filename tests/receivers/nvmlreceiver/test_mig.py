"""MIG: what is read at which level, and layouts that change while they are read."""

from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, findings, status, value

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Profile

GPUS = 8
GPU_ONLY = {
    "hw.power",
    "hw.energy",
    "hw.temperature",
    "hw.gpu.clock.frequency",
    "hw.errors",
    "hw.gpu.link.errors",
    "hw.gpu.power.limit",
    "hw.gpu.throttle.status",
    "hw.status",
}
ON_PARTITIONS = {
    "hw.gpu.memory.limit",
    "hw.gpu.memory.usage",
    "hw.gpu.memory.free",
    "hw.gpu.memory.utilization",
}

Make = Callable[..., Receiver]


def by_id(readings: Readings, metric: str) -> dict[str, float]:
    """Values of a metric by hw.id; a sum where an id has several."""
    found: dict[str, float] = defaultdict(float)
    for stream, number in readings:
        if stream.metric.name == metric:
            found[str(stream.attributes["hw.id"])] += number
    return dict(found)


def partitions(readings: Readings) -> dict[str, str]:
    """Parent by id of each MIG instance that is described."""
    return {
        str(s.attributes["hw.id"]): str(s.attributes["hw.parent"])
        for s, _ in readings
        if s.metric.name == "hw.gpu.info" and "hw.parent" in s.attributes
    }


def test_each_metric_is_read_at_one_level(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=GPUS, mig="7,0,0,0,0,0,0,0", static=1)
    one = receiver(profile=Profile.FULL)
    readings = one.scrape()
    parents = partitions(readings)
    assert len(parents) == 7
    [gpu] = set(parents.values())
    levels: dict[str, set[str]] = defaultdict(set)
    for stream, _ in readings:
        name = str(stream.attributes["hw.id"])
        level = "part" if name in parents else "mig gpu" if name == gpu else "gpu"
        levels[stream.metric.name].add(level)
    for metric in GPU_ONLY:
        assert levels[metric] == {"gpu", "mig gpu"}, metric
    for metric in ON_PARTITIONS:
        assert levels[metric] == {"gpu", "part"}, metric
    # The driver has none of a GPU in MIG mode: absent, not 0.
    assert levels["hw.gpu.utilization"] == {"gpu"}
    assert levels["hw.gpu.info"] == {"gpu", "mig gpu", "part"}
    assert findings(readings) == []
    assert one.state == "ok"


def test_plain_sums_are_right_on_a_mixed_node(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=GPUS, mig="7,0,0,0,0,0,0,0", static=1)
    mixed = receiver().scrape()
    fake.configure(gpus=GPUS, static=1)
    whole = receiver().scrape(after=70)
    for metric in ("hw.power", "hw.energy"):
        assert sum(by_id(mixed, metric).values()) == sum(by_id(whole, metric).values())
    physical = sum(by_id(whole, "hw.gpu.memory.limit").values())
    limit = sum(by_id(mixed, "hw.gpu.memory.limit").values())
    assert physical * (GPUS - 1 / 8) / GPUS <= limit <= physical
    assert 7 / 8 * physical <= limit
    usage = sum(by_id(mixed, "hw.gpu.memory.usage").values())
    assert usage <= sum(by_id(whole, "hw.gpu.memory.usage").values())
    assert len(status(mixed)) == GPUS
    sizes = [
        s.attributes["hw.gpu.memory.size"]
        for s, _ in mixed
        if s.metric.name == "hw.gpu.info" and "hw.parent" not in s.attributes
    ]
    assert sum(int(size) for size in sizes) == physical


def test_an_instance_is_described(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=1, **{"mig.0": "3g+2g(1c+1c)"}, static=1)
    readings = receiver().scrape()
    info = {
        str(s.attributes["hw.gpu.partition.id"]): dict(s.attributes)
        for s, _ in readings
        if s.metric.name == "hw.gpu.info" and "hw.parent" in s.attributes
    }
    profiles = {name: a["hw.gpu.partition.profile"] for name, a in info.items()}
    assert profiles == {"1/0": "3g.40gb", "3/0": "1c.2g.20gb", "3/1": "1c.2g.20gb"}
    assert {a["hw.gpu.partition.type"] for a in info.values()} == {"mig"}
    assert all(str(a["hw.id"]).startswith("MIG-") for a in info.values())
    [parent] = {a["hw.parent"] for a in info.values()}
    assert str(parent).startswith("GPU-")
    # What tells GPUs apart must not say that there are more of them.
    assert not {"hw.serial_number", "hw.gpu.pci.address", "hw.gpu.index"} & set(info["1/0"])


def test_memory_that_compute_instances_share_is_told_once(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=1, **{"mig.0": "7g(1c+2c+4c)"}, static=1)
    readings = receiver().scrape()
    assert len(partitions(readings)) == 3
    [limit] = by_id(readings, "hw.gpu.memory.limit").values()
    fake.configure(gpus=1, static=1)
    assert value(receiver().scrape(after=70), "hw.gpu.memory.limit") == limit


def test_mig_mode_without_an_instance_has_no_memory(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=2, **{"mig.0": "none"}, static=1)
    readings = receiver().scrape()
    assert partitions(readings) == {}
    assert len(by_id(readings, "hw.gpu.memory.limit")) == 1
    assert len(by_id(readings, "hw.power")) == 2


def test_mig_mode_is_seen_within_a_discovery_and_left_at_once(
    fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(gpus=2, static=1)
    one = receiver()
    assert partitions(one.scrape()) == {}
    fake.configure(gpus=2, mig="7,0", static=1)
    assert len(partitions(one.scrape(after=61))) == 7
    fake.configure(gpus=2, static=1)
    back = one.scrape(after=1)
    assert partitions(back) == {}
    assert len(by_id(back, "hw.gpu.memory.limit")) == 2
    assert len(by_id(back, "hw.gpu.utilization")) == 2
    assert one.own("otelgpu.device.count") == {(("hw.vendor", "NVIDIA"),): 2}


LAYOUTS = ("7g", "1g+1g", "3g+2g(1c+1c)", "none", "2g+2g+2g+1g", "4g(2c+2c)+3g")


def test_layouts_change_while_they_are_read(fake: FakeNvml, receiver: Make) -> None:
    """Twenty changes: no duplicate, nothing of an instance that is gone, the others go on."""
    layouts = [f"{LAYOUTS[i % len(LAYOUTS)]}#{i}" for i in range(20)]
    fake.configure(gpus=2, procs=3, **{"mig.0": layouts[0]}, static=1)
    one = receiver()
    before = set(partitions(one.scrape()))
    for layout in layouts[1:]:
        fake.configure(gpus=2, procs=3, **{"mig.0": layout}, static=1)
        readings = one.scrape(after=10)
        seen = Counter(id(stream) for stream, _ in readings)
        assert max(seen.values()) == 1
        here = set(partitions(readings))
        assert not here & before, layout
        named = {str(s.attributes["hw.id"]) for s, _ in readings}
        assert {n for n in named if n.startswith("MIG-")} == here
        assert len(by_id(readings, "hw.power")) == 2
        assert findings(readings) == []
        before = here
    # What was counted for instances of before is forgotten.
    drops = one.own("otelgpu.scrape.dropped")
    ids = {dict(a).get("hw.id") for a in drops}
    assert not {i for i in ids if i and str(i).startswith("MIG-")} - before


def test_another_instance_in_the_same_place_is_not_taken_for_the_first(
    fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(gpus=1, **{"mig.0": "1g#1"}, static=1)
    one = receiver()
    first, second = (
        set(partitions(readings)) for readings in (one.scrape(), _changed(fake, one, "1g#2"))
    )
    assert len(first) == len(second) == 1
    assert first != second


def _changed(fake: FakeNvml, one: Receiver, layout: str) -> Readings:
    fake.configure(gpus=1, **{"mig.0": layout}, static=1)
    return one.scrape(after=10)


def test_values_read_while_the_layout_changed_are_nobodys(fake: FakeNvml, receiver: Make) -> None:
    """The handle answers for another instance by the end of the reading."""
    fake.configure(gpus=1, **{"mig.0": "1g"}, static=1)
    one = receiver()
    one.scrape()
    # The UUID is asked when the layout is read, and again afterwards: by then it fails.
    fake.configure(
        gpus=1,
        **{"mig.0": "1g", "error.nvmlDeviceGetUUID": "INVALID_ARGUMENT@0+1"},
        static=1,
    )
    readings = one.scrape(after=10)
    assert by_id(readings, "hw.gpu.memory.limit") == {}
    assert len(partitions(readings)) == 1
    assert one.drops()["hw.gpu.memory.limit", "changed"] == 1
    assert value(readings, "hw.power") is not None


def test_a_layout_that_cannot_be_told_costs_the_instances_alone(
    fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(gpus=1, mig="2", static=1)
    one = receiver()
    one.scrape()
    rule = {"error.nvmlDeviceGetMigDeviceHandleByIndex": "UNKNOWN"}
    fake.configure(gpus=1, mig="2", **rule, static=1)
    readings = one.scrape(after=10)
    assert by_id(readings, "hw.gpu.memory.usage") == {}
    assert set(status(readings).values()) == {"ok"}
    assert one.drops()["hw.gpu.memory.usage", "unknown"] == 2
    fake.configure(gpus=1, mig="2", static=1)
    assert len(by_id(one.scrape(after=10), "hw.gpu.memory.usage")) == 2


def test_the_instances_of_a_lost_gpu_have_no_values(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=2, mig="7,0", static=1)
    one = receiver()
    one.scrape()
    fake.configure(gpus=2, mig="7,0", lost="0", static=1)
    readings = one.scrape(after=10)
    assert sorted(status(readings).values()) == ["failed", "ok"]
    assert len(by_id(readings, "hw.gpu.memory.limit")) == 1
    # They name what is lost.
    assert len(partitions(readings)) == 7


def test_a_gpu_without_mig_mode_costs_no_call_for_it(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=2, static=1)
    one = receiver()
    one.scrape()
    before = fake.calls()
    for _ in range(3):
        one.scrape(after=1)
    after = fake.calls()
    made = {name for name in after if after[name] != before.get(name, 0)}
    assert not {name for name in made if "Mig" in name}


@pytest.mark.parametrize("layout", ["1g+1g", "7g"])
def test_calls_of_a_gpu_in_mig_mode(fake: FakeNvml, receiver: Make, layout: str) -> None:
    """Beyond what the GPU itself and each instance cost: mode, count, places, UUIDs."""
    fake.configure(gpus=1, **{"mig.0": layout}, static=1)
    one = receiver()
    counts = []
    for _ in range(3):
        one.scrape(after=1)
        counts.append(sum(fake.calls().values()))
    instances = layout.count("g")
    [calls, again] = [b - a for a, b in pairwise(counts)]
    assert calls == again
    # 11 of the GPU; mode, count and 7 places; UUID before and after, memory and 3 lists of each
    # instance
    assert calls <= 11 + 9 + 6 * instances + 2
