"""Shows on standard error what flows through pipelines."""

from debugexporter.factory import FACTORY

__all__ = ["FACTORY"]
