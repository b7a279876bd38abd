"""``otelgpu once``: reads everything once and prints it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from otelgpu.cli.configuration import config_option, environment, read
from otelgpu.cli.render import as_otlp_json, as_series, as_table
from otelgpu.service.collect import Collected, collect
from otelgpu.service.lifecycle import StartError
from otelgpu.telemetry.component import OK
from otelgpu.telemetry.logs import configure

_FORMATS = {"table": as_table, "otlp-json": as_otlp_json, "series": as_series}


@click.command()
@config_option
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_FORMATS)),
    default="table",
    show_default=True,
    help="A table for people, one OTLP JSON document, or the number of series by metric.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds that all receivers together may take.",
)
def once(files: tuple[Path, ...], form: str, timeout: float) -> int:
    """Read all GPUs once and print what would be sent; exit code 1 if nothing could be read."""
    document = read(files)
    configure(sys.stderr, "error", document.service.telemetry.logs.encoding)
    try:
        collected = collect(document, environment(document), timeout)
    except StartError as error:
        click.echo(str(error), err=True)
        return 1
    click.echo(_FORMATS[form](collected.batches))
    explain(collected, timeout)
    return 0 if collected.batches and collected.complete else 1


def explain(collected: Collected, timeout: float) -> None:
    """Say on stderr what is missing, and what to do about it."""
    if not collected.complete:
        click.echo(f"not every receiver came to its end within {timeout:g} s", err=True)
    for receiver in collected.receivers:
        if receiver.state != OK:
            words = f"{receiver.id}: {receiver.state}: {receiver.cause}"
            detail = f" ({receiver.detail})" if receiver.detail else ""
            remedy = f"\n  remedy: {receiver.remedy}" if receiver.remedy else ""
            click.echo(words + detail + remedy, err=True)
