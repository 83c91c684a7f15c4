/* Hyperscan as a peer of group scan: all patterns in one database in block mode. */
#include "tools/vyre-bench/peers/hyperscan.h"

#include <stdlib.h>

#ifdef VYRE_HAVE_HYPERSCAN
#include <hs/hs.h>

#include <pthread.h>

/* A thread's part of the block; matches that end before `own` are the thread's before. */
typedef struct part {
    const peer_hyperscan *peer;
    const char *bytes;
    uint32_t begin, own, end;
    hs_scratch_t *scratch;
    peer_match *matches;
    uint64_t count, capacity;
    pthread_t thread;
    bool is_started, has_failed;
} part;

struct peer_hyperscan {
    hs_database_t *database;
    uint32_t longest, thread_count;
    part *parts;
};

const char *peer_hyperscan_version(void)
{
    return hs_version();
}

/* ---- One thread ------------------------------------------------------------------------------ */

static int take_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
                      void *user)
{
    part *p = user;
    uint32_t offset = p->begin + (uint32_t)to - 1;
    (void)from;
    (void)flags;
    if (offset < p->own) {
        return 0;
    }
    if (p->count == p->capacity) {
        uint64_t capacity = p->capacity ? p->capacity * 2 : 65536;
        peer_match *grown = realloc(p->matches, (size_t)capacity * sizeof *grown);
        if (!grown) {
            p->has_failed = true;
            return 1;
        }
        p->matches = grown;
        p->capacity = capacity;
    }
    p->matches[p->count++] = (peer_match){id, offset};
    return 0;
}

static bool is_behind(const peer_match *a, const peer_match *b)
{
    return a->offset != b->offset ? a->offset > b->offset : a->rule > b->rule;
}

/* Matches come in order of where they end; of the same end they are put in order of rules. */
static void sort_matches(part *p)
{
    for (uint64_t i = 1; i < p->count; i++) {
        peer_match match = p->matches[i];
        uint64_t at = i;
        while (at > 0 && is_behind(&p->matches[at - 1], &match)) {
            p->matches[at] = p->matches[at - 1];
            at--;
        }
        p->matches[at] = match;
    }
}

static void *scan_part(void *user)
{
    part *p = user;
    p->count = 0;
    hs_error_t error = hs_scan(p->peer->database, p->bytes + p->begin, p->end - p->begin, 0,
                               p->scratch, take_match, p);
    p->has_failed = p->has_failed || error != HS_SUCCESS;
    sort_matches(p);
    return NULL;
}

/* ---- The peer -------------------------------------------------------------------------------- */

static vyre_result make_parts(peer_hyperscan *peer, vyre_diag *diag)
{
    peer->parts = calloc(peer->thread_count, sizeof *peer->parts);
    for (uint32_t i = 0; peer->parts && i < peer->thread_count; i++) {
        peer->parts[i].peer = peer;
        if (hs_alloc_scratch(peer->database, &peer->parts[i].scratch) != HS_SUCCESS) {
            return vy_diag_no_memory(diag);
        }
    }
    return peer->parts ? VYRE_OK : vy_diag_no_memory(diag);
}

vyre_result peer_hyperscan_create(const char *const *patterns, const size_t *sizes, uint32_t count,
                                  uint32_t longest, uint32_t threads, peer_hyperscan **out_peer,
                                  vyre_diag *diag)
{
    peer_hyperscan *peer = *out_peer = calloc(1, sizeof *peer);
    unsigned *flags = calloc(count, sizeof *flags), *ids = malloc(count * sizeof *ids);
    hs_compile_error_t *error = NULL;
    vyre_result result = VYRE_OK;
    if (!peer || !flags || !ids) {
        result = vy_diag_no_memory(diag);
    }
    for (uint32_t i = 0; result == VYRE_OK && i < count; i++) {
        ids[i] = i;
    }
    if (result == VYRE_OK && hs_compile_lit_multi(patterns, flags, ids, sizes, count, HS_MODE_BLOCK,
                                                  NULL, &peer->database, &error) != HS_SUCCESS) {
        result = vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                             "Hyperscan refuses the patterns: %s",
                             error && error->message ? error->message : "no reason is given");
        hs_free_compile_error(error);
    }
    free(flags);
    free(ids);
    if (result == VYRE_OK) {
        peer->longest = longest;
        peer->thread_count = threads;
        result = make_parts(peer, diag);
    }
    if (result != VYRE_OK) {
        peer_hyperscan_destroy(out_peer);
    }
    return result;
}

void peer_hyperscan_destroy(peer_hyperscan **peer)
{
    peer_hyperscan *p = *peer;
    *peer = NULL;
    if (!p) {
        return;
    }
    for (uint32_t i = 0; p->parts && i < p->thread_count; i++) {
        hs_free_scratch(p->parts[i].scratch);
        free(p->parts[i].matches);
    }
    free(p->parts);
    hs_free_database(p->database);
    free(p);
}

vyre_result peer_hyperscan_run(peer_hyperscan *peer, const void *bytes, uint32_t size,
                               vyre_diag *diag)
{
    uint32_t step = size / peer->thread_count + 1;
    bool has_failed = false;
    for (uint32_t i = 0; i < peer->thread_count; i++) {
        part *p = &peer->parts[i];
        uint64_t own = (uint64_t)i * step, end = own + step;
        p->bytes = bytes;
        p->own = (uint32_t)(own < size ? own : size);
        p->end = (uint32_t)(end < size ? end : size);
        p->begin = p->own >= peer->longest ? p->own - (peer->longest - 1) : 0;
        p->is_started =
            i + 1 < peer->thread_count && pthread_create(&p->thread, NULL, scan_part, p) == 0;
        if (!p->is_started) {
            (void)scan_part(p);
        }
    }
    for (uint32_t i = 0; i < peer->thread_count; i++) {
        if (peer->parts[i].is_started) {
            (void)pthread_join(peer->parts[i].thread, NULL);
        }
        has_failed = has_failed || peer->parts[i].has_failed;
    }
    return has_failed ? vy_diag_set(diag, VYRE_ERROR_INTERNAL, (vy_loc){0, 0},
                                    "Hyperscan has not scanned the block")
                      : VYRE_OK;
}

const peer_match *peer_hyperscan_matches(const peer_hyperscan *peer, uint32_t thread,
                                         uint64_t *out_count)
{
    *out_count = peer->parts[thread].count;
    return peer->parts[thread].matches;
}

#else

const char *peer_hyperscan_version(void)
{
    return NULL;
}

vyre_result peer_hyperscan_create(const char *const *patterns, const size_t *sizes, uint32_t count,
                                  uint32_t longest, uint32_t threads, peer_hyperscan **out_peer,
                                  vyre_diag *diag)
{
    (void)patterns;
    (void)sizes;
    (void)count;
    (void)longest;
    (void)threads;
    *out_peer = NULL;
    return vy_diag_set(diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                       "the build found no Hyperscan (package libhyperscan-dev)");
}

void peer_hyperscan_destroy(peer_hyperscan **peer)
{
    *peer = NULL;
}

vyre_result peer_hyperscan_run(peer_hyperscan *peer, const void *bytes, uint32_t size,
                               vyre_diag *diag)
{
    (void)peer;
    (void)bytes;
    (void)size;
    return vy_diag_no_memory(diag);
}

const peer_match *peer_hyperscan_matches(const peer_hyperscan *peer, uint32_t thread,
                                         uint64_t *out_count)
{
    (void)peer;
    (void)thread;
    *out_count = 0;
    return NULL;
}

#endif
