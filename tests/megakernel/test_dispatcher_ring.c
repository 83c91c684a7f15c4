/* Rings through the dispatcher, on the interpreter and on the device: slots of every tenant, kind
 * and status, and what each of them is left as. */
#include "tests/megakernel/dispatcher_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* Handlers over data, whose first word hands out tickets: who took the lower ran first. */
enum { TICKET = 8, TWELVE, AGAIN, BUMP, FAULT, WINDOW };

static const char text[] =
    "program slots\n"
    "inout data : u32[]\n"
    "fn ticket(slot: u32, a0: u32) -> u32 {\n"
    "    let at = atomic_add(data[0], 1)\n"
    "    data[1 + a0] = at + 1\n"
    "    return 0\n"
    "}\n"
    "fn twelve(slot: u32, a0: u32, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32, a6: u32, a7: u32,\n"
    "          a8: u32, a9: u32, a10: u32, a11: u32) -> u32 {\n"
    "    var sum = a0 + 3 * a1 + 5 * a2 + 7 * a3 + 11 * a4 + 13 * a5 + 17 * a6 + 19 * a7\n"
    "    sum += 23 * a8 + 29 * a9 + 31 * a10 + 37 * a11\n"
    "    data[slot] = sum\n"
    "    return 0\n"
    "}\n"
    "fn again(slot: u32, a0: u32, a1: u32) -> u32 {\n"
    "    let before = atomic_add(data[a0], 1)\n"
    "    return select(before + 1 < a1, 256 + (before & 1), 0)\n"
    "}\n"
    "fn bump(slot: u32, a0: u32, a1: u32) -> u32 {\n"
    "    atomic_add(data[a0], a1)\n"
    "    return 0\n"
    "}\n"
    "fn fault(slot: u32, a0: u32) -> u32 { return a0 }\n"
    "fn window(slot: u32, a0: u32, a1: u32, a2: u32, a3: u32) -> u32 {\n"
    "    atomic_add(data[a2], a0 * 1000 + a1 * 100 + a3)\n"
    "    return 0\n"
    "}\n"
    "kernel { }\n";

#define WRITES (VYRE_EFFECT_READS_OUTPUT | VYRE_EFFECT_WRITES_OUTPUT)

static const vyre_handler handlers[] = {
    {TICKET, "ticket", VYRE_EFFECT_ORDERS_ALL},
    {TWELVE, "twelve", VYRE_EFFECT_ORDERS_ALL},
    {AGAIN, "again", VYRE_EFFECT_OPAQUE | VYRE_EFFECT_REQUEUES},
    {BUMP, "bump", VYRE_EFFECT_OPAQUE},
    {FAULT, "fault", 0},
    {WINDOW, "window", VYRE_EFFECT_OPAQUE},
};

static rig *open_slots(vyre_device *device, uint32_t count, const vyre_dispatcher_params *params)
{
    return rig_open_with(device, count, params, text, handlers, sizeof handlers / sizeof *handlers);
}

static vyre_queue_params queue_params(uint32_t flags)
{
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.flags = flags;
    return params;
}

static void put2(uint32_t *ring, uint32_t slot, uint32_t opcode, uint32_t a0, uint32_t a1)
{
    const uint32_t args[] = {a0, a1};
    rig_put(ring, slot, opcode, 0, VYRE_PRIORITY_NORMAL, args, 2);
}

/* ---- Conservation ---------------------------------------------------------------------------- */

