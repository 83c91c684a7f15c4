/* The draining program against what the protocol says, on the interpreter and on the device: every
 * slot ends in one status and is counted once, whatever the queue's length and the grid; every
 * operation does what it should, and nothing beside it. */
#include "tests/megakernel/drain_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBSERVABLES   DRAIN_OBSERVABLES
#define CONTROL_WORDS DRAIN_CONTROL_WORDS
#define OPEN          DRAIN_OPEN

static const vy_drain_params plain = {.form = VY_DRAIN_OF_RING};

/* ---- Conservation ---------------------------------------------------------------------------- */

static void check_lengths(drain_fn drain, const vy_drain_params *params, const uint32_t *lengths,
                          size_t length_count)
{
    static const uint32_t grids[] = {1, 7, 64, 1000};
    for (size_t l = 0; l < length_count; l++) {
        drain_queue *q = drain_open(lengths[l], params);
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
            uint32_t n = lengths[l];
            if (drain == drain_on_interpreter && grids[g] == 1000 && l > 0) {
                continue; /* 64,000 invocations that find nothing */
            }
            drain_reset(q);
            for (uint32_t s = 0; s < n; s++) {
                drain_put(q, s, VYRE_OPCODE_ATOMIC_ADD, s, OPEN + s % OBSERVABLES, 0);
            }
            drain(q, grids[g]);
            vyre_control_report r = drain_check_sums(q, n);
            assert_int_equal(r.done_count, n);
            for (uint32_t k = 0; k < OBSERVABLES; k++) {
                uint32_t sum = 0;
                for (uint32_t s = k; s < n; s += OBSERVABLES) {
                    sum += s;
                }
                assert_int_equal(q->control[OPEN + k], sum);
            }
            assert_int_equal(q->control[VYRE_CONTROL_METRICS + VYRE_OPCODE_ATOMIC_ADD], n);
            assert_int_equal(q->control[VYRE_CONTROL_TENANT_FAIRNESS], n);
            assert_int_equal(q->control[VYRE_CONTROL_PRIORITY_FAIRNESS + VYRE_PRIORITY_NORMAL], n);
        }
        drain_close(&q);
    }
}

static void test_drain_conserves_on_the_interpreter(void **state)
{
    static const uint32_t lengths[] = {0, 1, 10, 11, 63, 64, 65, 4095, 4096, 4097};
    (void)state;
    check_lengths(drain_on_interpreter, &plain, lengths, sizeof lengths / sizeof *lengths);
}

