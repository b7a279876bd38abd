"""What the receiver makes of each model of GPU; `make goldens` writes the golden files anew."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.goldens import FOLDER, MODELS, build, describe
from tests.receivers.nvmlreceiver.harness import Receiver, findings, of, status

from nvmlreceiver.config import NvmlConfig
from nvmlreceiver.factory import probe
from otelgpu.points.metric import Profile

Make = Callable[..., Receiver]

REPAIRED_BY_PAGES = {"k80", "p100", "v100", "t4"}
"""Architectures before Ampere; later ones remap rows and know no retired pages."""
UNIFIED_MEMORY = {"gb10", "jetson", "thor"}
SYSTEM_ON_CHIP = {"jetson", "thor"}


@pytest.mark.parametrize("model", MODELS)
def test_all_that_a_model_gives_and_lacks(fake: FakeNvml, receiver: Make, model: str) -> None:
    library = build(MODELS[model])
    fake.configure(profile=model, static=1, gpus=1)
    found = describe(receiver, library)
    assert found == (FOLDER / f"{model}.txt").read_text(encoding="utf-8").splitlines()


def test_every_golden_file_is_of_a_model() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == set(MODELS)


@pytest.mark.parametrize("model", MODELS)
def test_all_readings_follow_the_convention(fake: FakeNvml, receiver: Make, model: str) -> None:
    library = build(MODELS[model])
    gpus = 1 if model == "jetson" else 3
    fake.configure(profile=model, gpus=gpus)
    made = receiver(library=library, profile=Profile.FULL)
    readings = made.scrape()
    assert findings(readings) == []
    assert list(status(readings).values()) == ["ok"] * gpus
    assert made.state == "ok"


@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_there_that_the_hardware_cannot_have(
    fake: FakeNvml, receiver: Make, model: str
) -> None:
    library = build(MODELS[model])
    fake.configure(profile=model, gpus=1)
    readings = receiver(library=library, profile=Profile.FULL).scrape()
    names = {name for name, _ in of(readings)}
    (info,) = (s.attributes for s, _ in readings if s.metric.name == "hw.gpu.info")
    assert ("hw.gpu.memory.retired_page.count" in names) == (model in REPAIRED_BY_PAGES)
    has_memory = model not in UNIFIED_MEMORY
    assert ("hw.gpu.memory.limit" in names) == has_memory
    assert ("hw.gpu.memory.size" in info) == has_memory
    assert ("hw.gpu.pcie.width.current" in names) == has_memory
    assert ("hw.power" in names) == (model not in SYSTEM_ON_CHIP)


def test_power_of_a_gpu_is_not_that_of_its_module(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(profile="gb200", static=1, gpus=4)
    readings = receiver(library=build(580)).scrape()
    power = [v for s, v in readings if s.metric.name == "hw.power"]
    # 50 to 65 percent between 150 W and 1,200 W: the module's 2,700 W are in none of them.
    assert power == pytest.approx([675, 727.5, 780, 832.5])


def hyper_v(sysfs: Path) -> Path:
    """A PCI bus as WSL has it: the GPU is Windows', and there is but Microsoft's adapter."""
    device = sysfs / "bus" / "pci" / "devices" / "7e22:00:00.0"
    device.mkdir(parents=True)
    (device / "vendor").write_text("0x1414\n", encoding="ascii")
    (device / "class").write_text("0x030200\n", encoding="ascii")
    return sysfs


@pytest.mark.parametrize("model", ["wsl", "jetson", "thor"])
def test_a_bus_without_gpus_says_nothing_of_how_many_there_should_be(
    fake: FakeNvml, receiver: Make, tmp_path: Path, model: str
) -> None:
    fake.configure(profile=model, gpus=1)
    made = receiver(sysfs=hyper_v(tmp_path))
    made.scrape()
    assert made.state == "ok"
    assert made.own("otelgpu.device.count") == {(("hw.vendor", "NVIDIA"),): 1}
    assert made.own("otelgpu.device.expected") == {}
    assert probe(NvmlConfig(library=str(fake.library), sysfs=tmp_path))
    # What the node should have can still be said.
    expected = receiver(sysfs=tmp_path, expected_devices=1)
    assert expected.own("otelgpu.device.expected") == {(("hw.vendor", "NVIDIA"),): 1}
