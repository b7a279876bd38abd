"""What a GPU is called and what its model has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import evolve, frozen

from nvmlreceiver.binding import Binding
from nvmlreceiver.device import NvmlDevice, Traits
from nvmlreceiver.drivers import field_numbers, parse_version
from nvmlreceiver.errors import MissingError
from otelgpu.scraping.errors import ReadError, TargetLostError, UnsupportedError
from otelgpu.semconv.attributes import HW_ID, HW_MODEL, HW_TYPE, HW_VENDOR, HwType

_REASONS = (
    "nvmlDeviceGetSupportedClocksEventReasons",
    # The name before driver 535
    "nvmlDeviceGetSupportedClocksThrottleReasons",
)
_MOST_FANS = 8


@frozen
class Found:
    """A GPU as NVML identifies it."""

    handle: Any
    uuid: str
    """Empty where the GPU has none."""
    pci_address: str | None
    traits: Traits
    complete: bool
    """Whether every question was answered, be it by "not supported"."""
    index: int = -1

    def at(self, index: int) -> Found:
        """Return the same GPU with its place in NVML's list."""
        return evolve(self, index=index)

    def device(self, binding: Binding, session: int, *, unique: bool) -> NvmlDevice:
        """Return the GPU as a device; without a UUID of its own its PCI address names it.

        Raises:
            ReadError: it has neither.

        """
        if self.uuid and unique:
            name = self.uuid
        elif self.pci_address:
            name = f"pci:{self.pci_address}"
        else:
            raise ReadError("no_identity", "the GPU has no UUID of its own and no PCI address")
        attributes = {HW_ID: name, HW_TYPE: HwType.GPU, HW_VENDOR: "NVIDIA"}
        if self.traits.model is not None:
            attributes[HW_MODEL] = self.traits.model
        return NvmlDevice(
            id=name,
            attributes=attributes,
            nvml=binding,
            handle=self.handle,
            session=session,
            index=self.index,
            pci_address=self.pci_address,
            traits=self.traits,
        )


class _Asker:
    """Asks what may be missing; only a lost GPU is an error."""

    def __init__(self) -> None:
        self.complete = True

    def ask(self, call: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return call(*arguments)
        except TargetLostError:
            raise
        except UnsupportedError:
            return None
        except ReadError:
            self.complete = False
            return None


def identify(binding: Binding, handle: Any) -> Found:
    """Ask for what does not change while NVML is open.

    Raises:
        ReadError: its UUID cannot be read now, or it is lost.

    """
    uuid = read_uuid(binding, handle)
    asker = _Asker()
    pci = asker.ask(binding.call, "nvmlDeviceGetPciInfo", handle)
    capability = asker.ask(binding.call, "nvmlDeviceGetCudaComputeCapability", handle)
    reasons = asker.ask(binding.call, _REASONS[0], handle)
    if reasons is None:
        reasons = asker.ask(binding.call, _REASONS[1], handle)
    driver = asker.ask(binding.text, "nvmlSystemGetDriverVersion")
    traits = Traits(
        model=asker.ask(binding.text, "nvmlDeviceGetName", handle),
        architecture=asker.ask(binding.call, "nvmlDeviceGetArchitecture", handle),
        compute_capability=None if capability is None else tuple(capability),
        fans=asker.ask(_count_fans, binding, handle),
        clock_event_reasons=reasons,
        field_numbers=field_numbers(parse_version(driver)),
    )
    return Found(handle, uuid, None if pci is None else pci_address(pci), traits, asker.complete)


def _count_fans(binding: Binding, handle: Any) -> int:
    """Return the number of fans; drivers before 510 answer for each fan but do not count them."""
    try:
        return int(binding.call("nvmlDeviceGetNumFans", handle))
    except MissingError:
        fans = 0
        while fans < _MOST_FANS and _has_fan(binding, handle, fans):
            fans += 1
        return fans


def _has_fan(binding: Binding, handle: Any, fan: int) -> bool:
    try:
        binding.call("nvmlDeviceGetFanSpeed_v2", handle, fan)
    except UnsupportedError:
        return False
    except ReadError as error:
        if error.reason == "invalid_argument":
            return False
        raise
    return True


def read_uuid(binding: Binding, handle: Any) -> str:
    """Return a GPU's UUID, empty where it has none.

    Raises:
        ReadError: it cannot be read now. It may have one, so no other name will do.

    """
    try:
        uuid = binding.text("nvmlDeviceGetUUID", handle) or ""
    except UnsupportedError:
        return ""
    return uuid if is_uuid(uuid) else ""


def is_uuid(uuid: str) -> bool:
    """Tell whether a text can name a GPU: some drivers give zeros where there is nothing."""
    return uuid.isascii() and bool(set(uuid.removeprefix("GPU-")) - {"0", "-"})


def pci_address(pci: Any) -> str | None:
    """Return the address of ``nvmlPciInfo_t`` in sysfs' form, None if it is none."""
    if pci.bus > 0xFF or pci.device > 0x1F:  # noqa: PLR2004 - widths of the PCI specification
        return None
    return f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0"
