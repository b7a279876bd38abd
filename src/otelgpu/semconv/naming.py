"""Names that follow from names: constants, and the classes of enumerations."""

from __future__ import annotations


def constant(name: str) -> str:
    """Return the Python constant of a metric, attribute or event name."""
    return name.upper().replace(".", "_")


def class_name(key: str) -> str:
    """Return the Python class that holds the values of an attribute."""
    return "".join(word.capitalize() for word in key.replace("_", ".").split("."))
