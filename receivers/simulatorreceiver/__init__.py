"""Simulated GPUs: every shape of the convention without hardware."""

from simulatorreceiver.factory import FACTORY

__all__ = ["FACTORY"]
