"""One scrape of all devices: what is found, lost, hung and back, and what the receiver says."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from tests.scraping.device_bench import bench
from tests.scraping.fakes import INFO, LONG, WATTS, Card

from otelgpu.scraping.devices import GONE
from otelgpu.scraping.errors import ReadError, TargetLostError
from otelgpu.scraping.pci import PciFunctions
from otelgpu.scraping.slot import RETRY_UNSUPPORTED
from otelgpu.semconv import metrics as m

WELL: dict[str, float | str] = {"info": 1, "watts": 7.0, "state": "ok"}
FAILED: dict[str, float | str] = {"info": 1, "state": "failed"}


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """Fail if a thread of a test's scraper is left."""
    yield
    deadline = time.monotonic() + LONG
    while [t for t in threading.enumerate() if t.name == "fake"]:
        assert time.monotonic() < deadline, "a thread is left"
        threading.Event().wait(0.005)


def test_all_is_well() -> None:
    with bench("a", "b") as b:
        assert b.scrape() == {"a": WELL, "b": WELL}
        assert (b.state, b.detail) == ("ok", "2 of 2 devices")
        assert b.counted(m.OTELGPU_RECEIVER_UP) == {(): 1}
        assert b.counted(m.OTELGPU_DEVICE_COUNT) == {("ACME",): 2}
        assert not b.counted(m.OTELGPU_SCRAPE_DROPPED)


def test_a_hung_device_has_failed_and_costs_itself_alone() -> None:
    with bench("a", "b", "c") as b:
        b.scrape()
        with b.hanging("b"):
            for cycle in (1, 2):
                assert b.scrape() == {"a": WELL, "b": FAILED, "c": WELL}
                assert (b.state, b.detail) == ("acme.device_hung", "b")
                assert b.counted(m.OTELGPU_TARGET_HUNG) == {("b",): cycle}
                assert b.counted(m.OTELGPU_SCRAPE_DROPPED) == {("hung", "b", "watts"): cycle}
                assert b.counted(m.OTELGPU_DEVICE_COUNT) == {("ACME",): 2}
                assert b.counted(m.OTELGPU_RECEIVER_UP) == {(): 1}
        assert b.scrape_until(lambda: b.state == "ok")["b"] == WELL
        assert b.counted(m.OTELGPU_DEVICE_COUNT) == {("ACME",): 3}


def test_a_library_that_hangs() -> None:
    with bench("a", "b", "c", "d") as b:
        b.scrape()
        with b.hanging("a", "b", "c", "d"):
            assert b.scrape() == dict.fromkeys("abcd", FAILED)
            assert b.state == "acme.library_hung"
            assert b.counted(m.OTELGPU_RECEIVER_UP) == {(): 0}
            assert b.counted(m.OTELGPU_DEVICE_COUNT) == {("ACME",): 0}
            assert b.counted(m.OTELGPU_SCRAPE_DROPPED) == {
                ("hung", card, "watts"): 1 for card in "abcd"
            }
            assert b.library.read[4:] == ["a", "b"], "two deadlines, not one for each"
        assert b.scrape_until(lambda: b.state == "ok") == dict.fromkeys("abcd", WELL)


def test_a_discovery_that_hangs() -> None:
    answers = threading.Event()
    with bench("a") as b:
        b.library.on_discover = lambda: (answers.wait(LONG), None)[1]
        assert b.scrape() == {}
        assert b.state == "acme.discovery_hung"
        assert b.counted(m.OTELGPU_TARGET_HUNG) == {(): 1}
        assert b.scrape() == {}
        assert b.library.searches == 1, "nothing queues up behind it"
        answers.set()
        assert b.scrape_until(lambda: b.state == "ok") == {"a": WELL}


def test_the_library_is_not_reopened_under_a_thread_that_is_inside() -> None:
    with bench("a", "b") as b:
        b.scrape()
        with b.hanging("a"):
            b.scrape()
            b.scrape(60.0)
            assert b.library.discovered == [True, False]
        b.scrape_until(lambda: b.state == "ok")
        b.scrape(60.0)
        assert b.library.discovered[-1] is True


def test_a_search_that_was_left_behind_may_no_longer_close_the_library() -> None:
    answers = threading.Event()
    with bench("a") as b:
        b.scrape()
        b.library.on_discover = lambda: (answers.wait(LONG), None)[1]
        assert b.scrape(60.0) == {"a": WELL}
        answers.set()
        b.scrape_until(lambda: len(b.library.discovered) == 2)
        assert b.library.discovered == [True, False]


def test_nobody_goes_inside_a_library_that_is_being_closed() -> None:
    closed = threading.Event()
    with bench("a", "b") as b:
        b.scrape()
        b.library.on_close = lambda: (closed.wait(LONG), None)[1]
        asked = len(b.library.read)
        for _ in range(2):
            assert b.scrape(60.0) == {"a": FAILED, "b": FAILED}
            assert b.state == "acme.discovery_hung"
        assert len(b.library.read) == asked
        closed.set()
        assert b.scrape_until(lambda: b.state == "ok") == {"a": WELL, "b": WELL}


