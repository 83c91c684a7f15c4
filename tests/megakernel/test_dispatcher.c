/* The dispatcher from end to end, on the interpreter and on the device: every item of every queue
 * ends in one way and is counted once, however it is claimed, and wherever the queue's memory lies.
 */
#include "tests/megakernel/dispatcher_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 64u

static vyre_work_item *make_items(uint32_t count)
{
    vyre_work_item *items = calloc((size_t)count + 1, sizeof *items);
    assert_non_null(items);
    return items;
}

static vyre_work_item *make_additions(uint32_t count)
{
    vyre_work_item *items = make_items(count);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = rig_item(RIG_ADD, 0, i % WORDS, i);
    }
    return items;
}

static void check_additions(rig *r, uint32_t count)
{
    rig_fetch(r);
    for (uint32_t w = 0; w < WORDS; w++) {
        uint32_t sum = 0;
        for (uint32_t i = w; i < count; i += WORDS) {
            sum += i;
        }
        assert_int_equal(r->data[w], sum);
    }
}

/* ---- Conservation ---------------------------------------------------------------------------- */

static void conserve_one(rig *r, const vyre_work_item *items, uint32_t count, uint32_t workers,
                         uint32_t group_cap, uint32_t flags)
{
    vyre_queue_params params;
    rig_clear(r);
    vyre_queue_params_init(&params);
    params.worker_count = workers;
    params.group_cap = group_cap;
    params.flags = VYRE_QUEUE_KEEP_DUPLICATES | flags;
    vyre_queue_report report = rig_run_with(r, items, count, &params);
    assert_int_equal(report.given, count);
    assert_int_equal(report.processed, count);
    assert_int_equal(report.remaining, 0);
    assert_int_equal(report.published, count);
    assert_int_equal(report.launches > 0, count > 0);
    if (count > 0) {
        assert_true(group_cap == 0 || report.group_count <= group_cap);
        assert_string_equal(report.form, flags & VYRE_QUEUE_STRICT ? "ring" : "items");
    }
    if (flags & VYRE_QUEUE_STRICT) {
        assert_int_equal(report.statuses.by_status[VYRE_STATUS_DONE], count);
        assert_int_equal(report.statuses.slot_count, count);
        assert_int_equal(report.statuses.queue_depth, 0);
    }
    check_additions(r, count);
}

static void conserve(vyre_device *device)
{
    static const uint32_t lengths[] = {0, 1, 10, 11, 63, 64, 65, 4095, 4096, 4097, 1000000};
    static const uint32_t workers[] = {1, 7, 64, 1000};
    rig *r = rig_open(device, WORDS, NULL);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        uint32_t n = lengths[l];
        if (!device && n > 5000) {
            continue;
        }
        vyre_work_item *items = make_additions(n);
        for (size_t w = 0; w < sizeof workers / sizeof *workers; w++) {
            conserve_one(r, items, n, workers[w], workers[w], 0);
            conserve_one(r, items, n, workers[w], 0, 0);
        }
        free(items);
    }
    rig_close(&r);
}

static void test_dispatcher_conserves_for_every_length_and_worker_count(void **state)
{
    (void)state;
    RIG_FOR_EACH(conserve);
}

static void conserve_by_claim(vyre_device *device, vyre_claim claim, const char *name)
{
    static const uint32_t lengths[] = {1, 10, 11, 63, 64, 65, 1025, 4097};
    static const uint32_t caps[] = {0, 1, 3};
    vyre_dispatcher_params params;
    vyre_dispatcher_params_init(&params);
    params.claim = claim;
    rig *r = rig_open(device, WORDS, &params);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        vyre_work_item *items = make_additions(lengths[l]);
        for (size_t c = 0; c < sizeof caps / sizeof *caps; c++) {
            conserve_one(r, items, lengths[l], 64, caps[c], 0);
            conserve_one(r, items, lengths[l], 64, caps[c], VYRE_QUEUE_STRICT);
            vyre_queue_report report = rig_run(r, items, lengths[l], 0);
            assert_string_equal(report.claim, name);
        }
        free(items);
    }
    rig_close(&r);
}

static void claim_each_way(vyre_device *device)
{
    conserve_by_claim(device, VYRE_CLAIM_LANE, "lane");
    conserve_by_claim(device, VYRE_CLAIM_WORKGROUP, "workgroup");
    vyre_device_info info = {.type = VYRE_DEVICE_OTHER};
    if (device) {
        vyre_device_get_info(device, &info);
    }
    conserve_by_claim(device, VYRE_CLAIM_AUTO,
                      info.type == VYRE_DEVICE_PROCESSOR ? "lane" : "workgroup");
}

