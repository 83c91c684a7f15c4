/* A script above the tests' layer: submissions and waits that fail or do not end when a test says
 * so, timestamps that it chooses, and what the engine calls beside: labels and query pools. One
 * process has one. */
#ifndef VY_TESTS_SCRIPT_H
#define VY_TESTS_SCRIPT_H

#include "tests/support/vk_layer.h"

typedef struct script_settings {
    /* The n-th submission (from 1, since script_reset) is not made and gives this. 0: none. */
    uint32_t fail_submission;
    VkResult submission;
    /* No more than this is said to have been reached by a timeline; waits for more end at once with
     * `wait`. 0: the truth. */
    uint64_t reached_most;
    VkResult wait;
    uint32_t timestamp_bits; /* of the queue; 0: the real ones */
    uint64_t first_tick;     /* what the first stamp of each query pool is taken for; 0: itself */
} script_settings;

typedef struct script_seen {
    uint32_t submissions; /* tried */
    uint32_t query_pools; /* made */
    uint32_t labels_begun, labels_ended;
    char labels[16][48];
    uint64_t stamps[8]; /* of the last query pool that was read, as the device has them */
} script_seen;

extern script_settings script;
extern script_seen script_saw;

/* Zero, and the layer too. */
void script_reset(void);
vyre_vulkan_entry script_entry(void);

#endif
