"""What can become of a request, and who sends it."""

from __future__ import annotations

from typing import Protocol

from attrs import frozen


@frozen
class Accepted:
    """The destination has it, but for ``rejected`` items, which are lost for good."""

    rejected: int = 0
    words: str = ""
    """What the destination said beside it."""


@frozen
class Retry:
    """Not now: the request is kept and sent again."""

    reason: str
    """A short name of few values, for ``error.type``: ``503``, ``timeout``."""
    words: str
    after: float | None = None
    """Seconds that the destination asked to wait; None where it did not."""
    answered: bool = True
    """False where nobody answered: no connection, no answer in time."""


@frozen
class Unauthorized:
    """The credentials are not accepted: kept, since a token may be rotated, and tried rarely."""

    reason: str
    words: str


@frozen
class TooLarge:
    """The request is larger than the destination takes: to be split."""

    reason: str
    words: str


@frozen
class Permanent:
    """The destination will never take it: sending again is of no use."""

    reason: str
    words: str


Outcome = Accepted | Retry | Unauthorized | TooLarge | Permanent


class Transport(Protocol):
    """Sends requests of one signal to one destination, from one thread."""

    gzip: bool
    """Whether ``send`` takes the payload compressed with gzip, else as it is."""
    destination: str
    """Where to, for people; without secrets."""

    def open(self) -> None:
        """Check what can be checked without the network.

        Raises:
            OSError: A file of keys or certificates cannot be read or used.
        """

    def send(self, payload: bytes, timeout: float) -> Outcome:
        """Send one request and return what became of it within ``timeout`` seconds."""

    def close(self) -> None:
        """Let go of the connection; from any thread, and ends a ``send`` that is under way."""
