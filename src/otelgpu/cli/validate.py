"""``otelgpu validate``: checks a configuration without starting anything."""

from __future__ import annotations

from pathlib import Path

import click

from otelgpu.cli.configuration import config_option, read


@click.command()
@config_option
@click.option("--print", "show", is_flag=True, help="Print the settings in force, secrets hidden.")
def validate(files: tuple[Path, ...], *, show: bool) -> None:
    """Check a configuration: every mistake is listed, exit code 2."""
    document = read(files)
    if show:
        from otelgpu.config.dump import dump  # noqa: PLC0415 - needed for this option only

        click.echo(dump(document), nl=False)
    else:
        click.echo("the configuration is valid")
