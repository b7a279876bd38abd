"""Turn YAML values into the registry's classes, strictly: no unknown field, no silent conversion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from cattrs import Converter, transform_error
from cattrs.v import format_exception

from otelgpu.semconv.model import Enumeration

T = TypeVar("T")


class Structurer:
    """Builds classes and collects what is wrong, one finding for each mistake."""

    def __init__(self) -> None:
        self.findings: list[str] = []
        self._converter = _converter()

    def build(self, raw: Any, type_: type[T], where: str) -> T | None:
        """Return ``raw`` as ``type_``; None, and findings that start with ``where``, if it is not."""
        try:
            return self._converter.structure(raw, type_)
        except Exception as e:  # noqa: BLE001  # cattrs wraps whatever a hook raises
            lines = transform_error(e, path="", format_exception=_words)
            self.findings.extend(f"{where}: {line}" for line in lines)
            return None


def _words(error: BaseException, type_: type | None) -> str:
    # a value that is not taken says so better itself than cattrs does
    return str(error) if isinstance(error, ValueError) else format_exception(error, type_)


def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)
    for type_, accepted in ((str, (str,)), (int, (int,)), (bool, (bool,)), (float, (int, float))):
        converter.register_structure_hook(type_, _exactly(*accepted))
    converter.register_structure_hook(float | None, _exactly(int, float, type(None)))
    converter.register_structure_hook(
        str | Enumeration,
        lambda v, _: v if isinstance(v, str) else converter.structure(v, Enumeration),
    )
    converter.register_structure_hook(
        str | Mapping[str, str],
        lambda v, _: v if isinstance(v, str) else converter.structure(v, dict[str, str]),
    )
    return converter


def _exactly(*accepted: type) -> Any:
    def hook(value: Any, _: Any) -> Any:
        if type(value) not in accepted:
            names = " or ".join("null" if t is type(None) else t.__name__ for t in accepted)
            raise ValueError(f"{value!r} is not of type {names}")
        return value

    return hook
