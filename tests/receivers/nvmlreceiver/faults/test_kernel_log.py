"""The kernel log: what its lines say, from before the start and now; whatever may go wrong."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.receivers.nvmlreceiver.harness import ManualClock

from nvmlreceiver.faults.catalogue import Catalogue
from nvmlreceiver.faults.hub import Hub
from nvmlreceiver.faults.kernel import LossLine, NameLine, XidLine, parse, record
from nvmlreceiver.faults.kernellog import KernelLog
from nvmlreceiver.faults.sighting import Gpu
from otelgpu.points.event import Event
from otelgpu.points.stream import Streams
from otelgpu.telemetry.component import ComponentTelemetry

UUID = "GPU-12345678-1234-1234-1234-123456789abc"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off.",
            XidLine("0000:3b:00.0", 79, "GPU has fallen off.", None),
        ),
        (
            "NVRM: Xid (PCI:0000:3b:00): 31, pid=1234, name=python3, Ch 00000008, MMU Fault",
            XidLine("0000:3b:00.0", 31, "Ch 00000008, MMU Fault", 1234),
        ),
        (
            "NVRM: Xid (PCI:0000:3B:00): 43, pid='77', name='a, b', Ch 00000010",
            XidLine("0000:3b:00.0", 43, "Ch 00000010", 77),
        ),
        (
            "NVRM: Xid (PCI:00000001:c1:00): 48, DBE at 0x1",
            XidLine("0001:c1:00.0", 48, "DBE at 0x1", None),
        ),
        ("NVRM: Xid (0000:07:00): 8, Channel 1", XidLine("0000:07:00.0", 8, "Channel 1", None)),
        ("NVRM: Xid (PCI:0000:3b:00): 13", XidLine("0000:3b:00.0", 13, "", None)),
        (f"NVRM: GPU at PCI:0000:3b:00: {UUID}", NameLine("0000:3b:00.0", UUID)),
        (
            "NVRM: The NVIDIA GPU 0000:3b:00.0 (PCI ID: 10de:2330) has fallen off the bus.",
            LossLine(
                "0000:3b:00.0",
                "The NVIDIA GPU 0000:3b:00.0 (PCI ID: 10de:2330) has fallen off the bus.",
            ),
        ),
        ("NVRM: GPU Board Serial Number: 1", None),
        ("usb 1-1: Xid (PCI:0000:3b:00): 79", None),
        ("NVRM: Xid (PCI:zzzz): 79", None),
    ],
)
def test_lines(text: str, expected: object) -> None:
    assert parse(text) == expected


def test_a_record() -> None:
    found = record(b"4,1093,93819203,-;NVRM: text; more\n SUBSYSTEM=pci\n DEVICE=+pci:0000:3b:00.0")
    assert found is not None
    assert (found.sequence, found.microseconds, found.text) == (1093, 93819203, "NVRM: text; more")


@given(st.binary(max_size=200))
def test_whatever_bytes_come(raw: bytes) -> None:
    found = record(raw)
    parse(found.text if found else raw.decode("utf-8", "replace"))


@given(st.text(max_size=300))
def test_whatever_text_follows(text: str) -> None:
    found = parse(f"NVRM: Xid (PCI:0000:3b:00): 31, {text}")
    assert isinstance(found, XidLine)
    assert found.code == 31


class Bench:
    """A reader of a file that stands in for /dev/kmsg; it was started at 100 s of uptime."""

    def __init__(self, path: Path) -> None:
        self.events: list[Event] = []
        self.clock = ManualClock()
        self.telemetry = ComponentTelemetry({}, Streams())
        self.hub = Hub(Catalogue(), self.clock, self.events.extend, 0.0)
        self.hub.know([Gpu("GPU-1", {"hw.id": "GPU-1"}, "0000:3b:00.0")])
        log = logging.getLogger("test.kmsg")
        self.log = KernelLog(path, self.hub, self.clock, self.telemetry, log, lambda: 100.0)
        self.log.start()

    def counts(self) -> dict[tuple[str, str, int], int]:
        return {(f.gpu, f.type, f.code): count for f, count in self.hub.counts()}

    def errors(self) -> set[object]:
        return {s.attributes["error.type"] for s, _ in self.telemetry.collect()}


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Callable[[], Bench]]:
    made: list[Bench] = []

    def start() -> Bench:
        made.append(Bench(tmp_path / "kmsg"))
        return made[-1]

    yield start
    for bench in made:
        bench.log.shutdown()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def line(number: int, seconds: float, code: int, address: str = "0000:3b:00") -> str:
    words = f"NVRM: Xid (PCI:{address}): {code}, pid=7, words {number}"
    return f"4,{number},{int(seconds * 1e6)},-;{words}\n"


def test_before_the_start_and_after_it(read: Callable[[], Bench], tmp_path: Path) -> None:
    path = tmp_path / "kmsg"
    path.write_text(line(1, 10, 79) + line(2, 20, 79) + line(3, 30, 31), encoding="utf-8")
    bench = read()
    until(lambda: len(bench.events) == 2)
    assert bench.counts() == {}, "it was not the agent that saw them"
    first = bench.events[0]
    assert first.attributes["hw.gpu.fault.suppressed_count"] == 1
    assert first.attributes["hw.gpu.fault.message"] == "words 2"
    assert first.attributes["process.pid"] == 7
    # 80 s before now, by the uptime
    assert first.time == bench.clock.time_ns() - 80_000_000_000
    with path.open("a", encoding="utf-8") as log:
        log.write(line(4, 101, 13))
    until(lambda: bench.counts() == {("GPU-1", "xid", 13): 1})
    until(lambda: len(bench.events) == 3)


def test_a_gpu_that_nvml_does_not_show(read: Callable[[], Bench], tmp_path: Path) -> None:
    """By the UUID that the log itself gives, or by its place."""
    text = f"6,1,1,-;NVRM: GPU at PCI:0000:5e:00: {UUID}\n"
    text += line(2, 101, 79, "0000:5e:00") + line(3, 102, 79, "0000:af:00")
    (tmp_path / "kmsg").write_text(text, encoding="utf-8")
    bench = read()
    expected = {(UUID, "xid", 79): 1, ("pci:0000:af:00.0", "xid", 79): 1}
    until(lambda: bench.counts() == expected)


def test_a_gpu_that_fell_off_without_an_xid(read: Callable[[], Bench], tmp_path: Path) -> None:
    text = "3,1,101000000,-;NVRM: The NVIDIA GPU 0000:3b:00.0 has fallen off the bus\n"
    (tmp_path / "kmsg").write_text(text, encoding="utf-8")
    bench = read()
    until(lambda: bench.counts() == {("GPU-1", "lost", 0): 1})


def test_garbage_between_records(read: Callable[[], Bench], tmp_path: Path) -> None:
    junk = b"\xff\xfe;\n,,,;\nx,y,z;NVRM: Xid (PCI:0000:3b:00): 79\n CONTEXT=1\n\n"
    (tmp_path / "kmsg").write_bytes(junk + line(1, 101, 31).encode())
    bench = read()
    until(lambda: bench.counts() == {("GPU-1", "xid", 31): 1})


def test_records_that_come_in_pieces(read: Callable[[], Bench], tmp_path: Path) -> None:
    path = tmp_path / "kmsg"
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)
    try:
        bench = read()
        text = line(1, 101, 31).encode()
        os.write(writer, text[:40])
        os.write(writer, text[40:] + line(2, 101, 31).encode())
        until(lambda: bench.counts() == {("GPU-1", "xid", 31): 2})
    finally:
        os.close(writer)


def test_a_log_that_may_not_be_read(
    read: Callable[[], Bench], caplog: pytest.LogCaptureFixture
) -> None:
    bench = read()
    until(lambda: bench.errors() == {"kernel_log.enoent"})
    until(lambda: "CAP_SYSLOG" in caplog.text)
