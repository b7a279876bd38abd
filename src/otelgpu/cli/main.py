"""Entry point: finds the command, and leaves the process when it is done."""

from __future__ import annotations

import os
import sys
import traceback
from typing import NoReturn

import click

from otelgpu import __version__
from otelgpu.cli.components import components
from otelgpu.cli.once import once
from otelgpu.cli.run import run
from otelgpu.cli.semconv import semconv
from otelgpu.cli.validate import validate

OK, FAILURE, USAGE = 0, 1, 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="otelgpu %(version)s")
def otelgpu() -> None:
    """GPU telemetry for OpenTelemetry: NVIDIA and AMD, on one convention, over OTLP."""


for _command in (run, once, validate, components, semconv):
    otelgpu.add_command(_command)


def main() -> NoReturn:
    """Run the command and leave.

    Exit codes: 0 fine, 1 failure at run time, 2 bad configuration or usage.
    """
    if sys.platform == "win32":
        print("otelgpu reads GPUs on Linux; on Windows run it inside WSL2.", file=sys.stderr)
        sys.exit(USAGE)
    try:
        code = otelgpu.main(standalone_mode=False) or OK
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.exceptions.Exit as request:
        code = request.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = FAILURE
    except BrokenPipeError:
        # The reader of our results has gone, such as `head`: nothing is left to say.
        code = FAILURE
    except SystemExit as request:
        # Click's own answer to a broken pipe.
        code = request.code if isinstance(request.code, int) else FAILURE
    except Exception:  # noqa: BLE001 - leave by the same door: a library may be in use
        traceback.print_exc()
        code = FAILURE
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process at once: a thread may be inside a vendor's library that never answers.

    The interpreter's own way out would run the library's destructors under that thread.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or FAILURE
    os._exit(code)
