// Reads `key=value` pairs, divided by line ends or semicolons. Anything it does not know is an
// error: a misspelt fault would let a test pass without the fault.
#define _GNU_SOURCE
#include "fake.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const struct {
    const char *name;
    nvmlReturn_t value;
} errors[] = {
    {"UNINITIALIZED", NVML_ERROR_UNINITIALIZED},
    {"INVALID_ARGUMENT", NVML_ERROR_INVALID_ARGUMENT},
    {"NOT_SUPPORTED", NVML_ERROR_NOT_SUPPORTED},
    {"NO_PERMISSION", NVML_ERROR_NO_PERMISSION},
    {"NOT_FOUND", NVML_ERROR_NOT_FOUND},
    {"INSUFFICIENT_SIZE", NVML_ERROR_INSUFFICIENT_SIZE},
    {"INSUFFICIENT_POWER", NVML_ERROR_INSUFFICIENT_POWER},
    {"DRIVER_NOT_LOADED", NVML_ERROR_DRIVER_NOT_LOADED},
    {"TIMEOUT", NVML_ERROR_TIMEOUT},
    {"IRQ_ISSUE", NVML_ERROR_IRQ_ISSUE},
    {"LIBRARY_NOT_FOUND", NVML_ERROR_LIBRARY_NOT_FOUND},
    {"FUNCTION_NOT_FOUND", NVML_ERROR_FUNCTION_NOT_FOUND},
    {"CORRUPTED_INFOROM", NVML_ERROR_CORRUPTED_INFOROM},
    {"GPU_IS_LOST", NVML_ERROR_GPU_IS_LOST},
    {"RESET_REQUIRED", NVML_ERROR_RESET_REQUIRED},
    {"OPERATING_SYSTEM", NVML_ERROR_OPERATING_SYSTEM},
    {"LIB_RM_VERSION_MISMATCH", NVML_ERROR_LIB_RM_VERSION_MISMATCH},
    {"IN_USE", NVML_ERROR_IN_USE},
    {"MEMORY", NVML_ERROR_MEMORY},
    {"NO_DATA", NVML_ERROR_NO_DATA},
    {"VGPU_ECC_NOT_SUPPORTED", NVML_ERROR_VGPU_ECC_NOT_SUPPORTED},
    {"INSUFFICIENT_RESOURCES", NVML_ERROR_INSUFFICIENT_RESOURCES},
    {"FREQ_NOT_SUPPORTED", NVML_ERROR_FREQ_NOT_SUPPORTED},
    {"ARGUMENT_VERSION_MISMATCH", NVML_ERROR_ARGUMENT_VERSION_MISMATCH},
    {"DEPRECATED", NVML_ERROR_DEPRECATED},
    {"NOT_READY", NVML_ERROR_NOT_READY},
    {"GPU_NOT_FOUND", NVML_ERROR_GPU_NOT_FOUND},
    {"INVALID_STATE", NVML_ERROR_INVALID_STATE},
    {"UNKNOWN", NVML_ERROR_UNKNOWN},
};

bool error_by_name(const char *name, nvmlReturn_t *error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (strcasecmp(errors[i].name, name) == 0) {
            *error = errors[i].value;
            return true;
        }
    }
    return false;
}

static char *trimmed(char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    char *end = text + strlen(text);
    while (end > text && strchr(" \t\r", end[-1])) *--end = '\0';
    return text;
}

static bool number(const char *text, u64 *value)
{
    char *end;
    // strtoull also takes a minus sign, as two's complement: what a signed field wants.
    *value = strtoull(text, &end, 0);
    return *text && *end == '\0';
}

static bool slot(const char *text, int *gpu)
{
    u64 value;
    if (!number(text, &value) || value >= MAX_GPUS) return false;
    *gpu = (int)value;
    return true;
}

// Cuts "NAME@gpu+after" into its parts.
static bool cut_scope(char *value, int *gpu, u64 *after)
{
    char *plus = strchr(value, '+'), *at;
    if (plus) {
        *plus = '\0';
        if (!number(plus + 1, after)) return false;
    }
    at = strchr(value, '@');
    if (!at) return true;
    *at = '\0';
    return slot(at + 1, gpu);
}