static void test_dispatcher_conserves_for_every_claim(void **state)
{
    (void)state;
    RIG_FOR_EACH(claim_each_way);
    conserve_by_claim(NULL, VYRE_CLAIM_SUBGROUP, "subgroup");
}

/* Each value follows from its item alone, so that none can be another's. */
static void call_handlers(vyre_device *device)
{
    const uint32_t count = device ? 65536 : 5000;
    vyre_work_item *items = make_items(count);
    rig *r = rig_open(device, count, NULL);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t output = (i * 40503u + 7) % count; /* each once: an odd factor, a power of two */
        output = device ? output : i;
        items[i] = i % 3 ? rig_item(RIG_SPIN, i, output, 1) : rig_item(RIG_LARGE, 0, output, i);
    }
    vyre_queue_report report = rig_run(r, items, count, 0);
    assert_int_equal(report.processed, count);
    assert_int_equal(report.waves, 1);
    rig_fetch(r);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(r->data[items[i].output], i % 3 ? i * 1664525u + 1013904223u : i);
    }
    free(items);
    rig_close(&r);
}

static void test_dispatcher_calls_handlers_for_their_items(void **state)
{
    (void)state;
    RIG_FOR_EACH(call_handlers);
}

/* By addresses and by descriptors, of which the validation layer and the judge of hazards see each.
 */
static void bind_each_way(vyre_device *device)
{
    for (int mode = VYRE_BINDINGS_AUTO; mode <= VYRE_BINDINGS_DESCRIPTOR; mode++) {
        static const uint32_t lengths[] = {11, 4097};
        vyre_dispatcher_params params;
        vyre_dispatcher_params_init(&params);
        params.bind_mode = (vyre_binding_mode)mode;
        rig *r = rig_open(device, WORDS, &params);
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            vyre_work_item *items = make_additions(lengths[l]);
            conserve_one(r, items, lengths[l], 64, 0, 0);
            conserve_one(r, items, lengths[l], 64, 0, VYRE_QUEUE_STRICT);
            for (uint32_t i = 0; i < 11; i++) { /* and in waves */
                items[i] = rig_item(RIG_DOUBLE, 0, 3, 0);
            }
            vyre_queue_report report = rig_run(r, items, 11, 0);
            assert_int_equal(report.waves, 11);
            assert_int_equal(report.processed, 11);
            free(items);
        }
        rig_close(&r);
    }
}

static void test_dispatcher_binds_each_way(void **state)
{
    (void)state;
    RIG_FOR_EACH(bind_each_way);
}

/* ---- Devices --------------------------------------------------------------------------------- */

/* Opens the device again, with settings of the test layer's; it knows one device at a time. */
static void reopen(layer_settings settings, int validate)
{
    engine_close(&rig_device);
    layer_reset();
    layer = settings;
    rig_device = engine_open(validate);
}

/* Without the validation layer, which does not know maximal reconvergence. */
static void test_dispatcher_claims_by_subgroup_where_the_device_can(void **state)
{
    (void)state;
    if (!rig_device) {
        return;
    }
    vyre_kernel_params can = {.struct_size = sizeof can};
    reopen((layer_settings){0}, 0);
    vyre_device_kernel_params(rig_device, &can);
    if (can.reconvergence == VYRE_RECONVERGENCE_MAXIMAL) {
        conserve_by_claim(rig_device, VYRE_CLAIM_SUBGROUP, "subgroup");
    }
    /* Elsewhere it is refused by its name. */
    vyre_dispatcher_params params;
    vyre_dispatcher *dispatcher = NULL;
    vyre_diag diag;
    reopen((layer_settings){.no_optional = true}, 0);
    vyre_dispatcher_params_init(&params);
    params.claim = VYRE_CLAIM_SUBGROUP;
    assert_int_equal(vyre_dispatcher_create(rig_device, &params, &dispatcher, &diag),
                     VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_null(dispatcher);
    assert_non_null(strstr(diag.message, "VK_KHR_shader_maximal_reconvergence"));
    assert_non_null(strstr(diag.message, "Fix: "));
    reopen((layer_settings){0}, 1);
}

/* Where nothing of the device can be mapped the queue is uploaded with each launch, and where it
 * can be without being coherent it is flushed. */
static void test_dispatcher_conserves_whatever_memory_there_is(void **state)
{
    static const layer_settings devices[] = {
        {.heaps = LAYER_HEAPS_SEPARATE},
        {.heaps = LAYER_HEAPS_SEPARATE, .no_coherent_memory = true},
        {.heaps = LAYER_HEAPS_REBAR, .no_coherent_memory = true},
        {.no_optional = true, .max_push = 128, .offset_alignment = 256},
        {.no_addresses = true, .no_push_descriptor = true, .no_timestamps = true},
    };
    static const uint32_t lengths[] = {1, 11, 65, 4097, 70000};
    (void)state;
    for (size_t s = 0; rig_device && s < sizeof devices / sizeof *devices; s++) {
        vyre_device_info info;
        reopen(devices[s], 0);
        vyre_device_get_info(rig_device, &info);
        bool is_mapped = info.mappable_memory_size > 0;
        assert_true(is_mapped || devices[s].heaps == LAYER_HEAPS_SEPARATE);
        rig *r = rig_open(rig_device, WORDS, NULL);
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            vyre_work_item *items = make_additions(lengths[l]);
            conserve_one(r, items, lengths[l], 64, 0, 0);
            conserve_one(r, items, lengths[l], 64, 0, VYRE_QUEUE_STRICT);
            vyre_queue_report again = rig_run(r, items, lengths[l], 0);
            assert_int_equal(again.was_resident != 0, is_mapped);
            assert_int_equal(again.resident_allocations, 0);
            free(items);
        }
        rig_close(&r);
        assert_int_equal(layer_bad_ranges(), 0);
    }
    if (rig_device) {
        reopen((layer_settings){0}, 1);
    }
}

