"""The table of settings in each component's README: ``python -m otelgpu.config.reference``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from otelgpu.config.component import KINDS
from otelgpu.config.fields import Row, rows

BEGIN = "<!-- settings:begin -->"
END = "<!-- settings:end -->"


def table(cls: type[Any]) -> str:
    """Return the settings of an attrs class as a Markdown table.

    Raises:
        ValueError: if a field does not say what it means.

    """
    header = Row("Setting", "Type", "Default", "Meaning")
    lines = [_line(header), "|---|---|---|---|"]
    lines += [_line(Row(f"`{row.name}`", row.type, row.default, row.meaning)) for row in rows(cls)]
    return "\n".join([*lines, ""])


def section(configs: Mapping[str, type[Any]]) -> str:
    """Return the tables of all components of one package, given by type.

    Types that share their settings share a table.
    """
    types: dict[type[Any], list[str]] = {}
    for type_, cls in sorted(configs.items()):
        types.setdefault(cls, []).append(f"`{type_}`")
    if len(types) == 1:
        return table(next(iter(types)))
    return "\n".join(f"### {', '.join(names)}\n\n{table(cls)}" for cls, names in types.items())


def update(readme: str, content: str) -> str:
    """Return the text of a README with ``content`` between its markers.

    Raises:
        ValueError: unless it has both markers, once and in order.

    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in before + after:
        raise ValueError(f"needs one {BEGIN} and, below, one {END}")
    return f"{before}{BEGIN}\n\n{content}\n{END}{after}"


def readmes() -> dict[Path, dict[str, type[Any]]]:
    """Return, by README, the types and settings classes of the installed components.

    Components without a README beside their code (installed from a wheel) are left out.
    """
    found: dict[Path, dict[str, type[Any]]] = {}
    for kind in KINDS:
        for entry in entry_points(group=f"otelgpu.{kind}"):
            spec = find_spec(entry.module)
            if spec is None or spec.origin is None:
                continue
            readme = Path(spec.origin).with_name("README.md")
            if readme.exists():
                found.setdefault(readme, {})[entry.name] = entry.load().config
    return found


def refresh(found: Mapping[Path, Mapping[str, type[Any]]], *, check: bool) -> list[str]:
    """Update READMEs, or with ``check`` only compare; return what is wrong, a line each."""
    wrong = []
    for path, configs in found.items():
        try:
            old = path.read_text("utf-8")
            new = update(old, section(configs))
        except ValueError as error:
            wrong.append(f"{path}: {error}")
            continue
        if new != old and check:
            wrong.append(f"{path}: stale; run python -m otelgpu.config.reference")
        elif new != old:
            path.write_text(new, "utf-8")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Update all READMEs, or say which are stale; return the exit status."""
    parser = argparse.ArgumentParser(description="Write the tables of settings into READMEs.")
    parser.add_argument("--check", action="store_true", help="change nothing, fail if stale")
    wrong = refresh(readmes(), check=parser.parse_args(arguments).check)
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


def _line(row: Row) -> str:
    cells = (row.name, row.type, row.default, row.meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
