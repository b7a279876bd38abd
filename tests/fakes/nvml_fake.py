"""Builds, configures and watches the fake libnvidia-ml.so.1 of tests/fakes/nvml for tests."""

import json
import os
import select
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent / "nvml"
DEFAULT_OUT = REPOSITORY / "build" / "fake-nvml"
LIBRARY = "libnvidia-ml.so.1"
CANNOT_BUILD_HERE = 3
ANSWER_SECONDS = 20.0
_RECORD = struct.Struct("=120sQ")


class FakeUnavailableError(Exception):
    """This machine lacks what the build needs; the words say what, for a test to skip with."""


def build(out: Path = DEFAULT_OUT, omit: Sequence[str] = (), driver: int = 0) -> Path:
    """Returns the path of the library, built into `out` if it is not there or out of date.

    `omit` names functions that the library shall lack, `driver` a driver branch (470) after which
    nothing came: give such a variant a directory of its own. Raises `FakeUnavailableError` where
    there is no compiler or header, and RuntimeError with the compiler's words when the build fails.
    """
    command = [sys.executable, str(SOURCES / "build.py"), "--out", str(out)]
    command += ["--omit", ",".join(omit), "--driver", str(driver)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode == CANNOT_BUILD_HERE:
        raise FakeUnavailableError(done.stderr.strip())
    if done.returncode != 0:
        raise RuntimeError(f"the fake NVML does not build:\n{done.stderr}")
    return Path(done.stdout.strip())


def require(out: Path = DEFAULT_OUT, omit: Sequence[str] = (), driver: int = 0) -> Path:
    """Like `build`, for a test: skips it where the machine lacks what the build needs.

    With OTELGPU_REQUIRE_PEERS in the environment (continuous integration) it fails instead.
    """
    try:
        return build(out, omit, driver)
    except FakeUnavailableError as error:
        if os.environ.get("OTELGPU_REQUIRE_PEERS"):
            pytest.fail(str(error))
        pytest.skip(str(error))


class FakeNvml:
    """One configuration of the fake: a library, a rules file and a counters file.

    A child process sees it by `environment`. In this process, put `FAKE_NVML_CONFIG`,
    `FAKE_NVML_STATS` and `FAKE_NVML_CHECK_MS` of it into os.environ before nvmlInit and load the
    library by its absolute path.
    """

    def __init__(self, library: Path, directory: Path) -> None:
        self.library = library
        directory.mkdir(parents=True, exist_ok=True)
        self._config = directory / "fake-nvml.conf"
        self._stats = directory / "fake-nvml.stats"
        self.configure()

    @property
    def environment(self) -> dict[str, str]:
        """What a child process needs added to its environment to run on this fake.

        The check interval of 0 makes the library look at the rules file at each call, so that a
        change is in force from the next call on.
        """
        before = os.environ.get("LD_LIBRARY_PATH")
        folders = [str(self.library.parent), *([before] if before else [])]
        return {
            "LD_LIBRARY_PATH": ":".join(folders),
            "FAKE_NVML_CONFIG": str(self._config),
            "FAKE_NVML_STATS": str(self._stats),
            "FAKE_NVML_CHECK_MS": "0",
        }

    def configure(self, *rules: str, **settings: str | int) -> None:
        """Replaces all rules: `configure("lost=3", gpus=8)`; README.md of the fake lists the keys.

        The file is replaced as a whole, so a reader never sees half of it. The library refuses a
        key or function that it does not know: it says so on stderr, and nvmlInit fails with
        INVALID_ARGUMENT (while a program runs, the old rules stay).
        """
        lines = [*rules, *(f"{key}={value}" for key, value in settings.items())]
        # Two writers of one process in turn are fine; the name is fixed to leave no litter.
        new = self._config.with_suffix(".new")
        new.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        new.replace(self._config)

    def calls(self) -> dict[str, int]:
        """Calls so far by function, of all processes that ran on this fake."""
        if not self._stats.exists():
            return {}
        counts = {}
        data = self._stats.read_bytes()
        for name, count in _RECORD.iter_unpack(data[: len(data) - len(data) % _RECORD.size]):
            if text := name.rstrip(b"\0").decode("ascii"):
                counts[text] = count
        return counts


class PynvmlChild:
    """A process that runs the real pynvml on a fake, line by line; see nvml/pynvml_child.py."""

    def __init__(self, fake: FakeNvml) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(SOURCES / "pynvml_child.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **fake.environment},
        )

    def start(self, gpus: int) -> None:
        """Runs nvmlInit and keeps the handles of the first `gpus` GPUs as the list `h`."""
        self.ask("nvmlInit()")
        self.ask(f"h <- [nvmlDeviceGetHandleByIndex(i) for i in range({gpus})]")

    def send(self, line: str) -> None:
        """Sends a line without waiting for the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answered(self, seconds: float) -> bool:
        """Whether an answer is there, or comes within that time."""
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], seconds)[0])

    def receive(self) -> dict[str, Any]:
        """The next answer: an object with `value` or `error`."""
        assert self._process.stdout is not None
        assert self.answered(ANSWER_SECONDS), "no answer from pynvml"
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def ask(self, line: str) -> Any:
        """The value of a line that must succeed."""
        self.send(line)
        answer = self.receive()
        assert "error" not in answer, (line, answer)
        return answer["value"]

    def error(self, line: str) -> Any:
        """The name of the exception of a line that must fail."""
        self.send(line)
        answer = self.receive()
        assert "error" in answer, (line, answer)
        return answer["error"]

    def close(self) -> None:
        """Ends the process, also one that hangs in a call."""
        self._process.kill()
        self._process.communicate()