static void test_drain_conserves_on_the_device(void **state)
{
    static const uint32_t lengths[] = {0, 1, 10, 11, 63, 64, 65, 4095, 4096, 4097, 1000000};
    (void)state;
    if (drain_device) {
        check_lengths(drain_on_device, &plain, lengths, sizeof lengths / sizeof *lengths);
    }
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* One slot, and what becomes of words that are their own number (fault: nothing but the counts). */
typedef struct operation {
    uint32_t opcode, args[3];
    vyre_slot_fault fault;
    uint32_t word, value; /* a word that changes; 0: none */
} operation;

#define LAST (CONTROL_WORDS - 1)

static const operation operations[] = {
    {VYRE_OPCODE_NOP, {1, 2, 3}, VYRE_FAULT_NONE, 0, 0},
    {VYRE_OPCODE_STORE_U32, {77, OPEN, 0}, VYRE_FAULT_NONE, OPEN, 77},
    {VYRE_OPCODE_STORE_U32, {77, LAST, 0}, VYRE_FAULT_NONE, LAST, 77},
    {VYRE_OPCODE_STORE_U32, {77, LAST + 1, 0}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_STORE_U32, {77, OPEN - 1, 0}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_STORE_U32, {77, VYRE_CONTROL_DONE_COUNT, 0}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_STORE_U32, {77, UINT32_MAX, 0}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_ATOMIC_ADD, {5, OPEN + 3, 0}, VYRE_FAULT_NONE, OPEN + 3, OPEN + 8},
    {VYRE_OPCODE_ATOMIC_ADD, {5, 3, 0}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_LOAD_U32, {OPEN + 9, 4, 0}, VYRE_FAULT_NONE, OPEN + 4, OPEN + 9},
    {VYRE_OPCODE_LOAD_U32, {VYRE_CONTROL_TENANT_BASE, 0, 0}, VYRE_FAULT_NONE, OPEN, 3},
    {VYRE_OPCODE_LOAD_U32, {LAST + 1, 0, 0}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_LOAD_U32, {OPEN, OBSERVABLES, 0}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_LOAD_U32, {OPEN, UINT32_MAX, 0}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_COMPARE_SWAP, {OPEN, OPEN, 9}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_MEMCPY, {OPEN + 1, OPEN, 1}, VYRE_FAULT_NONE, OPEN, OPEN + 1},
    {VYRE_OPCODE_MEMCPY, {0, LAST + 1, 0}, VYRE_FAULT_NONE, 0, 0},
    {VYRE_OPCODE_MEMCPY, {OPEN, LAST, 2}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_MEMCPY, {LAST, OPEN, 2}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_MEMCPY, {OPEN, OPEN, UINT32_MAX}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_MEMCPY, {UINT32_MAX, OPEN, 2}, VYRE_FAULT_BOUNDS, 0, 0},
    {VYRE_OPCODE_DFA_STEP, {0, 0, 0}, VYRE_FAULT_UNKNOWN_OPCODE, 0, 0},
    {VYRE_OPCODE_BATCH_FENCE, {9, 1234, 0}, VYRE_FAULT_NONE, OPEN, 1234},
    {VYRE_OPCODE_SHUTDOWN, {0, 0, 0}, VYRE_FAULT_NONE, VYRE_CONTROL_SHUTDOWN, 1},
    {8, {0, 0, 0}, VYRE_FAULT_UNKNOWN_OPCODE, 0, 0},
    {31, {0, 0, 0}, VYRE_FAULT_UNKNOWN_OPCODE, 0, 0},
    {0x12345, {0, 0, 0}, VYRE_FAULT_UNKNOWN_OPCODE, 0, 0}};

static void check_operation(drain_queue *q, const operation *o, drain_fn drain)
{
    uint32_t before[CONTROL_WORDS];
    drain_reset(q);
    for (uint32_t w = OPEN; w < CONTROL_WORDS; w++) {
        q->control[w] = w;
    }
    memcpy(before, q->control, sizeof before);
    drain_put(q, 2, o->opcode, o->args[0], o->args[1], o->args[2]);
    drain(q, 1);
    vyre_control_report r = drain_check_sums(q, 1);
    assert_int_equal(r.done_count, o->fault == VYRE_FAULT_NONE);
    assert_int_equal(r.fault_count, o->fault != VYRE_FAULT_NONE);
    assert_int_equal(r.unknown_count, o->fault == VYRE_FAULT_UNKNOWN_OPCODE);
    assert_int_equal(r.fault_slot, o->fault ? 2 : VYRE_DIAG_NONE);
    assert_int_equal(r.fault_code, o->fault);
    assert_int_equal(q->ring[2 * VYRE_SLOT_WORDS + VYRE_SLOT_WORDS - 1], o->fault);
    assert_int_equal(r.epoch, o->opcode == VYRE_OPCODE_BATCH_FENCE);
    bool is_counted = o->opcode < VYRE_METRIC_COUNT && o->fault != VYRE_FAULT_UNKNOWN_OPCODE;
    for (uint32_t m = 0; m < VYRE_METRIC_COUNT; m++) {
        assert_int_equal(q->control[VYRE_CONTROL_METRICS + m], is_counted && m == o->opcode);
    }
    if (o->word) {
        before[o->word] = o->value;
    }
    before[VYRE_CONTROL_SHUTDOWN] = o->opcode == VYRE_OPCODE_SHUTDOWN;
    assert_int_equal(q->control[VYRE_CONTROL_SHUTDOWN], before[VYRE_CONTROL_SHUTDOWN]);
    assert_memory_equal(q->control + OPEN, before + OPEN, sizeof before - OPEN * 4);
    assert_memory_equal(q->control + VYRE_CONTROL_TENANT_BASE, before + VYRE_CONTROL_TENANT_BASE,
                        (VYRE_CONTROL_TENANT_FAIRNESS - VYRE_CONTROL_TENANT_BASE) * 4);
}

static void test_drain_operations_do_that_and_nothing_else(void **state)
{
    (void)state;
    drain_queue *q = drain_open(5, &plain);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        check_operation(q, &operations[i], drain_on_interpreter);
        if (drain_device) {
            check_operation(q, &operations[i], drain_on_device);
        }
    }
    drain_close(&q);
}