static void conserve(vyre_device *device)
{
    static const uint32_t lengths[] = {1, 10, 11, 63, 64, 65, 4095, 4096, 4097, 100000};
    static const uint32_t workers[] = {1, 7, 64, 1000};
    rig *r = open_slots(device, 64, NULL);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        uint32_t n = lengths[l];
        if (!device && n > 500) {
            continue;
        }
        uint32_t *ring = rig_ring(n);
        for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
            uint32_t expected[64] = {0};
            rig_clear(r);
            for (uint32_t s = 0; s < n; s++) {
                put2(ring, s, BUMP, s % 64, s);
                expected[s % 64] += s;
            }
            vyre_queue_params params = queue_params(w % 2 ? VYRE_QUEUE_STRICT : 0);
            params.worker_count = workers[w];
            params.group_cap = workers[w];
            vyre_queue_report report = rig_run_ring(r, ring, n, &params);
            assert_int_equal(report.given, n);
            assert_int_equal(report.processed, n);
            assert_int_equal(report.published, n);
            assert_int_equal(report.statuses.by_status[VYRE_STATUS_DONE], n);
            assert_int_equal(report.statuses.slot_count, n);
            assert_int_equal(report.statuses.queue_depth, 0);
            assert_int_equal(report.deduped, 0);
            assert_int_equal(report.waves, 1);
            assert_string_equal(report.form, "ring");
            for (uint32_t s = 0; s < n; s++) {
                assert_int_equal(rig_status(ring, s), VYRE_STATUS_DONE);
            }
            rig_fetch(r);
            assert_memory_equal(r->data, expected, sizeof expected);
        }
        free(ring);
    }
    rig_close(&r);
}

static void test_rings_are_conserved_for_every_length_and_worker_count(void **state)
{
    (void)state;
    RIG_FOR_EACH(conserve);
}

