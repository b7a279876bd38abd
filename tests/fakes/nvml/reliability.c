// ECC, retired pages, remapped rows.
#include "fake.h"

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current,
                                  nvmlEnableState_t *pending)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_ECC);
    u64 mode = value_of(&call, "ecc_mode", NVML_FEATURE_ENABLED);
    FAILED(put_u32(&call, current, mode));
    return put_u32(&call, pending, mode);
}

nvmlReturn_t nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_ECC);
    return put_u32(&call, mode, NVML_FEATURE_ENABLED);
}

// With ECC switched off the driver has no counters to read.
static bool counts_errors(const struct call *call)
{
    bool on = value_of(call, "ecc_mode", NVML_FEATURE_ENABLED) == NVML_FEATURE_ENABLED;
    return on && call->profile->features & HAS_ECC;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                         nvmlEccCounterType_t counter, u64 *errors)
{
    ENTER(device);
    FULL_GPU_ONLY();
    REQUIRE(type < NVML_MEMORY_ERROR_TYPE_COUNT && counter < NVML_ECC_COUNTER_TYPE_COUNT);
    SUPPORTED_IF(counts_errors(&call));
    bool uncorrected = type == NVML_MEMORY_ERROR_TYPE_UNCORRECTED;
    bool aggregate = counter == NVML_AGGREGATE_ECC;
    return put_u64(&call, errors, ecc_errors(&call, uncorrected, aggregate, false) +
                                      ecc_errors(&call, uncorrected, aggregate, true));
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                             nvmlEccCounterType_t counter,
                                             nvmlMemoryLocation_t location, u64 *errors)
{
    ENTER(device);
    FULL_GPU_ONLY();
    REQUIRE(type < NVML_MEMORY_ERROR_TYPE_COUNT && counter < NVML_ECC_COUNTER_TYPE_COUNT);
    REQUIRE(location < NVML_MEMORY_LOCATION_COUNT);
    SUPPORTED_IF(counts_errors(&call));
    // Since Turing the driver tells only device memory from everything on the chip.
    SUPPORTED_IF(location == NVML_MEMORY_LOCATION_DRAM || location == NVML_MEMORY_LOCATION_SRAM);
    return put_u64(&call, errors,
                   ecc_errors(&call, type == NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
                              counter == NVML_AGGREGATE_ECC,
                              location == NVML_MEMORY_LOCATION_SRAM));
}

nvmlReturn_t nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                            nvmlEccCounterType_t counter,
                                            nvmlEccErrorCounts_t *counts)
{
    ENTER(device);
    REQUIRE(counts && type < NVML_MEMORY_ERROR_TYPE_COUNT);
    FULL_GPU_ONLY();
    SUPPORTED_IF(counts_errors(&call));
    memset(counts, 0, sizeof *counts);
    counts->deviceMemory = ecc_errors(&call, type == NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
                                      counter == NVML_AGGREGATE_ECC, false);
    return put_struct(&call, counts, 0, sizeof *counts);
}

nvmlReturn_t nvmlDeviceGetSramEccErrorStatus(nvmlDevice_t device, nvmlEccSramErrorStatus_t *status)
{
    ENTER(device);
    REQUIRE(status);
    REQUIRE_VERSION(status, nvmlEccSramErrorStatus_v1);
    FULL_GPU_ONLY();
    SUPPORTED_IF(counts_errors(&call) && call.profile->architecture >= NVML_DEVICE_ARCH_HOPPER);
    u32 version = status->version;
    memset(status, 0, sizeof *status);
    status->version = version;
    status->volatileCor = ecc_errors(&call, false, false, true);
    status->volatileUncSecDed = ecc_errors(&call, true, false, true);
    status->aggregateCor = ecc_errors(&call, false, true, true);
    status->aggregateUncSecDed = ecc_errors(&call, true, true, true);
    status->aggregateUncBucketL2 = status->aggregateUncSecDed;
    return put_struct(&call, status, offsetof(nvmlEccSramErrorStatus_t, aggregateUncParity),
                      sizeof *status);
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, u32 *corrected, u32 *uncorrected,
                                       u32 *pending, u32 *failed_before)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_ROW_REMAP);
    FAILED(put_u32(&call, corrected, remapped_rows(&call, false)));
    FAILED(put_u32(&call, uncorrected, remapped_rows(&call, true)));
    FAILED(put_u32(&call, pending, value_of(&call, "remap_pending", 0)));
    return put_u32(&call, failed_before, value_of(&call, "remap_failure", 0));
}

nvmlReturn_t nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device,
                                               nvmlRowRemapperHistogramValues_t *banks)
{
    ENTER(device);
    REQUIRE(banks);
    FULL_GPU_ONLY();
    WITH(HAS_ROW_REMAP);
    memset(banks, 0, sizeof *banks);
    banks->high = (u32)(remapped_rows(&call, false) + remapped_rows(&call, true));
    banks->max = 1280 - banks->high;
    return put_struct(&call, banks, 0, sizeof *banks);
}

// As nvml.h has it, without a version. Only where a rule sets the flag: older drivers lack it.
nvmlReturn_t nvmlDeviceGetUnrepairableMemoryFlag_v1(nvmlDevice_t device,
                                                    nvmlUnrepairableMemoryStatus_v1_t *status)
{
    ENTER(device);
    FULL_GPU_ONLY();
    u64 flag;
    SUPPORTED_IF(has_value(&call, "unrepairable", &flag));
    return put_u32(&call, &status->bUnrepairableMemory, flag);
}

// No page is retired; only the pending state can be set.
static nvmlReturn_t put_no_pages(const struct call *call, u32 *pages)
{
    SUPPORTED_IF(call->instance < 0 && call->profile->features & HAS_RETIRED_PAGES);
    return put_u32(call, pages, 0);
}

nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device, nvmlPageRetirementCause_t cause,
                                       u32 *pages, u64 *addresses)
{
    ENTER(device);
    (void)addresses;
    REQUIRE(cause < NVML_PAGE_RETIREMENT_CAUSE_COUNT);
    return put_no_pages(&call, pages);
}

nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device, nvmlPageRetirementCause_t cause,
                                          u32 *pages, u64 *addresses, u64 *timestamps)
{
    ENTER(device);
    (void)addresses;
    (void)timestamps;
    REQUIRE(cause < NVML_PAGE_RETIREMENT_CAUSE_COUNT);
    return put_no_pages(&call, pages);
}

nvmlReturn_t nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t device, nvmlEnableState_t *pending)
{
    ENTER(device);
    FULL_GPU_ONLY();
    WITH(HAS_RETIRED_PAGES);
    return put_u32(&call, pending, value_of(&call, "retired_pending", NVML_FEATURE_DISABLED));
}