/* ---- Packed slots, the log, tenants ---------------------------------------------------------- */

static void check_packed(drain_queue *q, drain_fn drain)
{
    /* Head of 1 + 23 pairs and no argument words; then four operations in order, one that fails. */
    drain_reset(q);
    drain_put(q, 0, VYRE_OPCODE_PACKED_SLOT, 23, 0, 0);
    drain_put(q, 1, VYRE_OPCODE_PACKED_SLOT, 0, 0, 0);
    uint32_t *args = q->ring + VYRE_SLOT_ARGS;
    unsigned char head[8] = {
        3, 6, VYRE_OPCODE_ATOMIC_ADD, 0, VYRE_OPCODE_STORE_U32, 2, VYRE_OPCODE_ATOMIC_ADD, 4};
    drain_put(q, 2, VYRE_OPCODE_PACKED_SLOT, 0, 0, 0);
    args = q->ring + 2 * VYRE_SLOT_WORDS + VYRE_SLOT_ARGS;
    memcpy(args, head, sizeof head);
    const uint32_t values[6] = {10, OPEN, 20, OPEN + 1, 30, 2 /* of the protocol */};
    memcpy(args + 2, values, sizeof values);
    drain_put(q, 3, VYRE_OPCODE_PACKED_SLOT, 24, 0, 0);
    drain_put(q, 4, VYRE_OPCODE_PACKED_SLOT, 255 << 8 | 1, 0, 0);
    /* An operation without arguments before one with them: it has zeros, not the other's. */
    const vyre_packed_op ops[2] = {{VYRE_OPCODE_STORE_U32, NULL, 0},
                                   {VYRE_OPCODE_ATOMIC_ADD, (const uint32_t[]){4, OPEN + 2}, 2}};
    assert_int_equal(vyre_ring_publish_packed(q->ring, q->slot_count * VYRE_SLOT_SIZE, 5, 0,
                                              VYRE_PRIORITY_NORMAL, ops, 2, NULL),
                     VYRE_OK);
    assert_int_equal(vyre_ring_publish_packed(q->ring, q->slot_count * VYRE_SLOT_SIZE, 6, 0,
                                              VYRE_PRIORITY_NORMAL, ops + 1, 1, NULL),
                     VYRE_OK);
    drain(q, 3);
    vyre_control_report r = drain_check_sums(q, 7);
    assert_int_equal(r.done_count, 2); /* 23 times NOP, an addition */
    assert_int_equal(q->control[VYRE_CONTROL_METRICS], 23);
    assert_int_equal(r.fault_count, 5);
    assert_int_equal(r.fault_slot, 1);
    assert_int_equal(r.fault_code, VYRE_FAULT_PACKED);
    static const uint32_t faults[7] = {0,
                                       VYRE_FAULT_PACKED,
                                       VYRE_FAULT_BOUNDS,
                                       VYRE_FAULT_PACKED,
                                       VYRE_FAULT_PACKED,
                                       VYRE_FAULT_BOUNDS,
                                       0};
    for (uint32_t s = 0; s < 7; s++) {
        assert_int_equal(q->ring[s * VYRE_SLOT_WORDS + 15], faults[s]);
    }
    assert_int_equal(q->control[OPEN], 10);
    assert_int_equal(q->control[OPEN + 1], 20);
    assert_int_equal(q->control[OPEN + 2], 4);
}

static void check_log(drain_queue *q, drain_fn drain)
{
    drain_reset(q);
    for (uint32_t s = 0; s < q->slot_count; s++) {
        drain_put(q, s, VYRE_OPCODE_PRINTF, s, 2 * s, 3 * s);
    }
    drain(q, 2);
    (void)drain_check_sums(q, q->slot_count);
    vyre_debug_record records[VYRE_DEBUG_LOG_LENGTH];
    uint32_t count = 0, lost = 0, seen = 0;
    assert_int_equal(vyre_debug_log_read(q->log, sizeof q->log, records, VYRE_DEBUG_LOG_LENGTH,
                                         &count, &lost, NULL),
                     VYRE_OK);
    assert_int_equal(count, q->slot_count);
    assert_int_equal(lost, 0);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t s = records[i].format;
        assert_int_equal(records[i].args[0], 2 * s);
        assert_int_equal(records[i].args[1], 3 * s);
        assert_int_equal(records[i].slot_word, s * VYRE_SLOT_WORDS);
        seen |= 1u << s;
    }
    assert_int_equal(seen, (1u << q->slot_count) - 1);
}

