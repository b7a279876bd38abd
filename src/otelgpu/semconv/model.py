"""The registry as classes: what a YAML file of Weaver's format ``definition/2`` may say here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from attrs import Factory, frozen

from otelgpu.points.metric import Instrument, Profile, ValueType

PROFILES = {"minimal": Profile.MINIMAL, "standard": Profile.STANDARD, "full": Profile.FULL}


class Cadence(Enum):
    """How often a value is worth reading."""

    SCRAPE = "scrape"
    MINUTE = "minute"
    START = "start"
    EVENT = "event"


@frozen
class Member:
    """One value of an enumeration."""

    id: str
    brief: str
    value: str = ""
    stability: str = "development"

    @property
    def text(self) -> str:
        """The value on the wire."""
        return self.value or self.id


@frozen
class Enumeration:
    """The type of an attribute whose values are listed."""

    members: Sequence[Member]


@frozen
class AttributeDefinition:
    """An attribute that this convention defines."""

    key: str
    brief: str
    type: str | Enumeration
    stability: str
    note: str = ""
    examples: Sequence[Any] = ()
    deprecated: Mapping[str, str] = Factory(dict)


@frozen
class ReferenceHints:
    """What we note about the use of one attribute: the values that it takes there."""

    values: Sequence[str] = ()


@frozen
class ReferenceAnnotations:
    """Annotations of a reference."""

    gpu: ReferenceHints = ReferenceHints()


@frozen
class Reference:
    """The use of an attribute, or of a whole group, by a signal."""

    ref: str = ""
    ref_group: str = ""
    requirement_level: str | Mapping[str, str] = "recommended"
    note: str = ""
    annotations: ReferenceAnnotations = ReferenceAnnotations()

    @property
    def level(self) -> str:
        """Requirement level without its condition."""
        level = self.requirement_level
        return level if isinstance(level, str) else next(iter(level))

    @property
    def condition(self) -> str:
        """When a conditionally required attribute is required."""
        level = self.requirement_level
        return "" if isinstance(level, str) else next(iter(level.values()))


@frozen
class AttributeGroup:
    """References that several signals share."""

    id: str
    visibility: str
    attributes: Sequence[Reference]


@frozen
class DcgmEquivalent:
    """A field of dcgm-exporter that says the same.

    Its value is ours times ``scale``, taken from the points whose attributes match ``where``.
    """

    name: str
    where: Mapping[str, str] = Factory(dict)
    scale: float = 1


@frozen
class Hints:
    """What we note about a metric beyond Weaver's own fields."""

    profile: str
    range: Sequence[float | None]
    """Bounds of plausible values, in the metric's unit."""
    series: int = 0
    """Series that one H100 gives by NVML in everyday operation; 0 where NVML or a rule decides."""
    cadence: Cadence = Cadence.SCRAPE
    source: Mapping[str, str] = Factory(dict)
    """Vendor interface to the call that gives the value."""
    no_source: str = ""
    """Why there is none."""
    window: Mapping[str, str] = Factory(dict)
    """Time over which the driver itself has averaged or counted."""
    permission: Mapping[str, str] = Factory(dict)
    dcgm_exporter: Sequence[DcgmEquivalent] = ()


@frozen
class CodeGeneration:
    """Upstream's annotation for code generators."""

    metric_value_type: ValueType


@frozen
class MetricAnnotations:
    """Annotations of a metric."""

    code_generation: CodeGeneration
    gpu: Hints


@frozen
class MetricDefinition:
    """A metric of this convention, or an official one with what we add to it."""

    name: str
    brief: str
    instrument: Instrument
    unit: str
    stability: str
    requirement_level: str
    attributes: Sequence[Reference]
    annotations: MetricAnnotations
    note: str = ""
    deprecated: Mapping[str, str] = Factory(dict)

    @property
    def hints(self) -> Hints:
        return self.annotations.gpu

    @property
    def value_type(self) -> ValueType:
        return self.annotations.code_generation.metric_value_type


@frozen
class MetricRefinement:
    """What we add to an official metric."""

    id: str
    ref: str
    attributes: Sequence[Reference]
    annotations: MetricAnnotations
    note: str = ""


@frozen
class EventDefinition:
    """A log record with a name."""

    name: str
    brief: str
    stability: str
    requirement_level: str
    attributes: Sequence[Reference]
    note: str = ""


@frozen
class OfficialMetric:
    """Facts of a metric that OpenTelemetry defines."""

    instrument: Instrument
    unit: str
    brief: str


@frozen
class OfficialAttribute:
    """Facts of an attribute that OpenTelemetry defines."""

    type: str
    values: Sequence[str] = ()
    open: bool = False
    """Whether any other value may stand beside the known ones."""


@frozen
class Official:
    """What the registry takes from OpenTelemetry's semantic conventions."""

    schema_url: str
    metrics: Mapping[str, OfficialMetric]
    attributes: Mapping[str, OfficialAttribute]
    names: frozenset[str]


@frozen
class Dependency:
    """Another registry that this one refers to."""

    schema_url: str
    registry_path: str


@frozen
class Manifest:
    """Identity of a registry."""

    schema_url: str
    description: str
    stability: str
    dependencies: Sequence[Dependency]
