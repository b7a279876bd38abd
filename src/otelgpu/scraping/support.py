"""What a device gave when it was asked, and why it did not give the rest: the capability map."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from attrs import frozen

from otelgpu.points.metric import Metric
from otelgpu.points.stream import Attributes
from otelgpu.scraping.errors import ReadError, ToldOtherwiseError


class Verdict(StrEnum):
    """What became of a value."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    """The device or its driver does not have it."""
    REFUSED = "refused"
    """The driver has it, but not for us."""
    MISSING = "missing"
    """It could not be read now, or the driver had no value."""


@frozen
class Refusal:
    """Why there was no value. Not the error itself: its traceback would keep alive what it met."""

    reason: str
    words: str
    elsewhere: bool = False
    """Whether another row gives the value."""

    @classmethod
    def of(cls, error: ReadError) -> Refusal:
        """Return what an error says."""
        return cls(error.reason, str(error), isinstance(error, ToldOtherwiseError))


@frozen(eq=False)
class Finding:
    """One value of a table when it was last asked for."""

    metric: Metric
    attributes: Attributes
    """Those beyond the device's that are known without the answer."""
    source: str
    """The vendor's call."""
    points: int
    refusal: Refusal | None

    @property
    def verdict(self) -> Verdict:
        """What became of it; points that came in spite of an error of others count."""
        if self.refusal is None or self.points:
            return Verdict.SUPPORTED
        if self.refusal.reason == "unsupported":
            return Verdict.UNSUPPORTED
        if self.refusal.reason == "no_permission":
            return Verdict.REFUSED
        return Verdict.MISSING


@frozen(eq=False)
class DeviceSupport:
    """All values of one device or partition."""

    id: str
    attributes: Attributes
    findings: Sequence[Finding]
