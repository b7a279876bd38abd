"""What the receiver makes of each model of the fake NVML; `make goldens` writes it down.

A golden file lists the points at the profile `standard`, those that `full` adds, and why any other
metric of the table has no point. Read a change by eye: nothing may be there that such hardware
cannot have, and each absence must be right for it.
"""

import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.fakes import nvml_fake
from tests.receivers.nvmlreceiver import harness

from nvmlreceiver.processes.liveness import Proc
from nvmlreceiver.readings.processes import ProcessRows
from nvmlreceiver.table import Table
from otelgpu.points.metric import Profile
from otelgpu.scraping.table import Read

FOLDER = Path(__file__).parent / "golden"
MODELS: Mapping[str, int] = {
    "h100": 0,
    "a100": 0,
    "b200": 0,
    "gb200": 580,
    "l40s": 0,
    "t4": 0,
    "rtx4090": 0,
    "gb10": 580,
    "jetson": 0,
    "thor": 580,
    "wsl": 570,
    "k80": 470,
    "p100": 535,
    "v100": 580,
}
"""Branch of the driver by model; 0 is a driver that has all that the header has."""


def build(driver: int) -> Path:
    """Build the fake library of a driver branch, or skip the test where it cannot be built."""
    if not driver:
        return nvml_fake.require()
    out = nvml_fake.DEFAULT_OUT.with_name(f"fake-nvml-{driver}")
    return nvml_fake.require(out=out, driver=driver)


def describe(make: Callable[..., harness.Receiver], library: Path) -> list[str]:
    """Return a golden file's lines for the model that the fake is configured as."""
    first = make(library=library)
    first.scrape()
    # Activity is a mean over the time between two scrapes.
    standard = harness.lines(first.scrape(after=10))
    harness.close_nvml()
    made = make(library=library, profile=Profile.FULL)
    made.scrape()
    readings = made.scrape(after=10)
    full = harness.lines(readings)
    given = {stream.metric.name for stream, _ in readings}
    reasons: dict[str, set[str]] = {}
    for metric, reason in made.drops():
        if reason == "first_sample" and metric in given:
            continue
        reasons.setdefault(metric, set()).add(reason)
    absent = [f"{name}: {_why(reasons, name)}" for name in sorted(_table() - given)]
    partly = [f"{name}: {_why(reasons, name)}" for name in sorted(reasons.keys() & given)]
    return [
        "# standard",
        *standard,
        "# full, besides",
        *(line for line in full if line not in standard),
        "# absent",
        *absent,
        "# absent in part",
        *partly,
    ]


def _why(reasons: Mapping[str, set[str]], name: str) -> str:
    return ", ".join(sorted(reasons.get(name, {"none now"})))


def _table() -> set[str]:
    """Names of the metrics that are read from a whole GPU."""
    processes = ProcessRows(Proc(Path(), logging.getLogger()), time.time_ns)
    return {
        emit.metric.name
        for row in Table(Path(), time.monotonic, processes).whole()
        for emits in ([row.emits] if isinstance(row, Read) else [f.emits for f in row.fields])
        for emit in emits
    }


def _write(model: str, directory: Path) -> None:
    library = build(MODELS[model])
    fake = nvml_fake.FakeNvml(library, directory)
    os.environ.update(fake.environment)
    fake.configure(profile=model, static=1, gpus=1)

    def make(library: Path, profile: Profile = Profile.STANDARD) -> harness.Receiver:
        return harness.Receiver(harness.config(library, profile=profile))

    lines = describe(make, library)
    harness.close_nvml()
    (FOLDER / f"{model}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for each in sys.argv[1:] or MODELS:
            _write(each, Path(name) / each)
