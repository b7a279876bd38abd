// MIG: GPU instances of one or more compute instances, by the layout in the configuration.
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>

const struct slot *slot_of(const struct call *call, int instance)
{
    return &call->config->slots[call->gpu][instance];
}

int instance_by_gpu_instance(const struct call *call, u32 gpu_instance)
{
    for (int i = 0; i < call->config->instances[call->gpu]; i++)
        if (slot_of(call, i)->gpu_instance == gpu_instance) return i;
    return -1;
}

// Numbers as the driver gives them: 0 for the whole, 1 and 2 for halves, 3 to 6 for quarters.
static u32 next_gpu_instance(u32 slices, u32 used[8])
{
    static const u32 first[8] = {0, 7, 3, 1, 1, 0, 0, 0};
    return first[slices] + used[slices == 4 ? 3 : slices]++;
}

static bool add_slots(struct config *config, int gpu, u32 gpu_instance, u32 slices, u32 tag,
                      const char *parts)
{
    u32 compute_instance = 0;
    do {
        int *count = &config->instances[gpu];
        u32 own = parts ? (u32)strtoul(parts, NULL, 10) : slices;
        if (*count == MAX_INSTANCES || own == 0 || own > slices) return false;
        config->slots[gpu][(*count)++] =
            (struct slot){gpu_instance, compute_instance++, slices, own, tag};
        parts = parts ? strpbrk(parts, "+)") : NULL;
    } while (parts && *parts++ == '+');
    return true;
}

// "3g+2g(1c+1c)+1g#tag", or "none" for MIG mode without instances.
bool parse_layout(struct config *config, int gpu, char *text)
{
    u32 used[8] = {0}, tag = 0;
    char *mark = strchr(text, '#');
    if (mark) {
        tag = (u32)strtoul(mark + 1, NULL, 10);
        *mark = '\0';
    }
    config->mig_mode[gpu] = true;
    config->instances[gpu] = 0;
    if (strcmp(text, "none") == 0) return true;
    for (char *item = text; item; item = item[0] == '+' ? item + 1 : NULL) {
        u32 slices = (u32)strtoul(item, &item, 10);
        if (slices < 1 || slices > 7 || *item++ != 'g') return false;
        const char *parts = *item == '(' ? item + 1 : NULL;
        if (!add_slots(config, gpu, next_gpu_instance(slices, used), slices, tag, parts))
            return false;
        if (parts && !(item = strchr(item, ')'))) return false;
        if (parts) item++;
        if (*item && *item != '+') return false;
    }
    return true;
}

#define CAN_MIG() SUPPORTED_IF(call.profile->slice)

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, u32 *current, u32 *pending)
{
    ENTER(device);
    FULL_GPU_ONLY();
    CAN_MIG();
    u64 enabled = call.config->mig_mode[call.gpu];
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
    return put_u32(&call, id, slot_of(&call, call.instance)->gpu_instance);
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, u32 *id)
{
    ENTER(device);
    SUPPORTED_IF(call.instance >= 0);
    return put_u32(&call, id, slot_of(&call, call.instance)->compute_instance);
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
    const struct slot *slot = slot_of(&call, call.instance);
    attributes->multiprocessorCount = call.profile->multiprocessors / 8 * slot->compute_slices;
    attributes->sharedCopyEngineCount = 1;
    attributes->sharedDecoderCount = 1;
    attributes->sharedJpegCount = 1;
    attributes->gpuInstanceSliceCount = slot->slices;
    attributes->computeInstanceSliceCount = slot->compute_slices;
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
