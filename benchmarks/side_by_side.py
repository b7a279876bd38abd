"""otelgpu beside nvitop-exporter on the same fake driver, in one run.

Both read 8 GPUs once a second: otelgpu sends OTLP over HTTP to a sink on loopback, nvitop-exporter
is scraped over HTTP. Prints a table; the exit status is 1 when a bound of the project is not held.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import measure
from benchmarks.sink import Sink
from tests.fakes.nvml_fake import FakeNvml, build

BIN = Path(sys.executable).parent
WARM_UP = 12.0
"""Seconds: slow readings have all been made once by then."""


@frozen
class Result:
    """What one agent cost and shipped while it was measured."""

    name: str
    cpu_percent: float
    rss: float
    threads: int
    values: float
    """Exported values a second."""
    calls: float
    """Calls of the driver for one GPU and cycle."""

    @property
    def cpu_per_1000(self) -> float:
        """Percent of a core for 1,000 exported values a second."""
        return self.cpu_percent / self.values * 1000


@contextmanager
def process(arguments: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program for the time of the block."""
    full = {**os.environ, **environment}
    with tempfile.TemporaryFile() as log:
        running = subprocess.Popen(arguments, env=full, stdout=log, stderr=log)
        try:
            yield running
            if running.poll() is not None:
                log.seek(0)
                raise RuntimeError(f"{arguments[0]} ended:\n{log.read().decode()}")
        finally:
            running.terminate()
            running.wait(20)


def observe(
    name: str, pid: int, fake: FakeNvml, gpus: int, seconds: float, values: Callable[[], int]
) -> Result:
    """Measure a running agent; ``values`` is called once a second and counts exported values."""
    before, calls = measure.usage(pid), sum(fake.calls().values())
    shipped = 0
    for tick in range(int(seconds)):
        time.sleep(max(0.0, before.at + tick + 1 - time.monotonic()))
        shipped += values()
    after = measure.usage(pid)
    span = after.at - before.at
    return Result(
        name,
        100 * (after.cpu - before.cpu) / span,
        measure.resident(pid),
        measure.threads(pid),
        shipped / span,
        (sum(fake.calls().values()) - calls) / span / gpus,
    )


def otelgpu(fake: FakeNvml, folder: Path, gpus: int, seconds: float) -> Result:
    """Measure our agent with the standard profile at 1 s."""
    sink = Sink()
    config = folder / "otelgpu.yaml"
    config.write_text(
        "receivers: {nvml: {collection_interval: 1s}}\n"
        f"exporters: {{otlp_http: {{endpoint: '{sink.endpoint}'}}}}\n"
        "service: {pipelines: {metrics: {receivers: [nvml], exporters: [otlp_http]}}}\n",
        encoding="utf-8",
    )
    seen = 0

    def values() -> int:
        nonlocal seen
        fresh, seen = sink.requests[seen:], len(sink.requests)
        return sum(points for points, _ in fresh)

    with process([str(BIN / "otelgpu"), "run", "-c", str(config)], fake.environment) as running:
        time.sleep(WARM_UP)
        values()
        result = observe("otelgpu", running.pid, fake, gpus, seconds, values)
    sink.close()
    return result


def nvitop(fake: FakeNvml, gpus: int, seconds: float) -> Result:
    """Measure nvitop-exporter at 1 s, scraped once a second."""
    port = 19432

    def values() -> int:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return sum(1 for line in lines if line and not line.startswith("#"))

    command = [str(BIN / "nvitop-exporter"), "--bind-address", "127.0.0.1", "--port", str(port)]
    with process([*command, "--interval", "1"], fake.environment) as running:
        time.sleep(WARM_UP)
        return observe("nvitop-exporter", running.pid, fake, gpus, seconds, values)


def report(results: list[Result]) -> None:
    """Print the table of benchmarks/README.md."""
    print("| agent | CPU % | RSS MiB | threads | values/s | CPU % per 1,000 values/s | calls |")
    print("|---|---|---|---|---|---|---|")
    for r in results:
        print(
            f"| {r.name} | {r.cpu_percent:.2f} | {r.rss:.1f} | {r.threads} | {r.values:.0f} "
            f"| {r.cpu_per_1000:.2f} | {r.calls:.1f} |"
        )


def verdict(ours: Result, peer: Result) -> int:
    """Hold the bounds that the project has set itself."""
    bounds = {
        "CPU per value at most half of the peer's": ours.cpu_per_1000 <= peer.cpu_per_1000 / 2,
        "RSS at most 40 MiB": ours.rss <= 40,
        "at most 22 driver calls per GPU and cycle": ours.calls <= 22,
    }
    for bound, held in bounds.items():
        print(f"{'ok  ' if held else 'FAIL'} {bound}")
    return 0 if all(bounds.values()) else 1


def main() -> int:
    """Run both, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--gpus", type=int, default=8)
    options = parser.parse_args()
    library = build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first, second = FakeNvml(library, folder / "a"), FakeNvml(library, folder / "b")
        for fake in (first, second):
            fake.configure(gpus=options.gpus, procs=1)
        ours = otelgpu(first, folder, options.gpus, options.seconds)
        peer = nvitop(second, options.gpus, options.seconds)
    report([ours, peer])
    return verdict(ours, peer)


if __name__ == "__main__":
    sys.exit(main())
