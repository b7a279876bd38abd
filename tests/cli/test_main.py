"""Exit codes: 0 fine, 1 failure at run time, 2 bad configuration or usage."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.cli.process import run

from otelgpu import __version__


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(option: str) -> None:
    done = run(option)
    assert done.returncode == 0
    for command in ("components", "once", "run", "semconv", "validate"):
        assert command in done.stdout


def test_version() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"otelgpu {__version__}\n")


@pytest.mark.parametrize("arguments", [["no-such-command"], ["--no-such-option"], ["run", "extra"]])
def test_wrong_usage(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Error: " in done.stderr


def test_a_check_that_fails_has_its_exit_code(tmp_path: object) -> None:
    done = run("semconv", "check", "--registry", str(tmp_path))
    assert done.returncode in {1, 2}
    assert "Traceback" not in done.stderr


def test_windows_is_told_where_it_runs() -> None:
    code = "import sys; from otelgpu.cli import main; sys.platform = 'win32'; main()"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "WSL2" in done.stderr
