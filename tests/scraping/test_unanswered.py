"""A device that answers nothing: values that are read rarely are not repeated for it."""

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Instrument, Metric, ValueType
from otelgpu.points.stream import Streams
from otelgpu.scraping.errors import ReadError
from otelgpu.scraping.reading import DeviceReading
from otelgpu.scraping.table import ONCE, Emit, Read


def _metric(name: str) -> Metric:
    return Metric(name, "W", Instrument.GAUGE, ValueType.DOUBLE, "A power.")


INFO, LIMIT, POWER = _metric("info"), _metric("limit"), _metric("power")


def test_kept_values_go_when_nothing_is_answered() -> None:
    works = True
    now = 0.0

    def call(_: object) -> float:
        if not works:
            raise ReadError("unknown")
        return 7.0

    table = [
        Read("info", call, [Emit(INFO, float)], every=ONCE),
        Read("limit", call, [Emit(LIMIT, float)], every=60),
        Read("power", call, [Emit(POWER, float)]),
    ]
    drops: list[tuple[str, str]] = []
    reading = DeviceReading(table, {"hw.id": "x"}, lambda _: True, Streams(), lambda: now)

    def read() -> tuple[bool, list[str]]:
        readings: Readings = []
        answered = reading.read(None, readings, lambda m, r: drops.append((m.name, r)))
        return answered, [stream.metric.name for stream, _ in readings]

    assert read() == (True, ["info", "limit", "power"])
    works, now = False, 1.0
    assert read() == (False, ["info"])
    assert sorted(drops) == [("limit", "unknown"), ("power", "unknown")]
    now = 2.0
    assert read() == (False, ["info"])
    assert sorted(drops) == [("limit", "unknown")] * 2 + [("power", "unknown")] * 2
    works, now = True, 3.0
    assert read() == (True, ["info", "limit", "power"])
