"""Who sends: what wins over what, and an id that stays."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

import pytest

from otelgpu.points.stream import AttributeValue
from otelgpu.semconv.metrics import OFFICIAL_SCHEMA_URL
from otelgpu.service.resource import make_resource


def attributes(
    environ: Mapping[str, str] = {},
    extra: Mapping[str, AttributeValue] = {},
    configured: Mapping[str, AttributeValue] = {},
) -> Mapping[str, AttributeValue]:
    return make_resource(environ, extra, configured).attributes


def test_what_the_host_tells() -> None:
    found = attributes()
    assert found["service.name"] == "otelgpu"
    assert found["host.name"]
    assert found["os.type"] == "linux"
    assert all(value != "" for value in found.values())
    assert make_resource({}, {}, {}).schema_url == OFFICIAL_SCHEMA_URL


def test_the_instance_id_is_the_same_after_a_restart() -> None:
    first, second = attributes(), attributes()
    assert first["service.instance.id"] == second["service.instance.id"]
    assert uuid.UUID(str(first["service.instance.id"]))
    other = attributes(configured={"service.name": "other"})
    assert other["service.instance.id"] != first["service.instance.id"]
    host = attributes(configured={"host.id": "another"})
    assert host["service.instance.id"] != first["service.instance.id"]


def test_an_instance_id_that_is_given_is_taken() -> None:
    assert (
        attributes({"OTEL_RESOURCE_ATTRIBUTES": "service.instance.id=7"})["service.instance.id"]
        == "7"
    )


@pytest.mark.parametrize(
    ("environ", "configured", "expected"),
    [
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=a"}, {}, "a"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=a", "OTEL_SERVICE_NAME": "b"}, {}, "b"),
        ({"OTEL_SERVICE_NAME": "b"}, {"service.name": "c"}, "c"),
        ({"OTEL_SERVICE_NAME": ""}, {}, "otelgpu"),
    ],
)
def test_precedence(
    environ: Mapping[str, str], configured: Mapping[str, str], expected: str
) -> None:
    assert attributes(environ, {}, configured)["service.name"] == expected


def test_nothing_hides_that_devices_are_simulated() -> None:
    found = attributes(
        {"OTEL_RESOURCE_ATTRIBUTES": "otelgpu.simulated=false"},
        {"otelgpu.simulated": True},
        {"otelgpu.simulated": False},
    )
    assert found["otelgpu.simulated"] is True


def test_the_variable_is_percent_decoded_and_malformed_parts_are_left_out() -> None:
    text = "a=1%2C2, b = x y ,broken,=no-key, =no-key,,empty=,c=d=e"
    found = attributes({"OTEL_RESOURCE_ATTRIBUTES": text})
    assert {k: found.get(k) for k in ("a", "b", "c")} == {"a": "1,2", "b": "x y", "c": "d=e"}
    assert "broken" not in found
    assert "" not in found