static void refuse_sizes(vyre_device *device)
{
    rig *r = open_slots(device, 4, NULL);
    uint32_t *ring = rig_ring(4);
    vyre_queue_report report;
    vyre_diag diag;
    static const size_t sizes[] = {1, 4, 63, 65, 100, 127};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(
            vyre_dispatcher_run_ring(r->dispatcher, ring, sizes[i], NULL, &report, &diag),
            VYRE_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(diag.message, ". Fix: "));
    }
    /* Nothing is read of it, as it is too large. */
    assert_int_equal(vyre_dispatcher_run_ring(r->dispatcher, ring,
                                              ((size_t)VYRE_MAX_SLOTS + 1) * VYRE_SLOT_SIZE, NULL,
                                              &report, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_dispatcher_run_ring(r->dispatcher, (unsigned char *)ring + 2, 64, NULL,
                                              &report, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_dispatcher_run_ring(r->dispatcher, NULL, 64, NULL, &report, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    /* No slot, and slots of which none is to be run. */
    report = rig_run_ring(r, NULL, 0, NULL);
    assert_int_equal(report.given, 0);
    assert_int_equal(report.launches, 0);
    ring[0] = VYRE_STATUS_DONE;
    ring[VYRE_SLOT_WORDS] = VYRE_STATUS_FAULT;
    ring[2 * VYRE_SLOT_WORDS] = VYRE_STATUS_CLAIMED;
    report = rig_run_ring(r, ring, 4, NULL);
    assert_int_equal(report.given, 0);
    assert_int_equal(report.processed, 0);
    assert_int_equal(report.launches, 0);
    assert_int_equal(ring[2 * VYRE_SLOT_WORDS], VYRE_STATUS_CLAIMED);
    free(ring);
    rig_close(&r);
}

static void test_rings_of_no_whole_slots_are_refused(void **state)
{
    (void)state;
    RIG_FOR_EACH(refuse_sizes);
}

/* ---- Statuses -------------------------------------------------------------------------------- */

static void keep_statuses(vyre_device *device)
{
    rig *r = open_slots(device, 64, NULL);
    uint32_t *ring = rig_ring(40), *before = rig_ring(40);
    for (uint32_t s = 0; s < 40; s++) {
        put2(ring, s, BUMP, s, 1);
        ring[s * VYRE_SLOT_WORDS] = s < 32 ? s % 8 : 8 + s;
    }
    memcpy(before, ring, (size_t)40 * VYRE_SLOT_SIZE);
    vyre_queue_report report = rig_run_ring(r, ring, 40, NULL);
    /* Of each status four slots: 1, 5 and 6 run, and 4 waits for what nobody brings. */
    assert_int_equal(report.given, 16);
    assert_int_equal(report.processed, 12);
    assert_int_equal(report.remaining, 4);
    assert_int_equal(report.waiting, 4);
    assert_int_equal(report.statuses.by_status[VYRE_STATUS_DONE], 16);
    assert_int_equal(report.statuses.unknown, 8);
    rig_fetch(r);
    for (uint32_t s = 0; s < 40; s++) {
        bool runs = s < 32 && (s % 8 == 1 || s % 8 == 5 || s % 8 == 6);
        assert_int_equal(r->data[s], runs);
        if (runs) {
            assert_int_equal(rig_status(ring, s), VYRE_STATUS_DONE);
        } else {
            assert_memory_equal(ring + s * VYRE_SLOT_WORDS, before + s * VYRE_SLOT_WORDS,
                                VYRE_SLOT_SIZE);
        }
    }
    free(before);
    free(ring);
    rig_close(&r);
}

static void test_slots_of_other_statuses_are_not_touched(void **state)
{
    (void)state;
    RIG_FOR_EACH(keep_statuses);
}

static void report_faults(vyre_device *device)
{
    rig *r = open_slots(device, 64, NULL);
    uint32_t *ring = rig_ring(200);
    for (uint32_t s = 0; s < 200; s++) {
        put2(ring, s, BUMP, s % 64, 1);
    }
    put2(ring, 150, FAULT, 200, 0);
    put2(ring, 77, FAULT, 16, 0);
    put2(ring, 190, 0x7777, 0, 0);
    put2(ring, 191, VYRE_OPCODE_DFA_STEP, 0, 0);
    put2(ring, 90, FAULT, 9999, 0);
    vyre_queue_params params = queue_params(VYRE_QUEUE_STRICT);
    vyre_queue_report report = rig_run_ring(r, ring, 200, &params);
    assert_int_equal(report.processed, 195);
    assert_int_equal(report.faulted, 5);
    assert_int_equal(report.unknown, 2);
    assert_int_equal(report.fault_slot, 77);
    assert_int_equal(report.fault_code, 16);
    assert_int_equal(report.statuses.by_status[VYRE_STATUS_FAULT], 5);
    assert_int_equal(report.statuses.queue_depth, 5);
    static const struct {
        uint32_t slot, code;
    } codes[] = {{77, 16},
                 {150, 200},
                 {190, VYRE_FAULT_UNKNOWN_OPCODE},
                 {191, VYRE_FAULT_UNKNOWN_OPCODE},
                 {90, VYRE_FAULT_HANDLER}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        assert_int_equal(rig_status(ring, codes[i].slot), VYRE_STATUS_FAULT);
        assert_int_equal(ring[codes[i].slot * VYRE_SLOT_WORDS + 15], codes[i].code);
    }
    /* Faults stay, and nothing else is left. */
    report = rig_run_ring(r, ring, 200, NULL);
    assert_int_equal(report.given, 0);
    free(ring);
    rig_close(&r);
}

static void test_faults_of_slots_are_named(void **state)
{
    (void)state;
    RIG_FOR_EACH(report_faults);
}

/* ---- Tenants --------------------------------------------------------------------------------- */

static void judge_tenants(vyre_device *device)
{
    static const uint32_t tenants[] = {0, 28, 29, 31, 32, 0xffffffffu, 1, 27};
    const uint32_t n = 64;
    rig *r = open_slots(device, n, NULL);
    uint32_t *ring = rig_ring(n);
    size_t size = 0;
    uint32_t *control = rig_control(VYRE_MAX_TENANTS, 0, 0, &size);
    control[VYRE_CONTROL_TENANT_MASKS + 1] = 0;
    control[VYRE_CONTROL_TENANT_MASKS + 27] = 0;
    /* Quotas are no masks, though they lie behind the last of them. */
    for (uint32_t t = 0; t < 32; t++) {
        control[VYRE_CONTROL_TENANT_QUOTAS + t] = 0xffffffffu;
    }
    for (uint32_t s = 0; s < n; s++) {
        const uint32_t args[] = {s, 1};
        rig_put(ring, s, BUMP, tenants[s % 8], VYRE_PRIORITY_NORMAL, args, 2);
    }
    vyre_queue_params params = queue_params(VYRE_QUEUE_STRICT);
    params.control = control;
    params.control_size = size;
    vyre_queue_report report = rig_run_ring(r, ring, n, &params);
    assert_int_equal(report.processed, 16);
    assert_int_equal(report.denied, 16);
    assert_int_equal(report.faulted, 32);
    assert_int_equal(report.unknown, 0);
    assert_int_equal(report.fault_slot, 2);
    assert_int_equal(report.fault_code, VYRE_FAULT_TENANT);
    assert_int_equal(report.statuses.by_status[VYRE_STATUS_PUBLISHED], 16);
    assert_int_equal(control[VYRE_CONTROL_TENANT_FAIRNESS], 8);
    assert_int_equal(control[VYRE_CONTROL_TENANT_FAIRNESS + 28], 8);
    assert_int_equal(control[VYRE_CONTROL_DENIED_COUNT], 16);
    rig_fetch(r);
    for (uint32_t s = 0; s < n; s++) {
        static const uint32_t expected[] = {3, 3, 7, 7, 7, 7, 1, 1};
        assert_int_equal(rig_status(ring, s), expected[s % 8]);
        assert_int_equal(r->data[s], s % 8 < 2);
    }
    /* Those that were denied run once they may. */
    control[VYRE_CONTROL_TENANT_MASKS + 1] = 1;
    report = rig_run_ring(r, ring, n, &params);
    assert_int_equal(report.given, 16);
    assert_int_equal(report.processed, 8);
    assert_int_equal(report.denied, 8);
    assert_int_equal(control[VYRE_CONTROL_TENANT_FAIRNESS + 1], 8);
    assert_int_equal(control[VYRE_CONTROL_TENANT_FAIRNESS], 0); /* counted from 0 */
    free(control);
    free(ring);
    rig_close(&r);
}

static void test_ring_tenants_are_denied_or_fault(void **state)
{
    (void)state;
    RIG_FOR_EACH(judge_tenants);
}

static void deny_and_requeue(vyre_device *device)
{
    rig *r = open_slots(device, 64, NULL);
    uint32_t *ring = rig_ring(64);
    size_t size = 0;
    uint32_t *control = rig_control(1, 0, 0, &size);
    for (uint32_t s = 0; s < 64; s++) {
        const uint32_t args[] = {s, 4};
        rig_put(ring, s, AGAIN, s % 2, VYRE_PRIORITY_NORMAL, args, 2);
    }
    vyre_queue_params params = queue_params(0);
    params.control = control;
    params.control_size = size;
    vyre_queue_report report = rig_run_ring(r, ring, 64, &params);
    /* Looked at in four passes, and denied once. */
    assert_int_equal(report.denied, 32);
    assert_int_equal(report.processed, 32);
    assert_int_equal(report.requeues, 96);
    free(control);
    free(ring);
    rig_close(&r);
}

static void test_denied_slots_count_once_over_all_passes(void **state)
{
    (void)state;
    RIG_FOR_EACH(deny_and_requeue);
}

/* ---- Kinds of slots -------------------------------------------------------------------------- */

static void run_twelve(vyre_device *device)
{
    static const uint32_t primes[] = {1, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    rig *r = open_slots(device, 13, NULL);
    uint32_t *ring = rig_ring(13), expected[13] = {0};
    for (uint32_t n = 0; n <= 12; n++) { /* arguments that are given */
        uint32_t args[12];
        for (uint32_t a = 0; a < 12; a++) {
            args[a] = 0x9e3779b9u * (n * 12 + a + 1);
            expected[n] += a < n ? primes[a] * args[a] : 0;
        }
        vyre_slot_params slot;
        vyre_slot_params_init(&slot);
        slot.opcode = TWELVE;
        slot.args = args;
        slot.arg_count = n;
        assert_int_equal(vyre_ring_publish(ring, (size_t)13 * VYRE_SLOT_SIZE, n, &slot, NULL),
                         VYRE_OK);
    }
    vyre_queue_report report = rig_run_ring(r, ring, 13, NULL);
    assert_int_equal(report.processed, 13);
    rig_fetch(r);
    assert_memory_equal(r->data, expected, sizeof expected);
    free(ring);
    rig_close(&r);
}

static void test_handlers_get_all_twelve_arguments(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_twelve);
}

static void run_packed(vyre_device *device)
{
    rig *r = open_slots(device, 64, NULL);
    const size_t size = (size_t)VYRE_MAX_PACKED_OPS * VYRE_SLOT_SIZE;
    uint32_t *ring = rig_ring(VYRE_MAX_PACKED_OPS), expected[64] = {0}, nops = 0;
    for (uint32_t n = 1; n <= VYRE_MAX_PACKED_OPS; n++) {
        uint32_t args[VYRE_MAX_PACKED_OPS][2];
        vyre_packed_op ops[VYRE_MAX_PACKED_OPS];
        uint32_t room = 12 - (2 + 2 * n + 3) / 4; /* words of arguments */
        for (uint32_t i = 0; i < n; i++) {
            bool has_args = room >= 2 * (i + 1);
            args[i][0] = (n + 5 * i) % 64;
            args[i][1] = 100 * n + i;
            ops[i] = (vyre_packed_op){has_args ? BUMP : VYRE_OPCODE_NOP, args[i], has_args ? 2 : 0};
            expected[args[i][0]] += has_args ? args[i][1] : 0;
            nops += !has_args;
        }
        assert_int_equal(
            vyre_ring_publish_packed(ring, size, n - 1, 0, VYRE_PRIORITY_NORMAL, ops, n, NULL),
            VYRE_OK);
    }
    size_t control_size = 0;
    uint32_t *control = rig_control(1, 0, 0, &control_size);
    vyre_queue_params params = queue_params(0);
    params.control = control;
    params.control_size = control_size;
    vyre_queue_report report = rig_run_ring(r, ring, VYRE_MAX_PACKED_OPS, &params);
    assert_int_equal(report.processed, VYRE_MAX_PACKED_OPS);
    assert_int_equal(report.faulted, 0);
    assert_int_equal(control[VYRE_CONTROL_METRICS + VYRE_OPCODE_NOP], nops);
    rig_fetch(r);
    assert_memory_equal(r->data, expected, sizeof expected);
    free(control);
    free(ring);
    rig_close(&r);
}

static void test_packed_slots_run_each_of_their_operations(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_packed);
}

static void run_batch_and_window(vyre_device *device)
{
    rig *r = open_slots(device, 64, NULL);
    const size_t size = (size_t)32 * VYRE_SLOT_SIZE;
    uint32_t *ring = rig_ring(32);
    uint32_t args[8][2];
    vyre_slot_params slots[8];
    for (uint32_t i = 0; i < 8; i++) {
        args[i][0] = i % 4;
        args[i][1] = 10 + i;
        vyre_slot_params_init(&slots[i]);
        slots[i].opcode = BUMP;
        slots[i].args = args[i];
        slots[i].arg_count = 2;
    }
    assert_int_equal(vyre_ring_publish_batch(ring, size, 0, slots, 5, 77, NULL), VYRE_OK);
    assert_int_equal(vyre_ring_publish_batch(ring, size, 6, slots + 5, 3, 78, NULL), VYRE_OK);
    for (uint32_t i = 0; i < 8; i++) {
        slots[i].opcode = WINDOW;
        args[i][0] = 8 + i % 4;
    }
    vyre_window_params window;
    vyre_window_params_init(&window);
    window.ticket = 3;
    window.required = slots;
    window.required_count = 6;
    window.look_ahead = slots + 6;
    window.look_ahead_count = 2;
    assert_int_equal(vyre_ring_publish_window(ring, size, 12, &window, NULL), VYRE_OK);
    size_t control_size = 0;
    uint32_t *control = rig_control(1, 0, 1, &control_size);
    vyre_queue_params params = queue_params(0);
    params.control = control;
    params.control_size = control_size;
    vyre_queue_report report = rig_run_ring(r, ring, 32, &params);
    assert_int_equal(report.given, 5 + 1 + 3 + 1 + 8);
    assert_int_equal(report.processed, report.given);
    assert_int_equal(report.epoch, 2);
    assert_true(control[VYRE_CONTROL_OBSERVABLES] == 77 || control[VYRE_CONTROL_OBSERVABLES] == 78);
    uint32_t expected[64] = {0};
    for (uint32_t i = 0; i < 8; i++) {
        expected[i % 4] += 10 + i;
        expected[8 + i % 4] += 3 * 1000 + (i >= 6 ? 100u : 0u) + 10 + i;
    }
    rig_fetch(r);
    assert_memory_equal(r->data, expected, sizeof expected);
    /* Nothing to write the tag to is no fault. */
    memset(ring, 0, size);
    assert_int_equal(vyre_ring_publish_batch(ring, size, 0, slots, 5, 77, NULL), VYRE_OK);
    report = rig_run_ring(r, ring, 32, NULL);
    assert_int_equal(report.processed, 6);
    assert_int_equal(report.epoch, 1);
    free(control);
    free(ring);
    rig_close(&r);
}

static void test_batches_and_windows_run_as_published(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_batch_and_window);
}

/* ---- Again ----------------------------------------------------------------------------------- */

static void run_again(vyre_device *device)
{
    const uint32_t n = 200;
    rig *r = open_slots(device, n, NULL);
    uint32_t *ring = rig_ring(n), requeues = 0;
    for (uint32_t s = 0; s < n; s++) {
        put2(ring, s, AGAIN, s, s % 9);
        requeues += s % 9 ? s % 9 - 1 : 0;
    }
    vyre_queue_params params = queue_params(VYRE_QUEUE_STRICT);
    params.group_cap = 1;
    vyre_queue_report report = rig_run_ring(r, ring, n, &params);
    assert_int_equal(report.processed, n);
    assert_int_equal(report.requeues, requeues);
    assert_int_equal(report.statuses.by_status[VYRE_STATUS_DONE], n);
    rig_fetch(r);
    for (uint32_t s = 0; s < n; s++) {
        assert_int_equal(r->data[s], s % 9 ? s % 9 : 1);
    }
    free(ring);
    rig_close(&r);
}

static void test_slots_given_back_run_until_they_are_done(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_again);
}

