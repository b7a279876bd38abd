// nvmlDeviceGetFieldValues: readings by number, each with a type and a result of its own.
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>

static nvmlReturn_t put_uint(nvmlFieldValue_t *field, u64 value)
{
    field->valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    field->value.uiVal = (u32)value;
    return NVML_SUCCESS;
}

static nvmlReturn_t put_sint(nvmlFieldValue_t *field, int value)
{
    field->valueType = NVML_VALUE_TYPE_SIGNED_INT;
    field->value.siVal = value;
    return NVML_SUCCESS;
}

static nvmlReturn_t put_ull(nvmlFieldValue_t *field, u64 value)
{
    field->valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
    field->value.ullVal = value;
    return NVML_SUCCESS;
}

static nvmlReturn_t ecc_field(const struct call *call, nvmlFieldValue_t *field)
{
    SUPPORTED_IF(call->profile->features & HAS_ECC);
    u64 mode = value_of(call, "ecc_mode", NVML_FEATURE_ENABLED);
    if (field->fieldId <= NVML_FI_DEV_ECC_PENDING) return put_uint(field, mode);
    SUPPORTED_IF(mode == NVML_FEATURE_ENABLED);
    u64 sbe = ecc_errors(call, false, false, false), dbe = ecc_errors(call, true, false, false);
    switch (field->fieldId) {
    case NVML_FI_DEV_ECC_SBE_VOL_TOTAL: return put_ull(field, sbe + ecc_errors(call, 0, 0, true));
    case NVML_FI_DEV_ECC_DBE_VOL_TOTAL: return put_ull(field, dbe + ecc_errors(call, 1, 0, true));
    case NVML_FI_DEV_ECC_SBE_AGG_TOTAL:
        return put_ull(field, ecc_errors(call, 0, 1, 0) + ecc_errors(call, 0, 1, 1));
    case NVML_FI_DEV_ECC_DBE_AGG_TOTAL:
        return put_ull(field, ecc_errors(call, 1, 1, 0) + ecc_errors(call, 1, 1, 1));
    case NVML_FI_DEV_ECC_SBE_VOL_DEV: return put_ull(field, sbe);
    case NVML_FI_DEV_ECC_DBE_VOL_DEV: return put_ull(field, dbe);
    case NVML_FI_DEV_ECC_SBE_AGG_DEV: return put_ull(field, ecc_errors(call, 0, 1, 0));
    case NVML_FI_DEV_ECC_DBE_AGG_DEV: return put_ull(field, ecc_errors(call, 1, 1, 0));
    default: return NVML_ERROR_NOT_SUPPORTED;
    }
}

static nvmlReturn_t retirement_field(const struct call *call, nvmlFieldValue_t *field)
{
    switch (field->fieldId) {
    case NVML_FI_DEV_REMAPPED_COR:
    case NVML_FI_DEV_REMAPPED_UNC:
    case NVML_FI_DEV_REMAPPED_PENDING:
    case NVML_FI_DEV_REMAPPED_FAILURE: SUPPORTED_IF(call->profile->features & HAS_ROW_REMAP); break;
    default: SUPPORTED_IF(call->profile->features & HAS_RETIRED_PAGES);
    }
    switch (field->fieldId) {
    case NVML_FI_DEV_REMAPPED_COR: return put_uint(field, remapped_rows(call, false));
    case NVML_FI_DEV_REMAPPED_UNC: return put_uint(field, remapped_rows(call, true));
    case NVML_FI_DEV_REMAPPED_PENDING: return put_uint(field, value_of(call, "remap_pending", 0));
    case NVML_FI_DEV_REMAPPED_FAILURE: return put_uint(field, value_of(call, "remap_failure", 0));
    case NVML_FI_DEV_RETIRED_PENDING: return put_uint(field, value_of(call, "retired_pending", 0));
    default: return put_uint(field, 0);
    }
}

