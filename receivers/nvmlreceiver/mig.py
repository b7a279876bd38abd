"""MIG: a GPU cut into instances, which come and go while the GPU is in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from attrs import evolve, frozen

from nvmlreceiver.binding import Binding
from nvmlreceiver.device import Instance, NvmlDevice, address
from nvmlreceiver.nvml import NVML_DEVICE_MIG_ENABLE
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError
from otelgpu.semconv.attributes import HW_ID, HW_PARENT

_GONE = frozenset({"not_found", "invalid_argument"})
"""What the driver says of an index without an instance, and of the handle of one that is gone."""


def in_mig_mode(binding: Binding, handle: Any) -> bool | None:
    """Return whether a GPU is in MIG mode (nvmlDeviceGetMigMode, the current mode).

    None says that the model has no MIG.

    Raises:
        ReadError: the mode cannot be told now.

    """
    try:
        current, _ = binding.call("nvmlDeviceGetMigMode", handle)
    except UnsupportedError:
        return None
    return bool(current == NVML_DEVICE_MIG_ENABLE)


@frozen
class _Facts:
    """What does not change while an instance lives."""

    handle: int | None
    gpu_instance: int
    compute_instance: int
    profile: str | None


class Instances:
    """Tells the MIG instances of GPUs; a GPU that is not in MIG mode costs no call.

    An instance is known by its UUID alone: its index, its ids and its handle are given to another
    one as soon as it is destroyed.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, dict[str, _Facts]]] = {}
        """By GPU: the session, and what is known of its instances by UUID."""

    def unfold(self, device: NvmlDevice) -> Sequence[NvmlDevice]:
        """Return the GPU as it is now and its MIG instances.

        Raises:
            ReadError: the layout cannot be told now.
            TargetLostError: the GPU is lost.

        """
        if not device.partitioned or not in_mig_mode(device.nvml, device.handle):
            self._known.pop(device.id, None)
            return [evolve(device, partitioned=False) if device.partitioned else device]
        session, known = self._known.get(device.id, (device.session, {}))
        if session != device.session:
            known = {}
        found: dict[str, tuple[Any, _Facts]] = {}
        for index in range(device.ask("nvmlDeviceGetMaxMigDeviceCount")):
            with suppress(_VanishedError):
                handle, uuid = _at(device, index)
                facts = known.get(uuid)
                if facts is None or facts.handle != address(handle):
                    facts = _facts(device.nvml, handle)
                found[uuid] = handle, facts
        self._known[device.id] = device.session, {u: f for u, (_, f) in found.items()}
        return [device, *(_device(device, u, h, f, found) for u, (h, f) in found.items())]

    def holds(self, partition: NvmlDevice) -> bool:
        """Whether the handle still is the instance: by then it may belong to another.

        Raises:
            TargetLostError: the GPU is lost.

        """
        try:
            return partition.nvml.text("nvmlDeviceGetUUID", partition.handle) == partition.id
        except TargetLostError:
            raise
        except ReadError:
            return False


class _VanishedError(Exception):
    """There is no instance here, or none any more."""


def _ask(call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except ReadError as error:
        if error.reason in _GONE:
            raise _VanishedError from error
        raise


def _at(device: NvmlDevice, index: int) -> tuple[Any, str]:
    """Return handle and UUID of the instance at an index."""
    handle = _ask(device.ask, "nvmlDeviceGetMigDeviceHandleByIndex", index)
    uuid = _ask(device.nvml.text, "nvmlDeviceGetUUID", handle)
    if uuid is None:
        raise _VanishedError
    return handle, uuid


def _facts(binding: Binding, handle: Any) -> _Facts:
    name = None
    with suppress(UnsupportedError):
        name = _ask(binding.text, "nvmlDeviceGetName", handle)
    # "NVIDIA H100 80GB HBM3 MIG 1g.10gb": the profile is told nowhere else.
    _, _, profile = (name or "").partition(" MIG ")
    return _Facts(
        address(handle),
        _ask(binding.call, "nvmlDeviceGetGpuInstanceId", handle),
        _ask(binding.call, "nvmlDeviceGetComputeInstanceId", handle),
        profile.strip() or None,
    )


def _device(
    gpu: NvmlDevice,
    uuid: str,
    handle: Any,
    facts: _Facts,
    found: dict[str, tuple[Any, _Facts]],
) -> NvmlDevice:
    siblings = [
        f.compute_instance for _, f in found.values() if f.gpu_instance == facts.gpu_instance
    ]
    return NvmlDevice(
        id=uuid,
        attributes={**gpu.attributes, HW_ID: uuid, HW_PARENT: gpu.id},
        nvml=gpu.nvml,
        handle=handle,
        session=gpu.session,
        index=gpu.index,
        pci_address=gpu.pci_address,
        traits=gpu.traits,
        instance=Instance(
            parent=gpu,
            gpu_instance=facts.gpu_instance,
            compute_instance=facts.compute_instance,
            profile=facts.profile,
            leads=facts.compute_instance == min(siblings),
            alone=len(siblings) == 1,
        ),
    )
