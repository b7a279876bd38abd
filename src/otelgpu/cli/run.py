"""``otelgpu run``: reads GPUs and sends their telemetry until told to stop."""

from __future__ import annotations

import logging
import os
import signal
import sys
from pathlib import Path
from queue import SimpleQueue
from types import FrameType

import click

from otelgpu.cli.configuration import config_option, environment, read
from otelgpu.service.agent import Agent, StartError
from otelgpu.telemetry.logs import configure


@click.command()
@config_option
def run(files: tuple[Path, ...]) -> int:
    """Read GPUs and send their telemetry until SIGTERM or SIGINT."""
    stop = _stop_on_signals()
    document = read(files)
    logs = document.service.telemetry.logs
    configure(sys.stderr, logs.level, logs.encoding)
    log = logging.getLogger("otelgpu")
    agent = Agent(document, environment(document))
    try:
        agent.start()
    except StartError as error:
        log.error("%s", error)  # noqa: TRY400 - its words say it all
        return 1
    log.info("started: %s", ", ".join(document.pipelines))
    stop.get()
    log.info("stopping")
    agent.stop()
    return 0


def _stop_on_signals() -> SimpleQueue[int]:
    # Its put is reentrant; an event's lock may be held by the very code that a signal interrupts.
    stop: SimpleQueue[int] = SimpleQueue()
    asked: list[int] = []

    def on_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signal's form
        if asked:
            # Asked twice: whoever asks does not want to wait for the drain.
            os._exit(1)
        asked.append(number)
        stop.put(number)

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    return stop