static nvmlReturn_t throttle_field(const struct call *call, nvmlFieldValue_t *field)
{
    // Nanoseconds; the thermal policy counter is not kept by any of these models.
    SUPPORTED_IF(field->fieldId != NVML_FI_DEV_PERF_POLICY_THERMAL);
    return put_ull(field, counter_of(call, (u64)call->gpu * 1000 + field->fieldId, 1e6));
}

// Other scopes than the GPU's (module, memory) exist on combined CPU and GPU boards only: where
// the profile or a value rule has them.
static nvmlReturn_t scope_field(const struct call *call, nvmlFieldValue_t *field)
{
    REQUIRE(field->scopeId < NVML_POWER_SCOPE_COUNT);
    const struct power_scope *scope = power_scope(call, field->scopeId);
    u64 value = 0;
    if (scope) switch (field->fieldId) {
    case NVML_FI_DEV_POWER_AVERAGE:
    case NVML_FI_DEV_POWER_INSTANT: value = scope_power_mw(call, scope); break;
    case NVML_FI_DEV_POWER_MIN_LIMIT: value = scope->min_limit_mw; break;
    case NVML_FI_DEV_POWER_MAX_LIMIT: value = scope->max_limit_mw; break;
    default: value = scope->default_limit_mw;
    }
    char name[48];
    snprintf(name, sizeof name, "field.%u/%u", field->fieldId, field->scopeId);
    SUPPORTED_IF(has_value(call, name, &value) || value);
    return put_uint(field, value);
}

static nvmlReturn_t power_field(const struct call *call, nvmlFieldValue_t *field)
{
    const struct profile *profile = call->profile;
    if (field->scopeId != NVML_POWER_SCOPE_GPU) return scope_field(call, field);
    switch (field->fieldId) {
    case NVML_FI_DEV_POWER_INSTANT: return put_uint(field, power_mw(call));
    case NVML_FI_DEV_POWER_AVERAGE:
        SUPPORTED_IF(profile->features & HAS_AVERAGE_POWER);
        return put_uint(field, power_mw(call));
    default: SUPPORTED_IF(profile->features & HAS_POWER_LIMIT);
    }
    u64 requested = value_of(call, "power_limit_mw", profile->tdp_mw);
    switch (field->fieldId) {
    case NVML_FI_DEV_POWER_MIN_LIMIT: return put_uint(field, profile->min_limit_mw);
    case NVML_FI_DEV_POWER_CURRENT_LIMIT:
        return put_uint(field, value_of(call, "enforced_limit_mw", requested));
    case NVML_FI_DEV_POWER_REQUESTED_LIMIT: return put_uint(field, requested);
    default: return put_uint(field, profile->tdp_mw);
    }
}

static nvmlReturn_t tlimit_field(const struct call *call, nvmlFieldValue_t *field)
{
    SUPPORTED_IF(call->profile->features & HAS_TLIMIT);
    switch (field->fieldId) {
    case NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT: return put_sint(field, -5);
    case NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT: return put_sint(field, -2);
    case NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT:
        SUPPORTED_IF(call->profile->features & HAS_MEMORY_TEMPERATURE);
        return put_sint(field, 0);
    default: return put_sint(field, 0);
    }
}

static nvmlReturn_t pcie_field(const struct call *call, nvmlFieldValue_t *field)
{
    SUPPORTED_IF(call->profile->features & HAS_PCIE);
    u64 base = 5000000000ull + (u64)call->gpu;
    switch (field->fieldId) {
    case NVML_FI_DEV_PCIE_REPLAY_COUNTER: return put_uint(field, pcie_replays(call));
    case NVML_FI_DEV_PCIE_COUNT_TX_BYTES:
        return put_ull(field, value_of(call, "pcie_tx_bytes", counter_of(call, base, 2e9)));
    case NVML_FI_DEV_PCIE_COUNT_RX_BYTES:
        return put_ull(field, value_of(call, "pcie_rx_bytes", counter_of(call, base, 1e9)));
    default: return put_uint(field, 0);
    }
}

