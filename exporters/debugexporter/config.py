"""Settings of the debug exporter."""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class Verbosity(Enum):
    """How much is shown of a batch."""

    BASIC = "basic"
    NORMAL = "normal"
    DETAILED = "detailed"


@frozen
class DebugConfig:
    """Settings of the debug exporter."""

    verbosity: Verbosity = Verbosity.BASIC
    """``basic``: one line for each batch with its counts. ``normal``: below it one line for each
    device with the headline values. ``detailed``: below it every point."""