static void end_for_good(vyre_device *device)
{
    const vyre_dispatcher_params small = {.struct_size = sizeof small, .slice_ns = 1};
    rig *r = open_slots(device, 64, &small);
    uint32_t *ring = rig_ring(64);
    for (uint32_t s = 0; s < 64; s++) {
        put2(ring, s, AGAIN, s, UINT32_MAX); /* never done */
    }
    uint32_t *before = rig_ring(64);
    memcpy(before, ring, (size_t)64 * VYRE_SLOT_SIZE);
    vyre_queue_params params = queue_params(0);
    params.max_wall_ns = 2000000;
    vyre_queue_report report;
    vyre_diag diag;
    assert_int_equal(vyre_dispatcher_run_ring(r->dispatcher, ring, (size_t)64 * VYRE_SLOT_SIZE,
                                              &params, &report, &diag),
                     VYRE_ERROR_TIMEOUT);
    assert_int_equal(report.processed, 0);
    assert_int_equal(report.remaining, 64);
    /* The ring is as it was given: the last launch may still run. */
    assert_memory_equal(ring, before, (size_t)64 * VYRE_SLOT_SIZE);
    for (uint32_t s = 0; s < 64; s++) {
        put2(ring, s, BUMP, s, 1);
    }
    report = rig_run_ring(r, ring, 64, NULL);
    assert_int_equal(report.processed, 64);
    free(before);
    free(ring);
    rig_close(&r);
}

