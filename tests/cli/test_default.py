"""The configuration of a node that has none."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from attrs import frozen

from otelgpu.cli.default import default_configuration
from otelgpu.component import ReceiverFactory, Signal, Stability
from otelgpu.config.document import ConfigError, parse
from otelgpu.service.factories import InstalledFactories

LONG = 20.0
OTLP = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://gateway:4318"}


@frozen
class Config:
    """No settings."""


def create(*_: Any) -> Any:
    raise AssertionError("a configuration that is read creates nothing")


class Fakes(InstalledFactories):
    """Receivers with scripted probes beside our own simulator; exporters are the installed ones."""

    def __init__(self, **probes: Callable[[], bool] | None) -> None:
        super().__init__()
        self._probes = probes

    def get(self, kind: str, type: str) -> Any:  # noqa: A002 - the protocol's word
        if kind != "receivers" or type == "simulator":
            return super().get(kind, type)
        if type == "broken":
            raise ImportError("no module named 'acme'")
        signals = frozenset({Signal.METRICS, *([Signal.EVENTS] if type == "eventful" else [])})
        probe = self._probes[type]
        return ReceiverFactory(type, Config, create, Stability.BETA, signals=signals, probe=probe)

    def known(self, kind: str) -> list[str]:
        return [*self._probes, "simulator"] if kind == "receivers" else super().known(kind)


class Bench:
    def __init__(self) -> None:
        self.said: list[str] = []

    def receivers(self, deadline: float = LONG, **probes: Callable[[], bool] | None) -> list[str]:
        raw = default_configuration({}, Fakes(**probes), self.said.append, deadline)
        assert list(raw["receivers"]) == raw["service"]["pipelines"]["metrics"]["receivers"]
        return list(raw["receivers"])


@pytest.fixture
def bench() -> Bench:
    return Bench()


def yes() -> bool:
    return True


def no() -> bool:
    return False


def test_what_a_probe_finds_is_read(bench: Bench) -> None:
    assert bench.receivers(a=yes, b=no, c=yes, d=None) == ["a", "c"]
    assert bench.said == []


def test_without_anything_a_fleet_is_simulated_loudly(bench: Bench) -> None:
    assert bench.receivers(a=no) == ["simulator"]
    (banner,) = bench.said
    assert "SIMULATED" in banner


def test_a_probe_that_raises_is_a_warning(bench: Bench) -> None:
    def fail() -> bool:
        raise OSError("cannot load")

    assert bench.receivers(a=fail, b=yes) == ["b"]
    (warning,) = bench.said
    assert "receiver a is left out" in warning
    assert "cannot load" in warning


def test_a_receiver_that_cannot_be_loaded_is_a_warning(bench: Bench) -> None:
    assert bench.receivers(broken=yes, b=yes) == ["b"]
    (warning,) = bench.said
    assert "receiver broken is left out, it cannot be loaded: no module named 'acme'" in warning


def test_a_library_that_hangs_is_there(bench: Bench) -> None:
    answers = threading.Event()
    try:
        assert bench.receivers(deadline=0.05, a=lambda: answers.wait(LONG)) == ["a"]
    finally:
        answers.set()


def exporter(environ: Mapping[str, str]) -> tuple[str, Any]:
    raw = default_configuration(environ, Fakes(a=yes), lambda _: None)
    (found,) = raw["exporters"].items()
    assert raw["service"]["pipelines"]["metrics"]["exporters"] == [found[0]]
    return found[0], found[1]


def test_without_a_destination_points_are_shown() -> None:
    assert exporter({})[0] == "debug"
    assert exporter({"OTEL_EXPORTER_OTLP_ENDPOINT": ""})[0] == "debug"
    assert exporter({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})[0] == "debug"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "otlp_http"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, "otlp_http"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "otlp_grpc"),
        ({"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": " grpc "}, "otlp_grpc"),
        (
            {
                "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            },
            "otlp_grpc",
        ),
        (
            {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "otlp_grpc",
        ),
    ],
)
def test_the_protocol(environ: Mapping[str, str], expected: str) -> None:
    assert exporter({**OTLP, **environ})[0] == expected


def test_an_endpoint_for_one_signal_is_a_destination() -> None:
    name = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
    assert exporter({name: "http://gateway:4318/v1/metrics"})[0] == "otlp_http"


def test_a_protocol_that_is_not_spoken_names_its_variable() -> None:
    with pytest.raises(ConfigError) as caught:
        exporter({**OTLP, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"})
    (mistake,) = caught.value.mistakes
    assert mistake.path == "OTEL_EXPORTER_OTLP_PROTOCOL"
    assert "http/protobuf or grpc" in mistake.message


def interval(value: str) -> Any:
    environ = {"OTEL_METRIC_EXPORT_INTERVAL": value}
    raw = default_configuration(environ, Fakes(a=no), lambda _: None)
    return parse(raw, InstalledFactories(), environ).components["receivers", "simulator"].config


@pytest.mark.parametrize(("value", "seconds"), [("5000", 5), (" 250 ", 0.25), ("", 10)])
def test_the_interval(value: str, seconds: float) -> None:
    assert interval(value).collection_interval.total_seconds() == seconds


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "10s", "abc", "\u0661"])
def test_an_interval_that_is_no_time_names_its_variable(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        interval(value)
    assert [mistake.path for mistake in caught.value.mistakes] == ["OTEL_METRIC_EXPORT_INTERVAL"]


def events(**probes: Callable[[], bool] | None) -> Iterator[str]:
    raw = default_configuration({}, Fakes(**probes), lambda _: None)
    yield from raw["service"]["pipelines"].get("events", {}).get("receivers", [])


def test_events_have_a_pipeline_where_there_are_any() -> None:
    assert list(events(a=yes)) == []
    assert list(events(a=yes, eventful=yes)) == ["eventful"]
    assert list(events(a=no)) == ["simulator"]


@pytest.mark.parametrize("environ", [{}, OTLP])
def test_it_is_valid(environ: Mapping[str, str]) -> None:
    raw = default_configuration(environ, Fakes(a=no), lambda _: None)
    assert parse(raw, InstalledFactories(), environ).warnings == []
