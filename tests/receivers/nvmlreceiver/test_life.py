"""Life with the driver: loaded anew, upgraded, let go of."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, of, status, value

from nvmlreceiver.library import LIBRARY, Library
from otelgpu.points.batch import Readings

Make = Callable[..., Receiver]


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """The kernel module is loaded, and there is no PCI bus."""
    load(tmp_path)
    return tmp_path


def load(sysfs: Path) -> None:
    """Load the kernel module anew: sysfs makes another folder for it."""
    module = sysfs / "module" / "nvidia"
    module.parent.mkdir(exist_ok=True)
    fresh = module.with_name("fresh")
    fresh.mkdir()
    if module.exists():
        module.rmdir()
    fresh.rename(module)


def ids(readings: Readings) -> set[str]:
    return set(status(readings))


def test_a_driver_that_is_loaded_anew_counts_anew(
    fake: FakeNvml, receiver: Make, sysfs: Path
) -> None:
    fake.configure(gpus=2, static=1)
    one = receiver(sysfs=sysfs)
    before = one.scrape()
    assert one.restarted == set()
    load(sysfs)
    fake.configure(gpus=2, static=1, driver_epoch=1)
    one.until(lambda _: one.state == "ok")
    # It is told once, for all devices of the driver.
    seen = one.restarted
    assert seen == ids(before)
    one.scrape(after=70)
    assert one.restarted == set()


def test_instances_count_anew_as_well(fake: FakeNvml, receiver: Make, sysfs: Path) -> None:
    fake.configure(gpus=1, mig="2", static=1)
    one = receiver(sysfs=sysfs)
    one.scrape()
    load(sysfs)
    fake.configure(gpus=1, mig="2", static=1, driver_epoch=1)
    one.until(lambda _: one.state == "ok")
    assert len(one.restarted) == 3


def test_nvml_that_is_opened_anew_is_no_new_driver(
    fake: FakeNvml, receiver: Make, sysfs: Path
) -> None:
    """As in a container that has its device nodes back: the counts go on."""
    fake.configure(gpus=2, static=1)
    one = receiver(sysfs=sysfs)
    one.scrape()
    fake.configure("error.*=UNKNOWN", gpus=2, static=1)
    one.until(lambda _: one.state != "ok")
    fake.configure(gpus=2, static=1)
    seen: set[str] = set()

    def back(_: object) -> bool:
        seen.update(one.restarted)
        return one.state == "ok"

    one.until(back)
    assert seen == set()


def test_another_version_is_another_load_where_sysfs_does_not_tell(
    fake: FakeNvml, receiver: Make, tmp_path: Path
) -> None:
    fake.configure(gpus=1, static=1)
    one = receiver(sysfs=tmp_path)
    one.scrape()
    fake.configure(gpus=1, static=1, driver_epoch=1, driver="580.65.06")
    one.until(lambda _: one.state == "ok")
    assert len(one.restarted) == 1


@pytest.fixture
def installed(library: Path, tmp_path: Path) -> Path:
    """A link to the library of driver 570, as drivers install it."""
    for version in ("570", "580"):
        (tmp_path / version).mkdir()
        shutil.copy(library, tmp_path / version / LIBRARY)
    (tmp_path / LIBRARY).symlink_to(tmp_path / "570" / LIBRARY)
    return tmp_path / LIBRARY


def upgrade(installed: Path) -> None:
    fresh = installed.with_name("fresh")
    fresh.symlink_to(installed.parent / "580" / LIBRARY)
    fresh.replace(installed)


def test_an_upgraded_driver_asks_for_a_fresh_process(
    fake: FakeNvml, receiver: Make, installed: Path
) -> None:
    fake.configure(gpus=1, module=570)
    one = receiver(library=installed)
    assert status(one.scrape())
    assert one.restarts == []
    # First the kernel module, then the library: a fresh process would not help before.
    fake.configure(gpus=1, module=580, driver_epoch=1)
    one.until(lambda _: one.state == "nvml.version_mismatch")
    one.scrape(after=70)
    assert one.restarts == []
    upgrade(installed)
    one.scrape(after=70)
    assert set(one.restarts) == {"driver_upgraded"}


def test_a_library_that_is_replaced_while_it_works_stays(
    fake: FakeNvml, receiver: Make, installed: Path
) -> None:
    fake.configure(gpus=1, module=570)
    one = receiver(library=installed)
    one.scrape()
    upgrade(installed)
    assert status(one.scrape(after=70))
    assert one.restarts == []


def test_the_place_of_a_library_that_the_loader_found(library: Path, tmp_path: Path) -> None:
    """It is known by the process's memory map; the link that the loader followed lies beside it."""
    shutil.copy(library, tmp_path / "libnvidia-ml.so.570.86.15")
    (tmp_path / LIBRARY).symlink_to("libnvidia-ml.so.570.86.15")
    found = Library(str(tmp_path / LIBRARY), "")
    found.load()
    assert not found.replaced
    (tmp_path / LIBRARY).unlink()
    assert not found.replaced, "in the middle of an upgrade there is nothing to start with"
    shutil.copy(library, tmp_path / "libnvidia-ml.so.580.65.06")
    (tmp_path / LIBRARY).symlink_to("libnvidia-ml.so.580.65.06")
    assert found.replaced


