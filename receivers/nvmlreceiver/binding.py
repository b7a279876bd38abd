"""NVML by the names of its functions, with errors in the words of all receivers."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref
from types import ModuleType
from typing import Any

from nvmlreceiver.errors import INVALID_ARGUMENT, read_error
from otelgpu.scraping.errors import ReadError, UnsupportedError

NOT_AVAILABLE = frozenset({2**32 - 1, 2**64 - 1})
"""``NVML_VALUE_NOT_AVAILABLE`` of each width: all bits set. A 64-bit counter that happens to hold
the 32-bit one is absent for that read."""

_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
"""Member of ``nvmlValue_t`` by ``nvmlValueType_t``."""
_UNSIGNED = frozenset({1, 2, 3})


class Binding:
    """Calls NVML by the names of its functions.

    ``asked`` and ``answered`` tell whether any call was made, and any of them succeeded, since they
    were last set to False: when nothing answers, only a new ``nvmlInit`` can help.
    """

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._error: type[Exception] = module.NVMLError
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

    def fields(self, handle: Any, numbers: Sequence[int]) -> list[float | ReadError]:
        """Return the values of fields (``NVML_FI_*``) in order, in NVML's units.

        Raises:
            ReadError: the call as a whole failed.

        """
        # The list's own type is pynvml's: it holds as many structures as were asked for.
        found = self._ask(self._module.nvmlDeviceGetFieldValues, (handle, list(numbers)))
        return [self._field(value) for value in found]

    def _field(self, field: Any) -> float | ReadError:
        code = field.nvmlReturn
        if code == INVALID_ARGUMENT:
            # The call as a whole is valid, so it is the number that this driver does not know.
            return UnsupportedError(f"field {field.fieldId} is not known to the driver")
        if code:
            return read_error(code, f"field {field.fieldId}: {self._words(code)}")
        if field.valueType >= len(_MEMBERS):
            return ReadError("type", f"field {field.fieldId} is of unknown type {field.valueType}")
        value: float = getattr(field.value, _MEMBERS[field.valueType])
        if field.valueType in _UNSIGNED and value in NOT_AVAILABLE:
            return ReadError("absent", f"field {field.fieldId} has all bits set")
        return value

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

    def invoke(self, function: str, *arguments: Any) -> None:
        """Call a function of the library itself with ctypes' arguments; results are in them.

        For what pynvml lacks, lays out in one way only, or allocates anew at each call.

        Raises:
            ReadError: as ``call`` does.

        """
        self._ask(self._enter, (function, *arguments))

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
            found = read_error(error.value, self._words(error.value))  # type: ignore[attr-defined]
            self.answered = self.answered or isinstance(found, UnsupportedError)
            raise found from error
        self.answered = True
        return result

    def _words(self, code: int) -> str:
        return f"{self._error(code)} (NVML error {code})"


def _present(value: Any) -> Any:
    if isinstance(value, int) and value in NOT_AVAILABLE:
        raise ReadError("absent", "all bits are set")
    if isinstance(value, list) and value and value[0] in NOT_AVAILABLE:
        raise ReadError("absent", "all bits are set")
    return value
