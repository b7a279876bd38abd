// What every entry point does first (session, handle, faults) and how it hands out its values.
#include "fake.h"

#include <stdlib.h>

#define HANG_POLL_US 20000
#define DEVICE_MAGIC 0x4e564d4cu

static _Atomic(struct session *) current;

struct session *current_session(void)
{
    return atomic_load(&current);
}

static void name_device(struct nvmlDevice_st *device, struct session *session, int gpu,
                        int instance)
{
    *device = (struct nvmlDevice_st){DEVICE_MAGIC, session, gpu, instance};
}

void set_session(struct session *session)
{
    for (int gpu = 0; session && gpu < MAX_GPUS; gpu++) {
        name_device(&session->full[gpu], session, gpu, -1);
        for (int i = 0; i < MAX_INSTANCES; i++)
            name_device(&session->instances[gpu][i], session, gpu, i);
    }
    // The old session's handles stay readable, so that using one is an error and no crash.
    atomic_store(&current, session);
}

nvmlReturn_t begin_call(struct site *site, struct call *call)
{
    struct session *session = current_session();
    count_call(site);
    if (!session) return NVML_ERROR_UNINITIALIZED;
    refresh_config(false);
    struct config *config = current_config();
    *call = (struct call){.site = site, .config = config, .profile = config->profile,
                          .session = session, .gpu = ANY_GPU, .instance = -1};
    // A driver that was loaded anew knows nothing of this client until it starts again.
    return session->driver_epoch == config->driver_epoch ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

nvmlReturn_t resolve_device(struct call *call, nvmlDevice_t device)
{
    REQUIRE(device && device->magic == DEVICE_MAGIC && device->session == call->session);
    call->device = device;
    call->gpu = device->gpu;
    call->instance = device->instance;
    if (call->gpu >= call->config->gpus || call->config->hidden[call->gpu])
        return NVML_ERROR_GPU_IS_LOST;
    REQUIRE(call->instance < call->config->instances[call->gpu]);
    return NVML_SUCCESS;
}

static bool matches(const struct rule *rule, const struct call *call)
{
    bool everywhere = strcmp(rule->target, "*") == 0;
    if (!everywhere && strcmp(rule->target, call->site->name) != 0) return false;
    if (rule->gpu == ANY_GPU || rule->gpu == call->gpu) return true;
    // "hang.nvmlDeviceGetCount_v2=1": the function has no GPU, so any number means the function.
    return rule->kind == RULE_HANG && !everywhere && call->gpu == ANY_GPU;
}

static bool names_this_function(const struct call *call)
{
    u64 generation = call->config->generation;
    if (atomic_load_explicit(&call->site->quiet_generation, memory_order_relaxed) == generation)
        return false;
    for (int i = 0; i < call->config->rules; i++) {
        const struct rule *rule = &call->config->rule[i];
        if (rule->kind == RULE_VALUE || rule->kind == RULE_FIELD_ERROR) continue;
        if (strcmp(rule->target, "*") == 0 || strcmp(rule->target, call->site->name) == 0)
            return true;
    }
    atomic_store_explicit(&call->site->quiet_generation, generation, memory_order_relaxed);
    return false;
}

static struct rule *find_rule(const struct call *call, enum rule_kind kind)
{
    for (int i = 0; i < call->config->rules; i++) {
        struct rule *rule = &call->config->rule[i];
        if (rule->kind == kind && matches(rule, call)) return rule;
    }
    return NULL;
}

static void hang(struct call *call)
{
    while (find_rule(call, RULE_HANG)) {
        pause_us(HANG_POLL_US);
        refresh_config(true);
        call->config = current_config();
        call->profile = call->config->profile;
    }
}

static bool is_lost(const struct call *call)
{
    struct config *config = call->config;
    if (call->gpu == ANY_GPU || !config->lost[call->gpu]) return false;
    return atomic_fetch_add(&config->device_calls[call->gpu], 1) >= config->lost_after[call->gpu];
}

nvmlReturn_t apply_faults(struct call *call)
{
    u64 latency = call->config->latency_us;
    bool named = names_this_function(call);
    if (named) {
        const struct rule *slow = find_rule(call, RULE_LATENCY);
        if (slow) latency = slow->number;
    }
    if (latency) pause_us(latency);
    if (named) hang(call);
    if (is_lost(call)) return NVML_ERROR_GPU_IS_LOST;
    for (int i = 0; named && i < call->config->rules; i++) {
        struct rule *rule = &call->config->rule[i];
        if (rule->kind != RULE_ERROR || !matches(rule, call)) continue;
        if (atomic_fetch_add(&rule->matched, 1) >= rule->after) return rule->error;
    }
    call->all_ones = named && find_rule(call, RULE_ALL_ONES);
    return NVML_SUCCESS;
}

nvmlReturn_t enter_system(struct site *site, struct call *call)
{
    FAILED(begin_call(site, call));
    return apply_faults(call);
}

nvmlReturn_t enter_device(struct site *site, struct call *call, nvmlDevice_t device)
{
    FAILED(begin_call(site, call));
    FAILED(resolve_device(call, device));
    FAILED(apply_faults(call));
    SUPPORTED_IF(model_answers(call));
    return NVML_SUCCESS;
}

nvmlReturn_t put_u32(const struct call *call, u32 *out, u64 value)
{
    REQUIRE(out);
    *out = call->all_ones ? UINT32_MAX : (u32)value;
    return NVML_SUCCESS;
}

nvmlReturn_t put_u64(const struct call *call, u64 *out, u64 value)
{
    REQUIRE(out);
    *out = call->all_ones ? UINT64_MAX : value;
    return NVML_SUCCESS;
}

nvmlReturn_t put_int(const struct call *call, int *out, int value)
{
    REQUIRE(out);
    *out = call->all_ones ? -1 : value;
    return NVML_SUCCESS;
}

nvmlReturn_t put_text(const struct call *call, char *out, u32 size, const char *text)
{
    REQUIRE(out);
    if (strlen(text) + 1 > size) return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(out, text);
    if (call->all_ones) memset(out, 0xff, strlen(text));
    return NVML_SUCCESS;
}

nvmlReturn_t put_struct(const struct call *call, void *out, size_t keep, size_t size)
{
    if (call->all_ones) memset((char *)out + keep, 0xff, size - keep);
    return NVML_SUCCESS;
}

// Entry of the generated functions that the fake does not implement.
nvmlReturn_t fake_stub(struct site *site)
{
    struct call call;
    FAILED(enter_system(site, &call));
    return NVML_ERROR_NOT_SUPPORTED;
}