def test_the_driver_is_let_go_of_for_a_while(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=2, static=1)
    one = receiver(release_time=timedelta(minutes=2))
    before = one.scrape()
    gpu = next(iter(ids(before)))
    whole = of(before, gpu)
    one.release()
    released = one.scrape(after=10)
    assert {stream.metric.name for stream, _ in released} == {"hw.gpu.info"}
    assert one.state == "nvml.released"
    assert one.detail == "for 110 s"
    calls = fake.calls()
    assert calls["nvmlShutdown"] >= 1
    one.scrape(after=100)
    assert fake.calls() == calls, "nobody is asked meanwhile"
    assert one.own("otelgpu.receiver.up") == {(): 0}
    back = one.scrape(after=30)
    assert one.state == "ok"
    assert of(back, gpu).keys() == whole.keys()
    assert one.drops()["hw.power", "released"] == 4


def test_asked_again_the_time_begins_anew(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=1)
    one = receiver(release_time=timedelta(minutes=2))
    one.scrape()
    one.release()
    one.scrape(after=100)
    one.release()
    one.scrape(after=100)
    assert one.state == "nvml.released"
    one.scrape(after=30)
    assert one.state == "ok"


def test_mig_mode_is_changed_while_the_driver_is_let_go_of(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(gpus=1, static=1)
    one = receiver()
    one.scrape()
    one.release()
    one.scrape()
    fake.configure(gpus=1, mig="7", static=1)
    back = one.scrape(after=301)
    assert len({s.attributes["hw.id"] for s, _ in back}) == 8
    assert value(back, "hw.power") is not None


def test_a_call_that_hangs_keeps_the_driver_open(fake: FakeNvml, receiver: Make) -> None:
    """The library is never closed under a thread that is inside: it is said, and tried again."""
    fake.configure("hang.nvmlDeviceGetUtilizationRates=0", gpus=2)
    one = receiver(timeout=timedelta(seconds=0.2), release_time=timedelta(days=9))
    one.scrape()
    one.release()
    one.scrape(after=10)
    assert one.state == "nvml.released"
    assert "not closed yet" in one.detail
    assert fake.calls().get("nvmlShutdown", 0) == 0
    fake.configure(gpus=2)
    one.release()
    one.until(lambda _: "not closed yet" not in one.detail)
    assert fake.calls()["nvmlShutdown"] >= 1


def test_a_library_that_hangs_for_long_asks_for_a_fresh_process(
    fake: FakeNvml, receiver: Make
) -> None:
    fake.configure("hang.*=", gpus=2)
    one = receiver(timeout=timedelta(seconds=0.1))
    one.scrape()
    one.scrape(after=590)
    assert one.restarts == []
    one.scrape(after=20)
    assert one.restarts == ["library_hung"]
