/* Group scan: all places of a text where patterns end, from memory to hits in order in memory, and
 * what of that is the device's; beside Hyperscan and grep -F. */
#include "tools/vyre-bench/scan_work.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUICK_SIZE = 1 << 18, PROCESSOR_SIZE = 8 << 20, GPU_SIZE = 256 << 20 };
static const double case_budget_us = 12e6, small_budget_us = 3e6;
static const uint64_t warm_ns = 80000000; /* clocks of an idle card take as long to rise */

/* ---- What must be found ---------------------------------------------------------------------- */

void scan_compare(const scan_work *w, const scan_digest *found, bench_check *out)
{
    uint64_t more = found->count > w->wanted.count ? found->count - w->wanted.count
                                                   : w->wanted.count - found->count;
    out->compared = w->wanted.count + 1; /* their number, too */
    out->wrong = more ? more : found->value != w->wanted.value ? out->compared : 0;
}

typedef struct expectation {
    scan_work *work;
    uint64_t line_end; /* of the last line with a hit */
} expectation;

static int expect(void *user, const vyre_hit *hit)
{
    expectation *e = user;
    const scan_data *data = e->work->data;
    scan_digest_add(&e->work->wanted, hit->rule, hit->offset);
    if (e->work->lines == 0 || hit->offset >= e->line_end) {
        const unsigned char *from = data->text + hit->offset;
        const unsigned char *end = memchr(from, '\n', data->size - hit->offset);
        e->line_end = end ? (uint64_t)(end - data->text) : data->size;
        e->work->lines++;
    }
    return 0;
}

static vyre_result make_catalogue(scan_work *w, vyre_diag *diag)
{
    vyre_catalogue_params params;
    expectation e = {.work = w};
    vyre_catalogue_params_init(&params);
    params.patterns = w->patterns;
    params.pattern_count = w->count;
    uint64_t begin = bench_now_ns();
    vyre_result result = vyre_catalogue_create(&params, &w->catalogue, diag);
    w->compile_ms = (double)(bench_now_ns() - begin) / 1e6;
    if (result == VYRE_OK) {
        vyre_catalogue_get_info(w->catalogue, &w->info);
        result = vyre_catalogue_scan(w->catalogue, w->data->text, w->data->size, expect, &e, diag);
    }
    return result;
}

/* ---- The library ----------------------------------------------------------------------------- */

static vyre_result check_library(void *state, bench_check *out, vyre_diag *diag)
{
    const scan_work *w = state;
    (void)diag;
    scan_compare(w, &w->found, out);
    return VYRE_OK;
}

static void digest_hits(scan_work *w, const vyre_scan_result *hits, uint64_t base, uint32_t own)
{
    for (uint64_t i = 0; i < hits->hit_count; i++) {
        if (hits->hits[i].offset >= own) {
            scan_digest_add(&w->found, hits->hits[i].rule, base + hits->hits[i].offset);
        }
    }
}

/* While peers have their turns a card without other work lowers its clocks. */
static vyre_result warm(const scan_work *w, vyre_diag *diag)
{
    vyre_scan_result hits;
    vyre_result result = VYRE_OK;
    uint64_t begin = bench_now_ns();
    if (w->bench->quick || w->bench->info.type == VYRE_DEVICE_PROCESSOR) {
        return VYRE_OK;
    }
    while (result == VYRE_OK && bench_now_ns() - begin < warm_ns) {
        result = vyre_scanner_run(w->scanner, w->whole, 0, 0, &hits, NULL, diag);
    }
    return result;
}

static vyre_result sample_copied(scan_work *w, vyre_scan_batch *batch, double *out, uint32_t count,
                                 vyre_diag *diag)
{
    vyre_scan_file file = {.bytes = w->data->text, .size = w->data->size};
    vyre_result result = warm(w, diag);
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        vyre_scan_result hits = {0};
        uint64_t begin = bench_now_ns();
        result = vyre_scan_batch_refresh(batch, &file, 1, NULL, diag);
        if (result == VYRE_OK) {
            result = vyre_scanner_run(w->scanner, batch, 0, 0, &hits, NULL, diag);
        }
        out[i] = (double)(bench_now_ns() - begin) / 1e3;
        w->found = (scan_digest){0, 0};
        digest_hits(w, &hits, 0, 0);
    }
    return result;
}

static vyre_result sample_whole(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    scan_work *w = state;
    return sample_copied(w, w->whole, out, count, diag);
}

static vyre_result sample_threaded(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    scan_work *w = state;
    return sample_copied(w, w->threaded, out, count, diag);
}

