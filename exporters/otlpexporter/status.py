"""What an HTTP answer means for the request: the table of the OTLP specification, and beyond it.

https://opentelemetry.io/docs/specs/otlp/#otlphttp-response says which may be sent again.
"""

from __future__ import annotations

import email.utils
import json
from datetime import UTC, datetime
from email.message import Message

from attrs import frozen

from otelgpu.delivery.outcome import (
    Accepted,
    Outcome,
    Permanent,
    Retry,
    TooLarge,
    Unauthorized,
)
from otelgpu.delivery.wire import WireError
from otlpexporter.answer import partial_success, status, words

LONGEST_BODY = 64 * 1024
"""Bytes of an answer that are read."""

_RETRYABLE = frozenset({429, 502, 503, 504})
_CREDENTIALS = frozenset({401, 403})
_TOO_LARGE = 413
_DIGITS = 12
"""Of a number of seconds that are read; more is for ever all the same."""
# Go's http.MaxBytesReader, as in the Collector's receiver, says so under 400.
_BODY_TOO_LARGE = "request body too large"


@frozen
class Answer:
    """One HTTP answer."""

    status: int
    headers: Message
    body: bytes


def outcome(answer: Answer, now: datetime | None = None) -> Outcome:
    """Return what became of the request; ``now`` is for a ``Retry-After`` that is a date."""
    code, kind = answer.status, answer.headers.get_content_type()
    if 200 <= code < 300:  # noqa: PLR2004
        return _good(answer, kind)
    said, after = _said(answer, kind)
    reason, text = str(code), f"HTTP {code}{f': {said}' if said else ''}"
    if 300 <= code < 400:  # noqa: PLR2004
        target = words(answer.headers.get("Location", "nowhere"))
        return Permanent(reason, f"HTTP {code} redirects to {target}; set the endpoint to it")
    if code in _RETRYABLE:
        asked = _retry_after(answer.headers.get("Retry-After"), now or datetime.now(UTC))
        return Retry(reason, text, after if asked is None else asked)
    if code in _CREDENTIALS:
        return Unauthorized(reason, text)
    if code == _TOO_LARGE or _BODY_TOO_LARGE in said:
        return TooLarge(reason, text)
    return Permanent(reason, text)


def _good(answer: Answer, kind: str) -> Outcome:
    if not answer.body:
        return Accepted()
    if kind == "text/html":
        # A portal or a wrong path that answers everything with a page has not taken the data.
        page = "the answer is a web page, not OTLP; is the endpoint right?"
        return Permanent("not_otlp", f"HTTP {answer.status}: {page}")
    try:
        if kind == "application/json":
            return _partial_success_json(answer.body)
        if kind == "application/x-protobuf":
            return partial_success(answer.body)
    except (WireError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return Accepted(0, f"an answer that is no OTLP: {words(answer.body)}")
    return Accepted()


def _partial_success_json(body: bytes) -> Accepted:
    partial = json.loads(body).get("partialSuccess") or {}
    rejected = partial.get("rejectedDataPoints", partial.get("rejectedLogRecords", 0))
    return Accepted(max(int(rejected), 0), words(str(partial.get("errorMessage", ""))))


def _said(answer: Answer, kind: str) -> tuple[str, float | None]:
    """Return a failed request's words, and the seconds that ``RetryInfo`` in it asks for."""
    if kind == "application/x-protobuf":
        try:
            return status(answer.body)
        except WireError:
            return "", None
    if kind == "application/json":
        try:
            message = json.loads(answer.body).get("message")
        except (ValueError, AttributeError, RecursionError):
            message = None
        if isinstance(message, str):
            return words(message), None
    return words(answer.body), None


def _retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds of a ``Retry-After``: a number, or a date."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:_DIGITS])
    try:
        then = email.utils.parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max((then - now).total_seconds(), 0.0)
