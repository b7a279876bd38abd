// The values. With static=1 they are plain functions of the slot number; otherwise utilization is
// a slow wave, and everything that depends on it (power, clocks, temperature) follows. Counters are
// exact integrals of their rates, so that the energy counter agrees with the power readings.
#include "fake.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WAVE_MEAN 55.0
#define WAVE_HEIGHT 40.0
#define WAVE_SECONDS 10.0

static const char *const value_names[] = {
    "power_mw", "energy_mj", "temp", "temp_mem", "margin", "util_gpu", "util_mem", "util_enc",
    "util_dec", "util_jpg", "util_ofa", "mem_total", "mem_used", "mem_reserved", "bar1_used",
    "clock_graphics", "clock_sm", "clock_mem", "clock_video", "fan", "fan_rpm", "pstate", "reasons",
    "power_limit_mw", "enforced_limit_mw", "pcie_replay", "pcie_gen", "pcie_width", "pcie_tx",
    "pcie_rx", "pcie_tx_bytes", "pcie_rx_bytes", "ecc_corrected", "ecc_uncorrected",
    "sram_corrected", "sram_uncorrected", "remapped_corrected", "remapped_uncorrected",
    "remap_pending", "remap_failure", "recovery_action", "nvlink_active", "retired_pending", "fabric_status", "fabric_health",
    "ecc_mode", "persistence", "peak_mw", "sample_time_us", "sample_type", "unrepairable",
    "vgpus", "vgpu_license", "guest_license", "virtualization",
    "process_count", "process_gpu_instance", "samples_us",
};

// Names that end with a field's id or a process's.
static const char *const numbered[] = {
    "field.", "gpm.", "process_memory.", "process_sm.", "process_memory_util.", "process_encoder.",
    "process_sampled_us.", "process_ended.",
};

bool known_value(const char *name)
{
    for (size_t i = 0; i < sizeof value_names / sizeof *value_names; i++)
        if (strcmp(value_names[i], name) == 0) return true;
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        size_t length = strlen(numbered[i]);
        const char *number = name + length;
        if (strncmp(name, numbered[i], length) == 0)
            return *number && number[strspn(number, "0123456789/")] == '\0';
    }
    return false;
}

bool has_value(const struct call *call, const char *name, u64 *value)
{
    bool found = false;
    for (int i = 0; i < call->config->rules; i++) {
        const struct rule *rule = &call->config->rule[i];
        if (rule->kind != RULE_VALUE || strcmp(rule->target, name) != 0) continue;
        if (rule->gpu != ANY_GPU && rule->gpu != call->gpu) continue;
        // The last one wins, but one for this GPU beats one for all.
        if (!found || rule->gpu != ANY_GPU) *value = rule->number;
        found = true;
    }
    return found;
}

u64 value_of(const struct call *call, const char *name, u64 computed)
{
    has_value(call, name, &computed);
    return computed;
}

double model_time(const struct call *call)
{
    if (call->config->is_static) return 0.0;
    return (double)(monotonic_ns() - call->config->driver_start_ns) / 1e9;
}

static double wave(double time, int gpu)
{
    return WAVE_MEAN + WAVE_HEIGHT * sin(time / WAVE_SECONDS + gpu);
}

static double wave_integral(double time, int gpu)
{
    double swing = cos(gpu) - cos(time / WAVE_SECONDS + gpu);
    return WAVE_MEAN * time + WAVE_HEIGHT * WAVE_SECONDS * swing;
}

static double exact_utilization(const struct call *call)
{
    if (call->config->is_static) return 50 + call->gpu % 8 * 5;
    return wave(model_time(call), call->gpu);
}

double mean_utilization(const struct call *call, double from, double to)
{
    if (call->config->is_static || to <= from) return exact_utilization(call);
    return (wave_integral(to, call->gpu) - wave_integral(from, call->gpu)) / (to - from);
}

u32 utilization(const struct call *call)
{
    return (u32)value_of(call, "util_gpu", (u64)exact_utilization(call));
}

u32 memory_utilization(const struct call *call)
{
    return (u32)value_of(call, "util_mem", (u64)(exact_utilization(call) / 2));
}

// A counter began with its base when the first driver came up; a reload starts it at zero.
u64 counter_of(const struct call *call, u64 base, double per_second)
{
    u64 start = call->config->driver_epoch == 0 ? base : 0;
    return start + (u64)(per_second * model_time(call));
}

u64 power_mw(const struct call *call)
{
    double span = call->profile->tdp_mw - call->profile->idle_mw;
    u64 computed = call->profile->idle_mw + (u64)(span * exact_utilization(call) / 100);
    return value_of(call, "power_mw", computed);
}

const struct power_scope *power_scope(const struct call *call, u32 scope)
{
    const struct power_scope *found = NULL;
    if (scope == NVML_POWER_SCOPE_MODULE) found = &call->profile->module_power;
    if (scope == NVML_POWER_SCOPE_MEMORY) found = &call->profile->memory_power;
    return found && found->most_mw ? found : NULL;
}

u64 scope_power_mw(const struct call *call, const struct power_scope *scope)
{
    double span = scope->most_mw - scope->idle_mw;
    return scope->idle_mw + (u64)(span * exact_utilization(call) / 100);
}

