"""Whole exporters against real servers, with real time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from tests.delivery.harness import LOGGER
from tests.delivery.samples import batch, event_batch
from tests.fakes.otlp import (
    PROTOBUF,
    GrpcReply,
    OtlpGrpcServer,
    OtlpHttpServer,
    Received,
    Reply,
    partial_success,
    points,
)

from otelgpu.component import Settings
from otelgpu.config.secret import Secret
from otelgpu.delivery.retry import RetryConfig
from otelgpu.delivery.worker import Worker
from otelgpu.points.stream import Streams
from otelgpu.telemetry.component import ComponentTelemetry
from otlpexporter import GRPC_FACTORY, HTTP_FACTORY
from otlpexporter.config import (
    Compression,
    GrpcTlsConfig,
    HttpSignalConfig,
    OtlpGrpcConfig,
    OtlpHttpConfig,
)
from otlpexporter.factory import create_grpc, create_http

Server = OtlpHttpServer | OtlpGrpcServer
QUICK = RetryConfig(
    initial_interval=timedelta(milliseconds=20), max_interval=timedelta(milliseconds=50)
)


class SystemClock:
    def time_ns(self) -> int:
        return time.time_ns()

    def monotonic(self) -> float:
        return time.monotonic()


def settings() -> Settings:
    streams = Streams()
    telemetry = ComponentTelemetry({}, streams)
    return Settings("otlp", LOGGER, streams, telemetry, SystemClock())


def exporter(server: Server, **config: Any) -> Worker:
    config = {"retry_on_failure": QUICK, "timeout": timedelta(seconds=1), **config}
    if isinstance(server, OtlpHttpServer):
        return create_http(settings(), OtlpHttpConfig(endpoint=server.url, **config))
    tls = GrpcTlsConfig(insecure=True)
    return create_grpc(settings(), OtlpGrpcConfig(endpoint=server.endpoint, tls=tls, **config))


@pytest.fixture(params=[OtlpHttpServer, OtlpGrpcServer])
def server(request: pytest.FixtureRequest) -> Any:
    made = request.param().start()
    yield made
    made.stop()


def until(condition: Callable[[], bool], deadline: float = 20) -> None:
    end = time.monotonic() + deadline
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def test_points_and_events_arrive(server: Server) -> None:
    worker = exporter(server)
    worker.start()
    worker.consume(batch(5, ended=1))
    worker.consume_events(event_batch(2))
    worker.shutdown(10)
    assert sorted(len(points(r.request)) for r in server.received) == [2, 6]
    assert worker._points.ledger.totals.sent == 6
    assert worker._events.ledger.totals.sent == 2


def test_all_arrives_once_and_in_order_after_the_server_was_gone(server: Server) -> None:
    worker = exporter(server)
    worker.start()
    worker.consume(batch(3))
    server.wait_for(lambda: len(server.accepted) == 3)
    server.stop()
    for _ in range(20):
        worker.consume(batch(3))
    until(lambda: worker._telemetry.condition.state == "exporter.unreachable")
    assert worker._points.ledger.totals.queued == 60
    server.start()
    server.wait_for(lambda: len(server.accepted) == 63, 30)
    until(lambda: worker._points.ledger.totals.sent == 63)
    worker.shutdown(10)
    times = [point.time_unix_nano for point in server.accepted]
    assert times == sorted(times)
    totals = worker._points.ledger.totals
    assert (totals.accepted, totals.sent, totals.missing) == (63, 63, 0)


def test_a_server_that_fails_now_and_then_loses_nothing() -> None:
    script = [
        Reply(503, {"Retry-After": "0"}),
        Reply(),
        Reply(429),
        Reply(hang_up=True),
        Reply(),
        Reply(502),
        Reply(401),
        Reply(delay=0.2),
    ]
    quick = RetryConfig(
        initial_interval=timedelta(milliseconds=10), max_interval=timedelta(milliseconds=20)
    )
    with OtlpHttpServer(script) as server:
        worker = exporter(server, retry_on_failure=quick)
        worker.start()
        for _ in range(10):
            worker.consume(batch(2))
        server.wait_for(lambda: len(server.accepted) == 20, 30)
        worker.shutdown(10)
        totals = worker._points.ledger.totals
        assert (totals.sent, totals.missing) == (20, 0)
        times = [point.time_unix_nano for point in server.accepted]
        assert times == sorted(times)


def test_requests_are_halved_until_the_server_takes_them() -> None:
    def answer(received: Received) -> Reply:
        return Reply(413 if len(points(received.request)) > 10 else 200)

    with OtlpHttpServer(answer=answer) as server:
        worker = exporter(server)
        worker.start()
        worker.consume(batch(64))
        worker.shutdown(10)
        assert sorted(p.as_double for p in server.accepted) == [float(n) for n in range(64)]
        assert worker._points.ledger.totals.sent == 64


def test_messages_past_grpcs_limit_are_halved() -> None:
    with OtlpGrpcServer(max_message=2000) as server:
        worker = exporter(server)
        worker.start()
        worker.consume(batch(100))
        server.wait_for(lambda: len(server.accepted) == 100)
        worker.shutdown(10)
        assert sorted(p.as_double for p in server.accepted) == [float(n) for n in range(100)]


def test_refused_points_are_counted_not_repeated() -> None:
    body = partial_success(2, "too old")
    http = Reply(200, {"Content-Type": PROTOBUF}, body)
    for server in (OtlpHttpServer([http]), OtlpGrpcServer([GrpcReply(body=body)])):
        with server:
            worker = exporter(server)
            worker.start()
            worker.consume(batch(5))
            worker.shutdown(10)
            totals = worker._points.ledger.totals
            assert (totals.sent, totals.rejected) == (3, {"partial_success": 2})
            assert len(server.received) == 1


def test_a_server_that_never_answers_holds_up_neither_the_scrape_nor_the_exit() -> None:
    script = [Reply(hang=True)] * 20
    with OtlpHttpServer(script) as server:
        worker = exporter(server, timeout=timedelta(seconds=30))
        worker.start()
        worker.consume(batch(1))
        server.wait_for(lambda: bool(server.received))
        begun = time.monotonic()
        for _ in range(50):
            worker.consume(batch(10))
        assert time.monotonic() - begun < 5
        worker.shutdown(0.5)
        assert time.monotonic() - begun < 10
        thread = worker._thread
        assert thread is not None
        thread.join(10)
        assert not thread.is_alive()
    totals = worker._points.ledger.totals
    assert (totals.dropped, totals.queued, totals.missing) == ({"shutdown": 501}, 0, 0)


def test_signals_have_their_own_endpoints_and_headers() -> None:
    own = HttpSignalConfig(headers={"token": Secret("events")}, compression=Compression.NONE)
    with OtlpHttpServer() as here, OtlpHttpServer() as there:
        worker = exporter(here, logs_endpoint=f"{there.url}/custom/logs", logs=own)
        worker.start()
        worker.consume(batch(1))
        worker.consume_events(event_batch(1))
        worker.shutdown(10)
    assert [r.path for r in here.received] == ["/v1/metrics"]
    (events,) = there.received
    assert (events.path, events.headers["token"]) == ("/custom/logs", "events")
    assert "content-encoding" not in events.headers
    assert here.received[0].headers["content-encoding"] == "gzip"
    assert "token" not in here.received[0].headers


def test_accounts_are_told_as_metrics(server: Server) -> None:
    given = settings()
    endpoint = server.url if isinstance(server, OtlpHttpServer) else f"http://{server.endpoint}"
    factory: Any = HTTP_FACTORY if isinstance(server, OtlpHttpServer) else GRPC_FACTORY
    worker = factory.create(given, factory.config(endpoint=endpoint))

    def told() -> dict[tuple[str, Any], float]:
        return {
            (stream.metric.name, stream.attributes.get("otelgpu.outcome")): value
            for stream, value in given.telemetry.collect()
        }

    worker.consume(batch(4))
    before = told()
    assert before["otelgpu.exporter.accepted", None] == 4
    assert before["otelgpu.exporter.queue.size", None] == 4
    assert before["otelgpu.exporter.queue.capacity", None] == 1_000_000
    assert before["otelgpu.exporter.queue.age", None] >= 0
    assert before["otelgpu.exporter.points", "sent"] == 0
    assert ("otelgpu.exporter.events", "sent") not in before
    worker.start()
    worker.consume_events(event_batch(3))
    worker.shutdown(10)
    after = told()
    assert after["otelgpu.exporter.points", "sent"] == 4
    assert after["otelgpu.exporter.queue.size", None] == 0
    assert after["otelgpu.exporter.event.accepted", None] == 3
    assert after["otelgpu.exporter.events", "sent"] == 3
    assert ("otelgpu.exporter.queue.age", None) not in after, "absent where nothing waits"


_SENDS_OVER_HTTP = """
import logging, sys, time
from otelgpu.component import Settings
from otelgpu.points.batch import Batch
from otelgpu.points.resource import Resource
from otelgpu.points.stream import Stream, Streams
from otelgpu.semconv import metrics
from otelgpu.telemetry.component import ComponentTelemetry
from otlpexporter import HTTP_FACTORY

streams = Streams()
settings = Settings(
    "otlp_http", logging.getLogger(), streams, ComponentTelemetry({}, streams), time
)
worker = HTTP_FACTORY.create(settings, HTTP_FACTORY.config(endpoint=sys.argv[1]))
worker.start()
stream = Stream(metrics.OTELGPU_EXPORTER_QUEUE_AGE, {})
worker.consume(Batch("s", time.time_ns(), Resource({}), [(stream, 1.0, 0)]))
worker.shutdown(20)
heavy = ("grpc", "google.protobuf", "requests", "urllib3", "opentelemetry", "asyncio")
print([name for name in heavy if name in sys.modules])
"""


def test_sending_over_http_loads_neither_grpc_nor_protobuf_nor_the_sdk() -> None:
    with OtlpHttpServer() as server:
        done = subprocess.run(
            [sys.executable, "-c", _SENDS_OVER_HTTP, server.url],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert len(server.accepted) == 1
    assert done.stdout.strip() == "[]"
