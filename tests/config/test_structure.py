from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any, Literal

import pytest
from attrs import Attribute, Factory, field, fields, frozen, validators

from otelgpu.config.expand import expand
from otelgpu.config.mistake import ConfigError, Findings
from otelgpu.config.secret import Secret
from otelgpu.config.structure import structure

NO_TOKEN = Secret("")


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 0
    HIGH = 1


def _above_low(instance: Any, _: Attribute[int], value: int) -> None:
    if value < instance.low:
        raise ValueError(f"must be at least low, {instance.low}")


@frozen
class Tls:
    ca_file: Path | None = None
    insecure: bool = False


@frozen
class Everything:
    text: str = "t"
    flag: bool = False
    count: int = field(default=1, validator=validators.ge(1))
    ratio: float = field(default=0.5, validator=[validators.ge(0), validators.le(1)])
    wait: timedelta = timedelta(seconds=10)
    path: Path = Path("/default")
    token: Secret = NO_TOKEN
    maybe: int | None = 7
    color: Color = Color.RED
    level: Level = Level.LOW
    mode: Literal["a", "b", 1] = "a"
    names: list[str] = Factory(list)
    pairs: tuple[int, ...] = ()
    tags: frozenset[str] = frozenset()
    order: Sequence[str] = ()
    headers: dict[str, Secret] = Factory(dict)
    free: Mapping[str, Any] = Factory(dict)
    value: str | int | float | bool = ""
    tls: Tls = Tls()
    more: Tls | None = None
    by_name: dict[str, Tls] = Factory(dict)
    several: list[Tls] = Factory(list)


@frozen
class Bounds:
    low: int
    high: int = field(validator=_above_low)
    name: str = field(default="x", validator=validators.instance_of(str))

    def __attrs_post_init__(self) -> None:
        if self.name == "bad":
            raise ValueError(f"low {self.low} does not suit the name")


@frozen
class Fixed:
    pair: tuple[int, str]


@frozen
class Ambiguous:
    either: Tls | Bounds


def _mistakes(raw: Any, cls: type[Any] = Everything) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as raised:
        structure(raw, cls, "p")
    lines = [f"{m.path}: {m.message}" for m in raised.value.mistakes]
    assert str(raised.value).splitlines() == lines
    return [(m.path, m.message) for m in raised.value.mistakes]


def _expanded(raw: Any, environ: Mapping[str, str]) -> Any:
    findings = Findings()
    value = expand(raw, environ, findings)
    findings.check()
    return value


@pytest.mark.parametrize("raw", [None, {}, {"tls": None, "names": None, "text": None}])
def test_nothing_means_defaults(raw: Any) -> None:
    assert structure(raw, Everything, "p") == Everything()


def test_every_type() -> None:
    raw = {
        "text": "x",
        "flag": True,
        "count": 2,
        "ratio": 1,
        "wait": "1m30s",
        "path": "/a/b",
        "token": "hunter2",
        "maybe": None,
        "color": "blue",
        "level": "high",
        "mode": 1,
        "names": ["a"],
        "pairs": [1, 2],
        "tags": ["a", "b", "a"],
        "order": ["b", "a"],
        "headers": {"a": "hunter2"},
        "free": {"a": {"b": [1, None]}},
        "value": 1.5,
        "tls": {"ca_file": "/ca"},
        "more": {"insecure": True},
        "by_name": {"hw.gpu.io": None},
        "several": [{}, {"insecure": True}],
    }
    found = structure(raw, Everything, "p")
    assert found == Everything(
        text="x",
        flag=True,
        count=2,
        ratio=1.0,
        wait=timedelta(seconds=90),
        path=Path("/a/b"),
        token=Secret("hunter2"),
        maybe=None,
        color=Color.BLUE,
        level=Level.HIGH,
        mode=1,
        names=["a"],
        pairs=(1, 2),
        tags=frozenset({"a", "b"}),
        order=("b", "a"),
        headers={"a": Secret("hunter2")},
        free={"a": {"b": [1, None]}},
        value=1.5,
        tls=Tls(Path("/ca")),
        more=Tls(insecure=True),
        by_name={"hw.gpu.io": Tls()},
        several=[Tls(), Tls(insecure=True)],
    )
    assert type(found.token) is Secret
    assert type(found.headers["a"]) is Secret
    assert type(found.ratio) is float
    assert "hunter2" not in repr(found)


