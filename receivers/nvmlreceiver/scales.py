"""From NVML's units to SI. Divisions, since 1/1000 times a whole number is no round number."""

from __future__ import annotations

MEGA = 1_000_000


def milli(value: float) -> float:
    """Return units for thousandths of them: mW, mJ."""
    return value / 1000


def nano(value: float) -> float:
    """Return seconds for nanoseconds."""
    return value / 1_000_000_000


def percent(value: float) -> float:
    """Return a ratio for percent."""
    return value / 100


def mega(value: int) -> int:
    """Return Hz for MHz."""
    return value * MEGA


def same(value: float) -> float:
    """Return what is in the metric's unit already."""
    return value