def test_known_devices_are_read_while_discovery_hangs() -> None:
    answers = threading.Event()
    with bench("a") as b:
        b.scrape()
        b.library.on_discover = lambda: (answers.wait(LONG), None)[1]
        assert b.scrape(60.0) == {"a": WELL}
        assert b.scrape() == {"a": WELL}
        answers.set()


@pytest.mark.parametrize("reason", ["library_not_found", "driver_not_loaded"])
def test_a_node_without_a_driver_says_why_and_is_found_later(reason: str) -> None:
    with bench("a") as b:

        def fail() -> None:
            raise ReadError(reason, "in the driver's words")

        b.library.on_discover = fail
        assert b.scrape() == {}
        assert (b.state, b.detail) == (f"acme.{reason}", "in the driver's words")
        assert b.counted(m.OTELGPU_RECEIVER_UP) == {(): 0}
        b.library.on_discover = lambda: None
        assert b.scrape() == {"a": WELL}
        assert b.state == "ok"


def test_a_mistake_in_discovery_is_not_all_well(caplog: pytest.LogCaptureFixture) -> None:
    with bench("a") as b:

        def fail() -> None:
            raise TypeError("mistake")

        b.library.on_discover = fail
        assert b.scrape() == {}
        assert b.state == "acme.internal"
        assert b.counted(m.OTELGPU_COMPONENT_ERRORS) == {("TypeError",): 1}
        assert "reading discovery failed" in caplog.text


def test_no_devices() -> None:
    with bench() as b:
        assert b.scrape() == {}
        assert b.state == "acme.no_devices"
        b.library.cards = [Card("a")]
        assert b.scrape() == {"a": WELL}


def test_a_device_that_is_lost_and_back() -> None:
    with bench("a", "b") as b:
        b.scrape()
        b.fail("a", TargetLostError("GPU is lost"))
        for cycle in (1, 2):
            assert b.scrape() == {"a": FAILED, "b": WELL}
            assert (b.state, b.detail) == ("acme.device_lost", "a (GPU is lost)")
            assert b.counted(m.OTELGPU_SCRAPE_DROPPED) == {("lost", "a", "watts"): cycle}
            assert b.counted(m.OTELGPU_DEVICE_COUNT) == {("ACME",): 1}
        b.heal("a")
        assert b.scrape() == {"a": WELL, "b": WELL}
        assert b.state == "ok"


def test_a_lost_device_that_hangs_is_no_longer_known_to_be_lost() -> None:
    with bench("a", "b") as b:
        b.fail("a", TargetLostError("GPU is lost"))
        b.scrape()
        with b.hanging("a"):
            b.scrape()
            assert b.state == "acme.device_hung"


def test_a_device_that_answers_no_call_has_no_status() -> None:
    with bench("a", "b", enabled=lambda metric: metric is not INFO) as b:
        b.scrape()
        b.fail("a", ReadError("unknown"))
        found = b.scrape()
        assert found == {"b": {"watts": 7.0, "state": "ok"}}
        assert b.counted(m.OTELGPU_SCRAPE_DROPPED) == {
            ("unknown", "a", "watts"): 1,
            ("unknown", "a", "hw.status"): 1,
        }
        b.fail("b", ReadError("unknown"))
        assert b.scrape() == {}
        assert b.state == "acme.nothing_readable"
        assert b.counted(m.OTELGPU_RECEIVER_UP) == {(): 0}


def test_a_disabled_status_is_neither_sent_nor_counted_as_missing() -> None:
    with bench("a", enabled=lambda metric: metric is WATTS) as b:
        assert b.scrape() == {"a": {"watts": 7.0}}
        b.fail("a", ReadError("unknown"))
        b.scrape()
        assert b.counted(m.OTELGPU_SCRAPE_DROPPED) == {("unknown", "a", "watts"): 1}


def test_what_a_model_does_not_have_is_no_series_for_each_device() -> None:
    with bench("a", "b") as b:
        b.library.acts = dict.fromkeys("ab", lambda: None)
        b.scrape()
        assert b.counted(m.OTELGPU_SCRAPE_DROPPED) == {
            ("absent", "a", "watts"): 1,
            ("absent", "b", "watts"): 1,
        }


def test_what_was_counted_for_a_device_goes_with_it() -> None:
    """Each partition that is made anew has a new id: counts of old ones would pile up for ever."""
    with bench("stays") as b:
        for number in range(20):
            name = f"partition-{number}"
            b.library.cards = [Card("stays"), Card(name)]
            b.fail(name, ReadError("timeout"))
            b.scrape(60.0)
            assert ("timeout", name, "watts") in b.counted(m.OTELGPU_SCRAPE_DROPPED)
        b.scrape(GONE + 1)
        assert {device for _, device, _ in b.counted(m.OTELGPU_SCRAPE_DROPPED)} == {name}
        with b.hanging(name):
            b.scrape()
            assert set(b.counted(m.OTELGPU_TARGET_HUNG)) == {(name,)}
            b.library.cards = [Card("stays")]
            b.scrape(60.0)
            b.scrape(GONE + 1)
            assert not b.counted(m.OTELGPU_TARGET_HUNG)


