/* Scans where memory is short, and where each call of Vulkan's and each allocation fails once:
 * nothing is left, and the same works when it is done again. */
#include "tests/scan/scanner_support.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/vk_layer_scenario.h"

#include <stdlib.h>

/* Where the device has no room for all of them they come in parts. */
static void test_hits_come_in_parts_where_memory_is_short(void **state)
{
    (void)state;
    NEED_DEVICE();
    const vyre_pattern patterns[] = {literal_text("a"), literal_text("aaaa")};
    vyre_catalogue *catalogue = make_catalogue(patterns, 2, VYRE_GROUPING_AUTO);
    scan_files files = scan_dense_files(60, 10000);
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.memory_limit = 12 << 20;
    layer.heaps = LAYER_HEAPS_UNIFIED; /* nowhere else to go */
    vyre_device *device = engine_open_with(&params);
    vyre_scan_batch_params batch_params;
    vyre_scan_batch_params_init(&batch_params);
    batch_params.hit_capacity = 200000;
    vyre_scan_batch *batch = scan_batch(device, &batch_params);
    vyre_scanner *scanner = scan_scanner(device, catalogue, NULL);
    scan_add_all(batch, &files);
    vyre_scan_report r = scan_check(scanner, batch, catalogue, files.files, files.count);
    assert_int_equal(r.hit_count, 60 * (10000 + 9997));
    assert_int_equal(r.dropped_count, r.hit_count - 200000);
    assert_int_equal(r.launches, 1 + 6);
    vyre_scanner_destroy(&scanner);
    vyre_scan_batch_destroy(&batch);
    engine_close(&device);
    scan_free_files(&files);
    vyre_catalogue_destroy(&catalogue);
}

static void test_batches_beyond_the_memory_are_refused(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.memory_limit = 12 << 20;
    layer.heaps = LAYER_HEAPS_UNIFIED; /* nowhere else to go */
    vyre_device *device = engine_open_with(&params);
    vyre_scan_batch_params batch_params;
    vyre_scan_batch *batch = NULL;
    vyre_diag diag;
    vyre_scan_batch_params_init(&batch_params);
    batch_params.size = 64 << 20;
    assert_int_equal(vyre_scan_batch_create(device, &batch_params, &batch, &diag),
                     VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    assert_null(batch);
    /* One that grows stays as it was. */
    static unsigned char bytes[5 << 20];
    const vyre_scan_file file = {bytes, sizeof bytes, 0, 0};
    batch = scan_batch(device, NULL);
    assert_int_equal(vyre_scan_batch_add(batch, &file, &diag), VYRE_OK);
    assert_int_equal(vyre_scan_batch_add(batch, &file, &diag), VYRE_ERROR_DEVICE_OUT_OF_MEMORY);
    const vyre_pattern pattern = literal_text("a");
    vyre_catalogue *catalogue = make_catalogue(&pattern, 1, VYRE_GROUPING_AUTO);
    vyre_scanner *scanner = scan_scanner(device, catalogue, NULL);
    scan_check(scanner, batch, catalogue, &file, 1);
    vyre_scanner_destroy(&scanner);
    vyre_catalogue_destroy(&catalogue);
    vyre_scan_batch_destroy(&batch);
    engine_close(&device);
}

/* A device that does nothing. */
static void test_less_than_was_queued_is_an_error(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    const vyre_pattern pattern = literal_text("a");
    vyre_catalogue *catalogue = make_catalogue(&pattern, 1, VYRE_GROUPING_AUTO);
    vyre_scanner *scanner = scan_scanner(device, catalogue, NULL);
    vyre_scan_batch *batch = scan_batch(device, NULL);
    vyre_scan_result result;
    vyre_diag diag;
    scan_add(batch, "aaaa", 4, 0);
    layer.skip_dispatches = true;
    assert_int_equal(vyre_scanner_run(scanner, batch, 0, 0, &result, NULL, &diag),
                     VYRE_ERROR_DISPATCH_FAILED);
    assert_non_null(strstr(diag.message, "of 1 segments were walked"));
    assert_int_equal(result.hit_count, 0);
    layer.no_judge = true;
    vyre_scan_batch_destroy(&batch);
    vyre_scanner_destroy(&scanner);
    vyre_catalogue_destroy(&catalogue);
    engine_close(&device);
}

/* ---- Failures -------------------------------------------------------------------------------- */

#define FILES 20u

typedef struct plan {
    bool is_on_host; /* no device */
    layer_scenario_start start;
} plan;

typedef struct work {
    const plan *plan;
    const vyre_allocator *allocator;
    vyre_device *device;
    vyre_catalogue *catalogue;
    vyre_scanner *scanner;
    vyre_scan_batch *batch;
} work;

static const char text[] =
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";

static vyre_result open_device(work *w, vyre_diag *diag)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.validation = VYRE_VALIDATION_OFF;
    params.allocator = w->allocator;
    return vyre_device_create(&params, &w->device, diag);
}

