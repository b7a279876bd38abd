"""Connecting: one deadline for all addresses, and an end to it when the exporter is closed."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.delivery.samples import batch
from tests.exporters.otlpexporter.raw_server import RawServer, black_hole, in_thread
from tests.fakes.otlp import OtlpHttpServer

from otelgpu.delivery.encoder import MetricsEncoder
from otelgpu.delivery.outcome import Accepted, Outcome, Retry
from otlpexporter.config import Compression, TlsConfig
from otlpexporter.connect import connect
from otlpexporter.http import HttpDestination, HttpTransport

PAYLOAD = next(MetricsEncoder("").encode(batch(3))).payload
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")


@contextmanager
def http(url: str) -> Iterator[HttpTransport]:
    made = HttpTransport(HttpDestination(url, {}, Compression.NONE, TlsConfig()))
    try:
        yield made
    finally:
        made.close()


@needs_ipv6
def test_an_ipv6_address() -> None:
    with (
        RawServer([OK], family=socket.AF_INET6) as server,
        http(f"http://[::1]:{server.port}") as sender,
    ):
        assert sender.send(PAYLOAD, 10) == Accepted()
    assert f"Host: [::1]:{server.port}".encode() in server.heads[0]


@needs_ipv6
@pytest.mark.parametrize(("scheme", "port"), [("http", 80), ("https", 443)])
def test_an_ipv6_address_without_a_port(scheme: str, port: int) -> None:
    with contextlib.suppress(ConnectionRefusedError):
        socket.create_connection(("::1", port), 5).close()
        pytest.skip(f"something listens on port {port}")
    with http(f"{scheme}://[::1]/v1/metrics") as sender:
        result = sender.send(PAYLOAD, 10)
    # Whoever takes the last colon for that of a port looks a name up that does not exist.
    assert result == Retry("unreachable", "Connection refused", answered=False)


def test_a_port_that_never_answers_meets_the_deadline() -> None:
    with black_hole() as port, http(f"http://127.0.0.1:{port}") as sender:
        begun = time.monotonic()
        result = sender.send(PAYLOAD, 0.5)
        assert result == Retry("timeout", "no answer within 0.5 s", answered=False)
        assert 0.4 < time.monotonic() - begun < 5


@pytest.fixture
def two_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the name have two addresses, as the resolver of another machine would say."""
    real = socket.getaddrinfo

    def look_up(host: str, port: int, **options: int) -> list[tuple[object, ...]]:
        addresses = ["127.0.0.2", "127.0.0.1"] if host == "two.test" else [host]
        return [found for one in addresses for found in real(one, port, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.mark.usefixtures("two_addresses")
def test_an_address_that_never_answers_leaves_the_next_one_its_time() -> None:
    with (
        OtlpHttpServer() as server,
        black_hole("127.0.0.2", server.port),
        http(f"http://two.test:{server.port}") as sender,
    ):
        assert sender.send(PAYLOAD, 2) == Accepted()


@pytest.mark.usefixtures("two_addresses")
def test_all_addresses_share_one_deadline() -> None:
    with (
        black_hole() as port,
        black_hole("127.0.0.2", port),
        http(f"http://two.test:{port}") as sender,
    ):
        begun = time.monotonic()
        result = sender.send(PAYLOAD, 1)
        took = time.monotonic() - begun
    assert isinstance(result, Retry)
    assert result.reason == "timeout"
    assert 0.9 < took < 1.8


def test_close_breaks_off_connecting() -> None:
    results: list[Outcome] = []
    with black_hole() as port, http(f"http://127.0.0.1:{port}") as sender:
        thread = in_thread(lambda: results.append(sender.send(PAYLOAD, 60)))
        deadline = time.monotonic() + 10
        while sender._socket is None:  # there is no other sign of it
            assert time.monotonic() < deadline
            time.sleep(0.01)
        begun = time.monotonic()
        sender.close()
        thread.join(10)
        assert not thread.is_alive()
        assert time.monotonic() - begun < 5
    (result,) = results
    assert isinstance(result, Retry)
    assert not result.answered


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".example"])
def test_a_name_that_cannot_be_one_is_unreachable(host: str) -> None:
    with pytest.raises(OSError, match="cannot be the name of a host"):
        connect(host, 80, time.monotonic() + 10, lambda _: None)
    with http(f"http://{host}:4318") as sender:
        result = sender.send(PAYLOAD, 10)
    assert isinstance(result, Retry)
    assert result.reason == "unreachable"
