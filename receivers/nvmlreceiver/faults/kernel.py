"""Lines of the kernel log in which NVIDIA's driver tells of faults."""

from __future__ import annotations

import re

from attrs import frozen

_ADDRESS = r"(?:PCI:)?([0-9a-fA-F]{4,8}):([0-9a-fA-F]{2}):([0-9a-fA-F]{2})(?:\.[0-7])?"
_XID = re.compile(rf"NVRM: Xid \({_ADDRESS}\): ?(\d{{1,9}}),? ?(.*)", re.DOTALL)
_PID = re.compile(r"pid='?(\d+)'?")
_NAMED = re.compile(rf"NVRM: GPU at {_ADDRESS}: (GPU-[0-9a-fA-F-]{{36}})")
_OFF = re.compile(rf"NVRM:.*?{_ADDRESS}.*fallen off the bus", re.DOTALL)
_HEADS = re.compile(r"^(?:(?:pid|name)=(?:'[^']*'|<[^>]*>|[^,]*), )+")
_LONGEST = 1000
"""Characters of a message that are kept."""


@frozen
class Record:
    """One record of /dev/kmsg."""

    sequence: int
    microseconds: int
    """By the kernel's own clock, since it was started."""
    text: str


@frozen
class XidLine:
    """An XID on the GPU at a PCI address (sysfs' form)."""

    address: str
    code: int
    text: str
    pid: int | None


@frozen
class NameLine:
    """Which GPU is at a PCI address."""

    address: str
    uuid: str


@frozen
class LossLine:
    """A GPU that fell off the bus, told without an XID."""

    address: str
    text: str


def record(raw: bytes) -> Record | None:
    """Return a record of /dev/kmsg, None if it is none.

    Form: ``priority,sequence,microseconds,flags[,...];text``, then lines of context that begin
    with a space (Documentation/ABI/testing/dev-kmsg of the Linux kernel).
    """
    head, mark, text = raw.decode("utf-8", "replace").partition(";")
    fields = head.split(",")
    try:
        sequence, microseconds = int(fields[1]), int(fields[2])
    except (IndexError, ValueError):
        return None
    line = text.partition("\n")[0]
    return Record(sequence, microseconds, line) if mark else None


def parse(text: str) -> XidLine | NameLine | LossLine | None:
    """Return what a line says of a GPU, None if it says nothing."""
    if "NVRM" not in text:
        return None
    if found := _XID.search(text):
        domain, bus, device, code, rest = found.groups()
        pid = _PID.search(rest)
        return XidLine(
            _address(domain, bus, device),
            int(code),
            _HEADS.sub("", rest).strip()[:_LONGEST],
            int(pid.group(1)) if pid else None,
        )
    if found := _NAMED.search(text):
        return NameLine(_address(*found.groups()[:3]), found.group(4))
    if found := _OFF.search(text):
        return LossLine(_address(*found.groups()), text.partition("NVRM: ")[2][:_LONGEST])
    return None


def _address(domain: str, bus: str, device: str) -> str:
    return f"{int(domain, 16):04x}:{bus.lower()}:{device.lower()}.0"
