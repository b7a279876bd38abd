// MIG: instances of the smallest profile, each with one compute instance.
#include "fake.h"

#define CAN_MIG() SUPPORTED_IF(call.profile->slice)

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, u32 *current, u32 *pending)
{
    ENTER(device);
    FULL_GPU_ONLY();
    CAN_MIG();
    u64 enabled = call.config->instances[call.gpu] > 0;
    FAILED(put_u32(&call, current, enabled));
    return put_u32(&call, pending, enabled);
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, u32 *count)
{
    ENTER(device);
    return put_u32(&call, count, call.profile->slice && call.instance < 0 ? MAX_INSTANCES : 0);
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, u32 index,
                                                 nvmlDevice_t *instance)
{
    ENTER(device);
    REQUIRE(instance);
    FULL_GPU_ONLY();
    CAN_MIG();
    REQUIRE(index < MAX_INSTANCES);
    if ((int)index >= call.config->instances[call.gpu]) return NVML_ERROR_NOT_FOUND;
    *instance = &call.session->instances[call.gpu][index];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, u32 *is_instance)
{
    ENTER(device);
    return put_u32(&call, is_instance, call.instance >= 0);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, u32 *id)
{
    ENTER(device);
    SUPPORTED_IF(call.instance >= 0);
    return put_u32(&call, id, gpu_instance_id(call.instance));
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, u32 *id)
{
    ENTER(device);
    SUPPORTED_IF(call.instance >= 0);
    return put_u32(&call, id, 0);
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t instance,
                                                          nvmlDevice_t *device)
{
    ENTER(instance);
    REQUIRE(device && call.instance >= 0);
    *device = &call.session->full[call.gpu];
    return NVML_SUCCESS;
}

static nvmlReturn_t get_attributes(struct site *site, nvmlDevice_t device,
                                   nvmlDeviceAttributes_t *attributes)
{
    struct call call;
    FAILED(enter_device(site, &call, device));
    REQUIRE(attributes);
    SUPPORTED_IF(call.instance >= 0);
    memset(attributes, 0, sizeof *attributes);
    attributes->multiprocessorCount = call.profile->multiprocessors / 8;
    attributes->sharedCopyEngineCount = 1;
    attributes->sharedDecoderCount = 1;
    attributes->sharedJpegCount = 1;
    attributes->gpuInstanceSliceCount = 1;
    attributes->computeInstanceSliceCount = 1;
    attributes->memorySizeMB = memory_total(&call) >> 20;
    return put_struct(&call, attributes, 0, sizeof *attributes);
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes)
{
    static struct site site = {.name = __func__};
    return get_attributes(&site, device, attributes);
}

nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes)
{
    static struct site site = {.name = __func__};
    return get_attributes(&site, device, attributes);
}
