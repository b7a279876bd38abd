"""Records of process lists: no layout is assumed, and garbage is no process."""

import logging
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvmlreceiver.device import Instance
from nvmlreceiver.processes.buffer import UNWRITTEN, Buffer
from nvmlreceiver.processes.listing import Listing, merge
from nvmlreceiver.processes.liveness import Proc
from nvmlreceiver.processes.records import LONGEST, Record, decode
from otelgpu.scraping.errors import ReadError

ROOM = 31
TOTAL = 80 << 30
LAYOUTS = {16: "=I4xQ", 24: "=I4xQ2I", 32: "=I4xQ2IQ"}
NOBODY_KNOWS = Proc(Path("nowhere"), logging.getLogger("test.nvml"))


def written(layout: int, *records: tuple[int, ...], room: int = ROOM) -> bytes:
    """A buffer after a call that wrote these records."""
    longest = struct.calcsize(LAYOUTS[32])
    values = [(*r, *(2**32 - 1, 2**32 - 1, 0)[len(r) - 2 :]) for r in records]
    width = {16: 2, 24: 4, 32: 5}[layout]
    data = b"".join(struct.pack(LAYOUTS[layout], *v[:width]) for v in values)
    return data.ljust(longest * room, UNWRITTEN)


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 31])
def test_the_layout_is_seen_from_what_was_written(layout: int, count: int) -> None:
    records = [(100 + i, i << 20) for i in range(count)]
    found = decode(written(layout, *records), count, ROOM)
    assert [(r.pid, r.memory) for r in found] == records


@pytest.mark.parametrize("layout", [24, 32])
def test_ids_of_instances_and_what_stands_for_none(layout: int) -> None:
    data = written(layout, (5, 2**64 - 1), (6, 7, 3, 1))
    assert decode(data, 2, ROOM) == [Record(5, None), Record(6, 7, 3, 1)]


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("count", range(1, ROOM + 1))
def test_a_driver_may_clear_the_room_that_it_was_told_of(layout: int, count: int) -> None:
    records = [(100 + i, i << 20) for i in range(count)]
    data = written(layout, *records).rstrip(UNWRITTEN)
    data = data.ljust(layout * ROOM, b"\0").ljust(LONGEST * ROOM, UNWRITTEN)
    assert [(r.pid, r.memory) for r in decode(data, count, ROOM)] == records


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (written(24, (5, 6)), 2),
        (written(24, (5, 6), (7, 8)), 1),
        (b"\0" * 20 + UNWRITTEN * 972, 1),
        (UNWRITTEN * 992, 1),
        # No process has such an id.
        (written(24, (1 << 30, 6)), 1),
        (written(24, (5, 6, 1 << 20, 0)), 1),
        (written(24, (5, 6)), 32),
        (written(24, (5, 6)), -1),
    ],
)
def test_what_no_layout_explains_is_dropped_as_a_whole(data: bytes, count: int) -> None:
    with pytest.raises(ReadError) as failed:
        decode(data, count, ROOM)
    assert failed.value.reason == "layout"


def test_no_record_is_no_process() -> None:
    assert decode(UNWRITTEN * 992, 0, ROOM) == []


@given(
    data=st.binary(max_size=LONGEST * ROOM).map(lambda b: b.ljust(LONGEST * ROOM, UNWRITTEN)),
    count=st.integers(-1, ROOM + 1),
)
def test_garbage_is_an_error_or_plausible(data: bytes, count: int) -> None:
    check(data, count)


@given(
    layout=st.sampled_from(list(LAYOUTS)),
    records=st.lists(
        st.tuples(
            st.integers(0, 2**32 - 1) | st.integers(0, 1000),
            st.integers(0, 2**64 - 1) | st.integers(0, 2 * TOTAL),
            st.integers(0, 2**32 - 1) | st.just(2**32 - 1),
            st.integers(0, 2**32 - 1) | st.just(2**32 - 1),
        ),
        max_size=ROOM,
    ),
)
def test_well_formed_nonsense_is_an_error_or_plausible(
    layout: int, records: list[tuple[int, int, int, int]]
) -> None:
    check(written(layout, *records), len(records))


def check(data: bytes, count: int) -> None:
    try:
        records = decode(data, count, ROOM)
    except ReadError:
        return
    assert len(records) == count
    listing = merge({"compute": records}, TOTAL, None, NOBODY_KNOWS.look())["compute"]
    assert listing.count == len(listing.memory) <= count
    for pid, memory in listing.memory:
        assert 0 < pid <= 1 << 22
        assert memory is None or isinstance(memory, ReadError) or 0 <= memory <= TOTAL


def reasons(listing: Listing) -> list[str]:
    return [error.reason for error in listing.refusals]


def one(records: list[Record], instance: Instance | None = None) -> Listing:
    return merge({"compute": records}, TOTAL, instance, NOBODY_KNOWS.look())["compute"]


def test_records_are_checked() -> None:
    found = one([Record(0, 5), Record(7, TOTAL + 1), Record(8, None), Record(9, TOTAL)])
    assert reasons(found) == ["no_pid"]
    assert found.count == 3
    (seven, beyond), *others = found.memory
    assert seven == 7
    assert isinstance(beyond, ReadError)
    assert beyond.reason == "out_of_range"
    assert others == [(8, None), (9, TOTAL)]


def test_a_process_in_a_list_twice_has_its_memory_once() -> None:
    assert one([Record(7, 5), Record(7, 5), Record(7, None)]) == Listing(1, [(7, 5)], [])


def test_a_process_with_two_kinds_of_context_has_its_memory_once() -> None:
    lists = {"compute": [Record(7, None), Record(8, 3)], "graphics": [Record(7, 5), Record(9, 1)]}
    found = merge(lists, TOTAL, None, NOBODY_KNOWS.look())
    assert found["compute"] == Listing(2, [(7, 5), (8, 3)], [])
    assert found["graphics"] == Listing(2, [(9, 1)], [])


def test_without_the_size_of_the_memory_there_is_no_bound() -> None:
    found = merge({"mps": [Record(7, TOTAL + 1)]}, None, None, NOBODY_KNOWS.look())
    assert found["mps"].memory == [(7, TOTAL + 1)]


def test_room_grows_within_bounds_and_never_to_a_multiple_of_2_or_3() -> None:
    buffer = Buffer(LONGEST)
    for needed in (0, 31, 32, 200, 1000, 9999, 20000):
        before = buffer.room
        buffer.grow(needed)
        assert buffer.room > max(before, needed)
        assert buffer.room % 2
        assert buffer.room % 3
        assert len(buffer.memory) == buffer.room * LONGEST
    with pytest.raises(ReadError, match="4294967295"):
        buffer.grow(2**32 - 1)
