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
    MAX_ITEMS = 1000000
};
static const double case_budget_us = 2.5e6;

static const uint32_t counts[] = {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, MAX_ITEMS},
                      quick_counts[] = {1, 16, 256}, drain_counts[] = {4096, 65536, MAX_ITEMS},
                      quick_drain_counts[] = {256};

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
    {"a queue kernel by hand, from the caller's items", "host", "", 0},
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

static const char in_flight_name[] = "dispatcher, 4 queues in flight, each";

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
    if (work->count > MAX_LAUNCHES) {
        snprintf(why, sizeof why, "more than %d items", MAX_LAUNCHES);
        bench_series_leave_out(c, "vyre", in_flight_name, why);
    }
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

/* ---- The library ----------------------------------------------------------------------------- */

#define INDEPENDENT (VYRE_QUEUE_INDEPENDENT | VYRE_QUEUE_KEEP_DUPLICATES)

static const queue_kind queue_kinds[] = {
    {"dispatcher, independent items", VYRE_CLAIM_AUTO, INDEPENDENT, QUEUE_ITEMS},
    {"dispatcher, dependencies looked for", VYRE_CLAIM_AUTO, 0, QUEUE_ITEMS},
    {in_flight_name, VYRE_CLAIM_AUTO, INDEPENDENT, QUEUE_IN_FLIGHT},
    {"dispatcher, items written in place", VYRE_CLAIM_AUTO, 0, QUEUE_IN_PLACE},
};

/* How the dispatcher could do it otherwise; against the first. */
typedef struct drain_kind {
    queue_kind kind;
    bool is_of_one, is_of_mixed; /* whether it makes a difference there */
} drain_kind;

static const drain_kind drain_kinds[] = {
    {{"as it chooses", VYRE_CLAIM_AUTO, INDEPENDENT, QUEUE_ITEMS}, true, true},
    {{"without a kernel of its own", VYRE_CLAIM_AUTO, INDEPENDENT | VYRE_QUEUE_NO_SPECIAL,
      QUEUE_ITEMS},
     true,
     false},
    {{"with a kernel of its own", VYRE_CLAIM_AUTO, INDEPENDENT | VYRE_QUEUE_SPECIAL, QUEUE_ITEMS},
     true,
     false},
    {{"arranged by opcode", VYRE_CLAIM_AUTO, INDEPENDENT | VYRE_QUEUE_ARRANGE, QUEUE_ITEMS},
     false,
     true},
    {{"claims by lanes", VYRE_CLAIM_LANE, INDEPENDENT, QUEUE_ITEMS}, true, true},
    {{"claims by subgroups", VYRE_CLAIM_SUBGROUP, INDEPENDENT, QUEUE_ITEMS}, true, true},
    {{"claims by workgroups", VYRE_CLAIM_WORKGROUP, INDEPENDENT, QUEUE_ITEMS}, true, true},
    {{"published into a ring", VYRE_CLAIM_AUTO, 0, QUEUE_RING}, true, true},
};

static vyre_result add_queues(queue_library *library, bench_case *c, const queue_work *work,
                              vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    queue_library_begin(library, work);
    for (size_t i = 0; result == VYRE_OK && i < VY_COUNT_OF(queue_kinds); i++) {
        if (queue_kinds[i].form != QUEUE_IN_FLIGHT || work->count <= MAX_LAUNCHES) {
            result = queue_library_add(library, c, work, &queue_kinds[i], diag);
        }
    }
    return result;
}

static vyre_result add_drains(queue_library *library, bench_case *c, const queue_work *work,
                              vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    queue_library_begin(library, work);
    for (size_t i = 0; result == VYRE_OK && i < VY_COUNT_OF(drain_kinds); i++) {
        const drain_kind *drain = &drain_kinds[i];
        if (work->is_mixed ? drain->is_of_mixed : drain->is_of_one) {
            result = queue_library_add(library, c, work, &drain->kind, diag);
        }
    }
    return result;
}

