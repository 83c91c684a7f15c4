/* A kernel of the engine's own that is run once, on words of the host's, and waited for: how
 * devices are asked what they do. */
#ifndef VY_TRIAL_H
#define VY_TRIAL_H

#include "engine/device/device.h"

typedef struct vy_trial {
    const uint32_t *module; /* one `inout u32[]` binding */
    uint32_t module_word_count;
    const char *label;
    uint32_t workgroup, groups; /* along x; the module's own size */
    uint32_t subgroup_size;     /* pinned, or 0 */
    bool is_native;             /* with the device's own division and square root */
} vy_trial;

/* The words are handed in and come back in place. Submits and waits. */
vyre_result vy_trial_run(vyre_device *device, const vy_trial *trial, uint32_t *words,
                         uint32_t word_count, vyre_diag *diag);

#endif
