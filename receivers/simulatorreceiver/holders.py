"""Who holds the simulated devices, and with which processes."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from otelgpu.points.stream import Attributes
from simulatorreceiver.identity import simulated_uuid
from simulatorreceiver.loads import Work

_FIRST_PID = (1 << 22) + 1
"""Linux gives no process a number above 2**22, so these name no real one."""


@frozen
class Process:
    """A process on a device."""

    pid: int
    executable: str
    share: float
    """Part of its holder's use of the device."""


@frozen
class Holder:
    """What holds a device or a share of it."""

    attributes: Attributes
    """``hw.gpu.holder.type`` and what names the holder."""
    mode: str
    """Value of ``hw.gpu.allocation.mode``."""
    scheduled: bool
    """Whether Kubernetes has allocated the device: then it has a resource name."""
    fraction: float
    """Part of the device that it was given."""
    share: float
    """Part of the device's use that is its own."""
    memory: float
    """Part of the device's memory that it fills."""
    processes: Sequence[Process]


@frozen
class Placement:
    """What runs on one device."""

    work: Work
    holders: Sequence[Holder] = ()


def place(index: int, seed: int) -> Placement:
    """Return what runs on the device with this index; the pattern repeats after 8 devices."""
    first = _FIRST_PID + 16 * index
    name = f"{index:02d}"
    match index % 8:
        case 0 | 5:
            pod = _pod("training", f"trainer-{name}", "trainer", seed)
            workers = [Process(first, "python3", 0.98), Process(first + 1, "python3", 0.02)]
            return Placement(
                Work.TRAINING, [Holder(pod, "exclusive", True, 1.0, 1.0, 0.9, workers)]
            )
        case 1 | 6:
            job = {"hw.gpu.holder.type": "slurm_job", "slurm.job.id": str(41_000 + index)}
            task = [Process(first, "python3", 1.0)]
            return Placement(Work.BATCH, [Holder(job, "exclusive", False, 1.0, 1.0, 0.8, task)])
        case 2:
            return Placement(Work.INFERENCE, _shared(name, first, seed))
        case 4:
            pod = _pod("research", f"notebook-{name}", "jupyter", seed)
            kernel = [Process(first, "python3", 1.0)]
            return Placement(Work.NOTEBOOK, [Holder(pod, "exclusive", True, 1.0, 1.0, 0.5, kernel)])
        case 7:
            pod = _pod("serving", f"chat-{name}", "server", seed)
            server = [Process(first, "vllm", 1.0)]
            return Placement(
                Work.INFERENCE, [Holder(pod, "exclusive", True, 1.0, 1.0, 0.85, server)]
            )
        case _:
            return Placement(Work.NONE)


def _shared(name: str, first: int, seed: int) -> list[Holder]:
    """Return two pods on one time-sliced device."""
    return [
        Holder(
            _pod("serving", f"{role}-{name}", "server", seed),
            "time_sliced",
            scheduled=True,
            fraction=0.5,
            share=share,
            memory=share * 0.8,
            processes=[Process(first + offset, "tritonserver", 1.0)],
        )
        for offset, (role, share) in enumerate([("rerank", 0.375), ("embed", 0.625)])
    ]


def _pod(namespace: str, pod: str, container: str, seed: int) -> Attributes:
    return {
        "hw.gpu.holder.type": "k8s_container",
        "k8s.namespace.name": namespace,
        "k8s.pod.name": pod,
        "k8s.pod.uid": simulated_uuid(seed, pod),
        "k8s.container.name": container,
    }
