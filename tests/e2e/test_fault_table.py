"""The column of otelgpu in docs/fault-table.md, from the agent itself on the fake driver.

OTELGPU_REFRESH=1 writes the page's column instead of comparing it.
"""

import os
import time
from itertools import pairwise
from pathlib import Path

from tests.e2e.agent import AgentProcess, configuration
from tests.e2e.points import Received, points
from tests.fakes.nvml_fake import REPOSITORY, FakeNvml
from tests.fakes.otlp import OtlpHttpServer

PAGE = REPOSITORY / "docs" / "fault-table.md"
REFRESH = "OTELGPU_REFRESH"
GPUS = 8
PACE = {"collection_interval": "200ms", "timeout": "500ms", "discovery_interval": "1s"}
LONGEST_GAP = 0.2 + 0.5 + 0.4
"""Interval and deadline, and what a busy machine may add."""
DESCRIPTION = {"hw.gpu.info", "hw.status", "hw.gpu.faults", "hw.gpu.fault.last_occurrence"}
POWER = [
    "error.nvmlDeviceGetPowerUsage=NOT_SUPPORTED@3",
    "fi_error.185=NOT_SUPPORTED@3",
    "fi_error.186=NOT_SUPPORTED@3",
]
HANG = "hang.nvmlDeviceGetUtilizationRates=3"


class Run:
    """The agent under faults, and what has arrived from it."""

    def __init__(self, agent: AgentProcess, fake: FakeNvml, sink: OtlpHttpServer) -> None:
        self.agent = agent
        self._fake = fake
        self._sink = sink
        self._points: list[Received] = []
        self._taken = 0

    def rules(self, *rules: str) -> int:
        """Puts a fault in force; gives the time from which it is."""
        self._fake.configure(f"gpus={GPUS}", *rules)
        return time.time_ns()

    def since(self, moment: int) -> list[Received]:
        """Points with a value that are later than a moment."""
        new = list(self._sink.received)[self._taken :]
        self._taken += len(new)
        self._points += points(r.request for r in new if r.request)  # type: ignore[misc]
        return [p for p in self._points if p.time > moment and p.value is not None]

    def having(self, metric: str, moment: int) -> set[str]:
        """Devices with a value of a metric later than a moment."""
        return {p.attributes["hw.id"] for p in self.since(moment) if p.metric == metric}

    def fresh(self, moment: int) -> set[str]:
        return self.having("hw.temperature", moment)

    def until_fresh(self, devices: set[str], seconds: float = 10) -> int:
        """Waits until exactly these have values in what comes from now on; gives that moment."""
        moment = time.time_ns()

        def so_it_is() -> bool:
            nonlocal moment
            if not self.fresh(moment) <= devices:
                moment = time.time_ns()
            return self.fresh(moment) == devices

        self.agent.wait_for(so_it_is, seconds)
        return moment

    def until_failed(self, device: str, moment: int) -> None:
        self.agent.wait_for(lambda: self._failed(device, moment), 10)

    def _failed(self, device: str, moment: int) -> bool:
        return any(
            p.metric == "hw.status"
            and p.value == 1
            and p.attributes["hw.id"] == device
            and p.attributes["hw.state"] == "failed"
            for p in self.since(moment)
        )

    def of(self, device: str, moment: int) -> set[str]:
        """Metrics of a device with values later than a moment."""
        return {p.metric for p in self._own(device, moment)}

    def series(self, device: str, moment: int) -> int:
        own = self._own(device, moment)
        return len({(p.metric, *sorted(map(str, p.attributes.items()))) for p in own})

    def _own(self, device: str, moment: int) -> list[Received]:
        """Points of a device; what is counted of it is the agent's own."""
        return [
            p
            for p in self.since(moment)
            if p.attributes.get("hw.id") == device and not p.metric.startswith("otelgpu.")
        ]

    @property
    def state(self) -> str:
        return str(self.agent.state("nvml")["state"])

    def uuids(self, moment: int) -> list[str]:
        """GPUs by index."""
        info = {
            p.attributes["hw.gpu.index"]: p.attributes["hw.id"]
            for p in self.since(moment)
            if p.metric == "hw.gpu.info" and "hw.gpu.index" in p.attributes
        }
        return [info[index] for index in sorted(info)]


