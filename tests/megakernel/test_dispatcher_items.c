/* What a queue of items gives back beside what its handlers wrote: faults and where they were, the
 * control buffer, the debug log, lineage, and the same report whichever way the items came. */
#include "tests/megakernel/dispatcher_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define HOUR ((uint64_t)3600 * 1000000000)

enum { WORDS = 64, OBSERVABLES = 16, CONTROL_WORDS = VYRE_CONTROL_OBSERVABLES + OBSERVABLES };

static vyre_queue_params make_params(uint32_t flags)
{
    vyre_queue_params params;
    vyre_queue_params_init(&params);
    params.flags = flags;
    return params;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void check_one_fault(rig *r, vyre_work_item failing, uint32_t code, int is_unknown)
{
    static const uint32_t flags[] = {0, VYRE_QUEUE_ARRANGE,
                                     VYRE_QUEUE_INDEPENDENT | VYRE_QUEUE_ARRANGE,
                                     VYRE_QUEUE_STRICT | VYRE_QUEUE_ARRANGE};
    enum { COUNT = 3000, AT = 1717 };
    vyre_work_item *items = calloc(COUNT, sizeof *items);
    assert_non_null(items);
    for (uint32_t i = 0; i < COUNT; i++) { /* in many waves */
        items[i] = rig_item(i % 5 == 0 ? RIG_SPIN : RIG_ADD, i, i % WORDS, i % 7);
    }
    items[AT] = failing;
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        vyre_queue_report report = rig_run(r, items, COUNT, flags[f]);
        assert_int_equal(report.processed, COUNT - 1);
        assert_int_equal(report.faulted, 1);
        assert_int_equal(report.unknown, is_unknown);
        assert_int_equal(report.fault_slot, AT);
        assert_int_equal(report.fault_code, code);
    }
    free(items);
}

static void run_faults(vyre_device *device)
{
    rig *r = rig_open(device, WORDS, NULL);
    check_one_fault(r, rig_item(RIG_FAIL, 0, 0, 16), 16, 0);
    check_one_fault(r, rig_item(RIG_FAIL, 0, 0, 255), 255, 0);
    check_one_fault(r, rig_item(RIG_FAIL, 0, 0, 258), VYRE_FAULT_HANDLER, 0);
    check_one_fault(r, rig_item(RIG_FAIL, 0, 0, 256), VYRE_FAULT_HANDLER, 0);
    check_one_fault(r, rig_item(RIG_FAIL, 0, 0, UINT32_MAX), VYRE_FAULT_HANDLER, 0);
    check_one_fault(r, rig_item(RIG_ADD, 0, WORDS, 1), VYRE_FAULT_BOUNDS, 0);
    check_one_fault(r, rig_item(31, 0, 1, 1), VYRE_FAULT_UNKNOWN_OPCODE, 1);
    check_one_fault(r, rig_item(0x7fffffff, 0, 1, 1), VYRE_FAULT_UNKNOWN_OPCODE, 1);
    check_one_fault(r, rig_item(VYRE_OPCODE_STORE_U32, 1, 1, 0), VYRE_FAULT_BOUNDS, 0);
    rig_close(&r);
}

static void test_faults_are_counted_and_named_by_the_items_given(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_faults);
}

/* ---- Control and log ------------------------------------------------------------------------- */

static void encode_control(uint32_t *control, uint32_t tenants)
{
    vyre_control_params params;
    vyre_control_params_init(&params);
    params.tenant_count = tenants;
    assert_int_equal(vyre_control_encode(&params, control, CONTROL_WORDS * sizeof *control, NULL),
                     VYRE_OK);
}

