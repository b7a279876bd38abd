"""Points of a process name the device by its id alone."""

from otelgpu.points.batch import Readings
from otelgpu.points.stream import Streams
from otelgpu.scraping.reading import DeviceReading
from otelgpu.scraping.table import AnyEmit, EmitEach, Read, Row
from otelgpu.semconv.metrics import HW_GPU_PROCESS_COUNT, PROCESS_GPU_MEMORY_USAGE


def test_a_process_has_the_devices_id_only() -> None:
    device = {"hw.id": "GPU-1", "hw.type": "gpu", "hw.model": "H100"}
    emits: list[AnyEmit] = [
        EmitEach(PROCESS_GPU_MEMORY_USAGE, lambda pids: [({"process.pid": p}, 1) for p in pids]),
        EmitEach(HW_GPU_PROCESS_COUNT, lambda pids: [({"hw.gpu.process.type": "compute"}, 1)]),
    ]
    table: list[Row[None]] = [Read("processes", lambda _: [7], emits)]
    readings: Readings = []
    reading = DeviceReading(table, device, lambda _: True, Streams(), lambda: 0.0)
    reading.read(None, readings, lambda *_: None)
    assert [dict(stream.attributes) for stream, _ in readings] == [
        {"hw.id": "GPU-1", "process.pid": 7},
        {**device, "hw.gpu.process.type": "compute"},
    ]
