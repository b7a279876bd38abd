// What a model answers, beyond the features of its profile: functions and fields that came with an
// architecture, and models on which nearly everything is missing.
#include "fake.h"

static const struct {
    const char *function;
    u32 architecture;
} since[] = {
    {"nvmlDeviceGetTotalEnergyConsumption", NVML_DEVICE_ARCH_VOLTA},
    {"nvmlDeviceGetPcieThroughput", NVML_DEVICE_ARCH_MAXWELL},
    {"nvmlDeviceGetGspFirmwareVersion", NVML_DEVICE_ARCH_TURING},
    {"nvmlDeviceGetGspFirmwareMode", NVML_DEVICE_ARCH_TURING},
    {"nvmlDeviceGetProcessUtilization", NVML_DEVICE_ARCH_MAXWELL},
};

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += length) {
        bool begins = at == list || at[-1] == ' ';
        if (begins && (at[length] == ' ' || at[length] == '\0')) return true;
    }
    return false;
}

bool model_answers(const struct call *call)
{
    const char *name = call->site->name;
    const struct profile *profile = call->profile;
    if (profile->answers && !is_listed(profile->answers, name)) return false;
    if (is_listed(profile->refuses, name)) return false;
    for (size_t i = 0; i < sizeof since / sizeof *since; i++)
        if (profile->architecture < since[i].architecture && strcmp(since[i].function, name) == 0)
            return false;
    return true;
}

bool model_has_field(const struct call *call, u32 field)
{
    const struct profile *profile = call->profile;
    if (field == NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION || field == NVML_FI_DEV_ENERGY)
        return profile->architecture >= NVML_DEVICE_ARCH_VOLTA;
    for (size_t i = 0; i < MAX_RANGES && profile->no_fields[i].last; i++)
        if (field >= profile->no_fields[i].first && field <= profile->no_fields[i].last)
            return false;
    return true;
}
