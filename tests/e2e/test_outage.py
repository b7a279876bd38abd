"""The Collector is away and comes back: every accepted point arrives, and the ledger adds up."""

import time
from collections import Counter
from itertools import pairwise

import pytest
from tests.e2e.outage import OUTAGE_S, Outage
from tests.e2e.points import Received, points
from tests.peers.collector import require_collector

pytestmark = pytest.mark.peer


@pytest.mark.timeout(180)
def test_collector_away_for_a_minute(long_outage: Outage | None) -> None:
    if long_outage is None:
        require_collector()
    assert long_outage is not None
    agent, collector, away = long_outage.agent, long_outage.collector, long_outage.since
    agent.wait_for(lambda: agent.state("otlp_http")["state"] == "exporter.unreachable", 20)
    assert agent.ready()[0] == 503
    agent.wait_for(lambda: time.monotonic() - away >= OUTAGE_S, OUTAGE_S + 5)
    collector.start()
    agent.wait_for(lambda: agent.state("otlp_http")["state"] == "ok", 20)
    status, _ = agent.terminate(15)
    assert status == 0
    received = list(points(collector.received()))
    _no_cycle_is_missing(received)
    _the_ledger_adds_up(received)


def _no_cycle_is_missing(received: list[Received]) -> None:
    """The counter of scraped points says how many there must be at the time of its point."""
    device = [p for p in received if p.metric.startswith("hw.")]
    keys = Counter((p.metric, *sorted(map(str, p.attributes.items())), p.time) for p in device)
    assert max(keys.values()) == 1, "a point arrived twice"
    claims = [p for p in received if p.metric == "otelgpu.scrape.points"]
    claim = claims[-1]
    # The counter is raised before the hand-over, and the scrapes go on after it: what was counted
    # is in what came up to the claim and in the one cycle that may be under way.
    times = sorted({p.time for p in device})
    until = [t for t in times if t < claim.time]
    arrived = sum(p.time <= until[-1] for p in device)
    one_cycle = sum(p.time == until[-1] for p in device)
    assert claim.value is not None
    assert arrived <= claim.value <= arrived + one_cycle
    gaps = [(b - a) / 1e9 for a, b in pairwise(times)]
    assert len(times) > OUTAGE_S
    assert max(gaps) < 2.5, "an interval of 1 s, and a busy machine"


def _the_ledger_adds_up(received: list[Received]) -> None:
    """Accepted = sent + rejected + dropped + queued in each batch of the agent's own metrics."""
    by_time: dict[int, Counter[str]] = {}
    for p in received:
        if p.metric.startswith("otelgpu.exporter.") and p.value is not None:
            account = p.attributes.get("otelgpu.outcome", p.metric.rpartition(".")[2])
            if not p.metric.startswith("otelgpu.exporter.event"):
                by_time.setdefault(p.time, Counter())[account] += int(p.value)
    assert by_time
    for accounts in by_time.values():
        gone = accounts["sent"] + accounts["rejected"] + accounts["dropped"]
        assert accounts["accepted"] == gone + accounts["size"]
    last = by_time[max(by_time)]
    assert last["rejected"] == last["dropped"] == 0
    assert max(a["size"] for a in by_time.values()) > 10_000, "the outage was queued"
