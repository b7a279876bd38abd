// Sizes of the structures as this compiler lays them out, for the test that compares them with
// the ones that pynvml declares.
#include "fake.h"

#define SIZE(type) {#type, sizeof(type)}

static const struct {
    const char *name;
    size_t size;
} sizes[] = {
    SIZE(nvmlPciInfo_t), SIZE(nvmlPciInfoExt_v1_t), SIZE(nvmlEccErrorCounts_t),
    SIZE(nvmlUtilization_t), SIZE(nvmlMemory_t), SIZE(nvmlMemory_v2_t), SIZE(nvmlBAR1Memory_t),
    SIZE(nvmlProcessInfo_t), SIZE(nvmlDeviceAttributes_t), SIZE(nvmlRowRemapperHistogramValues_t),
    SIZE(nvmlViolationTime_t), SIZE(nvmlTemperature_v1_t), SIZE(nvmlMarginTemperature_v1_t),
    SIZE(nvmlEccSramErrorStatus_v1_t), SIZE(nvmlProcessUtilizationSample_t),
    SIZE(nvmlProcessUtilizationInfo_v1_t), SIZE(nvmlProcessesUtilizationInfo_v1_t),
    SIZE(nvmlFieldValue_t), SIZE(nvmlValue_t), SIZE(nvmlEventData_t), SIZE(nvmlGpmMetric_t),
    SIZE(nvmlGpmMetricsGet_t), SIZE(nvmlGpmSupport_t), SIZE(nvmlGpuFabricInfo_t),
    SIZE(nvmlGpuFabricInfo_v2_t), SIZE(nvmlGpuFabricInfo_v3_t), SIZE(nvmlFanSpeedInfo_v1_t),
    SIZE(nvmlGpuDynamicPstatesInfo_t), SIZE(nvmlSystemDriverBranchInfo_v1_t),
};

// 0 for a structure that is not in the table.
size_t fake_nvml_struct_size(const char *name)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(sizes[i].name, name) == 0) return sizes[i].size;
    return 0;
}
