"""A scraper over a library that tests script, by a clock that tests move."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.scraping.fakes import INFO, LONG, WATTS, Card, Library, ManualClock, counted, settings

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Metric
from otelgpu.scraping.beside import Beside
from otelgpu.scraping.devices import DeviceScraper, Pace, Vendor
from otelgpu.scraping.pci import PciFunctions
from otelgpu.scraping.table import ONCE, Emit, Read, Row
from otelgpu.semconv import metrics as m

TIMEOUT = 0.25
"""Deadline of one target in seconds."""


class Bench:
    """A scraper over a library that tests script, by a clock that tests move."""

    def __init__(
        self,
        *cards: Card,
        enabled: Callable[[Metric], bool] = lambda _: True,
        expected: PciFunctions | None = None,
        timeout: float = TIMEOUT,
        budget: float = LONG,
        beside: Beside | None = None,
    ) -> None:
        self.clock = ManualClock()
        self.library = Library(list(cards))
        self.settings = settings(self.clock)
        table: list[Row[Card]] = [
            Read("info", lambda card: card.handle + 1, [Emit(INFO, lambda _: 1)], every=ONCE),
            Read("watts", self.library.watts, [Emit(WATTS, lambda value: value)]),
        ]
        self.scraper = DeviceScraper(
            self.settings,
            Vendor("ACME", "acme", lambda: expected),
            self.library,
            lambda _: table,
            enabled,
            Pace(interval=budget, timeout=timeout),
            beside=beside,
        )

    def scrape(self, after: float = 10.0) -> dict[str, dict[str, float | str]]:
        """Return by device: its metrics, and its state instead of four points of hw.status."""
        self.clock.now += after
        return digest(self.scraper.scrape())

    @property
    def state(self) -> str:
        return self.settings.telemetry.condition.state

    @property
    def detail(self) -> str:
        return self.settings.telemetry.condition.detail

    def counted(self, metric: Metric) -> dict[tuple[object, ...], float]:
        return counted(self.settings, metric)

    def fail(self, card: str, error: Exception) -> None:
        def act() -> float:
            raise error

        self.library.acts[card] = act

    def heal(self, card: str) -> None:
        del self.library.acts[card]

    @contextmanager
    def hanging(self, *cards: str) -> Iterator[None]:
        """Let reading these cards hang within the block."""
        answers = threading.Event()

        def hang() -> float:
            assert answers.wait(LONG)
            return 7.0

        self.library.acts |= dict.fromkeys(cards, hang)
        try:
            yield
        finally:
            answers.set()
            for card in cards:
                self.heal(card)

    def scrape_until(self, holds: Callable[[], bool]) -> dict[str, dict[str, float | str]]:
        deadline = time.monotonic() + LONG
        while True:
            found = self.scrape()
            if holds():
                return found
            assert time.monotonic() < deadline, self.state
            threading.Event().wait(0.005)


def digest(readings: Readings) -> dict[str, dict[str, float | str]]:
    found: dict[str, dict[str, float | str]] = {}
    states: dict[str, list[tuple[str, float]]] = {}
    for stream, value in readings:
        device = str(stream.attributes["hw.id"])
        if stream.metric is m.HW_STATUS:
            states.setdefault(device, []).append((str(stream.attributes["hw.state"]), value))
        else:
            assert stream.metric.name not in found.setdefault(device, {})
            found[device][stream.metric.name] = value
    for device, pairs in states.items():
        assert len(pairs) == 4
        (state,) = [name for name, value in pairs if value == 1]
        assert sorted(value for _, value in pairs) == [0, 0, 0, 1]
        found.setdefault(device, {})["state"] = state
    return found


@contextmanager
def bench(*cards: str, **options: object) -> Iterator[Bench]:
    made = Bench(*map(Card, cards), **options)  # type: ignore[arg-type]
    try:
        made.scraper.start()
        yield made
    finally:
        made.scraper.shutdown(1.0)
