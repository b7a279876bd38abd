"""NVML's error codes in the words that all receivers share."""

from __future__ import annotations

from collections.abc import Mapping

from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError

UNSUPPORTED = "unsupported"
LOST = "lost"
_OTHER = "other"

REASONS: Mapping[int, str] = {
    # pynvml raises an error with this code where a size query has nothing to return.
    0: "no_data",
    1: "uninitialized",
    2: "invalid_argument",
    3: UNSUPPORTED,
    4: "no_permission",
    5: "already_initialized",
    6: "not_found",
    7: "insufficient_size",
    8: "insufficient_power",
    9: "driver_not_loaded",
    10: "timeout",
    11: "irq_issue",
    12: "library_not_found",
    # A function or structure that came with a later driver: this one will never have it.
    13: UNSUPPORTED,
    14: "corrupted_inforom",
    15: LOST,
    16: LOST,
    17: "operating_system",
    18: "version_mismatch",
    19: "in_use",
    20: "memory",
    21: "no_data",
    22: UNSUPPORTED,
    23: "insufficient_resources",
    24: UNSUPPORTED,
    25: UNSUPPORTED,
    26: UNSUPPORTED,
    27: "not_ready",
    28: "no_devices",
    29: "invalid_state",
    30: UNSUPPORTED,
    999: "unknown",
}
"""Reason by value of ``nvmlReturn_t`` (nvml.h)."""

NOT_INITIALIZED = 1
INVALID_ARGUMENT = 2
TIMEOUT = 10
FUNCTION_NOT_FOUND = 13


class MissingError(UnsupportedError):
    """The driver lacks the function, for all devices and for as long as it is loaded."""


def read_error(code: int, words: str) -> ReadError:
    """Return what an NVML error means for a reading; ``words`` are the driver's own."""
    reason = REASONS.get(code, _OTHER)
    if code == FUNCTION_NOT_FOUND:
        return MissingError(words)
    if reason == UNSUPPORTED:
        return UnsupportedError(words)
    if reason == LOST:
        return TargetLostError(words)
    return ReadError(reason, words)
