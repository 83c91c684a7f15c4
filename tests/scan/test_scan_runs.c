/* The life of batches and scans: hits that there is no room for, scans in flight, files that are
 * read in place, batches that are filled again, and what is refused. */
#include "tests/scan/scanner_support.h"

#include <stdio.h>
#include <stdlib.h>

static vyre_catalogue *catalogue_of(const char *a, const char *b)
{
    const vyre_pattern patterns[] = {literal_text(a), literal_text(b)};
    return make_catalogue(patterns, 2, VYRE_GROUPING_AUTO);
}

/* ---- Room for hits --------------------------------------------------------------------------- */

static void test_hits_beyond_the_room_are_written_again(void **state)
{
    (void)state;
    vyre_catalogue *catalogue = catalogue_of("a", "aaaa");
    scan_files files = scan_dense_files(7, 1000);
    const uint64_t hits = 7 * (1000 + 997);
    vyre_scanner *scanner = scan_scanner(scan_device, catalogue, NULL);
    static const uint32_t rooms[] = {1, 2, 100, 4095, 4096, 4097, 13978, 13979, 13980, 0};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        vyre_scan_batch_params params;
        vyre_scan_batch_params_init(&params);
        params.hit_capacity = rooms[i];
        vyre_scan_batch *batch = scan_batch(scan_device, &params);
        scan_add_all(batch, &files);
        vyre_scan_report r = scan_check(scanner, batch, catalogue, files.files, files.count);
        assert_int_equal(r.hit_count, hits);
        if (scan_device) {
            uint64_t room = rooms[i] ? rooms[i] : 65536;
            assert_int_equal(r.dropped_count, hits > room ? hits - room : 0);
            assert_int_equal(r.launches, hits > room ? 2 : 1);
            /* The room stays. */
            r = scan_check(scanner, batch, catalogue, files.files, files.count);
            assert_int_equal(r.dropped_count, 0);
            assert_int_equal(r.launches, 1);
            assert_int_equal(r.allocations, 0);
        }
        vyre_scan_batch_destroy(&batch);
    }
    vyre_scanner_destroy(&scanner);
    scan_free_files(&files);
    vyre_catalogue_destroy(&catalogue);
}

/* ---- In flight ------------------------------------------------------------------------------- */

static void test_batches_are_filled_beside_scans(void **state)
{
    (void)state;
    vyre_catalogue *catalogue = catalogue_of("ab", "ba");
    uint64_t seed = 3;
    vyre_scan_batch *batches[3];
    scan_files files[3];
    vyre_diag diag;
    vyre_scanner *scanner = scan_scanner(scan_device, catalogue, NULL);
    for (uint32_t i = 0; i < 3; i++) {
        batches[i] = scan_batch(scan_device, NULL);
        files[i] = scan_random_files(&seed, 20, 900, 3);
    }
    for (uint32_t turn = 0; turn < 9; turn++) {
        uint32_t i = turn % 3;
        vyre_scan_result result;
        if (turn >= 3) {
            assert_int_equal(
                vyre_scanner_wait(scanner, batches[i], UINT64_MAX, &result, NULL, &diag), VYRE_OK);
            scan_compare(&result, catalogue, files[i].files, files[i].count);
            assert_int_equal(vyre_scan_batch_clear(batches[i], &diag), VYRE_OK);
        }
        scan_add_all(batches[i], &files[i]);
        assert_int_equal(vyre_scanner_submit(scanner, batches[i], 0, &diag), VYRE_OK);
    }
    /* Two are given up in flight, by the batch and by the scanner. */
    vyre_scan_batch_destroy(&batches[0]);
    vyre_scanner_destroy(&scanner);
    for (uint32_t i = 0; i < 3; i++) {
        vyre_scan_batch_destroy(&batches[i]);
        scan_free_files(&files[i]);
    }
    vyre_catalogue_destroy(&catalogue);
}

