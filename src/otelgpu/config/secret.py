"""Text that is never printed."""

from __future__ import annotations

REDACTED = "[redacted]"


class Secret(str):
    """A password, token or key: whatever prints it prints ``[redacted]``.

    ``str()``, ``repr()`` and formatting are redacted; only :meth:`reveal` gives the value. Methods
    of ``str`` such as ``encode`` and operators work on the value, as sending it needs.
    """

    __slots__ = ()

    def reveal(self) -> str:
        """Return the value as plain text."""
        return str.__str__(self)

    def __str__(self) -> str:
        return REDACTED

    def __repr__(self) -> str:
        return REDACTED

    def __format__(self, spec: str) -> str:
        return format(REDACTED, spec)
