/* A hook above the tests' layer, for what drivers answer and what the engine tells them: the driver
 * that the device says it has, what dispatches do, what pipelines are specialised to, what pipeline
 * caches hold. One process has one. */
#ifndef VY_TESTS_HOOK_H
#define VY_TESTS_HOOK_H

#include "tests/support/vk_layer.h"

typedef struct hook_settings {
    uint32_t driver_id;     /* 0: the real one */
    const char *driver;     /* driverInfo; NULL: the real one */
    uint32_t skip_dispatch; /* the n-th (from 1) does nothing */
    bool hits;              /* every pipeline is said to be from the cache */
    /* The n-th call of vkGetPipelineCacheData (from 1) gives INCOMPLETE. 0: none. */
    uint32_t incomplete_at;
    VkResult merge; /* of vkMergePipelineCaches, which is then not called */
} hook_settings;

/* Since hook_reset. */
typedef struct hook_seen {
    uint32_t dispatches, pipelines;
    bool native_divide, native_sqrt; /* of the last pipeline */
    VkPipelineCache cache;           /* it was made with */
    bool has_feedback;               /* it was asked for */
    uint32_t caches, caches_destroyed;
    size_t initial_size; /* of the last cache */
    uint32_t data_calls, merges;
} hook_seen;

extern hook_settings hook;
extern hook_seen seen;

/* Zero, and the layer too. */
void hook_reset(void);
vyre_vulkan_entry hook_entry(void);

#endif
