"""Files that follow from the registry, and whether those on disk still do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from otelgpu.semconv import dictionary, python_source
from otelgpu.semconv.registry import Registry

_PACKAGE = "src/otelgpu/semconv"


def files(registry: Registry) -> Mapping[str, str]:
    """Return text by path, relative to the repository's root; the same registry, the same text."""
    return {
        f"{_PACKAGE}/metrics.py": python_source.metrics_module(registry),
        f"{_PACKAGE}/attributes.py": python_source.attributes_module(registry),
        f"{_PACKAGE}/events.py": python_source.events_module(registry),
        f"{_PACKAGE}/rules.py": python_source.rules_module(registry),
        "docs/metrics.md": dictionary.page(registry),
    }


def stale(registry: Registry, root: Path) -> list[str]:
    """Return paths of files that are missing under ``root`` or differ from the registry."""
    return [
        path
        for path, text in files(registry).items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    ]


def write(registry: Registry, root: Path) -> list[str]:
    """Write what is stale under ``root`` and return its paths."""
    made = files(registry)
    paths = stale(registry, root)
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(made[path], encoding="utf-8")
    return paths
