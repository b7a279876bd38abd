"""What the convention says of one metric. Instances are generated from semconv/registry."""

from __future__ import annotations

import sys
from enum import Enum, IntEnum

from attrs import frozen


class Instrument(Enum):
    """How values of a metric add up, in OpenTelemetry's words."""

    GAUGE = "gauge"
    COUNTER = "counter"
    UPDOWNCOUNTER = "updowncounter"


class ValueType(Enum):
    """Type of a metric's values on the wire."""

    INT = "int"
    DOUBLE = "double"


class Profile(IntEnum):
    """How much is read: each profile holds the ones before it."""

    MINIMAL = 0
    STANDARD = 1
    FULL = 2


@frozen(eq=False)
class Metric:
    """One entry of the convention; compared by identity.

    ``minimum`` and ``maximum`` bound plausible values, in ``unit``: a reading outside is dropped.
    """

    name: str
    unit: str
    instrument: Instrument
    value_type: ValueType
    brief: str
    profile: Profile = Profile.STANDARD
    minimum: float = -sys.float_info.max
    maximum: float = sys.float_info.max

    def __repr__(self) -> str:
        return self.name
