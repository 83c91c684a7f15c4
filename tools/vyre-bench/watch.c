/* What a submission was made of: the driver's call in it, and how cold the processor was. A walk
 * over memory that only the walks touch tells the latter: in a virtual machine beside others the
 * same walk takes ten times as long at one time as at another, and so does all code that has not
 * run for milliseconds. */
#include "tools/vyre-bench/chain.h"

#include <stdlib.h>
#include <string.h>

enum { WALK_PAGES = 64, PAGE_SIZE = 4096, LINE_SIZE = 64, WALK_STRIDE = 27 };
/* 64 loads from a processor's second level take about 1 us, from memory over 5. */
static const double warm_us = 2.5;

struct chain_watch {
    bool tells_caches; /* the walk goes before the samples, with nothing between */
    unsigned char *pages;
    uint32_t at;
    VY_VEC(chain_sample) samples;
    vy_arena arena;
};

/* In each page one word, the page that comes next: one circle over all, not in order. */
static void link_pages(unsigned char *pages)
{
    for (uint32_t i = 0; i < WALK_PAGES; i++) {
        uint32_t next = (i + WALK_STRIDE) % WALK_PAGES; /* odd: reaches every page */
        memcpy(pages + (size_t)i * PAGE_SIZE + (i % 60) * LINE_SIZE, &next, sizeof next);
    }
}

chain_watch *chain_watch_create(const chain_params *params)
{
    chain_watch *w = calloc(1, sizeof *w);
    unsigned char *pages = malloc((size_t)WALK_PAGES * PAGE_SIZE);
    if (!w || !pages) {
        free(w);
        free(pages);
        return NULL;
    }
    link_pages(pages);
    w->pages = pages;
    w->tells_caches = !params->is_behind;
    vy_arena_init(&w->arena, NULL);
    return w;
}

void chain_watch_destroy(chain_watch *w)
{
    if (w) {
        vy_arena_finish(&w->arena);
        free(w->pages);
        free(w);
    }
}

double chain_watch_walk(chain_watch *w)
{
    uint64_t start = bench_now_ns();
    uint32_t at = w->at;
    for (int i = 0; i < WALK_PAGES; i++) {
        memcpy(&at, w->pages + (size_t)at * PAGE_SIZE + (at % 60) * LINE_SIZE, sizeof at);
    }
    w->at = at; /* the walk is for something */
    return (double)(bench_now_ns() - start) / 1e3;
}

bool chain_watch_add(chain_watch *w, chain_sample sample)
{
    return vy_vec_push(&w->arena, &w->samples, sample);
}

/* ---- Series ---------------------------------------------------------------------------------- */

typedef bool (*pick_fn)(const chain_sample *sample, double *out);

static bool pick_driver(const chain_sample *sample, double *out)
{
    *out = sample->driver;
    return true;
}

static bool pick_rest(const chain_sample *sample, double *out)
{
    *out = sample->all - sample->driver;
    return true;
}

static bool pick_warm(const chain_sample *sample, double *out)
{
    *out = sample->all;
    return sample->walk <= warm_us;
}

static bool pick_cold(const chain_sample *sample, double *out)
{
    *out = sample->all;
    return sample->walk > warm_us;
}

static bool add_part(bench *b, bench_case *c, uint32_t of, const chain_watch *w, const char *what,
                     pick_fn pick)
{
    const bench_series *s = &c->series[of];
    uint32_t all = w->samples.count, last = s->sample_count, count = 0;
    double *samples = last ? vy_arena_alloc(&b->arena, last, sizeof *samples) : NULL;
    char *way = vy_arena_alloc(&b->arena, BENCH_NOTE_SIZE, 1);
    if (last == 0 || last > all) {
        return true; /* a peer that failed */
    }
    if (!samples || !way) {
        return false;
    }
    /* The first ones warmed up. */
    for (uint32_t i = all - last; i < all; i++) {
        count += pick(&w->samples.data[i], &samples[count]);
    }
    snprintf(way, BENCH_NOTE_SIZE, "%.80s: %s", s->way, what);
    bench_series *part = bench_series_derive(c, s->who, way, samples, count);
    if (part) {
        snprintf(part->note, sizeof part->note, "%u of %u samples", (unsigned)count,
                 (unsigned)last);
    }
    return true;
}

vyre_result chain_watch_report(bench *b, bench_case *c, uint32_t of, const chain_watch *w,
                               vyre_diag *diag)
{
    bool ok = true;
    if (strcmp(c->series[of].who, "vyre") == 0) {
        ok = add_part(b, c, of, w, "vkQueueSubmit in it", pick_driver) &&
             add_part(b, c, of, w, "the rest", pick_rest);
    }
    if (ok && w->tells_caches) {
        ok = add_part(b, c, of, w, "caches warm", pick_warm) &&
             add_part(b, c, of, w, "caches cold", pick_cold);
    }
    return ok ? VYRE_OK : vy_diag_no_memory(diag);
}