static void check_tenants(drain_queue *q, drain_fn drain)
{
    static const uint32_t tenants[5] = {0, 1, 28, 29, UINT32_MAX};
    drain_reset(q);
    q->control[VYRE_CONTROL_TENANT_MASKS + 28] = 1;
    for (uint32_t s = 0; s < 5; s++) {
        drain_put(q, s, VYRE_OPCODE_NOP, 0, 0, 0);
        q->ring[s * VYRE_SLOT_WORDS + VYRE_SLOT_TENANT] = tenants[s];
    }
    drain(q, 1);
    vyre_control_report r = drain_check_sums(q, 5);
    assert_int_equal(r.done_count, 2);
    assert_int_equal(r.denied_count, 1);
    assert_int_equal(r.fault_count, 2);
    assert_int_equal(r.fault_code, VYRE_FAULT_TENANT);
    assert_int_equal(q->ring[VYRE_SLOT_WORDS], VYRE_STATUS_PUBLISHED);
}

static void test_drain_packed_slots_logs_and_tenants(void **state)
{
    (void)state;
    drain_queue *q = drain_open(7, &plain);
    for (int way = 0; way < (drain_device ? 2 : 1); way++) {
        drain_fn drain = way ? drain_on_device : drain_on_interpreter;
        check_packed(q, drain);
        check_log(q, drain);
        check_tenants(q, drain);
    }
    drain_close(&q);
}

/* Lanes that claim together, where operations part them. Without the validation layer, which does
 * not know maximal reconvergence; one device at a time is what the test layer takes. */
static void test_drain_claims_by_subgroup(void **state)
{
    static const uint32_t lengths[] = {0, 1, 7, 8, 9, 63, 64, 65, 4097};
    static const vy_drain_params params = {.claim = VYRE_CLAIM_SUBGROUP, .workgroup = 96};
    vyre_kernel_params can = {.struct_size = sizeof can};
    bool has_device = drain_device != NULL;
    (void)state;
    if (drain_device) {
        engine_close(&drain_device);
    }
    check_lengths(drain_on_interpreter, &params, lengths, sizeof lengths / sizeof *lengths);
    if (!has_device) {
        return;
    }
    drain_device = engine_open(0);
    vyre_device_kernel_params(drain_device, &can);
    if (can.reconvergence == VYRE_RECONVERGENCE_MAXIMAL) {
        check_lengths(drain_on_device, &params, lengths, sizeof lengths / sizeof *lengths);
        drain_queue *q = drain_open(7, &params);
        check_packed(q, drain_on_device);
        check_tenants(q, drain_on_device);
        drain_close(&q);
    } else {
        print_message("lanes that part are not promised to meet on this device\n");
    }
    engine_close(&drain_device);
    drain_device = engine_open(1);
}

/* ---- Slices ---------------------------------------------------------------------------------- */

/* Launches of few claims each leave what they did not come to, and the next goes on there. */
static void check_slices(drain_queue *q, drain_fn drain)
{
    uint32_t launches = 0, done = 0;
    drain_reset(q);
    q->max_claims = 2;
    for (uint32_t s = 0; s < q->slot_count; s++) {
        drain_put(q, s, VYRE_OPCODE_ATOMIC_ADD, 1, OPEN, 0);
    }
    while (done < q->slot_count && launches < 100) {
        drain(q, 3);
        vyre_control_report r = drain_check_sums(q, q->slot_count);
        assert_true(r.done_count > done && r.done_count <= done + 2 * 3 * 64);
        done = r.done_count;
        launches++;
    }
    assert_int_equal(q->control[OPEN], q->slot_count);
    assert_true(launches > 1);
    /* A queue that was told to stop claims nothing, where it is asked to look. */
    for (q->persistent = 0; q->persistent < 2; q->persistent++) {
        drain_reset(q);
        drain_put(q, 0, VYRE_OPCODE_NOP, 0, 0, 0);
        q->control[VYRE_CONTROL_SHUTDOWN] = 1;
        drain(q, 1);
        assert_int_equal(drain_check_sums(q, 1).done_count, !q->persistent);
    }
    q->persistent = 0;
    q->max_claims = UINT32_MAX;
}

