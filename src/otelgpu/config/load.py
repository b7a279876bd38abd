"""Reading of configuration files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from yaml.reader import ReaderError

from otelgpu.config.construct import Constructor
from otelgpu.config.merge import merge
from otelgpu.config.mistake import ConfigError, Findings, Mistake
from otelgpu.config.schema import resolvers


class _Loader(yaml.SafeLoader):
    """Resolves plain scalars by YAML 1.2; only its composer is used, so no tag makes an object."""

    yaml_implicit_resolvers = resolvers()


def load(paths: Iterable[Path], findings: Findings | None = None) -> dict[str, Any]:
    """Return the merged content of YAML files, references not yet expanded.

    Later files win: maps merge by key, lists and scalars replace. An empty file is an empty map.
    Mistakes within files that could be read are put into ``findings``, where given: the rest of the
    content can be checked all the same.

    Raises:
        ConfigError: with every mistake of every file; their paths are ``file:line:column``.

    """
    merged: dict[str, Any] = {}
    whole = Findings()
    within = Findings()
    for path in paths:
        with whole.at(""):
            merged = merge(merged, _read(path, within))
    if findings is None or whole.failed:
        whole.mistakes += within.mistakes
        whole.failed = whole.failed or within.failed
        whole.check()
    else:
        findings.mistakes += within.mistakes
        findings.failed = findings.failed or within.failed
    return merged


def _read(path: Path, within: Findings) -> dict[str, Any]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _error(f"{path}:{line}", "is not UTF-8; save the file in that encoding") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise _error(str(path), f"cannot be read: {reason}; check path and permissions") from error
    try:
        node = yaml.compose(text, Loader=_Loader)
        constructor = Constructor(str(path))
        content = {} if node is None else constructor.value(node)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        raise _error(f"{path}:{line}:{column}", "has a character that YAML forbids") from error
    except yaml.MarkedYAMLError as error:
        # PyYAML's own words quote the line, which may hold a secret: no traceback may show them.
        raise _syntax(path, error) from None
    except RecursionError as error:
        raise _error(str(path), "is nested too deeply; flatten it") from error
    within.mistakes += constructor.findings.mistakes
    within.failed = within.failed or constructor.findings.failed
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise _error(f"{path}:1:1", "holds no mapping; start with `receivers:` or another section")
    return content


def _syntax(path: Path, error: yaml.MarkedYAMLError) -> ConfigError:
    mark = error.problem_mark or error.context_mark
    where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
    words = ", ".join(part for part in (error.context, error.problem) if part)
    return _error(where, f"invalid YAML: {words}; check indentation and quotes here and above")


def _error(path: str, message: str) -> ConfigError:
    return ConfigError([Mistake(path, message)])
