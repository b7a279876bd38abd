"""The outcome table over HTTP, against a real server."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import evolve
from tests.delivery.samples import batch
from tests.exporters.otlpexporter import certificates
from tests.fakes.otlp import PROTOBUF, OtlpHttpServer, Reply, partial_success, status

import otelgpu
from otelgpu.config.secret import Secret
from otelgpu.delivery.encoder import MetricsEncoder
from otelgpu.delivery.outcome import (
    Accepted,
    Outcome,
    Permanent,
    Retry,
    TooLarge,
    Unauthorized,
)
from otlpexporter.config import Compression, TlsConfig
from otlpexporter.http import HttpDestination, HttpTransport

PAYLOAD = next(MetricsEncoder("").encode(batch(3))).payload
PROTO = {"Content-Type": PROTOBUF}
JSON = {"Content-Type": "application/json"}


def destination(url: str) -> HttpDestination:
    return HttpDestination(url, {}, Compression.NONE, TlsConfig())


@contextmanager
def transport(to: HttpDestination | str) -> Iterator[HttpTransport]:
    made = HttpTransport(destination(to) if isinstance(to, str) else to)
    made.open()
    try:
        yield made
    finally:
        made.close()


def answered(reply: Reply) -> Outcome:
    with OtlpHttpServer([reply]) as server, transport(server.url + "/v1/metrics") as http:
        result = http.send(PAYLOAD, 10)
        assert len(server.received) == 1
        return result


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(200, PROTO), Accepted()),
        (Reply(204), Accepted()),
        (Reply(200, {"Content-Type": "text/plain"}, b"ok"), Accepted()),
        (Reply(200, PROTO, partial_success(2, "too\nold")), Accepted(2, "too old")),
        (Reply(200, PROTO, partial_success(0, "a hint")), Accepted(0, "a hint")),
        (Reply(200, PROTO, partial_success(-1, "")), Accepted()),
        (
            Reply(200, JSON, json.dumps({"partialSuccess": {"rejectedDataPoints": "2"}}).encode()),
            Accepted(2),
        ),
        (Reply(200, JSON, b"{}"), Accepted()),
        (Reply(200, PROTO, b"\xff\xff"), Accepted(0, "an answer that is no OTLP: \ufffd\ufffd")),
        (Reply(400, {}, b"out of order\r\n"), Permanent("400", "HTTP 400: out of order")),
        (Reply(400, PROTO, status("bad")), Permanent("400", "HTTP 400: bad")),
        (Reply(400, JSON, b'{"code":3,"message":"bad"}'), Permanent("400", "HTTP 400: bad")),
        (Reply(404), Permanent("404", "HTTP 404")),
        (Reply(409), Permanent("409", "HTTP 409")),
        (Reply(500, {}, b"invalid temporality"), Permanent("500", "HTTP 500: invalid temporality")),
        (Reply(401), Unauthorized("401", "HTTP 401")),
        (Reply(403, {}, b"token expired"), Unauthorized("403", "HTTP 403: token expired")),
        (Reply(413), TooLarge("413", "HTTP 413")),
        (
            Reply(400, {}, b"http: request body too large"),
            TooLarge("400", "HTTP 400: http: request body too large"),
        ),
        (Reply(429, {"Retry-After": "7"}), Retry("429", "HTTP 429", 7.0)),
        (Reply(503, {"Retry-After": "soon"}), Retry("503", "HTTP 503")),
        (Reply(503, PROTO, status("full", 2.5)), Retry("503", "HTTP 503: full", 2.5)),
        (Reply(502, {}, b"<html>bad\tgateway"), Retry("502", "HTTP 502: <html>bad gateway")),
        (Reply(504), Retry("504", "HTTP 504")),
    ],
)
def test_each_answer_has_its_outcome(reply: Reply, expected: Outcome) -> None:
    assert answered(reply) == expected


def test_a_redirect_is_not_followed_and_names_its_target() -> None:
    result = answered(Reply(307, {"Location": "https://elsewhere/v1/metrics"}))
    assert isinstance(result, Permanent)
    assert "https://elsewhere/v1/metrics" in result.words


def test_a_web_page_is_no_acknowledgement() -> None:
    result = answered(Reply(200, {"Content-Type": "text/html; charset=utf-8"}, b"<html>Log in"))
    assert isinstance(result, Permanent)
    assert result.reason == "not_otlp"


def test_a_date_says_when_to_come_again() -> None:
    then = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 100))
    result = answered(Reply(503, {"Retry-After": then}))
    assert isinstance(result, Retry)
    assert result.after == pytest.approx(100, abs=30)
    past = answered(Reply(503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}))
    assert past == Retry("503", "HTTP 503", 0.0)


def test_long_answers_are_cut() -> None:
    result = answered(Reply(400, {}, b"x" * 1_000_000))
    assert isinstance(result, Permanent)
    assert len(result.words) < 400


def test_what_is_sent() -> None:
    with OtlpHttpServer() as server:
        to = HttpDestination(
            server.url + "/in?tenant=a",
            {"X-Api-Key": Secret("s3cret")},
            Compression.GZIP,
            TlsConfig(),
        )
        with transport(to) as http:
            import gzip  # noqa: PLC0415  shadows nothing here

            assert http.gzip
            http.send(gzip.compress(PAYLOAD), 10)
        (received,) = server.received
    assert received.path == "/in?tenant=a"
    assert received.body == PAYLOAD
    assert received.headers["x-api-key"] == "s3cret"
    assert received.headers["content-type"] == PROTOBUF
    assert received.headers["content-encoding"] == "gzip"
    assert received.headers["user-agent"] == f"otelgpu/{otelgpu.__version__}"


def test_one_connection_serves_many_requests() -> None:
    with OtlpHttpServer() as server, transport(server.url) as http:
        assert all(http.send(PAYLOAD, 10) == Accepted() for _ in range(5))
        assert server.connections == 1


@pytest.mark.parametrize(
    "reply", [Reply(200, {"Connection": "close"}), Reply(400, {}, b"x" * 1_000_000)]
)
def test_a_connection_that_cannot_be_kept_is_replaced(reply: Reply) -> None:
    with OtlpHttpServer([reply]) as server, transport(server.url) as http:
        http.send(PAYLOAD, 10)
        assert http.send(PAYLOAD, 10) == Accepted()
        assert server.connections == 2


def test_a_connection_that_the_server_has_closed_meanwhile_is_no_failure() -> None:
    with OtlpHttpServer() as server, transport(server.url) as http:
        for _ in range(3):
            assert http.send(PAYLOAD, 10) == Accepted()
            server.stop()
            server.start()
        assert len(server.accepted) == 9


def test_a_server_that_hangs_up_without_a_word_is_tried_once_more_later() -> None:
    with OtlpHttpServer([Reply(hang_up=True)]) as server, transport(server.url) as http:
        result = http.send(PAYLOAD, 10)
        assert isinstance(result, Retry)
        assert not result.answered
        assert http.send(PAYLOAD, 10) == Accepted()


@pytest.mark.parametrize("reply", [Reply(hang=True), Reply(drip=0.15), Reply(delay=30)])
def test_there_is_one_deadline_for_the_whole(reply: Reply) -> None:
    with OtlpHttpServer([reply]) as server, transport(server.url) as http:
        begun = time.monotonic()
        result = http.send(PAYLOAD, 0.5)
        assert result == Retry("timeout", "no answer within 0.5 s", answered=False)
        assert 0.4 < time.monotonic() - begun < 5
        assert http.send(PAYLOAD, 10) == Accepted()


def test_a_slow_server_is_waited_for() -> None:
    with OtlpHttpServer([Reply(delay=0.3)]) as server, transport(server.url) as http:
        assert http.send(PAYLOAD, 10) == Accepted()


def test_nobody_listens() -> None:
    with OtlpHttpServer() as server:
        url = server.url
    with transport(url) as http:
        result = http.send(PAYLOAD, 10)
    assert result == Retry("unreachable", "Connection refused", answered=False)


def test_a_name_that_is_not_known() -> None:
    with transport("http://otlp.invalid:4318") as http:
        result = http.send(PAYLOAD, 30)
    assert isinstance(result, Retry)
    assert result.reason in {"unreachable", "timeout"}


def test_what_listens_speaks_no_http() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def talk() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1)
                connection.sendall(b"SSH-2.0-OpenSSH\r\n")

        talker = threading.Thread(target=talk)
        talker.start()
        with transport(f"http://127.0.0.1:{listener.getsockname()[1]}") as http:
            result = http.send(PAYLOAD, 10)
        talker.join()
    assert isinstance(result, Retry)
    assert result.reason == "unreachable"


def test_close_breaks_off_an_attempt_and_nothing_is_sent_after_it() -> None:
    with OtlpHttpServer([Reply(hang=True)]) as server, transport(server.url) as http:
        results: list[Outcome] = []
        sender = threading.Thread(target=lambda: results.append(http.send(PAYLOAD, 60)))
        sender.start()
        server.wait_for(lambda: bool(server.received))
        http.close()
        sender.join(10)
        assert not sender.is_alive()
        results.append(http.send(PAYLOAD, 10))
        assert all(isinstance(result, Retry) for result in results)
        assert len(server.received) == 1


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> certificates.Certificates:
    return certificates.make(tmp_path_factory.mktemp("certificates"))


def test_tls(certs: certificates.Certificates) -> None:
    with OtlpHttpServer(tls=certs.http()) as server:
        trusting = evolve(destination(server.url), tls=TlsConfig(ca_file=certs.ca))
        with transport(trusting) as http:
            assert http.send(PAYLOAD, 10) == Accepted()
            assert http.send(PAYLOAD, 10) == Accepted()
            assert server.connections == 1
        named = evolve(trusting, tls=TlsConfig(ca_file=certs.ca, server_name_override="otlp.test"))
        with transport(named) as http:
            assert http.send(PAYLOAD, 10) == Accepted()
        blind = evolve(trusting, tls=TlsConfig(insecure_skip_verify=True))
        with transport(blind) as http:
            assert http.send(PAYLOAD, 10) == Accepted()


def test_a_certificate_that_is_not_accepted_is_called_so(certs: certificates.Certificates) -> None:
    with OtlpHttpServer(tls=certs.http()) as server:
        with transport(server.url) as http:
            result = http.send(PAYLOAD, 10)
        assert isinstance(result, Retry)
        assert result.reason == "tls"
        assert "certificate is not accepted" in result.words
        assert "tls.ca_file" in result.words
        tls = TlsConfig(ca_file=certs.ca, server_name_override="other.test")
        with transport(evolve(destination(server.url), tls=tls)) as http:
            result = http.send(PAYLOAD, 10)
        assert isinstance(result, Retry)
        assert "other.test" in result.words
        assert not server.received


def test_mutual_tls(certs: certificates.Certificates) -> None:
    with OtlpHttpServer(tls=certs.http(mutual=True)) as server:
        without = evolve(destination(server.url), tls=TlsConfig(ca_file=certs.ca))
        with transport(without) as http:
            refused = http.send(PAYLOAD, 10)
        assert isinstance(refused, Retry)
        tls = TlsConfig(certs.ca, *certs.client)
        with transport(evolve(without, tls=tls)) as http:
            assert http.send(PAYLOAD, 10) == Accepted()


def test_a_port_without_tls(certs: certificates.Certificates) -> None:
    with OtlpHttpServer() as server, transport(server.url.replace("http:", "https:")) as http:
        result = http.send(PAYLOAD, 10)
    assert isinstance(result, Retry)
    assert result.reason in {"tls", "unreachable"}


def test_a_missing_file_is_found_at_start(tmp_path: Path) -> None:
    to = evolve(destination("https://x"), tls=TlsConfig(ca_file=str(tmp_path / "none.pem")))
    with pytest.raises(OSError, match="No such file"):
        HttpTransport(to).open()
