"""All that is read from a GPU: vendor call, metrics, cadence. A new reading is a new row."""

from __future__ import annotations

from pathlib import Path

from nvmlreceiver.calls import MINUTE
from nvmlreceiver.device import NvmlDevice
from nvmlreceiver.fields import SOURCE, FieldValues
from nvmlreceiver.readings import (
    clocks,
    instances,
    inventory,
    links,
    memory,
    power,
    reliability,
    thermal,
    utilization,
)
from nvmlreceiver.readings.processes import ProcessRows
from otelgpu.scraping.table import Batched, Row


class Table:
    """The rows for each device: plain sums over GPUs and MIG instances must be right.

    So a quantity is read at one level. Of a GPU in MIG mode its instances have memory, processes
    and activity; the GPU has power, temperature, clocks, links and errors. Rows that remember
    something of their device are made anew for each.
    """

    def __init__(self, sysfs: Path, processes: ProcessRows) -> None:
        """``sysfs`` is where sysfs is mounted."""
        self._sysfs = sysfs
        self._processes = processes

    def rows(self, device: NvmlDevice) -> list[Row[NvmlDevice]]:
        """Return what is read from a whole GPU or from a MIG instance."""
        if device.instance is not None:
            return self._instance(leads=device.instance.leads)
        if device.partitioned:
            return self._gpu()
        return self.whole()

    def whole(self) -> list[Row[NvmlDevice]]:
        """Return what is read from a GPU that is not in MIG mode."""
        return [*self._gpu(), *utilization.ROWS, *memory.ROWS, *self._processes.gpu()]

    def _instance(self, *, leads: bool) -> list[Row[NvmlDevice]]:
        rows = [*instances.ROWS, *self._processes.instance()]
        return [*rows, *memory.ROWS] if leads else rows

    def _gpu(self) -> list[Row[NvmlDevice]]:
        read_fields = FieldValues()
        return [
            *inventory.rows(self._sysfs),
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
            Batched(
                SOURCE, read_fields, [*power.SLOW_FIELDS, *reliability.SLOW_FIELDS], every=MINUTE
            ),
            *thermal.ROWS,
            *clocks.ROWS,
            *links.ROWS,
            *reliability.ROWS,
            *memory.BAR1,
        ]
