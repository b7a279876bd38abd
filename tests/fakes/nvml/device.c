// What a GPU is: names, numbers, versions, modes.
#include "fake.h"

#include <stdio.h>

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, u32 *index)
{
    ENTER(device);
    if (call.instance >= 0) return put_u32(&call, index, (u64)call.instance);
    u32 position = 0;
    for (int gpu = 0; gpu < call.gpu; gpu++) position += !call.config->hidden[gpu];
    return put_u32(&call, index, position);
}

// "MODEL MIG 1c.2g.20gb": the compute instance is named where it is a part of its GPU instance.
static void put_slice(const struct call *call, const char *model, char *text, size_t size)
{
    const struct slot *slot = slot_of(call, call->instance);
    u64 gib = (memory_total(call) + (1ull << 30) - 1) >> 30;
    char part[8] = "";
    if (slot->compute_slices != slot->slices)
        snprintf(part, sizeof part, "%uc.", slot->compute_slices);
    if (slot->slices == 1)
        snprintf(text, size, "%s MIG %s", model, call->profile->slice);
    else
        snprintf(text, size, "%s MIG %s%ug.%llugb", model, part, slot->slices, gib);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, u32 length)
{
    ENTER(device);
    char text[NVML_DEVICE_NAME_V2_BUFFER_SIZE * 2];
    const char *model = call.config->name[0] ? call.config->name : call.profile->name;
    if (call.instance < 0)
        snprintf(text, sizeof text, "%s", model);
    else
        put_slice(&call, model, text, sizeof text);
    return put_text(&call, name, length, text);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, u32 length)
{
    ENTER(device);
    char text[96];
    format_uuid(call.config, call.device, text);
    return put_text(&call, uuid, length, text);
}

nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, u32 length)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_SERIAL);
    char text[32];
    format_serial(call.gpu, text);
    return put_text(&call, serial, length, text);
}

nvmlReturn_t nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char *number, u32 length)
{
    ENTER(device);
    FULL_GPU_ONLY();
    SUPPORTED_IF(call.profile->part_number);
    return put_text(&call, number, length, call.profile->part_number);
}

nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, u32 length)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_text(&call, version, length, call.profile->vbios);
}

nvmlReturn_t nvmlDeviceGetInforomImageVersion(nvmlDevice_t device, char *version, u32 length)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_SERIAL);
    return put_text(&call, version, length, "G520.0200.00.05");
}

nvmlReturn_t nvmlDeviceGetInforomVersion(nvmlDevice_t device, nvmlInforomObject_t object,
                                         char *version, u32 length)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_SERIAL);
    if (object == NVML_INFOROM_OEM) return put_text(&call, version, length, "2.1");
    SUPPORTED_IF(object == NVML_INFOROM_ECC);
    return put_text(&call, version, length, "7.16");
}

nvmlReturn_t nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t device, char *version)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_text(&call, version, NVML_GSP_FIRMWARE_VERSION_BUF_SIZE, call.config->driver);
}

nvmlReturn_t nvmlDeviceGetGspFirmwareMode(nvmlDevice_t device, u32 *enabled, u32 *by_default)
{
    ENTER(device);
    FULL_GPU_ONLY();
    FAILED(put_u32(&call, enabled, 1));
    return put_u32(&call, by_default, 1);
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *brand)
{
    ENTER(device);
    return put_u32(&call, brand, call.profile->brand);
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, u32 *minor)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, minor, (u64)call.gpu);
}

nvmlReturn_t nvmlDeviceGetModuleId(nvmlDevice_t device, u32 *module)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, module, (u64)call.gpu + 1);
}

nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, u32 *board)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, board, pci_bus(call.gpu) << 8);
}

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, u32 *multi)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, multi, 0);
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t *architecture)
{
    ENTER(device);
    return put_u32(&call, architecture, call.profile->architecture);
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    ENTER(device);
    FAILED(put_int(&call, major, (int)call.profile->compute_major));
    return put_int(&call, minor, (int)call.profile->compute_minor);
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, u32 *cores)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, cores, call.profile->cores);
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, u32 *bits)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, bits, call.profile->bus_width);
}

nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t device, u32 *node)
{
    ENTER(device);
    return put_u32(&call, node, (u64)call.gpu / 4);
}

nvmlReturn_t nvmlDeviceGetIrqNum(nvmlDevice_t device, u32 *irq)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, irq, 100 + (u64)call.gpu);
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, mode, value_of(&call, "persistence", NVML_FEATURE_ENABLED));
}

nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, mode, NVML_FEATURE_DISABLED);
}

nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t *active)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, active, NVML_FEATURE_DISABLED);
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode)
{
    ENTER(device);
    return put_u32(&call, mode, NVML_COMPUTEMODE_DEFAULT);
}

nvmlReturn_t nvmlDeviceGetAccountingMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    ENTER(device);
    return put_u32(&call, mode, NVML_FEATURE_DISABLED);
}

nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, nvmlGpuVirtualizationMode_t *mode)
{
    ENTER(device);
    return put_u32(&call, mode,
                   value_of(&call, "virtualization", NVML_GPU_VIRTUALIZATION_MODE_NONE));
}
