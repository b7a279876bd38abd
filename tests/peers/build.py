"""Builds the real peers of the tests into a cache outside the checkout. Standard library only.

    python tests/peers/build.py                  builds every peer that the cache lacks
    python tests/peers/build.py otelcol          builds one
    python tests/peers/build.py --path otelcol   prints where it is, or exits 1 with the reason

A peer lies in ``${XDG_CACHE_HOME:-~/.cache}/otelgpu/peers/<name>-<key>/<name>``. The key is a
digest of everything that decides what the binary is, so a changed version is another folder, and a
folder that is there is finished: it is built elsewhere and renamed into place.
"""

import argparse
import fcntl
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

HERE = Path(__file__).resolve().parent
MANIFEST = HERE.parent.parent / "collector-config" / "builder.yaml"
VERSIONS = HERE / "versions.env"
STEP_TIMEOUT_S = 3600.0
LOG_TAIL_LINES = 40


class PeerError(Exception):
    """A peer is not in the cache or could not be built; the message says why and what to do."""


@dataclass(frozen=True)
class Step:
    """One command of a build; relative paths are relative to the build folder."""

    command: tuple[str, ...]
    environ: Mapping[str, str]


@dataclass(frozen=True)
class Peer:
    """A program to build: what it is called, what decides its content, and how it is made."""

    name: str
    key: str
    tool: str
    steps: Callable[[Path], Sequence[Step]]
    product: str

    @property
    def folder(self) -> str:
        return f"{self.name}-{self.key}"


def read_versions(text: str) -> dict[str, str]:
    """Reads NAME=VALUE lines; blank lines and lines that start with # are skipped."""
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name: value for name, _, value in pairs}


def without_comments(manifest: str) -> str:
    """Drops blank and comment lines, so that a reworded comment costs no build."""
    lines = (line.rstrip() for line in manifest.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def digest(*parts: str) -> str:
    """Names a content: 12 hexadecimal digits of SHA-256 over the parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def otelcol() -> Peer:
    """Describes the Collector that collector-config/builder.yaml declares."""
    version = read_versions(VERSIONS.read_text())["OTELCOL_BUILDER_VERSION"]
    manifest = without_comments(MANIFEST.read_text())

    def steps(folder: Path) -> Sequence[Step]:
        # The builder creates only the last element of `output_path`.
        (folder / "build").mkdir()
        builder = f"go.opentelemetry.io/collector/cmd/builder@v{version}"
        # A go.work file in a parent folder would pull foreign modules into the build.
        alone = {"GOWORK": "off"}
        return (
            Step(("go", "install", builder), {**alone, "GOBIN": str(folder)}),
            Step((str(folder / "builder"), "--config", str(MANIFEST)), alone),
        )

    key = digest(version, manifest, platform.system(), platform.machine())
    return Peer("otelcol", key, "go", steps, "build/otelcol-gpu/otelcol-gpu")


PEERS: Mapping[str, Callable[[], Peer]] = {"otelcol": otelcol}


def cache_root(environ: Mapping[str, str]) -> Path:
    """Gives the folder that holds the peers, by the XDG base directory specification."""
    base = environ.get("XDG_CACHE_HOME", "")
    # The specification: a relative path is invalid and to be ignored.
    cache = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return cache / "otelgpu" / "peers"


def find(peer: Peer, root: Path) -> Path:
    """Gives the path of a built peer; raises PeerError when the cache lacks it."""
    binary = root / peer.folder / peer.name
    if not binary.is_file():
        raise PeerError(f"{peer.name} is not built ({binary} is missing): run `make peers`")
    return binary


def build(peer: Peer, root: Path, environ: Mapping[str, str]) -> Path:
    """Builds a peer unless it is in the cache, and gives its path.

    Safe beside other builds: one process builds, the others wait and take its result.

    Raises:
        PeerError: the tool is missing, or a step failed; the message ends with the log's tail.
    """
    root.mkdir(parents=True, exist_ok=True)
    with locked(root / f"{peer.folder}.lock"):
        if (root / peer.folder / peer.name).is_file():
            return find(peer, root)
        if shutil.which(peer.tool, path=environ.get("PATH")) is None:
            raise PeerError(f"cannot build {peer.name}: `{peer.tool}` is not in PATH")
        log_path = root / f"{peer.folder}.log"
        say(f"building {peer.name}: minutes the first time; log: {log_path}")
        with tempfile.TemporaryDirectory(
            prefix=f".{peer.folder}-", dir=root, ignore_cleanup_errors=True
        ) as temporary:
            folder = Path(temporary, "work")
            folder.mkdir()
            with log_path.open("w") as log:
                for step in peer.steps(folder):
                    run(step, folder, environ, log)
            finished = Path(temporary, "finished")
            finished.mkdir()
            (folder / peer.product).rename(finished / peer.name)
            finished.rename(root / peer.folder)
        return find(peer, root)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds an exclusive lock on a file; the kernel drops it when the process ends."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another build holds {path}: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run(step: Step, folder: Path, environ: Mapping[str, str], log: IO[str]) -> None:
    """Runs one step with its output in the log; raises PeerError when it fails."""
    log.write(f"$ {' '.join(step.command)}\n")
    log.flush()
    # A session of its own: the tool starts compilers, and ending it must end them as well.
    with subprocess.Popen(
        step.command,
        cwd=folder,
        env={**environ, **step.environ},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            status = process.wait(STEP_TIMEOUT_S)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise PeerError(f"`{step.command[0]}` took over {STEP_TIMEOUT_S:.0f} s") from error
            raise
    if status != 0:
        tail = Path(log.name).read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
        words = f"`{' '.join(step.command)}` failed with status {status}"
        raise PeerError("\n".join([f"{words}; end of {log.name}:", *tail]))


def say(words: str) -> None:
    """Tells progress on stderr: stdout carries paths only."""
    sys.stderr.write(f"{words}\n")


def terminated(number: int, frame: object) -> NoReturn:
    """Turns SIGTERM into an exception, so that a build that is ended ends its compilers."""
    raise SystemExit(128 + number)


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    parser = argparse.ArgumentParser(description="Build the real peers of the tests.")
    parser.add_argument("--path", action="store_true", help="only print where the peer is")
    parser.add_argument("peers", nargs="*", metavar="PEER", help=f"of: {', '.join(PEERS)}")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.peers) - set(PEERS))
    if unknown:
        parser.error(f"unknown peer: {', '.join(unknown)}")
    root = cache_root(environ)
    for name in options.peers or PEERS:
        peer = PEERS[name]()
        try:
            path = find(peer, root) if options.path else build(peer, root, environ)
        except PeerError as error:
            say(f"error: {error}")
            return 1
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, terminated)
    sys.exit(main(sys.argv[1:], os.environ))