static void run_control(vyre_device *device)
{
    uint32_t control[CONTROL_WORDS];
    const vyre_work_item items[] = {
        rig_item(VYRE_OPCODE_STORE_U32, 11, 160, 0),
        rig_item(VYRE_OPCODE_ATOMIC_ADD, 5, 161, 0),
        rig_item(VYRE_OPCODE_ATOMIC_ADD, 5, 161, 0),
        rig_item(VYRE_OPCODE_LOAD_U32, 161, 2, 0),   /* observable 2 = 1000 + 10 */
        rig_item(VYRE_OPCODE_MEMCPY, 160, 165, 3),   /* 165.. = 11, 1010, 1010 */
        rig_item(VYRE_OPCODE_BATCH_FENCE, 0, 99, 0), /* observable 0 = 99 */
        rig_item(VYRE_OPCODE_COMPARE_SWAP, 160, 99, 3),
        rig_item(RIG_ADD, 0, 0, 1),
    };
    enum { COUNT = sizeof items / sizeof *items };
    rig *r = rig_open(device, WORDS, NULL);
    for (uint32_t flags = 0; flags <= VYRE_QUEUE_STRICT; flags += VYRE_QUEUE_STRICT) {
        vyre_queue_params params = make_params(flags);
        encode_control(control, 3);
        control[161] = 1000;
        control[175] = 4711;
        control[VYRE_CONTROL_EPOCH] = 8;
        control[VYRE_CONTROL_SHUTDOWN] = 1; /* these are made 0 first */
        control[VYRE_CONTROL_DONE_COUNT] = 77;
        control[VYRE_CONTROL_CURSOR] = 5;
        control[VYRE_CONTROL_FAULT_COUNT] = 6;
        control[VYRE_CONTROL_FIRST_FAULT] = 0xffffffff;
        control[VYRE_CONTROL_METRICS + 1] = 9;
        control[VYRE_CONTROL_PRIORITY_FAIRNESS + VYRE_PRIORITY_HIGH] = 9;
        params.control = control;
        params.control_size = sizeof control;
        params.tenant = 2;
        params.priority = VYRE_PRIORITY_HIGH;
        vyre_queue_report report = rig_run_with(r, items, COUNT, &params);
        assert_int_equal(report.processed, COUNT - 1);
        assert_int_equal(report.faulted, 1); /* COMPARE_SWAP has no observable 160 to write */
        assert_int_equal(report.fault_slot, 6);
        assert_int_equal(report.epoch, 9);
        assert_int_equal(report.was_shut_down, 0);
        assert_int_equal(control[160], 99);
        assert_int_equal(control[161], 1010);
        assert_int_equal(control[162], 1010);
        assert_int_equal(control[165], 11);
        assert_int_equal(control[166], 1010);
        assert_int_equal(control[167], 1010);
        assert_int_equal(control[175], 4711);
        assert_int_equal(control[VYRE_CONTROL_EPOCH], 9);
        assert_int_equal(control[VYRE_CONTROL_DONE_COUNT], COUNT - 1);
        assert_int_equal(control[VYRE_CONTROL_FAULT_COUNT], 1);
        assert_int_equal(control[VYRE_CONTROL_TENANT_FAIRNESS + 2], COUNT);
        assert_int_equal(control[VYRE_CONTROL_PRIORITY_FAIRNESS + VYRE_PRIORITY_HIGH], COUNT);
        assert_int_equal(control[VYRE_CONTROL_METRICS + VYRE_OPCODE_STORE_U32], 1);
        assert_int_equal(control[VYRE_CONTROL_METRICS + VYRE_OPCODE_ATOMIC_ADD], 2);
        assert_int_equal(control[VYRE_CONTROL_METRICS + RIG_ADD], 1);
    }
    rig_close(&r);
}

static void test_control_goes_in_and_comes_out(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_control);
}

