"""Field values: what one bad field does to the others, scopes, and kinds of values."""

import struct
from collections.abc import Callable
from ctypes import c_uint64, memmove

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, status, value

from nvmlreceiver.fieldrequest import ENTRY, FieldRequests, value_of
from otelgpu.scraping.errors import ReadError
from otelgpu.scraping.slot import REFUSALS

Make = Callable[..., Receiver]
CALL = "nvmlDeviceGetFieldValues"
AVERAGE, INSTANT = 185, 186


def test_a_field_for_which_all_are_refused_is_found_and_left_out(
    fake: FakeNvml, receiver: Make
) -> None:
    fake.configure("fi_refuse.82=INVALID_ARGUMENT", static=1, gpus=1)
    one = receiver()
    for _ in range(REFUSALS - 1):
        assert value(one.scrape(after=10), "hw.power") is None
    assert one.drops()["hw.power", "invalid_argument"] == REFUSALS - 1
    before = fake.calls()[CALL]
    found = one.scrape(after=10)
    assert value(found, "hw.power") == 385
    assert value(found, "hw.energy") == 1_000_000
    assert value(found, "hw.temperature", hw_sensor_location="memory") is None
    assert one.drops()["hw.temperature", "unsupported"] >= 1
    assert fake.calls()[CALL] - before < 20
    # It is remembered: one request is enough from then on.
    before = fake.calls()[CALL]
    assert value(one.scrape(after=10), "hw.power") == 385
    assert fake.calls()[CALL] - before == 1
    # And not for ever.
    fake.configure(static=1, gpus=1)
    one.until(lambda now: value(now, "hw.temperature", hw_sensor_location="memory") == 55)
    for _ in range(3):
        before = fake.calls()[CALL]
        one.scrape(after=0.1)
    assert fake.calls()[CALL] - before == 1


def test_two_such_fields_are_found_as_well(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("fi_refuse.82=UNKNOWN", "fi_refuse.185=UNKNOWN", static=1, gpus=1)
    one = receiver()
    found = one.until(lambda now: value(now, "hw.power") is not None)
    assert value(found, "hw.energy") == 1_000_000
    assert value(found, "hw.temperature", hw_sensor_location="memory") is None


def test_when_every_request_is_refused_other_calls_stand_in(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(profile="t4", static=1, gpus=1)
    one = receiver()
    one.scrape()
    fake.configure(f"error.{CALL}=UNKNOWN", profile="t4", static=1, gpus=1)
    for _ in range(REFUSALS - 1):
        assert value(one.scrape(after=1), "hw.power") is None
    before = fake.calls()[CALL]
    found = one.scrape(after=1)
    assert value(found, "hw.power") == 40
    assert value(found, "hw.energy") is not None
    assert set(status(found).values()) == {"ok"}
    # The search for a single culprit is bounded, and not made again.
    assert fake.calls()[CALL] - before <= 8
    before = fake.calls()[CALL]
    assert value(one.scrape(after=1), "hw.power") == 40
    assert fake.calls()[CALL] - before == 1
    fake.configure("value.field.186=41000", profile="t4", static=1, gpus=1)
    assert value(one.scrape(after=1), "hw.power") == 41


def test_a_refusal_that_passes_uses_no_other_call(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(profile="t4", static=1, gpus=1)
    one = receiver()
    one.scrape()
    for _ in range(REFUSALS):
        fake.configure(f"error.{CALL}=TIMEOUT", profile="t4", static=1, gpus=1)
        assert value(one.scrape(after=1), "hw.power") is None
        fake.configure(profile="t4", static=1, gpus=1)
        assert value(one.scrape(after=1), "hw.power") == 40
    assert "nvmlDeviceGetPowerUsage" not in fake.calls()
    assert one.drops()["hw.power", "timeout"] == REFUSALS


def test_a_lost_gpu_ends_the_search(fake: FakeNvml, receiver: Make) -> None:
    fake.configure("fi_refuse.82=UNKNOWN", static=1, gpus=2)
    one = receiver()
    for _ in range(REFUSALS - 1):
        one.scrape(after=1)
    fake.configure("fi_refuse.82=UNKNOWN", f"error.{CALL}=GPU_IS_LOST@0", static=1, gpus=2)
    assert sorted(status(one.scrape(after=1)).values()) == ["failed", "ok"]


@pytest.mark.parametrize(
    ("kind", "bits", "expected"),
    [
        (0, struct.pack("=d", 1.5), 1.5),
        (1, struct.pack("=II", 7, 0xDEAD), 7),
        (2, struct.pack("=Q", 2**40), 2**40),
        (3, struct.pack("=Q", 2**63), 2**63),
        (4, struct.pack("=q", -5), -5),
        (5, struct.pack("=iI", -5, 0xDEAD), -5),
        (6, struct.pack("=H6x", 65535), 65535),
    ],
)
def test_a_value_is_read_by_its_kind(kind: int, bits: bytes, expected: float) -> None:
    [raw] = struct.unpack("=Q", bits)
    assert value_of(kind, raw) == expected


@pytest.mark.parametrize(
    ("kind", "raw", "reason"),
    [(1, 2**32 - 1, "absent"), (3, 2**64 - 1, "absent"), (7, 1, "type"), (99, 1, "type")],
)
def test_a_value_that_is_none(kind: int, raw: int, reason: str) -> None:
    with pytest.raises(ReadError) as error:
        value_of(kind, raw)
    assert error.value.reason == reason


def test_an_entry_that_the_library_leaves_alone_is_no_value() -> None:
    request = FieldRequests().fill(((82, 0), (202, 17)))
    assert [(kind, code) for kind, code, _ in ENTRY.iter_unpack(request)] == [(0, 999)] * 2


def test_a_request_begins_anew_each_time() -> None:
    requests = FieldRequests()
    keys = ((82, 0), (202, 17))
    first = requests.fill(keys)
    asked = bytes(first)
    memmove(first, bytes((c_uint64 * 10)(*range(10))), 80)
    assert bytes(requests.fill(keys)) == asked
    number, scope = struct.unpack_from("=II", asked, 40)
    assert (number, scope) == (202, 17)


def test_requests_kept_are_bounded() -> None:
    requests = FieldRequests()
    for number in range(1000):
        requests.fill(((number, 0),))
    assert bytes(requests.fill(((7, 3),)))[:8] == struct.pack("=II", 7, 3)
    assert len(requests._blanks) <= 32
