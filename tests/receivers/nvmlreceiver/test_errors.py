"""Whatever a call answers: what it feeds is absent, never 0, and counted once with a reason."""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pynvml
import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Key, Receiver, close_nvml, of, status

from nvmlreceiver.errors import LOST, REASONS, UNSUPPORTED, read_error
from nvmlreceiver.fields import FieldKey
from nvmlreceiver.processes.liveness import Proc
from nvmlreceiver.readings.processes import ProcessRows
from nvmlreceiver.table import Table
from otelgpu.points.batch import Readings
from otelgpu.points.metric import Profile
from otelgpu.scraping.errors import TargetLostError, UnsupportedError
from otelgpu.scraping.table import Batched, EmitEach, Read

Make = Callable[..., Receiver]

CODES = {
    name.removeprefix("NVML_ERROR_"): value
    for name, value in vars(pynvml).items()
    if name.startswith("NVML_ERROR_")
}
NOT_IN_THE_FAKE = {"ALREADY_INITIALIZED", "RESET_TYPE_NOT_SUPPORTED"}
"""Answers of nvmlInit and of a reset only."""

DISCOVERY = {
    "nvmlInitWithFlags",
    "nvmlDeviceGetCount_v2",
    "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetMigMode",
    "nvmlEventSetCreate",
    "nvmlDeviceRegisterEvents",
    "nvmlEventSetWait_v2",
    "nvmlEventSetFree",
}
"""Without an answer of these there is no device, or one of another name; no MIG, or no events."""

INSTEAD: dict[Key, Key] = {
    ("hw.gpu.link.errors", (("error.type", "correctable"), ("hw.gpu.link.type", "pcie"))): (
        "hw.gpu.link.errors",
        (("error.type", "replay"), ("hw.gpu.link.type", "pcie")),
    )
}
"""Points that stand in for another where the driver lacks a reading."""

PROCESSES = ProcessRows(Proc(Path(), logging.getLogger()), time.time_ns)
TABLE = Table(Path(), time.monotonic, PROCESSES)

FIELDS = [
    field.key.number
    for row in TABLE.whole()
    if isinstance(row, Batched)
    for field in row.fields
    if isinstance(field.key, FieldKey)
]

EACH = {
    emit.metric.name
    for row in TABLE.whole()
    for emits in ([row.emits] if isinstance(row, Read) else [f.emits for f in row.fields])
    for emit in emits
    if isinstance(emit, EmitEach)
}
"""Metrics with several points from one value: a value that is missing counts once for all."""


def test_every_code_of_the_binding_has_a_reason() -> None:
    assert CODES
    assert set(CODES.values()) | {pynvml.NVML_SUCCESS} == set(REASONS)


def test_a_code_of_a_later_driver_is_an_error_like_others() -> None:
    assert read_error(4711, "?").reason == "other"


def test_reasons_have_their_kinds() -> None:
    for code, reason in REASONS.items():
        error = read_error(code, "words")
        assert error.reason == reason
        assert isinstance(error, UnsupportedError) == (reason == UNSUPPORTED)
        assert isinstance(error, TargetLostError) == (reason == LOST)


def codes_of(turn: int, *, every: bool) -> list[str]:
    """Return a code of each kind and some of the others, which take turns; else three."""
    if not every:
        return ["GPU_IS_LOST", "NOT_SUPPORTED", "UNKNOWN"]
    others = sorted(CODES.keys() - KINDS - NOT_IN_THE_FAKE)
    return sorted([*KINDS, *others[turn % 5 :: 5]])


@pytest.fixture(params=["h100", "rtx4090", "t4"])
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.timeout(600)
def test_for_every_function_and_error_code(fake: FakeNvml, receiver: Make, model: str) -> None:
    fake.configure(profile=model, gpus=1, static=1)
    made = receiver(profile=Profile.FULL)
    whole = of(made.scrape())
    usual = made.drops()
    functions = {name for name, count in fake.calls().items() if count}
    functions -= {"nvmlShutdown", "nvmlErrorString"}
    assert len(functions) > 30
    affected = set()
    for turn, function in enumerate(sorted(functions)):
        for name in codes_of(turn, every=model == "h100"):
            code = CODES[name]
            close_nvml()
            fake.configure(f"error.{function}={name}", profile=model, gpus=1, static=1)
            made = receiver(profile=Profile.FULL)
            readings = made.scrape()
            found = of(readings)
            context = (function, name, made.state, made.detail)
            extra = {key for key in found.keys() - whole.keys() if key[0] not in LASTING}
            extra -= BY_CALL
            assert extra <= set(INSTEAD.values()), context
            if function in DISCOVERY:
                assert made.state != "ok" or found.keys() == whole.keys(), context
                assert made.state.startswith("nvml.") or made.state == "ok", context
                assert all(found[key] == whole[key] for key in found), context
                continue
            if REASONS[code] == LOST:
                check_lost(made, readings, context)
                continue
            missing = whole.keys() - found.keys()
            missing -= {gone for gone, stand_in in INSTEAD.items() if stand_in in found}
            assert all(found[key] == whole[key] for key in found.keys() & whole.keys()), context
            if function != "nvmlGpmQueryDeviceSupport":
                # What is told by other calls instead is missing no longer.
                check_counts(missing, made.drops(), usual, REASONS[code], context)
            affected |= {metric for metric, _ in missing}
    assert affected > {"hw.power", "hw.temperature", "hw.gpu.utilization", "hw.gpu.throttle.status"}