static vyre_result sample_resident(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    scan_work *w = state;
    vyre_result result = warm(w, diag);
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        vyre_scan_result hits = {0};
        uint64_t begin = bench_now_ns();
        result =
            vyre_scanner_run(w->scanner, w->whole, VYRE_SCAN_TIMED, 0, &hits, &w->report, diag);
        out[i] = (double)(bench_now_ns() - begin) / 1e3;
        if (result == VYRE_OK && w->report.device_ns != VYRE_NS_NONE &&
            w->device_count < SCAN_SAMPLES) {
            w->device_us[w->device_count++] = (double)w->report.device_ns / 1e3;
        }
        w->found = (scan_digest){0, 0};
        digest_hits(w, &hits, 0, 0);
    }
    return result;
}

/* Part `i` begins `overlap` bytes before what it owns. */
static vyre_result submit_part(scan_work *w, uint32_t i, vyre_diag *diag)
{
    uint32_t step = w->data->size / SCAN_PARTS + 1, own = i * step;
    uint32_t begin = own > w->info.overlap ? own - w->info.overlap : 0;
    uint32_t end = own + step < w->data->size ? own + step : w->data->size;
    vyre_scan_file file = {.bytes = w->data->text + begin, .size = end - begin};
    vyre_scan_batch *batch = w->batches[i % SCAN_BATCHES];
    vyre_result result = vyre_scan_batch_refresh(batch, &file, 1, NULL, diag);
    return result == VYRE_OK ? vyre_scanner_submit(w->scanner, batch, 0, diag) : result;
}

static vyre_result wait_part(scan_work *w, uint32_t i, vyre_diag *diag)
{
    uint32_t own = i * (w->data->size / SCAN_PARTS + 1);
    uint32_t begin = own > w->info.overlap ? own - w->info.overlap : 0;
    vyre_scan_result hits = {0};
    vyre_result result =
        vyre_scanner_wait(w->scanner, w->batches[i % SCAN_BATCHES], UINT64_MAX, &hits, NULL, diag);
    digest_hits(w, &hits, begin, own - begin);
    return result;
}

/* The digest is taken while the device scans, as a program would use its hits. */
static vyre_result sample_parts(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    scan_work *w = state;
    vyre_result result = warm(w, diag);
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint64_t begin = bench_now_ns();
        w->found = (scan_digest){0, 0};
        for (uint32_t k = 0; result == VYRE_OK && k < SCAN_PARTS + SCAN_BATCHES - 1; k++) {
            if (k < SCAN_PARTS) {
                result = submit_part(w, k, diag);
            }
            if (result == VYRE_OK && k >= SCAN_BATCHES - 1) {
                result = wait_part(w, k - (SCAN_BATCHES - 1), diag);
            }
        }
        out[i] = (double)(bench_now_ns() - begin) / 1e3;
    }
    return result;
}

static int digest_hit(void *user, const vyre_hit *hit)
{
    scan_digest_add(user, hit->rule, hit->offset);
    return 0;
}

static vyre_result sample_processor(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    scan_work *w = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint64_t begin = bench_now_ns();
        w->found = (scan_digest){0, 0};
        result = vyre_catalogue_scan(w->catalogue, w->data->text, w->data->size, digest_hit,
                                     &w->found, diag);
        out[i] = (double)(bench_now_ns() - begin) / 1e3;
    }
    return result;
}

static vyre_result open_library(scan_work *w, vyre_diag *diag)
{
    vyre_scan_file file = {.bytes = w->data->text, .size = w->data->size};
    vyre_scan_batch_params params;
    vyre_scanner_params scanner;
    vyre_scan_calibration calibration;
    vyre_device *device = w->bench->device;
    vyre_scan_batch_params_init(&params);
    vyre_scanner_params_init(&scanner);
    params.size = w->data->size;
    vyre_result result = vyre_scanner_create(device, w->catalogue, &scanner, &w->scanner, diag);
    if (result == VYRE_OK) {
        result = vyre_scan_batch_create(device, &params, &w->whole, diag);
    }
    params.threads = SCAN_THREADS;
    if (result == VYRE_OK) {
        result = vyre_scan_batch_create(device, &params, &w->threaded, diag);
    }
    params.threads = 0;
    params.size = w->data->size / SCAN_PARTS + 4096;
    for (uint32_t i = 0; result == VYRE_OK && i < SCAN_BATCHES; i++) {
        result = vyre_scan_batch_create(device, &params, &w->batches[i], diag);
    }
    if (result == VYRE_OK) {
        result = vyre_scan_batch_refresh(w->whole, &file, 1, NULL, diag);
    }
    if (result == VYRE_OK) {
        result = warm(w, diag);
    }
    bool calibrates = !w->bench->quick && w->bench->info.type != VYRE_DEVICE_PROCESSOR;
    return result == VYRE_OK && calibrates
               ? vyre_scanner_calibrate(w->scanner, w->whole, NULL, &calibration, diag)
               : result;
}

