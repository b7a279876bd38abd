"""What each state of a component means, and what to do about it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import yaml
from attrs import frozen

from otelgpu.telemetry.component import Condition


@frozen
class State:
    """One entry of ``states.yaml``."""

    cause: str
    """What is the case, in a sentence."""
    remedy: str
    """What a person can do about it; empty where there is nothing to do."""
    ready: bool
    """Whether the agent does its job all the same, as far as this node allows."""


@cache
def all_states() -> dict[str, State]:
    """Return the states by id."""
    text = files("otelgpu.telemetry").joinpath("states.yaml").read_text(encoding="utf-8")
    return {name: State(**entry) for name, entry in yaml.safe_load(text).items()}


def describe(condition: Condition) -> State:
    """Return what a component's condition means; third-party states speak by their detail."""
    found = all_states().get(condition.state)
    return found or State(cause=condition.detail or condition.state, remedy="", ready=True)
