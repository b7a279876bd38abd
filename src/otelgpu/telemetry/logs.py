"""The agent's own log: one line of text or one JSON object a record, on stderr."""

from __future__ import annotations

import json
import logging
import time
from typing import TextIO

_LEVELS = {"debug": 10, "info": 20, "warn": 30, "error": 40}


def configure(stream: TextIO, level: str, encoding: str) -> None:
    """Send the records of all loggers from ``level`` on (debug, info, warn, error) to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if encoding == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(_LEVELS[level])


def _when(record: logging.LogRecord) -> str:
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{seconds}.{int(record.msecs):03d}Z"


class TextFormatter(logging.Formatter):
    """Time in UTC, level, component, message."""

    def format(self, record: logging.LogRecord) -> str:
        name = record.name.removeprefix("otelgpu.")
        text = f"{_when(record)} {record.levelname.lower():7} {name}: {record.getMessage()}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


class JsonFormatter(logging.Formatter):
    """One object with time, level, logger and message."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": _when(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry)
