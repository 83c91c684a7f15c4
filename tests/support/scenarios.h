/* Scenarios for vk_layer_scenario.h: everything that the library does with a device. */
#ifndef VY_SCENARIOS_H
#define VY_SCENARIOS_H

#include "tests/support/vk_layer_scenario.h"

typedef struct scenario_state {
    uint32_t a[16], y[16], back[16]; /* outputs */
    bool has_run;                    /* the dispatch succeeded */
    bool has_read;                   /* the download succeeded */
    vyre_validation validation;
} scenario_state;

/* Resident and borrowed bindings, several segments, a fixpoint with `until`, a trap, waited for at
 * once and by a ticket; uploads and downloads; the list of devices; the pipeline cache as a blob.
 */
void scenario_dispatch(scenario_state *state, layer_scenario_params *out);

#endif