static void run_tenants(vyre_device *device)
{
    uint32_t control[CONTROL_WORDS];
    const vyre_work_item items[] = {rig_item(RIG_ADD, 0, 0, 1), rig_item(RIG_ADD, 0, 1, 1),
                                    rig_item(RIG_DOUBLE, 0, 0, 0)};
    rig *r = rig_open(device, WORDS, NULL);
    for (uint32_t flags = 0; flags <= VYRE_QUEUE_STRICT; flags += VYRE_QUEUE_STRICT) {
        vyre_queue_params params = make_params(flags);
        rig_clear(r);
        params.tenant = VYRE_MAX_TENANTS - 1; /* without a control buffer each may run */
        assert_int_equal(rig_run_with(r, items, 3, &params).processed, 3);
        encode_control(control, 2);
        params.control = control;
        params.control_size = sizeof control;
        params.tenant = 1;
        assert_int_equal(rig_run_with(r, items, 3, &params).processed, 3);
        params.tenant = 2;
        vyre_queue_report report = rig_run_with(r, items, 3, &params);
        assert_int_equal(report.denied, 3);
        assert_int_equal(report.processed + report.faulted + report.remaining, 0);
        assert_int_equal(control[VYRE_CONTROL_DENIED_COUNT], 3);
        rig_fetch(r);
        assert_int_equal(r->data[1], 2); /* of the first two queues */
    }
    rig_close(&r);
}

static void test_tenants_without_a_mask_are_denied(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_tenants);
}

static void run_log(vyre_device *device)
{
    enum { RECORDS = 8, COUNT = 11 };
    uint32_t log[1 + 4 * RECORDS];
    vyre_work_item items[COUNT];
    vyre_debug_record records[RECORDS];
    rig *r = rig_open(device, WORDS, NULL);
    for (uint32_t count = RECORDS; count <= COUNT; count += COUNT - RECORDS) {
        vyre_queue_params params = make_params(0);
        uint32_t found = 0, lost = 0, seen = 0;
        for (uint32_t i = 0; i < count; i++) {
            items[i] = rig_item(VYRE_OPCODE_PRINTF, 100 + i, i, 3 * i);
        }
        memset(log, 0xee, sizeof log);
        params.debug_log = log;
        params.debug_size = sizeof log;
        assert_int_equal(rig_run_with(r, items, count, &params).processed, count);
        assert_int_equal(
            vyre_debug_log_read(log, sizeof log, records, RECORDS, &found, &lost, NULL), VYRE_OK);
        assert_int_equal(found, RECORDS);
        assert_int_equal(lost, count - RECORDS);
        for (uint32_t i = 0; i < found; i++) {
            uint32_t item = records[i].format - 100;
            assert_true(item < count && !(seen >> item & 1));
            seen |= 1u << item;
            assert_int_equal(records[i].args[0], item);
            assert_int_equal(records[i].args[1], 3 * item);
            assert_int_equal(records[i].slot_word, item * VYRE_SLOT_WORDS);
        }
        /* Without a log nothing is written, and they are done as well. */
        assert_int_equal(rig_run(r, items, count, 0).processed, count);
    }
    rig_close(&r);
}

static void test_records_come_back_in_the_log(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_log);
}

static void run_shutdown(vyre_device *device)
{
    enum { COUNT = 1000 };
    vyre_work_item items[COUNT];
    rig *r = rig_open(device, WORDS, NULL);
    items[0] = rig_item(VYRE_OPCODE_SHUTDOWN, 0, 0, 0);
    for (uint32_t i = 1; i < COUNT; i++) {
        items[i] = rig_item(RIG_ADD, 0, i % WORDS, 1);
    }
    for (uint32_t flags = 0; flags <= VYRE_QUEUE_STRICT; flags += VYRE_QUEUE_STRICT) {
        vyre_queue_report report = rig_run(r, items, COUNT, flags);
        assert_int_equal(report.processed, COUNT);
        assert_int_equal(report.was_shut_down, 1);
        rig_clear(r);
        vyre_queue_params params = make_params(flags | VYRE_QUEUE_PERSISTENT);
        params.group_cap = 1;
        report = rig_run_with(r, items, COUNT, &params);
        assert_int_equal(report.was_shut_down, 1);
        assert_true(report.processed >= 1 && report.processed < COUNT);
        assert_int_equal(report.remaining, COUNT - report.processed);
        rig_fetch(r);
        uint32_t ran = 0;
        for (uint32_t w = 0; w < WORDS; w++) {
            ran += r->data[w];
        }
        assert_int_equal(ran, report.processed - 1);
        /* Nothing asks for an end: all of it is drained. */
        report = rig_run(r, items + 1, COUNT - 1, flags | VYRE_QUEUE_PERSISTENT);
        assert_int_equal(report.processed, COUNT - 1);
        assert_int_equal(report.was_shut_down, 0);
    }
    rig_close(&r);
}

