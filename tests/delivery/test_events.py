from __future__ import annotations

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import SeverityNumber
from tests.delivery.samples import RESOURCE, SCHEMA_URL, TIME, event_batch

from otelgpu.delivery.events import EventsEncoder
from otelgpu.points.event import Event, EventBatch, Severity
from otelgpu.points.stream import Attributes


def test_an_event_is_a_log_record_with_its_name() -> None:
    attributes: Attributes = {"code": -79, "id": "gpu-0", "share": 0.5, "fatal": False}
    event = Event("hw.gpu.fault", TIME, TIME + 5, Severity.FATAL, "GPU lost", attributes)
    (made,) = EventsEncoder(SCHEMA_URL).encode(EventBatch("nvml", RESOURCE, [event]))
    (resource,) = ExportLogsServiceRequest.FromString(made.payload).resource_logs
    assert {kv.key: kv.value.string_value for kv in resource.resource.attributes} == dict(
        RESOURCE.attributes
    )
    assert resource.schema_url == RESOURCE.schema_url
    (scope,) = resource.scope_logs
    assert (scope.scope.name, scope.schema_url) == ("otelgpu", SCHEMA_URL)
    (record,) = scope.log_records
    assert record.event_name == "hw.gpu.fault"
    assert (record.time_unix_nano, record.observed_time_unix_nano) == (TIME, TIME + 5)
    assert record.severity_number == SeverityNumber.SEVERITY_NUMBER_FATAL
    assert record.severity_text == "FATAL"
    assert record.body.string_value == "GPU lost"
    values = {kv.key: kv.value for kv in record.attributes}
    assert values["code"].int_value == -79
    assert values["id"].string_value == "gpu-0"
    assert values["share"].double_value == 0.5
    assert values["fatal"].WhichOneof("value") == "bool_value"


def test_an_event_without_a_time_of_the_driver_has_none() -> None:
    event = Event("hw.gpu.fault", 0, TIME, Severity.INFO, "", {})
    (made,) = EventsEncoder("").encode(EventBatch("nvml", RESOURCE, [event]))
    request = ExportLogsServiceRequest.FromString(made.payload)
    (record,) = request.resource_logs[0].scope_logs[0].log_records
    assert (record.time_unix_nano, record.observed_time_unix_nano) == (0, TIME)


def test_requests_keep_to_the_limit() -> None:
    made = list(EventsEncoder("").encode(event_batch(5), 2))
    assert [one.count for one in made] == [2, 2, 1]
    bodies = [
        record.body.string_value
        for one in made
        for record in ExportLogsServiceRequest.FromString(one.payload)
        .resource_logs[0]
        .scope_logs[0]
        .log_records
    ]
    assert bodies == [f"XID 79 {n}" for n in range(5)]
