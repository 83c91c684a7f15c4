/* A Vulkan of the tests' own, in plain C: one device whose queue is a thread that runs fills,
 * copies and, through a function that a test gives, dispatches. ThreadSanitizer sees all of it, and
 * it can be what no real driver here is: lost with an account of the fault, with extensions and
 * limits as wanted. Knows what the engine uses and no more. Addresses of buffers are the host's. */
#ifndef VY_FAKE_VULKAN_H
#define VY_FAKE_VULKAN_H

#include "vyre/device.h"

#include <volk.h>

#include <stdbool.h>

#define FAKE_MAX_BINDINGS   32u
#define FAKE_MAX_PUSH_WORDS 64u
#define FAKE_MAX_SPEC       8u

/* One dispatch as the queue's thread runs it. */
typedef struct fake_dispatch {
    const uint32_t *words; /* of the shader module */
    uint32_t word_count;
    uint32_t groups[3];
    uint32_t push[FAKE_MAX_PUSH_WORDS];
    struct {
        uint32_t *words; /* NULL: nothing is bound */
        uint32_t count;
    } bindings[FAKE_MAX_BINDINGS];
    uint32_t spec[FAKE_MAX_SPEC]; /* by constant id */
    bool has_spec[FAKE_MAX_SPEC];
} fake_dispatch;

/* Zero: a device of Vulkan 1.3 with the features that the engine uses apart from addresses, no
 * extensions, and timestamps of 64 bits, 1 ns each. To be set before the instance is made. */
typedef struct fake_settings {
    uint32_t api_version;
    bool only_required; /* of the features */
    bool no_features;   /* not even these */
    const char *extensions[8];
    bool has_addresses;      /* the device has bufferDeviceAddress */
    bool has_debug_utils;    /* the instance */
    bool no_compute;         /* the queue family is for transfers */
    uint32_t push_size;      /* maxPushConstantsSize */
    uint32_t timestamp_bits; /* 0: 64 */
    float timestamp_period;
    uint32_t delay_us; /* what every submission takes at least */
    uint32_t lose_at;  /* the n-th submission (from 1) loses the device */
    const char *fault; /* what VK_EXT_device_fault then says */
    void (*execute)(const fake_dispatch *dispatch); /* NULL: dispatches do nothing */
} fake_settings;

extern fake_settings fake;

/* Settings and counts back to zero; nothing may be alive. */
void fake_reset(void);
/* A PFN_vkGetInstanceProcAddr. */
vyre_vulkan_entry fake_entry(void);

/* Objects made and not destroyed. */
uint32_t fake_alive(void);
/* Calls at the same time on objects that Vulkan wants used by one thread at a time. */
uint32_t fake_violations(void);
uint32_t fake_submissions(void);
/* Calls of vkGetSemaphoreCounterValue and vkWaitSemaphores. */
uint32_t fake_looks(void);
uint32_t fake_sleeps(void);
/* The type of an object alive that has no name, or VK_OBJECT_TYPE_UNKNOWN; device memory and
 * descriptor sets are no objects here. */
VkObjectType fake_unnamed(void);
/* Whether an object of that type and name is alive. */
bool fake_has_name(VkObjectType type, const char *name);
/* The name of an extension or feature that vkCreateDevice enabled last. */
bool fake_enabled(const char *extension);
#endif
