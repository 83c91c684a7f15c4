/* More programs than a dispatcher keeps: the one not used for longest makes room, also while a
 * queue that it drains is in flight. */
#include "tests/megakernel/dispatcher_support.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

enum { MANY = 70, KEPT = 64, FIRST = 0x4000 };

typedef struct crowd {
    uint32_t data[MANY];
    vyre_buffer buffer;
    vyre_dispatcher *dispatcher;
} crowd;

/* As many handlers: each adds its own number to its own word. */
static void crowd_init(crowd *c, vyre_device *device)
{
    static char text[MANY * 96 + 128], names[MANY][16];
    vyre_handler handlers[MANY];
    vyre_dispatcher_params params;
    vyre_program *program = NULL;
    vyre_diag diag;
    size_t at = (size_t)snprintf(text, sizeof text, "program crowd\ninout data : u32[]\n");
    for (unsigned h = 0; h < MANY; h++) {
        snprintf(names[h], sizeof names[h], "h%u", h);
        handlers[h] = (vyre_handler){FIRST + h, names[h],
                                     VYRE_EFFECT_READS_OUTPUT | VYRE_EFFECT_WRITES_OUTPUT};
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "fn h%u(slot: u32) -> u32 {\n    atomic_add(data[%u], %u)\n"
                               "    return 0\n}\n",
                               h, h, h + 1);
    }
    at += (size_t)snprintf(text + at, sizeof text - at, "kernel { }\n");
    assert_true(at < sizeof text);
    if (vyre_program_parse(text, at, "crowd", NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%u: %s", (unsigned)diag.line, diag.message);
    }
    memset(c, 0, sizeof *c);
    vyre_binding binding = engine_host_inout(c->data, MANY);
    if (device) {
        c->buffer = engine_buffer(device, sizeof c->data, c->data);
        binding = engine_resident(c->buffer, 0, MANY);
    }
    vyre_dispatcher_params_init(&params);
    params.program = program;
    params.handlers = handlers;
    params.handler_count = MANY;
    params.bindings = &binding;
    params.binding_count = 1;
    assert_int_equal(vyre_dispatcher_create(device, &params, &c->dispatcher, NULL), VYRE_OK);
    vyre_program_destroy(&program);
}

static vyre_queue_report crowd_run(const crowd *c, uint32_t handler)
{
    const vyre_work_item item = rig_item(FIRST + handler, 0, handler, 0);
    vyre_queue_params params;
    vyre_queue_report report;
    vyre_queue_params_init(&params);
    params.flags = VYRE_QUEUE_SPECIAL;
    assert_int_equal(vyre_dispatcher_run(c->dispatcher, &item, 1, &params, &report, NULL), VYRE_OK);
    assert_int_equal(report.processed, 1);
    assert_int_equal(report.is_special, 1);
    return report;
}

static void evict(vyre_device *device)
{
    static crowd c;
    vyre_dispatcher_counters counters;
    vyre_queue_ticket ticket;
    const vyre_work_item item = rig_item(FIRST, 0, 0, 0);
    vyre_queue_params special;
    vyre_queue_params_init(&special);
    special.flags = VYRE_QUEUE_SPECIAL;
    crowd_init(&c, device);
    /* In flight while its program is given up. */
    assert_int_equal(vyre_dispatcher_submit(c.dispatcher, &item, 1, &special, &ticket, NULL),
                     VYRE_OK);
    for (uint32_t h = 1; h < KEPT; h++) {
        assert_int_equal(crowd_run(&c, h).was_compiled, 0);
    }
    vyre_dispatcher_get_counters(c.dispatcher, &counters);
    assert_int_equal(counters.pipelines, KEPT);
    assert_int_equal(counters.pipeline_evictions, 0);
    for (uint32_t h = 1; h < KEPT; h++) {
        assert_int_equal(crowd_run(&c, h).was_compiled, 1);
    }
    for (uint32_t h = KEPT; h < MANY; h++) {
        assert_int_equal(crowd_run(&c, h).was_compiled, 0);
    }
    vyre_dispatcher_get_counters(c.dispatcher, &counters);
    assert_int_equal(counters.pipelines, KEPT);
    assert_int_equal(counters.pipeline_evictions, MANY - KEPT);
    assert_int_equal(counters.pipeline_misses, MANY);
    assert_int_equal(counters.pipeline_hits, KEPT - 1);
    assert_int_equal(vyre_dispatcher_wait(c.dispatcher, &ticket, UINT64_MAX, NULL, NULL), VYRE_OK);
    /* Those not used for longest went: 0 to 5. */
    assert_int_equal(crowd_run(&c, 6).was_compiled, 1);
    assert_int_equal(crowd_run(&c, MANY - 1).was_compiled, 1);
    assert_int_equal(crowd_run(&c, 0).was_compiled, 0);
    assert_int_equal(crowd_run(&c, 5).was_compiled, 0);
    assert_int_equal(crowd_run(&c, 6).was_compiled, 1);
    if (device) {
        assert_int_equal(vyre_buffer_download(device, c.buffer, 0, c.data, sizeof c.data, NULL),
                         VYRE_OK);
    }
    for (uint32_t h = 0; h < MANY; h++) {
        uint32_t runs =
            1u + (h >= 1 && h < KEPT) + (h == 0) + (h == 5) + 2u * (h == 6) + (h == MANY - 1);
        assert_int_equal(c.data[h], runs * (h + 1));
    }
    vyre_dispatcher_destroy(&c.dispatcher);
    if (device) {
        assert_int_equal(vyre_buffer_destroy(device, &c.buffer, NULL), VYRE_OK);
    }
}

static void test_programs_not_used_for_longest_make_room(void **state)
{
    (void)state;
    RIG_FOR_EACH(evict);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_not_used_for_longest_make_room),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}
