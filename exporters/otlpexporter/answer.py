"""Reading what OTLP servers answer, without protobuf."""

from __future__ import annotations

from otelgpu.delivery.outcome import Accepted
from otelgpu.delivery.wire import WireError, fields, text

_LONGEST_WORDS = 300
_RETRY_INFO = "google.rpc.RetryInfo"
_SIGN_BIT = 1 << 63
_NANOS = 1_000_000_000


def words(answer: str | bytes) -> str:
    """Return a server's words for a log: one line, printable, of bounded length."""
    if isinstance(answer, bytes):
        answer = answer.decode("utf-8", "replace")
    line = " ".join("".join(c if c.isprintable() else " " for c in answer).split())
    return line if len(line) <= _LONGEST_WORDS else line[: _LONGEST_WORDS - 3] + "..."


def partial_success(body: bytes) -> Accepted:
    """Read ``Export{Metrics,Logs}ServiceResponse``: both have the same fields.

    Raises:
        WireError: It is no such message.
    """
    rejected, said = 0, ""
    for number, _, value, _ in fields(body):
        if number == 1 and isinstance(value, bytes):
            for inner, _, content, _ in fields(value):
                if inner == 1 and isinstance(content, int):
                    rejected = content if content < _SIGN_BIT else 0
                elif inner == 2:  # noqa: PLR2004  error_message
                    said = words(text(content))
    return Accepted(rejected, said)


def status(body: bytes) -> tuple[str, float | None]:
    """Read ``google.rpc.Status``: its message, and the seconds of a ``RetryInfo`` in its details.

    Raises:
        WireError: It is no such message.
    """
    message, after = "", None
    for number, _, value, _ in fields(body):
        if number == 2:  # noqa: PLR2004  message
            message = words(text(value))
        elif number == 3 and isinstance(value, bytes):  # noqa: PLR2004  details
            parts = {inner: content for inner, _, content, _ in fields(value)}
            if text(parts.get(1, b"")).endswith(_RETRY_INFO):
                after = _retry_delay(parts.get(2, b""))
    return message, after


def _retry_delay(info: int | bytes) -> float | None:
    """Return the seconds of ``RetryInfo.retry_delay``; None where it has none."""
    if not isinstance(info, bytes):
        raise WireError("RetryInfo is no message")
    for number, _, duration, _ in fields(info):
        if number == 1 and isinstance(duration, bytes):
            parts = {inner: content for inner, _, content, _ in fields(duration)}
            seconds, nanos = parts.get(1, 0), parts.get(2, 0)
            if not isinstance(seconds, int) or not isinstance(nanos, int):
                return None
            if seconds < _SIGN_BIT and nanos < _NANOS:
                return seconds + nanos / 1e9
    return None
