/* The dispatcher's entries: the same queue by each of them, what is refused before anything is
 * done, and queues of nothing. */
#include "tests/megakernel/dispatcher_support.h"
#include "tests/megakernel/refused.h"

#include <stdio.h>

enum { COUNT = 300, WORDS = 64 };

static vyre_device_counters counters_of(const rig *r)
{
    vyre_device_counters counters;
    memset(&counters, 0, sizeof counters);
    if (r->device) {
        vyre_device_get_counters(r->device, &counters);
    }
    return counters;
}

/* Additions, copies over them and settings: duplicates among them, and dependencies. */
static void make_items(vyre_work_item items[COUNT])
{
    for (uint32_t i = 0; i < COUNT; i++) {
        static const uint32_t opcodes[] = {RIG_ADD, RIG_SET, RIG_COPY, RIG_DOUBLE, RIG_ADD};
        items[i] = rig_item(opcodes[i * 7 % 5], i * 5 % WORDS, i * 3 % WORDS, i % 4);
    }
}

/* One after the other. */
static void make_expected(const vyre_work_item items[COUNT], uint32_t data[WORDS])
{
    memset(data, 0, WORDS * sizeof *data);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t *at = &data[items[i].output];
        switch (items[i].opcode) {
        case RIG_ADD:
            *at += items[i].param;
            break;
        case RIG_SET:
            *at = items[i].param;
            break;
        case RIG_COPY:
            *at = data[items[i].input];
            break;
        default:
            *at = 2 * *at + 1;
            break;
        }
    }
}

static void check_data(rig *r, const vyre_work_item items[COUNT])
{
    uint32_t expected[WORDS];
    make_expected(items, expected);
    rig_fetch(r);
    assert_memory_equal(r->data, expected, sizeof expected);
    rig_clear(r);
}

static void check_same(const vyre_queue_report *a, const vyre_queue_report *b)
{
    assert_int_equal(a->given, b->given);
    assert_int_equal(a->processed, b->processed);
    assert_int_equal(a->remaining, b->remaining);
    assert_int_equal(a->denied + a->faulted + a->unknown, b->denied + b->faulted + b->unknown);
    assert_int_equal(a->deduped, b->deduped);
    assert_int_equal(a->published, b->published);
    assert_int_equal(a->waves, b->waves);
    assert_int_equal(a->upload_size, b->upload_size);
    assert_int_equal(a->readback_size, b->readback_size);
    assert_string_equal(a->topology, b->topology);
    assert_string_equal(a->form, b->form);
}

static void must(vyre_result code, const vyre_diag *diag)
{
    if (code != VYRE_OK) {
        fail_msg("%s", diag->message);
    }
}

static void enter(vyre_device *device)
{
    vyre_work_item items[COUNT];
    vyre_queue_params params;
    vyre_queue_report first, other;
    vyre_queue_ticket ticket = {0};
    vyre_diag diag;
    vyre_dispatcher_params how;
    vyre_dispatcher_params_init(&how);
    how.slice_ns = 60000000000u; /* launches are as many, however busy the machine is */
    rig *r = rig_open(device, WORDS, &how);
    make_items(items);
    vyre_queue_params_init(&params);
    params.flags = VYRE_QUEUE_NO_SPECIAL;
    must(vyre_dispatcher_run(r->dispatcher, items, COUNT, &params, &first, &diag), &diag);
    assert_int_equal(first.processed, COUNT);
    assert_true(first.waves > 1);
    check_data(r, items);

    must(vyre_dispatcher_run_bytes(r->dispatcher, items, sizeof items, &params, &other, &diag),
         &diag);
    check_same(&first, &other);
    check_data(r, items);

    must(vyre_dispatcher_submit(r->dispatcher, items, COUNT, &params, &ticket, &diag), &diag);
    memset(items, 0, sizeof items); /* they were copied */
    must(vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, &other, &diag), &diag);
    assert_true(ticket.bits == 0);
    make_items(items);
    check_same(&first, &other);
    check_data(r, items);

    must(vyre_dispatcher_submit(r->dispatcher, items, COUNT, &params, &ticket, &diag), &diag);
    for (int is_done = 0; !is_done;) {
        must(vyre_dispatcher_poll(r->dispatcher, ticket, &is_done, &diag), &diag);
    }
    must(vyre_dispatcher_wait(r->dispatcher, &ticket, 0, &other, &diag), &diag);
    check_same(&first, &other);
    check_data(r, items);

    must(vyre_dispatcher_run(r->dispatcher, items, COUNT, &params, NULL, NULL), &diag);
    check_data(r, items);
    rig_close(&r);
}

