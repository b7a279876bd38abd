"""A document, and factories of components that are never created."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
import yaml
from attrs import field, frozen, validators

from otelgpu.component import (
    AnyFactory,
    ExporterFactory,
    ProcessorFactory,
    ReceiverFactory,
    Signal,
    Stability,
)
from otelgpu.config.document import Document, ExtensionFactory, FactoryLookup, parse
from otelgpu.config.secret import Secret

BOTH = frozenset(Signal)
METRICS = frozenset({Signal.METRICS})


@frozen
class Scraping:
    collection_interval: timedelta = timedelta(seconds=10)
    count: int = field(default=1, validator=validators.ge(1))


@frozen
class Tls:
    ca_file: str = ""
    key_file: str = ""


@frozen
class Sending:
    endpoint: str
    headers: dict[str, Secret]
    tls: Tls = Tls()


@frozen
class Nothing:
    pass


@frozen
class Extension:
    type: str
    config: Any


def _create(*_: Any) -> Any:
    raise AssertionError("a configuration that is read creates nothing")


def _standard_variables(environ: Mapping[str, str], _: Mapping[str, Any]) -> Mapping[str, Any]:
    if "BAD" in environ:
        raise ValueError("BAD is set; unset it")
    return {
        "endpoint": environ.get("OTLP_ENDPOINT", "localhost:4317"),
        "headers": {"from": environ.get("OTLP_HEADER", "env$$")},
        "tls": {"ca_file": "/env", "key_file": "/env"},
    }


FACTORIES: dict[tuple[str, str], AnyFactory | ExtensionFactory] = {
    ("receivers", "nvml"): ReceiverFactory("nvml", Scraping, _create, Stability.BETA, BOTH),
    ("receivers", "amdsmi"): ReceiverFactory(
        "amdsmi", Scraping, _create, Stability.BETA, single=True
    ),
    ("processors", "filter"): ProcessorFactory("filter", Nothing, _create, Stability.BETA, BOTH),
    ("exporters", "otlp"): ExporterFactory(
        "otlp", Sending, _create, Stability.BETA, BOTH, _standard_variables
    ),
    ("exporters", "debug"): ExporterFactory("debug", Nothing, _create, Stability.BETA),
    ("extensions", "status"): Extension("status", Nothing),
}


class Installed:
    """Looks up the factories above; ``broken`` is known but cannot be imported."""

    def get(self, kind: str, type: str) -> AnyFactory | ExtensionFactory | None:  # noqa: A002
        if type == "broken":
            raise ImportError("no module named 'kubernetes'; install otelgpu[k8s]")
        return FACTORIES.get((kind, type))

    def known(self, kind: str) -> list[str]:
        return [type_ for k, type_ in FACTORIES if k == kind]


GOOD = """
receivers:
  nvml:
  nvml/slow: {collection_interval: 1m}
processors:
  filter:
exporters:
  otlp/main:
    endpoint: ${env:HOST}:4317
    headers: {authorization: "Bearer ${env:TOKEN}", plain: hunter2}
    tls: {ca_file: /own}
  debug:
extensions:
  status:
service:
  extensions: [status]
  telemetry:
    logs: {level: warn, encoding: json}
    metrics: {interval: 30s}
    resource: {cluster: a, index: 1, share: 0.5, spot: true}
  shutdown_timeout: 5s
  pipelines:
    metrics: {receivers: [nvml, nvml/slow], processors: [filter], exporters: [otlp/main, debug]}
    events/faults: {receivers: [nvml], exporters: [otlp/main]}
"""
ENVIRON = {"HOST": "gw", "TOKEN": "hunter2"}


@pytest.fixture(scope="session")
def good() -> str:
    return GOOD


@pytest.fixture(scope="session")
def installed() -> FactoryLookup:
    return Installed()


@pytest.fixture(scope="session")
def read() -> Callable[..., Document]:
    """Parse a text with the factories above."""

    def read(text: str, environ: Mapping[str, str] = ENVIRON) -> Document:
        return parse(yaml.safe_load(text), Installed(), environ)

    return read
