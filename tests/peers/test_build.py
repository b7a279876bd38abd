"""The builder of peers, with a stand-in peer that a shell makes in no time."""

import json
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.peers import build


def peer(script: str, *, tool: str = "sh") -> build.Peer:
    def steps(folder: Path) -> Sequence[build.Step]:
        return [build.Step(("sh", "-c", script), {"NAME": "toy"})]

    return build.Peer("toy", "1", tool, steps, "out")


def test_a_peer_is_built_once(tmp_path: Path) -> None:
    toy = peer(f'echo built >> {tmp_path}/runs; echo "$NAME" > out')

    first = build.build(toy, tmp_path / "cache", os.environ)
    second = build.build(toy, tmp_path / "cache", os.environ)

    assert first == second == build.find(toy, tmp_path / "cache")
    assert first.read_text() == "toy\n"
    assert (tmp_path / "runs").read_text() == "built\n"


def test_builds_at_the_same_time_are_one(tmp_path: Path) -> None:
    toy = peer(f"echo built >> {tmp_path}/runs; sleep 0.2; echo > out")

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(build.build, toy, tmp_path / "cache", os.environ) for _ in range(4)]
        paths = {job.result(timeout=30) for job in jobs}

    assert paths == {build.find(toy, tmp_path / "cache")}
    assert (tmp_path / "runs").read_text() == "built\n"


def test_a_failed_build_shows_its_words_and_leaves_nothing(tmp_path: Path) -> None:
    toy = peer("echo > out; echo no such module >&2; exit 3")

    with pytest.raises(build.PeerError, match=r"(?s)status 3.*no such module"):
        build.build(toy, tmp_path, os.environ)

    assert {path.name for path in tmp_path.iterdir()} == {"toy-1.lock", "toy-1.log"}
    with pytest.raises(build.PeerError, match="toy is not built"):
        build.find(toy, tmp_path)


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    with pytest.raises(build.PeerError, match="`no-such-tool` is not in PATH"):
        build.build(peer("", tool="no-such-tool"), tmp_path, os.environ)


def test_path_of_what_is_not_built_exits_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = build.main(["--path", "otelcol"], {"XDG_CACHE_HOME": str(tmp_path)})

    output = capsys.readouterr()
    assert status == 1
    assert output.out == ""
    assert "otelcol is not built" in output.err
    assert str(tmp_path) in output.err


@pytest.mark.parametrize("base", [{}, {"XDG_CACHE_HOME": ""}, {"XDG_CACHE_HOME": "relative"}])
def test_the_cache_is_under_home_by_default(base: dict[str, str]) -> None:
    assert build.cache_root(base) == Path.home() / ".cache" / "otelgpu" / "peers"


def test_comments_do_not_change_what_a_manifest_is() -> None:
    text = "# why\ndist:\n\n  # and how\n  name: a  \n"

    assert build.without_comments(text) == "dist:\n  name: a"


def test_the_builder_is_of_the_release_of_the_core_modules() -> None:
    versions = build.read_versions(build.VERSIONS.read_text())
    core = re.findall(
        r"go\.opentelemetry\.io/collector/(?:receiver|processor|exporter|extension)/\S+ v(\S+)",
        build.MANIFEST.read_text(),
    )

    assert json.dumps(sorted(set(core))) == json.dumps([versions["OTELCOL_BUILDER_VERSION"]])
