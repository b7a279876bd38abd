// Clocks, performance states, and why clocks are held down.
#include "fake.h"

static nvmlReturn_t put_clock(const struct call *call, nvmlClockType_t type, u64 mhz, u32 *out)
{
    REQUIRE(type < NVML_CLOCK_COUNT);
    SUPPORTED_IF(call->instance < 0 && max_clock_mhz(call, type) > 0);
    return put_u32(call, out, mhz);
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, u32 *mhz)
{
    ENTER(device);
    REQUIRE(type < NVML_CLOCK_COUNT);
    return put_clock(&call, type, clock_mhz(&call, type), mhz);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, u32 *mhz)
{
    ENTER(device);
    return put_clock(&call, type, max_clock_mhz(&call, type), mhz);
}

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t id,
                                u32 *mhz)
{
    ENTER(device);
    REQUIRE(type < NVML_CLOCK_COUNT && id < NVML_CLOCK_ID_COUNT);
    bool now = id == NVML_CLOCK_ID_CURRENT;
    return put_clock(&call, type, now ? clock_mhz(&call, type) : max_clock_mhz(&call, type), mhz);
}

nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t type, u32 *mhz)
{
    ENTER(device);
    return put_clock(&call, type, max_clock_mhz(&call, type), mhz);
}

nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, nvmlClockType_t type,
                                                   u32 *mhz)
{
    ENTER(device);
    return put_clock(&call, type, max_clock_mhz(&call, type), mhz);
}

nvmlReturn_t nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, nvmlClockType_t type, u32 *mhz)
{
    ENTER(device);
    return put_clock(&call, type, max_clock_mhz(&call, type), mhz);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t *state)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, state, value_of(&call, "pstate", NVML_PSTATE_0));
}

nvmlReturn_t nvmlDeviceGetPowerState(nvmlDevice_t device, nvmlPstates_t *state)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u32(&call, state, value_of(&call, "pstate", NVML_PSTATE_0));
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, u64 *reasons)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u64(&call, reasons, event_reasons(&call));
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, u64 *reasons)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u64(&call, reasons, event_reasons(&call));
}

nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device, u64 *reasons)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u64(&call, reasons, supported_reasons(&call));
}

nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device, u64 *reasons)
{
    ENTER(device);
    FULL_GPU_ONLY();
    return put_u64(&call, reasons, supported_reasons(&call));
}

nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t policy,
                                          nvmlViolationTime_t *violation)
{
    ENTER(device);
    REQUIRE(violation && policy < NVML_PERF_POLICY_COUNT);
    FULL_GPU_ONLY();
    violation->referenceTime = wall_us();
    violation->violationTime = counter_of(&call, (u64)call.gpu * 1000, 1e6);
    return put_struct(&call, violation, 0, sizeof *violation);
}
