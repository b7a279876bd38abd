"""References to the environment and to files inside of values.

``${env:NAME}``, ``${env:NAME:-default}`` (for a variable that is not set, as in the Collector) and
``${file:PATH}`` (content without its last line break); ``$$`` is a dollar sign, any other ``$``
stands for itself. Values are expanded after YAML is parsed, so no value adds structure. Keys are
not expanded.

A scalar that is one reference, in quotes or not, has the type that its field asks for: ``4317``
suits a number as well as a text. Where any type will do it has the type that YAML gives its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final, Self

from otelgpu.config.mistake import Findings
from otelgpu.config.schema import Scalar, scalar

MAX_FILE_BYTES = 1 << 20

_TOKEN = re.compile(r"\$\$|\$\{([^}]*)(\}?)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Unresolved(Enum):
    """Stands where a reference could not be expanded; the mistake has been noted."""

    UNRESOLVED = "unresolved"


UNRESOLVED: Final = Unresolved.UNRESOLVED


class Expanded(str):
    """Text that came from references; ``repr()`` shows the references, not the text."""

    __slots__ = ("source", "whole")
    source: str
    """The text before expansion: safe to print."""
    whole: bool
    """Whether it was one reference and nothing else."""

    def __new__(cls, text: str, source: str, *, whole: bool) -> Self:
        expanded = super().__new__(cls, text)
        expanded.source = source
        expanded.whole = whole
        return expanded

    def __repr__(self) -> str:
        return self.source

    @property
    def scalar(self) -> Scalar:
        """The value of the type that YAML gives to the text.

        Raises:
            ValueError: if it is a number of too many digits.

        """
        text = str.__str__(self)
        return scalar(text) if self.whole else text


def expand(raw: Any, environ: Mapping[str, str], findings: Findings, path: str = "") -> Any:
    """Return ``raw`` with references expanded in all values of mappings and lists.

    Text that holds a reference becomes :class:`Expanded`, or ``UNRESOLVED`` where that fails: each
    such mistake is added to ``findings``. ``raw`` must not contain itself.
    """
    if isinstance(raw, Mapping):
        return {k: expand(v, environ, findings, _below(path, k)) for k, v in raw.items()}
    if isinstance(raw, list):
        return [expand(v, environ, findings, _below(path, str(i))) for i, v in enumerate(raw)]
    if isinstance(raw, str) and "$" in raw:
        return _Text(raw, environ, findings, path).expand()
    return raw


def _below(path: str, step: str) -> str:
    return f"{path}::{step}" if path else step


class _Text:
    """One scalar during its expansion."""

    def __init__(
        self, source: str, environ: Mapping[str, str], findings: Findings, path: str
    ) -> None:
        self._source = source
        self._environ = environ
        self._findings = findings
        self._path = path
        self._failed = False
        self._references = 0

    def expand(self) -> Any:
        text = _TOKEN.sub(self._token, self._source)
        if self._failed:
            return UNRESOLVED
        if not self._references:
            return text
        only = _TOKEN.fullmatch(self._source)
        return Expanded(text, self._source, whole=only is not None)

    # The text may be a secret: messages name variables and files, never other parts of it.
    def _token(self, match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        self._references += 1
        reference, closed = match.groups()
        if not closed:
            return self._fail("a reference is not closed; end it with `}`, or write $$ for $")
        if "${" in reference:
            return self._fail("references cannot be nested; write one after the other")
        scheme, colon, rest = reference.partition(":")
        if colon and scheme in {"env", "file"}:
            return self._variable(rest) if scheme == "env" else self._file(rest)
        return self._unknown(reference)

    def _unknown(self, reference: str) -> str:
        if _NAME.fullmatch(reference):
            return self._fail(f"${{{reference}}} has no scheme; write ${{env:{reference}}}")
        known = "write ${env:NAME}, ${env:NAME:-default} or ${file:PATH}, or $$ for $"
        return self._fail(f"a reference is of no known kind; {known}")

    def _variable(self, rest: str) -> str:
        name, has_default, default = rest.partition(":-")
        if not _NAME.fullmatch(name):
            return self._fail("a reference has no valid variable name; write ${env:NAME}")
        if name in self._environ:
            return self._environ[name]
        if has_default:
            return default
        remedy = f"set it or write ${{env:{name}:-default}}"
        return self._fail(f"the environment variable {name} is not set; {remedy}")

    def _file(self, name: str) -> str:
        try:
            with Path(name).open("rb") as file:
                content = file.read(MAX_FILE_BYTES + 1)
            text = content.decode()
        except UnicodeDecodeError:
            return self._fail(f"the file {name!r} is not UTF-8; save it in that encoding")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            remedy = "check path and permissions"
            return self._fail(f"the file {name!r} cannot be read: {reason}; {remedy}")
        if len(content) > MAX_FILE_BYTES:
            return self._fail(f"the file {name!r} is larger than 1 MiB; is it the right one?")
        return re.sub(r"\r?\n\Z", "", text)

    def _fail(self, message: str) -> str:
        self._failed = True
        self._findings.add(self._path, message)
        return ""
