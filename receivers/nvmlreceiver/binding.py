"""NVML by the names of its functions, with errors in the words of all receivers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import byref, c_uint
from types import ModuleType
from typing import Any

from nvmlreceiver.errors import INVALID_ARGUMENT, read_error
from nvmlreceiver.fieldrequest import ENTRY, NOT_AVAILABLE, FieldRequests, value_of
from otelgpu.scraping.errors import ReadError, UnsupportedError

_UNREPAIRABLE_MEMORY_V1 = 0x1000008
_NOT_FILLED_IN = 0xFFFFFFFF


class Binding:
    """Calls NVML by the names of its functions.

    ``asked`` and ``answered`` tell whether any call was made, and any of them succeeded, since they
    were last set to False: when nothing answers, only a new ``nvmlInit`` can help.
    """

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._error: type[Exception] = module.NVMLError
        self._requests = FieldRequests()
        self.spare_samples: list[Any] = []
        """Samples of GPM (``nvmlGpmSample_t``) that no device uses; void once NVML is closed."""
        self.asked = False
        self.answered = False

    def call(self, function: str, *arguments: Any) -> Any:
        """Return what a function of pynvml returns: a number, a list or a structure.

        Raises:
            ReadError: the call failed, or all bits of the number are set (``absent``).
            UnsupportedError: the device or the driver does not have it.
            TargetLostError: the device is lost or needs a reset.

        """
        return _present(self._ask(getattr(self._module, function), arguments))

    def text(self, function: str, *arguments: Any) -> str | None:
        """Return a text, None if it says nothing; bytes that are no UTF-8 are replaced.

        Raises:
            ReadError: as ``call`` does.

        """
        # The undecorated function returns bytes; pynvml's decorator would fail on some of them.
        entry = getattr(self._module, function)
        raw = self._ask(getattr(entry, "__wrapped__", entry), arguments)
        found = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        clean = "".join(c if c.isprintable() else "\ufffd" for c in found).strip()
        return clean if clean.strip("\ufffd") else None

    def fields(self, handle: Any, keys: Sequence[tuple[int, int]]) -> list[float | ReadError]:
        """Return the values of fields (``NVML_FI_*``) in order, in NVML's units.

        A key is the number of a field and the scope that it is asked for (``scopeId``): a link, a
        power domain, 0 for most.

        Raises:
            ReadError: the call as a whole failed.

        """
        request = self._requests.fill(tuple(keys))
        self.invoke("nvmlDeviceGetFieldValues", handle, len(keys), request)
        return [
            self._field(key, kind, code, raw)
            for key, (kind, code, raw) in zip(keys, ENTRY.iter_unpack(request), strict=True)
        ]

    def _field(self, key: tuple[int, int], kind: int, code: int, raw: int) -> float | ReadError:
        if not code:
            try:
                return value_of(kind, raw)
            except ReadError as error:
                return ReadError(error.reason, f"field {key[0]}: {error}")
        if code == INVALID_ARGUMENT:
            # The call as a whole is valid, so it is the number that this driver does not know.
            return UnsupportedError(f"field {key[0]} is not known to the driver")
        return read_error(code, f"field {key[0]}: {self._words(code)}")

    def fan_rpm(self, handle: Any, fan: int) -> int:
        """Return the speed of one fan in revolutions per minute (nvmlDeviceGetFanSpeedRPM).

        Raises:
            ReadError: as ``call`` does.

        """
        # pynvml's own function asks for the first fan only.
        info = self._module.c_nvmlFanSpeedInfo_t()
        info.version = self._module.nvmlFanSpeedInfo_v1
        info.fan = fan
        self.invoke("nvmlDeviceGetFanSpeedRPM", handle, byref(info))
        return int(_present(info.speed))

    def fabric(self, handle: Any) -> Any:
        """Return the structure of nvmlDeviceGetGpuFabricInfoV, version 2.

        Raises:
            ReadError: as ``call`` does.

        """
        info = self._module.c_nvmlGpuFabricInfo_v2_t()
        self._ask(self._module.nvmlDeviceGetGpuFabricInfoV, (handle, byref(info)))
        return info

    def fabric_before_550(self, handle: Any) -> Any:
        """Return the structure of nvmlDeviceGetGpuFabricInfo, which tells nothing of health.

        Raises:
            ReadError: as ``call`` does.

        """
        info = self._module.c_nvmlGpuFabricInfo_t()
        self._ask(self._module.nvmlDeviceGetGpuFabricInfo, (handle, byref(info)))
        return info

    def unrepairable_memory(self, handle: Any) -> bool:
        """Return whether the GPU has memory that cannot be repaired (newest drivers only).

        Raises:
            ReadError: as ``call`` does, or the flag is neither 0 nor 1 (``out_of_range``).

        """
        # nvml.h gives the structure one number, NVIDIA's Python binding a version before it: this
        # serves both, since a library that knows no version overwrites it.
        status = (c_uint * 2)(_UNREPAIRABLE_MEMORY_V1, _NOT_FILLED_IN)
        self.invoke("nvmlDeviceGetUnrepairableMemoryFlag_v1", handle, status)
        version, flag = status
        if version != _UNREPAIRABLE_MEMORY_V1:
            flag = version
        if flag not in (0, 1):
            raise ReadError("out_of_range", f"unrepairable memory flag {flag}")
        return bool(flag)

    def invoke(self, function: str, *arguments: Any) -> None:
        """Call a function of the library itself with ctypes' arguments; results are in them.

        For what pynvml lacks, lays out in one way only, or allocates anew at each call.

        Raises:
            ReadError: as ``call`` does.

        """
        self._ask(self._enter, (function, *arguments))

    def aside(self, function: str, *arguments: Any) -> None:
        """Call as ``invoke`` does, for what is not about a GPU: it counts as no answer of one.

        Raises:
            ReadError: as ``call`` does.

        """
        try:
            self._enter(function, *arguments)
        except self._error as error:
            code = error.value  # type: ignore[attr-defined]
            raise read_error(code, self._words(code)) from error

    def entry(self, *names: str) -> Callable[..., int]:
        """Return the first of these functions that the library has, as ctypes calls it.

        For a thread that waits inside: what it is answered says nothing of the GPUs' health.

        Raises:
            UnsupportedError: it has none of them.

        """
        for name in names:
            found: Callable[..., int] | None = getattr(self._module.nvmlLib, name, None)
            if found is not None:
                return found
        raise UnsupportedError(f"the library has no {names[-1]}")

    def has(self, function: str) -> bool:
        """Tell whether the library has a function, whatever a device says of it."""
        return getattr(self._module.nvmlLib, function, None) is not None

    def _enter(self, function: str, *arguments: Any) -> None:
        entry = getattr(self._module.nvmlLib, function, None)
        if entry is None:
            raise self._error(self._module.NVML_ERROR_FUNCTION_NOT_FOUND)
        code = entry(*arguments)
        if code:
            raise self._error(code)

    def _ask(self, entry: Any, arguments: Sequence[Any]) -> Any:
        self.asked = True
        try:
            result = entry(*arguments)
        except self._error as error:
            # No name for it here: with its traceback it would keep all callers' frames alive.
            raise self._failure(error.value) from error  # type: ignore[attr-defined]
        self.answered = True
        return result

    def _failure(self, code: int) -> ReadError:
        found = read_error(code, self._words(code))
        self.answered = self.answered or isinstance(found, UnsupportedError)
        return found

    def _words(self, code: int) -> str:
        return f"{self._error(code)} (NVML error {code})"


def _present(value: Any) -> Any:
    if isinstance(value, int) and value in NOT_AVAILABLE:
        raise ReadError("absent", "all bits are set")
    if isinstance(value, list) and value and value[0] in NOT_AVAILABLE:
        raise ReadError("absent", "all bits are set")
    return value
