"""Reads NVIDIA GPUs through NVML, the driver's management library."""

from nvmlreceiver.factory import FACTORY

__all__ = ["FACTORY"]