static void test_queues_are_the_same_by_every_entry(void **state)
{
    (void)state;
    RIG_FOR_EACH(enter);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void check_nothing_done(rig *r, const vyre_device_counters *before)
{
    vyre_device_counters now = counters_of(r);
    assert_int_equal(now.submissions, before->submissions);
    assert_int_equal(now.uploads, before->uploads);
    assert_int_equal(now.memory_allocations, before->memory_allocations);
    assert_int_equal(now.pipelines, before->pipelines);
}

static void refuse_bytes(vyre_device *device)
{
    vyre_work_item items[COUNT + 1];
    vyre_queue_report report;
    vyre_diag diag;
    rig *r = rig_open(device, WORDS, NULL);
    vyre_device_counters before = counters_of(r);
    static const size_t sizes[] = {1, 4, 15, 17, 31, 16 * COUNT - 1, 16 * COUNT + 1};
    make_items(items);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char parts[48];
        snprintf(parts, sizeof parts, "%zu bytes|16", sizes[i]);
        assert_refused(
            vyre_dispatcher_run_bytes(r->dispatcher, items, sizes[i], NULL, &report, &diag),
            INVALID_ARGUMENT, &diag, parts);
    }
    for (size_t off = 1; off < 4; off++) {
        assert_refused(vyre_dispatcher_run_bytes(r->dispatcher, (char *)items + off, 160, NULL,
                                                 &report, &diag),
                       INVALID_ARGUMENT, &diag, "aligned");
    }
    assert_refused(vyre_dispatcher_run_bytes(r->dispatcher, NULL, 16, NULL, &report, &diag),
                   INVALID_ARGUMENT, &diag, "NULL");
    /* More than 2^32 - 1 of them: none is looked at. */
    assert_refused(
        vyre_dispatcher_run_bytes(r->dispatcher, items, (size_t)1 << 36, NULL, &report, &diag),
        INVALID_ARGUMENT, &diag, "2^32 - 1 items");
    check_nothing_done(r, &before);
    rig_close(&r);
}

static void test_queues_of_bytes_are_checked(void **state)
{
    (void)state;
    RIG_FOR_EACH(refuse_bytes);
}

typedef struct bad_params {
    vyre_queue_params params;
    const char *parts;
} bad_params;

enum { BAD = 16 };
static uint32_t memory[256];

static uint32_t make_bad(bad_params bad[BAD])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < BAD; i++) {
        vyre_queue_params_init(&bad[i].params);
    }
    bad[n].params.worker_count = 0;
    bad[n++].parts = "0 workers";
    bad[n].params.max_wall_ns = 0;
    bad[n++].parts = "time limit|0 ns";
    for (uint32_t i = 0; i < 3; i++) {
        static const size_t sizes[] = {31, 33, 65 * 32};
        bad[n].params.io_queue = memory;
        bad[n].params.io_size = sizes[i];
        bad[n++].parts = "I/O queue";
    }
    bad[n].params.io_size = 32;
    bad[n++].parts = "NULL";
    for (uint32_t i = 0; i < 3; i++) {
        static const size_t sizes[] = {0, 636, 641};
        bad[n].params.control = memory;
        bad[n].params.control_size = sizes[i];
        bad[n++].parts = "control buffer";
    }
    bad[n].params.debug_log = memory;
    bad[n].params.debug_size = 24;
    bad[n++].parts = "debug log";
    bad[n].params.tenant = VYRE_MAX_TENANTS;
    bad[n++].parts = "tenant 29";
    bad[n].params.priority = VYRE_PRIORITY_COUNT;
    bad[n++].parts = "priority 5";
    bad[n].params.flags = 0x40000000;
    bad[n++].parts = "0x40000000";
    bad[n].params.flags = VYRE_QUEUE_BY_PRIORITY;
    bad[n++].parts = "VYRE_QUEUE_BY_PRIORITY";
    bad[n].params.struct_size = 4;
    bad[n++].parts = "struct_size is 4";
    return n;
}

/* Also where there is no item: the queue is looked at first. */
static void refuse_params(vyre_device *device)
{
    vyre_work_item items[COUNT];
    bad_params bad[BAD];
    vyre_queue_report report;
    vyre_queue_ticket ticket;
    vyre_diag diag;
    rig *r = rig_open(device, WORDS, NULL);
    vyre_device_counters before = counters_of(r);
    uint32_t count = make_bad(bad);
    make_items(items);
    memset(memory, 0x5a, sizeof memory);
    for (uint32_t i = 0; i < count; i++) {
        const vyre_queue_params *p = &bad[i].params;
        for (uint32_t n = 0; n <= COUNT; n += COUNT) {
            assert_refused(vyre_dispatcher_run(r->dispatcher, items, n, p, &report, &diag),
                           INVALID_ARGUMENT, &diag, bad[i].parts);
            assert_refused(vyre_dispatcher_submit(r->dispatcher, items, n, p, &ticket, &diag),
                           INVALID_ARGUMENT, &diag, bad[i].parts);
            assert_true(ticket.bits == 0);
        }
    }
    static const uint32_t opcodes[] = {6, 0xfff0, 0xfffd, 0xffff, 0x80000000, 0xfffffffe};
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        items[COUNT - 1].opcode = opcodes[i];
        assert_refused(vyre_dispatcher_run(r->dispatcher, items, COUNT, NULL, &report, &diag),
                       INVALID_ARGUMENT, &diag, "item 299");
    }
    assert_refused(vyre_dispatcher_run(r->dispatcher, NULL, 1, NULL, &report, &diag),
                   INVALID_ARGUMENT, &diag, "NULL");
    assert_refused(vyre_dispatcher_run_ring(r->dispatcher, memory, 63, NULL, &report, &diag),
                   INVALID_ARGUMENT, &diag, "a ring");
    check_nothing_done(r, &before);
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        assert_int_equal(memory[i], 0x5a5a5a5a);
    }
    rig_fetch(r);
    for (uint32_t w = 0; w < WORDS; w++) {
        assert_int_equal(r->data[w], 0);
    }
    rig_close(&r);
}