static void test_busy_batches_are_left_alone(void **state)
{
    (void)state;
    vyre_catalogue *catalogue = catalogue_of("ab", "ba");
    vyre_scan_batch *batch = scan_batch(scan_device, NULL);
    vyre_scanner *scanner = scan_scanner(scan_device, catalogue, NULL);
    vyre_scanner *other = scan_scanner(scan_device, catalogue, NULL);
    const vyre_scan_file file = {"abba", 4, 0, 0};
    vyre_scan_result result;
    vyre_diag diag;
    void *bytes = NULL;
    scan_add(batch, "abab", 4, 7);
    assert_int_equal(vyre_scanner_wait(scanner, batch, 0, &result, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_scanner_submit(scanner, batch, 0, &diag), VYRE_OK);
    assert_int_equal(vyre_scanner_submit(scanner, batch, 0, &diag), VYRE_ERROR_BUSY);
    assert_int_equal(vyre_scan_batch_add(batch, &file, &diag), VYRE_ERROR_BUSY);
    assert_int_equal(vyre_scan_batch_reserve(batch, 4, &bytes, &diag), VYRE_ERROR_BUSY);
    assert_int_equal(vyre_scan_batch_clear(batch, &diag), VYRE_ERROR_BUSY);
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_int_equal(vyre_scanner_wait(other, batch, 0, &result, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    vyre_result code = vyre_scanner_wait(scanner, batch, 0, &result, NULL, &diag);
    while (code == VYRE_ERROR_TIMEOUT) { /* looks, and everything stays */
        assert_int_equal(vyre_scan_batch_clear(batch, &diag), VYRE_ERROR_BUSY);
        code = vyre_scanner_wait(scanner, batch, 1000000, &result, NULL, &diag);
    }
    assert_int_equal(code, VYRE_OK);
    assert_int_equal(result.hit_count, 3);
    assert_int_equal(result.hits[2].layer, 7);
    assert_int_equal(vyre_scan_batch_add(batch, &file, &diag), VYRE_OK);
    vyre_scanner_destroy(&other);
    vyre_scanner_destroy(&scanner);
    vyre_scan_batch_destroy(&batch);
    vyre_catalogue_destroy(&catalogue);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void test_files_are_read_in_place(void **state)
{
    (void)state;
    vyre_catalogue *catalogue = catalogue_of("needle", "x");
    vyre_scan_batch *batch = scan_batch(scan_device, NULL);
    vyre_scanner *scanner = scan_scanner(scan_device, catalogue, NULL);
    vyre_scan_file files[40];
    static char text[40][100];
    vyre_diag diag;
    for (uint32_t i = 0; i < 40; i++) {
        void *bytes = NULL;
        snprintf(text[i], sizeof text[i], "%*sneedle%.*s", (int)i, "", (int)(i % 5), "xxxxx");
        files[i] = (vyre_scan_file){text[i], (uint32_t)strlen(text[i]), i, 0};
        assert_int_equal(vyre_scan_batch_reserve(batch, 100, &bytes, &diag), VYRE_OK);
        memset(bytes, 'x', 100); /* of what is not committed nothing is scanned */
        memcpy(bytes, text[i], files[i].size);
        assert_int_equal(vyre_scan_batch_commit(batch, &files[i], &diag), VYRE_OK);
    }
    scan_check(scanner, batch, catalogue, files, 40);
    void *bytes = NULL;
    assert_int_equal(vyre_scan_batch_commit(batch, &files[0], &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_scan_batch_reserve(batch, 3, &bytes, &diag), VYRE_OK);
    assert_int_equal(vyre_scan_batch_commit(batch, &files[0], &diag), VYRE_ERROR_INVALID_ARGUMENT);
    vyre_scan_result result;
    assert_int_equal(vyre_scanner_run(scanner, batch, 0, 0, &result, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_scan_batch_add(batch, &files[0], &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_scan_batch_clear(batch, &diag), VYRE_OK);
    scan_check(scanner, batch, catalogue, files, 0);
    vyre_scanner_destroy(&scanner);
    vyre_scan_batch_destroy(&batch);
    vyre_catalogue_destroy(&catalogue);
}

static void test_batches_grow_and_keep_what_they_have(void **state)
{
    (void)state;
    vyre_catalogue *catalogue = catalogue_of("abc", "ccc");
    uint64_t seed = 11;
    for (int memory = VYRE_SCAN_MEMORY_DEVICE; memory <= VYRE_SCAN_MEMORY_HOST; memory++) {
        vyre_scan_batch_params params;
        vyre_scan_batch_params_init(&params);
        params.memory = (vyre_scan_memory)memory;
        params.size = 100;
        params.file_count = 1;
        vyre_scan_batch *batch = scan_batch(scan_device, &params);
        vyre_scanner *scanner = scan_scanner(scan_device, catalogue, NULL);
        scan_files files = scan_random_files(&seed, 200, 4000, 3);
        for (uint32_t part = 0; part < 4; part++) {
            for (uint32_t i = 50 * part; i < 50 * (part + 1); i++) {
                const vyre_scan_file *f = &files.files[i];
                scan_add(batch, f->bytes, f->size, f->layer);
            }
            scan_check(scanner, batch, catalogue, files.files, 50 * (part + 1));
        }
        vyre_scan_batch_info info;
        vyre_scan_batch_get_info(batch, &info);
        assert_int_equal(info.file_count, 200);
        assert_true(info.capacity >= info.size);
        uint32_t words[VYRE_FILE_METADATA_WORDS];
        vyre_scan_batch_get_file(batch, 199, words);
        assert_int_equal(words[2], files.files[199].size);
        assert_int_equal(words[3], files.files[199].layer);
        vyre_scanner_destroy(&scanner);
        vyre_scan_batch_destroy(&batch);
        scan_free_files(&files);
    }
    vyre_catalogue_destroy(&catalogue);
}

/* Large files and many small ones, by any number of threads. */
static void test_threads_copy_what_one_does(void **state)
{
    (void)state;
    enum { SIZE = 9000001, SMALL = 40000 };
    unsigned char *bytes = malloc(SIZE);
    vyre_scan_file *files = calloc(SMALL + 2, sizeof *files);
    assert_true(bytes && files);
    for (uint32_t i = 0; i < SIZE; i++) {
        bytes[i] = (unsigned char)(i % 251 == 0 ? 'Q' : 'a' + i % 23);
    }
    vyre_catalogue *catalogue = catalogue_of("Q", "QQ");
    vyre_scanner *scanner = scan_scanner(scan_device, catalogue, NULL);
    static const uint32_t threads[] = {1, 2, 7, 64};
    files[0] = (vyre_scan_file){bytes, SIZE, 1, 0};
    for (uint32_t i = 1; i <= SMALL; i++) {
        files[i] = (vyre_scan_file){bytes + i * 200, i % 300, 2, 0};
    }
    files[SMALL + 1] = (vyre_scan_file){bytes + 1, SIZE - 1, 3, 0};
    for (uint32_t i = 0; i < 4; i++) {
        vyre_scan_batch_params params;
        vyre_scan_batch_params_init(&params);
        params.threads = threads[i];
        vyre_scan_batch *batch = scan_batch(scan_device, &params);
        vyre_diag diag;
        assert_int_equal(vyre_scan_batch_refresh(batch, files, SMALL + 2, NULL, &diag), VYRE_OK);
        scan_check(scanner, batch, catalogue, files, SMALL + 2);
        vyre_scan_batch_destroy(&batch);
    }
    vyre_scanner_destroy(&scanner);
    vyre_catalogue_destroy(&catalogue);
    free(files);
    free(bytes);
}

static void test_filling_again_makes_no_memory(void **state)
{
    (void)state;
    vyre_catalogue *catalogue = catalogue_of("ab", "c");
    uint64_t seed = 17;
    scan_files files = scan_random_files(&seed, 30, 3000, 3);
    vyre_scan_batch *batch = scan_batch(scan_device, NULL);
    vyre_scanner *scanner = scan_scanner(scan_device, catalogue, NULL);
    vyre_scan_refresh_report refresh;
    vyre_diag diag;
    uint64_t size = 0;
    for (uint32_t i = 0; i < files.count; i++) {
        size += files.files[i].size;
    }
    for (uint32_t turn = 0; turn < 3; turn++) {
        assert_int_equal(vyre_scan_batch_refresh(batch, files.files, files.count, &refresh, &diag),
                         VYRE_OK);
        assert_int_equal(refresh.uploaded_size, size);
        assert_true(turn == 0 || refresh.allocations == 0);
        vyre_scan_report r = scan_check(scanner, batch, catalogue, files.files, files.count);
        assert_true(turn == 0 || r.allocations == 0);
        if (scan_device && turn) {
            assert_int_equal(refresh.reused_count, 6);
            assert_int_equal(refresh.refreshed_count, 1);
            assert_int_equal(r.moved_size, r.uploaded_size + r.read_back_size);
            uint64_t later = r.hit_count > 4096 ? r.hit_count * sizeof(vyre_hit) : 0;
            assert_true(r.hit_count > 4096);
            assert_int_equal(r.read_back_size, 32 + 4096 * sizeof(vyre_hit) + later);
        }
    }
    const vyre_scan_file bad[] = {files.files[0], {NULL, 5, 0, 0}};
    assert_int_equal(vyre_scan_batch_refresh(batch, bad, 2, NULL, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    vyre_scan_batch_info info;
    vyre_scan_batch_get_info(batch, &info);
    assert_int_equal(info.file_count, 0);
    vyre_scanner_destroy(&scanner);
    vyre_scan_batch_destroy(&batch);
    scan_free_files(&files);
    vyre_catalogue_destroy(&catalogue);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void test_wrong_parameters_are_refused(void **state)
{
    (void)state;
    vyre_catalogue *catalogue = catalogue_of("ab", "c");
    vyre_scan_batch_params params;
    vyre_scan_batch *batch = NULL;
    vyre_diag diag;
    vyre_scan_batch_params_init(&params);
    params.hit_capacity = VYRE_MAX_HITS + 1;
    assert_int_equal(vyre_scan_batch_create(scan_device, &params, &batch, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_null(batch);
    assert_non_null(strstr(diag.message, "16777216"));
    vyre_scan_batch_params_init(&params);
    params.size = (uint64_t)1 << 32;
    assert_int_equal(vyre_scan_batch_create(scan_device, &params, &batch, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    vyre_scan_batch_params_init(&params);
    params.threads = 65;
    assert_int_equal(vyre_scan_batch_create(scan_device, &params, &batch, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    vyre_scanner_params scanner_params;
    vyre_scanner *scanner = NULL;
    vyre_scanner_params_init(&scanner_params);
    scanner_params.workgroup = 100;
    assert_int_equal(vyre_scanner_create(scan_device, catalogue, &scanner_params, &scanner, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_null(scanner);
    vyre_scanner_params_init(&scanner_params);
    scanner_params.staging = (vyre_scan_staging)9;
    assert_int_equal(vyre_scanner_create(scan_device, catalogue, &scanner_params, &scanner, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    /* A batch of one device and a scanner of another. */
    if (scan_device) {
        vyre_scan_result result;
        batch = scan_batch(NULL, NULL);
        scan_add(batch, "ab", 2, 0);
        scanner = scan_scanner(scan_device, catalogue, NULL);
        assert_int_equal(vyre_scanner_run(scanner, batch, 0, 0, &result, NULL, &diag),
                         VYRE_ERROR_INVALID_ARGUMENT);
        vyre_scanner_destroy(&scanner);
        vyre_scan_batch_destroy(&batch);
    }
    vyre_catalogue_destroy(&catalogue);
}

static void test_no_pattern_finds_nothing(void **state)
{
    (void)state;
    vyre_catalogue *catalogue = make_catalogue(NULL, 0, VYRE_GROUPING_AUTO);
    vyre_scan_batch *batch = scan_batch(scan_device, NULL);
    vyre_scanner *scanner = scan_scanner(scan_device, catalogue, NULL);
    scan_add(batch, "abc", 3, 0);
    const vyre_scan_file file = {"abc", 3, 0, 0};
    vyre_scan_report r = scan_check(scanner, batch, catalogue, &file, 1);
    assert_int_equal(r.hit_count, 0);
    assert_int_equal(r.launches, 0);
    vyre_scanner_destroy(&scanner);
    vyre_scan_batch_destroy(&batch);
    vyre_catalogue_destroy(&catalogue);
}

/* The host alone does the same. */
static void test_scans_without_a_device_are_the_same(void **state)
{
    (void)state;
    vyre_catalogue *catalogue = catalogue_of("ab", "ba");
    uint64_t seed = 23;
    scan_files files = scan_random_files(&seed, 30, 500, 2);
    vyre_scan_batch *batch = scan_batch(NULL, NULL);
    vyre_scanner *scanner = scan_scanner(NULL, catalogue, NULL);
    scan_add_all(batch, &files);
    scan_check(scanner, batch, catalogue, files.files, files.count);
    vyre_scanner_destroy(&scanner);
    vyre_scan_batch_destroy(&batch);
    scan_free_files(&files);
    vyre_catalogue_destroy(&catalogue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hits_beyond_the_room_are_written_again),
        cmocka_unit_test(test_batches_are_filled_beside_scans),
        cmocka_unit_test(test_busy_batches_are_left_alone),
        cmocka_unit_test(test_files_are_read_in_place),
        cmocka_unit_test(test_batches_grow_and_keep_what_they_have),
        cmocka_unit_test(test_threads_copy_what_one_does),
        cmocka_unit_test(test_filling_again_makes_no_memory),
        cmocka_unit_test(test_wrong_parameters_are_refused),
        cmocka_unit_test(test_no_pattern_finds_nothing),
        cmocka_unit_test(test_scans_without_a_device_are_the_same),
    };
    return cmocka_run_group_tests(tests, scan_open_device, scan_close_device);
}
