from __future__ import annotations

from datetime import timedelta
from enum import IntEnum
from pathlib import Path
from typing import Any

import yaml
from attrs import Factory, frozen
from hypothesis import given
from hypothesis import strategies as st

from otelgpu.config.dump import dump
from otelgpu.config.expand import expand
from otelgpu.config.load import load
from otelgpu.config.mistake import Findings
from otelgpu.config.secret import Secret
from otelgpu.config.structure import structure

TOKEN = Secret("hunter2")


class Level(IntEnum):
    LOW = 0


@frozen
class Inner:
    key: Secret | None = None
    wait: timedelta = timedelta(seconds=90)


@frozen
class Config:
    token: Secret = TOKEN
    headers: dict[str, Secret] = Factory(dict)
    inner: Inner = Inner()
    path: Path = Path("/a")
    level: Level = Level.LOW
    tags: frozenset[str] = frozenset({"b", "a"})
    items: tuple[Inner, ...] = ()
    free: dict[str, Any] = Factory(dict)


def test_secrets_are_redacted() -> None:
    config = Config(TOKEN, {"h": TOKEN}, Inner(TOKEN), items=(Inner(TOKEN),))
    text = dump(config)
    assert "hunter2" not in text
    assert yaml.safe_load(text) == {
        "token": "[redacted]",
        "headers": {"h": "[redacted]"},
        "inner": {"key": "[redacted]", "wait": "1m30s"},
        "path": "/a",
        "level": "low",
        "tags": ["a", "b"],
        "items": [{"key": "[redacted]", "wait": "1m30s"}],
        "free": {},
    }


SCALARS = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"])),
    st.sampled_from(["no", "1e5", "0o17", "12:30", "010", "null", "true", "<<", "=", "", "${x}"]),
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
)


@given(st.dictionaries(st.text("abc$<=~n1"), st.one_of(SCALARS, st.lists(SCALARS))))
def test_text_reads_back_as_the_same_settings(tmp_path_factory: Any, free: dict[str, Any]) -> None:
    config = Config(free=free)
    path = tmp_path_factory.mktemp("dump") / "a.yaml"
    path.write_text(dump(config), "utf-8")
    findings = Findings()
    raw = expand(load([path]), {}, findings)
    findings.check()
    assert structure(raw, Config, "").free == free
