"""All that is read from a GPU: vendor call, metrics, cadence. A new reading is a new row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nvmlreceiver.calls import MINUTE
from nvmlreceiver.device import Instance, NvmlDevice
from nvmlreceiver.fields import SOURCE, FieldValues
from nvmlreceiver.gpm import Gpm
from nvmlreceiver.readings import (
    activity,
    clocks,
    compute,
    instances,
    inventory,
    links,
    memory,
    peak,
    power,
    reliability,
    thermal,
    utilization,
    vgpu,
)
from nvmlreceiver.readings.processes import ProcessRows
from otelgpu.scraping.table import Batched, Row


class Table:
    """The rows for each device: plain sums over GPUs and MIG instances must be right.

    So a quantity is read at one level. Of a GPU in MIG mode its instances have memory, processes
    and activity; the GPU has power, temperature, clocks, links and errors. Rows that remember
    something of their device are made anew for each.
    """

    def __init__(
        self,
        sysfs: Path,
        clock: Callable[[], float],
        processes: ProcessRows,
        *,
        slow_throughput: bool = False,
    ) -> None:
        """``sysfs`` is where sysfs is mounted; ``clock`` returns monotonic seconds.

        ``slow_throughput`` allows the calls for PCIe throughput that take 20 ms each.
        """
        self._sysfs = sysfs
        self._clock = clock
        self._processes = processes
        self._slow_throughput = slow_throughput

    def rows(self, device: NvmlDevice) -> list[Row[NvmlDevice]]:
        """Return what is read from a whole GPU or from a MIG instance."""
        if device.instance is not None:
            return self._instance(device.instance)
        if device.partitioned:
            return self._gpu(has_gpm=lambda _: False)
        return self.whole()

    def whole(self) -> list[Row[NvmlDevice]]:
        """Return what is read from a GPU that is not in MIG mode."""
        used = memory.MemoryReading()
        gpm = Gpm(self._clock)
        reader = activity.Reader(gpm)
        return [
            *self._gpu(gpm.supported),
            # In this order: what GPM tells of engines is not asked for again.
            *activity.whole(reader),
            *utilization.rows(reader),
            *compute.WHOLE,
            *memory.rows(used),
            *self._processes.gpu(used),
        ]

    def _instance(self, instance: Instance) -> list[Row[NvmlDevice]]:
        rows = [*instances.ROWS, *compute.INSTANCE]
        used = memory.MemoryReading()
        if instance.leads:
            rows += [*activity.instance(Gpm(self._clock)), *memory.rows(used)]
        return [*rows, *self._processes.instance(used if instance.alone else None)]

    def _gpu(self, has_gpm: Callable[[NvmlDevice], bool]) -> list[Row[NvmlDevice]]:
        all_links = links.Links()
        slow = [
            *power.SLOW_FIELDS,
            *all_links.slow_fields(),
            *reliability.SLOW_FIELDS,
            reliability.repair(),
        ]
        return [
            *inventory.rows(self._sysfs),
            Batched(
                SOURCE,
                FieldValues(),
                [
                    *power.FIELDS,
                    *thermal.FIELDS,
                    *clocks.FIELDS,
                    *all_links.fields(),
                    *reliability.FIELDS,
                ],
            ),
            Batched(SOURCE, FieldValues(), slow, every=MINUTE),
            *peak.rows(),
            *thermal.rows(),
            *clocks.rows(),
            *links.ROWS,
            *(links.throughput(has_gpm) if self._slow_throughput else []),
            *reliability.ROWS,
            *vgpu.ROWS,
            *memory.BANDWIDTH,
            *memory.BAR1,
        ]
