"""What is wrong with a configuration: every mistake has a path and a remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from attrs import frozen


@frozen
class Mistake:
    """One thing that the user has to change."""

    path: str
    """Where: ``a::b::c`` in the document, or ``file:line:column``."""
    message: str
    """What is wrong and what to write instead; never the value of a secret."""

    def under(self, parent: str) -> Mistake:
        """Return the same mistake as seen from the enclosing mapping."""
        return Mistake("::".join(part for part in (parent, self.path) if part), self.message)

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class ConfigError(Exception):
    """The configuration cannot be used; ``mistakes`` says where and why."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = list(mistakes)
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


class Findings:
    """Collects mistakes, so that the user learns of all of them at once."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []
        self.failed = False
        """Whether something is wrong, even if it has been reported elsewhere."""

    def add(self, path: str, message: str) -> None:
        """Note a mistake."""
        self.failed = True
        self.mistakes.append(Mistake(path, message))

    @contextmanager
    def at(self, path: str) -> Iterator[None]:
        """Note what the block raises as mistakes of ``path``, and go on after the block."""
        try:
            yield
        except ConfigError as error:
            self.failed = True
            self.mistakes += [mistake.under(path) for mistake in error.mistakes]
        except ValueError as error:
            # attrs' validators put the sentence first and their own objects behind it.
            self.add(path, str(error.args[0]) if error.args else "invalid value")

    def check(self) -> None:
        """Raise what has been found.

        Raises:
            ConfigError: if anything is wrong.

        """
        if self.failed:
            raise ConfigError(self.mistakes)