static void test_rings_that_never_end_end_by_their_time(void **state)
{
    (void)state;
    RIG_FOR_EACH(end_for_good);
}

static void shut_down(vyre_device *device)
{
    const uint32_t n = 4000;
    rig *r = open_slots(device, 64, NULL);
    uint32_t *ring = rig_ring(n);
    for (uint32_t s = 0; s < n; s++) {
        put2(ring, s, BUMP, s % 64, 1);
    }
    put2(ring, 0, VYRE_OPCODE_SHUTDOWN, 0, 0);
    vyre_queue_params params = queue_params(VYRE_QUEUE_PERSISTENT | VYRE_QUEUE_STRICT);
    params.group_cap = 1;
    vyre_queue_report first = rig_run_ring(r, ring, n, &params);
    assert_true(first.was_shut_down);
    assert_true(first.processed >= 1 && first.remaining > 0);
    assert_int_equal(first.statuses.by_status[VYRE_STATUS_PUBLISHED], first.remaining);
    vyre_queue_report second = rig_run_ring(r, ring, n, &params);
    assert_false(second.was_shut_down);
    assert_int_equal(second.given, first.remaining);
    assert_int_equal(second.processed, first.remaining);
    rig_fetch(r);
    uint32_t sum = 0;
    for (uint32_t w = 0; w < 64; w++) {
        sum += r->data[w];
    }
    assert_int_equal(sum, n - 1);
    free(ring);
    rig_close(&r);
}

