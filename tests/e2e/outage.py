"""An outage of the Collector that goes on beside other tests: a minute is long to wait for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen
from tests.e2e.agent import AgentProcess, configuration
from tests.fakes.nvml_fake import FakeNvml
from tests.peers.collector import Collector

OUTAGE_S = 60.0


@frozen
class Outage:
    """The agent runs, the Collector is away."""

    agent: AgentProcess
    collector: Collector
    since: float
    """When the Collector was stopped, by the monotonic clock."""


@contextmanager
def outage(library: Path, program: Path, folder: Path) -> Iterator[Outage]:
    """Begin an outage; whoever gets it ends it."""
    fake = FakeNvml(library, folder / "fake")
    fake.configure(gpus=8)
    receiver = {"collection_interval": "1s"}
    retry = {"initial_interval": "200ms", "max_interval": "2s"}
    with Collector(program, folder) as collector:
        config = configuration(collector.http_endpoint, receiver, retry_on_failure=retry)
        with AgentProcess(folder, config, fake.environment) as agent:
            collector.wait_for(lambda c: bool(c.received()), 30)
            collector.stop()
            yield Outage(agent, collector, time.monotonic())
