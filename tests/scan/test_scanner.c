/* Scans on the device find what the processor finds, in its order, whatever the files, the patterns
 * and the way of scanning. */
#include "tests/scan/scanner_support.h"

#include <stdlib.h>

/* Every way of scanning. */
static void check_ways(const vyre_catalogue *catalogue, const scan_files *files)
{
    static const uint32_t sizes[] = {64, 192, VYRE_SEGMENT_WHOLE};
    vyre_scan_batch *batch = scan_batch(scan_device, NULL);
    scan_add_all(batch, files);
    for (uint32_t way = 0; way < 4 * 3; way++) {
        vyre_scanner_params params;
        vyre_scanner_params_init(&params);
        params.width = way & 1 ? VYRE_TRANSITION_32 : VYRE_TRANSITION_AUTO;
        params.staging = way & 2 ? VYRE_SCAN_STAGING_SHARED : VYRE_SCAN_STAGING_DIRECT;
        params.segment_size = sizes[way / 4];
        params.workgroup = way & 4 ? 64 : 128;
        vyre_scanner *scanner = scan_scanner(scan_device, catalogue, &params);
        vyre_scan_report r = scan_check(scanner, batch, catalogue, files->files, files->count);
        assert_int_equal(r.staging, scan_device ? params.staging : VYRE_SCAN_STAGING_AUTO);
        vyre_scanner_destroy(&scanner);
    }
    vyre_scan_batch_destroy(&batch);
}

static void test_literals_are_found_in_every_way(void **state)
{
    (void)state;
    uint64_t seed = 1;
    vyre_pattern patterns[40];
    unsigned char room[40 * 6];
    scan_random_literals(&seed, patterns, 40, 6, 3, room);
    vyre_catalogue *catalogue = make_catalogue(patterns, 40, VYRE_GROUPING_AUTO);
    scan_files files = scan_random_files(&seed, 40, 700, 3);
    check_ways(catalogue, &files);
    scan_free_files(&files);
    vyre_catalogue_destroy(&catalogue);
}

static void test_files_of_any_size_are_scanned(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0,  1,  2,   15,  16,  17,   0,    63,   64,
                                     65, 66, 127, 128, 129, 4095, 4096, 4097, 0};
    const vyre_pattern patterns[] = {literal_text("aa"), literal_text("a"), literal_text("ba")};
    vyre_catalogue *catalogue = make_catalogue(patterns, 3, VYRE_GROUPING_AUTO);
    scan_files files = {.count = (uint32_t)(sizeof sizes / sizeof sizes[0])};
    files.bytes = malloc(5000);
    for (uint32_t i = 0; i < 5000; i++) {
        files.bytes[i] = i % 7 ? 'a' : 'b';
    }
    for (uint32_t i = 0; i < files.count; i++) {
        files.files[i] = (vyre_scan_file){files.bytes, sizes[i], i, 0};
    }
    check_ways(catalogue, &files);
    scan_free_files(&files);
    vyre_catalogue_destroy(&catalogue);
}

static void test_matches_lie_across_segments(void **state)
{
    (void)state;
    static const char word[] =
        "a match that is longer than a segment of sixty-four bytes is, so that "
        "it begins two segments before the one it ends in";
    vyre_pattern pattern = literal_text(word);
    vyre_catalogue *catalogue = make_catalogue(&pattern, 1, VYRE_GROUPING_AUTO);
    scan_files files = {.count = 130};
    files.bytes = malloc(130 * 400);
    memset(files.bytes, '.', 130 * 400);
    for (uint32_t i = 0; i < files.count; i++) {
        memcpy(files.bytes + i * 400 + i, word, strlen(word));
        files.files[i] = (vyre_scan_file){files.bytes + i * 400, 400, 0, 0};
    }
    check_ways(catalogue, &files);
    scan_free_files(&files);
    vyre_catalogue_destroy(&catalogue);
}

static void test_matches_do_not_lie_across_files(void **state)
{
    (void)state;
    const vyre_pattern patterns[] = {literal_text("ab"), literal_of("\0", 1, 0)};
    vyre_catalogue *catalogue = make_catalogue(patterns, 2, VYRE_GROUPING_AUTO);
    scan_files files = {.count = 200};
    files.bytes = malloc(128);
    memset(files.bytes, 'x', 128);
    files.bytes[63] = 'a';
    files.bytes[64] = 'b';
    for (uint32_t i = 0; i < files.count; i++) {
        files.files[i] = i % 2 ? (vyre_scan_file){files.bytes + 64, 1, 0, 0}
                               : (vyre_scan_file){files.bytes, 64, 0, 0};
    }
    vyre_scan_batch *batch = scan_batch(scan_device, NULL);
    vyre_scanner *scanner = scan_scanner(scan_device, catalogue, NULL);
    scan_add_all(batch, &files);
    vyre_scan_report r = scan_check(scanner, batch, catalogue, files.files, files.count);
    assert_int_equal(r.hit_count, 0);
    vyre_scanner_destroy(&scanner);
    vyre_scan_batch_destroy(&batch);
    scan_free_files(&files);
    vyre_catalogue_destroy(&catalogue);
}

