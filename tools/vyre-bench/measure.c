/* Taking samples: series of a case in turns, medians and spread, costs by the device's counters. */
#include "tools/vyre-bench/bench.h"

#include "tools/common/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 10, BATCH = 30, QUICK_ROUNDS = 2, QUICK_BATCH = 3, MIN_ROUNDS = 3 };
static const double budget_us = 6e6, quick_budget_us = 0.5e6;

uint64_t bench_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_work_ns(const bench *b)
{
    return b->processor_time ? vy_other_threads_ns() : bench_now_ns();
}

/* ---- Cases ----------------------------------------------------------------------------------- */

bench_case *bench_case_add(bench *b, bench_group *group, const char *name, const char *unit)
{
    bench_case *c = vy_arena_alloc(&b->arena, 1, sizeof *c);
    if (!c || !vy_vec_push(&b->arena, &group->cases, c)) {
        return NULL;
    }
    c->name = name;
    c->unit = unit;
    c->rounds = b->quick ? QUICK_ROUNDS : ROUNDS;
    c->batch = b->quick ? QUICK_BATCH : BATCH;
    c->budget_us = b->quick ? quick_budget_us : budget_us;
    return c;
}

void bench_case_size(bench_case *c, const char *name, uint64_t value)
{
    if (c->size_count < BENCH_MAX_SIZES) {
        c->sizes[c->size_count++] = (bench_size){name, value};
    }
}

bench_series *bench_series_add(bench_case *c, const char *who, const char *way,
                               bench_sample_fn sample, bench_check_fn check, void *state)
{
    if (c->series_count < BENCH_MAX_SERIES) {
        c->series_count++;
    }
    bench_series *s = &c->series[c->series_count - 1];
    *s = (bench_series){.who = who, .way = way, .sample = sample, .check = check, .state = state};
    return s;
}

bench_series *bench_series_vyre(bench_case *c, const char *way, vyre_device *device,
                                bench_sample_fn sample, bench_check_fn check, void *state)
{
    bench_series *s = bench_series_add(c, "vyre", way, sample, check, state);
    s->device = device;
    return s;
}

/* ---- Samples --------------------------------------------------------------------------------- */

static void add_costs(bench_series *s, const vyre_device_counters *from,
                      const vyre_device_counters *to)
{
    vyre_device_counters *sum = &s->costs;
    sum->submissions += to->submissions - from->submissions;
    sum->waits += to->waits - from->waits;
    sum->recordings += to->recordings - from->recordings;
    sum->descriptor_writes += to->descriptor_writes - from->descriptor_writes;
    sum->memory_allocations += to->memory_allocations - from->memory_allocations;
    s->has_costs = true;
}

static vyre_result take(bench_series *s, double *out, uint32_t count, vyre_diag *diag)
{
    vyre_device_counters from, to;
    if (s->device) {
        vyre_device_get_counters(s->device, &from);
    }
    vyre_result result = s->sample(s->state, out, count, diag);
    if (result == VYRE_OK && s->device) {
        vyre_device_get_counters(s->device, &to);
        add_costs(s, &from, &to);
    }
    return result;
}

static bool is_peer(const bench_series *s)
{
    return strcmp(s->who, "vyre") != 0;
}

/* A peer's failure is told and goes no further. */
static vyre_result judge(bench_series *s, vyre_result result, vyre_diag *diag)
{
    if (result == VYRE_OK || !is_peer(s)) {
        return result;
    }
    snprintf(s->note, sizeof s->note, "left out: %.180s", diag->message);
    s->sample = NULL;
    s->check = NULL;
    s->sample_count = 0;
    vy_diag_clear(diag);
    return VYRE_OK;
}

/* What one sample takes. The first one compiles and records, which may take a driver longer than
 * many samples; only where that leaves no time for another one, it counts as it is. */