static bool is_function(const char *name)
{
    static int here;
    Dl_info self;
    if (strcmp(name, "*") == 0) return true;
    // The library itself is asked, so a rule for an omitted or misspelt function is refused.
    if (!dladdr(&here, &self)) return false;
    void *library = dlopen(self.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    if (!library) return false;
    bool found = dlsym(library, name) != NULL;
    dlclose(library);
    return found;
}

// "ID" or "ID/SCOPE"
static bool is_field(const char *text)
{
    char id[24];
    u64 ignored;
    const char *slash = strchr(text, '/');
    snprintf(id, sizeof id, "%.*s", slash ? (int)(slash - text) : 20, text);
    return number(id, &ignored) && (!slash || number(slash + 1, &ignored));
}

static bool parse_rule(struct config *config, const char *kind, const char *target, char *value)
{
    if (config->rules == MAX_RULES || strlen(target) >= sizeof config->rule->target) return false;
    struct rule *rule = &config->rule[config->rules];
    rule->gpu = ANY_GPU;
    strcpy(rule->target, target);
    config->rules++;
    u64 ignored;
    if (strcmp(kind, "hang") == 0 || strcmp(kind, "all_ones") == 0) {
        rule->kind = *kind == 'h' ? RULE_HANG : RULE_ALL_ONES;
        const char *gpu = *value == '@' ? value + 1 : value;
        return is_function(target) && (!*gpu || slot(gpu, &rule->gpu));
    }
    if (strcmp(kind, "mig") == 0) {
        config->rules--;
        return number(target, &ignored) && ignored < MAX_GPUS &&
               parse_layout(config, (int)ignored, value);
    }
    if (!cut_scope(value, &rule->gpu, &rule->after)) return false;
    if (strcmp(kind, "latency") == 0) {
        rule->kind = RULE_LATENCY;
        return is_function(target) && number(value, &rule->number);
    }
    if (strcmp(kind, "value") == 0) {
        rule->kind = RULE_VALUE;
        return known_value(target) && number(value, &rule->number);
    }
    if (strcmp(kind, "error") == 0) {
        rule->kind = RULE_ERROR;
        return is_function(target) && error_by_name(value, &rule->error);
    }
    if (strcmp(kind, "gpm_error") == 0) {
        rule->kind = RULE_GPM_ERROR;
        return number(target, &ignored) && error_by_name(value, &rule->error);
    }
    if (strcmp(kind, "fi_error") == 0 || strcmp(kind, "fi_refuse") == 0) {
        rule->kind = kind[3] == 'e' ? RULE_FIELD_ERROR : RULE_FIELD_REFUSAL;
        return is_field(target) && error_by_name(value, &rule->error);
    }
    return false;
}

static bool give_instances(struct config *config, int gpu, u64 count)
{
    char layout[MAX_INSTANCES * 3] = "";
    for (u64 i = 0; i < count; i++) strcat(layout, i ? "+1g" : "1g");
    return count == 0 || parse_layout(config, gpu, layout);
}

static bool parse_instances(struct config *config, char *value)
{
    char *rest, *item = strtok_r(value, ",", &rest);
    int given = 0;
    u64 count = 0;
    for (; item && given < MAX_GPUS; item = strtok_r(NULL, ",", &rest), given++) {
        if (!number(item, &count) || count > MAX_INSTANCES) return false;
        if (!give_instances(config, given, count)) return false;
    }
    for (int gpu = 1; given == 1 && gpu < MAX_GPUS; gpu++)
        if (!give_instances(config, gpu, count)) return false;
    return given > 0;
}

// "7,8,100-299", with "@gpu" behind it.
static bool parse_pids(struct config *config, enum process_kind kind, char *value)
{
    if (config->pid_lists == PROCESS_KINDS * (MAX_GPUS + 1)) return false;
    struct pid_list *list = &config->pids[config->pid_lists++];
    u64 unused = 0, first, last;
    list->kind = kind;
    list->gpu = ANY_GPU;
    if (!cut_scope(value, &list->gpu, &unused)) return false;
    char *rest, *item = strtok_r(value, ",", &rest);
    for (; item; item = strtok_r(NULL, ",", &rest)) {
        char *dash = strchr(item, '-');
        if (dash) *dash = '\0';
        if (!number(item, &first) || !number(dash ? dash + 1 : item, &last)) return false;
        for (u64 pid = first; pid <= last; pid++) {
            if (list->count == MAX_PIDS) return false;
            list->pids[list->count++] = (u32)pid;
        }
    }
    return true;
}

// "3", "3,5" and for lost also "3+100".
static bool parse_slots(char *value, bool flags[MAX_GPUS], u64 *after)
{
    char *rest, *item = strtok_r(value, ",", &rest);
    for (; item; item = strtok_r(NULL, ",", &rest)) {
        int gpu;
        u64 calls = 0;
        char *plus = strchr(item, '+');
        if (plus) {
            if (!after || !number(plus + 1, &calls)) return false;
            *plus = '\0';
        }
        if (!slot(item, &gpu)) return false;
        flags[gpu] = true;
        if (after) after[gpu] = calls;
    }
    return true;
}

static bool parse_uncorrected(struct config *config, char *value)
{
    char *rest, *item = strtok_r(value, ",", &rest);
    for (; item; item = strtok_r(NULL, ",", &rest)) {
        char *colon = strchr(item, ':');
        int gpu;
        if (!colon) return false;
        *colon = '\0';
        if (!slot(item, &gpu) || !number(colon + 1, &config->uncorrected[gpu])) return false;
    }
    return true;
}

// Copies a text in which \xHH stands for any byte, so that a name can be invalid UTF-8.
static bool parse_text(char *out, size_t size, const char *value)
{
    size_t used = 0;
    while (*value) {
        u32 byte;
        if (used + 1 >= size) return false;
        if (sscanf(value, "\\x%2x", &byte) == 1) {
            out[used++] = (char)byte;
            value += 4;
        } else {
            out[used++] = *value++;
        }
    }
    out[used] = '\0';
    return true;
}

static bool parse_small(const char *value, u64 limit, int *out)
{
    u64 parsed;
    if (!number(value, &parsed) || parsed > limit) return false;
    *out = (int)parsed;
    return true;
}

// "gpu:code[/gi/ci][*times][,...][#tag]"; events.c reads it again when it posts them.
static bool parse_xids(struct config *config, const char *value)
{
    char text[sizeof config->xid], *rest;
    if (!parse_text(config->xid, sizeof config->xid, value)) return false;
    strcpy(text, config->xid);
    text[strcspn(text, "#")] = '\0';
    char *item = strtok_r(text, ",", &rest);
    for (; item; item = strtok_r(NULL, ",", &rest))
        if (!valid_xid(item)) return false;
    return true;
}

static bool parse_setting(struct config *config, const char *key, char *value)
{
    u64 parsed;
    if (strcmp(key, "gpus") == 0) return parse_small(value, MAX_GPUS, &config->gpus);
    if (strcmp(key, "procs") == 0) return parse_small(value, 100000, &config->processes);
    if (strcmp(key, "profile") == 0) return (config->profile = find_profile(value)) != NULL;
    if (strcmp(key, "mig") == 0) return parse_instances(config, value);
    if (strcmp(key, "pids") == 0) return parse_pids(config, COMPUTE, value);
    if (strcmp(key, "graphics") == 0) return parse_pids(config, GRAPHICS, value);
    if (strcmp(key, "mps") == 0) return parse_pids(config, MPS, value);
    if (strcmp(key, "process_layout") == 0) return parse_small(value, 32, &config->process_layout);
    if (strcmp(key, "latency_us") == 0) return number(value, &config->latency_us);
    if (strcmp(key, "latency_field_us") == 0) return number(value, &config->field_latency_us);
    if (strcmp(key, "driver_epoch") == 0) return number(value, &config->driver_epoch);
    if (strcmp(key, "init_error") == 0) return error_by_name(value, &config->init_error);
    if (strcmp(key, "lost") == 0) return parse_slots(value, config->lost, config->lost_after);
    if (strcmp(key, "hide") == 0) return parse_slots(value, config->hidden, NULL);
    if (strcmp(key, "dbe") == 0) return parse_uncorrected(config, value);
    if (strcmp(key, "name") == 0) return parse_text(config->name, sizeof config->name, value);
    if (strcmp(key, "module") == 0) return parse_text(config->module, sizeof config->module, value);
    if (strcmp(key, "driver") == 0) return parse_text(config->driver, sizeof config->driver, value);
    if (strcmp(key, "xid") == 0) return parse_xids(config, value);
    if (!number(value, &parsed)) return false;
    if (strcmp(key, "static") == 0) return config->is_static = parsed != 0, true;
    if (strcmp(key, "uuid_seed") == 0) return config->uuid_seed = (u32)parsed, true;
    return false;
}

static bool parse_pair(struct config *config, char *pair)
{
    char *equals = strchr(pair, '=');
    if (!equals) return false;
    *equals = '\0';
    char *key = trimmed(pair), *value = trimmed(equals + 1);
    char *dot = strchr(key, '.');
    if (!dot) return parse_setting(config, key, value);
    *dot = '\0';
    return parse_rule(config, key, dot + 1, value);
}

bool parse_config(struct config *config, char *text)
{
    char *rest, *pair = strtok_r(text, ";\n", &rest);
    for (; pair; pair = strtok_r(NULL, ";\n", &rest)) {
        char shown[200];
        pair = trimmed(pair);
        snprintf(shown, sizeof shown, "%s", pair);
        if (*pair && *pair != '#' && !parse_pair(config, pair)) {
            fprintf(stderr, "fake-nvml: wrong setting: %s\n", shown);
            return false;
        }
    }
    return true;
}
