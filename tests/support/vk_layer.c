/* See vk_layer.h. State is global, as tests may have it. Here: settings, the log of events, and
 * which function is whose. */
#include "tests/support/vk_layer_parts.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EVENTS 200000u

layer_settings layer;
layer_functions layer_below;

static layer_event *events;
static uint32_t event_count, bad_ranges;
static int32_t alive;
static PFN_vkGetInstanceProcAddr real_get_instance;
static PFN_vkGetDeviceProcAddr real_get_device;
static pthread_mutex_t mutex;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_mutex(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void layer_lock(void)
{
    pthread_once(&once, make_mutex);
    pthread_mutex_lock(&mutex);
}

void layer_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

layer_event *layer_log(layer_event_kind kind)
{
    static layer_event overflow;
    if (!events) {
        events = calloc(MAX_EVENTS, sizeof *events);
    }
    layer_event *event = events && event_count < MAX_EVENTS ? &events[event_count++] : &overflow;
    *event = (layer_event){.kind = kind};
    return event;
}

void layer_add_alive(int32_t count)
{
    layer_lock();
    alive += count;
    layer_unlock();
}

void layer_add_bad(uint32_t count)
{
    layer_lock();
    bad_ranges += count;
    layer_unlock();
}

/* ---- Finding --------------------------------------------------------------------------------- */

static PFN_vkVoidFunction find_own(const char *name)
{
    static layer_finder *const parts[] = {layer_find_simple, layer_find_device,  layer_find_memory,
                                          layer_find_record, layer_find_command, layer_find_judge};
    PFN_vkVoidFunction own = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !own; i++) {
        own = parts[i](name);
    }
    return own;
}

static void remember(const char *name, PFN_vkVoidFunction function)
{
#define X(known)                                                                                   \
    if (strcmp(name, #known) == 0) {                                                               \
        layer_below.known = (PFN_##known)function;                                                 \
    }
    LAYER_INSTANCE_FUNCTIONS(X)
    LAYER_DEVICE_FUNCTIONS(X)
#undef X
}

static bool is_hidden(const char *name)
{
    bool bare = layer.no_optional;
    return ((bare || layer.no_push_descriptor) && strcmp(name, "vkCmdPushDescriptorSetKHR") == 0) ||
           (bare && (strcmp(name, "vkGetCalibratedTimestampsEXT") == 0 ||
                     strcmp(name, "vkGetDeviceFaultInfoEXT") == 0));
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name)
{
    PFN_vkVoidFunction found = is_hidden(name) ? NULL : real_get_device(device, name);
    if (!found) {
        return NULL;
    }
    remember(name, found);
    /* What the layer calls itself, whether the engine asks for it or not. */
    if (strcmp(name, "vkDestroyDevice") == 0) {
        remember("vkMapMemory", real_get_device(device, "vkMapMemory"));
        remember("vkDeviceWaitIdle", real_get_device(device, "vkDeviceWaitIdle"));
        remember("vkGetBufferMemoryRequirements",
                 real_get_device(device, "vkGetBufferMemoryRequirements"));
    }
    PFN_vkVoidFunction own = find_own(name);
    return own ? own : found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction found = real_get_instance(instance, name);
    if (!found) {
        return NULL;
    }
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real_get_device = (PFN_vkGetDeviceProcAddr)found;
        return (PFN_vkVoidFunction)get_device;
    }
    /* Functions of devices that are asked for here are the loader's, which serve every device. */
#define X(known)                                                                                   \
    if (strcmp(name, #known) == 0) {                                                               \
        remember(name, found);                                                                     \
        PFN_vkVoidFunction own = find_own(name);                                                   \
        return own ? own : found;                                                                  \
    }
    LAYER_INSTANCE_FUNCTIONS(X)
#undef X
    return found;
}

vyre_vulkan_entry layer_entry(void)
{
    if (!real_get_instance) {
        void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        void *symbol = loader ? dlsym(loader, "vkGetInstanceProcAddr") : NULL;
        memcpy(&real_get_instance, &symbol, sizeof symbol);
    }
    return real_get_instance ? (vyre_vulkan_entry)get_instance : NULL;
}

/* ---- Questions ------------------------------------------------------------------------------- */

/* ---- Counts ---------------------------------------------------------------------------------- */

/* Calls by name, since layer_reset or layer_clear_calls. */
static struct {
    const char *name;
    uint32_t count;
} calls[128];
static uint32_t dispatches_passed, descriptors;

void layer_count_call(const char *name)
{
    layer_lock();
    size_t i = 0;
    while (calls[i].name && strcmp(calls[i].name, name) != 0) {
        if (++i == sizeof calls / sizeof *calls) {
            abort();
        }
    }
    calls[i].name = name;
    calls[i].count++;
    layer_unlock();
}

void layer_count_descriptors(uint32_t count)
{
    layer_lock();
    descriptors += count;
    layer_unlock();
}

bool layer_is_stopped(void)
{
    return layer.stop_after && dispatches_passed >= layer.stop_after;
}

bool layer_passes_dispatch(void)
{
    layer_lock();
    bool passes = !layer_is_stopped();
    dispatches_passed += passes && layer.stop_after > 0;
    layer_unlock();
    return passes;
}

uint32_t layer_calls(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls && calls[i].name; i++) {
        if (strcmp(calls[i].name, name) == 0) {
            return calls[i].count;
        }
    }
    return 0;
}

uint32_t layer_calls_of(const char *prefix)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls && calls[i].name; i++) {
        if (strncmp(calls[i].name, prefix, strlen(prefix)) == 0) {
            count += calls[i].count;
        }
    }
    return count;
}

uint32_t layer_descriptors(void)
{
    return descriptors;
}

void layer_clear_calls(void)
{
    memset(calls, 0, sizeof calls);
    descriptors = 0;
}

void layer_reset(void)
{
    layer_lock();
    layer = (layer_settings){0};
    layer_clear_calls();
    dispatches_passed = 0;
    event_count = bad_ranges = 0;
    alive = 0;
    layer_reset_failures();
    layer_reset_device();
    layer_reset_memory();
    layer_reset_record();
    layer_unlock();
}

const layer_event *layer_events(uint32_t *out_count)
{
    *out_count = event_count;
    return events;
}

void layer_clear_events(void)
{
    event_count = 0;
    layer_forget_barriers();
}

uint32_t layer_count(layer_event_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < event_count; i++) {
        count += events[i].kind == kind;
    }
    return count;
}

int32_t layer_alive(void)
{
    return alive;
}

uint32_t layer_bad_ranges(void)
{
    return bad_ranges;
}
