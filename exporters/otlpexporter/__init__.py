"""Exporters of OTLP over HTTP (``otlp_http``) and gRPC (``otlp_grpc``)."""

from otlpexporter.factory import GRPC_FACTORY, HTTP_FACTORY

__all__ = ["GRPC_FACTORY", "HTTP_FACTORY"]