static vyre_result make_scan_catalogue(work *w, vyre_diag *diag)
{
    const vyre_pattern patterns[] = {literal_text("a"), literal_text("ab"), literal_text("aaaa")};
    vyre_catalogue_params params;
    vyre_catalogue_params_init(&params);
    params.allocator = w->allocator;
    params.patterns = patterns;
    params.pattern_count = 3;
    return vyre_catalogue_create(&params, &w->catalogue, diag);
}

static vyre_result make_scanner(work *w, vyre_diag *diag)
{
    vyre_scanner_params params;
    vyre_scanner_params_init(&params);
    params.allocator = w->allocator;
    return vyre_scanner_create(w->device, w->catalogue, &params, &w->scanner, diag);
}

/* Too little of everything. */
static vyre_result make_batch(work *w, vyre_diag *diag)
{
    vyre_scan_batch_params params;
    vyre_scan_batch_params_init(&params);
    params.allocator = w->allocator;
    params.size = 64;
    params.hit_capacity = 16;
    return vyre_scan_batch_create(w->device, &params, &w->batch, diag);
}

static vyre_result run(work *w, vyre_diag *diag)
{
    vyre_scan_file files[FILES];
    vyre_scan_result result;
    for (uint32_t i = 0; i < FILES; i++) {
        files[i] = (vyre_scan_file){text, sizeof text - 1, i, i};
    }
    vyre_result code = vyre_scan_batch_refresh(w->batch, files, FILES, NULL, diag);
    if (code == VYRE_OK) {
        code = vyre_scanner_run(w->scanner, w->batch, VYRE_SCAN_TIMED, 0, &result, NULL, diag);
    }
    if (code == VYRE_OK) {
        scan_compare(&result, w->catalogue, files, FILES);
    }
    return code;
}

static vyre_result step(void *user, uint32_t number, vyre_diag *diag)
{
    work *w = user;
    const plan *p = w->plan;
    switch (number) {
    case 0:
        return p->is_on_host ? VYRE_OK : open_device(w, diag);
    case 1:
        return make_scan_catalogue(w, diag);
    case 2:
        return make_scanner(w, diag);
    case 3:
        return make_batch(w, diag);
    default:
        return run(w, diag);
    }
}

static vyre_result run_all(const vyre_allocator *allocator, void *user, vyre_diag *diag)
{
    plan *p = user;
    work w = {.allocator = allocator, .plan = p};
    const layer_scenario_steps steps = {step, &w, 5, 1, &p->start};
    vyre_result first = layer_scenario_run_steps(&steps, allocator, diag);
    vyre_scan_batch_destroy(&w.batch);
    vyre_scanner_destroy(&w.scanner);
    vyre_catalogue_destroy(&w.catalogue);
    vyre_device_destroy(&w.device);
    return first;
}

static void test_scans_survive_each_failed_call(void **state)
{
    (void)state;
    NEED_DEVICE();
    plan p = {.is_on_host = false};
    const layer_scenario_params params = {.run = run_all, .user = &p, .start = &p.start};
    uint32_t runs = layer_scenario_fail_calls(&params);
    print_message("%u runs\n", (unsigned)runs);
    assert_true(runs > 20);
}

/* The same where bytes are copied and memory is flushed. */
static void test_scans_survive_each_failed_call_where_bytes_are_copied(void **state)
{
    (void)state;
    NEED_DEVICE();
    plan p = {.is_on_host = false};
    const layer_scenario_params params = {.run = run_all, .user = &p, .start = &p.start};
    layer.heaps = LAYER_HEAPS_SEPARATE;
    layer.no_coherent_memory = true;
    uint32_t runs = layer_scenario_fail_calls(&params);
    print_message("%u runs\n", (unsigned)runs);
    assert_true(runs > 20);
}

static void test_scans_survive_each_failed_allocation(void **state)
{
    (void)state;
    plan p = {.is_on_host = true};
    const layer_scenario_params params = {.run = run_all, .user = &p, .start = &p.start};
    uint32_t runs = layer_scenario_fail_allocations(&params, 1);
    print_message("%u runs\n", (unsigned)runs);
    assert_true(runs > 10);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_hits_come_in_parts_where_memory_is_short),
        T(test_batches_beyond_the_memory_are_refused),
        T(test_less_than_was_queued_is_an_error),
        T(test_scans_survive_each_failed_call),
        T(test_scans_survive_each_failed_call_where_bytes_are_copied),
        T(test_scans_survive_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
