// What the files of the fake libnvidia-ml.so.1 share. README.md lists the configuration keys.
#ifndef FAKE_NVML_H
#define FAKE_NVML_H

// The unversioned entry points (nvmlDeviceGetCount, ...) are symbols of their own.
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned int u32;
typedef unsigned long long u64;

#define MAX_GPUS 64
#define MAX_INSTANCES 7
#define MAX_RULES 256
#define MAX_PIDS 256
#define ANY_GPU (-1)
#define ALL_LINKS 0xffffffffu

// ---- profiles.c: what a GPU model is and which readings it supports

enum feature {
    HAS_ECC = 1 << 0,
    HAS_ROW_REMAP = 1 << 1,
    HAS_RETIRED_PAGES = 1 << 2,
    HAS_MEMORY_TEMPERATURE = 1 << 3,
    HAS_AVERAGE_POWER = 1 << 4,  // field 185, separate from the instantaneous 186
    HAS_POWER_LIMIT = 1 << 5,
    HAS_THRESHOLDS = 1 << 6,  // absolute thresholds, dropped from Hopper on
    HAS_TLIMIT = 1 << 7,      // thresholds as margins, Ada and later
    HAS_JPEG_AND_OFA = 1 << 8,
    HAS_GPM = 1 << 9,
    HAS_FABRIC = 1 << 10,
    HAS_SERIAL = 1 << 11,
    HAS_MEMORY_INFO = 1 << 12,  // absent where the GPU shares the host's memory
    HAS_PCIE = 1 << 13,
    HAS_PROCESS_MEMORY = 1 << 14,  // memory of each process; WSL has none
};

#define MAX_RANGES 4

struct range {
    u32 first, last;
};

// Power of a board in a scope of its own (NVML_POWER_SCOPE_*); a highest power of 0: no such scope.
struct power_scope {
    u32 idle_mw, most_mw;              // the reading follows the utilization from one to the other
    u32 default_limit_mw, max_limit_mw, min_limit_mw;  // 0: the scope has no limits
    bool instant;                      // field 186 answers as well as the average, 185
};

struct profile {
    const char *key, *name, *slice, *vbios, *part_number;
    u64 memory, reserved, bar1;             // bytes
    u32 tdp_mw, idle_mw, min_limit_mw;      // milliwatts
    u32 cores, multiprocessors, bus_width;  // bus width in bits
    u32 sm_mhz, memory_mhz, video_mhz;      // highest clocks
    u32 pcie_generation, architecture, compute_major, compute_minor;
    u32 nvlinks, nvlink_version, nvlink_mbps, fans, pci_device_id;
    nvmlBrandType_t brand;
    u32 features;
    const char *uuid;                   // the same on each board, where set
    const char *answers, *refuses;      // functions with a device: only these; all but these
    struct range no_fields[MAX_RANGES];
    u32 thresholds[4];                  // by nvmlTemperatureThresholds_t; 0: not supported
    struct power_scope module_power, memory_power;  // the GPU's own are above
};

struct call;

const struct profile *find_profile(const char *key);

// ---- support.c: what a model answers

bool model_answers(const struct call *call);
bool model_has_field(const struct call *call, u32 field);

// ---- drivers.c: what a driver branch has

const char *driver_version(void);
int cuda_version(void);
u32 field_by_number(u32 number);  // the header's number, 0 where the driver does not know it

// ---- config.c: the settings and fault rules in force

enum rule_kind {
    RULE_LATENCY, RULE_ERROR, RULE_FIELD_ERROR, RULE_FIELD_REFUSAL, RULE_GPM_ERROR, RULE_HANG,
    RULE_ALL_ONES, RULE_VALUE
};

struct rule {
    enum rule_kind kind;
    char target[80];  // a function, "*", a field id or the name of a value
    int gpu;          // ANY_GPU or the slot it is meant for
    u64 number;       // latency in microseconds, or the value
    nvmlReturn_t error;
    u64 after;            // calls that still succeed
    _Atomic u64 matched;  // calls seen so far
};

// A MIG compute instance, and the GPU instance that it is part of.
struct slot {
    u32 gpu_instance, compute_instance;
    u32 slices, compute_slices;  // of the GPU instance, and of the compute instance
    u32 tag;                     // another one makes it another instance in the same place
};

enum process_kind { COMPUTE, GRAPHICS, MPS, PROCESS_KINDS };

struct pid_list {
    enum process_kind kind;
    int gpu, count;
    u32 pids[MAX_PIDS];
};

// Published as a whole and never changed or freed afterwards (but for the atomic counters), so that
// a call reads it without a lock; a reload leaves a few dozen kilobytes behind.
struct config {
    u64 generation;
    const struct profile *profile;
    int gpus, processes, process_layout, instances[MAX_GPUS];
    struct slot slots[MAX_GPUS][MAX_INSTANCES];
    bool mig_mode[MAX_GPUS];  // also without any instance
    bool is_static, hidden[MAX_GPUS], lost[MAX_GPUS];
    u64 lost_after[MAX_GPUS], uncorrected[MAX_GPUS];
    _Atomic u64 device_calls[MAX_GPUS];
    u64 latency_us, field_latency_us, driver_epoch, driver_start_ns;
    u32 uuid_seed;
    nvmlReturn_t init_error;
    char driver[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE], name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
    char xid[1024];
    char module[64];  // what the library's real path must hold to fit the kernel module
    int pid_lists;
    struct pid_list pids[PROCESS_KINDS * (MAX_GPUS + 1)];
    int rules;
    struct rule rule[MAX_RULES];
};

