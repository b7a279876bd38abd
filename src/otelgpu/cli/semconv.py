"""``otelgpu semconv``: check the convention's registry, generate from it, list its metrics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from otelgpu.points.metric import Metric

if TYPE_CHECKING:
    from otelgpu.semconv.registry import Registry

_registry = click.option(
    "--registry",
    type=click.Path(path_type=Path),
    default=Path("semconv/registry"),
    show_default=True,
    help="Folder of the registry, in a checkout of the sources.",
)


@click.group()
def semconv() -> None:
    """Work with the GPU semantic convention."""


@semconv.command()
@_registry
def check(registry: Path) -> None:
    """Check the registry against the rules of its format and of the convention."""
    loaded = _checked(registry)
    click.echo(
        f"{len(loaded.metrics)} metrics ({len(loaded.refined)} of them OpenTelemetry's), "
        f"{len(loaded.attributes)} attributes, {len(loaded.events)} events: no findings"
    )


@semconv.command()
@_registry
@click.option("--check", "only_check", is_flag=True, help="Only say which files are stale.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Root to write under.  [default: two folders above the registry]",
)
def generate(registry: Path, output: Path | None, *, only_check: bool) -> None:
    """Write the modules and the page that follow from the registry."""
    from otelgpu.semconv import generate as generator  # noqa: PLC0415  # needs YAML, `list` does not

    loaded = _checked(registry)
    root = registry.resolve().parents[1] if output is None else output
    if not only_check:
        for path in generator.write(loaded, root):
            click.echo(f"written: {path}")
        return
    stale = generator.stale(loaded, root)
    for path in stale:
        click.echo(f"stale: {path}", err=True)
    if stale:
        raise click.exceptions.Exit(1)


@semconv.command("list")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
def list_metrics(form: str) -> None:
    """List the metrics that this version knows."""
    from otelgpu.semconv.metrics import ALL  # noqa: PLC0415  # not needed by the other commands

    rows = [_row(metric) for metric in ALL]
    click.echo(json.dumps(rows, indent=2) if form == "json" else _table(rows))


def _checked(folder: Path) -> Registry:
    from otelgpu.semconv.registry import RegistryError, load  # noqa: PLC0415  # YAML
    from otelgpu.semconv.validate import validate  # noqa: PLC0415  # YAML

    try:
        registry = load(folder)
        findings: Sequence[str] = validate(registry)
    except FileNotFoundError as e:
        raise click.UsageError(f"{e}; say where it is with --registry") from e
    except RegistryError as e:
        findings = e.findings
    for finding in findings:
        click.echo(finding, err=True)
    if findings:
        raise click.exceptions.Exit(1)
    return registry


def _row(metric: Metric) -> Mapping[str, str]:
    from otelgpu.semconv.promname import metric_name  # noqa: PLC0415  # not needed by the others

    return {
        "name": metric.name,
        "instrument": metric.instrument.value,
        "type": metric.value_type.value,
        "unit": metric.unit,
        "profile": metric.profile.name.lower(),
        "prometheus": metric_name(metric.name, metric.unit, metric.instrument),
        "brief": metric.brief,
    }


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    columns = ("name", "instrument", "unit", "profile", "prometheus")
    lines = [columns, *(tuple(row[c] for c in columns) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
