"""``otelgpu components``: what is installed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points

import click

KINDS = ("receivers", "processors", "exporters")


@click.command()
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
def components(form: str) -> None:
    """List the installed receivers, processors and exporters."""
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
