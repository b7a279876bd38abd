from __future__ import annotations

import pytest

from otelgpu.config.structure import structure
from otlpexporter import GRPC_FACTORY, HTTP_FACTORY
from otlpexporter.environment import grpc_defaults, http_defaults

PREFIX = "OTEL_EXPORTER_OTLP_"


def variables(**values: str) -> dict[str, str]:
    return {PREFIX + name: value for name, value in values.items()}


def test_a_silent_environment_says_nothing() -> None:
    assert http_defaults({"PATH": "/bin"}, {}) == {}
    assert http_defaults(variables(ENDPOINT="", HEADERS=" ", TIMEOUT=""), {}) == {}


def test_the_base_endpoint_gets_paths_and_a_signals_endpoint_none() -> None:
    environ = variables(ENDPOINT="http://gw:4318/otlp/", METRICS_ENDPOINT="http://vm:8428/custom")
    config = structure(http_defaults(environ, {}), HTTP_FACTORY.config, "")
    assert config.endpoint == "http://gw:4318/otlp/"
    assert config.metrics_endpoint == "http://vm:8428/custom"
    assert config.logs_endpoint == ""


def test_every_variable_of_the_exporter() -> None:
    environ = variables(
        ENDPOINT="http://gw:4317",
        HEADERS="api-key=a%20b%3D%2C, X-Tenant = t1 ,broken,=nothing",
        COMPRESSION="none",
        TIMEOUT="2500",
        CERTIFICATE="/ca.pem",
        CLIENT_CERTIFICATE="/c.pem",
        CLIENT_KEY="/c.key",
        INSECURE="True",
    )
    config = structure(grpc_defaults(environ, {}), GRPC_FACTORY.config, "")
    assert config.endpoint == "http://gw:4317"
    assert {k: v.reveal() for k, v in config.headers.items()} == {
        "api-key": "a b=,",
        "X-Tenant": "t1",
    }
    assert config.compression == "none"
    assert config.timeout.total_seconds() == 2.5
    tls = config.tls
    assert (tls.ca_file, tls.cert_file, tls.key_file) == ("/ca.pem", "/c.pem", "/c.key")
    assert tls.insecure is True
    assert "insecure" not in http_defaults(environ, {})["tls"]


@pytest.mark.parametrize("signal", ["metrics", "logs"])
def test_every_variable_of_a_signal(signal: str) -> None:
    name = signal.upper()
    environ = variables(
        TIMEOUT="1000",
        CERTIFICATE="/ca.pem",
        **{
            f"{name}_HEADERS": "a=b",
            f"{name}_COMPRESSION": "gzip",
            f"{name}_TIMEOUT": "7000",
            f"{name}_CLIENT_CERTIFICATE": "/c.pem",
            f"{name}_CLIENT_KEY": "/c.key",
        },
    )
    config = structure(http_defaults(environ, {}), HTTP_FACTORY.config, "")
    own, other = config.metrics, config.logs
    if signal == "logs":
        own, other = other, own
    assert config.timeout.total_seconds() == 1
    assert own.timeout is not None
    assert own.timeout.total_seconds() == 7
    assert own.headers is not None
    assert own.headers["a"].reveal() == "b"
    assert own.compression == "gzip"
    assert own.tls is not None
    assert (own.tls.ca_file, own.tls.cert_file) == ("/ca.pem", "/c.pem")
    assert (other.timeout, other.headers, other.compression, other.tls) == (None,) * 4


@pytest.mark.parametrize("setting", ["endpoint", "metrics_endpoint", "logs_endpoint"])
def test_a_destination_of_the_file_gets_nothing_of_another_ones_variables(setting: str) -> None:
    environ = variables(
        ENDPOINT="http://gw:4318", HEADERS="api-key=secret", METRICS_ENDPOINT="http://vm:8428/x"
    )
    assert http_defaults(environ, {setting: "http://mine:4318"}) == {}
    assert grpc_defaults(environ, {setting: "http://mine:4317"}) == {}
