/* A device with wishes, and work on it that does not begin before the test says so: a timeline
 * semaphore of the test's own that dispatches wait for. */
#ifndef VY_TESTS_GATE_H
#define VY_TESTS_GATE_H

#include "engine/device/device.h"
#include "tests/support/engine_fixture.h"

typedef struct gate {
    vyre_device *device;
    VkSemaphore semaphore;
    uint64_t value; /* that lets through what waits now */
    vyre_semaphore_point point;
    vyre_host_sync sync;
} gate;

/* As engine_open. Zero and NULL are the defaults: through the layer. */
typedef struct gate_wishes {
    int validate, driver_thread;
    uint32_t debug;
    const vyre_allocator *allocator;
    vyre_vulkan_entry entry;
} gate_wishes;
vyre_device *gate_open_device(const gate_wishes *wishes);

void gate_create(vyre_device *device, gate *out_gate);
void gate_destroy(gate *gate);
/* For vyre_dispatch_params.sync: closed until the next gate_open. The gate must stay in place. */
const vyre_host_sync *gate_close(gate *gate);
void gate_open(gate *gate);

/* y[i] = x[i] * 3 + k, grid over x. */
extern const char gate_add_text[];
/* inout a : u32[3], scratch changed: counts a[0] down to 0, one a pass; a[1] counts passes. */
extern const char gate_countdown_text[];

/* vyre_dispatch_async that must succeed. */
vyre_ticket gate_start(const engine_program *program, const vyre_dispatch_params *params);

#endif
