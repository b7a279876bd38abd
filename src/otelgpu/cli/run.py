"""``otelgpu run``: reads GPUs and sends their telemetry until told to stop."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import click

from otelgpu.cli.anew import Restarts, execute, uninterruptible
from otelgpu.cli.configuration import config_option, environment, read
from otelgpu.cli.signals import Wakeups
from otelgpu.service.agent import Agent, StartError
from otelgpu.telemetry.logs import configure


@click.command()
@config_option
def run(files: tuple[Path, ...]) -> int:
    """Read GPUs and send their telemetry until SIGTERM or SIGINT.

    SIGUSR1 lets go of the GPUs' drivers for some minutes.
    """
    wakeups = Wakeups()
    restarts = Restarts(os.environ, wakeups.wake)
    warnings: list[str] = []
    document = read(files, warnings.append)
    logs = document.service.telemetry.logs
    configure(sys.stderr, logs.level, logs.encoding)
    log = logging.getLogger("otelgpu")
    for warning in warnings:
        # Only now is it known in which form the log is to be.
        log.warning("%s", warning)
    agent = Agent(document, environment(document, restarts.ask, restarts.counts))
    try:
        agent.start()
    except StartError as error:
        log.error("%s", error)  # noqa: TRY400 - its words say it all
        return 1
    log.info("started: %s", ", ".join(document.pipelines))
    _serve(agent, wakeups, restarts, log)
    if not wakeups.stop:
        log.warning("executing anew: %s", restarts.reason)
    log.info("stopping")
    agent.stop()
    if not wakeups.stop:
        try:
            execute(restarts.environment(os.environ))
        except OSError as error:
            # Whoever supervises the agent starts it: the same, but for the process id.
            log.error("cannot execute anew: %s", error)  # noqa: TRY400 - its words say it all
            return 1
    return 0


def _serve(agent: Agent, wakeups: Wakeups, restarts: Restarts, log: logging.Logger) -> None:
    """Return when the agent is to stop, for good or to be executed anew."""
    while not wakeups.stop:
        if wakeups.take_release():
            log.info("letting go of the drivers")
            agent.release()
        if restarts.left == 0:
            if not uninterruptible():
                return
            log.warning("not executed anew yet: a thread is in a call that cannot be interrupted")
            restarts.postpone()
        wakeups.wait(restarts.left)
