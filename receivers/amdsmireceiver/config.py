"""Settings of the AMD receiver."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from otelgpu.scraping.settings import HardwareConfig


@frozen
class AmdSmiConfig(HardwareConfig):
    """Settings of the AMD receiver."""

    library: Path | None = None
    """AMD SMI's library, ``libamd_smi.so``; where not set it is searched for. When set, nothing
    else is tried."""
    rocm_path: Path | None = None
    """Where ROCm is installed; where not set, ``/opt/rocm`` and ``/opt/rocm-*`` are searched, the
    newest first."""
