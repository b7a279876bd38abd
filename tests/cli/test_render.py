"""Batches as text."""

from __future__ import annotations

from otelgpu.cli.render import as_series, as_table
from otelgpu.points.batch import Batch
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Attributes, Stream
from otelgpu.semconv import metrics as m


def batch(*points: tuple[Attributes, float]) -> Batch:
    return Batch("r", 1, Resource({}), [(Stream(m.HW_POWER, a), value, 0) for a, value in points])


def sections(text: str) -> dict[str, int]:
    """Return the number of lines under each title, by the id in it."""
    return {part.split()[0]: part.count("\n") for part in text.split("\n\n")}


def test_a_device_is_not_taken_for_another_whose_id_begins_alike() -> None:
    h100 = {"hw.model": "H100"}
    text = as_table(
        [
            batch(({"hw.id": "GPU-10", **h100}, 1), ({"hw.id": "GPU-10"}, 2)),
            batch(({"hw.id": "GPU-1"}, 3), ({"hw.id": "GPU-1", **h100}, 4)),
        ]
    )
    assert sections(text) == {"GPU-10": 2, "GPU-1": 2}
    assert text.count("H100") == 2


def test_what_belongs_to_no_device_is_the_node_s() -> None:
    assert sections(as_table([batch(({}, 1))])) == {"node": 1}


def test_nothing() -> None:
    assert as_table([]) == "nothing could be read"
    assert as_series([]).splitlines()[-1].split() == ["total", "full", "0"]


def test_zero_and_small_numbers_are_shown() -> None:
    text = as_table([batch(({"hw.id": "a"}, 0.0), ({"hw.id": "b"}, 0.00012))])
    assert " 0 W" in text
    assert "0.00012 W" in text
