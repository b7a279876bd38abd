"""A table bound to one device whose answers tests script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.scraping.fakes import RATIO, WATTS, Drops, ManualClock, short

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Metric
from otelgpu.points.stream import Streams
from otelgpu.scraping.errors import TargetLostError
from otelgpu.scraping.reading import DeviceReading
from otelgpu.scraping.table import Batched, Emit, Field, Read, Row


class Script:
    """A vendor call that tests answer for."""

    def __init__(self, answer: Any = 0.5) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    def __call__(self, device: object, *keys: Any) -> Any:
        self.asked.append(keys[0] if keys else device)
        answer = self.answer(*keys) if callable(self.answer) else self.answer
        if isinstance(answer, Exception):
            raise answer
        return answer


class Bench:
    """A table bound to one device."""

    def __init__(
        self, *table: Row[Any], enabled: Callable[[Metric], bool] = lambda _: True
    ) -> None:
        self.clock = ManualClock()
        self.drops = Drops()
        self.answered: bool | None = None
        self._reading: DeviceReading[object] = DeviceReading(
            table, {"hw.id": "x"}, enabled, Streams(), self.clock.monotonic
        )

    def read(self, after: float = 10.0) -> dict[str, float]:
        self.clock.now += after
        readings: Readings = []
        self.answered = self._reading.read("device", readings, self.drops)
        return short(readings)

    def lose(self) -> None:
        self.clock.now += 10.0
        with pytest.raises(TargetLostError):
            self._reading.read("device", [], self.drops)

    def miss(self) -> None:
        self._reading.miss("hung", self.drops)

    def description(self) -> dict[str, float]:
        return short(self._reading.description())


def itself(value: Any) -> Any:
    return value


def ratio(call: Any, every: float = 0.0) -> Row[Any]:
    return Read("ratio", call, [Emit(RATIO, itself)], every=every)


def watts(call: Any, every: float = 0.0) -> Row[Any]:
    return Read("watts", call, [Emit(WATTS, itself)], every=every)


def keyed(script: Script, every: float = 0.0) -> Row[Any]:
    fields = [Field(key, [Emit(RATIO, itself, {"part": key})]) for key in "abc"]
    return Batched("batch", script, fields, every=every)
