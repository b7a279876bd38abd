"""What the lists of one device say together, once their records are checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import frozen

from nvmlreceiver.device import Instance
from nvmlreceiver.processes.records import Record
from otelgpu.scraping.errors import ReadError

Memory = int | ReadError | None
"""Bytes, or why they are not to be used; None where the driver does not tell."""


class Deaths(Protocol):
    """Knows which processes are gone."""

    def is_dead(self, pid: int) -> bool:
        """Tell whether a process is known to be gone."""


@frozen
class Listing:
    """One list: how many processes it has, and the memory of those that no earlier list has."""

    count: int
    memory: Sequence[tuple[int, Memory]]
    """Process and its memory; dropped records with the reason."""
    refusals: Sequence[ReadError] = ()
    """Why records are no process of this device."""


def merge(
    lists: Mapping[str, Sequence[Record]],
    total: int | None,
    instance: Instance | None,
    deaths: Deaths,
) -> dict[str, Listing]:
    """Return what each list says; ``total`` is the device's memory in bytes, None if not known.

    The memory of a process is all that it holds on the device, in whichever list it stands (nvml.h:
    "all of the memory used by the application"). So a process that has a compute and a graphics
    context, or stands in one list twice, has it once: the largest that is told.
    """
    memory: dict[int, Memory] = {}
    pids: dict[str, set[int]] = {}
    refusals: dict[str, list[ReadError]] = {}
    for kind, records in lists.items():
        pids[kind], refusals[kind] = set(), []
        for record in records:
            refusal = _refusal(record, instance, deaths)
            if refusal is not None:
                refusals[kind].append(refusal)
                continue
            pids[kind].add(record.pid)
            told = _checked(record.memory, total)
            memory[record.pid] = _better(memory.get(record.pid), told)
    listings = {}
    for kind, found in pids.items():
        own = [(pid, memory.pop(pid)) for pid in sorted(found & memory.keys())]
        listings[kind] = Listing(len(found), own, refusals[kind])
    return listings


def _refusal(record: Record, instance: Instance | None, deaths: Deaths) -> ReadError | None:
    if not record.pid:
        return ReadError("no_pid")
    if instance is not None:
        for told, own in (
            (record.gpu_instance, instance.gpu_instance),
            (record.compute_instance, instance.compute_instance),
        ):
            if told is not None and told != own:
                return ReadError("other_instance")
    return ReadError("dead_process") if deaths.is_dead(record.pid) else None


def _checked(memory: int | None, total: int | None) -> Memory:
    if memory is not None and total is not None and memory > total:
        return ReadError("out_of_range", f"{memory} bytes of {total}")
    return memory


def _better(one: Memory, other: Memory) -> Memory:
    """Return the larger of two values, else why there is none."""
    numbers = [value for value in (one, other) if isinstance(value, int)]
    return max(numbers) if numbers else one or other