static void test_shutdown_ends_persistent_queues_alone(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_shutdown);
}

/* A packed slot's three words: one operation with two arguments. */
static vyre_work_item packed(uint32_t opcode, uint32_t arg0, uint32_t arg1)
{
    return rig_item(VYRE_OPCODE_PACKED_SLOT, 1u | 2u << 8 | opcode << 16, arg0, arg1);
}

static void run_packed(vyre_device *device)
{
    uint32_t control[CONTROL_WORDS];
    const vyre_work_item items[] = {packed(VYRE_OPCODE_ATOMIC_ADD, 5, 161),
                                    packed(VYRE_OPCODE_ATOMIC_ADD, 6, 161),
                                    packed(VYRE_OPCODE_STORE_U32, 6, 1),         /* no open word */
                                    rig_item(VYRE_OPCODE_PACKED_SLOT, 24, 0, 0), /* no head */
                                    rig_item(RIG_SET, 0, 3, 8)};
    vyre_queue_params params = make_params(0);
    rig *r = rig_open(device, WORDS, NULL);
    encode_control(control, 1);
    params.control = control;
    params.control_size = sizeof control;
    vyre_queue_report report = rig_run_with(r, items, 5, &params);
    assert_string_equal(report.form, "ring");
    assert_int_equal(report.processed, 3);
    assert_int_equal(report.faulted, 2);
    assert_int_equal(report.fault_slot, 2);
    assert_int_equal(report.fault_code, VYRE_FAULT_BOUNDS);
    assert_int_equal(control[161], 11);
    rig_fetch(r);
    assert_int_equal(r->data[3], 8);
    rig_close(&r);
}

static void test_packed_items_are_drained_as_slots(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_packed);
}

/* ---- Ways in --------------------------------------------------------------------------------- */

/* Without what differs from run to run, as text. */
static void format(vyre_queue_report report, char *out, size_t size)
{
    report.plan_ns = report.publish_ns = report.compile_ns = report.lineage_ns = 0;
    report.dispatch_ns = report.wall_ns = 0;
    report.was_compiled = report.was_resident = 0;
    report.resident_allocations = 0;
    assert_true(vyre_queue_report_format_json(&report, out, size) < size);
}

