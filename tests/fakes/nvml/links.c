// PCIe, NVLink, fabric.
#include "fake.h"

#include <stdio.h>

static void fill_address(const struct call *call, nvmlPciInfo_t *pci)
{
    memset(pci, 0, sizeof *pci);
    u32 bus = pci_bus(call->gpu) & 0xff;
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:%02X:00.0", bus);
    snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", bus);
    pci->bus = bus;
    pci->pciDeviceId = call->profile->pci_device_id;
    pci->pciSubSystemId = 0x16c110de;
}

static nvmlReturn_t get_pci_info(struct site *site, nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    struct call call;
    FAILED(enter_device(site, &call, device));
    REQUIRE(pci);
    fill_address(&call, pci);
    return put_struct(&call, pci, 0, sizeof *pci);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    static struct site site = {.name = __func__};
    return get_pci_info(&site, device, pci);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    static struct site site = {.name = __func__};
    return get_pci_info(&site, device, pci);
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    static struct site site = {.name = __func__};
    return get_pci_info(&site, device, pci);
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *pci)
{
    ENTER(device);
    REQUIRE(pci);
    REQUIRE_VERSION(pci, nvmlPciInfoExt_v1);
    nvmlPciInfo_t address;
    fill_address(&call, &address);
    u32 version = pci->version;
    memset(pci, 0, sizeof *pci);
    pci->version = version;
    pci->bus = address.bus;
    pci->pciDeviceId = address.pciDeviceId;
    pci->pciSubSystemId = address.pciSubSystemId;
    pci->baseClass = 3;
    pci->subClass = 2;
    memcpy(pci->busId, address.busId, sizeof pci->busId);
    return put_struct(&call, pci, sizeof version, sizeof *pci);
}

// Defines a reading of the PCIe link that is one number.
#define PCIE_NUMBER(function, computed)                       \
    nvmlReturn_t function(nvmlDevice_t device, u32 *number)   \
    {                                                         \
        ENTER(device);                                        \
        FULL_GPU_ONLY();                                      \
        WITH(HAS_PCIE);                                       \
        return put_u32(&call, number, computed);              \
    }

PCIE_NUMBER(nvmlDeviceGetCurrPcieLinkGeneration,
            value_of(&call, "pcie_gen", call.profile->pcie_generation))
PCIE_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, call.profile->pcie_generation)
PCIE_NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration, call.profile->pcie_generation)
PCIE_NUMBER(nvmlDeviceGetCurrPcieLinkWidth, value_of(&call, "pcie_width", 16))
PCIE_NUMBER(nvmlDeviceGetMaxPcieLinkWidth, 16)
PCIE_NUMBER(nvmlDeviceGetPcieReplayCounter, pcie_replays(&call))
PCIE_NUMBER(nvmlDeviceGetPcieSpeed, 2000u << (call.profile->pcie_generation - 1))
PCIE_NUMBER(nvmlDeviceGetPcieLinkMaxSpeed, call.profile->pcie_generation)

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                         u32 *kilobytes)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_PCIE);
    REQUIRE(counter < NVML_PCIE_UTIL_COUNT);
    bool sent = counter == NVML_PCIE_UTIL_TX_BYTES;
    u64 computed = utilization(&call) * (sent ? 20000ull : 10000ull);
    return put_u32(&call, kilobytes, value_of(&call, sent ? "pcie_tx" : "pcie_rx", computed));
}

static nvmlReturn_t check_link(const struct call *call, u32 link)
{
    SUPPORTED_IF(call->instance < 0 && call->profile->nvlinks);
    REQUIRE(link < call->profile->nvlinks);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, u32 link, nvmlEnableState_t *active)
{
    ENTER(device);
    FAILED(check_link(&call, link));
    // value.nvlink_active=17: the links from number 17 on are down.
    return put_u32(&call, active, link < value_of(&call, "nvlink_active", call.profile->nvlinks));
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, u32 link, u32 *version)
{
    ENTER(device);
    FAILED(check_link(&call, link));
    return put_u32(&call, version, call.profile->nvlink_version);
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, u32 link,
                                           nvmlNvLinkCapability_t capability, u32 *result)
{
    ENTER(device);
    FAILED(check_link(&call, link));
    REQUIRE(capability < NVML_NVLINK_CAP_COUNT);
    return put_u32(&call, result, 1);
}

nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, u32 link,
                                             nvmlNvLinkErrorCounter_t counter, u64 *errors)
{
    ENTER(device);
    FAILED(check_link(&call, link));
    REQUIRE(counter < NVML_NVLINK_ERROR_COUNT);
    // NVLink 5 has its own error fields; the old counters are gone there.
    SUPPORTED_IF(call.profile->nvlink_version < 5);
    return put_u64(&call, errors, 0);
}

// Every link goes to one of four NVSwitches.
static nvmlReturn_t get_remote(struct site *site, nvmlDevice_t device, u32 link, nvmlPciInfo_t *pci)
{
    struct call call;
    FAILED(enter_device(site, &call, device));
    REQUIRE(pci);
    FAILED(check_link(&call, link));
    memset(pci, 0, sizeof *pci);
    pci->bus = 5 + link % 4;
    snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", pci->bus);
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:%02X:00.0", pci->bus);
    return put_struct(&call, pci, 0, sizeof *pci);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, u32 link, nvmlPciInfo_t *pci)
{
    static struct site site = {.name = __func__};
    return get_remote(&site, device, link, pci);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, u32 link, nvmlPciInfo_t *pci)
{
    static struct site site = {.name = __func__};
    return get_remote(&site, device, link, pci);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, u32 link,
                                                 nvmlIntNvLinkDeviceType_t *type)
{
    ENTER(device);
    FAILED(check_link(&call, link));
    return put_u32(&call, type, NVML_NVLINK_DEVICE_TYPE_SWITCH);
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *fabric)
{
    ENTER(device);
    REQUIRE(fabric);
    FULL_GPU_ONLY();
    WITH(HAS_FABRIC);
    memset(fabric, 0, sizeof *fabric);
    memset(fabric->clusterUuid, 0x11, sizeof fabric->clusterUuid);
    fabric->cliqueId = 1;
    fabric->state = NVML_GPU_FABRIC_STATE_COMPLETED;
    return put_struct(&call, fabric, 0, sizeof *fabric);
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t *fabric)
{
    ENTER(device);
    REQUIRE(fabric);
    bool third = fabric->version == nvmlGpuFabricInfo_v3;
    if (!third && fabric->version != nvmlGpuFabricInfo_v2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    FULL_GPU_ONLY();
    WITH(HAS_FABRIC);
    memset(fabric->clusterUuid, 0x11, sizeof fabric->clusterUuid);
    fabric->status = (nvmlReturn_t)value_of(&call, "fabric_status", NVML_SUCCESS);
    fabric->cliqueId = 1;
    fabric->state = NVML_GPU_FABRIC_STATE_COMPLETED;
    fabric->healthMask = (unsigned int)value_of(&call, "fabric_health", 0);
    // The second version is shorter; its buffer ends before this byte.
    if (third) fabric->healthSummary = NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY;
    return put_struct(&call, fabric, sizeof fabric->version,
                      third ? sizeof(nvmlGpuFabricInfo_v3_t) : sizeof(nvmlGpuFabricInfo_v2_t));
}