// Counters of one link, or of all when the scope is all ones.
static nvmlReturn_t nvlink_field(const struct call *call, nvmlFieldValue_t *field)
{
    const struct profile *profile = call->profile;
    SUPPORTED_IF(profile->nvlinks);
    bool together = field->scopeId == ALL_LINKS;
    REQUIRE(together || field->scopeId < profile->nvlinks);
    u64 links = together ? profile->nvlinks : 1;
    switch (field->fieldId) {
    case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX:
    case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX:
    case NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX:
    case NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX:
        return put_ull(field, counter_of(call, 1000000, 1e6) * links);
    case NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES:
    case NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES:
        SUPPORTED_IF(profile->nvlink_version >= 5);
        return put_ull(field, counter_of(call, 1000000000, 1e9) * links);
    case NVML_FI_DEV_NVLINK_GET_SPEED:
        REQUIRE(!together);
        return put_uint(field, profile->nvlink_mbps);
    case NVML_FI_DEV_NVLINK_GET_VERSION: return put_uint(field, profile->nvlink_version);
    case NVML_FI_DEV_NVLINK_GET_STATE:
        REQUIRE(!together);
        return put_uint(field,
                        field->scopeId < value_of(call, "nvlink_active", profile->nvlinks));
    default:  // 206 to 215 and 221: the error counters of NVLink 5
        SUPPORTED_IF(profile->nvlink_version >= 5);
        return put_ull(field, 0);
    }
}

static nvmlReturn_t nvlink_total(const struct call *call, nvmlFieldValue_t *field)
{
    SUPPORTED_IF(call->profile->nvlinks);
    switch (field->fieldId) {
    case NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON: return put_uint(field, call->profile->nvlink_mbps);
    case NVML_FI_DEV_NVLINK_LINK_COUNT:
    case NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT: return put_uint(field, call->profile->nvlinks);
    default: SUPPORTED_IF(call->profile->nvlink_version < 5); return put_ull(field, 0);
    }
}

static nvmlReturn_t computed_field(const struct call *call, nvmlFieldValue_t *field)
{
    switch (field->fieldId) {
    case NVML_FI_DEV_ECC_CURRENT ... NVML_FI_DEV_ECC_DBE_AGG_CBU: return ecc_field(call, field);
    case NVML_FI_DEV_RETIRED_SBE ... NVML_FI_DEV_RETIRED_PENDING:
    case NVML_FI_DEV_RETIRED_PENDING_SBE ... NVML_FI_DEV_RETIRED_PENDING_DBE:
    case NVML_FI_DEV_REMAPPED_COR ... NVML_FI_DEV_REMAPPED_FAILURE:
        return retirement_field(call, field);
    case NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL:
    case NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL:
    case NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL:
    case NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL:
    case NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL:
    case NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON:
    case NVML_FI_DEV_NVLINK_LINK_COUNT:
    case NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT: return nvlink_total(call, field);
    case NVML_FI_DEV_PERF_POLICY_POWER ... NVML_FI_DEV_PERF_POLICY_TOTAL_BASE_CLOCKS:
    case NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN ...
        NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN:
        return throttle_field(call, field);
    case NVML_FI_DEV_MEMORY_TEMP:
        SUPPORTED_IF(call->profile->features & HAS_MEMORY_TEMPERATURE);
        return put_uint(field, memory_temperature(call));
    case NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION:
    case NVML_FI_DEV_ENERGY: return put_ull(field, energy_mj(call));
    case NVML_FI_DEV_PCIE_REPLAY_COUNTER ... NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER:
    case NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS ... NVML_FI_DEV_PCIE_COUNT_LCRC_ERROR:
    case NVML_FI_DEV_PCIE_COUNT_TX_BYTES ... NVML_FI_DEV_PCIE_COUNT_RX_BYTES:
        return pcie_field(call, field);
    case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX ... NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX:
    case NVML_FI_DEV_NVLINK_GET_SPEED ... NVML_FI_DEV_NVLINK_GET_VERSION:
    case NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES:
    case NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES:
    case NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS ...
        NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS:
    case NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS:
        return nvlink_field(call, field);
    case NVML_FI_DEV_POWER_AVERAGE ... NVML_FI_DEV_POWER_CURRENT_LIMIT:
    case NVML_FI_DEV_POWER_REQUESTED_LIMIT: return power_field(call, field);
    case NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT ... NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT:
        return tlimit_field(call, field);
    case NVML_FI_PWR_SMOOTHING_ENABLED ... NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_RAMP_DOWN_HYST_VAL:
        // Settings, not readings; on the boards of Blackwell's data centres.
        SUPPORTED_IF(call->profile->architecture >= NVML_DEVICE_ARCH_BLACKWELL &&
                     call->profile->nvlinks);
        return put_uint(field, 7);
    case NVML_FI_DEV_GET_GPU_RECOVERY_ACTION:
        return put_uint(field, value_of(call, "recovery_action", NVML_GPU_RECOVERY_ACTION_NONE));
    default: return NVML_ERROR_NOT_SUPPORTED;
    }
}