FIELDS = sorted(field.name for field in fields(Everything))
REMEDY = "write one such as 500ms, 10s or 1h30m"


@pytest.mark.parametrize(
    ("raw", "path", "message"),
    [
        ({"text": 1}, "text", "expected text, got 1; put it in quotes"),
        ({"text": True}, "text", "expected text, got true; put it in quotes"),
        ({"text": []}, "text", "expected text, got a list"),
        ({"flag": "no thanks"}, "flag", "expected true or false, got 'no thanks'"),
        ({"flag": 1}, "flag", "expected true or false, got 1"),
        ({"count": "2"}, "count", "expected a whole number without quotes, got '2'"),
        ({"count": 2.0}, "count", "expected a whole number without quotes, got 2.0"),
        ({"count": True}, "count", "expected a whole number without quotes, got true"),
        ({"count": 0}, "count", "'count' must be >= 1: 0"),
        ({"ratio": True}, "ratio", "expected a finite number without quotes, got true"),
        ({"ratio": float("nan")}, "ratio", "expected a finite number without quotes, got nan"),
        ({"ratio": float("inf")}, "ratio", "expected a finite number without quotes, got inf"),
        ({"ratio": "1"}, "ratio", "expected a finite number without quotes, got '1'"),
        ({"ratio": 2}, "ratio", "'ratio' must be <= 1: 2.0"),
        ({"wait": "soon"}, "wait", f"'soon': expected a duration; {REMEDY}"),
        ({"wait": "-1s"}, "wait", f"'-1s': a duration cannot be negative; {REMEDY}"),
        (
            {"wait": 10},
            "wait",
            "expected a duration, got 10; write one with its unit, such as 500ms, 10s or 1h30m",
        ),
        (
            {"wait": False},
            "wait",
            "expected a duration, got false; write one with its unit, such as 500ms, 10s or 1h30m",
        ),
        ({"path": ""}, "path", "expected a path; name a file or directory"),
        ({"token": 12345}, "token", "expected text, got a number; put it in quotes"),
        ({"token": ["hunter2"]}, "token", "expected text, got a list"),
        ({"maybe": "x"}, "maybe", "expected a whole number without quotes, got 'x'"),
        ({"color": "green"}, "color", "expected one of red, blue; got 'green'"),
        ({"level": 0}, "level", "expected one of low, high; got 0"),
        ({"mode": True}, "mode", "expected one of 'a', 'b', 1; got true"),
        ({"names": "abc"}, "names", "expected a list, got text; write [a, b] or - lines"),
        ({"names": {"a": 1}}, "names", "expected a list, got a mapping; write [a, b] or - lines"),
        ({"names": ["a", None]}, "names::1", "expected text, got nothing"),
        (
            {"headers": "hunter2"},
            "headers",
            "expected a mapping, got text; write `key: value` lines",
        ),
        ({"headers": {"a": 1}}, "headers::a", "expected text, got a number; put it in quotes"),
        (
            {"value": []},
            "value",
            "expected one of: text, a whole number, a number, true or false; got a list",
        ),
        ({"tls": "x"}, "tls", "expected a mapping, got text; write `key: value` lines"),
        ({"more": 1}, "more", "expected a mapping, got a number; write `key: value` lines"),
        (
            {"tls": {"ca_fle": "x"}},
            "tls::ca_fle",
            "unknown setting 'ca_fle'; did you mean 'ca_file'? Known: ca_file, insecure",
        ),
        (
            {"by_name": {"a": {"zzz": 1}}},
            "by_name::a::zzz",
            "unknown setting 'zzz'; remove it or choose a known one. Known: ca_file, insecure",
        ),
        (
            {"several": [{}, {"insecure": 1}]},
            "several::1::insecure",
            "expected true or false, got 1",
        ),
        (
            {"txt": 1},
            "txt",
            f"unknown setting 'txt'; did you mean 'text'? Known: {', '.join(FIELDS)}",
        ),
    ],
)
def test_one_mistake(raw: Any, path: str, message: str) -> None:
    assert _mistakes(raw) == [(f"p::{path}", message)]


