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
static const vy_drain_params plain_items = {.form = VY_DRAIN_OF_ITEMS};

/* ---- Conservation ---------------------------------------------------------------------------- */

/* A third of the queue, nothing, one item, and what is left. */
static void set_waves(drain_queue *q)
{
    uint32_t n = q->slot_count;
    const uint32_t lengths[4] = {n / 3, 0, n > 0, n - n / 3 - (n > 0)};
    drain_set_waves(q, lengths, q->how.in_waves ? 4 : 1);
}

static void check_counts(const drain_queue *q)
{
    uint32_t n = q->slot_count;
    const uint32_t *classes = q->control + VYRE_CONTROL_PRIORITY_FAIRNESS;
    vyre_control_report r = drain_check_sums(q, n);
    assert_int_equal(r.done_count, n);
    assert_int_equal(r.fault_count + r.denied_count + r.requeue_count, 0);
    for (uint32_t k = 0; k < OBSERVABLES; k++) {
        uint32_t sum = 0;
        for (uint32_t s = k; s < n; s += OBSERVABLES) {
            sum += s;
        }
        assert_int_equal(q->control[OPEN + k], sum);
    }
    assert_int_equal(q->control[VYRE_CONTROL_METRICS + VYRE_OPCODE_ATOMIC_ADD], n);
    assert_int_equal(q->control[VYRE_CONTROL_TENANT_FAIRNESS], n);
    for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
        bool is_normal = p == VYRE_PRIORITY_NORMAL;
        uint32_t claims = is_normal ? n : 0;
        if (q->how.by_priority) {
            claims = is_normal ? n - 4 * (n / 5) : n / 5;
        }
        assert_int_equal(classes[p], claims);
    }
    if (q->how.in_waves || q->how.by_priority) {
        assert_int_equal(r.cursor, n);
    } else {
        assert_true(r.cursor >= n);
    }
}

static void check_lengths(drain_fn drain, const vy_drain_params *params, const uint32_t *lengths,
                          size_t length_count)
{
    static const uint32_t grids[] = {1, 7, 64, 1000};
    for (size_t l = 0; l < length_count; l++) {
        drain_queue *q = drain_open(lengths[l], params);
        set_waves(q);
        for (size_t g = 0; g < VY_COUNT_OF(grids); g++) {
            if (drain == drain_on_interpreter && grids[g] == 1000 && l > 0) {
                continue; /* 64,000 invocations that find nothing */
            }
            drain_reset(q);
            for (uint32_t s = 0; s < lengths[l]; s++) {
                drain_put(q, s, VYRE_OPCODE_ATOMIC_ADD, s, OPEN + s % OBSERVABLES, 0);
            }
            drain(q, grids[g]);
            check_counts(q);
        }
        drain_close(&q);
    }
}

/* Every form by every claim; those by subgroups apart. */
#define SPECIAL .form = VY_DRAIN_OF_ITEMS, .is_special = true, .opcode = VYRE_OPCODE_ATOMIC_ADD
static const vy_drain_params ways[] = {
    {.form = VY_DRAIN_OF_RING},
    {.form = VY_DRAIN_OF_RING, .claim = VYRE_CLAIM_WORKGROUP, .workgroup = 96},
    {.form = VY_DRAIN_OF_RING, .claim = VYRE_CLAIM_LANE},
    {.form = VY_DRAIN_OF_RING, .by_priority = true},
    {.form = VY_DRAIN_OF_ITEMS},
    {.form = VY_DRAIN_OF_ITEMS, .claim = VYRE_CLAIM_LANE},
    {.form = VY_DRAIN_OF_ITEMS, .claim = VYRE_CLAIM_WORKGROUP, .workgroup = 256, .in_waves = true},
    {.form = VY_DRAIN_OF_ITEMS, .claim = VYRE_CLAIM_LANE, .in_waves = true},
    {SPECIAL},
    {SPECIAL, .claim = VYRE_CLAIM_LANE},
    {SPECIAL, .in_waves = true},
};
static const vy_drain_params subgroup_ways[] = {
    {.form = VY_DRAIN_OF_RING, .claim = VYRE_CLAIM_SUBGROUP, .workgroup = 96},
    {.form = VY_DRAIN_OF_ITEMS, .claim = VYRE_CLAIM_SUBGROUP},
    {.form = VY_DRAIN_OF_ITEMS, .claim = VYRE_CLAIM_SUBGROUP, .in_waves = true},
    {SPECIAL, .claim = VYRE_CLAIM_SUBGROUP, .workgroup = 96},
};

