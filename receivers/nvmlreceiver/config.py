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
    kernel_log: str = ""
    """Kernel log from which faults are read as well, such as /dev/kmsg: it adds the driver's words,
    the process and the time to XIDs, and tells those from before the agent's start. Takes
    CAP_SYSLOG; empty: not read."""
    proc: Path = Path("/proc")
    """Where the host's /proc is mounted, by which processes that the driver lists but that are dead
    are told. Where it is not the host's, no process is called dead."""
