"""The agent's log: for people, or for machines."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from otelgpu.telemetry.logs import configure

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.fixture(autouse=True)
def root_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def fail() -> None:
    raise ValueError("mistake")


def test_text() -> None:
    out = io.StringIO()
    configure(out, "info", "text")
    log = logging.getLogger("otelgpu.receivers.nvml")
    log.info("found %s", "GPU-1")
    log.debug("not this")
    try:
        fail()
    except ValueError:
        log.exception("scrape failed")
    first, second, *trace = out.getvalue().splitlines()
    assert re.fullmatch(rf"{TIME} info    receivers\.nvml: found GPU-1", first)
    assert re.fullmatch(rf"{TIME} error   receivers\.nvml: scrape failed", second)
    assert trace[0].startswith("Traceback")
    assert trace[-1] == "ValueError: mistake"


def test_json_is_one_object_a_line() -> None:
    out = io.StringIO()
    configure(out, "debug", "json")
    log = logging.getLogger("otelgpu.exporters.otlp_http/main")
    log.debug('two\nlines "quoted" %s', "\udcff")
    try:
        fail()
    except ValueError:
        log.exception("failed")
    first, second = map(json.loads, out.getvalue().splitlines())
    assert re.fullmatch(TIME, first.pop("time"))
    assert first == {
        "level": "debug",
        "logger": "otelgpu.exporters.otlp_http/main",
        "message": 'two\nlines "quoted" \udcff',
    }
    assert second["exception"].endswith("ValueError: mistake")


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("debug", ["debug", "info", "warning", "error"]),
        ("info", ["info", "warning", "error"]),
        ("warn", ["warning", "error"]),
        ("error", ["error"]),
    ],
)
def test_levels(level: str, expected: list[str]) -> None:
    out = io.StringIO()
    configure(out, level, "json")
    log = logging.getLogger("somebody.else")
    for name in ("debug", "info", "warning", "error"):
        getattr(log, name)("words")
    assert [json.loads(line)["level"] for line in out.getvalue().splitlines()] == expected


def test_configuring_again_replaces() -> None:
    first, second = io.StringIO(), io.StringIO()
    configure(first, "info", "text")
    configure(second, "info", "text")
    logging.getLogger("otelgpu").info("words")
    assert first.getvalue() == ""
    assert second.getvalue().count("\n") == 1
