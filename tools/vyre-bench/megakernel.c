/* Group megakernel: many small work items in one launch, beside a launch for each of them and
 * beside queue kernels written by hand. From the call to the known end; every result is looked at.
 */
#include "tools/vyre-bench/megakernel.h"

#include <stdlib.h>
#include <string.h>

enum {
    VULKAN_WAYS = 3,
    MAX_DISPATCHES = 262144, /* of one command buffer */
    MAX_LAUNCHES = 65536,
    MAX_GRAPH = 16384,   /* nodes, whose instantiation grows faster than their number */
    LIMIT_FROM = 16384,  /* items, from which on their bytes over the link matter */
    CPU_AT_LEAST = 4096, /* items in one sample of the loop, so that clocks can tell */
};
static const double case_budget_us = 2.5e6;

static const uint32_t counts[] = {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1000000},
                      quick_counts[] = {1, 16, 256};

/* ---- Work ------------------------------------------------------------------------------------ */

static void work_finish(queue_work *work)
{
    free(work->items);
    free(work->wanted);
    free(work->got);
    *work = (queue_work){.count = 0};
}

/* `data`: the sources, at least. */
static vyre_result work_make(queue_work *work, const uint32_t *data, vyre_diag *diag)
{
    work->items = malloc(work->count * sizeof *work->items);
    work->wanted = malloc(work->count * sizeof *work->wanted);
    work->got = malloc(work->count * sizeof *work->got);
    if (!work->items || !work->wanted || !work->got) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; i < work->count; i++) {
        bench_item item = bench_item_at(i, work->is_mixed);
        work->items[i] = item;
        work->wanted[i] = bench_item_value(data, item.opcode, item.input, item.param);
    }
    return VYRE_OK;
}

void queue_work_compare(const queue_work *work, bench_check *out)
{
    out->compared += work->count;
    for (uint32_t i = 0; i < work->count; i++) {
        out->wrong += work->got[i] != work->wanted[i];
    }
}

/* ---- Vulkan ---------------------------------------------------------------------------------- */

typedef struct vulkan_way {
    const queue_work *work;
    peer_items *items;
} vulkan_way;

static vyre_result sample_vulkan(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    const vulkan_way *way = state;
    vyre_result result = VYRE_OK;
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        uint64_t start = bench_now_ns();
        result = peer_items_run(way->items, diag);
        out[i] = (double)(bench_now_ns() - start) / 1e3;
    }
    return result;
}

/* All samples left the same: once more, on cleared words. */
static vyre_result check_vulkan(void *state, bench_check *out, vyre_diag *diag)
{
    const vulkan_way *way = state;
    vyre_result result = peer_items_clear(way->items, diag);
    if (result == VYRE_OK) {
        result = peer_items_run(way->items, diag);
    }
    if (result == VYRE_OK) {
        result = peer_items_read(way->items, way->work->got, diag);
    }
    if (result == VYRE_OK) {
        queue_work_compare(way->work, out);
    }
    return result;
}

static void add_vulkan(bench *b, bench_case *c, vulkan_way *way, const queue_work *work,
                       peer_items_way how, const char *name, vyre_diag *diag)
{
    way->work = work;
    if (!b->peer || (how != PEER_ITEMS_QUEUE && work->count > MAX_DISPATCHES)) {
        return;
    }
    if (peer_items_create(b->peer, how, work->items, work->count, &way->items, diag) != VYRE_OK) {
        snprintf(b->peer_note, sizeof b->peer_note, "%s", diag->message);
        vy_diag_clear(diag);
        return;
    }
    bench_series *s = bench_series_add(c, "vulkan", name, sample_vulkan, check_vulkan, way);
    if (how == PEER_ITEMS_RECORDED) {
        snprintf(s->note, sizeof s->note, "arguments cannot change");
    }
}

/* ---- CPU ------------------------------------------------------------------------------------- */

typedef struct cpu_way {
    const queue_work *work;
    uint32_t *data;
} cpu_way;

static vyre_result sample_cpu(void *state, double *out, uint32_t count, vyre_diag *diag)
{
    const cpu_way *way = state;
    uint32_t repeats = (CPU_AT_LEAST + way->work->count - 1) / way->work->count;
    (void)diag;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t start = bench_now_ns();
        for (uint32_t k = 0; k < repeats; k++) {
            peer_items_on_cpu(way->data, way->work->items, way->work->count);
        }
        out[i] = (double)(bench_now_ns() - start) / 1e3 / repeats;
    }
    return VYRE_OK;
}

