"""Opens NVML, finds the GPUs, and opens it anew when only that can help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

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
_REFERENCES = 16
"""How often NVML is closed at most: other users of this process may have opened it as well."""


class NvmlClient:
    """Owns NVML, of which a process has one; used by one thread at a time."""

    def __init__(
        self, library: Library, present: Callable[[], PciFunctions | None], nodes: DeviceNodes
    ) -> None:
        """``present`` counts the GPUs on the PCI bus: NVML sees a new one only when opened anew."""
        self._library = library
        self._nodes = nodes
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
        fresh = self._binding is None
        if self._binding is not None and self._stale(self._binding) and may_close():
            self._close(self._binding)
            fresh = True
        try:
            found = self._find()
        except ReadError:
            if fresh or self._binding is None or not may_close():
                raise
        else:
            if found.devices or fresh or not may_close():
                return found
        if self._binding is not None:
            self._close(self._binding)
        return self._find()

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
        return Inventory(devices, unreadable)

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
            raise self._nodes.explain(_as_state(error)) from error
        self._session += 1
        self._opened_with = present
        self._known.clear()
        self._partitioned.clear()
        self._binding = binding
        return binding

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
