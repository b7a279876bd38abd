// GPU performance monitoring: metrics over the time between two samples.
#include "fake.h"

#include <stdlib.h>

#define SAMPLE_MAGIC 0x47504d53u

struct nvmlGpmSample_st {
    u32 magic;
    bool filled;
    struct call call;
    double time;
};

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
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample)
{
    ENTER_SYSTEM();
    REQUIRE(sample && sample->magic == SAMPLE_MAGIC);
    sample->magic = 0;
    free(sample);
    return NVML_SUCCESS;
}

static nvmlReturn_t take_sample(const struct call *call, nvmlGpmSample_t sample)
{
    REQUIRE(sample && sample->magic == SAMPLE_MAGIC);
    SUPPORTED_IF(call->profile->features & HAS_GPM);
    sample->call = *call;
    sample->time = model_time(call);
    sample->filled = true;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample)
{
    ENTER(device);
    return take_sample(&call, sample);
}

nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, u32 gpu_instance, nvmlGpmSample_t sample)
{
    ENTER(device);
    FULL_GPU_ONLY();
    REQUIRE(instance_by_gpu_instance(&call, gpu_instance) >= 0);
    return take_sample(&call, sample);
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
    case NVML_GPM_METRIC_NVDEC_0_UTIL ... NVML_GPM_METRIC_NVDEC_7_UTIL: *out = busy / 5; break;
    case NVML_GPM_METRIC_NVJPG_0_UTIL ... NVML_GPM_METRIC_NVJPG_7_UTIL: *out = busy / 20; break;
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

nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *request)
{
    ENTER_SYSTEM();
    REQUIRE(request);
    REQUIRE_VERSION(request, NVML_GPM_METRICS_GET_VERSION);
    nvmlGpmSample_t first = request->sample1, second = request->sample2;
    REQUIRE(first && second && first->filled && second->filled);
    REQUIRE(first->call.gpu == second->call.gpu);
    double busy = mean_utilization(&second->call, first->time, second->time);
    // Only the entries asked for: the caller's array may be shorter than this header's.
    for (u32 i = 0; i < request->numMetrics; i++) {
        nvmlGpmMetric_t *metric = &request->metrics[i];
        metric->nvmlReturn =
            metric_value(second->call.profile, metric->metricId, busy, &metric->value);
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