static void test_queues_are_refused_before_anything_is_done(void **state)
{
    (void)state;
    RIG_FOR_EACH(refuse_params);
}

/* ---- Nothing --------------------------------------------------------------------------------- */

static void check_zeros(const vyre_queue_report *report)
{
    assert_int_equal(report->given + report->processed + report->remaining, 0);
    assert_int_equal(report->launches + report->sync_points + report->readback_buffers, 0);
    assert_true(report->upload_size == 0 && report->readback_size == 0 && report->moved_size == 0);
    assert_int_equal(report->resident_allocations, 0);
    assert_true(report->compile_ns == 0);
}

static void do_nothing(vyre_device *device)
{
    static const uint32_t statuses[] = {VYRE_STATUS_EMPTY, VYRE_STATUS_DONE, VYRE_STATUS_FAULT};
    uint32_t ring[3 * VYRE_SLOT_WORDS] = {0}, kept[3 * VYRE_SLOT_WORDS];
    vyre_queue_report report;
    vyre_diag diag;
    rig *r = rig_open(device, WORDS, NULL);
    vyre_device_counters before = counters_of(r);
    must(vyre_dispatcher_run(r->dispatcher, NULL, 0, NULL, &report, &diag), &diag);
    check_zeros(&report);
    must(vyre_dispatcher_run_bytes(r->dispatcher, NULL, 0, NULL, &report, &diag), &diag);
    check_zeros(&report);
    must(vyre_dispatcher_run_ring(r->dispatcher, NULL, 0, NULL, &report, &diag), &diag);
    check_zeros(&report);
    for (uint32_t s = 0; s < 3; s++) {
        ring[s * VYRE_SLOT_WORDS] = statuses[s];
        ring[s * VYRE_SLOT_WORDS + VYRE_SLOT_OPCODE] = RIG_ADD;
    }
    memcpy(kept, ring, sizeof kept);
    must(vyre_dispatcher_run_ring(r->dispatcher, ring, sizeof ring, NULL, &report, &diag), &diag);
    check_zeros(&report);
    assert_memory_equal(ring, kept, sizeof ring);
    check_nothing_done(r, &before);
    rig_close(&r);
}

static void test_queues_of_nothing_do_nothing(void **state)
{
    (void)state;
    RIG_FOR_EACH(do_nothing);
}

/* ---- Duplicates ------------------------------------------------------------------------------ */

static void prune(vyre_device *device)
{
    const vyre_work_item items[] = {
        {RIG_ADD, 0, 0, 5}, {RIG_ADD, 0, 0, 5}, {RIG_SET, 0, 1, 7},
        {RIG_SET, 0, 1, 7}, {RIG_SET, 0, 1, 7},
    };
    static const struct {
        uint32_t flags, deduped, sum;
    } cases[] = {{0, 2, 10}, {VYRE_QUEUE_KEEP_DUPLICATES, 0, 10}, {VYRE_QUEUE_PRUNE_ALL, 3, 5}};
    rig *r = rig_open(device, WORDS, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vyre_queue_report report = rig_run(r, items, 5, cases[i].flags);
        assert_int_equal(report.deduped, cases[i].deduped);
        assert_int_equal(report.published, 5 - cases[i].deduped);
        assert_int_equal(report.processed, 5);
        rig_fetch(r);
        assert_int_equal(r->data[0], cases[i].sum);
        assert_int_equal(r->data[1], 7);
        rig_clear(r);
    }
    /* The one that was kept fails: its duplicates were not done, and are not failures either. */
    const vyre_work_item bad[] = {
        {RIG_SET, 0, WORDS, 7}, {RIG_SET, 0, WORDS, 7}, {RIG_SET, 0, WORDS, 7}};
    vyre_queue_report report = rig_run(r, bad, 3, 0);
    assert_int_equal(report.deduped, 2);
    assert_int_equal(report.faulted, 1);
    assert_int_equal(report.processed, 0);
    assert_int_equal(report.remaining, 2);
    assert_int_equal(report.fault_slot, 0);
    rig_close(&r);
}

static void test_queues_drop_duplicates_by_their_effects(void **state)
{
    (void)state;
    RIG_FOR_EACH(prune);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queues_are_the_same_by_every_entry),
        cmocka_unit_test(test_queues_of_bytes_are_checked),
        cmocka_unit_test(test_queues_are_refused_before_anything_is_done),
        cmocka_unit_test(test_queues_of_nothing_do_nothing),
        cmocka_unit_test(test_queues_drop_duplicates_by_their_effects),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}