static void run_ways(vyre_device *device)
{
    enum { COUNT = 1500 };
    static vyre_work_item items[COUNT];
    static char expected[8192], text[8192];
    vyre_queue_report report;
    vyre_dispatcher_params whole;
    vyre_dispatcher_params_init(&whole);
    whole.slice_ns = HOUR; /* as many launches, however fast the machine is */
    rig *r = rig_open(device, WORDS, &whole);
    for (uint32_t i = 0; i < COUNT; i++) {
        items[i] = rig_item(i % 3 ? RIG_ADD : RIG_COPY, i * 7 % WORDS, i % (WORDS + 1), i);
    }
    (void)rig_run(r, items, COUNT, 0); /* what a round takes is known behind it */
    rig_clear(r);
    format(rig_run(r, items, COUNT, 0), expected, sizeof expected);
    rig_fetch(r);
    uint32_t left[WORDS];
    memcpy(left, r->data, sizeof left);

    rig_clear(r);
    vyre_queue_params params = make_params(0);
    assert_int_equal(
        vyre_dispatcher_run_bytes(r->dispatcher, items, sizeof items, &params, &report, NULL),
        VYRE_OK);
    rig_check_sums(&report);
    format(report, text, sizeof text);
    assert_string_equal(text, expected);
    rig_fetch(r);
    assert_memory_equal(r->data, left, sizeof left);

    rig_clear(r);
    vyre_queue_ticket ticket;
    assert_int_equal(vyre_dispatcher_submit(r->dispatcher, items, COUNT, &params, &ticket, NULL),
                     VYRE_OK);
    assert_int_equal(vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, &report, NULL),
                     VYRE_OK);
    format(report, text, sizeof text);
    assert_string_equal(text, expected);
    rig_fetch(r);
    assert_memory_equal(r->data, left, sizeof left);

    /* As a ring of statuses that are read back and counted. */
    rig_clear(r);
    vyre_queue_report strict = rig_run(r, items, COUNT, VYRE_QUEUE_STRICT);
    rig_fetch(r);
    assert_memory_equal(r->data, left, sizeof left);
    assert_int_equal(strict.processed, report.processed);
    assert_int_equal(strict.faulted, report.faulted);
    assert_int_equal(strict.remaining, report.remaining);
    assert_int_equal(strict.deduped, report.deduped);
    assert_int_equal(strict.fault_code, report.fault_code);
    assert_int_equal(strict.waves, report.waves);
    assert_int_equal(strict.statuses.by_status[VYRE_STATUS_FAULT], strict.faulted);
    assert_int_equal(strict.statuses.by_status[VYRE_STATUS_DONE],
                     strict.published - strict.faulted);
    assert_int_equal(strict.statuses.slot_count, strict.published);
    rig_close(&r);
}

static void test_queues_are_the_same_whichever_way_they_come(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_ways);
}

