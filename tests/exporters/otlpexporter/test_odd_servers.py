"""Servers that answer oddly, or close what is kept: the data is never lost for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.delivery.samples import batch
from tests.exporters.otlpexporter import certificates
from tests.exporters.otlpexporter.raw_server import Ending, RawServer

from otelgpu.config.secret import Secret
from otelgpu.delivery.encoder import MetricsEncoder
from otelgpu.delivery.outcome import Accepted, Retry
from otlpexporter.config import Compression, TlsConfig
from otlpexporter.http import HttpDestination, HttpTransport

PAYLOAD = next(MetricsEncoder("").encode(batch(3))).payload
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@contextmanager
def http(
    url: str, tls: TlsConfig | None = None, headers: dict[str, Secret] | None = None
) -> Iterator[HttpTransport]:
    to = HttpDestination(url, headers or {}, Compression.NONE, tls or TlsConfig())
    made = HttpTransport(to)
    made.open()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> certificates.Certificates:
    return certificates.make(tmp_path_factory.mktemp("certificates"))


@pytest.mark.parametrize("ending", Ending)
@pytest.mark.parametrize("size", [10, 3_000_000])
def test_a_kept_tls_connection_that_the_server_has_closed(
    certs: certificates.Certificates, ending: Ending, size: int
) -> None:
    with (
        RawServer([OK], [OK], [OK], tls=certs.http(), ending=ending) as server,
        http(f"https://127.0.0.1:{server.port}", TlsConfig(ca_file=certs.ca)) as sender,
    ):
        for closed in range(1, 4):
            assert sender.send(b"x" * size, 10) == Accepted()
            server.wait_closed(closed)
        assert len(server.heads) == 3


@pytest.mark.parametrize("status", [b"102 Processing", b"103 Early Hints"])
def test_answers_that_are_not_the_last(status: bytes) -> None:
    early = b"HTTP/1.1 " + status + b"\r\nLink: </x>\r\n\r\n"
    with (
        RawServer([early + early + OK, OK]) as server,
        http(f"http://127.0.0.1:{server.port}") as sender,
    ):
        assert sender.send(PAYLOAD, 10) == Accepted()
        assert sender.send(PAYLOAD, 10) == Accepted()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 503 Busy\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n"
        + b"[" * 60000,
        b"\r\n".join(
            (
                b"HTTP/1.1 503 Busy",
                b"Content-Length: 0",
                b"Retry-After: Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
                b"",
                b"",
            )
        ),
        b"HTTP/1.1 503 Busy\r\nRetry-After: " + b"9" * 400 + b"\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nx",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
        b"no HTTP at all\r\n\r\n",
    ],
)
def test_an_answer_that_is_nonsense_keeps_the_data(answer: bytes) -> None:
    with (
        RawServer([answer], [OK]) as server,
        http(f"http://127.0.0.1:{server.port}") as sender,
    ):
        assert isinstance(sender.send(PAYLOAD, 10), Retry)
        server.wait_closed(1)
        assert sender.send(PAYLOAD, 10) == Accepted()


@pytest.mark.parametrize(
    "body", [b'{"partialSuccess":{"rejectedDataPoints":1e999}}', b"[" * 60000], ids=["inf", "deep"]
)
def test_a_good_answer_with_a_nonsensical_body(body: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    answer = head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    with RawServer([answer]) as server, http(f"http://127.0.0.1:{server.port}") as sender:
        result = sender.send(PAYLOAD, 10)
    assert isinstance(result, Accepted)
    assert result.rejected == 0
    assert "no OTLP" in result.words


def test_a_header_is_sent_once_whatever_its_case() -> None:
    headers = {"USER-AGENT": Secret("mine"), "Api-Key": Secret("k")}
    with (
        RawServer([OK]) as server,
        http(f"http://127.0.0.1:{server.port}", headers=headers) as sender,
    ):
        assert sender.send(PAYLOAD, 10) == Accepted()
    names = [line.split(b":")[0].lower() for line in server.heads[0].split(b"\r\n")[1:]]
    assert len(names) == len(set(names))
    assert b"user-agent: mine" in server.heads[0]


def test_a_file_that_has_gone_is_named(tmp_path: Path, certs: certificates.Certificates) -> None:
    file = tmp_path / "ca.pem"
    file.write_bytes(Path(certs.ca).read_bytes())
    with http("https://127.0.0.1:9", TlsConfig(ca_file=str(file))) as sender:
        file.unlink()
        result = sender.send(PAYLOAD, 10)
    assert result == Retry("tls", f"{file}: No such file or directory", answered=False)


def test_a_key_that_is_not_the_certificates(certs: certificates.Certificates) -> None:
    tls = TlsConfig(certs.ca, certs.client[0], str(certs.folder / "server.key"))
    to = HttpDestination("https://127.0.0.1:9", {}, Compression.NONE, tls)
    sender = HttpTransport(to)
    with pytest.raises(OSError, match="do not belong together"):
        sender.open()
    result = sender.send(PAYLOAD, 10)
    assert isinstance(result, Retry)
    assert result.words.endswith("tls.cert_file and tls.key_file do not belong together")


def test_a_file_without_certificates_is_found_at_start(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("no certificate", encoding="utf-8")
    to = HttpDestination("https://x", {}, Compression.NONE, TlsConfig(ca_file=str(file)))
    with pytest.raises(OSError, match="no certificates in PEM format") as caught:
        HttpTransport(to).open()
    assert caught.value.filename == str(file)


def test_a_server_writes_no_lines_of_our_log() -> None:
    with (
        RawServer([b"SSH-2.0-OpenSSH\r\nforged\r\n\r\n"]) as server,
        http(f"http://127.0.0.1:{server.port}") as sender,
    ):
        result = sender.send(PAYLOAD, 10)
    assert isinstance(result, Retry)
    assert "SSH-2.0" in result.words
    assert result.words.isprintable()
