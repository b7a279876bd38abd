// Start and end of a session, versions, discovery.
#define _GNU_SOURCE
#include "fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static u32 references;

// A session is never freed: a stale handle into it has to stay readable.
static nvmlReturn_t open_session_locked(size_t first_event)
{
    struct session *session = calloc(1, sizeof *session);
    if (!session) return NVML_ERROR_MEMORY;
    session->driver_epoch = current_config()->driver_epoch;
    session->first_event = first_event;
    set_session(session);
    return NVML_SUCCESS;
}

static nvmlReturn_t init_locked(struct site *site)
{
    size_t first_event = posted_events();
    if (references == 0) {
        open_stats();
        if (!start_config()) return NVML_ERROR_INVALID_ARGUMENT;
    }
    count_call(site);
    struct call call = {.site = site, .config = current_config(), .gpu = ANY_GPU, .instance = -1};
    FAILED(apply_faults(&call));
    // Read again: the call may have hung until the configuration changed.
    FAILED(current_config()->init_error);
    if (!fits_module(current_config())) return NVML_ERROR_LIB_RM_VERSION_MISMATCH;
    if (references == 0) FAILED(open_session_locked(first_event));
    references++;
    return NVML_SUCCESS;
}

static nvmlReturn_t init(struct site *site)
{
    pthread_mutex_lock(&lock);
    nvmlReturn_t result = init_locked(site);
    pthread_mutex_unlock(&lock);
    return result;
}

nvmlReturn_t nvmlInitWithFlags(u32 flags)
{
    static struct site site = {.name = __func__};
    (void)flags;
    return init(&site);
}

nvmlReturn_t nvmlInit_v2(void)
{
    static struct site site = {.name = __func__};
    return init(&site);
}

nvmlReturn_t nvmlInit(void)
{
    static struct site site = {.name = __func__};
    return init(&site);
}

nvmlReturn_t nvmlShutdown(void)
{
    static struct site site = {.name = __func__};
    count_call(&site);
    pthread_mutex_lock(&lock);
    nvmlReturn_t result = references ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
    if (references && --references == 0) set_session(NULL);
    pthread_mutex_unlock(&lock);
    return result;
}

const char *nvmlErrorString(nvmlReturn_t result)
{
    switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_ERROR_TIMEOUT: return "Timeout";
    case NVML_ERROR_FUNCTION_NOT_FOUND: return "Function Not Found";
    case NVML_ERROR_GPU_IS_LOST: return "GPU is lost";
    case NVML_ERROR_RESET_REQUIRED: return "GPU requires reset";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH: return "Driver/library version mismatch";
    case NVML_ERROR_UNKNOWN: return "Unknown Error";
    default: return "Error";
    }
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, u32 length)
{
    ENTER_SYSTEM();
    return put_text(&call, version, length, call.config->driver);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, u32 length)
{
    ENTER_SYSTEM();
    char text[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE + 8];
    snprintf(text, sizeof text, "12.%s", call.config->driver);
    return put_text(&call, version, length, text);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version)
{
    ENTER_SYSTEM();
    return put_int(&call, version, cuda_version());
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    ENTER_SYSTEM();
    return put_int(&call, version, cuda_version());
}

nvmlReturn_t nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t *info, u32 length)
{
    ENTER_SYSTEM();
    REQUIRE(info);
    char text[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE + 8];
    snprintf(text, sizeof text, "r%d", atoi(call.config->driver));
    return put_text(&call, info->branch, length, text);
}