static void test_shut_down_rings_go_on_with_what_is_left(void **state)
{
    (void)state;
    RIG_FOR_EACH(shut_down);
}

/* ---- Priorities ------------------------------------------------------------------------------ */

/* When each slot ran, in one workgroup. */
static void run_by_priority(rig *r, uint32_t n, uint32_t *when, vyre_queue_report *out_report)
{
    uint32_t *ring = rig_ring(n);
    size_t size = 0;
    uint32_t *control = rig_control(1, n, 0, &size);
    for (uint32_t s = 0; s < n; s++) {
        uint32_t p = 0;
        while (s >= control[VYRE_CONTROL_PRIORITY_OFFSETS + p + 1]) {
            p++;
        }
        rig_put(ring, s, TICKET, 0, p, &s, 1);
    }
    vyre_queue_params params = queue_params(VYRE_QUEUE_BY_PRIORITY);
    params.group_cap = 1;
    params.control = control;
    params.control_size = size;
    rig_clear(r);
    *out_report = rig_run_ring(r, ring, n, &params);
    for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
        uint32_t length = control[VYRE_CONTROL_PRIORITY_OFFSETS + p + 1] -
                          control[VYRE_CONTROL_PRIORITY_OFFSETS + p];
        assert_int_equal(control[VYRE_CONTROL_PRIORITY_FAIRNESS + p], length);
    }
    rig_fetch(r);
    assert_int_equal(r->data[0], n);
    memcpy(when, r->data + 1, n * sizeof *when);
    free(control);
    free(ring);
}

