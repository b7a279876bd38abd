"""What a vendor call can say instead of a value, in words that every receiver shares."""

from __future__ import annotations


class ReadError(Exception):
    """A value could not be read now.

    ``reason`` is a low-cardinality word: it becomes ``error.type`` of the drop counter, and the
    second part of the receiver's state when discovery fails with it.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(detail or reason)
        self.reason = reason

    def bare(self) -> ReadError:
        """Return it without how it came about: that would keep all frames and what they hold."""
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)


class UnsupportedError(ReadError):
    """The device does not have this value; asked again only rarely."""

    def __init__(self, detail: str = "") -> None:
        super().__init__("unsupported", detail)


class ToldOtherwiseError(UnsupportedError):
    """Another row gives the same value of this device: nothing is missing, and nothing counted."""


class TargetLostError(ReadError):
    """The device is gone or needs a reset: nothing else is read from it in this cycle."""

    def __init__(self, detail: str = "") -> None:
        super().__init__("lost", detail)