def test_settings_are_a_mapping() -> None:
    message = "expected a mapping, got a list; write `key: value` lines"
    assert _mistakes([1]) == [("p", message)]


def test_all_mistakes_at_once() -> None:
    raw = {"count": 0, "ratio": -1, "flag": "x", "zzz": 1, "several": [1, {"insecure": 1}]}
    assert {path for path, _ in _mistakes(raw)} == {
        "p::count",
        "p::ratio",
        "p::flag",
        "p::zzz",
        "p::several::0",
        "p::several::1::insecure",
    }


def test_required_settings() -> None:
    message = "is required; give it a value"
    assert _mistakes({"high": None}, Bounds) == [("p::low", message), ("p::high", message)]


@pytest.mark.parametrize(
    ("raw", "mistakes"),
    [
        ({"low": 2, "high": 1}, [("p::high", "must be at least low, 2")]),
        ({"low": "x", "high": 1}, [("p::low", "expected a whole number without quotes, got 'x'")]),
        ({"low": 1, "high": 2, "name": "bad"}, [("p", "low 1 does not suit the name")]),
    ],
)
def test_fields_that_depend_on_each_other(raw: Any, mistakes: list[tuple[str, str]]) -> None:
    assert _mistakes(raw, Bounds) == mistakes


def test_reference_takes_the_type_of_its_field() -> None:
    names = ("text", "count", "token", "value", "flag", "wait", "maybe", "level", "mode", "ratio")
    raw: dict[str, Any] = {name: f"${{env:{name}}}" for name in names}
    raw["free"] = {"a": ["${env:count}", "x${env:count}"]}
    environ = {
        "text": "4317",
        "count": "4317",
        "token": "12345",
        "value": "1",
        "flag": "true",
        "wait": "5s",
        "maybe": "",
        "level": "high",
        "mode": "1",
        "ratio": "1",
    }
    found = structure(_expanded(raw, environ), Everything, "p")
    assert found == Everything(
        text="4317",
        count=4317,
        token=Secret("12345"),
        value=1,
        flag=True,
        wait=timedelta(seconds=5),
        maybe=None,
        level=Level.HIGH,
        mode=1,
        ratio=1.0,
        free={"a": [4317, "x4317"]},
    )
    assert [type(found.text), type(found.value), type(found.free["a"][1])] == [str, int, str]


def test_messages_show_references_not_what_is_behind_them() -> None:
    names = [name for name in FIELDS if name not in {"text", "path", "token", "value"}]
    raw = dict.fromkeys([*names, "zzz"], "${env:TOKEN}")
    mistakes = _mistakes(_expanded(raw, {"TOKEN": "hunter2"}))
    assert sorted(path for path, _ in mistakes) == sorted(f"p::{name}" for name in raw)
    assert "hunter2" not in str(mistakes)
    assert ("p::count", "expected a whole number without quotes, got ${env:TOKEN}") in mistakes


def test_literal_secrets_stay_out_of_messages() -> None:
    raw = {"token": {"a": "hunter2"}, "headers": {"x": ["hunter2"], "y": "hunter2"}, "flag": 1}
    mistakes = _mistakes(raw)
    assert [path for path, _ in mistakes] == ["p::flag", "p::token", "p::headers::x"]
    assert "hunter2" not in str(mistakes)


@pytest.mark.parametrize("cls", [Fixed, Ambiguous])
def test_types_that_need_a_guess_are_refused(cls: type[Any]) -> None:
    with pytest.raises(TypeError, match="has no place in settings"):
        structure({}, cls, "p")
