"""Finding and loading libnvidia-ml.so.1, which belongs to the driver and not to a package."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from ctypes import CDLL
from pathlib import Path
from types import ModuleType

from nvmlreceiver.shadowing import load_binding
from otelgpu.scraping.errors import ReadError

LIBRARY = "libnvidia-ml.so.1"
_MAPS = Path("/proc/self/maps")
_MULTIARCH = f"{platform.machine()}-linux-gnu"
_IN_ROOT = (
    "usr/lib64",
    f"usr/lib/{_MULTIARCH}",
    "usr/lib",
    f"usr/lib/{_MULTIARCH}/nvidia",
    "lib64",
    f"lib/{_MULTIARCH}",
    "usr/lib/wsl/lib",
)
FOLDERS = (
    # The GPU Operator's driver container
    "/run/nvidia/driver/usr/lib64",
    f"/run/nvidia/driver/usr/lib/{_MULTIARCH}",
    # GKE: Container-Optimized OS, as seen on the host and in a container
    "/home/kubernetes/bin/nvidia/lib64",
    "/usr/local/nvidia/lib64",
    # Jetson, where the loader's configuration is not that of the host
    f"/usr/lib/{_MULTIARCH}/nvidia",
    # Windows' driver in WSL 2
    "/usr/lib/wsl/lib",
)
"""Where the library is when the loader does not know it."""


class Library:
    """Finds the library anew at each ``load`` until one can be used."""

    def __init__(self, file: str, driver_root: str, folders: Sequence[str] = FOLDERS) -> None:
        """``file`` and ``driver_root`` are the receiver's settings, empty where not set."""
        self._file = file
        self._driver_root = driver_root
        self._folders = folders
        self._loaded: CDLL | None = None
        self._place: tuple[Path, tuple[int, int]] | None = None
        """Where the library was found, and which file that was."""

    def load(self) -> ModuleType:
        """Return the module ``pynvml``, set to use the library.

        Raises:
            ReadError: ``library_not_found`` or ``library_broken``, with every path tried and what
                the loader said of it; ``binding_shadowed``.

        """
        binding = load_binding()
        if self._loaded is None:
            self._loaded = self._search()
        if binding.nvmlLib is not self._loaded:
            # pynvml would load by one fixed name. To load our file first and count on the loader to
            # find it again by its SONAME works with glibc only, and not when another file of that
            # name is loaded already; this variable is where pynvml itself keeps its library.
            binding.nvmlLib = self._loaded  # type: ignore[attr-defined]
            # Pointers into a library that was used before, by a receiver since reconfigured.
            getattr(binding, "_nvmlGetFunctionPointer_cache", {}).clear()
        return binding

    @property
    def replaced(self) -> bool:
        """Whether another file is now where the library was loaded from, as after an upgrade."""
        if self._place is None:
            return False
        place, identity = self._place
        now = _identity(place)
        return now is not None and now != identity

    def _search(self) -> CDLL:
        said = []
        broken = False
        for candidate in self._candidates():
            try:
                library = CDLL(candidate)
            except (OSError, ValueError) as error:
                said.append(_with_name(candidate, str(error)))
                broken = broken or Path(candidate).is_file()
                continue
            if hasattr(library, "nvmlInitWithFlags"):
                self._remember(candidate)
                return library
            said.append(f"{candidate}: has no nvmlInitWithFlags")
            broken = True
        reason = "library_broken" if broken else "library_not_found"
        raise ReadError(reason, "tried " + "; ".join(said))

    def _remember(self, candidate: str) -> None:
        place = Path(candidate)
        if not place.is_absolute():
            mapped = _mapped()
            if mapped is None:
                return
            # The loader followed a link from the name that it knows, beside the file.
            place = mapped.with_name(LIBRARY)
        identity = _identity(place)
        self._place = None if identity is None else (place, identity)

    def _candidates(self) -> Iterator[str]:
        if self._file:
            yield self._file
        elif self._driver_root:
            yield from (str(Path(self._driver_root, part, LIBRARY)) for part in _IN_ROOT)
        else:
            yield LIBRARY
            yield from (str(Path(folder, LIBRARY)) for folder in self._folders)


def _with_name(candidate: str, words: str) -> str:
    return words if candidate in words else f"{candidate}: {words}"


def _identity(place: Path) -> tuple[int, int] | None:
    """Return which file is at a place, None if there is none."""
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _mapped() -> Path | None:
    """Return the file that the loader took for the library, None where nothing tells."""
    try:
        lines = _MAPS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        # Address, rights, offset, device, inode, path
        path = line.split(maxsplit=5)[5:]
        if path and "libnvidia-ml.so" in path[0]:
            return Path(path[0])
    return None