/* ---- Long queues ----------------------------------------------------------------------------- */

#define LONG ((1u << 20) + 4097)

/* Longer than what one launch can number; slices of one round, so that each part takes several. */
static void test_dispatcher_drains_more_items_than_a_launch_numbers(void **state)
{
    (void)state;
    if (!rig_device) {
        return;
    }
    vyre_dispatcher_params params;
    vyre_dispatcher_params_init(&params);
    params.slice_ns = 1;
    rig *r = rig_open(rig_device, WORDS, &params);
    vyre_work_item *items = make_additions(LONG);
    for (uint32_t cap = 0; cap <= 64; cap += 64) {
        conserve_one(r, items, LONG, 64, cap, 0);
        conserve_one(r, items, LONG, 64, cap, VYRE_QUEUE_INDEPENDENT);
    }
    static const uint32_t faults[] = {5, 800000, (1u << 20) + 100, LONG - 1};
    enum { FAULTS = sizeof faults / sizeof *faults };
    for (uint32_t first = 0; first < FAULTS; first++) {
        for (uint32_t f = first; f < FAULTS; f++) {
            items[faults[f]] = rig_item(RIG_FAIL, 0, 0, 100 + f);
        }
        vyre_queue_report report = rig_run(r, items, LONG, VYRE_QUEUE_KEEP_DUPLICATES);
        assert_int_equal(report.fault_slot, faults[first]);
        assert_int_equal(report.fault_code, 100 + first);
        assert_int_equal(report.faulted, FAULTS - first);
        assert_int_equal(report.processed, LONG - (FAULTS - first));
        /* Arranged by opcode, those that fail stand last. */
        report = rig_run(r, items, LONG, VYRE_QUEUE_INDEPENDENT | VYRE_QUEUE_ARRANGE);
        assert_int_equal(report.fault_slot, faults[first]);
        assert_int_equal(report.fault_code, 100 + first);
        items[faults[first]] = rig_item(RIG_ADD, 0, 0, 0);
    }
    rig_close(&r);
    /* As a ring it would need more slots than there may be. */
    r = rig_open(rig_device, WORDS, NULL);
    vyre_queue_params strict;
    vyre_queue_report report;
    vyre_diag diag;
    vyre_queue_params_init(&strict);
    strict.flags = VYRE_QUEUE_STRICT | VYRE_QUEUE_KEEP_DUPLICATES;
    assert_int_equal(vyre_dispatcher_run(r->dispatcher, items, LONG, &strict, &report, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "1052673"));
    assert_non_null(strstr(diag.message, "Fix: "));
    free(items);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dispatcher_conserves_for_every_length_and_worker_count),
        cmocka_unit_test(test_dispatcher_conserves_for_every_claim),
        cmocka_unit_test(test_dispatcher_calls_handlers_for_their_items),
        cmocka_unit_test(test_dispatcher_binds_each_way),
        cmocka_unit_test(test_dispatcher_claims_by_subgroup_where_the_device_can),
        cmocka_unit_test(test_dispatcher_conserves_whatever_memory_there_is),
        cmocka_unit_test(test_dispatcher_drains_more_items_than_a_launch_numbers),
    };
    return cmocka_run_group_tests(tests, rig_open_device, rig_close_device);
}
