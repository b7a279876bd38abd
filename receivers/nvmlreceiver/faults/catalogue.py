"""What XIDs mean: a data table of the package."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from importlib.resources import files

import yaml
from attrs import frozen

from otelgpu.points.event import Severity


class Kind(StrEnum):
    """What a fault is; see the head of ``xids.yaml``."""

    FATAL = "fatal"
    HARDWARE = "hardware"
    APPLICATION = "application"
    INFO = "info"
    UNKNOWN = "unknown"


_SEVERITIES = {
    Kind.FATAL: Severity.FATAL,
    Kind.HARDWARE: Severity.ERROR,
    Kind.APPLICATION: Severity.WARN,
    Kind.INFO: Severity.INFO,
    Kind.UNKNOWN: Severity.WARN,
}


@frozen
class Xid:
    """One code."""

    kind: Kind
    meaning: str
    loses: bool = False
    """Whether it explains that a GPU is lost or needs a reset."""

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return _SEVERITIES[self.kind]


_UNKNOWN = Xid(Kind.UNKNOWN, "a code that this version does not know")


class Catalogue:
    """The codes that are known; read when the first is asked for, which may be never."""

    def __getitem__(self, code: int) -> Xid:
        return self.xids.get(code, _UNKNOWN)

    @cached_property
    def xids(self) -> Mapping[int, Xid]:
        """All codes of this version."""
        text = files("nvmlreceiver.faults").joinpath("xids.yaml").read_text(encoding="utf-8")
        raw = yaml.safe_load(text)
        return {
            code: Xid(Kind(kind), meaning, "loses" in more)
            for code, (kind, meaning, *more) in raw.items()
        }
