"""Licenses of virtual GPUs: each on its own id on the host, on the GPU itself inside one."""

from collections.abc import Callable

import pytest
from tests.fakes.nvml_fake import FakeNvml
from tests.receivers.nvmlreceiver.harness import Receiver, findings, status

from otelgpu.points.batch import Readings
from otelgpu.points.metric import Profile

Make = Callable[..., Receiver]
LICENSE = "hw.gpu.vgpu.license.status"
GUEST, HOST = "value.virtualization=2", "value.virtualization=3"


def states(readings: Readings) -> dict[tuple[str, str], float]:
    """Value by id and state."""
    return {
        (str(s.attributes["hw.id"]), str(s.attributes["hw.state"])): v
        for s, v in readings
        if s.metric.name == LICENSE
    }


@pytest.mark.parametrize(("state", "licensed"), [(5, True), (2, False), (3, False), (4, False)])
def test_each_virtual_gpu_of_a_host(
    state: int, licensed: bool, fake: FakeNvml, receiver: Make
) -> None:
    fake.configure(HOST, "value.vgpus=2@1", f"value.vgpu_license={state}", static=1, gpus=2)
    readings = receiver(profile=Profile.FULL).scrape()
    assert findings(readings) == []
    expected: dict[tuple[str, str], float] = {}
    for number in (200, 201):
        name = f"fa4e0000-7777-8888-9999-{number:012}"
        expected |= {(name, "ok"): int(licensed), (name, "failed"): int(not licensed)}
    assert states(readings) == expected
    parents = {s.attributes["hw.parent"] for s, _ in readings if s.metric.name == LICENSE}
    assert parents == {"GPU-fa4e0001-1111-2222-3333-000000000002"}
    assert len(status(readings)) == 2


def test_a_license_that_is_not_known_is_not_a_missing_one(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(HOST, "value.vgpus=1", "value.vgpu_license=0", static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    assert states(one.scrape()) == {}
    assert one.drops()[LICENSE, "absent"] == 2


def test_a_virtual_gpu_that_ends_costs_the_others_nothing(fake: FakeNvml, receiver: Make) -> None:
    rule = "error.nvmlVgpuInstanceGetLicenseInfo_v2=NOT_FOUND+1"
    fake.configure(HOST, "value.vgpus=3", rule, static=1, gpus=1)
    readings = receiver(profile=Profile.FULL).scrape()
    assert {name[-3:] for name, _ in states(readings)} == {"100"}
    fake.configure(HOST, "value.vgpus=3", rule.removesuffix("+1"), static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    assert states(one.scrape(after=70)) == {}
    assert one.drops()[LICENSE, "not_found"] == 1


def test_a_host_without_virtual_gpus_has_no_license(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(HOST, "value.vgpus=0", static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    assert states(one.scrape()) == {}
    assert (LICENSE, "unsupported") not in one.drops()


@pytest.mark.parametrize("licensed", [0, 1])
def test_inside_a_virtual_gpu(licensed: int, fake: FakeNvml, receiver: Make) -> None:
    fake.configure(GUEST, f"value.guest_license={licensed}", static=1, gpus=1)
    readings = receiver(profile=Profile.FULL).scrape()
    gpu = "GPU-fa4e0000-1111-2222-3333-000000000001"
    assert states(readings) == {(gpu, "ok"): licensed, (gpu, "failed"): 1 - licensed}
    assert findings(readings) == []


@pytest.mark.parametrize("rules", [[], [GUEST]])
def test_without_licenses_there_is_none(rules: list[str], fake: FakeNvml, receiver: Make) -> None:
    fake.configure(*rules, static=1, gpus=1)
    one = receiver(profile=Profile.FULL)
    assert states(one.scrape()) == {}
    assert one.drops()[LICENSE, "unsupported"] == 1
    assert "nvmlDeviceGetActiveVgpus" not in fake.calls()


def test_licenses_are_read_once_a_minute_and_at_full_only(fake: FakeNvml, receiver: Make) -> None:
    fake.configure(HOST, "value.vgpus=1", static=1, gpus=1)
    receiver().scrape()
    assert "nvmlDeviceGetActiveVgpus" not in fake.calls()
    one = receiver(profile=Profile.FULL)
    one.scrape()
    before = fake.calls()
    assert len(states(one.scrape(after=30))) == 2
    assert fake.calls()["nvmlDeviceGetActiveVgpus"] == before["nvmlDeviceGetActiveVgpus"]
