/* A scenario, run once for each call of Vulkan's that can fail in it and each result that this may
 * give, and once for each allocation of host memory. */
#ifndef VY_VK_LAYER_SCENARIO_H
#define VY_VK_LAYER_SCENARIO_H

#include "tests/support/vk_layer.h"

/* Opens a device through layer_entry with that allocator, does everything with it, and destroys
 * all of it. Returns the first error that a call gave. The failure is there once: what is called
 * again after it has to succeed, unless the device is lost; the scenario checks that. */
typedef vyre_result layer_scenario(const vyre_allocator *allocator, void *user, vyre_diag *diag);

/* What comes before the part of a scenario that is to fail, such as opening the device, which takes
 * some drivers a second. */
typedef struct layer_scenario_start {
    uint32_t calls, allocations;
} layer_scenario_start;

typedef struct layer_scenario_params {
    layer_scenario *run;
    void *user;
    /* Before a run; and after it, with its result: outputs are whole or untouched. May be NULL. */
    void (*begin)(void *user);
    void (*check)(void *user, vyre_result result);
    /* Every call with every result; otherwise the first two of each command with every one, and
     * the others with one in turn. */
    bool is_exhaustive;
    /* NULL, or written by the scenario: only what comes behind it fails, and of that neither calls
     * that depend on the time nor those that are made where others have failed. */
    const layer_scenario_start *start;
} layer_scenario_params;

/* What a scenario does, one after the other. */
typedef struct layer_scenario_steps {
    vyre_result (*step)(void *work, uint32_t number, vyre_diag *diag);
    void *work;
    uint32_t count;
    uint32_t first_failing;      /* step: those before it are the start */
    layer_scenario_start *start; /* written in front of it */
} layer_scenario_steps;

/* All of them: the one that fails is done again, and fails the test if it does not succeed then;
 * where the device is lost the rest is left out. Returns the first error, which `diag` has. */
vyre_result layer_scenario_run_steps(const layer_scenario_steps *steps,
                                     const vyre_allocator *allocator, vyre_diag *diag);

/* Under the settings as they are. Fails the test where an error has no type or no fix, where
 * anything is left alive, or a result is not what follows from the failure. Returns the runs. */
uint32_t layer_scenario_fail_calls(const layer_scenario_params *params);
/* `stride`: every allocation of the first hundred, then each stride-th. */
uint32_t layer_scenario_fail_allocations(const layer_scenario_params *params, uint32_t stride);

#endif
