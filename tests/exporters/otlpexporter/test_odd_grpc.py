"""gRPC servers, targets and files that are not as expected: the data is never lost for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from tests.delivery.samples import batch
from tests.exporters.otlpexporter import certificates
from tests.fakes.otlp import GrpcReply, OtlpGrpcServer

from otelgpu.delivery.encoder import MetricsEncoder
from otelgpu.delivery.outcome import Accepted, Retry, TooLarge
from otlpexporter.config import Compression, GrpcTlsConfig
from otlpexporter.grpc import METRICS, GrpcDestination, GrpcTransport

PAYLOAD = next(MetricsEncoder("").encode(batch(3))).payload


@contextmanager
def channel(endpoint: str, tls: GrpcTlsConfig | None = None) -> Iterator[GrpcTransport]:
    to = GrpcDestination(endpoint, {}, Compression.NONE, tls or GrpcTlsConfig(insecure=True))
    made = GrpcTransport(to, METRICS)
    try:
        yield made
    finally:
        made.close()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (grpc.StatusCode.OUT_OF_RANGE, "Error, decoded message length too large: found 9 bytes"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "grpc: received message larger than max (9 vs. 4)"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "CLIENT: Sent message larger than max (9 vs. 4)"),
    ],
)
def test_a_message_that_is_too_large_in_any_language(code: grpc.StatusCode, words: str) -> None:
    with OtlpGrpcServer([GrpcReply(code, words)]) as server, channel(server.endpoint) as sender:
        assert isinstance(sender.send(PAYLOAD, 10), TooLarge)


def test_a_quota_without_a_hint_when_to_come_again_keeps_the_data() -> None:
    reply = GrpcReply(grpc.StatusCode.RESOURCE_EXHAUSTED, "quota of tenant exceeded")
    with OtlpGrpcServer([reply]) as server, channel(server.endpoint) as sender:
        assert isinstance(sender.send(PAYLOAD, 10), Retry)


def test_a_channel_that_cannot_be_made_keeps_the_data() -> None:
    with channel("dns:///") as sender:
        result = sender.send(PAYLOAD, 10)
    assert isinstance(result, Retry)
    assert (result.reason, result.answered) == ("unreachable", False)


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "no_grpc_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with OtlpGrpcServer() as server, channel(server.endpoint) as sender:
        assert sender.send(PAYLOAD, 10) == Accepted()


def test_a_file_without_certificates_is_found_at_start(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("no certificate", encoding="utf-8")
    with (
        channel("x:4317", GrpcTlsConfig(ca_file=str(file))) as sender,
        pytest.raises(OSError, match="no certificates in PEM format") as caught,
    ):
        sender.open()
    assert caught.value.filename == str(file)


def test_a_key_that_is_not_the_certificates_is_found_at_start(tmp_path: Path) -> None:
    certs = certificates.make(tmp_path)
    tls = GrpcTlsConfig(
        ca_file=certs.ca, cert_file=certs.client[0], key_file=str(tmp_path / "server.key")
    )
    with channel("x:4317", tls) as sender, pytest.raises(OSError, match="do not belong together"):
        sender.open()
