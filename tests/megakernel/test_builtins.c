/* Queues of built-in operations through the dispatcher against an oracle that runs them one by one:
 * every word of the control buffer that is not a worker's count, and what became of the items. */
#include "tests/megakernel/builtin_oracle.h"
#include "tests/megakernel/dispatcher_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { OBSERVABLES = 512, WORDS = VYRE_CONTROL_OBSERVABLES + OBSERVABLES, MAX_ITEMS = 200 };

typedef struct built_in_queue {
    uint32_t control[WORDS], expected[WORDS];
    vyre_work_item items[MAX_ITEMS];
    vyre_slot_fault faults[MAX_ITEMS];
    uint32_t count;
    builtin_oracle oracle;
} built_in_queue;

static void make_queue(built_in_queue *q, uint64_t seed, uint32_t count)
{
    vyre_control_params params;
    vyre_control_params_init(&params);
    assert_int_equal(vyre_control_encode(&params, q->control, sizeof q->control, NULL), VYRE_OK);
    for (uint32_t w = VYRE_CONTROL_OBSERVABLES; w < WORDS; w++) {
        q->control[w] = w % 3;
    }
    memcpy(q->expected, q->control, sizeof q->expected);
    oracle_init(&q->oracle, q->expected, WORDS);
    q->count = count;
    for (uint32_t i = 0; i < count; i++) {
        q->items[i] = oracle_make(&q->oracle, &seed);
        q->faults[i] = oracle_run(&q->oracle, &q->items[i]);
    }
}

static void check_words(const built_in_queue *q, uint64_t seed)
{
    for (uint32_t w = 0; w < WORDS; w++) {
        if (oracle_is_fixed(w) && q->control[w] != q->expected[w]) {
            fail_msg("seed %llu: word %u is %u and not %u", (unsigned long long)seed, (unsigned)w,
                     (unsigned)q->control[w], (unsigned)q->expected[w]);
        }
    }
}

static void check_counts(const built_in_queue *q, const vyre_queue_report *report)
{
    const builtin_oracle *o = &q->oracle;
    assert_int_equal(report->deduped, 0);
    assert_int_equal(report->processed, o->done_count);
    assert_int_equal(report->faulted, o->fault_count);
    assert_int_equal(report->unknown, o->unknown_count);
    assert_int_equal(report->remaining + report->denied, 0);
    uint32_t executed = 0, sum = 0;
    for (uint32_t i = 0; i < q->count; i++) {
        executed += q->items[i].opcode < 8;
    }
    for (uint32_t m = 0; m < VYRE_METRIC_COUNT; m++) {
        uint32_t metric = q->control[VYRE_CONTROL_METRICS + m];
        assert_int_equal(metric, q->expected[VYRE_CONTROL_METRICS + m]);
        sum += metric;
    }
    assert_int_equal(sum, executed);
}

/* The lowest as the queue was drained, which is any order of items that do not meet. */
static void check_fault(const built_in_queue *q, const vyre_queue_report *report)
{
    if (q->oracle.fault_count == 0) {
        assert_int_equal(report->fault_slot, VYRE_DIAG_NONE);
        assert_int_equal(report->fault_code, VYRE_FAULT_NONE);
        return;
    }
    assert_true(report->fault_slot < q->count);
    assert_true(report->fault_code != VYRE_FAULT_NONE);
    assert_int_equal(report->fault_code, q->faults[report->fault_slot]);
}

static void run_queue(rig *r, uint64_t seed, uint32_t count, uint32_t flags)
{
    static built_in_queue q;
    vyre_queue_params params;
    make_queue(&q, seed, count);
    vyre_queue_params_init(&params);
    params.flags = flags;
    params.control = q.control;
    params.control_size = sizeof q.control;
    vyre_queue_report report = rig_run_with(r, q.items, q.count, &params);
    check_words(&q, seed);
    check_fault(&q, &report);
    assert_int_equal(report.epoch, q.expected[VYRE_CONTROL_EPOCH]);
    if (flags & VYRE_QUEUE_KEEP_DUPLICATES) {
        check_counts(&q, &report);
    }
}

static void equal_the_oracle(vyre_device *device)
{
    static const uint32_t flags[] = {0, VYRE_QUEUE_KEEP_DUPLICATES,
                                     VYRE_QUEUE_KEEP_DUPLICATES | VYRE_QUEUE_ARRANGE,
                                     VYRE_QUEUE_KEEP_DUPLICATES | VYRE_QUEUE_STRICT};
    vyre_dispatcher_params params;
    vyre_dispatcher_params_init(&params);
    params.observable_count = OBSERVABLES;
    rig *r = rig_open(device, 4, &params);
    print_message("seeds 1 to 600\n");
    for (uint64_t seed = 1; seed <= 600; seed++) {
        uint32_t count = seed % 10 ? 1 + (uint32_t)(seed * 7 % 64) : MAX_ITEMS;
        run_queue(r, seed, count, flags[seed % (sizeof flags / sizeof *flags)]);
    }
    rig_close(&r);
}

static void test_builtins_equal_the_oracle(void **state)
{
    (void)state;
    RIG_FOR_EACH(equal_the_oracle);
}

/* One opcode alone, long enough for a kernel of its own: nobody has it, or everybody. */
static void of_one_opcode(vyre_device *device)
{
    enum { COUNT = 5000 };
    static const uint32_t opcodes[] = {0x12345, 31, VYRE_OPCODE_NOP, VYRE_OPCODE_LOAD_U32};
    vyre_work_item *items = calloc(COUNT, sizeof *items);
    assert_non_null(items);
    rig *r = rig_open(device, 4, NULL);
    for (size_t o = 0; o < sizeof opcodes / sizeof *opcodes; o++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            items[i] = rig_item(opcodes[o], 2, i + 1, i); /* no observable: LOAD_U32 is a fault */
        }
        vyre_queue_report report = rig_run(r, items, COUNT, 0);
        bool is_nop = opcodes[o] == VYRE_OPCODE_NOP;
        assert_int_equal(report.processed, is_nop ? COUNT : 0);
        assert_int_equal(report.faulted, is_nop ? 0 : COUNT);
        assert_int_equal(report.unknown, opcodes[o] == 0x12345 || opcodes[o] == 31 ? COUNT : 0);
        assert_int_equal(report.fault_slot, is_nop ? VYRE_DIAG_NONE : 0);
    }
    rig_close(&r);
    free(items);
}

static void test_queues_of_one_opcode_end_as_any_other(void **state)
{
    (void)state;
    RIG_FOR_EACH(of_one_opcode);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtins_equal_the_oracle),
        cmocka_unit_test(test_queues_of_one_opcode_end_as_any_other),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}