BY_CALL: set[Key] = {
    ("hw.gpu.utilization", (("hw.gpu.task", task),))
    for task in ("decoder", "encoder", "jpeg", "ofa")
}
"""What GPM tells from the second scrape on; without it they have calls of their own."""

KINDS = {
    "INVALID_ARGUMENT",
    "NOT_SUPPORTED",
    "NO_PERMISSION",
    "TIMEOUT",
    "GPU_IS_LOST",
    "FUNCTION_NOT_FOUND",
    "UNKNOWN",
}
"""One code of each kind."""

LASTING = {"hw.gpu.info", "hw.status", "hw.gpu.faults", "hw.gpu.fault.last_occurrence"}
"""What is still told of a lost GPU."""


def check_lost(made: Receiver, readings: Readings, context: object) -> None:
    """A call that finds the GPU lost ends all of it, or is made while GPUs are searched."""
    states = set(status(readings).values())
    if states:
        assert states == {"failed"}, context
        assert made.state == "nvml.device_lost", context
        assert {name for name, _ in of(readings)} <= LASTING, context
        # What compares two reads has nothing to compare yet, whether the GPU is lost or not.
        expected = {LOST, UNSUPPORTED, "first_sample"}
        assert {reason for _, reason in made.drops()} <= expected, context
        assert made.drops()["hw.power", LOST] == 1, context
    else:
        assert readings == [], context
        assert made.state == "nvml.device_unreadable", context


def check_counts(
    missing: set[Key],
    drops: Counter[tuple[str, str]],
    usual: Counter[tuple[str, str]],
    reason: str,
    context: object,
) -> None:
    """Each point that is missing is counted once, by that reason and no other.

    ``usual`` are the counts of what the model does not have.
    """
    gone = Counter(metric for metric, _ in missing)
    before, now = by_metric(usual), by_metric(drops)
    for metric in gone.keys() | before.keys() | now.keys():
        reasons = {reason, *before[metric]}
        if metric.startswith("hw.gpu.memory."):
            # The older structure, which stands in, lacks what these need.
            reasons.add("absent")
        counted = now[metric].keys()
        assert counted <= reasons, (context, metric, counted)
        more = now[metric].total() - before[metric].total()
        least = min(gone[metric], 1) if metric in EACH else gone[metric]
        # A list that cannot be read may have had processes or none.
        most = gone[metric] + (metric == "process.gpu.memory.usage")
        assert least <= more <= most, (context, metric, more, gone[metric])


def by_metric(drops: Counter[tuple[str, str]]) -> defaultdict[str, Counter[str]]:
    """Counts by reason for each metric."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (metric, reason), count in drops.items():
        found[metric][reason] += count
    return found


@pytest.mark.timeout(300)
def test_for_every_field_and_error_code(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=1, static=1)
    made = receiver(profile=Profile.FULL)
    whole, usual = of(made.scrape()), made.drops()
    assert len(FIELDS) > 20
    affected = set()
    for number in FIELDS:
        for name, code in sorted(CODES.items()):
            if name in NOT_IN_THE_FAKE or (number != FIELDS[0] and name not in KINDS):
                continue
            close_nvml()
            fake.configure(f"fi_error.{number}={name}", gpus=1, static=1)
            made = receiver(profile=Profile.FULL)
            readings = made.scrape()
            context = (number, name, made.state, made.detail)
            if REASONS[code] == LOST:
                check_lost(made, readings, context)
                continue
            found = of(readings)
            missing = whole.keys() - found.keys()
            missing -= {gone for gone, stand_in in INSTEAD.items() if stand_in in found}
            assert all(found[key] == whole[key] for key in found.keys() & whole.keys()), context
            # Within a call that is valid as a whole, the number is what the driver does not know.
            reason = UNSUPPORTED if name == "INVALID_ARGUMENT" else REASONS[code]
            check_counts(missing, made.drops(), usual, reason, context)
            affected |= {metric for metric, _ in missing}
    assert affected > {"hw.power", "hw.energy", "hw.errors", "hw.gpu.power.limit"}


@pytest.mark.timeout(300)
def test_values_with_all_bits_set_are_absent(fake: FakeNvml, receiver: Make, model: str) -> None:
    fake.configure(profile=model, gpus=1, static=1)
    whole = of(receiver(profile=Profile.FULL).scrape())
    functions = {name for name, count in fake.calls().items() if count}
    checked = 0
    for function in sorted(functions - {"nvmlShutdown", "nvmlInitWithFlags"} - DISCOVERY):
        close_nvml()
        fake.configure(f"all_ones.{function}=", profile=model, gpus=1, static=1)
        made = receiver(profile=Profile.FULL)
        found = of(made.scrape())
        context = (function, made.state, made.detail)
        changed = {key for key in found if found[key] != whole.get(key)}
        if function == "nvmlDeviceGetMarginTemperature":
            # A margin of -1 degree is one.
            assert {metric for metric, _ in changed} <= {"hw.gpu.heating_margin"}, context
            continue
        if function == "nvmlDeviceGetFieldValues":
            changed -= set(INSTEAD.values())
        assert not changed, (context, {key: found[key] for key in changed})
        checked += bool(whole.keys() - found.keys())
    assert checked > 10
