"""Settings of the NVML receiver."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from otelgpu.scraping.settings import HardwareConfig


@frozen
class NvmlConfig(HardwareConfig):
    """Settings of the NVML receiver."""

    library: str = ""
    """File of NVIDIA's management library; where set, no other is tried."""
    driver_root: str = ""
    """Folder under which the driver is installed, such as /run/nvidia/driver; where set, the
    library is searched under it only."""
    proc: Path = Path("/proc")
    """Where the host's /proc is mounted, by which processes that the driver lists but that are dead
    are told. Where it is not the host's, no process is called dead."""
