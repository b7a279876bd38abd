// Processes. With procs=N the first is the calling process and the others do not exist.
#include "fake.h"

#include <unistd.h>

#define NO_INSTANCE 0xffffffffu

static const struct pid_list *listed(const struct call *call)
{
    const struct pid_list *found = NULL;
    for (int i = 0; i < call->config->pid_lists; i++) {
        const struct pid_list *list = &call->config->pids[i];
        if (list->gpu == call->gpu || (list->gpu == ANY_GPU && !found)) found = list;
    }
    return found;
}

static u32 count_on_gpu(const struct call *call)
{
    const struct pid_list *list = listed(call);
    return list ? (u32)list->count : (u32)call->config->processes;
}

static u32 pid_of(const struct call *call, u32 process)
{
    const struct pid_list *list = listed(call);
    if (list) return list->pids[process];
    return process == 0 ? (u32)getpid() : 4000000u + (u32)call->gpu * 1000 + process;
}

// In MIG mode processes are dealt out to the instances in turn.
static int instance_of(const struct call *call, u32 process)
{
    int instances = call->config->instances[call->gpu];
    return instances ? (int)(process % (u32)instances) : -1;
}

static bool is_here(const struct call *call, u32 process)
{
    return call->instance < 0 || call->instance == instance_of(call, process);
}

u32 process_count(const struct call *call)
{
    u32 here = 0;
    for (u32 i = 0; i < count_on_gpu(call); i++) here += is_here(call, i);
    return here;
}

static void describe(const struct call *call, u32 process, u32 sharing, nvmlProcessInfo_t *info)
{
    int instance = instance_of(call, process);
    memset(info, 0, sizeof *info);
    info->pid = pid_of(call, process);
    info->usedGpuMemory = memory_used(call) / sharing;
    if (call->all_ones || !(call->profile->features & HAS_PROCESS_MEMORY))
        info->usedGpuMemory = (u64)NVML_VALUE_NOT_AVAILABLE;
    info->gpuInstanceId = instance < 0 ? NO_INSTANCE : slot_of(call, instance)->gpu_instance;
    info->computeInstanceId = instance < 0 ? NO_INSTANCE : slot_of(call, instance)->compute_instance;
}

// Writes records of `size` bytes: all versions begin alike and the later ones are longer.
static nvmlReturn_t list_processes(struct site *site, nvmlDevice_t device, u32 *count, void *out,
                                   size_t size, bool any)
{
    struct call call;
    FAILED(enter_device(site, &call, device));
    REQUIRE(count);
    u32 room = *count, here = any ? process_count(&call) : 0, written = 0;
    *count = here;
    if (room < here) return NVML_ERROR_INSUFFICIENT_SIZE;
    REQUIRE(here == 0 || out);
    for (u32 i = 0; here && i < count_on_gpu(&call); i++) {
        nvmlProcessInfo_t info;
        if (!is_here(&call, i)) continue;
        describe(&call, i, here, &info);
        memcpy((char *)out + size * written++, &info, size);
    }
    return NVML_SUCCESS;
}

// All processes are compute processes; the graphics and MPS lists are empty.
#define PROCESS_LIST(function, record, any)                                      \
    nvmlReturn_t function(nvmlDevice_t device, u32 *count, record *records)      \
    {                                                                            \
        static struct site site = {.name = __func__};                            \
        return list_processes(&site, device, count, records, sizeof(record), any); \
    }

PROCESS_LIST(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t, true)
PROCESS_LIST(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, true)
PROCESS_LIST(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t, true)
PROCESS_LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t, false)
PROCESS_LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t, false)
PROCESS_LIST(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t, false)
PROCESS_LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t, false)
PROCESS_LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, false)
PROCESS_LIST(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t, false)

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
                                             nvmlProcessUtilizationSample_t *samples, u32 *count,
                                             u64 last_seen)
{
    ENTER(device);
    (void)last_seen;
    REQUIRE(count);
    NOT_IN_MIG_MODE();
    u32 room = *count, here = process_count(&call);
    if (here == 0) return NVML_ERROR_NOT_FOUND;
    *count = here;
    if (!samples || room < here) return NVML_ERROR_INSUFFICIENT_SIZE;
    for (u32 i = 0; i < here; i++)
        samples[i] = (nvmlProcessUtilizationSample_t){
            .pid = pid_of(&call, i),
            .timeStamp = wall_us() - 500000,
            .smUtil = utilization(&call) / here,
            .memUtil = memory_utilization(&call) / here,
        };
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device,
                                                   nvmlProcessesUtilizationInfo_t *info)
{
    ENTER(device);
    REQUIRE(info);
    REQUIRE_VERSION(info, nvmlProcessesUtilizationInfo_v1);
    NOT_IN_MIG_MODE();
    u32 room = info->processSamplesCount, here = process_count(&call);
    if (here == 0) return NVML_ERROR_NOT_FOUND;
    info->processSamplesCount = here;
    if (!info->procUtilArray || room < here) return NVML_ERROR_INSUFFICIENT_SIZE;
    for (u32 i = 0; i < here; i++)
        info->procUtilArray[i] = (nvmlProcessUtilizationInfo_v1_t){
            .pid = pid_of(&call, i),
            .timeStamp = wall_us() - 500000,
            .smUtil = utilization(&call) / here,
            .memUtil = memory_utilization(&call) / here,
        };
    return NVML_SUCCESS;
}
