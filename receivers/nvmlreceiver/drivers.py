"""What differs between driver versions under one name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nvmlreceiver.nvml import (
    NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN,
)

Version = tuple[int, int]
"""Branch and release of a driver: 580.126.09 is (580, 126)."""

_MOVED = {
    NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN: 251,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN: 252,
    NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN: 253,
}
"""Numbers in the headers that came with drivers 575 to 580.65. Later headers gave 251 to 268 back
to power smoothing, as in 570, so that 269 to 271 are settings of power smoothing in those drivers:
as times they would be nonsense."""
_FIRST_MOVED, _LAST_MOVED, _MOVED_BACK = (575, 0), (580, 65), (580, 82)


def parse_version(text: str | None) -> Version | None:
    """Return branch and release of a driver's version, None where it is not of that form."""
    found = re.match(r"(\d{3,})\.(\d+)", text or "")
    return (int(found[1]), int(found[2])) if found else None


def field_numbers(driver: Version | None) -> Mapping[int, int | None]:
    """Return the numbers of fields that this driver counts otherwise, by those of our header.

    None stands for a field that is not to be asked: which headers the drivers between two known
    ones followed cannot be told.
    """
    if driver is None or driver < _FIRST_MOVED or driver >= _MOVED_BACK:
        return {}
    return _MOVED if driver <= _LAST_MOVED else dict.fromkeys(_MOVED)