static vyre_result warm_series_up(bench_series *s, double share_us, double *out_us, vyre_diag *diag)
{
    vyre_result result = VYRE_OK;
    *out_us = 0;
    for (int i = 0; i < 2 && result == VYRE_OK && *out_us * 2 < share_us; i++) {
        double sample;
        uint64_t start = bench_now_ns();
        result = s->sample(s->state, &sample, 1, diag);
        *out_us = (double)(bench_now_ns() - start) / 1e3;
    }
    return judge(s, result, diag);
}

/* Each series has its share of the time: slow ones take fewer samples, in fewer rounds if one a
 * round is too many. */
static vyre_result warm_up(bench_case *c, vyre_diag *diag)
{
    uint32_t rounds = c->rounds;
    for (uint32_t i = 0; i < c->series_count; i++) {
        bench_series *s = &c->series[i];
        double share = c->budget_us / c->series_count, us = 0;
        if (!s->sample) {
            continue;
        }
        vyre_result result = warm_series_up(s, share, &us, diag);
        if (result != VYRE_OK) {
            return result;
        }
        double fits = us > 0 ? share / us : INFINITY;
        s->batch = (uint32_t)fmax(1, fmin(c->batch, fits / c->rounds));
        rounds = (uint32_t)fmin(rounds, fmax(fits, MIN_ROUNDS));
    }
    c->rounds = c->rounds < MIN_ROUNDS ? c->rounds : rounds;
    return VYRE_OK;
}

