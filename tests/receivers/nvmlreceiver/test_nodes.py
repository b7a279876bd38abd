"""A container that loses its device nodes: a state of its own, and back without a restart."""

from collections.abc import Callable
from errno import EACCES, EPERM
from pathlib import Path

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, status

from nvmlreceiver.nodes import DeviceNodes

Make = Callable[..., Receiver]
LOST = "nvml.device_nodes_lost"


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """sysfs of a node whose kernel module is loaded."""
    (tmp_path / "sys" / "module" / "nvidia").mkdir(parents=True)
    return tmp_path / "sys"


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    """A folder of device nodes, without any."""
    (tmp_path / "dev").mkdir()
    return tmp_path / "dev"


def node(dev: Path) -> Path:
    return dev / "nvidiactl"


@pytest.mark.parametrize("error", ["UNKNOWN", "NO_PERMISSION", "DRIVER_NOT_LOADED"])
def test_the_library_does_not_open(
    fake: FakeNvml, receiver: Make, sysfs: Path, dev: Path, error: str
) -> None:
    fake.configure(init_error=error)
    made = receiver(nodes=DeviceNodes(sysfs, dev))
    assert made.scrape() == []
    assert made.state == LOST
    assert "the container lost its device nodes; restart it" in made.detail
    assert str(node(dev)) in made.detail
    node(dev).touch()
    fake.configure(gpus=2)
    assert len(status(made.until(lambda _: made.state == "ok"))) == 2


def test_they_are_lost_while_running(
    fake: FakeNvml, receiver: Make, sysfs: Path, dev: Path
) -> None:
    node(dev).touch()
    fake.configure(gpus=2)
    made = receiver(nodes=DeviceNodes(sysfs, dev))
    gpus = set(status(made.scrape()))
    node(dev).unlink()
    fake.configure("error.*=UNKNOWN", gpus=2)
    made.scrape(after=10)
    made.scrape(after=2)
    assert made.state == LOST
    assert made.own("otelgpu.receiver.up") == {(): 0}
    # To open the library anew does not help, and is tried ever more rarely.
    before = fake.calls()["nvmlInitWithFlags"]
    for _ in range(60):
        assert made.scrape(after=10) == []
    assert made.state == LOST
    assert fake.calls()["nvmlInitWithFlags"] - before <= 20
    node(dev).touch()
    fake.configure(gpus=2)
    assert set(status(made.until(lambda _: made.state == "ok"))) == gpus


def test_gpus_are_counted_but_none_answers(
    fake: FakeNvml, receiver: Make, sysfs: Path, dev: Path
) -> None:
    fake.configure("error.nvmlDeviceGetUUID=UNKNOWN", gpus=2)
    made = receiver(nodes=DeviceNodes(sysfs, dev))
    made.scrape()
    assert made.state == LOST


def test_one_gpu_that_fails_is_not_all_of_them(
    fake: FakeNvml, receiver: Make, sysfs: Path, dev: Path
) -> None:
    fake.configure("error.nvmlDeviceGetUUID=UNKNOWN@0", gpus=2)
    made = receiver(nodes=DeviceNodes(sysfs, dev))
    assert len(status(made.scrape())) == 1
    assert made.state == "nvml.device_unreadable"


@pytest.mark.parametrize(
    ("errno", "state"), [(EPERM, LOST), (EACCES, "nvml.no_permission"), (None, "nvml.unknown")]
)
def test_forbidden_is_lost_a_lack_of_rights_is_not(
    fake: FakeNvml, receiver: Make, sysfs: Path, dev: Path, errno: int | None, state: str
) -> None:
    def enter(_: Path) -> None:
        if errno is not None:
            raise PermissionError(errno, "no")

    fake.configure(init_error="NO_PERMISSION" if errno == EACCES else "UNKNOWN")
    made = receiver(nodes=DeviceNodes(sysfs, dev, enter))
    made.scrape()
    assert made.state == state


@pytest.mark.parametrize(
    ("error", "state"),
    [("UNKNOWN", "nvml.unknown"), ("LIB_RM_VERSION_MISMATCH", "nvml.version_mismatch")],
)
def test_other_troubles_keep_their_names(
    fake: FakeNvml, receiver: Make, sysfs: Path, dev: Path, error: str, state: str
) -> None:
    fake.configure(init_error=error)
    if error == "UNKNOWN":
        # Without the kernel module there are no nodes that could have been lost.
        (sysfs / "module" / "nvidia").rmdir()
    made = receiver(nodes=DeviceNodes(sysfs, dev))
    made.scrape()
    assert made.state == state
