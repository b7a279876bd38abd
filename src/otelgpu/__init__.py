"""An OpenTelemetry collector pipeline for GPUs: receivers, processors, exporters."""

__version__ = "0.1.0"
