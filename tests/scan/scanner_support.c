#include "tests/scan/scanner_support.h"

#include <stdlib.h>

vyre_device *scan_device;

int scan_open_device(void **state)
{
    engine_reset(state);
    scan_device = engine_has_no_device() ? NULL : engine_open(1);
    return 0;
}

int scan_close_device(void **state)
{
    if (scan_device) {
        engine_close(&scan_device);
    }
    return engine_nothing_alive(state);
}

static void must(vyre_result code, const vyre_diag *diag)
{
    if (code != VYRE_OK) {
        fail_msg("%s: %s", vyre_result_name(code), diag->message);
    }
}

vyre_scan_batch *scan_batch(vyre_device *device, const vyre_scan_batch_params *params)
{
    vyre_scan_batch *batch = NULL;
    vyre_diag diag;
    must(vyre_scan_batch_create(device, params, &batch, &diag), &diag);
    return batch;
}

void scan_add(vyre_scan_batch *batch, const void *bytes, size_t size, uint32_t file_layer)
{
    vyre_diag diag;
    const vyre_scan_file file = {bytes, (uint32_t)size, file_layer,
                                 file_layer * UINT64_C(0x100000001)};
    must(vyre_scan_batch_add(batch, &file, &diag), &diag);
}

vyre_scanner *scan_scanner(vyre_device *device, const vyre_catalogue *catalogue,
                           const vyre_scanner_params *params)
{
    vyre_scanner *scanner = NULL;
    vyre_diag diag;
    must(vyre_scanner_create(device, catalogue, params, &scanner, &diag), &diag);
    return scanner;
}

void scan_compare(const vyre_scan_result *result, const vyre_catalogue *catalogue,
                  const vyre_scan_file *files, uint32_t file_count)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < file_count; i++) {
        hit_list list = {0};
        scan_list(catalogue, files[i].bytes, files[i].size, &list);
        for (size_t k = 0; k < list.count; k++, at++) {
            const vyre_hit *got = &result->hits[at];
            if (at >= result->hit_count) {
                fail_msg("%llu hits, and more were there: file %u, rule %u at %u is missing",
                         (unsigned long long)result->hit_count, (unsigned)i,
                         (unsigned)list.hits[k].rule, (unsigned)list.hits[k].offset);
            }
            if (got->file != i || got->rule != list.hits[k].rule ||
                got->offset != list.hits[k].offset || got->layer != files[i].layer) {
                fail_msg("hit %llu is file %u, rule %u, layer %u, offset %u, not file %u, rule %u, "
                         "layer %u, offset %u",
                         (unsigned long long)at, (unsigned)got->file, (unsigned)got->rule,
                         (unsigned)got->layer, (unsigned)got->offset, (unsigned)i,
                         (unsigned)list.hits[k].rule, (unsigned)files[i].layer,
                         (unsigned)list.hits[k].offset);
            }
        }
        hit_list_finish(&list);
    }
    assert_int_equal(result->hit_count, at);
}

vyre_scan_report scan_check(vyre_scanner *scanner, vyre_scan_batch *batch,
                            const vyre_catalogue *catalogue, const vyre_scan_file *files,
                            uint32_t file_count)
{
    vyre_scan_result result;
    vyre_scan_report report;
    vyre_diag diag;
    must(vyre_scanner_run(scanner, batch, VYRE_SCAN_TIMED, 0, &result, &report, &diag), &diag);
    scan_compare(&result, catalogue, files, file_count);
    assert_int_equal(report.hit_count, result.hit_count);
    assert_int_equal(report.done_count, report.queue_length);
    assert_true((report.device_ns != VYRE_NS_NONE) == (report.launches > 0));
    return report;
}

scan_files scan_random_files(uint64_t *seed, uint32_t count, uint32_t size, uint32_t letters)
{
    scan_files f = {.count = count};
    f.bytes = malloc((size_t)count * size + 1);
    assert_non_null(f.bytes);
    unsigned char *at = f.bytes;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length = random_below(seed, 8) ? random_below(seed, size + 1) : 0;
        f.files[i] = (vyre_scan_file){at, length, random_below(seed, 5), i};
        for (uint32_t k = 0; k < length; k++) {
            *at++ = (unsigned char)('a' + random_below(seed, letters));
        }
    }
    return f;
}

scan_files scan_dense_files(uint32_t count, uint32_t size)
{
    scan_files files = {.count = count};
    files.bytes = malloc((size_t)count * size);
    assert_non_null(files.bytes);
    memset(files.bytes, 'a', (size_t)count * size);
    for (uint32_t i = 0; i < count; i++) {
        files.files[i] = (vyre_scan_file){files.bytes + (size_t)i * size, size, i % 3, i};
    }
    return files;
}

void scan_free_files(scan_files *files)
{
    free(files->bytes);
    files->bytes = NULL;
}

void scan_add_all(vyre_scan_batch *batch, const scan_files *files)
{
    for (uint32_t i = 0; i < files->count; i++) {
        const vyre_scan_file *f = &files->files[i];
        scan_add(batch, f->bytes, f->size, f->layer);
    }
}

void scan_random_literals(uint64_t *seed, vyre_pattern *patterns, uint32_t count, uint32_t size,
                          uint32_t letters, unsigned char *room)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length = 1 + random_below(seed, size);
        patterns[i] = literal_of(room, length, 0);
        for (uint32_t k = 0; k < length; k++) {
            *room++ = (unsigned char)('a' + random_below(seed, letters));
        }
    }
}
