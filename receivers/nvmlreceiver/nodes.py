"""The driver's device nodes, which a container can lose while it runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from errno import ENOENT, EPERM
from pathlib import Path

from otelgpu.scraping.errors import ReadError

LOST = "device_nodes_lost"
_SUSPECT = frozenset({"unknown", "no_permission", "driver_not_loaded"})
"""What NVML says without its nodes; it does not tell why."""
_GONE = frozenset({ENOENT, EPERM})
"""Not there, or forbidden by the device rules of the container's cgroup. A mere lack of rights is
EACCES, and another state."""


def open_node(node: Path) -> None:
    """Open a device node and close it again.

    Raises:
        OSError: it cannot be opened.

    """
    os.close(os.open(node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))


class DeviceNodes:
    """Tells a container that lost its device nodes from a driver that fails.

    systemd applies a container's device rules anew when its units are reloaded, and forgets those
    that a hook added; each call to the driver then answers UNKNOWN, and only a restart helps.
    """

    def __init__(
        self, sysfs: Path, dev: Path = Path("/dev"), enter: Callable[[Path], None] = open_node
    ) -> None:
        """``enter`` opens a node, as ``open_node`` does."""
        self.module = sysfs / "module" / "nvidia"
        """The kernel module's folder in sysfs, another one each time that it is loaded."""
        self._control = dev / "nvidiactl"
        self._enter = enter

    def explain(self, error: ReadError) -> ReadError:
        """Return what is the case where nothing could be read: this error, or lost nodes."""
        if error.reason not in _SUSPECT or not self.module.exists():
            return error
        try:
            self._enter(self._control)
        except OSError as refused:
            if refused.errno in _GONE:
                words = (
                    "the container lost its device nodes; restart it "
                    f"({self._control}: {refused.strerror}, while the kernel module is loaded)"
                )
                return ReadError(LOST, words)
        return error

    def blame(self, errors: Sequence[ReadError]) -> None:
        """Find lost nodes behind the errors of all devices.

        Raises:
            ReadError: ``device_nodes_lost``.

        """
        if errors and all(error.reason in _SUSPECT for error in errors):
            found = self.explain(errors[0])
            if found is not errors[0]:
                raise found