static void test_many_patterns_need_wide_tables(void **state)
{
    (void)state;
    enum { COUNT = 9000, SIZE = 12 };
    uint64_t seed = 5;
    vyre_pattern *patterns = calloc(COUNT, sizeof *patterns);
    unsigned char *room = malloc(COUNT * SIZE);
    assert_true(patterns && room);
    scan_random_literals(&seed, patterns, COUNT, SIZE, 26, room);
    vyre_catalogue *catalogue = make_catalogue(patterns, COUNT, VYRE_GROUPING_AUTO);
    vyre_catalogue_info info;
    vyre_catalogue_get_info(catalogue, &info);
    assert_int_equal(info.fits_16_bits, 0);
    scan_files files = scan_random_files(&seed, 10, 20000, 26);
    vyre_scan_batch *batch = scan_batch(scan_device, NULL);
    scan_add_all(batch, &files);
    vyre_scanner *scanner = scan_scanner(scan_device, catalogue, NULL);
    scan_check(scanner, batch, catalogue, files.files, files.count);
    vyre_scanner_destroy(&scanner);
    vyre_scanner_params params;
    vyre_scanner_params_init(&params);
    params.width = VYRE_TRANSITION_16;
    vyre_diag diag;
    assert_int_equal(vyre_scanner_create(scan_device, catalogue, &params, &scanner, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "32768"));
    assert_null(scanner);
    vyre_scan_batch_destroy(&batch);
    scan_free_files(&files);
    free(patterns);
    free(room);
    vyre_catalogue_destroy(&catalogue);
}

/* What the report says of as many workgroups as were asked for, or fewer where there is less to do.
 */
static void check_occupancy(const vyre_scan_report *r, uint32_t worker_groups)
{
    uint64_t tiles = (r->segment_count + 127) / 128, groups = 1;
    while (groups < tiles && groups < worker_groups) {
        groups *= 2;
    }
    groups = groups < worker_groups ? groups : worker_groups;
    uint64_t bps = r->done_count * 10000 / (groups * 128);
    assert_int_equal(r->occupancy_bps, bps < 10000 ? bps : 10000);
    assert_int_equal(r->claimed_count, tiles);
    assert_int_equal(r->queue_length, r->segment_count);
    assert_int_equal(r->waits, 1 + (r->hit_count > 4096));
}

static void test_random_scans_find_what_the_processor_finds(void **state)
{
    (void)state;
    for (uint64_t round = 1; round <= 12; round++) {
        uint64_t seed = round * 977;
        vyre_pattern patterns[30];
        unsigned char room[30 * 12];
        uint32_t letters = 1 + random_below(&seed, 4);
        uint32_t count = 1 + random_below(&seed, 30);
        scan_random_literals(&seed, patterns, count, 12, letters, room);
        vyre_catalogue *catalogue = make_catalogue(patterns, count, VYRE_GROUPING_AUTO);
        scan_files files =
            scan_random_files(&seed, 1 + random_below(&seed, 200), 1500, letters + 1);
        vyre_scan_batch *batch = scan_batch(scan_device, NULL);
        vyre_scanner_params params;
        vyre_scanner_params_init(&params);
        params.segment_size = 64 * (1 + random_below(&seed, 10));
        params.worker_groups = random_below(&seed, 4);
        params.staging =
            random_below(&seed, 2) ? VYRE_SCAN_STAGING_SHARED : VYRE_SCAN_STAGING_DIRECT;
        vyre_scanner *scanner = scan_scanner(scan_device, catalogue, &params);
        scan_add_all(batch, &files);
        scan_check(scanner, batch, catalogue, files.files, files.count);
        /* Twice the same. */
        vyre_scan_report r = scan_check(scanner, batch, catalogue, files.files, files.count);
        if (scan_device && params.worker_groups && r.segment_count) {
            check_occupancy(&r, params.worker_groups);
        }
        vyre_scanner_destroy(&scanner);
        vyre_scan_batch_destroy(&batch);
        scan_free_files(&files);
        vyre_catalogue_destroy(&catalogue);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals_are_found_in_every_way),
        cmocka_unit_test(test_files_of_any_size_are_scanned),
        cmocka_unit_test(test_matches_lie_across_segments),
        cmocka_unit_test(test_matches_do_not_lie_across_files),
        cmocka_unit_test(test_many_patterns_need_wide_tables),
        cmocka_unit_test(test_random_scans_find_what_the_processor_finds),
    };
    return cmocka_run_group_tests(tests, scan_open_device, scan_close_device);
}
