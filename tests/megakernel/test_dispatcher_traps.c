/* Handlers that trap or use up a loop: the record is the report's, the launch goes on to its end,
 * and the queue ends with it. */
#include "tests/megakernel/dispatcher_support.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

enum { WORDS = 64, ITEMS = 1000, AT = 500, OPCODE = 8, TRAPS = 1, LOOPS = 2 };

static const char program_text[] = "program traps\n"
                                   "loop_limit 1000\n"
                                   "inout data : u32[]\n"
                                   "fn hit(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 {\n"
                                   "    if a2 == 1 { trap(7) }\n"
                                   "    if a2 == 2 { while true { data[a1] = data[a1] } }\n"
                                   "    data[a1] = data[a1] + 1\n"
                                   "    return 0\n"
                                   "}\n"
                                   "kernel { }\n";

typedef struct trapper {
    uint32_t data[WORDS];
    vyre_buffer buffer;
    vyre_dispatcher *dispatcher;
} trapper;

static void trapper_init(trapper *t, vyre_device *device)
{
    static const vyre_handler handler = {OPCODE, "hit",
                                         VYRE_EFFECT_READS_OUTPUT | VYRE_EFFECT_WRITES_OUTPUT};
    vyre_dispatcher_params params;
    vyre_program *program = NULL;
    memset(t, 0, sizeof *t);
    assert_int_equal(
        vyre_program_parse(program_text, strlen(program_text), "traps", NULL, &program, NULL),
        VYRE_OK);
    vyre_binding binding = engine_host_inout(t->data, WORDS);
    if (device) {
        t->buffer = engine_buffer(device, sizeof t->data, t->data);
        binding = engine_resident(t->buffer, 0, WORDS);
    }
    vyre_dispatcher_params_init(&params);
    params.program = program;
    params.handlers = &handler;
    params.handler_count = 1;
    params.bindings = &binding;
    params.binding_count = 1;
    assert_int_equal(vyre_dispatcher_create(device, &params, &t->dispatcher, NULL), VYRE_OK);
    vyre_program_destroy(&program);
}

/* ITEMS of which that at AT is of this kind: sixteen waves, of which it is in the eighth. */
static vyre_queue_report run_kind(const trapper *t, uint32_t kind, uint32_t flags)
{
    vyre_work_item items[ITEMS];
    vyre_queue_params params;
    vyre_queue_report report;
    vyre_queue_params_init(&params);
    params.flags = flags;
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i] = rig_item(OPCODE, 0, i % WORDS, i == AT ? kind : 0);
    }
    assert_int_equal(vyre_dispatcher_run(t->dispatcher, items, ITEMS, &params, &report, NULL),
                     VYRE_OK);
    rig_check_sums(&report);
    assert_int_equal(report.faulted + report.denied, 0);
    return report;
}

static void run_traps(vyre_device *device)
{
    static trapper t;
    uint32_t expected = 0;
    trapper_init(&t, device);
    for (uint32_t kind = TRAPS; kind <= LOOPS; kind++) {
        static const uint32_t flags[] = {0, VYRE_QUEUE_STRICT};
        for (uint32_t f = 0; f < 2; f++) {
            vyre_queue_report report = run_kind(&t, kind, flags[f]);
            assert_int_equal(report.waves, 16);
            assert_int_equal(report.record.kind,
                             kind == TRAPS ? VYRE_RECORD_TRAP : VYRE_RECORD_LOOP_LIMIT);
            assert_int_equal(report.record.code, kind == TRAPS ? 7 : 0);
            /* Up to the wave of the item at least; as a ring each wave is a launch. */
            assert_true(report.processed >= 8 * WORDS);
            if (flags[f] & VYRE_QUEUE_STRICT) {
                assert_int_equal(report.processed, 8 * WORDS);
                assert_int_equal(report.remaining, ITEMS - 8 * WORDS);
                assert_int_equal(report.statuses.by_status[VYRE_STATUS_PUBLISHED],
                                 report.remaining);
            }
            expected += report.processed;
            report = run_kind(&t, 0, flags[f]); /* the next is as any */
            assert_int_equal(report.processed, ITEMS);
            assert_int_equal(report.record.kind, VYRE_RECORD_NONE);
            expected += ITEMS;
        }
    }
    if (device) {
        assert_int_equal(vyre_buffer_download(device, t.buffer, 0, t.data, sizeof t.data, NULL),
                         VYRE_OK);
    }
    uint32_t sum = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        sum += t.data[w];
    }
    assert_int_equal(sum, expected); /* what counts as done was run to its end */
    vyre_dispatcher_destroy(&t.dispatcher);
    if (device) {
        assert_int_equal(vyre_buffer_destroy(device, &t.buffer, NULL), VYRE_OK);
    }
}

static void test_a_trap_ends_the_queue_behind_its_launch(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_traps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_trap_ends_the_queue_behind_its_launch),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}
