from __future__ import annotations

from typing import Any

import pytest

from otelgpu.config.structure import ConfigError, structure
from otlpexporter.config import (
    Compression,
    OtlpGrpcConfig,
    OtlpHttpConfig,
    TlsConfig,
    for_signal,
)


def http(**raw: Any) -> OtlpHttpConfig:
    return structure(raw, OtlpHttpConfig, "exporters::otlp_http")


def grpc(**raw: Any) -> OtlpGrpcConfig:
    return structure(raw, OtlpGrpcConfig, "exporters::otlp_grpc")


def test_a_file_for_the_collector_is_understood() -> None:
    config = http(
        endpoint="https://otlp.example.com:4318",
        headers={"Authorization": "Bearer abc"},
        compression="gzip",
        timeout="5s",
        tls={"ca_file": "/etc/ca.pem", "insecure_skip_verify": False},
        retry_on_failure={
            "enabled": True,
            "initial_interval": "1s",
            "randomization_factor": 0.5,
            "multiplier": 1.5,
            "max_interval": "30s",
            "max_elapsed_time": "5m",
        },
        sending_queue={"queue_size": 5000, "sizer": "items", "batch": {"max_size": 1000}},
    )
    assert config.timeout.total_seconds() == 5
    assert config.retry_on_failure.max_elapsed_time.total_seconds() == 300
    assert config.sending_queue.batch.max_size == 1000
    assert "abc" not in repr(config)


def test_a_signal_has_its_own_or_the_exporters() -> None:
    config = http(compression="none", timeout="3s", logs={"timeout": "4s", "headers": {}})
    assert for_signal(config, config.metrics, "timeout").total_seconds() == 3
    assert for_signal(config, config.logs, "timeout").total_seconds() == 4
    assert for_signal(config, config.logs, "headers") == {}
    assert for_signal(config, config.logs, "compression") is Compression.NONE


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"endpoint": "localhost:4318"}, "localhost:4318 has no scheme; write http://localhost"),
        ({"endpoint": ""}, "write http://localhost:4318"),
        ({"endpoint": "grpc://localhost:4317"}, "scheme grpc is not known"),
        ({"endpoint": "http://user:pw@localhost:4318"}, "does not belong in a URL"),
        ({"endpoint": "http://"}, "is no URL of a host"),
        ({"endpoint": "http://a b"}, "is no URL of a host"),
        ({"endpoint": "http://a:99999"}, "out of range"),
        ({"endpoint": "http://a..b:4318"}, "cannot be the name of a host; write labels"),
        ({"endpoint": f"http://{'a' * 64}.example:4318"}, "cannot be the name of a host"),
        ({"endpoint": "http://a:0"}, "port 0 is none"),
        ({"endpoint": "http://a:4318/?token=x"}, "write the whole URLs as metrics_endpoint"),
        ({"endpoint": "http://a:4318/#x"}, "leave out #"),
        ({"metrics_endpoint": "http://a..b/v1/metrics"}, "cannot be the name of a host"),
        ({"logs_endpoint": "http://a/v1/logs#x"}, "leave out #"),
        ({"tls": {"server_name_override": ".a"}}, "cannot be the name of a host"),
        ({"headers": {"Content-Length": "1"}}, "Content-Length is the exporter's own; leave it"),
        ({"headers": {"transfer-encoding": "chunked"}}, "leave it out"),
        ({"headers": {"CONTENT-ENCODING": "br"}}, "write compression instead"),
        ({"headers": {"Content-Type": "text/plain"}}, "leave it out"),
        ({"headers": {"Host": "a"}}, "write endpoint instead"),
        ({"metrics": {"headers": {"Connection": "close"}}}, "leave it out"),
        ({"headers": {"Api-Key": "a", "api-key": "b"}}, "api-key is written twice"),
        ({"timeout": "0s"}, "timeout must be longer than 0s"),
        ({"headers": {"a b": "c"}}, "no name of a header"),
        ({"headers": {"a": "b\nc"}}, "not printable ASCII"),
        ({"tls": {"cert_file": "a"}}, "write key_file too"),
        ({"compression": "zstd"}, "gzip"),
        ({"sending_queue": {"sizer": "requests"}}, "write sizer: items"),
        ({"sending_queue": {"queue_size": 0}}, "queue_size"),
        ({"retry_on_failure": {"initial_interval": "0s"}}, "longer than 0s"),
        ({"retry_on_failure": {"max_elapsed_time": "-1s"}}, "max_elapsed_time"),
        ({"retry_on_failure": {"randomization_factor": 2.0}}, "randomization_factor"),
    ],
)
def test_mistakes_over_http_are_told_with_their_remedy(raw: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        http(**raw)
    assert words in str(caught.value)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    "endpoint",
    [
        "localhost:4317",
        "http://localhost:4317",
        "https://otlp.example.com:4317/",
        "[::1]:4317",
        "unix:///run/otlp.sock",
        "unix:/run/otlp.sock",
        "unix:otlp.sock",
        "dns:///otlp.example.com:4317",
        "dns://192.0.2.1/otlp.example.com:4317",
        "dns:otlp.example.com",
    ],
)
def test_endpoints_of_grpc(endpoint: str) -> None:
    assert grpc(endpoint=endpoint).endpoint == endpoint


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"endpoint": "localhost"}, "names no host and port; write localhost:4317"),
        ({"endpoint": "http://localhost:4318/v1/metrics"}, "gRPC takes no path"),
        ({"endpoint": "ftp://localhost:4317"}, "scheme ftp is not known"),
        ({"endpoint": "http://user:pw@localhost:4317/x"}, "does not belong in a URL"),
        ({"endpoint": "user:pw@localhost"}, "does not belong in a URL"),
        ({"endpoint": "localhost:4317?x=pw"}, "gRPC takes no path"),
        ({"endpoint": "a..b:4317"}, "cannot be the name of a host"),
        ({"endpoint": "dns:"}, "write dns:///localhost:4317"),
        ({"endpoint": "dns:///"}, "write dns:///localhost:4317"),
        ({"endpoint": "dns://192.0.2.1"}, "write dns:///localhost:4317"),
        ({"endpoint": "dns:///a..b"}, "cannot be the name of a host"),
        ({"endpoint": "unix:"}, "names no socket; write unix:///path"),
        ({"endpoint": "unix:///"}, "names no socket; write unix:///path"),
        ({"metrics_endpoint": "unix://run/otlp.sock"}, "write unix:///path or unix:path"),
        ({"headers": {"token-bin": "a"}}, "would be binary"),
        ({"headers": {"x!#": "a"}}, "is no name in gRPC"),
        ({"headers": {"x": "a\tb"}}, "not printable ASCII"),
        ({"headers": {"grpc-timeout": "1"}}, "gRPC's own; leave it out"),
        ({"headers": {"Content-Type": "a"}}, "gRPC's own; leave it out"),
        ({"headers": {"X": "a", "x": "b"}}, "written twice"),
        ({"tls": {"insecure_skip_verify": True}}, "insecure_skip_verify"),
    ],
)
def test_mistakes_over_grpc_are_told_with_their_remedy(raw: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        grpc(**raw)
    assert words in str(caught.value)
    assert "pw" not in str(caught.value)


def test_a_whole_url_may_have_a_query() -> None:
    url = "https://otlp.example.com/in?tenant=a"
    assert http(metrics_endpoint=url).metrics_endpoint == url


def test_defaults_are_valid() -> None:
    assert http().tls == TlsConfig()
    assert grpc().endpoint == "http://localhost:4317"