static void test_drain_conserves_on_the_interpreter(void **state)
{
    static const uint32_t lengths[] = {0, 1, 10, 11, 63, 64, 65, 4095, 4096, 4097};
    (void)state;
    for (size_t w = 0; w < VY_COUNT_OF(ways); w++) {
        check_lengths(drain_on_interpreter, &ways[w], lengths, VY_COUNT_OF(lengths));
    }
}

static void test_drain_conserves_on_the_device(void **state)
{
    static const uint32_t lengths[] = {0, 1, 10, 11, 63, 64, 65, 4095, 4096, 4097, 1000000};
    (void)state;
    for (size_t w = 0; drain_device && w < VY_COUNT_OF(ways); w++) {
        check_lengths(drain_on_device, &ways[w], lengths, VY_COUNT_OF(lengths));
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

/* In slot 2; where a queue has no empty slots, behind NOPs. */
static void check_operation(drain_queue *q, const operation *o, drain_fn drain)
{
    bool is_ring = q->how.form == VY_DRAIN_OF_RING;
    uint32_t others = is_ring ? 0 : 2;
    uint32_t before[CONTROL_WORDS];
    drain_reset(q);
    for (uint32_t w = OPEN; w < CONTROL_WORDS; w++) {
        q->control[w] = w;
    }
    memcpy(before, q->control, sizeof before);
    drain_put(q, 2, o->opcode, o->args[0], o->args[1], o->args[2]);
    drain(q, 1);
    vyre_control_report r = drain_check_sums(q, 1);
    assert_int_equal(r.done_count, others + (o->fault == VYRE_FAULT_NONE));
    assert_int_equal(r.fault_count, o->fault != VYRE_FAULT_NONE);
    assert_int_equal(r.unknown_count, o->fault == VYRE_FAULT_UNKNOWN_OPCODE);
    assert_int_equal(r.fault_slot, o->fault ? 2 : VYRE_DIAG_NONE);
    assert_int_equal(r.fault_code, o->fault);
    if (is_ring) {
        assert_int_equal(drain_slot(q, 2)[VYRE_SLOT_WORDS - 1], o->fault);
    }
    assert_int_equal(r.epoch, o->opcode == VYRE_OPCODE_BATCH_FENCE);
    bool is_counted = o->opcode < VYRE_METRIC_COUNT && o->fault != VYRE_FAULT_UNKNOWN_OPCODE;
    for (uint32_t m = 0; m < VYRE_METRIC_COUNT; m++) {
        assert_int_equal(q->control[VYRE_CONTROL_METRICS + m],
                         (is_counted && m == o->opcode) + (m == VYRE_OPCODE_NOP ? others : 0));
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

static void check_operations(drain_queue *q)
{
    for (size_t i = 0; i < VY_COUNT_OF(operations); i++) {
        check_operation(q, &operations[i], drain_on_interpreter);
        if (drain_device) {
            check_operation(q, &operations[i], drain_on_device);
        }
    }
}

static void test_drain_operations_do_that_and_nothing_else(void **state)
{
    static const operation of_items[] = {
        {VYRE_OPCODE_LOAD_MISS, {0, 0, 0}, VYRE_FAULT_UNKNOWN_OPCODE, 0, 0},
        {VYRE_OPCODE_PACKED_SLOT, {1, 0, 0}, VYRE_FAULT_PACKED, 0, 0}};
    (void)state;
    drain_queue *ring = drain_open(5, &plain), *items = drain_open(3, &plain_items);
    check_operations(ring);
    check_operations(items);
    for (size_t i = 0; i < VY_COUNT_OF(of_items); i++) {
        check_operation(items, &of_items[i], drain_on_interpreter);
        if (drain_device) {
            check_operation(items, &of_items[i], drain_on_device);
        }
    }
    drain_close(&ring);
    drain_close(&items);
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

/* An item's tenant is the queue's. */
static void check_tenants_of_items(drain_queue *q, drain_fn drain)
{
    static const uint32_t tenants[] = {0, 1, 28, 29, 31, 32, UINT32_MAX};
    for (size_t t = 0; t < VY_COUNT_OF(tenants); t++) {
        uint32_t n = q->slot_count;
        bool is_known = tenants[t] < VYRE_MAX_TENANTS, may = tenants[t] == 0 || tenants[t] == 28;
        drain_reset(q);
        q->control[VYRE_CONTROL_TENANT_MASKS + 28] = 1;
        q->tenant = tenants[t];
        q->priority = t ? VYRE_PRIORITY_IDLE : VYRE_PRIORITY_COUNT;
        for (uint32_t s = 0; s < n; s++) {
            drain_put(q, s, VYRE_OPCODE_ATOMIC_ADD, 1, OPEN, 0);
        }
        drain(q, 2);
        vyre_control_report r = drain_check_sums(q, n);
        assert_int_equal(r.done_count, may ? n : 0);
        assert_int_equal(r.denied_count, is_known && !may ? n : 0);
        assert_int_equal(r.fault_count, is_known ? 0 : n);
        assert_int_equal(r.fault_code, is_known ? 0 : VYRE_FAULT_TENANT);
        assert_int_equal(r.fault_slot, is_known ? VYRE_DIAG_NONE : 0);
        assert_int_equal(q->control[OPEN], may ? n : 0);
        for (uint32_t w = 0; w < 32; w++) {
            assert_int_equal(q->control[VYRE_CONTROL_TENANT_FAIRNESS + w],
                             may && w == tenants[t] ? n : 0);
        }
        assert_int_equal(q->control[VYRE_CONTROL_PRIORITY_FAIRNESS + VYRE_PRIORITY_IDLE],
                         may && t ? n : 0);
    }
    q->tenant = 0;
}

static void test_drain_packed_slots_logs_and_tenants(void **state)
{
    (void)state;
    drain_queue *q = drain_open(7, &plain), *items = drain_open(7, &plain_items);
    for (int way = 0; way < (drain_device ? 2 : 1); way++) {
        drain_fn drain = way ? drain_on_device : drain_on_interpreter;
        check_packed(q, drain);
        check_log(q, drain);
        check_log(items, drain);
        check_tenants(q, drain);
        check_tenants_of_items(items, drain);
    }
    drain_close(&q);
    drain_close(&items);
}

/* Lanes that claim together, where operations part them. Without the validation layer, which does
 * not know maximal reconvergence; one device at a time is what the test layer takes. */
static void test_drain_claims_by_subgroup(void **state)
{
    static const uint32_t lengths[] = {0, 1, 7, 8, 9, 63, 64, 65, 4097};
    vyre_kernel_params can = {.struct_size = sizeof can};
    bool has_device = drain_device != NULL;
    (void)state;
    if (drain_device) {
        engine_close(&drain_device);
    }
    for (size_t w = 0; w < VY_COUNT_OF(subgroup_ways); w++) {
        check_lengths(drain_on_interpreter, &subgroup_ways[w], lengths, VY_COUNT_OF(lengths));
    }
    if (!has_device) {
        return;
    }
    drain_device = engine_open(0);
    vyre_device_kernel_params(drain_device, &can);
    if (can.reconvergence == VYRE_RECONVERGENCE_MAXIMAL) {
        for (size_t w = 0; w < VY_COUNT_OF(subgroup_ways); w++) {
            check_lengths(drain_on_device, &subgroup_ways[w], lengths, VY_COUNT_OF(lengths));
        }
        drain_queue *q = drain_open(7, &subgroup_ways[0]);
        check_packed(q, drain_on_device);
        check_tenants(q, drain_on_device);
        drain_close(&q);
    } else {
        print_message("lanes that part are not promised to meet on this device\n");
    }
    engine_close(&drain_device);
    drain_device = engine_open(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drain_conserves_on_the_interpreter),
        cmocka_unit_test(test_drain_conserves_on_the_device),
        cmocka_unit_test(test_drain_operations_do_that_and_nothing_else),
        cmocka_unit_test(test_drain_packed_slots_logs_and_tenants),
        cmocka_unit_test(test_drain_claims_by_subgroup),
    };
    return cmocka_run_group_tests(tests, drain_open_device, drain_close_device);
}
