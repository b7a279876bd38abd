"""What the README tells a newcomer to do works."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# Blocks with a fence are output and files; indented lines are commands.
PROSE = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
BIN = Path(sys.executable).parent
COMMANDS = [
    line.partition("#")[0].strip() for line in re.findall(r"^    (\S.*)$", PROSE, re.MULTILINE)
]


def _run(command: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    words = command.replace(".venv/bin/otelgpu", "otelgpu").split()
    path = f"{BIN}:{os.environ['PATH']}"
    return subprocess.run(
        words,
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PATH": path, **environ},
    )


def test_every_command_is_known_to_this_test() -> None:
    """A new command in the README needs a test here."""
    assert COMMANDS == [
        "make run",
        "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 make run",
        ".venv/bin/otelgpu once",
        ".venv/bin/otelgpu once --format otlp-json",
        ".venv/bin/otelgpu once --format series",
        ".venv/bin/otelgpu components --support",
        "make test",
        "otelgpu validate --config otelgpu.yaml",
        "otelgpu run --config otelgpu.yaml",
    ]


@pytest.mark.parametrize("command", [c for c in COMMANDS if re.search("once|--support", c)])
def test_commands_that_read_once(command: str, tmp_path: Path) -> None:
    done = _run(command, tmp_path)
    assert done.returncode == 0, done.stderr
    if "otlp-json" in command:
        assert json.loads(done.stdout)["resourceMetrics"]
    else:
        assert "hw.power" in done.stdout


def test_the_configuration_is_valid(tmp_path: Path) -> None:
    text = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)[0]
    secret = tmp_path / "secret"
    secret.write_text("s3cr3t-key\n", encoding="utf-8")
    (tmp_path / "otelgpu.yaml").write_text(
        text.replace("/run/secrets/otlp", str(secret)), encoding="utf-8"
    )
    done = _run("otelgpu validate --config otelgpu.yaml", tmp_path)
    assert (done.returncode, done.stdout) == (0, "the configuration is valid\n"), done.stderr
    shown = _run("otelgpu validate --config otelgpu.yaml --print", tmp_path).stdout
    assert "s3cr3t-key" not in shown
    assert yaml.safe_load(shown)["exporters"]["otlp_http"]["headers"] == {"api-key": "[redacted]"}


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_make_run_starts_what_the_readme_shows(tmp_path: Path) -> None:
    """`make run` itself is a virtual environment and this command."""
    plan = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "run"],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout
    assert plan.splitlines()[-1] == ".venv/bin/otelgpu run "
    log = tmp_path / "log"
    with log.open("wb") as stream:
        running = subprocess.Popen([BIN / "otelgpu", "run"], stdout=stream, stderr=stream)
    try:
        deadline = time.monotonic() + 30
        while "STATUS" not in log.read_text(encoding="utf-8"):
            assert running.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.02)
    finally:
        running.terminate()
        assert running.wait(15) == 0
