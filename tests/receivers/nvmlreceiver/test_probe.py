"""Whether a node without a configuration is one with NVIDIA GPUs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.nvml_fake import FakeNvml

from nvmlreceiver.config import NvmlConfig
from nvmlreceiver.factory import probe


def test_the_drivers_word_counts(
    fake: FakeNvml, receiver: Callable[..., Any], tmp_path: Path
) -> None:
    config = NvmlConfig(library=str(fake.library), sysfs=tmp_path)
    fake.configure(gpus=2)
    receiver().scrape()
    assert probe(config)


@pytest.mark.parametrize(("class_", "expected"), [("0x030200", True), ("0x040300", False)])
def test_the_bus_counts_where_the_driver_is_missing(
    class_: str, expected: bool, tmp_path: Path
) -> None:
    device = tmp_path / "bus" / "pci" / "devices" / "0000:1a:00.0"
    device.mkdir(parents=True)
    (device / "vendor").write_text("0x10de\n")
    (device / "class").write_text(f"{class_}\n")
    config = NvmlConfig(library=str(tmp_path / "none.so"), sysfs=tmp_path)
    assert probe(config) is expected
