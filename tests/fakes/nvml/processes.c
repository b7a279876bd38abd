// Processes. With procs=N the first is the calling process and the others do not exist.
#include "fake.h"

#include <stdio.h>
#include <unistd.h>

#define NO_INSTANCE 0xffffffffu
#define SAMPLE_PERIOD_US 500000

static const struct pid_list *listed(const struct call *call, enum process_kind kind)
{
    const struct pid_list *found = NULL;
    for (int i = 0; i < call->config->pid_lists; i++) {
        const struct pid_list *list = &call->config->pids[i];
        if (list->kind != kind) continue;
        if (list->gpu == call->gpu || (list->gpu == ANY_GPU && !found)) found = list;
    }
    return found;
}

static u32 count_on_gpu(const struct call *call, enum process_kind kind)
{
    const struct pid_list *list = listed(call, kind);
    if (list) return (u32)list->count;
    return kind == COMPUTE ? (u32)call->config->processes : 0;
}

static u32 pid_of(const struct call *call, enum process_kind kind, u32 process)
{
    const struct pid_list *list = listed(call, kind);
    if (list) return list->pids[process];
    return process == 0 ? (u32)getpid() : 4000000u + (u32)call->gpu * 1000 + process;
}

// In MIG mode processes are dealt out to the instances in turn.
static int instance_of(const struct call *call, u32 process)
{
    int instances = call->config->instances[call->gpu];
    return instances ? (int)(process % (u32)instances) : -1;
}

static u64 value_of_process(const struct call *call, const char *name, u32 pid, u64 computed)
{
    char key[80];
    snprintf(key, sizeof key, "%s.%u", name, pid);
    return value_of(call, key, computed);
}

// One that has ended is in no list, but its last sample is there still.
static bool is_here(const struct call *call, enum process_kind kind, u32 process)
{
    bool own = call->instance < 0 || call->instance == instance_of(call, process);
    return own && !value_of_process(call, "process_ended", pid_of(call, kind, process), 0);
}

static u32 count_here(const struct call *call, enum process_kind kind)
{
    u32 here = 0;
    for (u32 i = 0; i < count_on_gpu(call, kind); i++) here += is_here(call, kind, i);
    return here;
}

// A record of the longest layout; the shorter ones are its beginning.
struct record {
    nvmlProcessInfo_t info;
    u64 protected_memory;
};

static void describe(const struct call *call, enum process_kind kind, u32 process, u32 sharing,
                     struct record *record)
{
    int instance = instance_of(call, process);
    nvmlProcessInfo_t *info = &record->info;
    memset(record, 0, sizeof *record);
    info->pid = pid_of(call, kind, process);
    info->usedGpuMemory =
        value_of_process(call, "process_memory", info->pid, memory_used(call) / sharing);
    if (call->all_ones || !(call->profile->features & HAS_PROCESS_MEMORY))
        info->usedGpuMemory = (u64)NVML_VALUE_NOT_AVAILABLE;
    info->gpuInstanceId = instance < 0 ? NO_INSTANCE : slot_of(call, instance)->gpu_instance;
    info->gpuInstanceId = (u32)value_of(call, "process_gpu_instance", info->gpuInstanceId);
    info->computeInstanceId = instance < 0 ? NO_INSTANCE : slot_of(call, instance)->compute_instance;
}

// Writes records of `size` bytes: all versions begin alike and the later ones are longer. The caller
// makes room for its own layout; another one that the driver writes overruns it, as in life.
static nvmlReturn_t list_processes(struct site *site, nvmlDevice_t device, u32 *count, void *out,
                                   size_t size, enum process_kind kind)
{
    struct call call;
    FAILED(enter_device(site, &call, device));
    REQUIRE(count);
    if (call.config->process_layout) size = (size_t)call.config->process_layout;
    u32 room = *count, here = count_here(&call, kind), written = 0;
    u32 sharing = count_here(&call, COMPUTE) + count_here(&call, GRAPHICS) + count_here(&call, MPS);
    *count = (u32)value_of(&call, "process_count", here);
    if (room < here) return NVML_ERROR_INSUFFICIENT_SIZE;
    REQUIRE(here == 0 || out);
    for (u32 i = 0; here && i < count_on_gpu(&call, kind); i++) {
        struct record record;
        if (!is_here(&call, kind, i)) continue;
        describe(&call, kind, i, sharing, &record);
        memcpy((char *)out + size * written++, &record, size);
    }
    return NVML_SUCCESS;
}