nvmlReturn_t nvmlSystemGetProcessName(u32 pid, char *name, u32 length)
{
    ENTER_SYSTEM();
    REQUIRE(name && length);
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/comm", pid);
    FILE *file = fopen(path, "re");
    if (!file) return NVML_ERROR_NOT_FOUND;
    if (!fgets(name, (int)length, file)) name[0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    fclose(file);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlUnitGetCount(u32 *count)
{
    ENTER_SYSTEM();
    return put_u32(&call, count, 0);
}

static bool is_present(const struct config *config, int gpu)
{
    return gpu < config->gpus && !config->hidden[gpu];
}

static nvmlReturn_t get_count(struct site *site, u32 *count)
{
    struct call call;
    FAILED(enter_system(site, &call));
    u32 present = 0;
    for (int gpu = 0; gpu < MAX_GPUS; gpu++) present += is_present(call.config, gpu);
    return put_u32(&call, count, present);
}

nvmlReturn_t nvmlDeviceGetCount_v2(u32 *count)
{
    static struct site site = {.name = __func__};
    return get_count(&site, count);
}

nvmlReturn_t nvmlDeviceGetCount(u32 *count)
{
    static struct site site = {.name = __func__};
    return get_count(&site, count);
}

// Hands out the handle of a slot, unless a fault names this function for this GPU.
static nvmlReturn_t hand_out(struct call *call, nvmlDevice_t found, nvmlDevice_t *device)
{
    REQUIRE(device);
    if (found) {
        call->gpu = found->gpu;
        call->instance = found->instance;
    }
    FAILED(apply_faults(call));
    if (!found) return NVML_ERROR_NOT_FOUND;
    *device = found;
    return NVML_SUCCESS;
}

static nvmlReturn_t get_by_index(struct site *site, u32 index, nvmlDevice_t *device)
{
    struct call call;
    FAILED(begin_call(site, &call));
    u32 present = 0;
    for (int gpu = 0; gpu < MAX_GPUS; gpu++)
        if (is_present(call.config, gpu) && present++ == index)
            return hand_out(&call, &call.session->full[gpu], device);
    FAILED(apply_faults(&call));
    return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(u32 index, nvmlDevice_t *device)
{
    static struct site site = {.name = __func__};
    return get_by_index(&site, index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(u32 index, nvmlDevice_t *device)
{
    static struct site site = {.name = __func__};
    return get_by_index(&site, index, device);
}

static bool has_uuid(const struct config *config, nvmlDevice_t device, const char *uuid)
{
    char text[96];
    format_uuid(config, device, text);
    return strcmp(text, uuid) == 0;
}

static nvmlDevice_t find_uuid(const struct call *call, const char *uuid)
{
    for (int gpu = 0; gpu < MAX_GPUS; gpu++) {
        if (!is_present(call->config, gpu)) continue;
        if (has_uuid(call->config, &call->session->full[gpu], uuid))
            return &call->session->full[gpu];
        for (int i = 0; i < call->config->instances[gpu]; i++)
            if (has_uuid(call->config, &call->session->instances[gpu][i], uuid))
                return &call->session->instances[gpu][i];
    }
    return NULL;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    static struct site site = {.name = __func__};
    struct call call;
    FAILED(begin_call(&site, &call));
    REQUIRE(uuid);
    return hand_out(&call, find_uuid(&call, uuid), device);
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device)
{
    static struct site site = {.name = __func__};
    struct call call;
    FAILED(begin_call(&site, &call));
    REQUIRE(serial);
    nvmlDevice_t found = NULL;
    for (int gpu = 0; gpu < MAX_GPUS; gpu++) {
        char text[32];
        format_serial(gpu, text);
        if (is_present(call.config, gpu) && strcmp(text, serial) == 0)
            found = &call.session->full[gpu];
    }
    return hand_out(&call, found, device);
}

static nvmlReturn_t get_by_bus(struct site *site, const char *address, nvmlDevice_t *device)
{
    struct call call;
    u32 domain, bus, slot;
    FAILED(begin_call(site, &call));
    REQUIRE(address && sscanf(address, "%x:%x:%x", &domain, &bus, &slot) == 3);
    nvmlDevice_t found = NULL;
    for (int gpu = 0; gpu < MAX_GPUS; gpu++)
        if (is_present(call.config, gpu) && domain == 0 && pci_bus(gpu) == bus)
            found = &call.session->full[gpu];
    return hand_out(&call, found, device);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *address, nvmlDevice_t *device)
{
    static struct site site = {.name = __func__};
    return get_by_bus(&site, address, device);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *address, nvmlDevice_t *device)
{
    static struct site site = {.name = __func__};
    return get_by_bus(&site, address, device);
}
