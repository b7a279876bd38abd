"""Opens NVML, finds the GPUs, and opens it anew when only that can help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import Protocol

from attrs import evolve

from nvmlreceiver.binding import Binding
from nvmlreceiver.device import NvmlDevice, address
from nvmlreceiver.identity import Found, identify
from nvmlreceiver.library import Library
from nvmlreceiver.mig import in_mig_mode
from nvmlreceiver.nodes import DeviceNodes
from otelgpu.scraping.discovery import Inventory, Unreadable
from otelgpu.scraping.errors import ReadError, TargetLostError
from otelgpu.scraping.pci import PciFunctions

_STATES = frozenset({"driver_not_loaded", "version_mismatch", "no_permission", "no_devices"})
"""Reasons that are states of their own; the driver's words tell the others apart."""
_LEAVE = 1.0
"""Seconds in which a listener has to come out of NVML."""
_REFERENCES = 16
"""How often NVML is closed at most: other users of this process may have opened it as well."""


class Listener(Protocol):
    """Uses NVML from a thread of its own while it is open."""

    def attach(self, devices: Sequence[NvmlDevice]) -> None:
        """Listen to these GPUs from now on; never fails."""

    def detach(self, timeout: float) -> bool:
        """Leave NVML; return whether no thread of it is inside any more."""


class NvmlClient:
    """Owns NVML, of which a process has one; used by one thread at a time."""

    def __init__(
        self,
        library: Library,
        present: Callable[[], PciFunctions | None],
        nodes: DeviceNodes,
        restart: Callable[[str], None] = lambda _: None,
        listener: Listener | None = None,
    ) -> None:
        """Make a client; nothing is loaded yet.

        ``present`` counts the GPUs on the PCI bus: NVML sees a new one only when opened anew.
        ``restart`` asks for a fresh process: a loaded library stays the old one in this one.
        ``listener`` is told of the GPUs while NVML is open, and leaves it before it is closed.
        """
        self._library = library
        self._nodes = nodes
        self._restart = restart
        self._listener = listener
        self._epoch: Hashable = None
        self._present = present
        self._binding: Binding | None = None
        self._session = 0
        self._opened_with: PciFunctions | None = None
        self._known: dict[int | None, Found] = {}
        self._partitioned: dict[str, bool | None] = {}
        """MIG mode by GPU; None of a model that has none."""

    def discover(self, may_close: Callable[[], bool]) -> Inventory[NvmlDevice]:
        """Return the GPUs.

        NVML is closed and opened again, where ``may_close`` allows it, when no call on a GPU has
        succeeded since the last search, when no GPU is found, or when a GPU came to or left the
        PCI bus.

        Raises:
            ReadError: NVML cannot be opened, finds no GPU, or lost its device nodes.

        """
        found = self._search(may_close)
        if self._listener is not None:
            self._listener.attach(found.devices)
        return found

    def _search(self, may_close: Callable[[], bool]) -> Inventory[NvmlDevice]:
        fresh = self._binding is None
        if self._binding is not None and self._stale(self._binding):
            fresh = self._leave(may_close)
        try:
            found = self._find()
        except ReadError:
            if fresh or self._binding is None or not self._leave(may_close):
                raise
        else:
            if found.devices or fresh or not self._leave(may_close):
                return found
        return self._find()

    def _leave(self, may_close: Callable[[], bool]) -> bool:
        """Close NVML if nobody is inside; return whether it is closed."""
        if self._listener is not None and not self._listener.detach(_LEAVE):
            return False
        # Asked last: whoever gave the permission may take it back meanwhile.
        if not may_close():
            return False
        if self._binding is not None:
            self._close(self._binding)
        return True

    def release(self, may_close: Callable[[], bool]) -> bool:
        """Close NVML if ``may_close`` allows it; return whether it is closed."""
        return self._leave(may_close)

    def _find(self) -> Inventory[NvmlDevice]:
        try:
            return self._enumerate(self._binding or self._open())
        finally:
            if self._binding is not None:
                self._binding.asked = self._binding.answered = False

    def _enumerate(self, binding: Binding) -> Inventory[NvmlDevice]:
        try:
            count = binding.call("nvmlDeviceGetCount")
        except ReadError as error:
            raise self._nodes.explain(_as_state(error)) from error
        found: list[Found] = []
        unreadable = []
        for index in range(count):
            try:
                found.append(self._identify(binding, index))
            except ReadError as error:
                unreadable.append(Unreadable(f"index {index}", error))
        devices = []
        uuids = Counter(one.uuid for one in found)
        for one in found:
            try:
                device = one.device(binding, self._session, unique=uuids[one.uuid] == 1)
                devices.append(evolve(device, partitioned=self._in_mig_mode(binding, device)))
            except ReadError as error:
                unreadable.append(Unreadable(f"index {one.index}", error))
        if not devices:
            self._nodes.blame([one.error for one in unreadable])
        return Inventory(devices, unreadable, self._epoch)

    def _identify(self, binding: Binding, index: int) -> Found:
        """Ask for what cannot change only when the GPU is new: a handle is one GPU while open."""
        handle = binding.call("nvmlDeviceGetHandleByIndex", index)
        place = address(handle)
        known = self._known.get(place)
        if known is None:
            known = identify(binding, handle)
            if known.complete:
                self._known[place] = known
        return known.at(index)

    def _in_mig_mode(self, binding: Binding, device: NvmlDevice) -> bool:
        """Return whether a GPU is in MIG mode: what it was, where the driver cannot tell now."""
        known = self._partitioned.get(device.id, False)
        if known is not None:
            with suppress(ReadError):
                known = in_mig_mode(binding, device.handle)
        self._partitioned[device.id] = known
        return bool(known)

    def _open(self) -> Binding:
        binding = Binding(self._library.load())
        present = self._present()
        try:
            binding.call("nvmlInit")
        except ReadError as error:
            if error.reason == "version_mismatch" and self._library.replaced:
                self._restart("driver_upgraded")
            raise self._nodes.explain(_as_state(error)) from error
        self._session += 1
        self._epoch = self._load_of(binding)
        self._opened_with = present
        self._known.clear()
        self._partitioned.clear()
        self._binding = binding
        return binding

    def _load_of(self, binding: Binding) -> Hashable:
        """Return what tells one load of the driver from another, None where nothing does."""
        version = None
        with suppress(ReadError):
            version = binding.text("nvmlSystemGetDriverVersion")
        try:
            # sysfs makes a new inode for the folder each time that the module is loaded.
            return version, self._nodes.module.stat().st_ino
        except OSError:
            return None if version is None else (version, None)

    def _close(self, binding: Binding) -> None:
        self._binding = None
        with suppress(ReadError):
            for _ in range(_REFERENCES):
                binding.call("nvmlShutdown")

    def _stale(self, binding: Binding) -> bool:
        return (binding.asked and not binding.answered) or self._present() != self._opened_with


def _as_state(error: ReadError) -> ReadError:
    """Return an error whose reason is a state of the receiver."""
    if isinstance(error, TargetLostError):
        return ReadError("device_lost", str(error))
    return error if error.reason in _STATES else ReadError("unknown", f"{error.reason}: {error}")
