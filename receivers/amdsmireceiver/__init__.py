"""AMD GPUs by AMD SMI: interface only, nothing is read yet."""

from amdsmireceiver.factory import FACTORY

__all__ = ["FACTORY"]
