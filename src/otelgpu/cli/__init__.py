"""The command ``otelgpu``: the only place that reads the environment and ends the process."""

from otelgpu.cli.main import main

__all__ = ["main"]