def test_counts_go_on_through_a_new_search() -> None:
    with bench("a") as b:
        b.library.acts["a"] = lambda: None
        counts = []
        for _ in range(4):
            b.scrape(30.0)
            counts.append(b.counted(m.OTELGPU_SCRAPE_DROPPED)["absent", "a", "watts"])
        assert b.library.searches > 1
        assert counts == [1, 2, 3, 4]


def test_the_last_device_that_is_gone() -> None:
    with bench("a") as b:
        b.scrape()
        b.library.cards = []
        assert b.scrape(60.0) == {}
        assert b.state == "acme.no_devices"
        assert b.counted(m.OTELGPU_DEVICE_COUNT) == {("ACME",): 0}


def test_a_device_whose_index_is_unreadable_is_one_that_we_know() -> None:
    with bench("a", "b") as b:
        b.scrape()
        b.library.cards.pop(0)
        b.library.unreadable = [("index 0", TargetLostError("GPU is lost"))]
        b.fail("a", TargetLostError("GPU is lost"))
        assert b.scrape(60.0) == {"a": FAILED, "b": WELL}
        assert b.state == "acme.device_lost"


def test_a_device_that_was_never_readable() -> None:
    with bench("a") as b:
        b.library.unreadable = [("index 1", ReadError("unknown", "Unknown Error"))]
        assert b.scrape() == {"a": WELL}
        assert (b.state, b.detail) == ("acme.device_unreadable", "index 1: Unknown Error")
        b.library.cards = []
        assert b.scrape(60.0) == {"a": WELL}, "the one that we know may be it"


def test_a_new_search_keeps_what_is_known_of_a_device() -> None:
    with bench("a") as b:
        streams = {stream for stream, _ in b.scraper.scrape()}
        b.clock.now += 60.0
        assert {stream for stream, _ in b.scraper.scrape()} == streams
        assert len(b.library.discovered) == 2
        b.library.cards = [Card("a", handle=4)]
        b.clock.now += 60.0
        assert {stream for stream, _ in b.scraper.scrape()} == streams, "a new handle, the same GPU"


def test_a_cycle_that_has_no_time_left_begins_the_next_where_it_ended() -> None:
    with bench("a", "b", "c", budget=0.0) as b:
        assert b.scrape() == {"a": WELL}
        assert (
            b.counted(m.OTELGPU_SCRAPE_DROPPED)
            == {("late", card, metric): 1 for card in "bc" for metric in ("watts", "hw.status")}
            | {}
        )
        late: dict[str, float | str] = {"info": 1}
        assert b.scrape() == {"a": late, "b": WELL}, "what describes a device is still true"
        # A search that finds the same changes nothing.
        assert b.scrape(60.0) == {"a": late, "b": late, "c": WELL}
        assert b.scrape() == {"a": WELL, "b": late, "c": late}
        assert not b.counted(m.OTELGPU_TARGET_HUNG)


def test_expected_devices() -> None:
    with bench("a", expected=PciFunctions(host=8, passed_through=2)) as b:
        b.scrape()
        assert b.counted(m.OTELGPU_DEVICE_EXPECTED) == {("ACME",): 8, ("ACME", "vfio"): 2}
        assert b.counted(m.OTELGPU_DEVICE_COUNT) == {("ACME",): 1}


def test_nothing_is_expected_where_nothing_can_tell() -> None:
    with bench("a") as b:
        b.scrape()
        assert not b.counted(m.OTELGPU_DEVICE_EXPECTED)


def test_a_state_is_logged_when_it_comes(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    with bench("a") as b:
        for _ in range(3):
            b.scrape()
        b.fail("a", TargetLostError("GPU is lost"))
        for _ in range(3):
            b.scrape()
    messages = [record.getMessage() for record in caplog.records]
    assert messages == [
        "found a",
        "state ok: 1 of 1 devices",
        "state acme.device_lost: a (GPU is lost)",
    ]


def test_a_scrape_that_the_shutdown_cuts_short_says_nothing_of_devices() -> None:
    with bench("a", "b") as b:
        b.scrape()
        b.scraper.shutdown(1)
        b.scraper.scrape()
        assert b.state == "ok"
        assert not b.counted(m.OTELGPU_SCRAPE_DROPPED)


def test_unsupported_is_asked_again_by_the_scraper_s_clock() -> None:
    with bench("a") as b:
        b.scrape()
        for _ in range(int(RETRY_UNSUPPORTED // 60) + 2):
            b.scrape(60.0)
        assert not b.counted(m.OTELGPU_SCRAPE_DROPPED)
