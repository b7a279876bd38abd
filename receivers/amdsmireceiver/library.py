"""Where AMD SMI's library and its Python binding lie."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from attrs import frozen

LIBRARY = "libamd_smi.so"
_OPT = Path("/opt")


@frozen
class Found:
    """What a search has found."""

    library: str | None
    """Path of the library, or its bare name where the loader has found it; None without one."""
    binding: str | None
    """Where the Python module ``amdsmi`` lies; None without one."""
    tried: Sequence[str]
    """Every place where the library was looked for, in order."""


@frozen
class Search:
    """Looks for AMD SMI in the order in which AMD's own tools do; opens nothing but by loader."""

    library: Path | None = None
    """The only place to look, where set."""
    rocm_path: Path | None = None
    """The only ROCm to look into, where set."""
    opt: Path = _OPT
    """Where installations of ROCm lie side by side."""
    load: Callable[[str], object] = ctypes.CDLL
    """Loads a library by its name, or raises OSError."""

    def run(self) -> Found:
        """Return what is there now."""
        roots = self._roots()
        files = [root / "lib" / LIBRARY for root in roots]
        if self.library is not None:
            files = [self.library]
        library = next((str(file) for file in files if file.is_file()), None)
        tried = [str(file) for file in files]
        if library is None and self.library is None:
            tried.append(f"{LIBRARY} by the loader")
            library = self._by_loader()
        return Found(library, self._binding(roots), tried)

    def _roots(self) -> list[Path]:
        if self.rocm_path is not None:
            return [self.rocm_path]
        versions = sorted(self.opt.glob("rocm-*"), key=_version, reverse=True)
        return [self.opt / "rocm", *versions]

    def _by_loader(self) -> str | None:
        try:
            self.load(LIBRARY)
        except OSError:
            return None
        return LIBRARY

    def _binding(self, roots: Sequence[Path]) -> str | None:
        # The binding of the installed ROCm comes first: that of the package index may not match.
        for root in roots:
            module = root / "share" / "amd_smi" / "amdsmi" / "__init__.py"
            if module.is_file():
                return str(module.parent)
        spec = find_spec("amdsmi")
        return None if spec is None else str(spec.origin)


def _version(path: Path) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", path.name)]
