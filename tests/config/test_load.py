from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from otelgpu.config.load import load
from otelgpu.config.mistake import ConfigError, Findings


def _mistakes(*paths: Path) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as raised:
        load(paths)
    return [(m.path, m.message) for m in raised.value.mistakes]


def _write(directory: Path, text: str | bytes, name: str = "a.yaml") -> Path:
    path = directory / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_files_merge_in_order(tmp_path: Path) -> None:
    first = _write(tmp_path, "a: {x: 1, y: [1, 2], z: {k: 1}}\nb: 1\nc: {d: 1}\n", "1.yaml")
    second = _write(tmp_path, "a: {y: [3], z: {l: 2}}\nb: two\nc:\n", "2.yaml")
    assert load([first, second]) == {
        "a": {"x": 1, "y": [3], "z": {"k": 1, "l": 2}},
        "b": "two",
        "c": None,
    }


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "null\n", "\ufeff"])
def test_empty_file_is_an_empty_map(tmp_path: Path, text: str) -> None:
    assert load([_write(tmp_path, text)]) == {}


def test_scalars_follow_yaml_1_2(tmp_path: Path) -> None:
    text = """
        country: no
        switch: on
        port_map: 12:30
        octal: 010
        date: 2026-13-01
        grouped: 1_000
        int: -12
        hex: 0x1f
        new_octal: 0o17
        float: 1.5e3
        exponent: 1e3
        infinite: -.inf
        yes: true
        nothing: ~
        quoted: "12"
        tagged: !!str 12
    """
    assert load([_write(tmp_path, text)]) == {
        "country": "no",
        "switch": "on",
        "port_map": "12:30",
        "octal": "010",
        "date": "2026-13-01",
        "grouped": "1_000",
        "int": -12,
        "hex": 31,
        "new_octal": 15,
        "float": 1500.0,
        "exponent": 1000.0,
        "infinite": float("-inf"),
        "yes": True,
        "nothing": None,
        "quoted": "12",
        "tagged": "12",
    }


def test_anchors_and_merge_keys(tmp_path: Path) -> None:
    text = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\none: *b\ntwo: {<<: [*b, *m], x: 9}\n"
    loaded = load([_write(tmp_path, text)])
    assert loaded["one"] == {"x": 1, "y": 2}
    assert loaded["two"] == {"x": 9, "y": 2, "z": 4}


def test_shared_anchors_load_once(tmp_path: Path) -> None:
    text = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    assert load([_write(tmp_path, text)])["c"] == [[["x", "x"]] * 2] * 2


def test_unreadable_file(tmp_path: Path) -> None:
    missing = tmp_path / "missing.yaml"
    expected = "cannot be read: No such file or directory; check path and permissions"
    assert _mistakes(missing) == [(str(missing), expected)]


def test_all_files_are_checked(tmp_path: Path) -> None:
    missing, broken = tmp_path / "missing.yaml", _write(tmp_path, "[1]")
    assert [path for path, _ in _mistakes(missing, broken)] == [str(missing), f"{broken}:1:1"]


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("a: 1\nb: c: d\n", ":2:5", "mapping values are not allowed here"),
        ("a:\n\t- b\n", ":2:1", "cannot start any token"),
        ("a: [1,\n", ":2:1", "expected"),
        ("a: *gone\n", ":1:4", "undefined alias"),
        ("a: 1\n---\nb: 1\n", ":2:1", "single document"),
        ("a: 1\nb: \x07\n", ":2:4", "a character that YAML forbids"),
        (b"a: 1\nb: \xff\n", ":2", "not UTF-8"),
        ("- a\n", ":1:1", "holds no mapping"),
        ("text\n", ":1:1", "holds no mapping"),
        ("a:\n  8080: x\n", ":2:3", "the key '8080' is not text; put it in quotes"),
        ("a:\n  true: x\n", ":2:3", "the key 'true' is not text"),
        ("a:\n  [1]: x\n", ":2:3", "this key is not text"),
        ("a: &x\n  - *x\n", ":1:4", "contains itself"),
        ("a: &x\n  b: {c: *x}\n", ":1:4", "contains itself"),
        ("a: &x\n  <<: *x\n", ":1:4", "contains itself"),
        ("a: {<<: 1}\n", ":1:9", "`<<` takes a mapping"),
        ("a: !!python/object:os.system x\n", ":1:4", "is not supported"),
        ("a: !mine {b: 1}\n", ":1:4", "the tag '!mine' is not supported"),
        ("a: !!int x\n", ":1:4", "no int"),
        ("a: " + "9" * 5000, ":1:4", "too many digits"),
    ],
)
def test_mistake_has_its_line(tmp_path: Path, text: str | bytes, where: str, words: str) -> None:
    path = _write(tmp_path, text)
    mistakes = _mistakes(path)
    assert mistakes[0][0] == f"{path}{where}"
    assert words in mistakes[0][1]


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, "a: " + "[" * 5000)
    assert _mistakes(path) == [(str(path), "is nested too deeply; flatten it")]


def test_every_duplicate_is_reported(tmp_path: Path) -> None:
    path = _write(tmp_path, "receivers:\n  nvml:\n  nvml:\nexporters:\n  debug:\n  debug:\n")
    remedy = "remove or rename one, components as `type/name`"
    assert _mistakes(path) == [
        (f"{path}:3:3", f"'nvml' is given twice, first in line 2; {remedy}"),
        (f"{path}:6:3", f"'debug' is given twice, first in line 5; {remedy}"),
    ]


def test_syntax_mistake_does_not_print_the_line(tmp_path: Path) -> None:
    path = _write(tmp_path, "token: hunter2: x\n")
    with pytest.raises(ConfigError) as raised:
        load([path])
    assert "hunter2" not in "".join(traceback.format_exception(raised.value))


def test_what_is_wrong_within_a_file_does_not_hide_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a: {x: 1}\na: {x: 2}\n3: no text\nb: {y: 1}\n", encoding="utf-8")
    findings = Findings()
    assert load([file], findings)["b"] == {"y": 1}
    assert len(findings.mistakes) == 2
    with pytest.raises(ConfigError) as raised:
        load([file, tmp_path / "none.yaml"], Findings())
    assert len(raised.value.mistakes) == 3


def test_aliases_cannot_fill_the_memory(tmp_path: Path) -> None:
    file = tmp_path / "bomb.yaml"
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ConfigError, match="more than 100000 values"):
        load([file])
