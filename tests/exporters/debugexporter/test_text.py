from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from debugexporter.config import Verbosity
from debugexporter.text import render, render_events
from otelgpu.points.batch import Batch, Point
from otelgpu.points.event import Event, EventBatch, Severity
from otelgpu.points.metric import Metric
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Attributes, Stream
from otelgpu.semconv import metrics as m

TIME = 1_800_000_000_123_000_000
HEAD = "2027-01-15T08:00:00.123Z nvml: "
H100 = "NVIDIA H100 80GB HBM3"
MI300X = "AMD Instinct MI300X"


def _batch(points: Sequence[Point], ended: Sequence[Stream] = ()) -> Batch:
    return Batch("nvml", TIME, Resource({}), points, ended)


def _gpu(name: str, model: str, values: Mapping[tuple[Metric, str], float]) -> list[Point]:
    """Return points; the second part of a key is ``attribute=value`` or empty."""
    points: list[Point] = []
    for (metric, attribute), value in values.items():
        key, _, text = attribute.partition("=")
        more = {key: text} if key else {}
        attributes = {"hw.id": name, "hw.type": "gpu", "hw.model": model, **more}
        points.append((Stream(metric, attributes), value, 0))
    return points


FULL = _gpu(
    "GPU-51a079b0-5ea2-48f9-ab89-52932ce0e47f",
    H100,
    {
        (m.HW_GPU_UTILIZATION, "hw.gpu.task=memory"): 0.2,
        (m.HW_GPU_UTILIZATION, "hw.gpu.task=general"): 0.937,
        (m.HW_GPU_MEMORY_USAGE, ""): 65 * 2**30,
        (m.HW_GPU_MEMORY_LIMIT, ""): 79.6 * 2**30,
        (m.HW_POWER, ""): 640.4,
        (m.HW_TEMPERATURE, "hw.sensor_location=memory"): 71,
        (m.HW_TEMPERATURE, "hw.sensor_location=gpu"): 61.4,
        (m.HW_STATUS, "hw.state=ok"): 1,
        (m.HW_STATUS, "hw.state=failed"): 0,
    },
)
PARTLY = _gpu(
    "51ff74a1-0000-1000-8051-51a07ebf51c3",
    MI300X,
    {
        (m.HW_GPU_MEMORY_LIMIT, ""): 192 * 2**30,
        (m.HW_TEMPERATURE, "hw.sensor_location=hotspot"): 50,
    },
)
ALIKE = _gpu(
    "51ff74a1-0000-1000-8051-51a04c2e3382",
    MI300X,
    {(m.HW_STATUS, "hw.state=failed"): 1, (m.HW_GPU_UTILIZATION, "hw.gpu.task=general"): 0},
)


def test_basic_counts() -> None:
    ended = [Stream(m.HW_POWER, {"hw.id": "GPU-9"})]
    assert render(_batch([*FULL, *PARTLY], ended), Verbosity.BASIC) == (
        f"{HEAD}11 points, 2 devices, 1 ended\n"
    )


def test_batch_without_devices() -> None:
    up = Stream(m.OTELGPU_RECEIVER_UP, {})
    for verbosity in (Verbosity.BASIC, Verbosity.NORMAL):
        assert render(_batch([(up, 1, 0)]), verbosity) == f"{HEAD}1 point\n"
        assert render(_batch([]), verbosity) == f"{HEAD}0 points\n"


def test_normal_shows_headline_values_and_no_zero_for_what_is_unknown() -> None:
    process = Stream(m.PROCESS_GPU_MEMORY_USAGE, {"hw.id": "GPU-5", "process.pid": 1})
    text = render(_batch([*FULL, *PARTLY, *ALIKE, (process, 1, 0)]), Verbosity.NORMAL)
    assert text == (
        f"{HEAD}14 points, 4 devices\n"
        "  GPU                MODEL                  UTIL           MEMORY  POWER   TEMP  STATUS\n"
        "  GPU-51a079b0       NVIDIA H100 80GB HBM3   94%  65.0 / 79.6 GiB  640 W  61 °C  ok\n"
        "  51ff74a1…7ebf51c3  AMD Instinct MI300X       -    - / 192.0 GiB      -  50 °C  -\n"
        "  51ff74a1…4c2e3382  AMD Instinct MI300X      0%                -      -      -  failed\n"
    )


def test_ids_that_end_alike_are_shown_whole() -> None:
    ids = ["pci:0000:01:00.0/p0", "pci:0000:01:00.1/p0", "GPU-11111111-0:01:00.0"]
    points = [p for name in ids for p in _gpu(name, "x", {(m.HW_POWER, ""): 1})]
    lines = render(_batch(points), Verbosity.NORMAL).splitlines()[2:]
    shown = [line.split()[0] for line in lines]
    assert len(set(shown)) == 3


@pytest.mark.parametrize(
    ("metric", "value", "start", "line"),
    [
        (m.HW_POWER, 640.25, 0, '  hw.power{hw.id="GPU-1"} 640.25 W\n'),
        (
            m.HW_GPU_MEMORY_USAGE,
            2.0**40,
            0,
            '  hw.gpu.memory.usage{hw.id="GPU-1"} 1099511627776 By\n',
        ),
        (m.HW_GPU_UTILIZATION, 0.5, 0, '  hw.gpu.utilization{hw.id="GPU-1"} 0.5\n'),
        (
            m.HW_ENERGY,
            12.5,
            TIME - 1_000_000_000,
            '  hw.energy{hw.id="GPU-1"} 12.5 J since 2027-01-15T07:59:59.123Z\n',
        ),
    ],
)
def test_detailed_point(metric: Metric, value: float, start: int, line: str) -> None:
    batch = _batch([(Stream(metric, {"hw.id": "GPU-1"}), value, start)])
    assert render(batch, Verbosity.DETAILED) == f"{HEAD}1 point, 1 device\n{line}"


def test_detailed_shows_what_has_ended() -> None:
    ended = [Stream(m.HW_POWER, {"hw.id": "GPU-1", "hw.model": "a\nb"})]
    text = render(_batch([], ended), Verbosity.DETAILED)
    assert (
        text == f'{HEAD}0 points, 1 ended\n  hw.power{{hw.id="GPU-1", hw.model="a\ufffdb"}} ended\n'
    )


def _events(attributes: Attributes, time: int = TIME) -> EventBatch:
    body = "page fault\x1b[2J"
    event = Event("hw.gpu.fault", time, TIME, Severity.WARN, body, attributes)
    return EventBatch("nvml", Resource({}), [event])


def test_events() -> None:
    line = f"{HEAD}WARN hw.gpu.fault GPU-1: page fault\ufffd[2J\n"
    batch = _events({"hw.id": "GPU-1", "hw.gpu.fault.code": 31})
    assert render_events(batch, Verbosity.BASIC) == line
    assert render_events(batch, Verbosity.NORMAL) == line
    assert render_events(batch, Verbosity.DETAILED) == (
        f"{line}  hw.id=GPU-1\n  hw.gpu.fault.code=31\n"
    )


def test_event_without_a_time_of_the_driver_shows_when_it_was_seen() -> None:
    assert render_events(_events({}, time=0), Verbosity.BASIC) == (
        f"{HEAD}WARN hw.gpu.fault: page fault\ufffd[2J\n"
    )