struct config *current_config(void);
bool fits_module(const struct config *config);
bool start_config(void);            // at nvmlInit: reads the environment; false when it is wrong
void refresh_config(bool at_once);  // at each call: reads the file again when it changed
void pause_us(u64 microseconds);
u64 monotonic_ns(void);

// parse.c
bool parse_config(struct config *config, char *text);
bool error_by_name(const char *name, nvmlReturn_t *error);

// ---- call.c: what every entry point does first

struct session;

struct nvmlDevice_st {
    u32 magic;
    struct session *session;
    int gpu;       // slot: stays with the UUID when another GPU disappears
    int instance;  // MIG instance, or -1
};

struct session {
    u64 driver_epoch;
    size_t first_event;  // that no event set has seen
    u64 first_taken;     // how many of it one has seen
    struct nvmlDevice_st full[MAX_GPUS], instances[MAX_GPUS][MAX_INSTANCES];
};

struct site {
    const char *name;
    _Atomic u64 quiet_generation;  // configuration in which no rule names this function
    _Atomic u64 stats_generation;
    _Atomic(struct counter *) counter;
};

struct call {
    struct site *site;
    struct config *config;
    const struct profile *profile;
    struct session *session;
    nvmlDevice_t device;
    int gpu, instance;
    bool all_ones;
};

nvmlReturn_t begin_call(struct site *site, struct call *call);
nvmlReturn_t resolve_device(struct call *call, nvmlDevice_t device);
nvmlReturn_t apply_faults(struct call *call);
nvmlReturn_t enter_system(struct site *site, struct call *call);
nvmlReturn_t enter_device(struct site *site, struct call *call, nvmlDevice_t device);
void set_session(struct session *session);
struct session *current_session(void);

#define FAILED(expression)                        \
    do {                                          \
        nvmlReturn_t failed = (expression);       \
        if (failed != NVML_SUCCESS) return failed; \
    } while (0)

// Opens an entry point: counts the call, checks the session and the handle, applies the faults.
#define ENTER(device)                              \
    static struct site site = {.name = __func__}; \
    struct call call;                              \
    FAILED(enter_device(&site, &call, device))
#define ENTER_SYSTEM()                             \
    static struct site site = {.name = __func__}; \
    struct call call;                              \
    FAILED(enter_system(&site, &call))
#define REQUIRE(condition)                                   \
    do {                                                     \
        if (!(condition)) return NVML_ERROR_INVALID_ARGUMENT; \
    } while (0)
#define REQUIRE_VERSION(structure, expected) \
    if ((structure)->version != (expected)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH
#define SUPPORTED_IF(condition) \
    if (!(condition)) return NVML_ERROR_NOT_SUPPORTED
#define WITH(feature) SUPPORTED_IF(call.profile->features & (feature))
#define FULL_GPU_ONLY() SUPPORTED_IF(call.instance < 0)
// Utilization of a partitioned GPU is unknown to the driver, for the GPU as for its instances.
#define NOT_IN_MIG_MODE() SUPPORTED_IF(call.instance < 0 && !call.config->mig_mode[call.gpu])

nvmlReturn_t put_u32(const struct call *call, u32 *out, u64 value);
nvmlReturn_t put_u64(const struct call *call, u64 *out, u64 value);
nvmlReturn_t put_int(const struct call *call, int *out, int value);
nvmlReturn_t put_text(const struct call *call, char *out, u32 size, const char *text);
// Ends a call that filled a structure; its first `keep` bytes (the version) survive all_ones.
nvmlReturn_t put_struct(const struct call *call, void *out, size_t keep, size_t size);

// stats.c
void open_stats(void);
void count_call(struct site *site);

// ---- model.c: the values

bool known_value(const char *name);
u64 value_of(const struct call *call, const char *name, u64 computed);
bool has_value(const struct call *call, const char *name, u64 *value);
double model_time(const struct call *call);    // seconds since the driver came up, 0 if static
double mean_utilization(const struct call *call, double from, double to);  // percent
u64 counter_of(const struct call *call, u64 base, double per_second);
u32 utilization(const struct call *call);
u32 memory_utilization(const struct call *call);
u64 power_mw(const struct call *call);
// The module or the memory as NVML_POWER_SCOPE_*; NULL where the board has no such scope.
const struct power_scope *power_scope(const struct call *call, u32 scope);
u64 scope_power_mw(const struct call *call, const struct power_scope *scope);
u64 energy_mj(const struct call *call);
u64 temperature(const struct call *call);
u64 memory_temperature(const struct call *call);
u64 memory_total(const struct call *call);
u64 memory_reserved(const struct call *call);
u64 memory_used(const struct call *call);
u64 ecc_errors(const struct call *call, bool uncorrected, bool aggregate, bool sram);
u64 remapped_rows(const struct call *call, bool uncorrected);
u64 pcie_replays(const struct call *call);
u64 clock_mhz(const struct call *call, nvmlClockType_t type);
u64 max_clock_mhz(const struct call *call, nvmlClockType_t type);
u64 event_reasons(const struct call *call);
u64 supported_reasons(const struct call *call);
u64 wall_us(void);
void format_uuid(const struct config *config, const struct nvmlDevice_st *device, char out[96]);
void format_serial(int gpu, char out[32]);
u32 pci_bus(int gpu);

// mig.c
bool parse_layout(struct config *config, int gpu, char *text);
const struct slot *slot_of(const struct call *call, int instance);
int instance_by_gpu_instance(const struct call *call, u32 gpu_instance);

// events.c
size_t posted_events(void);
bool valid_xid(const char *item);
void post_events(const struct config *config, bool anew);

#endif
