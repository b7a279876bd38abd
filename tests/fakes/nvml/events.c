// Xid events. "xid=gpu:code[*times][,...][#tag]" posts them once, each time the text changes.
#define _GNU_SOURCE
#include "fake.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SET_MAGIC 0x45565453u
#define WAIT_STEP_MS 20

struct event {
    int gpu;
    u64 code;
};

struct nvmlEventSet_st {
    u32 magic;
    size_t next;
    bool wants_xids[MAX_GPUS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct event *events;
static size_t event_count, event_room;
static char last_text[sizeof((struct config *)0)->xid];

size_t posted_events(void)
{
    pthread_mutex_lock(&lock);
    size_t count = event_count;
    pthread_mutex_unlock(&lock);
    return count;
}

static void post_locked(int gpu, u64 code, u64 times)
{
    for (u64 i = 0; i < times; i++) {
        if (event_count == event_room) {
            size_t room = event_room ? event_room * 2 : 64;
            struct event *grown = realloc(events, room * sizeof *events);
            if (!grown) return;
            events = grown;
            event_room = room;
        }
        events[event_count++] = (struct event){gpu, code};
    }
}

void post_events(const struct config *config, bool anew)
{
    char text[sizeof config->xid], *rest;
    pthread_mutex_lock(&lock);
    bool changed = anew || strcmp(last_text, config->xid) != 0;
    strcpy(last_text, config->xid);
    strcpy(text, config->xid);
    text[strcspn(text, "#")] = '\0';
    char *item = changed ? strtok_r(text, ",", &rest) : NULL;
    for (; item; item = strtok_r(NULL, ",", &rest)) {
        int gpu;
        u64 code, times = 1;
        if (sscanf(item, "%d:%llu*%llu", &gpu, &code, &times) >= 2) post_locked(gpu, code, times);
    }
    pthread_mutex_unlock(&lock);
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
    ENTER_SYSTEM();
    REQUIRE(set);
    *set = calloc(1, sizeof **set);
    if (!*set) return NVML_ERROR_MEMORY;
    (*set)->magic = SET_MAGIC;
    // Unlike the real library, also what was posted since nvmlInit: a test need not race with it.
    (*set)->next = call.session->first_event;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
    ENTER_SYSTEM();
    REQUIRE(set && set->magic == SET_MAGIC);
    set->magic = 0;
    free(set);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, u64 *types)
{
    ENTER(device);
    u64 ecc = nvmlEventTypeSingleBitEccError | nvmlEventTypeDoubleBitEccError;
    if (!(call.profile->features & HAS_ECC)) ecc = 0;
    return put_u64(&call, types,
                   ecc | nvmlEventTypePState | nvmlEventTypeXidCriticalError | nvmlEventTypeClock);
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, u64 types, nvmlEventSet_t set)
{
    ENTER(device);
    REQUIRE(set && set->magic == SET_MAGIC);
    FULL_GPU_ONLY();
    pthread_mutex_lock(&lock);
    if (types & nvmlEventTypeXidCriticalError) set->wants_xids[call.gpu] = true;
    pthread_mutex_unlock(&lock);
    return NVML_SUCCESS;
}

static bool take_event(const struct call *call, nvmlEventSet_t set, nvmlEventData_t *data)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    while (!found && set->next < event_count) {
        const struct event event = events[set->next++];
        found = set->wants_xids[event.gpu];
        if (found)
            *data = (nvmlEventData_t){
                .device = &call->session->full[event.gpu],
                .eventType = nvmlEventTypeXidCriticalError,
                .eventData = event.code,
                .gpuInstanceId = 0xffffffffu,
                .computeInstanceId = 0xffffffffu,
            };
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static nvmlReturn_t wait_event(struct site *site, nvmlEventSet_t set, nvmlEventData_t *data,
                               u32 timeout_ms)
{
    struct call call;
    FAILED(enter_system(site, &call));
    REQUIRE(set && set->magic == SET_MAGIC && data);
    u64 end = monotonic_ns() + timeout_ms * 1000000ull;
    while (!take_event(&call, set, data)) {
        u64 now = monotonic_ns();
        if (now >= end) return NVML_ERROR_TIMEOUT;
        u64 left_us = (end - now) / 1000 + 1;
        pause_us(left_us < WAIT_STEP_MS * 1000 ? left_us : WAIT_STEP_MS * 1000);
        refresh_config(true);
    }
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, u32 timeout_ms)
{
    static struct site site = {.name = __func__};
    return wait_event(&site, set, data, timeout_ms);
}

nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t *data, u32 timeout_ms)
{
    static struct site site = {.name = __func__};
    return wait_event(&site, set, data, timeout_ms);
}
