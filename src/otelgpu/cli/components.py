"""``otelgpu components``: what is installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import click

from otelgpu.cli.configuration import config_option, environment, read
from otelgpu.cli.once import explain
from otelgpu.cli.support import as_json, as_table, ask_for_all
from otelgpu.service.collect import collect
from otelgpu.service.lifecycle import StartError
from otelgpu.telemetry.logs import configure

_TIMEOUT = 60.0
"""Seconds that reading all devices may take."""

KINDS = ("receivers", "processors", "exporters")


@click.command()
@config_option
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@click.option(
    "--support",
    is_flag=True,
    help="Read all devices once and say what each of them has, and why it does not have the rest.",
)
def components(files: tuple[Path, ...], form: str, *, support: bool) -> int:
    """List the installed receivers, processors and exporters."""
    if support:
        return _support(files, form)
    _list(form)
    return 0


def _support(files: tuple[Path, ...], form: str) -> int:
    """Print what the devices have; exit code 1 if there is none."""
    document = ask_for_all(read(files))
    configure(sys.stderr, "error", document.service.telemetry.logs.encoding)
    try:
        collected = collect(document, environment(document), _TIMEOUT)
    except StartError as error:
        click.echo(str(error), err=True)
        return 1
    if form == "json":
        click.echo(json.dumps(as_json(collected.support), indent=2))
    else:
        click.echo("\n".join(as_table(collected.support)).rstrip())
    explain(collected, _TIMEOUT)
    return 0 if any(collected.support.values()) and collected.complete else 1


def _list(form: str) -> None:
    found = list(_installed())
    if form == "json":
        click.echo(json.dumps(found, indent=2))
        return
    widths = {key: max(len(row[key]) for row in [*found, _HEAD]) for key in _HEAD}
    for row in [_HEAD, *found]:
        click.echo("  ".join(row[key].ljust(width) for key, width in widths.items()).rstrip())


_HEAD = {
    "kind": "KIND",
    "type": "TYPE",
    "stability": "STABILITY",
    "signals": "SIGNALS",
    "distribution": "DISTRIBUTION",
}


def _installed() -> Iterator[dict[str, str]]:
    for kind in KINDS:
        for entry in sorted(entry_points(group=f"otelgpu.{kind}"), key=lambda e: e.name):
            yield {"kind": kind, "type": entry.name, **_facts(entry)}


def _facts(entry: EntryPoint) -> dict[str, str]:
    distribution = f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""
    try:
        factory = entry.load()
        facts = {
            "stability": str(factory.stability.value),
            "signals": ",".join(sorted(factory.signals)),
        }
    except Exception as error:  # noqa: BLE001 - a third party's package may raise anything
        words = " ".join(f"{type(error).__name__}: {error}".split())
        return {"stability": "broken", "signals": words, "distribution": distribution}
    return {**facts, "distribution": distribution}
