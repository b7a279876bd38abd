// GPU performance monitoring: metrics over the time between two samples.
#include "fake.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SAMPLE_MAGIC 0x47504d53u

struct nvmlGpmSample_st {
    u32 magic;
    bool filled;
    struct session *session;
    struct call call;
    int gpu_instance;  // -1: the whole GPU
    u32 tag;           // of the instance: another one may have the same id
    double time;
};

// Memory of a closed session is gone; a real library would crash or compute nonsense.
static bool is_valid(const struct nvmlGpmSample_st *sample)
{
    return sample && sample->magic == SAMPLE_MAGIC && sample->session == current_session();
}

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *support)
{
    ENTER(device);
    REQUIRE(support);
    REQUIRE_VERSION(support, NVML_GPM_SUPPORT_VERSION);
    return put_u32(&call, &support->isSupportedDevice, (call.profile->features & HAS_GPM) != 0);
}

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *sample)
{
    ENTER_SYSTEM();
    REQUIRE(sample);
    *sample = calloc(1, sizeof **sample);
    if (!*sample) return NVML_ERROR_MEMORY;
    (*sample)->magic = SAMPLE_MAGIC;
    (*sample)->session = current_session();
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample)
{
    ENTER_SYSTEM();
    REQUIRE(is_valid(sample));
    sample->magic = 0;
    free(sample);
    return NVML_SUCCESS;
}

static nvmlReturn_t take_sample(const struct call *call, int gpu_instance, nvmlGpmSample_t sample)
{
    REQUIRE(is_valid(sample));
    SUPPORTED_IF(call->profile->features & HAS_GPM);
    sample->call = *call;
    sample->gpu_instance = gpu_instance;
    if (gpu_instance >= 0)
        sample->tag = slot_of(call, instance_by_gpu_instance(call, (u32)gpu_instance))->tag;
    sample->time = model_time(call);
    sample->filled = true;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample)
{
    ENTER(device);
    return take_sample(&call, -1, sample);
}

nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, u32 gpu_instance, nvmlGpmSample_t sample)
{
    ENTER(device);
    FULL_GPU_ONLY();
    REQUIRE(instance_by_gpu_instance(&call, gpu_instance) >= 0);
    return take_sample(&call, (int)gpu_instance, sample);
}

static nvmlReturn_t metric_value(const struct profile *profile, u32 metric, double busy,
                                 double *out)
{
    switch (metric) {
    case NVML_GPM_METRIC_GRAPHICS_UTIL:
    case NVML_GPM_METRIC_SM_UTIL: *out = busy; break;
    case NVML_GPM_METRIC_SM_OCCUPANCY: *out = busy * 0.8; break;
    case NVML_GPM_METRIC_INTEGER_UTIL ... NVML_GPM_METRIC_FP16_UTIL: *out = busy / 2; break;
    // MiB per second.
    case NVML_GPM_METRIC_PCIE_TX_PER_SEC: *out = busy * 20; break;
    case NVML_GPM_METRIC_PCIE_RX_PER_SEC: *out = busy * 10; break;
    // Seven decoders and seven JPEG engines: the eighth answers that it is not there.
    case NVML_GPM_METRIC_NVDEC_0_UTIL ... NVML_GPM_METRIC_NVDEC_6_UTIL: *out = busy / 5; break;
    case NVML_GPM_METRIC_NVJPG_0_UTIL ... NVML_GPM_METRIC_NVJPG_6_UTIL: *out = busy / 20; break;
    case NVML_GPM_METRIC_NVOFA_0_UTIL: *out = busy / 25; break;
    case NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC ... NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC:
        *out = busy * 1000 * profile->nvlinks;
        break;
    case NVML_GPM_METRIC_NVLINK_L0_RX_PER_SEC ... NVML_GPM_METRIC_NVLINK_L17_TX_PER_SEC:
        SUPPORTED_IF((metric - NVML_GPM_METRIC_NVLINK_L0_RX_PER_SEC) / 2 < profile->nvlinks);
        *out = busy * 1000;
        break;
    default: return NVML_ERROR_NOT_SUPPORTED;
    }
    return NVML_SUCCESS;
}

static nvmlReturn_t find_fault(const struct call *call, u32 metric)
{
    for (int i = 0; i < call->config->rules; i++) {
        struct rule *rule = &call->config->rule[i];
        if (rule->kind != RULE_GPM_ERROR || strtoul(rule->target, NULL, 0) != metric) continue;
        if (rule->gpu != ANY_GPU && rule->gpu != call->gpu) continue;
        if (atomic_fetch_add(&rule->matched, 1) >= rule->after) return rule->error;
    }
    return NVML_SUCCESS;
}

// `value.gpm.ID`: a whole number; -1 stands for not a number.
static void override_value(const struct call *call, u32 metric, double *value)
{
    char name[32];
    u64 given;
    snprintf(name, sizeof name, "gpm.%u", metric);
    if (has_value(call, name, &given)) *value = given == UINT64_MAX ? NAN : (double)given;
}

nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *request)
{
    ENTER_SYSTEM();
    REQUIRE(request);
    REQUIRE_VERSION(request, NVML_GPM_METRICS_GET_VERSION);
    nvmlGpmSample_t first = request->sample1, second = request->sample2;
    REQUIRE(first && second && first->filled && second->filled);
    REQUIRE(is_valid(first) && is_valid(second));
    REQUIRE(first->call.gpu == second->call.gpu && first->gpu_instance == second->gpu_instance);
    double busy = mean_utilization(&second->call, first->time, second->time);
    // Two instances that followed each other: nonsense that a test can recognize, no error.
    if (first->tag != second->tag) busy = 99;
    // Only the entries asked for: the caller's array may be shorter than this header's.
    for (u32 i = 0; i < request->numMetrics; i++) {
        nvmlGpmMetric_t *metric = &request->metrics[i];
        metric->nvmlReturn = find_fault(&second->call, metric->metricId);
        if (metric->nvmlReturn == NVML_SUCCESS)
            metric->nvmlReturn =
                metric_value(second->call.profile, metric->metricId, busy, &metric->value);
        if (metric->nvmlReturn == NVML_SUCCESS)
            override_value(&second->call, metric->metricId, &metric->value);
        metric->metricInfo.shortName = NULL;
        metric->metricInfo.longName = NULL;
        metric->metricInfo.unit = NULL;
    }
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmQueryIfStreamingEnabled(nvmlDevice_t device, u32 *enabled)
{
    ENTER(device);
    WITH(HAS_GPM);
    return put_u32(&call, enabled, 1);
}