static int compare_samples(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(const double *samples, uint32_t count, double part)
{
    if (count == 0) {
        return 0;
    }
    double at = part * (count - 1);
    uint32_t low = (uint32_t)at, high = low + 1 < count ? low + 1 : low;
    return samples[low] + (samples[high] - samples[low]) * (at - low);
}

double bench_ratio(const bench_case *c, const bench_series *s)
{
    const bench_series *base = &c->series[c->base];
    return s->sample_count && base->sample_count && base->median > 0 ? s->median / base->median : 0;
}

static void sum_up(bench_series *s)
{
    qsort(s->samples, s->sample_count, sizeof *s->samples, compare_samples);
    s->median = bench_quantile(s->samples, s->sample_count, 0.5);
    s->p10 = bench_quantile(s->samples, s->sample_count, 0.1);
    s->p90 = bench_quantile(s->samples, s->sample_count, 0.9);
}

/* Samples still lie in the order of turns; sorting each turn does no harm. */
static void compare_turns(bench_series *s)
{
    uint32_t turns = s->sample_count / s->batch;
    for (uint32_t turn = 0; turn < turns && turns > 1; turn++) {
        double *first = s->samples + (size_t)turn * s->batch;
        qsort(first, s->batch, sizeof *first, compare_samples);
        double median = bench_quantile(first, s->batch, 0.5);
        s->round_low = turn ? fmin(s->round_low, median) : median;
        s->round_high = turn ? fmax(s->round_high, median) : median;
    }
}

static vyre_result finish_series(bench_series *s, vyre_diag *diag)
{
    compare_turns(s);
    sum_up(s);
    return s->check ? judge(s, s->check(s->state, &s->checked, diag), diag) : VYRE_OK;
}

bench_series *bench_series_derive(bench_case *c, const char *who, const char *way, double *samples,
                                  uint32_t count)
{
    if (count == 0 || c->series_count == BENCH_MAX_SERIES) {
        return NULL;
    }
    bench_series *s = &c->series[c->series_count++];
    *s = (bench_series){
        .who = who, .way = way, .samples = samples, .sample_count = count, .is_part = true};
    sum_up(s);
    return s;
}

void bench_series_leave_out(bench_case *c, const char *who, const char *way, const char *why)
{
    if (c->series_count < BENCH_MAX_SERIES) {
        bench_series *s = &c->series[c->series_count++];
        *s = (bench_series){.who = who, .way = way};
        snprintf(s->note, sizeof s->note, "not measured: %s", why);
    }
}

void bench_choose_base(bench_case *c)
{
    bool found = false;
    c->base = 0;
    for (uint32_t i = 0; i < c->series_count; i++) {
        const bench_series *s = &c->series[i];
        bool knows = strncmp(s->way, BENCH_EXACTLY, strlen(BENCH_EXACTLY)) == 0;
        if (s->sample_count && is_peer(s) && !knows &&
            (!found || s->median < c->series[c->base].median)) {
            c->base = i;
            found = true;
        }
    }
}

/* ---- Break-even ------------------------------------------------------------------------------ */

static const bench_series *find_series(const bench_case *c, const char *who, const char *way)
{
    for (uint32_t i = 0; i < c->series_count; i++) {
        const bench_series *s = &c->series[i];
        if (s->sample_count && strcmp(s->who, who) == 0 && strcmp(s->way, way) == 0) {
            return s;
        }
    }
    return NULL;
}

static bool has_break_even(const bench_group *group, const bench_case *c, const bench_series *s)
{
    for (uint32_t i = 0; i < group->break_evens.count; i++) {
        const bench_break_even *other = &group->break_evens.data[i];
        if (strcmp(other->case_name, c->name) == 0 && strcmp(other->who, s->who) == 0 &&
            strcmp(other->way, s->way) == 0) {
            return true;
        }
    }
    return false;
}

static bench_break_even find_break_even(const bench_group *group, const bench_case *first,
                                        const bench_series *of)
{
    bench_break_even found = {first->name, first->sizes[0].name, of->who, of->way, 0, 0};
    for (uint32_t i = 0; i < group->cases.count; i++) {
        const bench_case *c = group->cases.data[i];
        const bench_series *s =
            strcmp(c->name, first->name) == 0 ? find_series(c, of->who, of->way) : NULL;
        if (s) {
            bool is_slower = bench_ratio(c, s) > 1;
            found.up_to = c->sizes[0].value;
            found.from = !is_slower ? 0 : found.from ? found.from : c->sizes[0].value;
        }
    }
    return found;
}

vyre_result bench_find_break_evens(bench *b, bench_group *group, const char *case_name,
                                   vyre_diag *diag)
{
    for (uint32_t i = 0; i < group->cases.count; i++) {
        const bench_case *c = group->cases.data[i];
        for (uint32_t k = 0; k < c->series_count && strcmp(c->name, case_name) == 0; k++) {
            const bench_series *s = &c->series[k];
            if (!is_peer(s) || s->sample_count == 0 || has_break_even(group, c, s)) {
                continue;
            }
            if (!vy_vec_push(&b->arena, &group->break_evens, find_break_even(group, c, s))) {
                return vy_diag_no_memory(diag);
            }
        }
    }
    return VYRE_OK;
}

/* ---- The run --------------------------------------------------------------------------------- */

vyre_result bench_measure(bench *b, bench_case *c, vyre_diag *diag)
{
    vyre_result result = warm_up(c, diag);
    for (uint32_t i = 0; i < c->series_count; i++) {
        bench_series *s = &c->series[i];
        s->samples = s->sample
                         ? vy_arena_alloc(&b->arena, (size_t)c->rounds * s->batch, sizeof(double))
                         : NULL;
    }
    if (result != VYRE_OK || b->arena.failed) {
        return result != VYRE_OK ? result : vy_diag_no_memory(diag);
    }
    for (uint32_t round = 0; round < c->rounds; round++) {
        for (uint32_t i = 0; result == VYRE_OK && i < c->series_count; i++) {
            bench_series *s = &c->series[i];
            if (s->sample) {
                result = take(s, s->samples + s->sample_count, s->batch, diag);
                s->sample_count += result == VYRE_OK ? s->batch : 0;
                result = judge(s, result, diag);
            }
        }
    }
    for (uint32_t i = 0; result == VYRE_OK && i < c->series_count; i++) {
        if (c->series[i].sample) {
            result = finish_series(&c->series[i], diag);
        }
    }
    return result;
}
