"""Counts one fault once, whichever of two sources tells of it first."""

from __future__ import annotations

from attrs import define

from nvmlreceiver.faults.sighting import Fault, Source

WINDOW = 5.0
"""Seconds within which two sources tell of the same fault."""


@define
class _Account:
    surplus: int = 0
    """How many more the one source has told of than the other."""
    ahead: Source = Source.EVENTS
    touched: float = float("-inf")


class Balance:
    """Matches what two sources tell, one to one: N of each are N faults, not 2 N.

    Where one tells of fewer (the kernel limits the rate of its lines, an event set its length), the
    greater number counts.
    """

    def __init__(self) -> None:
        self._accounts: dict[Fault, _Account] = {}

    def new(self, fault: Fault, source: Source, times: int, now: float) -> int:
        """Return how many of these the other source has not told of already."""
        account = self._accounts.setdefault(fault, _Account())
        if now > account.touched + WINDOW:
            account.surplus = 0
        account.touched = now
        if account.ahead is source or not account.surplus:
            account.ahead = source
            account.surplus += times
            return times
        known = min(times, account.surplus)
        account.surplus -= known
        rest = times - known
        if rest:
            account.ahead, account.surplus = source, rest
        return rest
