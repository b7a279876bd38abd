"""The outcome table over gRPC, against a real server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from attrs import evolve
from tests.delivery.samples import batch, event_batch
from tests.exporters.otlpexporter import certificates
from tests.fakes.otlp import GrpcReply, OtlpGrpcServer, partial_success, status

import otelgpu
from otelgpu.config.secret import Secret
from otelgpu.delivery.encoder import MetricsEncoder
from otelgpu.delivery.events import EventsEncoder
from otelgpu.delivery.outcome import (
    Accepted,
    Outcome,
    Permanent,
    Retry,
    TooLarge,
    Unauthorized,
)
from otlpexporter.config import Compression, GrpcTlsConfig
from otlpexporter.grpc import LOGS, METRICS, GrpcDestination, GrpcTransport

PAYLOAD = next(MetricsEncoder("").encode(batch(3))).payload
Code = grpc.StatusCode


def destination(endpoint: str) -> GrpcDestination:
    return GrpcDestination(endpoint, {}, Compression.GZIP, GrpcTlsConfig(insecure=True))


@contextmanager
def transport(to: GrpcDestination | str, method: str = METRICS) -> Iterator[GrpcTransport]:
    made = GrpcTransport(destination(to) if isinstance(to, str) else to, method)
    made.open()
    try:
        yield made
    finally:
        made.close()


def answered(reply: GrpcReply) -> Outcome:
    with OtlpGrpcServer([reply]) as server, transport(server.endpoint) as channel:
        result = channel.send(PAYLOAD, 10)
        assert len(server.received) == 1
        return result


def details(message: str, after: float | None = None) -> tuple[tuple[str, bytes]]:
    return (("grpc-status-details-bin", status(message, after)),)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (GrpcReply(), Accepted()),
        (GrpcReply(body=partial_success(2, "too old")), Accepted(2, "too old")),
        (GrpcReply(body=b"\xff\xff"), Accepted(0, "an answer that is no OTLP")),
        (
            GrpcReply(Code.INVALID_ARGUMENT, "bad"),
            Permanent("INVALID_ARGUMENT", "gRPC INVALID_ARGUMENT: bad"),
        ),
        (GrpcReply(Code.UNIMPLEMENTED), Permanent("UNIMPLEMENTED", "gRPC UNIMPLEMENTED")),
        (GrpcReply(Code.INTERNAL), Permanent("INTERNAL", "gRPC INTERNAL")),
        (
            GrpcReply(Code.UNAUTHENTICATED, "no token"),
            Unauthorized("UNAUTHENTICATED", "gRPC UNAUTHENTICATED: no token"),
        ),
        (
            GrpcReply(Code.PERMISSION_DENIED),
            Unauthorized("PERMISSION_DENIED", "gRPC PERMISSION_DENIED"),
        ),
        (
            GrpcReply(Code.UNAVAILABLE, "queue is full"),
            Retry("UNAVAILABLE", "gRPC UNAVAILABLE: queue is full", answered=False),
        ),
        (
            GrpcReply(Code.UNAVAILABLE, "later", details("later", 3.25)),
            Retry("UNAVAILABLE", "gRPC UNAVAILABLE: later", 3.25),
        ),
        (GrpcReply(Code.ABORTED), Retry("ABORTED", "gRPC ABORTED")),
        (GrpcReply(Code.DATA_LOSS), Retry("DATA_LOSS", "gRPC DATA_LOSS")),
        (GrpcReply(Code.OUT_OF_RANGE), Retry("OUT_OF_RANGE", "gRPC OUT_OF_RANGE")),
        (
            GrpcReply(Code.RESOURCE_EXHAUSTED, "quota", details("quota", 9)),
            Retry("RESOURCE_EXHAUSTED", "gRPC RESOURCE_EXHAUSTED: quota", 9.0),
        ),
        (
            GrpcReply(Code.RESOURCE_EXHAUSTED, "quota"),
            Retry("RESOURCE_EXHAUSTED", "gRPC RESOURCE_EXHAUSTED: quota"),
        ),
        (
            GrpcReply(
                Code.RESOURCE_EXHAUSTED,
                "grpc: received message after decompression larger than max 4194304",
            ),
            TooLarge(
                "RESOURCE_EXHAUSTED",
                "gRPC RESOURCE_EXHAUSTED: "
                "grpc: received message after decompression larger than max 4194304",
            ),
        ),
    ],
)
def test_each_answer_has_its_outcome(reply: GrpcReply, expected: Outcome) -> None:
    assert answered(reply) == expected


def test_a_message_past_the_servers_limit_is_too_large() -> None:
    with OtlpGrpcServer(max_message=100) as server, transport(server.endpoint) as channel:
        assert isinstance(channel.send(PAYLOAD, 10), TooLarge)


def test_what_is_sent() -> None:
    with OtlpGrpcServer() as server:
        to = evolve(destination(server.endpoint), headers={"X-Api-Key": Secret("s3cret")})
        with transport(to) as channel:
            assert channel.send(PAYLOAD, 10) == Accepted()
        events = next(EventsEncoder("").encode(event_batch(2))).payload
        with transport(f"http://{server.endpoint}/", LOGS) as channel:
            assert channel.send(events, 10) == Accepted()
        metrics, logs = server.received
    assert metrics.body == PAYLOAD
    assert metrics.headers["x-api-key"] == "s3cret"
    assert metrics.headers["user-agent"].startswith(f"otelgpu/{otelgpu.__version__}")
    assert logs.body == events


def test_a_server_that_never_answers_meets_the_deadline() -> None:
    with OtlpGrpcServer([GrpcReply(hang=True)]) as server, transport(server.endpoint) as channel:
        result = channel.send(PAYLOAD, 0.5)
        assert isinstance(result, Retry)
        assert (result.reason, result.answered) == ("DEADLINE_EXCEEDED", False)


def test_a_server_that_comes_back_is_found_at_the_first_attempt_after_two_failures() -> None:
    server = OtlpGrpcServer().start()
    with transport(server.endpoint) as channel:
        assert channel.send(PAYLOAD, 10) == Accepted()
        server.stop()
        for _ in range(6):  # gRPC's own back-off would now be longer than the test
            result = channel.send(PAYLOAD, 10)
            assert isinstance(result, Retry)
            assert not result.answered
        server.start()
        assert channel.send(PAYLOAD, 10) == Accepted()
        server.stop()


def test_a_channel_has_no_part_in_the_back_off_of_another_to_the_same_server() -> None:
    server = OtlpGrpcServer().start()
    endpoint = server.endpoint
    server.stop()
    with transport(endpoint) as other, transport(endpoint) as channel:
        other.send(PAYLOAD, 10)
        for _ in range(3):
            channel.send(PAYLOAD, 10)
        with server:
            assert channel.send(PAYLOAD, 10) == Accepted()


def test_close_breaks_off_an_attempt_and_nothing_is_sent_after_it() -> None:
    with OtlpGrpcServer([GrpcReply(hang=True)]) as server, transport(server.endpoint) as channel:
        results: list[Outcome] = []
        sender = threading.Thread(target=lambda: results.append(channel.send(PAYLOAD, 60)))
        sender.start()
        server.wait_for(lambda: bool(server.received))
        begun = time.monotonic()
        channel.close()
        sender.join(10)
        assert not sender.is_alive()
        assert time.monotonic() - begun < 10
        results.append(channel.send(PAYLOAD, 10))
        assert all(isinstance(result, Retry) for result in results)
        assert len(results) == 2


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> certificates.Certificates:
    return certificates.make(tmp_path_factory.mktemp("certificates"))


def test_tls(certs: certificates.Certificates) -> None:
    with OtlpGrpcServer(credentials=certs.grpc()) as server:
        for tls in (
            GrpcTlsConfig(ca_file=certs.ca),
            GrpcTlsConfig(ca_file=certs.ca, server_name_override="otlp.test"),
        ):
            with transport(evolve(destination(server.endpoint), tls=tls)) as channel:
                assert channel.send(PAYLOAD, 10) == Accepted()
        # https:// means TLS even where insecure is set for endpoints without a scheme.
        secure = GrpcTlsConfig(insecure=True, ca_file=certs.ca)
        url = destination(f"https://{server.endpoint}")
        with transport(evolve(url, tls=secure)) as channel:
            assert channel.send(PAYLOAD, 10) == Accepted()
        with transport(evolve(url, tls=GrpcTlsConfig())) as channel:
            result = channel.send(PAYLOAD, 5)
        assert isinstance(result, Retry)
        assert len(server.received) == 3


def test_mutual_tls(certs: certificates.Certificates) -> None:
    with OtlpGrpcServer(credentials=certs.grpc(mutual=True)) as server:
        without = evolve(destination(server.endpoint), tls=GrpcTlsConfig(ca_file=certs.ca))
        with transport(without) as channel:
            assert isinstance(channel.send(PAYLOAD, 5), Retry)
        certificate, key = certs.client
        tls = GrpcTlsConfig(ca_file=certs.ca, cert_file=certificate, key_file=key)
        with transport(evolve(without, tls=tls)) as channel:
            assert channel.send(PAYLOAD, 10) == Accepted()


def test_a_missing_file_is_found_at_start(tmp_path: Path) -> None:
    tls = GrpcTlsConfig(ca_file=str(tmp_path / "none.pem"))
    with pytest.raises(OSError, match=r"none\.pem"):
        GrpcTransport(evolve(destination("https://x:1"), tls=tls), METRICS).open()
