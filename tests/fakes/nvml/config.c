// Where the configuration comes from and when it is read again.
#define _GNU_SOURCE
#include "fake.h"

#include <dlfcn.h>
#include <limits.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct config *) current;
static _Atomic u64 next_check_ms;
static u64 generation, check_interval_ms;
static char *environment, *path;
static struct stat seen;

u64 monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000000000ull + (u64)now.tv_nsec;
}

static u64 coarse_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (u64)now.tv_sec * 1000ull + (u64)now.tv_nsec / 1000000ull;
}

void pause_us(u64 microseconds)
{
    if (microseconds <= 200) {
        // A sleep takes some 75 us longer than asked, which would swamp a latency of this size.
        u64 end = monotonic_ns() + microseconds * 1000;
        while (monotonic_ns() < end) continue;
        return;
    }
    struct timespec left = {(time_t)(microseconds / 1000000),
                            (long)(microseconds % 1000000) * 1000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

struct config *current_config(void)
{
    return atomic_load(&current);
}

static char *read_file(struct stat *status)
{
    FILE *file = fopen(path, "re");
    if (!file) return NULL;
    char *text = NULL;
    if (fstat(fileno(file), status) == 0 && (text = malloc((size_t)status->st_size + 1)))
        text[fread(text, 1, (size_t)status->st_size, file)] = '\0';
    fclose(file);
    return text;
}

static bool is_consistent(const struct config *config)
{
    for (int gpu = 0; gpu < MAX_GPUS; gpu++) {
        if (config->mig_mode[gpu] && !config->profile->slice) {
            fprintf(stderr, "fake-nvml: %s has no MIG\n", config->profile->key);
            return false;
        }
    }
    return true;
}

// `anew`: a client with another configuration came (another test in the same process), so
// nothing of the old one lives on.
static bool load_locked(bool anew)
{
    struct config *config = calloc(1, sizeof *config);
    if (!config) return false;
    config->gpus = 8;
    config->profile = find_profile("h100");
    strcpy(config->driver, driver_version());
    bool valid = true;
    if (environment) {
        char *text = strdup(environment);
        valid = parse_config(config, text);
        free(text);
    }
    if (path) {
        struct stat status = {0};
        char *text = read_file(&status);
        if (text) {
            // Noted even when wrong, so that a wrong file is complained about once.
            seen = status;
            valid = parse_config(config, text) && valid;
        } else {
            fprintf(stderr, "fake-nvml: cannot read %s\n", path);
            valid = false;
        }
        free(text);
    }
    if (!valid || !is_consistent(config)) {
        free(config);
        return false;
    }
    config->generation = ++generation;
    const struct config *before = current_config();
    if (before && !anew && before->driver_epoch == config->driver_epoch)
        config->driver_start_ns = before->driver_start_ns;
    else
        config->driver_start_ns = monotonic_ns();
    // Events before the switch: whoever sees the new configuration finds its Xids posted.
    post_events(config, anew);
    atomic_store(&current, config);
    return true;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

// Takes over a variable of the environment; tells whether it changed.
static bool take_variable(const char *name, char **kept)
{
    const char *now = getenv(name);
    bool changed = !same(now, *kept);
    if (changed) {
        free(*kept);
        *kept = now ? strdup(now) : NULL;
    }
    return changed;
}

bool start_config(void)
{
    pthread_mutex_lock(&lock);
    bool anew = take_variable("FAKE_NVML", &environment);
    anew = take_variable("FAKE_NVML_CONFIG", &path) || anew;
    const char *interval = getenv("FAKE_NVML_CHECK_MS");
    check_interval_ms = interval ? strtoull(interval, NULL, 10) : 20;
    bool loaded = load_locked(anew);
    pthread_mutex_unlock(&lock);
    return loaded;
}

static bool file_changed(void)
{
    struct stat now;
    if (!path || stat(path, &now) != 0) return false;
    return now.st_mtim.tv_sec != seen.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != seen.st_mtim.tv_nsec || now.st_size != seen.st_size ||
           now.st_ino != seen.st_ino;
}

void refresh_config(bool at_once)
{
    if (check_interval_ms > 0 && !at_once) {
        u64 now = coarse_ms();
        if (now < atomic_load_explicit(&next_check_ms, memory_order_relaxed)) return;
        atomic_store_explicit(&next_check_ms, now + check_interval_ms, memory_order_relaxed);
    }
    pthread_mutex_lock(&lock);
    if (file_changed()) load_locked(false);
    pthread_mutex_unlock(&lock);
}

static char own_path[PATH_MAX];

// When it is loaded: afterwards another file may lie where it was.
__attribute__((constructor)) static void remember_own_path(void)
{
    Dl_info self;
    if (!dladdr(own_path, &self) || !realpath(self.dli_fname, own_path)) own_path[0] = '\0';
}

bool fits_module(const struct config *config)
{
    return strstr(own_path, config->module) != NULL;
}
