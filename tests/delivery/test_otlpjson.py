from __future__ import annotations

import json

from google.protobuf import json_format
from hypothesis import given
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from tests.delivery.samples import SCHEMA_URL, batches

from otelgpu.delivery.encoder import MetricsEncoder
from otelgpu.delivery.otlpjson import to_otlp_json
from otelgpu.points.batch import Batch


@given(batches(max_ended=3).filter(len))
def test_it_says_what_the_bytes_say(sample: Batch) -> None:
    document = json.dumps(to_otlp_json(sample, SCHEMA_URL), allow_nan=False)
    parsed = json_format.Parse(document, ExportMetricsServiceRequest())
    (made,) = MetricsEncoder(SCHEMA_URL).encode(sample)
    assert parsed == ExportMetricsServiceRequest.FromString(made.payload)