def test_fault_table(fake: FakeNvml, sink: OtlpHttpServer, tmp_path: Path) -> None:
    outcomes = {}
    fake.configure(f"gpus={GPUS}", "init_error=DRIVER_NOT_LOADED")
    config = configuration(sink.url, PACE)
    with AgentProcess(tmp_path, config, fake.environment) as agent:
        run = Run(agent, fake, sink)
        outcomes["driver not loaded at start, then loaded"] = not_loaded(run)
        gpus, outcomes["GPU 3 lost at start, then back"] = lost_at_start(run)
        outcomes["GPU 3 lost while running"] = lost(run, gpus)
        outcomes["every call UNKNOWN, then well"] = unknown(run, gpus)
        outcomes["MIG switched on while running"] = switched(run, gpus)
        outcomes["a call on GPU 3 hangs"] = hangs(run, gpus)
        outcomes["after the hang"] = released(run, gpus)
        outcomes["SIGTERM during the hang"] = terminated(run, gpus)
    sink.received.clear()
    # A process that lives: one in each instance.
    pids = ",".join([str(os.getpid())] * 7)
    fake.configure(f"gpus={GPUS}", "mig.0=1g+1g+1g+1g+1g+1g+1g", f"pids={pids}@0", *POWER)
    with AgentProcess(tmp_path, config, fake.environment) as agent:
        run = Run(agent, fake, sink)
        gpus, outcomes["MIG on GPU 0 at start"] = partitioned(run)
        outcomes["power NOT_SUPPORTED on GPU 3"] = without_power(run, gpus)
    told = PAGE.read_text(encoding="utf-8")
    page = with_column(told, outcomes)
    if os.environ.get(REFRESH):
        PAGE.write_text(page, encoding="utf-8")
    assert page == told or os.environ.get(REFRESH), "see docs/fault-table.md: it says otherwise"


def with_column(page: str, outcomes: dict[str, str]) -> str:
    """The page with these outcomes in the column after the faults."""
    lines = page.splitlines()
    left = dict(outcomes)
    for number, line in enumerate(lines):
        cells = line.split(" | ")
        fault = cells[0].removeprefix("| ")
        if fault in left:
            lines[number] = " | ".join([cells[0], left.pop(fault), *cells[2:]])
        elif line.startswith("| "):
            assert fault == "fault", f"nothing tried {fault}"
    assert not left, "faults that the page does not have"
    return "\n".join(lines) + "\n"


def not_loaded(run: Run) -> str:
    run.agent.wait_for(lambda: run.state == "nvml.driver_not_loaded", 10)
    assert not [p for p in run.since(0) if p.metric.startswith("hw.")]
    # With GPU 3 lost: what comes next is how it is found.
    began = run.rules("lost=3")
    run.agent.wait_for(lambda: len(run.fresh(began)) == GPUS - 1, 10)
    return "says `nvml.driver_not_loaded`, recovers"


def lost_at_start(run: Run) -> tuple[list[str], str]:
    run.agent.wait_for(lambda: run.state != "ok", 5)
    state, others = run.state, run.fresh(0)
    came = run.rules()
    run.agent.wait_for(lambda: len(run.fresh(came)) == GPUS, 10)
    gpus = run.uuids(came)
    moment = run.until_fresh(set(gpus))
    run.agent.wait_for(lambda: run.series(gpus[3], moment) == run.series(gpus[4], moment), 5)
    assert others == set(gpus) - {gpus[3]}
    return gpus, f"other {len(others)} fresh, says `{state}`; GPU 3 comes back with all its series"


def lost(run: Run, gpus: list[str]) -> str:
    run.until_failed(gpus[3], run.rules("lost=3"))
    others = set(gpus) - {gpus[3]}
    moment = run.until_fresh(others)
    assert run.of(gpus[3], moment) == DESCRIPTION
    state = run.state
    run.rules()
    run.until_fresh(set(gpus))
    return (
        f"other {len(others)} fresh; GPU 3 has `hw.status` failed and no other value, "
        f"says `{state}`; recovers"
    )