static nvmlReturn_t field_of_driver(const struct call *call, nvmlFieldValue_t *field)
{
    u32 asked = field->fieldId, number = field_by_number(asked);
    REQUIRE(number);
    SUPPORTED_IF(model_has_field(call, number));
    field->fieldId = number;
    nvmlReturn_t result = computed_field(call, field);
    field->fieldId = asked;
    return result;
}

// Whether a rule's target, "ID" or "ID/SCOPE", is this field.
static bool names_field(const struct rule *rule, const nvmlFieldValue_t *field)
{
    char *rest;
    if (strtoul(rule->target, &rest, 0) != field->fieldId) return false;
    return *rest != '/' || strtoul(rest + 1, NULL, 0) == field->scopeId;
}

static nvmlReturn_t field_fault(const struct call *call, const nvmlFieldValue_t *field,
                                enum rule_kind kind)
{
    for (int i = 0; i < call->config->rules; i++) {
        struct rule *rule = &call->config->rule[i];
        if (rule->kind != kind || !names_field(rule, field)) continue;
        if (rule->gpu != ANY_GPU && rule->gpu != call->gpu) continue;
        if (atomic_fetch_add(&rule->matched, 1) >= rule->after) return rule->error;
    }
    return NVML_SUCCESS;
}

// A value for one scope beats one for the field.
static bool given_value(const struct call *call, const nvmlFieldValue_t *field, u64 *value)
{
    char name[48];
    snprintf(name, sizeof name, "field.%u/%u", field->fieldId, field->scopeId);
    if (has_value(call, name, value)) return true;
    snprintf(name, sizeof name, "field.%u", field->fieldId);
    return has_value(call, name, value);
}

static void read_field(const struct call *call, nvmlFieldValue_t *field)
{
    field->timestamp = (long long)wall_us();
    field->latencyUsec = (long long)call->config->field_latency_us;
    field->value.ullVal = 0;
    field->nvmlReturn = field_fault(call, field, RULE_FIELD_ERROR);
    if (field->nvmlReturn != NVML_SUCCESS) return;
    // An instance has no sensors or links of its own.
    field->nvmlReturn = call->instance < 0 ? field_of_driver(call, field) : NVML_ERROR_NOT_SUPPORTED;
    if (field->nvmlReturn != NVML_SUCCESS) return;
    u64 given;
    bool wide = field->valueType == NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
    if (given_value(call, field, &given)) field->value.ullVal = wide ? given : (u32)given;
    if (call->all_ones) field->value.ullVal = wide ? UINT64_MAX : UINT32_MAX;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *fields)
{
    ENTER(device);
    REQUIRE(fields && count > 0);
    if (call.config->field_latency_us) pause_us(call.config->field_latency_us * (u64)count);
    for (int i = 0; i < count; i++) FAILED(field_fault(&call, &fields[i], RULE_FIELD_REFUSAL));
    for (int i = 0; i < count; i++) read_field(&call, &fields[i]);
    return NVML_SUCCESS;
}
