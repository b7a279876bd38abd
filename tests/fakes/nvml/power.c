// Power, energy, temperatures, fans.
#include "fake.h"

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, u32 *milliwatts)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, milliwatts, power_mw(&call));
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, u64 *millijoules)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u64(&call, millijoules, energy_mj(&call));
}

nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_POWER_LIMIT);
    return put_u32(&call, mode, NVML_FEATURE_ENABLED);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, u32 *milliwatts)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_POWER_LIMIT);
    return put_u32(&call, milliwatts, value_of(&call, "power_limit_mw", call.profile->tdp_mw));
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, u32 *milliwatts)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_POWER_LIMIT);
    u64 requested = value_of(&call, "power_limit_mw", call.profile->tdp_mw);
    return put_u32(&call, milliwatts, value_of(&call, "enforced_limit_mw", requested));
}

nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device, u32 *milliwatts)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_POWER_LIMIT);
    return put_u32(&call, milliwatts, call.profile->tdp_mw);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, u32 *lowest,
                                                          u32 *highest)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_POWER_LIMIT);
    FAILED(put_u32(&call, lowest, call.profile->min_limit_mw));
    return put_u32(&call, highest, call.profile->tdp_mw);
}

nvmlReturn_t nvmlDeviceGetPowerSource(nvmlDevice_t device, nvmlPowerSource_t *source)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, source, NVML_POWER_SOURCE_AC);
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor,
                                      u32 *celsius)
{
    ENTER(device);
    FULL_GPU_ONLY();
    REQUIRE(sensor == NVML_TEMPERATURE_GPU);
    return put_u32(&call, celsius, temperature(&call));
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t *reading)
{
    ENTER(device);
    REQUIRE(reading);
    REQUIRE_VERSION(reading, nvmlTemperature_v1);
    FULL_GPU_ONLY();
    REQUIRE(reading->sensorType == NVML_TEMPERATURE_GPU);
    return put_int(&call, &reading->temperature, (int)temperature(&call));
}

nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device, nvmlMarginTemperature_t *margin)
{
    ENTER(device);
    REQUIRE(margin);
    REQUIRE_VERSION(margin, nvmlMarginTemperature_v1);
    FULL_GPU_ONLY();
    WITH(HAS_TLIMIT);
    u64 left = 87 - temperature(&call);
    return put_int(&call, &margin->marginTemperature, (int)value_of(&call, "margin", left));
}

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
                                               nvmlTemperatureThresholds_t threshold, u32 *celsius)
{
    ENTER(device);
    FULL_GPU_ONLY();
    REQUIRE(threshold < NVML_TEMPERATURE_THRESHOLD_COUNT);
    // Only a board with fans has an acoustic target (least, present, most).
    if (threshold >= NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN &&
        threshold <= NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX) {
        static const u32 acoustic[] = {65, 83, 91};
        SUPPORTED_IF(call.profile->fans);
        return put_u32(&call, celsius,
                       acoustic[threshold - NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN]);
    }
    SUPPORTED_IF(threshold <= NVML_TEMPERATURE_THRESHOLD_GPU_MAX);
    WITH(HAS_THRESHOLDS);
    SUPPORTED_IF(call.profile->thresholds[threshold]);
    return put_u32(&call, celsius, call.profile->thresholds[threshold]);
}

nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t device, u32 *fans)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, fans, call.profile->fans);
}

static u64 fan_percent(const struct call *call)
{
    return value_of(call, "fan", 30 + utilization(call) / 2);
}

nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, u32 *percent)
{
    ENTER(device);
    FULL_GPU_ONLY();
    SUPPORTED_IF(call.profile->fans);
    return put_u32(&call, percent, fan_percent(&call));
}

nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, u32 fan, u32 *percent)
{
    ENTER(device);
    FULL_GPU_ONLY();
    SUPPORTED_IF(call.profile->fans);
    REQUIRE(fan < call.profile->fans);
    return put_u32(&call, percent, fan_percent(&call));
}

nvmlReturn_t nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, u32 fan, u32 *percent)
{
    ENTER(device);
    FULL_GPU_ONLY();
    SUPPORTED_IF(call.profile->fans);
    REQUIRE(fan < call.profile->fans);
    return put_u32(&call, percent, fan_percent(&call));
}

nvmlReturn_t nvmlDeviceGetMinMaxFanSpeed(nvmlDevice_t device, u32 *lowest, u32 *highest)
{
    ENTER(device);
    FULL_GPU_ONLY();
    SUPPORTED_IF(call.profile->fans);
    FAILED(put_u32(&call, lowest, 30));
    return put_u32(&call, highest, 100);
}

nvmlReturn_t nvmlDeviceGetFanSpeedRPM(nvmlDevice_t device, nvmlFanSpeedInfo_t *info)
{
    ENTER(device);
    REQUIRE(info);
    REQUIRE_VERSION(info, nvmlFanSpeedInfo_v1);
    FULL_GPU_ONLY();
    SUPPORTED_IF(call.profile->fans);
    REQUIRE(info->fan < call.profile->fans);
    return put_u32(&call, &info->speed, value_of(&call, "fan_rpm", fan_percent(&call) * 30));
}

#define SAMPLES 120
#define SAMPLE_US 100000ull

// Power every 100 ms until `sample_time_us` (now); `peak_mw` is the power of the newest sample.
nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type, u64 last_seen,
                                  nvmlValueType_t *value_type, u32 *count, nvmlSample_t *samples)
{
    ENTER(device);
    REQUIRE(count && value_type);
    SUPPORTED_IF(type == NVML_TOTAL_POWER_SAMPLES);
    FULL_GPU_ONLY();
    *value_type = (nvmlValueType_t)value_of(&call, "sample_type", NVML_VALUE_TYPE_UNSIGNED_INT);
    if (!samples) return put_u32(&call, count, SAMPLES);
    REQUIRE(*count > 0);
    u64 newest = value_of(&call, "sample_time_us", wall_us());
    u32 filled = 0;
    for (u32 back = SAMPLES; back-- > 0 && filled < *count;) {
        u64 time = newest - back * SAMPLE_US;
        if (time <= last_seen) continue;
        samples[filled].timeStamp = time;
        samples[filled].sampleValue.ullVal = 0;
        u64 power = power_mw(&call);
        if (back == 0) power = value_of(&call, "peak_mw", power);
        samples[filled++].sampleValue.uiVal = call.all_ones ? UINT32_MAX : (u32)power;
    }
    if (filled == 0) return NVML_ERROR_NOT_FOUND;
    *count = filled;
    return NVML_SUCCESS;
}
