"""Stands where the client of AMD SMI will: says whether its library is there."""

from __future__ import annotations

from collections.abc import Callable

from amdsmireceiver.interface import AmdDevice
from amdsmireceiver.library import Search
from otelgpu.scraping.discovery import Inventory
from otelgpu.scraping.errors import ReadError

LIBRARY_NOT_FOUND = "library_not_found"
NOT_READ_YET = "not_read_yet"


class AmdSmiClient:
    """Finds AMD SMI, reads nothing: ``discover`` always fails, with what it has found."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def release(self, may_close: Callable[[], bool]) -> bool:  # noqa: ARG002 - nothing is open
        """Return that nothing is open."""
        return True

    def discover(
        self,
        may_close: Callable[[], bool],  # noqa: ARG002 - nothing is open
    ) -> Inventory[AmdDevice]:
        """Look for the library anew; an installation of ROCm is seen while the agent runs.

        Raises:
            ReadError: always; ``library_not_found`` or ``not_read_yet``.

        """
        found = self._search.run()
        if found.library is None:
            raise ReadError(
                LIBRARY_NOT_FOUND, f"tried {', '.join(found.tried)}; install ROCm or set library"
            )
        binding = f"Python binding at {found.binding}" if found.binding else "no Python binding"
        raise ReadError(
            NOT_READ_YET,
            f"found at {found.library} ({binding}); "
            "this version of otelgpu does not read AMD GPUs yet",
        )
