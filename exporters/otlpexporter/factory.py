"""The factories of ``otlp_http`` and ``otlp_grpc``."""

from __future__ import annotations

from otelgpu.component import ExporterFactory, Settings, Signal, Stability
from otelgpu.delivery.exporter import Destination, queued_exporter
from otelgpu.delivery.worker import Worker
from otlpexporter.config import OtlpGrpcConfig, OtlpHttpConfig, for_signal
from otlpexporter.environment import grpc_defaults, http_defaults
from otlpexporter.grpc import LOGS, METRICS, GrpcDestination, GrpcTransport
from otlpexporter.http import HttpDestination, HttpTransport

_SIGNALS = frozenset({Signal.METRICS, Signal.EVENTS})


def create_http(settings: Settings, config: OtlpHttpConfig) -> Worker:
    """Return an exporter that sends OTLP over HTTP."""
    base = config.endpoint.rstrip("/")
    urls = (
        config.metrics_endpoint or f"{base}/v1/metrics",
        config.logs_endpoint or f"{base}/v1/logs",
    )
    points, events = (
        Destination(
            HttpTransport(
                HttpDestination(
                    url,
                    for_signal(config, signal, "headers"),
                    for_signal(config, signal, "compression"),
                    for_signal(config, signal, "tls"),
                )
            ),
            for_signal(config, signal, "timeout").total_seconds(),
        )
        for url, signal in zip(urls, (config.metrics, config.logs), strict=True)
    )
    return queued_exporter(settings, points, events, config.retry_on_failure, config.sending_queue)


def create_grpc(settings: Settings, config: OtlpGrpcConfig) -> Worker:
    """Return an exporter that sends OTLP over gRPC."""
    lanes = (
        (config.metrics_endpoint, METRICS, config.metrics),
        (config.logs_endpoint, LOGS, config.logs),
    )
    points, events = (
        Destination(
            GrpcTransport(
                GrpcDestination(
                    endpoint or config.endpoint,
                    for_signal(config, signal, "headers"),
                    for_signal(config, signal, "compression"),
                    for_signal(config, signal, "tls"),
                ),
                method,
            ),
            for_signal(config, signal, "timeout").total_seconds(),
        )
        for endpoint, method, signal in lanes
    )
    return queued_exporter(settings, points, events, config.retry_on_failure, config.sending_queue)


HTTP_FACTORY = ExporterFactory(
    type="otlp_http",
    config=OtlpHttpConfig,
    create=create_http,
    stability=Stability.ALPHA,
    signals=_SIGNALS,
    defaults=http_defaults,
)

GRPC_FACTORY = ExporterFactory(
    type="otlp_grpc",
    config=OtlpGrpcConfig,
    create=create_grpc,
    stability=Stability.ALPHA,
    signals=_SIGNALS,
    defaults=grpc_defaults,
)