static vyre_result check_cpu(void *state, bench_check *out, vyre_diag *diag)
{
    const cpu_way *way = state;
    size_t size = way->work->count * sizeof *way->data;
    (void)diag;
    memcpy(way->work->got, way->data + BENCH_SOURCES, size);
    memset(way->data + BENCH_SOURCES, 0, size);
    queue_work_compare(way->work, out);
    return VYRE_OK;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

typedef struct cuda_kind {
    const char *way, *command, *note;
    uint32_t max_count; /* 0: any */
} cuda_kind;

static const cuda_kind cuda_kinds[] = {
    {"a launch each", "launches", "", MAX_LAUNCHES},
    {"a graph, a chain", "chain", "arguments cannot change; instantiated before", MAX_GRAPH},
    {"a graph, no edges", "graph", "arguments cannot change; instantiated before", MAX_GRAPH},
    {"a graph, its arguments set anew", "update", "instantiated before", MAX_GRAPH},
    {"a queue kernel by hand, copied", "queue", "items in pinned memory from the start", 0},
    {"a queue kernel by hand, mapped", "mapped", "items in pinned memory from the start", 0},
};

static void add_cuda(bench *b, bench_case *c, const queue_work *work)
{
    for (size_t i = 0; i < VY_COUNT_OF(cuda_kinds); i++) {
        const cuda_kind *kind = &cuda_kinds[i];
        if (kind->max_count && work->count > kind->max_count) {
            continue;
        }
        bench_series *s = bench_series_cuda(b, c, kind->way, "items %s mixed=%u count=%u",
                                            kind->command, work->is_mixed, work->count);
        if (s) {
            snprintf(s->note, sizeof s->note, "%s", kind->note);
        }
    }
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    peer_items_way how;
} vulkan_kinds[VULKAN_WAYS] = {
    {"a dispatch each, recorded once", PEER_ITEMS_RECORDED},
    {"a dispatch each, recorded anew", PEER_ITEMS_ANEW},
    {"a queue kernel by hand", PEER_ITEMS_QUEUE},
};

/* What was too much is said. */
static void tell_left_out(const bench *b, bench_case *c, const queue_work *work)
{
    char why[64];
    if (b->peer && work->count > MAX_DISPATCHES) {
        snprintf(why, sizeof why, "more than %d dispatches", MAX_DISPATCHES);
        bench_series_leave_out(c, "vulkan", vulkan_kinds[0].name, why);
        bench_series_leave_out(c, "vulkan", vulkan_kinds[1].name, why);
    }
    for (size_t i = 0; b->cuda && i < VY_COUNT_OF(cuda_kinds); i++) {
        const cuda_kind *kind = &cuda_kinds[i];
        if (kind->max_count && work->count > kind->max_count) {
            snprintf(why, sizeof why, "more than %u launches or nodes", kind->max_count);
            bench_series_leave_out(c, "cuda", kind->way, why);
        }
    }
}

static vyre_result measure_ways(bench *b, bench_case *c, const queue_work *work, uint32_t *data,
                                vyre_diag *diag)
{
    vulkan_way vulkan[VULKAN_WAYS] = {{NULL}};
    cpu_way cpu = {work, data};
    for (uint32_t i = 0; i < VULKAN_WAYS; i++) {
        add_vulkan(b, c, &vulkan[i], work, vulkan_kinds[i].how, vulkan_kinds[i].name, diag);
    }
    add_cuda(b, c, work);
    (void)bench_series_add(c, "cpu", "a loop on one core", sample_cpu, check_cpu, &cpu);
    vyre_result result = bench_measure(b, c, diag);
    tell_left_out(b, c, work);
    for (uint32_t i = 0; i < VULKAN_WAYS; i++) {
        peer_items_destroy(&vulkan[i].items);
    }
    return result;
}

static bench_case *add_case(bench *b, bench_group *group, const char *name, uint32_t count)
{
    bench_case *c = bench_case_add(b, group, name, "us");
    if (c) {
        bench_case_size(c, "items", count);
        c->budget_us = b->quick ? c->budget_us : case_budget_us;
        if (b->link.rate > 0 && count >= LIMIT_FROM) {
            c->limit.value = (double)count * sizeof(bench_item) / b->link.rate;
            snprintf(c->limit.text, sizeof c->limit.text, "16 bytes each over %.80s", b->link.text);
        }
    }
    return c;
}

static vyre_result measure_case(bench *b, bench_group *group, const char *name, queue_work work,
                                uint32_t *data, vyre_diag *diag)
{
    bench_case *c = add_case(b, group, name, work.count);
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = work_make(&work, data, diag);
    if (result == VYRE_OK) {
        result = measure_ways(b, c, &work, data, diag);
    }
    work_finish(&work);
    return result;
}

static uint32_t *make_data(uint32_t count)
{
    uint32_t *data = calloc(BENCH_SOURCES + count, sizeof *data);
    for (uint32_t k = 0; data && k < BENCH_SOURCES; k++) {
        data[k] = bench_item_source(k);
    }
    return data;
}

vyre_result bench_megakernel(bench *b, bench_group *group, vyre_diag *diag)
{
    static const char *const names[] = {"one opcode", "eight opcodes"};
    const uint32_t *list = b->quick ? quick_counts : counts;
    size_t count = b->quick ? VY_COUNT_OF(quick_counts) : VY_COUNT_OF(counts);
    uint32_t *data = make_data(list[count - 1]);
    vyre_result result = data ? VYRE_OK : vy_diag_no_memory(diag);
    group->title = "many small work items, from the call to the known end";
    for (size_t i = 0; result == VYRE_OK && i < 2 * count; i++) {
        queue_work work = {.is_mixed = i >= count, .count = list[i % count]};
        result = measure_case(b, group, names[i / count], work, data, diag);
    }
    for (size_t i = 0; result == VYRE_OK && i < VY_COUNT_OF(names); i++) {
        result = bench_find_break_evens(b, group, names[i], diag);
    }
    free(data);
    return result;
}
