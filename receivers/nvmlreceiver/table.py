"""All that is read from a GPU: vendor call, metrics, cadence. A new reading is a new row."""

from __future__ import annotations

from pathlib import Path

from nvmlreceiver.calls import MINUTE
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.fields import SOURCE, FieldValues
from nvmlreceiver.readings import (
    clocks,
    inventory,
    links,
    memory,
    power,
    reliability,
    thermal,
    utilization,
)
from otelgpu.scraping.table import Batched, Row


def table(sysfs: Path) -> list[Row[NvmlDevice]]:
    """Return the rows; ``sysfs`` is where sysfs is mounted."""
    read_fields = FieldValues()
    return [
        *inventory.rows(sysfs),
        *utilization.ROWS,
        *memory.ROWS,
        Batched(
            SOURCE,
            read_fields,
            [
                *power.FIELDS,
                *thermal.FIELDS,
                *clocks.FIELDS,
                *links.FIELDS,
                *reliability.FIELDS,
            ],
        ),
        Batched(SOURCE, read_fields, [*power.SLOW_FIELDS, *reliability.SLOW_FIELDS], every=MINUTE),
        *thermal.ROWS,
        *clocks.ROWS,
        *links.ROWS,
        *reliability.ROWS,
    ]
