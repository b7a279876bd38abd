"""Where a command's configuration comes from: files, or what this node and its variables say."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from otelgpu.cli.default import default_configuration
from otelgpu.component import ReceiverFactory
from otelgpu.config.document import ConfigError, Document, parse
from otelgpu.config.load import load
from otelgpu.config.mistake import Findings
from otelgpu.points.stream import AttributeValue
from otelgpu.service.factories import InstalledFactories
from otelgpu.service.graph import Environment
from otelgpu.service.resource import make_resource

config_option = click.option(
    "--config",
    "-c",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="YAML file; may be given several times, later files win. Without it, receivers are found "
    "by probing, and points go where OTEL_EXPORTER_OTLP_ENDPOINT says or are shown.",
)

_PREFERENCE = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"


class BadConfigurationError(click.ClickException):
    """The configuration cannot be used: exit code 2, every mistake on a line of its own."""

    exit_code = 2

    def __init__(self, error: ConfigError) -> None:
        count = len(error.mistakes)
        head = f"{count} mistake{'' if count == 1 else 's'} in the configuration:"
        super().__init__("\n".join([head, *(f"  {mistake}" for mistake in error.mistakes)]))


def read(files: Sequence[Path], warn: Callable[[str], None] | None = None) -> Document:
    """Return the checked configuration; warnings go to ``warn``, else to stderr.

    Raises:
        BadConfigurationError: with every mistake.

    """
    environ = os.environ
    factories = InstalledFactories()
    findings = Findings()
    try:
        raw: Mapping[str, Any]
        raw = load(files, findings) if files else default_configuration(environ, factories, _say)
        with findings.at(""):
            document = parse(raw, factories, environ)
        findings.check()
    except ConfigError as error:
        raise BadConfigurationError(error) from error
    for warning in _warnings(document, environ):
        (warn or _warn)(warning)
    return document


def _warnings(document: Document, environ: Mapping[str, str]) -> list[str]:
    found = [str(warning) for warning in document.warnings]
    if environ.get(_PREFERENCE, "cumulative").lower() in {"delta", "lowmemory"}:
        found.append(
            f"{_PREFERENCE}={environ[_PREFERENCE]} is not followed: points are cumulative. For a "
            "destination that takes deltas, send through an OpenTelemetry Collector with "
            "collector-config/delta.yaml (processor cumulative_to_delta)."
        )
    return found


def environment(
    document: Document,
    restart: Callable[[str], None] = lambda _: None,
    restarts: Mapping[str, int] | None = None,
) -> Environment:
    """Return what a configuration's components share.

    ``restart`` asks for an execution anew; ``restarts`` is how often that has been done, by reason.
    """
    extra: dict[str, AttributeValue] = {}
    used = {id_ for p in document.pipelines.values() for id_ in p.receivers}
    for spec in document.components.values():
        if isinstance(spec.factory, ReceiverFactory) and spec.id in used:
            extra |= spec.factory.resource
    configured = document.service.telemetry.resource
    resource = make_resource(os.environ, extra, configured)
    return Environment(resource, _SystemClock(), restart=restart, restarts=restarts or {})


class _SystemClock:
    time_ns = staticmethod(time.time_ns)
    monotonic = staticmethod(time.monotonic)


def _warn(text: str) -> None:
    _say(f"warning: {text}")


def _say(text: str) -> None:
    click.echo(text, err=True)