static void rank(vyre_device *device)
{
    enum { N = 1000 };
    static uint32_t when[N];
    rig *r = open_slots(device, N + 1, NULL);
    vyre_queue_report report;
    run_by_priority(r, N, when, &report);
    assert_int_equal(report.processed, N);
    assert_string_equal(report.claim, "lane");
    /* Lanes of one group race, so single slots may change places; means of 200 do not. */
    uint64_t sums[VYRE_PRIORITY_COUNT] = {0};
    for (uint32_t s = 0; s < N; s++) {
        sums[s / 200] += when[s];
    }
    assert_true(sums[VYRE_PRIORITY_CRITICAL] < sums[VYRE_PRIORITY_HIGH]);
    assert_true(sums[VYRE_PRIORITY_NORMAL] < sums[VYRE_PRIORITY_LOW]);
    assert_true(sums[VYRE_PRIORITY_LOW] < sums[VYRE_PRIORITY_IDLE]);
    assert_true(sums[VYRE_PRIORITY_CRITICAL] < sums[VYRE_PRIORITY_IDLE]);
    /* After 16 urgent claims in a row one of the others comes first: some of NORMAL's ran before
     * the last of HIGH's. */
    uint32_t last_high = 0, first_normal = N;
    for (uint32_t s = 200; s < 600; s++) {
        if (s < 400) {
            last_high = when[s] > last_high ? when[s] : last_high;
        } else {
            first_normal = when[s] < first_normal ? when[s] : first_normal;
        }
    }
    assert_true(first_normal < last_high);
    vyre_dispatcher_counters counters;
    vyre_dispatcher_get_counters(r->dispatcher, &counters);
    for (uint32_t p = 0; p < VYRE_PRIORITY_COUNT; p++) {
        assert_int_equal(counters.claims[p], 200);
    }
    rig_close(&r);
}

