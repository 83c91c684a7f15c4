/* What tests of the engine begin with, end with and take for granted: set-up round each test, and
 * calls that must succeed. They fail the test with the library's message otherwise. */
#ifndef VY_ENGINE_FIXTURE_H
#define VY_ENGINE_FIXTURE_H

#include "tests/support/engine_run.h"

/* Ends the test, which found nothing wrong, where tests run without a device. */
#define NEED_DEVICE()                                                                              \
    if (engine_has_no_device())                                                                    \
    return

/* The same, where set-up then opens nothing. */
#define NEED_OPEN(device)                                                                          \
    if (!(device))                                                                                 \
    return

/* Set-up: the layer as it is by itself. */
int engine_reset(void **state);
/* Teardown: fails where the layer knows of anything that was not freed. */
int engine_nothing_alive(void **state);

/* Also that the handle is null then. */
void must_destroy(vyre_device *device, vyre_buffer *buffer);
void must_transfer(vyre_device *device, const vyre_transfer_params *params);
vyre_report must_dispatch(const engine_program *program, const vyre_dispatch_params *params);
/* For these bindings and that many elements. */
vyre_dispatch_params engine_elements(const vyre_binding *bindings, uint32_t binding_count,
                                     uint32_t elements);

#endif
