/* What scans keep on the device and write anew: the table of files, masks of several automata, room
 * for segments and workgroups. */
#include "tests/scan/scanner_support.h"

/* Scans and compares; what was written for the scan beside the text that was `added` since. */
static uint64_t told(vyre_scanner *scanner, vyre_scan_batch *batch, const vyre_catalogue *catalogue,
                     const scan_files *files, uint64_t added)
{
    vyre_scan_report r = scan_check(scanner, batch, catalogue, files->files, files->count);
    assert_true(r.uploaded_size >= added);
    assert_int_equal(r.moved_size, r.uploaded_size + r.read_back_size);
    return r.uploaded_size - added;
}

/* Files are told once, 16 bytes each, whatever the number of scans and of launches, until others
 * are added or segments are of another length. */
static void check_telling(const vyre_scan_batch_params *params)
{
    vyre_device *device = engine_open(0);
    const vyre_pattern pair[] = {literal_text("ab"), literal_text("ba")};
    vyre_catalogue *one = make_catalogue(pair, 2, VYRE_GROUPING_AUTO);
    uint64_t seed = 5;
    scan_files files = scan_random_files(&seed, 40, 3000, 3);
    vyre_pattern patterns[70];
    unsigned char room[700];
    scan_random_literals(&seed, patterns, 70, 10, 3, room);
    vyre_catalogue *many = make_catalogue(patterns, 70, VYRE_GROUPING_PER_RULE);
    vyre_scanner_params scanner_params;
    vyre_scanner_params_init(&scanner_params);
    vyre_scanner *scanner = scan_scanner(device, one, NULL);
    vyre_scanner *banks = scan_scanner(device, many, NULL);
    scanner_params.segment_size = 128;
    vyre_scanner *other = scan_scanner(device, one, &scanner_params);
    vyre_scan_batch *batch = scan_batch(device, params);
    scan_add_all(batch, &files);
    uint64_t padded = 0;
    for (uint32_t i = 0; i < files.count; i++) {
        padded += (files.files[i].size + 63) / 64 * 64;
    }
    assert_int_equal(told(scanner, batch, one, &files, padded), 16 * 40);
    layer_clear_events();
    assert_int_equal(told(scanner, batch, one, &files, 0), 0);
    /* Nothing is copied in front of the walk, and nothing flushed; it may have been recorded
     * before. */
    uint32_t count = 0, dispatches = 0, submits = 0;
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count && !submits; i++) {
        submits += events[i].kind == LAYER_SUBMIT;
        dispatches += events[i].kind == LAYER_DISPATCH;
        assert_true(layer.no_coherent_memory || events[i].kind != LAYER_FLUSH); /* arguments are */
        assert_true(dispatches || events[i].kind != LAYER_COPY);
    }
    assert_int_equal(submits, 1);
    assert_int_equal(told(banks, batch, many, &files, 0), 0);
    assert_int_equal(told(other, batch, one, &files, 0), 16 * 40);
    assert_int_equal(told(other, batch, one, &files, 0), 0);
    assert_int_equal(told(scanner, batch, one, &files, 0), 16 * 40);
    /* One more is all of them anew, since what is behind the old ones moves. */
    vyre_scan_file more = files.files[3];
    scan_add(batch, more.bytes, more.size, more.layer);
    files.files[files.count++] = more;
    assert_int_equal(told(scanner, batch, one, &files, (more.size + 63) / 64 * 64), 16 * 41);
    assert_int_equal(told(scanner, batch, one, &files, 0), 0);
    vyre_scan_batch_destroy(&batch);
    vyre_scanner_destroy(&other);
    vyre_scanner_destroy(&banks);
    vyre_scanner_destroy(&scanner);
    engine_close(&device);
    scan_free_files(&files);
    vyre_catalogue_destroy(&many);
    vyre_catalogue_destroy(&one);
}

