/* See engine_fixture.h. */
#include "tests/support/engine_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

int engine_reset(void **state)
{
    (void)state;
    layer_reset();
    return 0;
}

int engine_nothing_alive(void **state)
{
    (void)state;
    assert_int_equal(layer_alive(), 0);
    return 0;
}

void must_destroy(vyre_device *device, vyre_buffer *buffer)
{
    vyre_diag diag;
    if (vyre_buffer_destroy(device, buffer, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_int_equal(buffer->bits, 0);
}

void must_transfer(vyre_device *device, const vyre_transfer_params *params)
{
    vyre_diag diag;
    if (vyre_transfer(device, params, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
}

vyre_report must_dispatch(const engine_program *program, const vyre_dispatch_params *params)
{
    vyre_report report;
    vyre_diag diag;
    if (vyre_dispatch(program->pipeline, params, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return report;
}

vyre_dispatch_params engine_elements(const vyre_binding *bindings, uint32_t binding_count,
                                     uint32_t elements)
{
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.strategy = VYRE_STRATEGY_REPLAY; /* what most tests count */
    params.bindings = bindings;
    params.binding_count = binding_count;
    params.elements[0] = elements;
    return params;
}