u64 energy_mj(const struct call *call)
{
    double span = call->profile->tdp_mw - call->profile->idle_mw;
    double busy = span / 100 * wave_integral(model_time(call), call->gpu);
    u64 base = 1000000000ull * (u64)(call->gpu + 1);
    u64 computed = counter_of(call, base, call->profile->idle_mw);
    return value_of(call, "energy_mj", computed + (u64)busy);
}

u64 temperature(const struct call *call)
{
    return value_of(call, "temp", 30 + (u64)(exact_utilization(call) * 0.4));
}

u64 memory_temperature(const struct call *call)
{
    return value_of(call, "temp_mem", 35 + (u64)(exact_utilization(call) * 0.4));
}

// Each of eight memory slices holds one eighth of the memory; the largest profile has all.
static u64 share(const struct call *call, u64 bytes)
{
    if (call->instance < 0) return bytes;
    u32 slices = slot_of(call, call->instance)->slices;
    return slices == 7 ? bytes : bytes / 8 * (slices == 3 ? 4 : slices);
}

u64 memory_total(const struct call *call)
{
    return share(call, value_of(call, "mem_total", call->profile->memory));
}

u64 memory_reserved(const struct call *call)
{
    return share(call, value_of(call, "mem_reserved", call->profile->reserved));
}

u64 memory_used(const struct call *call)
{
    double used = (double)call->profile->memory * 0.4 * exact_utilization(call) / 100;
    u64 whole_mib = (u64)used & ~0xfffffull;
    return share(call, value_of(call, "mem_used", whole_mib));
}

u64 ecc_errors(const struct call *call, bool uncorrected, bool aggregate, bool sram)
{
    const char *name = uncorrected ? (sram ? "sram_uncorrected" : "ecc_uncorrected")
                                   : (sram ? "sram_corrected" : "ecc_corrected");
    u64 computed = 0;
    // Reloading the driver clears the volatile counts; the aggregate ones live on the board.
    if (call->config->driver_epoch == 0 && !sram && !uncorrected) computed = (u64)call->gpu;
    if (!sram && uncorrected) computed = call->config->uncorrected[call->gpu];
    computed = value_of(call, name, computed);
    return aggregate && !uncorrected && !sram ? computed + 10 : computed;
}

u64 remapped_rows(const struct call *call, bool uncorrected)
{
    if (!uncorrected) return value_of(call, "remapped_corrected", (u64)call->gpu % 2);
    return value_of(call, "remapped_uncorrected", call->config->uncorrected[call->gpu]);
}

u64 pcie_replays(const struct call *call)
{
    return value_of(call, "pcie_replay", counter_of(call, (u64)call->gpu, 0.01));
}

u64 max_clock_mhz(const struct call *call, nvmlClockType_t type)
{
    if (type == NVML_CLOCK_MEM) return call->profile->memory_mhz;
    return type == NVML_CLOCK_VIDEO ? call->profile->video_mhz : call->profile->sm_mhz;
}

u64 clock_mhz(const struct call *call, nvmlClockType_t type)
{
    static const char *const names[] = {"clock_graphics", "clock_sm", "clock_mem", "clock_video"};
    const double idle = 345;
    double highest = (double)max_clock_mhz(call, type);
    double busy = idle + (highest - idle) * exact_utilization(call) / 100;
    return value_of(call, names[type], (u64)(type == NVML_CLOCK_MEM ? highest : busy));
}

u64 event_reasons(const struct call *call)
{
    double busy = exact_utilization(call);
    u64 computed = nvmlClocksEventReasonNone;
    if (busy > 90) computed = nvmlClocksEventReasonSwPowerCap;
    if (busy < 16) computed = nvmlClocksEventReasonGpuIdle;
    return value_of(call, "reasons", computed);
}

u64 supported_reasons(const struct call *call)
{
    u64 reasons = nvmlClocksEventReasonGpuIdle | nvmlClocksEventReasonApplicationsClocksSetting |
                  nvmlClocksEventReasonSwPowerCap | nvmlClocksThrottleReasonHwSlowdown |
                  nvmlClocksEventReasonSyncBoost | nvmlClocksEventReasonSwThermalSlowdown;
    // nvidia-smi tells heat and the power brake apart from Pascal on.
    if (call->profile->architecture >= NVML_DEVICE_ARCH_PASCAL)
        reasons |= nvmlClocksThrottleReasonHwThermalSlowdown |
                   nvmlClocksThrottleReasonHwPowerBrakeSlowdown |
                   nvmlClocksEventReasonDisplayClockSetting;
    return reasons;
}

u64 wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (u64)now.tv_sec * 1000000ull + (u64)now.tv_nsec / 1000ull;
}

void format_uuid(const struct config *config, const struct nvmlDevice_st *device, char out[96])
{
    u32 seed = 0xfa4e0000u + config->uuid_seed * 256 + (u32)device->gpu;
    if (config->profile->uuid)
        snprintf(out, 96, "%s", config->profile->uuid);
    else if (device->instance < 0)
        snprintf(out, 96, "GPU-%08x-1111-2222-3333-%012x", seed, device->gpu + 1);
    else
        snprintf(out, 96, "MIG-%08x-4444-5555-%04x-%06x%06x", seed,
                 0x6666 ^ config->slots[device->gpu][device->instance].tag, device->gpu + 1,
                 device->instance + 1);
}

void format_serial(int gpu, char out[32])
{
    snprintf(out, 32, "16528230%05d", gpu);
}

u32 pci_bus(int gpu)
{
    return 0x1au + (u32)gpu;
}
