from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelgpu.points.metric import Instrument
from otelgpu.semconv.promname import label_name, metric_name

COUNTER, GAUGE, UPDOWN = Instrument.COUNTER, Instrument.GAUGE, Instrument.UPDOWNCOUNTER


@pytest.mark.parametrize(
    ("name", "unit", "instrument", "expected"),
    [
        ("hw.gpu.utilization", "1", GAUGE, "hw_gpu_utilization_ratio"),
        ("hw.gpu.memory.usage", "By", UPDOWN, "hw_gpu_memory_usage_bytes"),
        ("hw.gpu.io", "By", COUNTER, "hw_gpu_io_bytes_total"),
        ("hw.temperature", "Cel", GAUGE, "hw_temperature_celsius"),
        ("hw.power", "W", GAUGE, "hw_power_watts"),
        ("hw.energy", "J", COUNTER, "hw_energy_joules_total"),
        ("hw.errors", "{error}", COUNTER, "hw_errors_total"),
        ("hw.status", "1", UPDOWN, "hw_status"),
        ("hw.fan.speed", "rpm", GAUGE, "hw_fan_speed_rpm"),
        ("hw.fan.speed_ratio", "1", GAUGE, "hw_fan_speed_ratio"),
        ("hw.gpu.clock.frequency", "Hz", GAUGE, "hw_gpu_clock_frequency_hertz"),
        ("hw.gpu.link.throughput", "By/s", GAUGE, "hw_gpu_link_throughput_bytes_per_second"),
        ("hw.gpu.info", "{gpu}", UPDOWN, "hw_gpu_info"),
        # the unit's word is not said twice
        ("disk.bytes", "By", UPDOWN, "disk_bytes"),
        ("disk.bytes.used", "By", UPDOWN, "disk_bytes_used"),
        ("requests.total", "{request}", COUNTER, "requests_total"),
        ("requests.total.failed", "{request}", COUNTER, "requests_failed_total"),
        ("ratio.of.hits", "1", GAUGE, "of_hits_ratio"),
        # rates, of annotations too
        ("packets", "{packet}/s", GAUGE, "packets_per_second"),
        ("speed", "m/s", GAUGE, "speed_meters_per_second"),
        ("price", "USD/GiBy", GAUGE, "price_USD_per_GiBy"),
        ("odd", "By/{flush}", GAUGE, "odd_bytes"),
        # a gauge alone is a ratio, and only of unit 1
        ("share", "1", COUNTER, "share_total"),
        ("share", "%", GAUGE, "share_percent"),
        ("share", "", GAUGE, "share"),
        # characters that Prometheus does not take
        ("a-b..c__d", "", GAUGE, "a_b_c_d"),
        ("job:rate5m", "", GAUGE, "job:rate5m"),
        ("3d.engine", "", GAUGE, "_3d_engine"),
    ],
)
def test_metric_name(name: str, unit: str, instrument: Instrument, expected: str) -> None:
    assert metric_name(name, unit, instrument) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("hw.id", "hw_id"),
        ("k8s.pod.label.app.kubernetes.io/name", "k8s_pod_label_app_kubernetes_io_name"),
        ("a..b", "a_b"),
        ("3d", "key_3d"),
    ],
)
def test_label_name(key: str, expected: str) -> None:
    assert label_name(key) == expected


NAMES = st.from_regex(r"[a-z][a-z0-9]{0,6}([._][a-z0-9]{1,6}){0,4}", fullmatch=True)
UNITS = st.sampled_from(
    ["", "1", "By", "By/s", "s", "W", "Cel", "rpm", "{error}", "{packet}/s", "%"]
)


@given(NAMES, UNITS, st.sampled_from(list(Instrument)))
def test_a_name_is_valid_and_ends_as_its_instrument_asks(
    name: str, unit: str, instrument: Instrument
) -> None:
    translated = metric_name(name, unit, instrument)
    assert re.fullmatch(r"[a-zA-Z_:][a-zA-Z0-9_:]*", translated)
    assert "__" not in translated
    if instrument is COUNTER:
        assert translated.endswith("total")
    if instrument is GAUGE and unit == "1":
        assert translated.endswith("ratio")


@given(NAMES, UNITS.filter(lambda u: "/" not in u), st.sampled_from(list(Instrument)))
def test_a_translated_name_stays_as_it_is(name: str, unit: str, instrument: Instrument) -> None:
    once = metric_name(name, unit, instrument)
    assert metric_name(once, unit, instrument) == once
