from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelgpu.config.expand import MAX_FILE_BYTES, UNRESOLVED, Expanded, expand
from otelgpu.config.mistake import Findings
from otelgpu.config.scalars import plain

ENVIRON = {"HOST": "gw", "PORT": "4317", "EMPTY": "", "FLAG": "true", "YAML": "{a: [1]}"}


def _expand(raw: Any, environ: dict[str, str] = ENVIRON) -> tuple[Any, list[tuple[str, str]]]:
    findings = Findings()
    value = expand(raw, environ, findings)
    assert findings.failed == bool(findings.mistakes)
    return value, [(m.path, m.message) for m in findings.mistakes]


@pytest.mark.parametrize(
    ("raw", "text", "typed"),
    [
        ("${env:PORT}", "4317", 4317),
        ("${env:FLAG}", "true", True),
        ("${env:EMPTY}", "", None),
        ("${env:EMPTY:-x}", "", None),
        ("${env:NO:-}", "", None),
        ("${env:NO:-1.5}", "1.5", 1.5),
        ("${env:NO:-a:-b}", "a:-b", "a:-b"),
        ("${env:YAML}", "{a: [1]}", "{a: [1]}"),
        ("${env:HOST}:${env:PORT}", "gw:4317", "gw:4317"),
        ("1${env:PORT}", "14317", "14317"),
        ("${env:PORT}$$", "4317$", "4317$"),
        ("$${env:PORT}", "${env:PORT}", "${env:PORT}"),
        ("$$${env:PORT}", "$4317", "$4317"),
        ("^a$", "^a$", "^a$"),
        ("$HOME", "$HOME", "$HOME"),
        ("$", "$", "$"),
        ("", "", ""),
    ],
)
def test_expansion(raw: str, text: str, typed: object) -> None:
    value, mistakes = _expand(raw)
    assert (value, plain(value), mistakes) == (text, typed, [])
    assert type(plain(value)) is type(typed)


def test_values_are_not_expanded_again() -> None:
    assert _expand("${env:A}", {"A": "${env:B}$$", "B": "x"}) == ("${env:B}$$", [])


def test_everything_but_keys_is_expanded() -> None:
    raw = {"${env:HOST}": [{"a": "${env:PORT}"}, 1, None, True, 1.5]}
    assert _expand(raw) == ({"${env:HOST}": [{"a": "4317"}, 1, None, True, 1.5]}, [])


def test_all_mistakes_have_paths_and_remedies() -> None:
    raw = {
        "a": ["${env:NO}", "${HOST}"],
        "b": {
            "c": "${env:NO",
            "d": "${env:A:-${env:B}}",
            "e": "${env:a b}",
            "f": "${http://x}",
            "g": "${}",
        },
        "h": "${env:PORT}",
    }
    value, mistakes = _expand(raw)
    kinds = "write ${env:NAME}, ${env:NAME:-default} or ${file:PATH}, or $$ for $"
    assert mistakes == [
        (
            "a::0",
            "the environment variable NO is not set; set it or write ${env:NO:-default}",
        ),
        ("a::1", "${HOST} has no scheme; write ${env:HOST}"),
        ("b::c", "a reference is not closed; end it with `}`, or write $$ for $"),
        ("b::d", "references cannot be nested; write one after the other"),
        ("b::e", "a reference has no valid variable name; write ${env:NAME}"),
        ("b::f", f"a reference is of no known kind; {kinds}"),
        ("b::g", f"a reference is of no known kind; {kinds}"),
    ]
    assert value["a"] == [UNRESOLVED, UNRESOLVED]
    assert set(value["b"].values()) == {UNRESOLVED}
    assert value["h"] == "4317"


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"s3cr3t\n", "s3cr3t"), (b"a\r\n", "a"), (b"a\n\n", "a\n"), (b" a ", " a "), (b"", "")],
)
def test_file(tmp_path: Path, content: bytes, text: str) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    assert _expand(f"Bearer ${{file:{path}}}") == (f"Bearer {text}", [])


def test_unusable_files(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff")
    (tmp_path / "large").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    names = ["missing", "binary", "large", "nul\0"]
    _, mistakes = _expand([f"${{file:{tmp_path}/{name}}}" for name in names])
    assert [path for path, _ in mistakes] == ["0", "1", "2", "3"]
    for (_, message), words in zip(
        mistakes,
        ["cannot be read: No such file or directory", "not UTF-8", "larger than 1 MiB", "null"],
        strict=True,
    ):
        assert words in message


def test_repr_shows_the_reference_only() -> None:
    value, _ = _expand({"a": "x-${env:HOST}"})
    assert isinstance(value["a"], Expanded)
    assert repr(value) == "{'a': x-${env:HOST}}"


@given(st.text())
def test_doubled_dollars_round_trip(text: str) -> None:
    assert _expand(text.replace("$", "$$")) == (text, [])


@given(st.text(alphabet="${}:-envfilABC /\n"))
def test_any_text_expands_or_is_a_mistake(text: str) -> None:
    value, mistakes = _expand({"k": text}, {"A": "1"})
    assert (value["k"] is UNRESOLVED) == bool(mistakes)
    assert all(path == "k" for path, _ in mistakes)


@given(st.text(), st.text(alphabet=st.characters(exclude_characters="}$")))
def test_values_and_defaults_arrive_unchanged(value: str, default: str) -> None:
    raw = ["${env:A}", f"${{env:NO:-{default}}}"]
    assert _expand(raw, {"A": value}) == ([value, default], [])