static void run_in_place(vyre_device *device)
{
    enum { COUNT = 500, WRITTEN = 300 };
    vyre_queue_params params = make_params(0);
    vyre_work_item *room = NULL;
    vyre_queue_ticket ticket, other;
    vyre_queue_report report;
    rig *r = rig_open(device, WORDS, NULL);
    for (uint32_t turn = 0; turn < 3; turn++) {
        rig_clear(r);
        assert_int_equal(vyre_dispatcher_map(r->dispatcher, COUNT, &params, &room, &ticket, NULL),
                         VYRE_OK);
        for (uint32_t i = 0; i < WRITTEN; i++) {
            room[i] = rig_item(RIG_ADD, 0, i % WORDS, i);
        }
        room[100] = rig_item(RIG_FAIL, 0, 0, 77);
        room[200] = rig_item(VYRE_OPCODE_LOAD_MISS, 0, 0, 0); /* nobody looks at it before */
        /* Another queue meanwhile has other memory. */
        vyre_work_item *more = NULL;
        assert_int_equal(vyre_dispatcher_map(r->dispatcher, 1, &params, &more, &other, NULL),
                         VYRE_OK);
        assert_ptr_not_equal(more, room);
        assert_int_equal(vyre_dispatcher_drop(r->dispatcher, &other, NULL), VYRE_OK);
        assert_int_equal(vyre_dispatcher_submit_mapped(r->dispatcher, ticket, COUNT + 1, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
        assert_int_equal(vyre_dispatcher_submit_mapped(r->dispatcher, ticket, WRITTEN, NULL),
                         VYRE_OK);
        assert_int_equal(vyre_dispatcher_submit_mapped(r->dispatcher, ticket, WRITTEN, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT); /* once */
        assert_int_equal(vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, &report, NULL),
                         VYRE_OK);
        rig_check_sums(&report);
        assert_int_equal(report.given, WRITTEN);
        assert_int_equal(report.processed, WRITTEN - 2);
        assert_int_equal(report.faulted, 2);
        assert_int_equal(report.unknown, 1);
        assert_int_equal(report.fault_slot, 100);
        assert_int_equal(report.fault_code, 77);
        rig_fetch(r);
        for (uint32_t w = 0; w < WORDS; w++) {
            uint32_t sum = 0;
            for (uint32_t i = w; i < WRITTEN; i += WORDS) {
                sum += i == 100 || i == 200 ? 0 : i;
            }
            assert_int_equal(r->data[w], sum);
        }
    }
    static const uint32_t planned[] = {VYRE_QUEUE_PRUNE_ALL, VYRE_QUEUE_ARRANGE, VYRE_QUEUE_STRICT};
    for (size_t f = 0; f < sizeof planned / sizeof *planned; f++) {
        params.flags = planned[f];
        assert_int_equal(vyre_dispatcher_map(r->dispatcher, COUNT, &params, &room, &ticket, NULL),
                         VYRE_ERROR_INVALID_ARGUMENT);
    }
    params.flags = 0;
    assert_int_equal(vyre_dispatcher_map(r->dispatcher, 0, &params, &room, &ticket, NULL),
                     VYRE_ERROR_INVALID_ARGUMENT);
    /* None was written: no work. */
    assert_int_equal(vyre_dispatcher_map(r->dispatcher, COUNT, &params, &room, &ticket, NULL),
                     VYRE_OK);
    assert_int_equal(vyre_dispatcher_submit_mapped(r->dispatcher, ticket, 0, NULL), VYRE_OK);
    assert_int_equal(vyre_dispatcher_wait(r->dispatcher, &ticket, UINT64_MAX, &report, NULL),
                     VYRE_OK);
    rig_check_sums(&report);
    assert_int_equal(report.given + report.launches, 0);
    rig_close(&r);
}

static void test_items_are_written_where_they_are_drained(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_in_place);
}

/* ---- Lineage --------------------------------------------------------------------------------- */

#define BIT(opcode) (1u << (opcode) % 32)

static void run_lineage(vyre_device *device)
{
    uint32_t folded[8], opcodes[256];
    uint64_t sets[8][4];
    vyre_queue_params params = make_params(0);
    rig *r = rig_open(device, WORDS, NULL);
    params.lineage = folded;
    params.lineage_sets = sets;
    params.lineage_opcodes = opcodes;
    params.lineage_capacity = 8;
    /* Two of one opcode and one apart. */
    const vyre_work_item apart[] = {rig_item(RIG_ADD, 0, 1, 1), rig_item(RIG_ADD, 0, 1, 2),
                                    rig_item(RIG_COPY, 2, 3, 0)};
    vyre_queue_report report = rig_run_with(r, apart, 3, &params);
    assert_int_equal(report.lineage_items, 3);
    assert_int_equal(report.lineage_opcode_count, 2);
    assert_int_equal(folded[0], BIT(RIG_ADD));
    assert_int_equal(folded[1], BIT(RIG_ADD));
    assert_int_equal(folded[2], BIT(RIG_COPY));
    assert_int_equal(sets[2][0], 2);
    uint32_t launches = report.launches;
    assert_int_equal(rig_run(r, apart, 3, 0).launches, launches);
    assert_int_equal(rig_run(r, apart, 3, 0).lineage_items, 0);
    /* A chain, of which a duplicate was dropped; 0x1000 and 64 fold into one bit. */
    const vyre_work_item chain[] = {rig_item(RIG_SET, 0, 1, 4), rig_item(RIG_SET, 0, 1, 4),
                                    rig_item(RIG_COPY, 1, 2, 0), rig_item(RIG_LARGE, 0, 2, 1),
                                    rig_item(64, 9, 10, 0)};
    report = rig_run_with(r, chain, 5, &params);
    assert_int_equal(report.published, 4);
    assert_int_equal(report.lineage_items, 4);
    assert_int_equal(folded[0], BIT(RIG_SET));
    assert_int_equal(folded[1], BIT(RIG_SET) | BIT(RIG_COPY));
    assert_int_equal(folded[2], BIT(RIG_SET) | BIT(RIG_COPY) | 1u);
    assert_int_equal(folded[3], 1u);
    assert_int_equal(report.lineage_opcode_count, 4);
    assert_int_equal(opcodes[0], RIG_SET);
    assert_int_equal(opcodes[1], RIG_COPY);
    assert_int_equal(opcodes[2], RIG_LARGE);
    assert_int_equal(opcodes[3], 64);
    assert_int_equal(sets[2][0], 7);
    assert_int_equal(sets[3][0], 8);
    assert_int_equal(sets[3][1] | sets[3][2] | sets[3][3], 0);
    /* No more than there is room for. */
    folded[2] = 0xdead;
    params.lineage_capacity = 2;
    params.lineage_sets = NULL;
    assert_int_equal(rig_run_with(r, chain, 5, &params).lineage_items, 4);
    assert_int_equal(folded[2], 0xdead);
    rig_close(&r);
}

static void test_lineage_names_what_contributed(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_lineage);
}