def unknown(run: Run, gpus: list[str]) -> str:
    run.rules("error.*=UNKNOWN")
    run.agent.wait_for(lambda: run.state != "ok", 10)
    moment = time.time_ns()
    run.agent.wait_for(lambda: any(p.metric == "otelgpu.cpu.time" for p in run.since(moment)), 5)
    told = {p.metric for p in run.since(moment) if p.metric.startswith("hw.")}
    assert told <= DESCRIPTION - {"hw.status"}
    assert all(p.value == 0 for p in run.since(moment) if p.metric == "otelgpu.receiver.up")
    run.rules()
    run.until_fresh(set(gpus), 15)
    return "alive, no GPU value, `otelgpu.receiver.up` 0; recovers"


def partitions(run: Run, moment: int) -> set[str]:
    memory = run.having("hw.gpu.memory.usage", moment)
    return {device for device in memory if device.startswith("MIG-")}


def switched(run: Run, gpus: list[str]) -> str:
    began = run.rules("mig.0=1g+1g+1g+1g+1g+1g+1g")
    run.agent.wait_for(lambda: len(partitions(run, began)) == 7, 10)
    run.until_fresh(set(gpus))
    left = run.rules()
    run.agent.wait_for(lambda: gpus[0] in run.having("hw.gpu.memory.usage", left), 10)
    moment = run.until_fresh(set(gpus))
    assert not partitions(run, moment)
    return "seen, and that it is switched off"


def hangs(run: Run, gpus: list[str]) -> str:
    began = run.rules(HANG)
    run.until_failed(gpus[3], began)
    others = set(gpus) - {gpus[3]}
    moment = run.until_fresh(others)
    # A few cycles of a GPU that hangs.
    run.agent.wait_for(lambda: time.time_ns() > moment + 2_000_000_000, 5)
    assert run.fresh(moment) == others
    for device in others:
        times = sorted(
            {
                p.time
                for p in run.since(began)
                if p.metric == "hw.temperature" and p.attributes["hw.id"] == device
            }
        )
        assert max(b - a for a, b in pairwise(times)) / 1e9 <= LONGEST_GAP
    assert run.of(gpus[3], moment) == DESCRIPTION
    return (
        f"other {len(others)} fresh within interval and deadline; GPU 3 has `hw.status` failed "
        f"and no other value, says `{run.state}`"
    )


def released(run: Run, gpus: list[str]) -> str:
    run.rules()
    run.until_fresh(set(gpus))
    run.agent.wait_for(lambda: run.state == "ok", 10)
    return "recovers"


def terminated(run: Run, gpus: list[str]) -> str:
    run.until_failed(gpus[3], run.rules(HANG))
    status, seconds = run.agent.terminate(10)
    assert seconds < 5
    return f"ends with {status} within 5 s"


def partitioned(run: Run) -> tuple[list[str], str]:
    run.agent.wait_for(lambda: len(run.fresh(0)) == GPUS and len(partitions(run, 0)) == 7, 15)
    moment = time.time_ns()
    run.agent.wait_for(lambda: len(run.fresh(moment)) == GPUS, 10)
    gpus = run.uuids(0)
    assert not run.of(gpus[0], moment) & {"hw.gpu.memory.usage", "hw.gpu.utilization"}
    assert "hw.power" in run.of(gpus[0], moment)
    assert len(run.having("hw.gpu.memory.usage", moment)) == GPUS - 1 + 7
    assert len(run.having("process.gpu.memory.usage", moment) - set(gpus)) == 7
    limits = {
        p.attributes["hw.id"]: p.value or 0
        for p in run.since(moment)
        if p.metric == "hw.gpu.memory.limit"
    }
    whole = limits[gpus[1]]
    assert (GPUS - 1 / 4) * whole <= sum(limits.values()) <= GPUS * whole
    return gpus, (
        "7 instances with memory and processes; power on the GPU, which has no memory and no "
        "utilization: sums are right"
    )


def without_power(run: Run, gpus: list[str]) -> str:
    for metric in ("hw.power", "hw.gpu.power.average"):
        assert run.having(metric, 0) == set(gpus) - {gpus[3]}
    assert gpus[3] in run.fresh(0)
    return "absent"
