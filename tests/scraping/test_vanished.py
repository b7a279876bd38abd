"""Devices that vanish while others stay, and who is told how devices are."""

from __future__ import annotations

from collections.abc import Sequence

from tests.scraping.device_bench import bench

from otelgpu.points.batch import Readings
from otelgpu.scraping.devices import GONE
from otelgpu.scraping.errors import TargetLostError
from otelgpu.scraping.support import Finding
from otelgpu.semconv import metrics as m

WELL: dict[str, float | str] = {"info": 1, "watts": 7.0, "state": "ok"}


def test_a_device_that_vanished_is_missed_for_a_while() -> None:
    """Its description and that it failed: a series that ends would tell nobody of it."""
    with bench("a", "b") as b:
        b.scrape()
        b.library.cards.pop(0)
        assert "a" in b.scrape(), "until the next search"
        assert b.scrape(60.0) == {"a": {"info": 1, "state": "failed"}, "b": WELL}
        assert b.state == "acme.device_lost"
        assert "no longer among the devices" in b.detail
        assert b.counted(m.OTELGPU_DEVICE_COUNT) == {("ACME",): 1}
        assert "a" in b.scrape(GONE - 1)
        assert b.scrape(2) == {"b": WELL}
        assert (b.state, b.detail) == ("ok", "1 of 1 devices")


def test_a_device_that_vanished_and_is_back() -> None:
    with bench("a", "b") as b:
        b.scrape()
        card = b.library.cards.pop(0)
        b.scrape(60.0)
        b.library.cards.insert(0, card)
        assert b.scrape(60.0) == {"a": WELL, "b": WELL}
        assert b.state == "ok"


def test_devices_that_were_taken_away_on_purpose_are_not_missed() -> None:
    with bench("a", "b") as b:
        b.scrape()
        b.scraper.release()
        b.scrape()
        b.library.cards.pop(0)
        assert b.scrape(301) == {"b": WELL}


class Recorder:
    """Stands beside a scraper and notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []

    def start(self) -> None:
        self.told.append(("start",))

    def shutdown(self) -> None:
        self.told.append(("shutdown",))

    def readings(self) -> Readings:
        return []

    def support(self, device: str) -> Sequence[Finding]:
        return []

    def lost(self, device: str, words: str) -> None:
        self.told.append(("lost", device, words))

    def gone(self, device: str) -> None:
        self.told.append(("gone", device))

    def well(self, device: str) -> None:
        self.told.append(("well", device))


def test_what_stands_beside_is_told_how_devices_are() -> None:
    beside = Recorder()
    with bench("a", "b", beside=beside) as b:
        b.scrape()
        b.fail("a", TargetLostError("fell off"))
        b.scrape()
        b.library.cards.pop(1)
        b.scrape(60.0)
        b.scraper.shutdown(1.0)
        b.scraper.shutdown(1.0)
    assert [t for t in beside.told if t[0] != "well"] == [
        ("start",),
        ("lost", "a", "fell off"),
        ("gone", "b"),
        ("lost", "a", "fell off"),
        ("shutdown",),
        ("shutdown",),
        ("shutdown",),
    ]
    assert ("well", "b") in beside.told