// All processes are compute processes unless the lists `graphics` and `mps` say more.
#define PROCESS_LIST(function, record, kind)                                      \
    nvmlReturn_t function(nvmlDevice_t device, u32 *count, record *records)       \
    {                                                                             \
        static struct site site = {.name = __func__};                             \
        return list_processes(&site, device, count, records, sizeof(record), kind); \
    }

PROCESS_LIST(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t, COMPUTE)
PROCESS_LIST(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, COMPUTE)
PROCESS_LIST(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t, COMPUTE)
PROCESS_LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t, GRAPHICS)
PROCESS_LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t, GRAPHICS)
PROCESS_LIST(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t, GRAPHICS)
PROCESS_LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t, MPS)
PROCESS_LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, MPS)
PROCESS_LIST(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t, MPS)

// A process that kept the GPU busy in the driver's last sampling period.
struct sample {
    u32 pid, sm, memory, encoder;
    u64 time;
};

// Fills in the samples of compute processes after a time, at most `room`; gives their number.
static u32 take_samples(const struct call *call, u64 last_seen, struct sample *samples)
{
    u32 here = count_on_gpu(call, COMPUTE), taken = 0;
    u64 now = value_of(call, "samples_us", wall_us());
    for (u32 i = 0; i < here && taken < MAX_PIDS; i++) {
        struct sample one = {.pid = pid_of(call, COMPUTE, i)};
        one.sm = (u32)value_of_process(call, "process_sm", one.pid, utilization(call) / here);
        one.memory = (u32)value_of_process(call, "process_memory_util", one.pid,
                                           one.sm ? memory_utilization(call) / here : 0);
        one.encoder = (u32)value_of_process(call, "process_encoder", one.pid, 0);
        one.time = value_of_process(call, "process_sampled_us", one.pid, now - now % SAMPLE_PERIOD_US);
        if (one.time > last_seen && (one.sm || one.memory || one.encoder)) samples[taken++] = one;
    }
    return taken;
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
                                             nvmlProcessUtilizationSample_t *samples, u32 *count,
                                             u64 last_seen)
{
    ENTER(device);
    REQUIRE(count);
    NOT_IN_MIG_MODE();
    struct sample found[MAX_PIDS];
    u32 room = *count, here = take_samples(&call, last_seen, found);
    if (here == 0) return NVML_ERROR_NOT_FOUND;
    *count = here;
    if (!samples || room < here) return NVML_ERROR_INSUFFICIENT_SIZE;
    for (u32 i = 0; i < here; i++)
        samples[i] = (nvmlProcessUtilizationSample_t){
            .pid = found[i].pid,
            .timeStamp = found[i].time,
            .smUtil = found[i].sm,
            .memUtil = found[i].memory,
            .encUtil = found[i].encoder,
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
    struct sample found[MAX_PIDS];
    u32 room = info->processSamplesCount;
    u32 here = take_samples(&call, info->lastSeenTimeStamp, found);
    if (here == 0) return NVML_ERROR_NOT_FOUND;
    info->processSamplesCount = here;
    if (!info->procUtilArray || room < here) return NVML_ERROR_INSUFFICIENT_SIZE;
    for (u32 i = 0; i < here; i++)
        info->procUtilArray[i] = (nvmlProcessUtilizationInfo_v1_t){
            .pid = found[i].pid,
            .timeStamp = found[i].time,
            .smUtil = found[i].sm,
            .memUtil = found[i].memory,
            .encUtil = found[i].encoder,
        };
    return NVML_SUCCESS;
}
