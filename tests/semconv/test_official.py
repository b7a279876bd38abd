from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from opentelemetry.semconv._incubating import attributes as attribute_modules
from opentelemetry.semconv._incubating import metrics as metric_modules
from opentelemetry.semconv._incubating.metrics import hw_metrics
from opentelemetry.semconv.schemas import Schemas

from otelgpu.semconv.registry import Registry

NAMESPACES = ("hw", "k8s", "container", "process", "otel")


class RecordingMeter:
    """Takes what upstream's helpers create, and keeps kind and unit."""

    def __init__(self) -> None:
        self.created: dict[str, tuple[str, str]] = {}

    def __getattr__(self, method: str) -> Any:
        kinds = {
            "create_counter": "counter",
            "create_up_down_counter": "updowncounter",
            "create_gauge": "gauge",
            "create_observable_gauge": "gauge",
        }

        def create(name: str, unit: str = "", **_: Any) -> None:
            self.created[name] = (kinds[method], unit)

        return create


@pytest.fixture(scope="module")
def upstream() -> dict[str, tuple[str, str]]:
    meter: Any = RecordingMeter()
    for name, helper in vars(hw_metrics).items():
        if name.startswith("create_hw_"):
            arguments = (meter, None) if "callbacks" in helper.__annotations__ else (meter,)
            helper(*arguments)
    created: dict[str, tuple[str, str]] = meter.created
    return created


def constants(package: ModuleType) -> Iterator[str]:
    for module in pkgutil.iter_modules(package.__path__):
        loaded = vars(importlib.import_module(f"{package.__name__}.{module.name}"))
        yield from (v for k, v in loaded.items() if k.isupper() and isinstance(v, str))


def test_refined_metrics_are_upstreams_in_instrument_and_unit(
    registry: Registry, upstream: dict[str, tuple[str, str]]
) -> None:
    assert len(registry.refined) >= 14
    for metric in registry.metrics:
        if metric.name in registry.refined:
            assert (metric.instrument.value, metric.unit) == upstream[metric.name], metric.name


def test_no_metric_of_ours_exists_upstream(registry: Registry) -> None:
    names = set(constants(metric_modules))
    assert "hw.gpu.utilization" in names
    ours = {m.name for m in registry.metrics} - registry.refined
    assert ours & names == set()


def test_no_attribute_of_ours_exists_upstream(registry: Registry) -> None:
    keys = set(constants(attribute_modules))
    assert "hw.id" in keys
    assert {a.key for a in registry.attributes} & keys == set()


def test_attributes_we_refer_to_exist_upstream(registry: Registry) -> None:
    assert set(registry.official.attributes) <= set(constants(attribute_modules))


def test_values_we_call_official_are_upstreams(registry: Registry) -> None:
    modules = [
        importlib.import_module(f"{attribute_modules.__name__}.{name}_attributes")
        for name in ("hw", "network", "error")
    ]
    enums = {
        "hw.gpu.task": "HwGpuTaskValues",
        "hw.limit_type": "HwLimitTypeValues",
        "hw.state": "HwStateValues",
        "hw.type": "HwTypeValues",
        "network.io.direction": "NetworkIoDirectionValues",
        "error.type": "ErrorTypeValues",
    }
    assert set(enums) == {k for k, a in registry.official.attributes.items() if a.values}
    for key, name in enums.items():
        enum = next(getattr(m, name) for m in modules if hasattr(m, name))
        values = {member.value for member in enum}
        assert set(registry.official.attributes[key].values) <= values, key
        assert not set(registry.added.get(key, ())) & values, f"{key}: upstream has it now"


def test_the_list_of_official_names_is_upstreams(registry: Registry) -> None:
    names = {n for n in constants(metric_modules) if n.split(".")[0] in NAMESPACES}
    assert registry.official.names == names


def test_the_pinned_schema_is_one_that_upstream_has(registry: Registry) -> None:
    assert registry.official.schema_url == Schemas.V1_44_0.value