static void test_drain_goes_on_where_a_slice_ended(void **state)
{
    (void)state;
    drain_queue *q = drain_open(1000, &plain);
    check_slices(q, drain_on_interpreter);
    if (drain_device) {
        check_slices(q, drain_on_device);
    }
    drain_close(&q);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static const char square_text[] = "program squares\n"
                                  "inout results : u32[]\n"
                                  "fn square(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 {\n"
                                  "    if a1 >= len(results) { return 5 }\n"
                                  "    results[a1] = a0 * a0 + slot\n"
                                  "    return 0\n"
                                  "}\n"
                                  "fn refuse(slot: u32, a0: u32, a1: u32, a2: u32) -> u32 {\n"
                                  "    return 5\n"
                                  "}\n"
                                  "kernel { }\n";

static void check_handlers(drain_queue *q, drain_fn drain)
{
    drain_reset(q);
    for (uint32_t s = 0; s < q->slot_count; s++) {
        drain_put(q, s, s % 3 == 2 ? 9 : 0x1000, s + 7, s, 0);
    }
    drain(q, 16);
    vyre_control_report r = drain_check_sums(q, q->slot_count);
    uint32_t refused = q->slot_count / 3;
    assert_int_equal(r.fault_count, refused);
    assert_int_equal(r.fault_slot, 2);
    assert_int_equal(r.fault_code, VYRE_FAULT_HANDLER);
    assert_int_equal(r.unknown_count, 0);
    assert_int_equal(q->control[VYRE_CONTROL_METRICS + 9], refused);
    for (uint32_t s = 0; s < q->slot_count; s++) {
        assert_int_equal(q->extra[0][s], s % 3 == 2 ? 0 : (s + 7) * (s + 7) + s);
    }
}

static void test_drain_runs_handlers(void **state)
{
    static const vyre_handler handlers[] = {{0x1000, "square", 0}, {9, "refuse", 0}};
    (void)state;
    vyre_program *program = drain_parse(square_text);
    const vy_drain_params params = {
        .workgroup = 32, .program = program, .handlers = handlers, .handler_count = 2};
    drain_queue *q = drain_open(4098, &params);
    q->extra_counts[0] = q->slot_count;
    q->extra[0] = drain_words(q->slot_count);
    check_handlers(q, drain_on_interpreter);
    if (drain_device) {
        check_handlers(q, drain_on_device);
    }
    drain_close(&q);
    vyre_program_destroy(&program);
}

static void refuse(const vy_drain_params *params, const char *part)
{
    vyre_program *program = (vyre_program *)1;
    vyre_diag diag;
    assert_int_equal(vy_drain_build(params, NULL, &program, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_null(program);
    assert_non_null(strstr(diag.message, part));
    assert_non_null(strstr(diag.message, "Fix: "));
}

static void test_drain_refuses_opcodes_of_the_system_and_twice(void **state)
{
    static const vyre_handler system_opcode[] = {{7, "square", 0}};
    static const vyre_handler twice[] = {{0x1000, "square", 0}, {0x1000, "refuse", 0}};
    static const vyre_handler nameless[] = {{0x1000, "", 0}};
    (void)state;
    vyre_program *program = drain_parse(square_text);
    vy_drain_params params = {.program = program, .handlers = system_opcode, .handler_count = 1};
    refuse(&params, "0x7 of 'square' is the system's");
    params.handlers = nameless;
    refuse(&params, "no function");
    params.handlers = twice;
    params.handler_count = 2;
    refuse(&params, "'square' and 'refuse'");
    vyre_program_destroy(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drain_conserves_on_the_interpreter),
        cmocka_unit_test(test_drain_conserves_on_the_device),
        cmocka_unit_test(test_drain_operations_do_that_and_nothing_else),
        cmocka_unit_test(test_drain_packed_slots_logs_and_tenants),
        cmocka_unit_test(test_drain_claims_by_subgroup),
        cmocka_unit_test(test_drain_goes_on_where_a_slice_ended),
        cmocka_unit_test(test_drain_runs_handlers),
        cmocka_unit_test(test_drain_refuses_opcodes_of_the_system_and_twice),
    };
    return cmocka_run_group_tests(tests, drain_open_device, drain_close_device);
}