static vyre_result measure_queues(bench *b, bench_case *c, queue_library *library, vyre_diag *diag)
{
    vyre_result result = bench_measure(b, c, diag);
    if (result == VYRE_OK) {
        result = queue_series_note(c, diag);
    }
    queue_library_end(library);
    return result;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* What the cases share. */
typedef struct setting {
    bench *bench;
    bench_group *group;
    uint32_t *data; /* the sources, and a word for each item */
    queue_library *library;
} setting;

static vyre_result measure_ways(const setting *all, bench_case *c, const queue_work *work,
                                vyre_diag *diag)
{
    bench *b = all->bench;
    vulkan_way vulkan[VULKAN_WAYS] = {{NULL}};
    cpu_way cpu = {work, all->data};
    vyre_result result = add_queues(all->library, c, work, diag);
    for (uint32_t i = 0; result == VYRE_OK && i < VULKAN_WAYS; i++) {
        add_vulkan(b, c, &vulkan[i], work, vulkan_kinds[i].how, vulkan_kinds[i].name, diag);
    }
    add_cuda(b, c, work);
    (void)bench_series_add(c, "cpu", "a loop on one core", sample_cpu, check_cpu, &cpu);
    if (result == VYRE_OK) {
        result = measure_queues(b, c, all->library, diag);
    }
    tell_left_out(b, c, work);
    for (uint32_t i = 0; i < VULKAN_WAYS; i++) {
        peer_items_destroy(&vulkan[i].items);
    }
    return result;
}

static vyre_result measure_drains(const setting *all, bench_case *c, const queue_work *work,
                                  vyre_diag *diag)
{
    vyre_result result = add_drains(all->library, c, work, diag);
    return result == VYRE_OK ? measure_queues(all->bench, c, all->library, diag) : result;
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

typedef vyre_result (*measure_fn)(const setting *all, bench_case *c, const queue_work *work,
                                  vyre_diag *diag);

static vyre_result measure_case(const setting *all, const char *name, queue_work work,
                                measure_fn measure, vyre_diag *diag)
{
    bench_case *c = add_case(all->bench, all->group, name, work.count);
    if (!c) {
        return vy_diag_no_memory(diag);
    }
    vyre_result result = work_make(&work, all->data, diag);
    if (result == VYRE_OK) {
        result = measure(all, c, &work, diag);
    }
    work_finish(&work);
    return result;
}

static const char *const names[2] = {"one opcode", "eight opcodes"},
                         *const drain_names[2] = {"one opcode, drained otherwise",
                                                  "eight opcodes, drained otherwise"};

static vyre_result measure_all(const setting *all, vyre_diag *diag)
{
    bool quick = all->bench->quick;
    const uint32_t *list = quick ? quick_counts : counts,
                   *drains = quick ? quick_drain_counts : drain_counts;
    size_t count = quick ? VY_COUNT_OF(quick_counts) : VY_COUNT_OF(counts),
           drain_count = quick ? VY_COUNT_OF(quick_drain_counts) : VY_COUNT_OF(drain_counts);
    vyre_result result = VYRE_OK;
    for (size_t i = 0; result == VYRE_OK && i < 2 * count; i++) {
        queue_work work = {.is_mixed = i >= count, .count = list[i % count]};
        result = measure_case(all, names[i / count], work, measure_ways, diag);
    }
    for (size_t i = 0; result == VYRE_OK && i < 2 * drain_count; i++) {
        queue_work work = {.is_mixed = i >= drain_count, .count = drains[i % drain_count]};
        result = measure_case(all, drain_names[i / drain_count], work, measure_drains, diag);
    }
    for (size_t i = 0; result == VYRE_OK && i < VY_COUNT_OF(names); i++) {
        result = bench_find_break_evens(all->bench, all->group, names[i], diag);
    }
    return result;
}

static uint32_t *make_data(void)
{
    uint32_t *data = calloc(BENCH_SOURCES + MAX_ITEMS, sizeof *data);
    for (uint32_t k = 0; data && k < BENCH_SOURCES; k++) {
        data[k] = bench_item_source(k);
    }
    return data;
}

vyre_result bench_megakernel(bench *b, bench_group *group, vyre_diag *diag)
{
    setting all = {.bench = b, .group = group, .data = make_data()};
    vyre_result result = all.data ? VYRE_OK : vy_diag_no_memory(diag);
    group->title = "many small work items, from the call to the known end";
    if (result == VYRE_OK) {
        result = queue_library_create(b, all.data, MAX_ITEMS, &all.library, diag);
    }
    if (result == VYRE_OK) {
        result = measure_all(&all, diag);
    }
    queue_library_destroy(&all.library);
    free(all.data);
    return result;
}
