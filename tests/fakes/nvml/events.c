// Xid events. "xid=gpu:code[/gi/ci][*times][,...][#tag]" posts them once, each time the text
// changes.
#define _GNU_SOURCE
#include "fake.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SET_MAGIC 0x45565453u
#define WAIT_STEP_MS 20
#define NO_INSTANCE 0xffffffffu

// Equal ones that came together: a flood costs no memory.
struct event {
    int gpu;
    u32 gpu_instance, compute_instance;
    u64 code, times;
};

struct nvmlEventSet_st {
    u32 magic;
    struct session *session;
    size_t next;
    u64 taken;  // of the event at `next`
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

static void post_locked(const struct event *event)
{
    if (event_count == event_room) {
        size_t room = event_room ? event_room * 2 : 64;
        struct event *grown = realloc(events, room * sizeof *events);
        if (!grown) return;
        events = grown;
        event_room = room;
    }
    events[event_count++] = *event;
}

static bool parse_xid(const char *item, struct event *event)
{
    int used = 0, more = 0;
    *event = (struct event){.gpu_instance = NO_INSTANCE, .compute_instance = NO_INSTANCE,
                            .times = 1};
    if (sscanf(item, "%d:%llu%n", &event->gpu, &event->code, &used) != 2) return false;
    if (sscanf(item + used, "/%u/%u%n", &event->gpu_instance, &event->compute_instance, &more) == 2)
        used += more;
    if (sscanf(item + used, "*%llu%n", &event->times, &more) == 1) used += more;
    return item[used] == '\0' && event->gpu >= 0 && event->gpu < MAX_GPUS && event->times > 0;
}

bool valid_xid(const char *item)
{
    struct event event;
    return parse_xid(item, &event);
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
        struct event event;
        if (parse_xid(item, &event)) post_locked(&event);
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
    (*set)->session = call.session;
    // Unlike the real library, also what was posted since nvmlInit and no set has seen: a test need
    // not race with it.
    pthread_mutex_lock(&lock);
    (*set)->next = call.session->first_event;
    (*set)->taken = call.session->first_taken;
    pthread_mutex_unlock(&lock);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
    ENTER_SYSTEM();
    REQUIRE(set && set->magic == SET_MAGIC);
    pthread_mutex_lock(&lock);
    if (set->next >= set->session->first_event) {
        set->session->first_event = set->next;
        set->session->first_taken = set->taken;
    }
    pthread_mutex_unlock(&lock);
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
        const struct event event = events[set->next];
        found = set->wants_xids[event.gpu];
        if (!found || ++set->taken == event.times) {
            set->next++;
            set->taken = 0;
        }
        if (found)
            *data = (nvmlEventData_t){
                .device = &call->session->full[event.gpu],
                .eventType = nvmlEventTypeXidCriticalError,
                .eventData = event.code,
                .gpuInstanceId = event.gpu_instance,
                .computeInstanceId = event.compute_instance,
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
