"""Remedies for words that are not known."""

from __future__ import annotations

from collections.abc import Iterable


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """Return a sentence on an unknown word, with what was probably meant and what is known."""
    import difflib  # noqa: PLC0415 - only mistakes need it, and the agent's memory is tight

    known = sorted(known)
    close = difflib.get_close_matches(word, known, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else "; remove it or choose a known one."
    listed = f" Known: {', '.join(known)}" if known else " None is known"
    return f"unknown {what} {word!r}{meant}{listed}"