static void test_files_are_told_once(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const layer_heaps heaps[] = {LAYER_HEAPS_REAL, LAYER_HEAPS_SEPARATE};
    for (size_t i = 0; i < sizeof heaps / sizeof heaps[0]; i++) {
        for (int memory = VYRE_SCAN_MEMORY_DEVICE; memory <= VYRE_SCAN_MEMORY_HOST; memory++) {
            for (int incoherent = 0; incoherent < 2; incoherent++) {
                vyre_scan_batch_params params;
                vyre_scan_batch_params_init(&params);
                params.memory = (vyre_scan_memory)memory;
                layer.heaps = heaps[i];
                layer.no_coherent_memory = incoherent != 0;
                check_telling(&params);
            }
        }
    }
}

/* Buffers of a first scan, counted by what the batch keeps when it is filled again. */
static uint32_t kept_after(vyre_device *device, const vyre_catalogue *catalogue,
                           vyre_scan_report *out_report, vyre_scan_batch_info *out_info)
{
    const vyre_scan_file file = {"aabba", 5, 1, 0};
    vyre_scan_refresh_report refresh;
    vyre_diag diag;
    vyre_scanner *scanner = scan_scanner(device, catalogue, NULL);
    vyre_scan_batch *batch = scan_batch(device, NULL);
    scan_add(batch, file.bytes, file.size, file.layer);
    *out_report = scan_check(scanner, batch, catalogue, &file, 1);
    vyre_scan_batch_get_info(batch, out_info);
    assert_int_equal(vyre_scan_batch_refresh(batch, &file, 1, &refresh, &diag), VYRE_OK);
    vyre_scan_batch_destroy(&batch);
    vyre_scanner_destroy(&scanner);
    return refresh.reused_count;
}

/* Which automata have hits in a segment is noted only where there are several. */
static void test_one_automaton_has_no_masks(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    const vyre_pattern patterns[] = {literal_text("a"), literal_text("bb")};
    vyre_catalogue *one = make_catalogue(patterns, 2, VYRE_GROUPING_AUTO);
    vyre_catalogue *two = make_catalogue(patterns, 2, VYRE_GROUPING_PER_RULE);
    vyre_scan_report single, several;
    vyre_scan_batch_info single_info, several_info;
    /* Text, files, state, hits, counts, places. */
    assert_int_equal(kept_after(device, one, &single, &single_info), 6);
    assert_int_equal(kept_after(device, two, &several, &several_info), 7);
    assert_int_equal(several.launches, 1);
    assert_int_equal(several.allocations, single.allocations + 1);
    assert_int_equal(several_info.device_size, single_info.device_size + 4); /* of one row */
    engine_close(&device);
    vyre_catalogue_destroy(&two);
    vyre_catalogue_destroy(&one);
}

/* What a scan by few large workgroups leaves room for is not enough for many small ones. */
static void test_batches_serve_scanners_of_other_workgroups(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    const vyre_pattern patterns[] = {literal_text("ab"), literal_text("c")};
    vyre_catalogue *one = make_catalogue(patterns, 2, VYRE_GROUPING_AUTO);
    vyre_catalogue *two = make_catalogue(patterns, 2, VYRE_GROUPING_PER_RULE);
    uint64_t seed = 23;
    scan_files files = scan_random_files(&seed, 60, 9000, 3);
    vyre_scan_batch *batch = scan_batch(device, NULL);
    static const uint32_t workgroups[] = {256, 64, 128, 64};
    scan_add_all(batch, &files);
    for (uint32_t i = 0; i < 8; i++) {
        const vyre_catalogue *catalogue = i < 4 ? one : two;
        vyre_scanner_params params;
        vyre_scanner_params_init(&params);
        params.workgroup = workgroups[i % 4];
        params.segment_size = 64;
        vyre_scanner *scanner = scan_scanner(device, catalogue, &params);
        scan_check(scanner, batch, catalogue, files.files, files.count);
        vyre_scanner_destroy(&scanner);
    }
    vyre_scan_batch_destroy(&batch);
    engine_close(&device);
    scan_free_files(&files);
    vyre_catalogue_destroy(&two);
    vyre_catalogue_destroy(&one);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, engine_reset, engine_nothing_alive)
    const struct CMUnitTest tests[] = {
        T(test_files_are_told_once),
        T(test_one_automaton_has_no_masks),
        T(test_batches_serve_scanners_of_other_workgroups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
