/* Lengths of segments are measured, and what was found is used and kept. */
#include "tests/scan/scanner_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static vyre_device *open_in_folder(void)
{
    vyre_device_params params;
    vyre_device_params_init(&params);
    params.get_instance_proc_addr = layer_entry();
    params.cache_dir = folder;
    return engine_open_with(&params);
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

static uint32_t segment_used(vyre_scanner *scanner, vyre_scan_batch *batch, uint32_t *out_staging)
{
    vyre_scan_result result;
    vyre_scan_report report;
    vyre_diag diag;
    assert_int_equal(vyre_scanner_run(scanner, batch, 0, 0, &result, &report, &diag), VYRE_OK);
    *out_staging = (uint32_t)report.staging;
    return report.segment_size;
}

static void test_calibration_is_used_and_kept(void **state)
{
    (void)state;
    NEED_DEVICE();
    snprintf(folder, sizeof folder, "scan-kept-%d", (int)getpid());
    const vyre_pattern patterns[] = {literal_text("abc"), literal_text("bb")};
    vyre_catalogue *catalogue = make_catalogue(patterns, 2, VYRE_GROUPING_AUTO);
    vyre_catalogue *other = make_catalogue(patterns, 1, VYRE_GROUPING_AUTO);
    uint64_t seed = 3;
    scan_files files = scan_random_files(&seed, 4, 60000, 4);
    vyre_device *device = open_in_folder();
    vyre_scan_batch *batch = scan_batch(device, NULL);
    vyre_scanner *scanner = scan_scanner(device, catalogue, NULL);
    vyre_scan_calibration found;
    vyre_diag diag;
    uint32_t staging = 0;
    static const uint32_t candidates[] = {1000, 128};
    vyre_scan_calibration_params params = {sizeof params, candidates, 2, 2, 0};
    scan_add_all(batch, &files);
    assert_int_equal(segment_used(scanner, batch, &staging), 512);
    assert_int_equal(vyre_scanner_calibrate(scanner, batch, &params, &found, &diag), VYRE_OK);
    assert_int_equal(found.measurement_count, 4);
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < 4; i++) {
        const vyre_scan_measurement *m = &found.measurements[i];
        assert_int_equal(m->segment_size, i < 2 ? 1024 : 128);
        assert_int_equal(m->complete_count, 2);
        best = m->best_ns < best ? m->best_ns : best;
    }
    for (uint32_t i = 0; i < 4; i++) {
        const vyre_scan_measurement *m = &found.measurements[i];
        if (m->segment_size == found.segment_size && m->staging == found.staging) {
            assert_int_equal(m->best_ns, best);
        }
    }
    assert_int_equal(segment_used(scanner, batch, &staging), found.segment_size);
    assert_int_equal(staging, found.staging);
    scan_check(scanner, batch, catalogue, files.files, files.count);
    vyre_scanner_destroy(&scanner);
    vyre_scan_batch_destroy(&batch);
    engine_close(&device);

    /* A later scanner of the same tables begins with it, and one of others, or told otherwise,
     * does not. */
    device = open_in_folder();
    batch = scan_batch(device, NULL);
    scan_add_all(batch, &files);
    scanner = scan_scanner(device, catalogue, NULL);
    assert_int_equal(segment_used(scanner, batch, &staging), found.segment_size);
    assert_int_equal(staging, found.staging);
    vyre_scanner_destroy(&scanner);
    scanner = scan_scanner(device, other, NULL);
    assert_int_equal(segment_used(scanner, batch, &staging), 512);
    vyre_scanner_destroy(&scanner);
    vyre_scanner_params told;
    vyre_scanner_params_init(&told);
    told.segment_size = 320;
    scanner = scan_scanner(device, catalogue, &told);
    assert_int_equal(segment_used(scanner, batch, &staging), 320);
    vyre_scanner_destroy(&scanner);
    vyre_scan_batch_destroy(&batch);
    engine_close(&device);
    remove_folder();
    scan_free_files(&files);
    vyre_catalogue_destroy(&other);
    vyre_catalogue_destroy(&catalogue);
}

static void test_calibration_that_cannot_be_is_refused(void **state)
{
    (void)state;
    const vyre_pattern pattern = literal_text("abc");
    vyre_catalogue *catalogue = make_catalogue(&pattern, 1, VYRE_GROUPING_AUTO);
    vyre_scan_calibration found;
    vyre_diag diag;
    static const uint32_t candidates[] = {64, 0};
    vyre_scan_calibration_params params = {sizeof params, candidates, 0, 2, 0};
    vyre_scanner *scanner = scan_scanner(NULL, catalogue, NULL);
    vyre_scan_batch *batch = scan_batch(NULL, NULL);
    assert_int_equal(vyre_scanner_calibrate(scanner, batch, NULL, &found, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    vyre_scanner_destroy(&scanner);
    vyre_scan_batch_destroy(&batch);
    if (!engine_has_no_device()) {
        vyre_device *device = engine_open(0);
        scanner = scan_scanner(device, catalogue, NULL);
        batch = scan_batch(device, NULL);
        scan_add(batch, "abc", 3, 0);
        assert_int_equal(vyre_scanner_calibrate(scanner, batch, &params, &found, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT); /* none */
        params.candidate_count = 2;
        assert_int_equal(vyre_scanner_calibrate(scanner, batch, &params, &found, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT); /* of 0 bytes */
        assert_non_null(strstr(diag.message, "Fix: "));
        /* Runs that end too late are not complete, and where none is there is no choice. */
        params.candidate_count = 1;
        params.timeout_ns = 1;
        layer.slow_polls = true; /* no run has ended before it is waited for */
        assert_int_equal(vyre_scanner_calibrate(scanner, batch, &params, &found, &diag),
                         VYRE_ERROR_DISPATCH_FAILED);
        layer.slow_polls = false;
        uint32_t staging = 0;
        assert_int_equal(segment_used(scanner, batch, &staging), 512);
        vyre_scanner_destroy(&scanner);
        vyre_scan_batch_destroy(&batch);
        engine_close(&device);
    }
    vyre_catalogue_destroy(&catalogue);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_calibration_is_used_and_kept),
        T(test_calibration_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