static void run_lineage_limits(vyre_device *device)
{
    enum { MOST = 258 };
    vyre_work_item items[MOST];
    uint32_t folded[MOST];
    uint64_t sets[MOST][4];
    rig *r = rig_open(device, WORDS, NULL);
    vyre_queue_params params = make_params(0);
    params.lineage = folded;
    params.lineage_sets = sets;
    params.lineage_capacity = MOST;
    for (uint32_t i = 0; i < MOST; i++) {
        items[i] = rig_item(RIG_ADD, 0, i % WORDS, i);
    }
    for (uint32_t count = 255; count <= MOST; count++) {
        memset(folded, 0xee, sizeof folded);
        params.lineage_limit = 0;
        uint32_t tracked = rig_run_with(r, items, count, &params).lineage_items;
        assert_int_equal(tracked, count <= 256 ? count : 0);
        for (uint32_t i = 0; i < MOST; i++) {
            assert_int_equal(folded[i], i < tracked ? BIT(RIG_ADD) : 0xeeeeeeee);
        }
        params.lineage_limit = 257;
        assert_int_equal(rig_run_with(r, items, count, &params).lineage_items,
                         count <= 257 ? count : 0);
    }
    /* Up to 256 opcodes have a bit each. */
    params.lineage_limit = 257;
    for (uint32_t i = 0; i < 257; i++) {
        items[i] = rig_item(0x2000 + i, i, 1000 + i, 0);
    }
    vyre_queue_report report = rig_run_with(r, items, 256, &params);
    assert_int_equal(report.lineage_items, 256);
    assert_int_equal(report.lineage_opcode_count, 256);
    assert_int_equal(report.unknown, 256);
    for (uint32_t i = 0; i < 256; i++) {
        for (uint32_t w = 0; w < 4; w++) {
            assert_true(sets[i][w] == (w == i / 64 ? (uint64_t)1 << i % 64 : 0));
        }
    }
    assert_int_equal(rig_run_with(r, items, 257, &params).lineage_items, 0);
    rig_close(&r);
}

static void test_lineage_ends_at_its_limits(void **state)
{
    (void)state;
    RIG_FOR_EACH(run_lineage_limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_are_counted_and_named_by_the_items_given),
        cmocka_unit_test(test_control_goes_in_and_comes_out),
        cmocka_unit_test(test_tenants_without_a_mask_are_denied),
        cmocka_unit_test(test_records_come_back_in_the_log),
        cmocka_unit_test(test_shutdown_ends_persistent_queues_alone),
        cmocka_unit_test(test_packed_items_are_drained_as_slots),
        cmocka_unit_test(test_queues_are_the_same_whichever_way_they_come),
        cmocka_unit_test(test_items_are_written_where_they_are_drained),
        cmocka_unit_test(test_lineage_names_what_contributed),
        cmocka_unit_test(test_lineage_ends_at_its_limits),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}
