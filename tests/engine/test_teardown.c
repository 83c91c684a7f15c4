/* A device destroyed while everything of it is alive, and the rest afterwards in any order. */
#include "engine/device/commands.h"
#include "tests/engine/gate_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static vyre_device *device;

static vyre_recording *record(const engine_program *p, const sum *s, vyre_buffer x, vyre_buffer y,
                              VkCommandBuffer commands)
{
    vyre_binding bindings[] = {engine_resident(x, 0, SUM_COUNT), engine_resident(y, 0, SUM_COUNT)};
    vyre_record_params params;
    vyre_record_params_init(&params);
    params.command_buffer = commands;
    params.dispatch = s->params;
    params.dispatch.bindings = bindings;
    params.dispatch.done = NULL;
    vyre_recording *recording = NULL;
    vyre_diag diag;
    if (vyre_record(p->pipeline, &params, &recording, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return recording;
}

static vyre_sequence *sequence(const engine_program *p, const sum *s, vyre_buffer x, vyre_buffer y)
{
    vyre_binding bindings[] = {engine_resident(x, 0, SUM_COUNT), engine_resident(y, 0, SUM_COUNT)};
    vyre_step step = {.pipeline = p->pipeline, .dispatch = s->params};
    step.dispatch.bindings = bindings;
    step.dispatch.done = NULL;
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.prefix = &step;
    params.prefix_count = 1;
    vyre_sequence *out = NULL;
    vyre_diag diag;
    if (vyre_sequence_create(device, &params, &out, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return out;
}

/* The device first, with everything alive; then the rest in that order. */
static void destroy_in_order(const char *order)
{
    layer_reset();
    device = gate_open_device(&(gate_wishes){.validate = 0});
    engine_program p = engine_build(device, gate_add_text);
    engine_program q = engine_build(device, gate_countdown_text);
    sum s[2];
    countdown c;
    sum_init(&s[0], 1);
    sum_init(&s[1], 2);
    countdown_init(&c, 1000);
    vyre_buffer x = engine_buffer(device, sizeof s->x, s->x);
    vyre_buffer y = engine_buffer(device, sizeof s->y, s->y);
    vy_commands commands;
    vyre_diag diag;
    assert_int_equal(vy_commands_create(device, "test", &commands, &diag), VYRE_OK);
    assert_int_equal(vy_commands_begin(device, &commands, false, &diag), VYRE_OK);
    vyre_recording *recording = record(&p, &s[0], x, y, commands.buffer);
    assert_int_equal(vy_commands_end(device, &commands, &diag), VYRE_OK);
    vyre_sequence *steps = sequence(&p, &s[0], x, y);
    assert_int_equal(vyre_sequence_run(steps, 0, NULL, &diag), VYRE_OK);
    vyre_ticket a = gate_start(&p, &s[0].params), b = gate_start(&p, &s[1].params);
    vyre_ticket u = gate_start(&q, &c.params);
    assert_int_equal(vyre_ticket_drop(device, &b, &diag), VYRE_OK);
    assert_true(a.bits && u.bits);
    vy_commands_destroy(device, &commands);
    vyre_device_destroy(&device);
    assert_int_equal(s[0].done_count, 1);
    assert_int_equal(s[1].done_count, 1);
    for (; *order; order++) {
        if (*order == 'p') {
            assert_int_equal(vyre_dispatch(p.pipeline, &s[0].params, NULL, &diag),
                             VYRE_ERROR_INVALID_ARGUMENT);
            engine_release(&p);
            engine_release(&q);
        } else if (*order == 'r') {
            vyre_recording_destroy(&recording);
        } else {
            assert_int_not_equal(vyre_sequence_run(steps, 0, NULL, &diag), VYRE_OK);
            vyre_sequence_destroy(&steps);
        }
    }
    assert_int_equal(layer_alive(), 0);
}

static void test_device_is_destroyed_before_all_else(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    static const char *const orders[] = {"prs", "psr", "rps", "rsp", "spr", "srp"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        destroy_in_order(orders[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_is_destroyed_before_all_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
