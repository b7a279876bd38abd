// vGPU: how many a host serves, and licenses; instances are numbered from 100 x (GPU + 1).
#include "fake.h"

#include <stdio.h>

static nvmlReturn_t find_gpu(struct call *call, nvmlVgpuInstance_t instance)
{
    call->gpu = (int)(instance / 100) - 1;
    REQUIRE(call->gpu >= 0 && call->gpu < call->config->gpus);
    if (instance % 100 >= value_of(call, "vgpus", 0)) return NVML_ERROR_NOT_FOUND;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetActiveVgpus(nvmlDevice_t device, u32 *count,
                                      nvmlVgpuInstance_t *instances)
{
    ENTER(device);
    REQUIRE(count);
    u64 active;
    SUPPORTED_IF(has_value(&call, "vgpus", &active));
    u32 room = *count;
    *count = (u32)active;
    if (active == 0) return NVML_SUCCESS;
    if (room < active) return NVML_ERROR_INSUFFICIENT_SIZE;
    for (u32 i = 0; i < active; i++) instances[i] = 100 * ((u32)call.gpu + 1) + i;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlVgpuInstanceGetUUID(nvmlVgpuInstance_t instance, char *uuid, u32 size)
{
    ENTER_SYSTEM();
    FAILED(find_gpu(&call, instance));
    char text[48];
    snprintf(text, sizeof text, "fa4e0000-7777-8888-9999-%012u", instance);
    return put_text(&call, uuid, size, text);
}

nvmlReturn_t nvmlVgpuInstanceGetLicenseInfo_v2(nvmlVgpuInstance_t instance,
                                               nvmlVgpuLicenseInfo_t *license)
{
    ENTER_SYSTEM();
    REQUIRE(license);
    FAILED(find_gpu(&call, instance));
    memset(license, 0, sizeof *license);
    license->currentState =
        (u32)value_of(&call, "vgpu_license", NVML_GRID_LICENSE_STATE_LICENSED);
    license->isLicensed = license->currentState == NVML_GRID_LICENSE_STATE_LICENSED;
    return NVML_SUCCESS;
}

// A second feature is there and not enabled: it needs no license.
nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v4(nvmlDevice_t device,
                                                    nvmlGridLicensableFeatures_t *features)
{
    ENTER(device);
    REQUIRE(features);
    memset(features, 0, sizeof *features);
    u64 licensed;
    if (!has_value(&call, "guest_license", &licensed)) return NVML_SUCCESS;
    features->isGridLicenseSupported = 1;
    features->licensableFeaturesCount = 2;
    features->gridLicensableFeatures[0].featureCode = NVML_GRID_LICENSE_FEATURE_CODE_VGPU;
    features->gridLicensableFeatures[0].featureEnabled = 1;
    features->gridLicensableFeatures[0].featureState = (u32)licensed;
    features->gridLicensableFeatures[1].featureCode = NVML_GRID_LICENSE_FEATURE_CODE_COMPUTE;
    features->gridLicensableFeatures[1].featureState = 1;
    return NVML_SUCCESS;
}
