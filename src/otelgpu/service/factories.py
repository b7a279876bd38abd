"""Finds installed components by their entry points."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from otelgpu.component import AnyFactory, ExporterFactory, ProcessorFactory, ReceiverFactory
from otelgpu.service.healthcheck import FACTORY as HEALTH_CHECK

_FACTORIES: dict[str, type[AnyFactory]] = {
    "receivers": ReceiverFactory,
    "processors": ProcessorFactory,
    "exporters": ExporterFactory,
}
_BUILT_IN = {"extensions": {HEALTH_CHECK.type: HEALTH_CHECK}}


class InstalledFactories:
    """Loads the factory that is asked for and no other: components may need optional extras."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, EntryPoint]] = {}

    def get(self, kind: str, type: str) -> Any:  # noqa: A002 - the Collector's word
        """Return the factory of a type, None if there is none.

        Raises:
            ImportError: if it is known but cannot be loaded.

        """
        built_in = _BUILT_IN.get(kind, {}).get(type)
        if built_in is not None:
            return built_in
        entry = self._entries(kind).get(type)
        if entry is None:
            return None
        try:
            found = entry.load()
        except ImportError:
            raise
        except Exception as error:
            # A third party's module may raise anything when it is imported.
            raise ImportError(f"{error.__class__.__name__}: {error}") from error
        if not isinstance(found, _FACTORIES[kind]):
            raise ImportError(f"{entry.value} is no {_FACTORIES[kind].__name__}")  # noqa: TRY004 - as any other reason
        return found

    def known(self, kind: str) -> list[str]:
        """Return all types of a kind."""
        return sorted({*_BUILT_IN.get(kind, {}), *self._entries(kind)})

    def _entries(self, kind: str) -> dict[str, EntryPoint]:
        if kind not in _FACTORIES:
            # Extensions are ours alone: there is no contract for others yet.
            return {}
        if kind not in self._found:
            self._found[kind] = {e.name: e for e in entry_points(group=f"otelgpu.{kind}")}
        return self._found[kind]
