"""``otelgpu run``: reads GPUs and sends their telemetry until told to stop."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import click

from otelgpu.cli.configuration import config_option, environment, read
from otelgpu.service.agent import Agent, StartError
from otelgpu.telemetry.logs import configure


@click.command()
@config_option
def run(files: tuple[Path, ...]) -> int:
    """Read GPUs and send their telemetry until SIGTERM or SIGINT."""
    wait_for_signal = _stop_on_signals()
    warnings: list[str] = []
    document = read(files, warnings.append)
    logs = document.service.telemetry.logs
    configure(sys.stderr, logs.level, logs.encoding)
    log = logging.getLogger("otelgpu")
    for warning in warnings:
        # Only now is it known in which form the log is to be.
        log.warning("%s", warning)
    agent = Agent(document, environment(document))
    try:
        agent.start()
    except StartError as error:
        log.error("%s", error)  # noqa: TRY400 - its words say it all
        return 1
    log.info("started: %s", ", ".join(document.pipelines))
    wait_for_signal()
    log.info("stopping")
    agent.stop()
    return 0


def _stop_on_signals() -> Callable[[], None]:
    """Take SIGINT and SIGTERM as requests to stop; return what waits for one."""
    # A lock or a queue may miss a signal that comes right before it blocks: the handler, which runs
    # between two steps of the main thread, would wait for it for ever. A byte is there already.
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    asked: list[int] = []

    def on_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signal's form
        if asked:
            # Asked twice: whoever asks does not want to wait for the drain.
            os._exit(1)
        asked.append(number)

    def wait() -> None:
        # Both ends live as long as this function does.
        while not asked and writer.fileno() >= 0:
            reader.recv(1)

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    return wait
