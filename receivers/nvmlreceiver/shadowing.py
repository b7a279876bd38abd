"""Loading nvidia-ml-py, NVIDIA's Python binding, or saying what stands in its place.

It is loaded when devices are first searched: an agent without NVIDIA GPUs does without it, and a
wrong package of the same module name is a state of the receiver, not a failure of the agent.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from otelgpu.scraping.errors import ReadError

_NEEDED = (
    "NVMLError",
    "nvmlLib",
    "nvmlMemory_v2",
    "c_nvmlFanSpeedInfo_t",
    "c_nvmlGpuFabricInfo_t",
    "c_nvmlGpuFabricInfo_v2_t",
    "nvmlDeviceGetCurrentClocksEventReasons",
    "nvmlDeviceGetFieldValues",
    "nvmlDeviceGetMarginTemperature",
    "nvmlDeviceGetTemperatureV",
)
"""What old packages lack."""


def load_binding() -> ModuleType:
    """Return the module ``pynvml`` of nvidia-ml-py.

    Raises:
        ReadError: ``binding_shadowed``, naming the package that stands in its place.

    """
    try:
        import pynvml  # noqa: PLC0415 - see the module's docstring
    except Exception as error:  # an old package may fail in any way on a new Python
        raise ReadError(
            "binding_shadowed", f"cannot import pynvml ({error}); {_owner()}"
        ) from error
    missing = [name for name in _NEEDED if not hasattr(pynvml, name)]
    if missing:
        where = getattr(pynvml, "__file__", None) or "?"
        detail = f"the module pynvml in {where} lacks {missing[0]}; {_owner()}"
        raise ReadError("binding_shadowed", detail)
    module: ModuleType = pynvml
    return module


def _owner() -> str:
    """Say which installed package is to blame, and what to do."""
    found = {name: _version(name) for name in ("pynvml", "nvidia-ml-py")}
    if found["pynvml"] is not None:
        return (
            f"the package pynvml {found['pynvml']} stands in place of nvidia-ml-py: pip uninstall "
            "pynvml && pip install --force-reinstall nvidia-ml-py, then restart the agent"
        )
    if found["nvidia-ml-py"] is not None:
        return (
            f"nvidia-ml-py {found['nvidia-ml-py']} is too old, or another file hides it: "
            "pip install --force-reinstall nvidia-ml-py, then restart the agent"
        )
    return "nvidia-ml-py is not installed: pip install nvidia-ml-py"


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
