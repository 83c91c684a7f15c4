/* Rings through the dispatcher: tenants, packed slots, batches, the debug log, and statuses. */
#include "tests/megakernel/dispatcher_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "codegen/base/base.h"

#include <stdlib.h>

enum { OBSERVABLES = 64, OPEN = VYRE_CONTROL_OBSERVABLES, WORDS = OPEN + OBSERVABLES, SLOTS = 128 };

typedef struct ring_queue {
    uint32_t ring[SLOTS * VYRE_SLOT_WORDS], control[WORDS], log[1 + 4 * 200];
    uint32_t slot_count, log_records, control_words;
    uint32_t flags;
    vyre_queue_report report;
} ring_queue;

static ring_queue queue;

static ring_queue *make_queue(uint32_t slot_count)
{
    ring_queue *q = &queue;
    vyre_control_params params;
    memset(q, 0, sizeof *q);
    vyre_control_params_init(&params);
    assert_int_equal(vyre_control_encode(&params, q->control, sizeof q->control, NULL), VYRE_OK);
    q->slot_count = slot_count;
    q->control_words = WORDS;
    return q;
}

static void run_queue(rig *r, ring_queue *q)
{
    vyre_queue_params params;
    vyre_diag diag;
    vyre_queue_params_init(&params);
    params.flags = q->flags;
    params.control = q->control;
    params.control_size = (size_t)q->control_words * 4;
    if (q->log_records != UINT32_MAX) {
        params.debug_log = q->log;
        params.debug_size = 4 + 16 * (size_t)q->log_records;
    }
    if (vyre_dispatcher_run_ring(r->dispatcher, q->ring, q->slot_count * (size_t)VYRE_SLOT_SIZE,
                                 &params, &q->report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    rig_check_sums(&q->report);
}

static void put(ring_queue *q, uint32_t slot, uint32_t opcode, const uint32_t *args, uint32_t count)
{
    vyre_slot_params params;
    vyre_diag diag;
    vyre_slot_params_init(&params);
    params.opcode = opcode;
    params.args = args;
    params.arg_count = count;
    if (vyre_ring_publish(q->ring, q->slot_count * (size_t)VYRE_SLOT_SIZE, slot, &params, &diag) !=
        VYRE_OK) {
        fail_msg("%s", diag.message);
    }
}

static uint32_t status_of(const ring_queue *q, uint32_t slot)
{
    return q->ring[slot * VYRE_SLOT_WORDS];
}

/* ---- Tenants --------------------------------------------------------------------------------- */

static void deny(vyre_device *device)
{
    static const uint32_t tenants[] = {0, 28, 1, 29, 31, 32, UINT32_MAX};
    static const uint32_t ends[] = {VYRE_STATUS_DONE,  VYRE_STATUS_DONE,  VYRE_STATUS_PUBLISHED,
                                    VYRE_STATUS_FAULT, VYRE_STATUS_FAULT, VYRE_STATUS_FAULT,
                                    VYRE_STATUS_FAULT};
    rig *r = rig_open(device, 4, NULL);
    ring_queue *q = make_queue(VY_COUNT_OF(tenants));
    q->control[VYRE_CONTROL_TENANT_MASKS + 28] = 1;
    for (uint32_t w = VYRE_CONTROL_TENANT_QUOTAS; w < VYRE_CONTROL_TENANT_FAIRNESS; w++) {
        q->control[w] = UINT32_MAX; /* quotas, which are no masks */
    }
    for (uint32_t s = 0; s < q->slot_count; s++) {
        const uint32_t args[] = {1, OPEN + s};
        put(q, s, VYRE_OPCODE_STORE_U32, args, 2);
        q->ring[s * VYRE_SLOT_WORDS + VYRE_SLOT_TENANT] = tenants[s];
    }
    run_queue(r, q);
    assert_int_equal(q->report.processed, 2);
    assert_int_equal(q->report.denied, 1);
    assert_int_equal(q->report.faulted, 4);
    assert_int_equal(q->report.unknown, 0);
    assert_int_equal(q->report.fault_slot, 3);
    assert_int_equal(q->report.fault_code, VYRE_FAULT_TENANT);
    for (uint32_t s = 0; s < q->slot_count; s++) {
        assert_int_equal(status_of(q, s), ends[s]);
        assert_int_equal(q->control[OPEN + s], ends[s] == VYRE_STATUS_DONE);
    }
    /* It may now. */
    q->control[VYRE_CONTROL_TENANT_MASKS + 1] = 1;
    run_queue(r, q);
    assert_int_equal(q->report.given, 1);
    assert_int_equal(q->report.processed, 1);
    assert_int_equal(q->control[OPEN + 2], 1);
    rig_close(&r);
}

static void test_rings_deny_tenants_that_may_not(void **state)
{
    (void)state;
    RIG_FOR_EACH(deny);
}

/* ---- Packed slots ---------------------------------------------------------------------------- */

static void pack(vyre_device *device)
{
    rig *r = rig_open(device, 4, NULL);
    ring_queue *q = make_queue(VYRE_MAX_PACKED_OPS + 1);
    uint32_t additions = 0, nops = 0, sums[OBSERVABLES] = {0};
    for (uint32_t count = 1; count <= VYRE_MAX_PACKED_OPS; count++) {
        vyre_packed_op ops[VYRE_MAX_PACKED_OPS] = {{0}};
        uint32_t room = 12 - (2 + 2 * count + 3) / 4;
        uint32_t args[VYRE_MAX_PACKED_OPS][2];
        for (uint32_t i = 0; i < count; i++) {
            uint32_t at = count - 1 - i; /* the last ones have the arguments */
            ops[at] = (vyre_packed_op){VYRE_OPCODE_NOP, NULL, 0};
            nops += room < 2;
            if (room >= 2) {
                args[at][0] = 100 * count + at;
                args[at][1] = OPEN + at;
                ops[at] = (vyre_packed_op){VYRE_OPCODE_ATOMIC_ADD, args[at], 2};
                sums[at] += args[at][0];
                room -= 2;
                additions++;
            }
        }
        assert_int_equal(vyre_ring_publish_packed(q->ring, q->slot_count * (size_t)VYRE_SLOT_SIZE,
                                                  count, 0, VYRE_PRIORITY_NORMAL, ops, count, NULL),
                         VYRE_OK);
    }
    run_queue(r, q);
    assert_int_equal(q->report.processed, VYRE_MAX_PACKED_OPS);
    assert_int_equal(q->control[VYRE_CONTROL_METRICS + VYRE_OPCODE_NOP], nops);
    assert_int_equal(q->control[VYRE_CONTROL_METRICS + VYRE_OPCODE_ATOMIC_ADD], additions);
    assert_memory_equal(q->control + OPEN, sums, sizeof sums);
    rig_close(&r);
}

static void test_rings_run_packed_slots_of_every_count(void **state)
{
    (void)state;
    RIG_FOR_EACH(pack);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void fence(vyre_device *device)
{
    rig *r = rig_open(device, 4, NULL);
    for (uint32_t words = OPEN; words <= OPEN + 1; words++) {
        ring_queue *q = make_queue(6);
        vyre_slot_params slots[5];
        for (uint32_t i = 0; i < 5; i++) {
            vyre_slot_params_init(&slots[i]);
        }
        assert_int_equal(
            vyre_ring_publish_batch(q->ring, 6 * (size_t)VYRE_SLOT_SIZE, 0, slots, 5, 77, NULL),
            VYRE_OK);
        q->control_words = words;
        q->control[OPEN + 1] = 0x5a5a;
        run_queue(r, q);
        assert_int_equal(q->report.processed, 6);
        assert_int_equal(q->report.epoch, 1);
        assert_int_equal(q->control[VYRE_CONTROL_EPOCH], 1);
        assert_int_equal(q->control[OPEN], words > OPEN ? 77 : 0);
        assert_int_equal(q->control[OPEN + 1], 0x5a5a);
    }
    rig_close(&r);
}

static void test_rings_count_the_fences_of_batches(void **state)
{
    (void)state;
    RIG_FOR_EACH(fence);
}

/* ---- The debug log --------------------------------------------------------------------------- */

static void print_records(vyre_device *device)
{
    static const uint32_t rooms[] = {0, 1, 64, 99, 100, 101, UINT32_MAX};
    rig *r = rig_open(device, 4, NULL);
    for (size_t i = 0; i < VY_COUNT_OF(rooms); i++) {
        enum { COUNT = 100 };
        ring_queue *q = make_queue(COUNT);
        vyre_debug_record records[200];
        uint32_t room = rooms[i], count = 0, lost = 0;
        bool seen[COUNT] = {false};
        for (uint32_t s = 0; s < COUNT; s++) {
            const uint32_t args[] = {s, 2 * s, 3 * s};
            put(q, s, VYRE_OPCODE_PRINTF, args, 3);
        }
        q->log_records = room;
        run_queue(r, q);
        assert_int_equal(q->report.processed, COUNT);
        if (room == UINT32_MAX) {
            continue; /* nobody reads it */
        }
        assert_int_equal(
            vyre_debug_log_read(q->log, 4 + 16 * (size_t)room, records, 200, &count, &lost, NULL),
            VYRE_OK);
        assert_int_equal(count, room < COUNT ? room : COUNT);
        assert_int_equal(lost, COUNT - count);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t s = records[k].format;
            assert_true(s < COUNT && !seen[s]);
            seen[s] = true;
            assert_int_equal(records[k].args[0], 2 * s);
            assert_int_equal(records[k].args[1], 3 * s);
            assert_int_equal(records[k].slot_word, s * VYRE_SLOT_WORDS);
        }
    }
    rig_close(&r);
}

static void test_rings_print_and_count_what_was_lost(void **state)
{
    (void)state;
    RIG_FOR_EACH(print_records);
}

/* ---- Statuses -------------------------------------------------------------------------------- */

/* Items in STRICT form, whose statuses are counted; ten and eleven are where a control buffer was
 * once taken for a ring. */
static void count_statuses(vyre_device *device)
{
    static const uint32_t lengths[] = {1, 10, 11, 64, 1000};
    rig *r = rig_open(device, 4, NULL);
    for (size_t l = 0; l < VY_COUNT_OF(lengths); l++) {
        uint32_t n = lengths[l], fails = n / 5;
        static vyre_work_item items[1000];
        for (uint32_t i = 0; i < n; i++) {
            items[i] = i < fails ? rig_item(RIG_FAIL, i, 0, 20) : rig_item(RIG_ADD, i, 1, 1);
        }
        vyre_queue_report report = rig_run(r, items, n, VYRE_QUEUE_STRICT);
        assert_int_equal(report.processed, n - fails);
        assert_int_equal(report.faulted, fails);
        assert_int_equal(report.fault_code, fails ? 20 : 0);
        assert_int_equal(report.statuses.slot_count, n);
        assert_int_equal(report.statuses.by_status[VYRE_STATUS_DONE], n - fails);
        assert_int_equal(report.statuses.by_status[VYRE_STATUS_FAULT], fails);
        assert_int_equal(report.statuses.queue_depth, fails);
        assert_int_equal(report.statuses.unknown, 0);
        assert_string_equal(report.form, "ring");
        rig_fetch(r);
        assert_int_equal(r->data[1], n - fails);
        rig_clear(r);
    }
    rig_close(&r);
}

static void test_strict_queues_count_their_slots(void **state)
{
    (void)state;
    RIG_FOR_EACH(count_statuses);
}

/* ---- Hints ----------------------------------------------------------------------------------- */

/* What the ring shows is what the policy goes by. */
static void hint(vyre_device *device)
{
    enum { LENGTH = 40, WAITING = 30 };
    rig *r = rig_open(device, 4, NULL);
    uint32_t *ring = rig_ring(LENGTH);
    size_t control_size = 0;
    uint32_t *control = rig_control(1, LENGTH, 0, &control_size);
    vyre_queue_params params;
    vyre_diag diag;
    vyre_queue_params_init(&params);
    params.control = control;
    params.control_size = control_size;
    for (uint32_t i = 0; i < WAITING; i++) {
        const uint32_t args[] = {0, 1, 2};
        rig_put(ring, i, RIG_ADD, 0, VYRE_PRIORITY_NORMAL, args, 3);
    }
    assert_int_equal(vyre_queue_params_read_ring(&params, ring, (size_t)LENGTH * VYRE_SLOT_SIZE,
                                                 control, control_size, NULL, 0, &diag),
                     VYRE_OK);
    assert_int_equal(params.density_bps, 7500);
    vyre_queue_report report = rig_run_ring(r, ring, LENGTH, &params);
    assert_int_equal(report.processed, WAITING);
    assert_string_equal(report.topology, "dense-frontier");
    assert_int_equal(report.worker_count, params.worker_count);
    assert_int_equal(rig_status(ring, 7), VYRE_STATUS_DONE);
    /* One that waits in as many slots is a sparse frontier. */
    const uint32_t one[] = {0, 1, 1};
    rig_put(ring, 7, RIG_ADD, 0, VYRE_PRIORITY_NORMAL, one, 3);
    assert_int_equal(vyre_queue_params_read_ring(&params, ring, (size_t)LENGTH * VYRE_SLOT_SIZE,
                                                 control, control_size, NULL, 0, &diag),
                     VYRE_OK);
    assert_int_equal(params.edge_count, 1);
    assert_int_equal(params.density_bps, 250);
    assert_int_equal(params.hot_opcode_count, 1);
    report = rig_run_ring(r, ring, LENGTH, &params);
    assert_string_equal(report.topology, "sparse-frontier");
    assert_true(report.worker_count < params.worker_count);
    rig_fetch(r);
    assert_int_equal(r->data[1], 2 * WAITING + 1);
    free(control);
    free(ring);
    rig_close(&r);
}

static void test_rings_give_hints_to_the_policy(void **state)
{
    (void)state;
    RIG_FOR_EACH(hint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings_deny_tenants_that_may_not),
        cmocka_unit_test(test_rings_run_packed_slots_of_every_count),
        cmocka_unit_test(test_rings_count_the_fences_of_batches),
        cmocka_unit_test(test_rings_print_and_count_what_was_lost),
        cmocka_unit_test(test_strict_queues_count_their_slots),
        cmocka_unit_test(test_rings_give_hints_to_the_policy),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}
