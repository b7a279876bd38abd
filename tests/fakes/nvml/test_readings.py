"""What the models read, through the real pynvml in a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pynvml
import pytest

if TYPE_CHECKING:
    from tests.fakes.nvml_fake import FakeNvml, PynvmlChild

# What GPU 3 of eight reads under static=1.
H100 = {
    "nvmlDeviceGetName(h[3])": "NVIDIA H100 80GB HBM3",
    "nvmlDeviceGetUUID(h[3])": "GPU-fa4e0003-1111-2222-3333-000000000004",
    "nvmlDeviceGetSerial(h[3])": "1652823000003",
    "nvmlDeviceGetIndex(h[3])": 3,
    "nvmlDeviceGetMinorNumber(h[3])": 3,
    "nvmlDeviceGetBoardPartNumber(h[3])": "692-2G520-0200-000",
    "nvmlDeviceGetVbiosVersion(h[3])": "96.00.99.00.01",
    "nvmlDeviceGetInforomImageVersion(h[3])": "G520.0200.00.05",
    "nvmlDeviceGetGspFirmwareVersion(h[3]).decode()": "570.86.15",
    "nvmlDeviceGetArchitecture(h[3])": 9,
    "nvmlDeviceGetCudaComputeCapability(h[3])": [9, 0],
    "nvmlDeviceGetComputeMode(h[3])": 0,
    "nvmlDeviceGetVirtualizationMode(h[3])": 0,
    "nvmlDeviceGetPersistenceMode(h[3])": 1,
    "nvmlDeviceGetPciInfo(h[3]).busId": "00000000:1D:00.0",
    "nvmlDeviceGetPciInfo(h[3]).pciDeviceId": 0x233010DE,
    "nvmlDeviceGetUtilizationRates(h[3])": {"gpu": 65, "memory": 32},
    "nvmlDeviceGetEncoderUtilization(h[3])": [6, 167000],
    "nvmlDeviceGetDecoderUtilization(h[3])": [13, 167000],
    "nvmlDeviceGetJpgUtilization(h[3])": [3, 167000],
    "nvmlDeviceGetOfaUtilization(h[3])": [2, 167000],
    "nvmlDeviceGetMemoryInfo(h[3]).used": (21205 + 551) << 20,
    "[getattr(nvmlDeviceGetMemoryInfo(h[3], nvmlMemory_v2), key) >> 20 for key in"
    " ('total', 'reserved', 'used', 'free')]": [81559, 551, 21205, 81559 - 551 - 21205],
    "nvmlDeviceGetBAR1MemoryInfo(h[3]).bar1Total": 128 << 30,
    "nvmlDeviceGetPowerUsage(h[3])": 479500,
    "nvmlDeviceGetEnforcedPowerLimit(h[3])": 700000,
    "nvmlDeviceGetPowerManagementDefaultLimit(h[3])": 700000,
    "nvmlDeviceGetPowerManagementLimitConstraints(h[3])": [200000, 700000],
    "nvmlDeviceGetTotalEnergyConsumption(h[3])": 4000000000,
    "nvmlDeviceGetTemperatureV(h[3], 0)": 56,
    "nvmlDeviceGetTemperature(h[3], 0)": 56,
    "nvmlDeviceGetMarginTemperature(h[3])": 31,
    "[nvmlDeviceGetClockInfo(h[3], i) for i in range(4)]": [1407, 1407, 2619, 1125],
    "[nvmlDeviceGetMaxClockInfo(h[3], i) for i in range(4)]": [1980, 1980, 2619, 1545],
    "nvmlDeviceGetCurrentClocksEventReasons(h[3])": 0,
    "nvmlDeviceGetSupportedClocksEventReasons(h[3])": 0x1FF,
    "nvmlDeviceGetPerformanceState(h[3])": 0,
    "nvmlDeviceGetNumFans(h[3])": 0,
    "nvmlDeviceGetCurrPcieLinkGeneration(h[3])": 5,
    "nvmlDeviceGetMaxPcieLinkGeneration(h[3])": 5,
    "nvmlDeviceGetCurrPcieLinkWidth(h[3])": 16,
    "nvmlDeviceGetPcieReplayCounter(h[3])": 3,
    "nvmlDeviceGetEccMode(h[3])": [1, 1],
    "[nvmlDeviceGetTotalEccErrors(h[3], e, c) for e in (0, 1) for c in (0, 1)]": [3, 13, 6, 6],
    "[nvmlDeviceGetMemoryErrorCounter(h[3], 0, 0, where) for where in (2, 7)]": [3, 0],
    "[s := c_nvmlEccSramErrorStatus_v1_t(),"
    " nvmlDeviceGetSramEccErrorStatus(h[3], byref(s)), s.volatileUncSecDed][2]": 4,
    "nvmlDeviceGetRemappedRows(h[3])": [1, 2, 0, 0],
    "nvmlDeviceGetRowRemapperHistogram(h[3]).high": 3,
    "nvmlDeviceGetMigMode(h[3])": [0, 0],
    "sum(nvmlDeviceGetNvLinkState(h[3], link) for link in range(18))": 18,
    "nvmlDeviceGetNvLinkRemotePciInfo(h[3], 5).busId": "00000000:06:00.0",
    "nvmlSystemGetDriverVersion()": "570.86.15",
    "nvmlSystemGetCudaDriverVersion()": 12080,
}
UNSUPPORTED = {
    "h100": [
        "nvmlDeviceGetFanSpeed(h[0])",
        "nvmlDeviceGetTemperatureThreshold(h[0], 0)",
        "nvmlDeviceGetRetiredPagesPendingStatus(h[0])",
    ],
    "rtx4090": [
        "nvmlDeviceGetEccMode(h[0])",
        "nvmlDeviceGetTotalEccErrors(h[0], 0, 0)",
        "nvmlDeviceGetRemappedRows(h[0])",
        "nvmlDeviceGetSerial(h[0])",
        "nvmlDeviceGetMigMode(h[0])",
        "nvmlDeviceGetNvLinkState(h[0], 0)",
    ],
    "t4": ["nvmlDeviceGetRemappedRows(h[0])", "nvmlDeviceGetJpgUtilization(h[0])"],
    "gb10": [
        "nvmlDeviceGetMemoryInfo(h[0])",
        "nvmlDeviceGetCurrPcieLinkGeneration(h[0])",
        "nvmlDeviceGetEnforcedPowerLimit(h[0])",
        "nvmlDeviceGetClockInfo(h[0], 2)",
    ],
}
# Field ids of GPU 0 under static=1, on an h100 and a t4: the value, or None for NOT_SUPPORTED.
FIELDS = {
    29: (None, 0),
    74: (74, 74),
    75: (None, None),
    82: (55, None),
    83: (10**9, 10**9),
    138: (1000000, None),
    143: (0, None),
    173: (0, 0),
    185: (385000, None),
    186: (385000, 40000),
    187: (200000, 60000),
    188: (700000, 70000),
    194: (-2, None),
    197: (5000000000, 5000000000),
    202: (None, None),
    230: (0, 0),
}


def test_h100_reads_its_static_values_in_pynvml(fake: FakeNvml, child: PynvmlChild) -> None:
    fake.configure("static=1", "dbe=3:2", "value.sram_uncorrected=4")
    child.start(8)
    assert child.ask("nvmlDeviceGetCount()") == 8
    assert {line: child.ask(line) for line in H100} == H100


@pytest.mark.parametrize("profile", UNSUPPORTED)
def test_model_refuses_what_it_lacks(fake: FakeNvml, child: PynvmlChild, profile: str) -> None:
    fake.configure(gpus=1, profile=profile, static=1)
    child.start(1)
    refused = [child.error(line) for line in UNSUPPORTED[profile]]
    assert refused == ["NVMLError_NotSupported"] * len(refused)


def test_fans_and_thresholds_where_they_exist(fake: FakeNvml, child: PynvmlChild) -> None:
    fake.configure(gpus=1, profile="rtx4090", static=1)
    child.start(1)
    assert child.ask("nvmlDeviceGetNumFans(h[0])") == 2
    assert child.ask("nvmlDeviceGetFanSpeed_v2(h[0], 1)") == 55
    assert child.error("nvmlDeviceGetFanSpeed_v2(h[0], 2)") == "NVMLError_InvalidArgument"
    assert child.ask("nvmlDeviceGetFanSpeedRPM(h[0])") == 1650
    limits = [child.ask(f"nvmlDeviceGetTemperatureThreshold(h[0], {i})") for i in (0, 1, 3, 4, 5)]
    assert limits == [92, 89, 85, 65, 83]
    assert child.error("nvmlDeviceGetTemperatureThreshold(h[0], 7)") == "NVMLError_NotSupported"


@pytest.mark.parametrize(("column", "profile"), [(0, "h100"), (1, "t4")])
def test_field_values(fake: FakeNvml, child: PynvmlChild, column: int, profile: str) -> None:
    fake.configure(f"profile={profile}", "static=1", "gpus=1", "fi_error.230=UNKNOWN@1")
    child.start(1)
    got = child.ask(f"list(nvmlDeviceGetFieldValues(h[0], {list(FIELDS)}))")
    kinds = {1: "uiVal", 3: "ullVal", 5: "siVal"}
    read = {
        value["fieldId"]: None
        if value["nvmlReturn"] == pynvml.NVML_ERROR_NOT_SUPPORTED
        else value["value"][kinds[value["valueType"]]]
        for value in got
    }
    assert read == {field: values[column] for field, values in FIELDS.items()}
    fake.configure(f"profile={profile}", "fi_error.186=UNKNOWN@0", "value.field.83=7")
    got = child.ask("list(nvmlDeviceGetFieldValues(h[0], [186, 83]))")
    assert [value["nvmlReturn"] for value in got] == [pynvml.NVML_ERROR_UNKNOWN, 0]
    assert got[1]["value"]["ullVal"] == 7


def test_mig_instances(fake: FakeNvml, child: PynvmlChild) -> None:
    fake.configure("gpus=2", "mig=2,0", "pids=11,12,13", "static=1")
    child.start(2)
    assert child.ask("nvmlDeviceGetMigMode(h[0])") == [1, 1]
    assert child.error("nvmlDeviceGetUtilizationRates(h[0])") == "NVMLError_NotSupported"
    assert child.ask("nvmlDeviceGetUtilizationRates(h[1]).gpu") == 55
    child.ask("m <- nvmlDeviceGetMigDeviceHandleByIndex(h[0], 1)")
    assert child.ask("nvmlDeviceGetName(m)") == "NVIDIA H100 80GB HBM3 MIG 1g.10gb"
    assert child.ask("nvmlDeviceGetUUID(m)").startswith("MIG-")
    assert child.ask("(nvmlDeviceGetGpuInstanceId(m), nvmlDeviceGetComputeInstanceId(m))") == [8, 0]
    assert child.ask("nvmlDeviceGetAttributes_v2(m).multiprocessorCount") == 16
    assert child.ask("nvmlDeviceGetMemoryInfo(m).total") == (81559 << 20) // 8
    pids = "[(p.pid, p.gpuInstanceId) for p in nvmlDeviceGetComputeRunningProcesses({})]"
    assert child.ask(pids.format("m")) == [[12, 8]]
    assert child.ask(pids.format("h[0]")) == [[11, 7], [12, 8], [13, 7]]
    assert child.error("nvmlDeviceGetMigDeviceHandleByIndex(h[0], 2)") == "NVMLError_NotFound"


def test_processes_gpm_fabric_and_xids(fake: FakeNvml, child: PynvmlChild) -> None:
    fake.configure("gpus=2", "pids=11,12", "static=1")
    child.start(2)
    assert child.ask("[u.pid for u in nvmlDeviceGetProcessUtilization(h[1], 0)]") == [11, 12]
    child.ask("s <- [nvmlGpmSampleAlloc(), nvmlGpmSampleAlloc()]")
    child.ask("[nvmlGpmSampleGet(h[1], sample) for sample in s] and None")
    child.ask("g <- c_nvmlGpmMetricsGet_t(NVML_GPM_METRICS_GET_VERSION, 2, s[0], s[1])")
    child.ask("[setattr(g.metrics[i], 'metricId', m) for i, m in enumerate((2, 999))]")
    child.ask("nvmlGpmMetricsGet(g) and None")
    metrics = child.ask("[(m.nvmlReturn, m.value) for m in g.metrics[:2]]")
    assert metrics == [[0, 55.0], [pynvml.NVML_ERROR_NOT_SUPPORTED, 0.0]]
    child.ask("f <- c_nvmlGpuFabricInfo_v3_t()")
    child.ask("nvmlDeviceGetGpuFabricInfoV(h[0], byref(f))")
    assert child.ask("(f.state, f.cliqueId, f.healthSummary)") == [3, 1, 1]
    child.ask("e <- nvmlEventSetCreate()")
    child.ask("[nvmlDeviceRegisterEvents(gpu, nvmlEventTypeXidCriticalError, e) for gpu in h]")
    assert child.error("nvmlEventSetWait_v2(e, 1)") == "NVMLError_Timeout"
    child.send("[nvmlEventSetWait_v2(e, 20000).eventData for i in range(3)]")
    fake.configure("gpus=2", "pids=11,12", "xid=1:79*2,0:31")
    assert child.receive()["value"] == [79, 79, 31]


def test_values_move_and_energy_is_the_integral_of_power(
    fake: FakeNvml, child: PynvmlChild
) -> None:
    fake.configure(gpus=1)
    child.start(1)
    read = (
        "[time.monotonic(), nvmlDeviceGetTotalEnergyConsumption(h[0]),"
        " nvmlDeviceGetPowerUsage(h[0])]"
    )
    first = child.ask(read)
    child.ask("time.sleep(0.5)")  # the time that the energy is counted over, no wait for luck
    last = child.ask(read)
    assert last[2] != first[2]
    mean_mw = (first[2] + last[2]) / 2
    assert last[1] - first[1] == pytest.approx(mean_mw * (last[0] - first[0]), rel=0.05)


def test_threads_read_while_the_rules_change(fake: FakeNvml, child: PynvmlChild) -> None:
    fake.configure("value.power_mw=1")
    child.start(8)
    child.send(
        "sorted({power for read in ThreadPoolExecutor(4).map(lambda n:"
        " [nvmlDeviceGetPowerUsage(h[i % 8]) for i in range(2000)], range(4)) for power in read})"
    )
    changes = 1
    while not child.answered(0.001):
        changes += 1
        fake.configure(f"value.power_mw={changes}")
    seen = child.receive()["value"]
    assert set(seen) <= set(range(1, changes + 1))
    assert len(seen) > 1
    assert fake.calls()["nvmlDeviceGetPowerUsage"] == 8000
