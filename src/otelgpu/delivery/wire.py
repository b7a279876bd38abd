"""Protobuf's wire format: just what OTLP requests and answers need, without protobuf itself.

Importing protobuf costs several MiB; see https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum

from otelgpu.points.stream import AttributeValue

INT64_MIN = -(1 << 63)
INT64_MAX = (1 << 63) - 1

_MASK64 = (1 << 64) - 1
_pack_double = struct.Struct("<d").pack
_pack_fixed64 = struct.Struct("<Q").pack
_FIXED_WIDTHS = {1: 8, 5: 4}


class WireType(IntEnum):
    """How the value that follows a tag is laid out."""

    VARINT = 0
    FIXED64 = 1
    LENGTH = 2
    FIXED32 = 5


class WireError(ValueError):
    """The bytes are no protobuf message."""


Field = tuple[int, int, int | bytes, bytes]
"""Field number, wire type, value (int of a varint, else the bytes), and the field's own bytes."""


def varint(number: int) -> bytes:
    """Return ``number`` (0 to 2^64-1) as a varint."""
    out = bytearray()
    while number > 127:  # noqa: PLR2004  seven bits a byte
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def tag(number: int, wire_type: WireType) -> bytes:
    """Return the tag of field ``number``."""
    return varint(number << 3 | wire_type)


def length_delimited(number: int, body: bytes) -> bytes:
    """Return field ``number`` with a message or bytes in it, be it empty or not."""
    return tag(number, WireType.LENGTH) + varint(len(body)) + body


def utf8(text: str) -> bytes:
    """Return ``text`` in UTF-8; a lone surrogate, which no UTF-8 can hold, becomes ``?``."""
    return text.encode("utf-8", "replace")


def string(number: int, text: str) -> bytes:
    """Return field ``number`` with a string; nothing when empty, as proto3 has it."""
    return length_delimited(number, utf8(text)) if text else b""


def unsigned(number: int, value: int) -> bytes:
    """Return field ``number`` with a varint; nothing when 0, as proto3 has it."""
    return tag(number, WireType.VARINT) + varint(value) if value else b""


def fixed64(number: int, value: int) -> bytes:
    """Return field ``number`` with a fixed64; nothing when 0, as proto3 has it."""
    return tag(number, WireType.FIXED64) + _pack_fixed64(value) if value else b""


def key_value(number: int, key: str, value: AttributeValue) -> bytes:
    """Return field ``number`` with an OTLP ``KeyValue``.

    An integer that int64 cannot hold goes out as a string of its digits.
    """
    if isinstance(value, bool):
        any_value = b"\x10\x01" if value else b"\x10\x00"
    elif isinstance(value, int) and INT64_MIN <= value <= INT64_MAX:
        any_value = b"\x18" + varint(value & _MASK64)
    elif isinstance(value, float):
        any_value = b"\x21" + _pack_double(value)
    else:
        any_value = length_delimited(1, utf8(str(value)))
    return length_delimited(number, string(1, key) + length_delimited(2, any_value))


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the varint at ``at`` and the offset behind it.

    Raises:
        WireError: It is cut off or longer than 64 bits.
    """
    number = shift = 0
    while at < len(data) and shift < 64:  # noqa: PLR2004  bits of the longest varint
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:  # noqa: PLR2004  no continuation bit
            return number & _MASK64, at
        shift += 7
    raise WireError(f"varint at byte {at} is cut off or too long")


def fields(data: bytes) -> Iterator[Field]:
    """Yield the fields of a message in their order.

    Raises:
        WireError: The bytes are no message.
    """
    at = 0
    while at < len(data):
        start = at
        key, at = read_varint(data, at)
        number, wire_type = key >> 3, key & 7
        value: int | bytes
        if wire_type == WireType.VARINT:
            value, at = read_varint(data, at)
        else:
            if wire_type == WireType.LENGTH:
                width, at = read_varint(data, at)
            elif wire_type in _FIXED_WIDTHS:
                width = _FIXED_WIDTHS[wire_type]
            else:
                raise WireError(f"wire type {wire_type} at byte {start}")
            value = data[at : at + width]
            at += width
        if at > len(data) or not number:
            raise WireError(f"field at byte {start} is cut off or has number 0")
        yield number, wire_type, value, data[start:at]


def text(value: int | bytes) -> str:
    """Return the string of a length-delimited field."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
