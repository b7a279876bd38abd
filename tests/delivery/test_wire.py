from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelgpu.delivery import wire


@given(st.integers(0, (1 << 64) - 1))
def test_a_varint_reads_as_it_was_written(number: int) -> None:
    written = wire.varint(number)
    assert wire.read_varint(written + b"\xff", 0) == (number, len(written))


@given(st.binary(max_size=60))
def test_whatever_comes_is_a_message_or_refused(data: bytes) -> None:
    try:
        found = list(wire.fields(data))
    except wire.WireError:
        return
    assert b"".join(raw for _, _, _, raw in found) == data


@pytest.mark.parametrize(
    "data", [b"\x0a\x05abc", b"\x08", b"\x0b", b"\x00\x01", b"\x09\x01", b"\x08" + b"\xff" * 11]
)
def test_a_message_that_is_cut_off_or_wrong_is_refused(data: bytes) -> None:
    with pytest.raises(wire.WireError):
        list(wire.fields(data))