static void add_library(scan_work *w, bench_case *c)
{
    vyre_device *device = w->bench->device;
    (void)bench_series_vyre(c, "memory to hits", device, sample_whole, check_library, w);
    bench_series *s = bench_series_vyre(c, "memory to hits, 8 threads", device, sample_threaded,
                                        check_library, w);
    snprintf(s->note, sizeof s->note, "threads copy the text to the device");
    s = bench_series_vyre(c, "memory to hits, in 8 parts", device, sample_parts, check_library, w);
    snprintf(s->note, sizeof s->note, "copying, scanning and reading hits beside each other");
    (void)bench_series_vyre(c, "text on the device", device, sample_resident, check_library, w);
    s = bench_series_add(c, "vyre", "processor, one core", sample_processor, check_library, w);
    snprintf(s->note, sizeof s->note, "vyre_catalogue_scan");
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void finish(scan_work *w)
{
    vyre_scan_batch_destroy(&w->whole);
    vyre_scan_batch_destroy(&w->threaded);
    for (uint32_t i = 0; i < SCAN_BATCHES; i++) {
        vyre_scan_batch_destroy(&w->batches[i]);
    }
    vyre_scanner_destroy(&w->scanner);
    vyre_catalogue_destroy(&w->catalogue);
    for (uint32_t i = 0; i < w->hyperscan_count; i++) {
        peer_hyperscan_destroy(&w->hyperscans[i]);
    }
    if (w->text_path[0]) {
        (void)unlink(w->text_path);
        (void)unlink(w->list_path);
    }
}

static vyre_result measure(scan_work *w, bench_case *c, vyre_diag *diag)
{
    vyre_result result = make_catalogue(w, diag);
    if (result == VYRE_OK) {
        result = open_library(w, diag);
    }
    if (result != VYRE_OK) {
        return result;
    }
    bench_case_size(c, "patterns", w->count);
    bench_case_size(c, "bytes", w->data->size);
    bench_case_size(c, "hits", w->wanted.count);
    c->data_size = w->data->size;
    c->budget_us = w->bench->quick            ? c->budget_us
                   : w->data->size < GPU_SIZE ? small_budget_us
                                              : case_budget_us;
    add_library(w, c);
    scan_add_peers(w, c, diag);
    result = bench_measure(w->bench, c, diag);
    if (result == VYRE_OK) {
        snprintf(c->series[3].note, sizeof c->series[3].note,
                 "segments of %u bytes, %llu states, %llu bytes of tables, made in %.1f ms",
                 w->report.segment_size, (unsigned long long)w->info.state_count,
                 (unsigned long long)w->info.table_size, w->compile_ms);
        bench_series *s =
            bench_series_derive(c, "vyre", "the device alone", w->device_us, w->device_count);
        if (s) {
            snprintf(s->note, sizeof s->note, "its clock");
        }
        bench_choose_base(c);
    }
    return result;
}

static vyre_result measure_list(bench *b, bench_group *group, const scan_data *data,
                                const char *name, const scan_list *list, uint32_t count,
                                vyre_diag *diag)
{
    bench_case *c = bench_case_add(b, group, name, "us");
    scan_work *w = vy_arena_alloc(&b->arena, 1, sizeof *w);
    if (!c || !w) {
        return vy_diag_no_memory(diag);
    }
    *w = (scan_work){.bench = b, .data = data, .patterns = list->patterns, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = (uint32_t)list->patterns[i].size;
        w->longest = size > w->longest ? size : w->longest;
    }
    vyre_result result = measure(w, c, diag);
    finish(w);
    return result;
}

vyre_result bench_scan(bench *b, bench_group *group, vyre_diag *diag)
{
    static const uint32_t counts[] = {1, 32, 2000, 20000};
    static const uint32_t sizes[] = {64 << 10, 1 << 20, 16 << 20};
    scan_data data;
    uint32_t size = b->quick                                ? QUICK_SIZE
                    : b->info.type == VYRE_DEVICE_PROCESSOR ? PROCESSOR_SIZE
                                                            : GPU_SIZE;
    vyre_result result = scan_data_make(b->data, size, &data, diag);
    group->title = b->data ? "many patterns in real text, beside Hyperscan and grep"
                           : "many patterns in made-up text, beside Hyperscan and grep";
    for (size_t i = 0; result == VYRE_OK && i < VY_COUNT_OF(counts); i++) {
        if (counts[i] <= data.words.count) {
            result = measure_list(b, group, &data, "words", &data.words, counts[i], diag);
        }
    }
    for (size_t i = 0; result == VYRE_OK && i < VY_COUNT_OF(sizes); i++) {
        scan_data part = data;
        part.size = sizes[i];
        if (sizes[i] < data.size && data.words.count >= 2000) {
            result = measure_list(b, group, &part, "words, less text", &data.words, 2000, diag);
        }
    }
    if (result == VYRE_OK && data.rules.count) {
        result = measure_list(b, group, &data, "rules of a web firewall", &data.rules,
                              data.rules.count, diag);
    }
    scan_data_finish(&data);
    return result;
}
