// Memory and utilization.
#include "fake.h"

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    ENTER(device);
    REQUIRE(memory);
    WITH(HAS_MEMORY_INFO);
    memory->total = memory_total(&call);
    // The first version counts what the driver keeps for itself as used.
    memory->used = memory_used(&call) + memory_reserved(&call);
    memory->free = memory->total - memory->used;
    return put_struct(&call, memory, 0, sizeof *memory);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    ENTER(device);
    REQUIRE(memory);
    REQUIRE_VERSION(memory, nvmlMemory_v2);
    WITH(HAS_MEMORY_INFO);
    memory->total = memory_total(&call);
    memory->reserved = memory_reserved(&call);
    memory->used = memory_used(&call);
    memory->free = memory->total - memory->used - memory->reserved;
    return put_struct(&call, memory, offsetof(nvmlMemory_v2_t, total), sizeof *memory);
}

nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *bar1)
{
    ENTER(device);
    REQUIRE(bar1);
    WITH(HAS_MEMORY_INFO);
    bar1->bar1Total = call.instance < 0 ? call.profile->bar1 : call.profile->bar1 / 8;
    bar1->bar1Used = value_of(&call, "bar1_used", 4ull << 20);
    bar1->bar1Free = bar1->bar1Total - bar1->bar1Used;
    return put_struct(&call, bar1, 0, sizeof *bar1);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates)
{
    ENTER(device);
    REQUIRE(rates);
    NOT_IN_MIG_MODE();
    rates->gpu = utilization(&call);
    rates->memory = memory_utilization(&call);
    return put_struct(&call, rates, 0, sizeof *rates);
}

static nvmlReturn_t put_engine(const struct call *call, const char *name, u64 percent, u32 *out,
                               u32 *period_us)
{
    FAILED(put_u32(call, out, value_of(call, name, percent)));
    return put_u32(call, period_us, 167000);
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, u32 *percent, u32 *period_us)
{
    ENTER(device);
    NOT_IN_MIG_MODE();
    return put_engine(&call, "util_enc", utilization(&call) / 10, percent, period_us);
}

nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, u32 *percent, u32 *period_us)
{
    ENTER(device);
    NOT_IN_MIG_MODE();
    return put_engine(&call, "util_dec", utilization(&call) / 5, percent, period_us);
}

nvmlReturn_t nvmlDeviceGetJpgUtilization(nvmlDevice_t device, u32 *percent, u32 *period_us)
{
    ENTER(device);
    NOT_IN_MIG_MODE();
    WITH(HAS_JPEG_AND_OFA);
    return put_engine(&call, "util_jpg", utilization(&call) / 20, percent, period_us);
}

nvmlReturn_t nvmlDeviceGetOfaUtilization(nvmlDevice_t device, u32 *percent, u32 *period_us)
{
    ENTER(device);
    NOT_IN_MIG_MODE();
    WITH(HAS_JPEG_AND_OFA);
    return put_engine(&call, "util_ofa", utilization(&call) / 25, percent, period_us);
}

nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device, nvmlGpuDynamicPstatesInfo_t *info)
{
    ENTER(device);
    REQUIRE(info);
    NOT_IN_MIG_MODE();
    memset(info, 0, sizeof *info);
    // Domains: graphics, frame buffer, video, bus.
    for (u32 i = 0; i < 4; i++) {
        info->utilization[i].bIsPresent = 1;
        info->utilization[i].percentage = utilization(&call) / (i + 1);
    }
    return put_struct(&call, info, 0, sizeof *info);
}