static void test_urgent_slots_are_taken_first_and_others_do_not_starve(void **state)
{
    (void)state;
    RIG_FOR_EACH(rank);
}

static void requeue_by_priority(vyre_device *device)
{
    const uint32_t n = 103; /* NORMAL has the rest */
    const vyre_dispatcher_params small = {.struct_size = sizeof small, .slice_ns = 1};
    rig *r = open_slots(device, n, &small);
    uint32_t *ring = rig_ring(n);
    for (int round = 0; round < 3; round++) { /* the later ones by slices of one claim a lane */
        rig_clear(r);
        for (uint32_t s = 0; s < n; s++) {
            put2(ring, s, AGAIN, s, 1 + s % 4);
        }
        vyre_queue_params params = queue_params(VYRE_QUEUE_BY_PRIORITY);
        params.group_cap = 1;
        vyre_queue_report report = rig_run_ring(r, ring, n, &params);
        assert_int_equal(report.processed, n);
        assert_int_equal(report.requeues, 153); /* 26 of 1 to 3 each, but the last */
        rig_fetch(r);
        for (uint32_t s = 0; s < n; s++) {
            assert_int_equal(r->data[s], 1 + s % 4);
        }
    }
    /* Items have one priority. */
    vyre_work_item item = rig_item(BUMP, 0, 1, 0);
    vyre_queue_params params = queue_params(VYRE_QUEUE_BY_PRIORITY);
    vyre_diag diag;
    assert_int_equal(vyre_dispatcher_run(r->dispatcher, &item, 1, &params, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    free(ring);
    rig_close(&r);
}

static void test_partitions_are_drained_again_for_what_came_back(void **state)
{
    (void)state;
    RIG_FOR_EACH(requeue_by_priority);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings_are_conserved_for_every_length_and_worker_count),
        cmocka_unit_test(test_rings_of_no_whole_slots_are_refused),
        cmocka_unit_test(test_slots_of_other_statuses_are_not_touched),
        cmocka_unit_test(test_faults_of_slots_are_named),
        cmocka_unit_test(test_ring_tenants_are_denied_or_fault),
        cmocka_unit_test(test_denied_slots_count_once_over_all_passes),
        cmocka_unit_test(test_handlers_get_all_twelve_arguments),
        cmocka_unit_test(test_packed_slots_run_each_of_their_operations),
        cmocka_unit_test(test_batches_and_windows_run_as_published),
        cmocka_unit_test(test_slots_given_back_run_until_they_are_done),
        cmocka_unit_test(test_rings_that_never_end_end_by_their_time),
        cmocka_unit_test(test_shut_down_rings_go_on_with_what_is_left),
        cmocka_unit_test(test_urgent_slots_are_taken_first_and_others_do_not_starve),
        cmocka_unit_test(test_partitions_are_drained_again_for_what_came_back),
    };
    int failed = cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
    failed +=
        cmocka_run_group_tests_name("separate memory", tests, rig_open_separate, rig_close_device);
    return failed + cmocka_run_group_tests_name("memory to be flushed", tests, rig_open_incoherent,
                                                rig_close_device);
}
