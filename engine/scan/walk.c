/* Scanning memory on the calling thread: the same hits as a device's, from the same tables. */
#include "engine/scan/automaton.h"

#include <string.h>

/* All automata of a catalogue, side by side. */
typedef struct walk {
    const vyre_catalogue *catalogue;
    vyre_hit_fn hit;
    void *user;
    uint32_t *states; /* of each automaton */
    uint32_t *rules;  /* that have ended at one offset */
} walk;

/* Puts a further ascending list of rules between those that are there, also ascending. Automata are
 * in the order of their first rules, so that most often there is nothing to move. */
static size_t merge(walk *w, size_t count, const uint32_t *more, size_t more_count)
{
    size_t left = count, total = count + more_count, at = total;
    while (more_count) {
        bool is_old = left && w->rules[left - 1] > more[more_count - 1];
        w->rules[--at] = is_old ? w->rules[--left] : more[--more_count];
    }
    return total;
}

static int give(const walk *w, uint32_t offset, const uint32_t *rules, size_t count)
{
    int stop = 0;
    for (size_t i = 0; !stop && i < count; i++) {
        vyre_hit hit = {0, rules[i], 0, offset};
        stop = w->hit(w->user, &hit);
    }
    return stop;
}

/* Until the end or until no more hits are wanted, which it says. */
static int walk_one(const walk *w, const uint8_t *bytes, uint32_t from, uint32_t end,
                    uint32_t state)
{
    const vy_automaton *a = &w->catalogue->automata[0];
    for (uint32_t at = from; at < end; at++) {
        state = a->transitions[(size_t)state * a->class_count + a->classes[bytes[at]]];
        uint32_t first = a->output_offsets[state], last = a->output_offsets[state + 1];
        if (first < last && give(w, at, a->outputs + first, last - first)) {
            return 1;
        }
    }
    return 0;
}

/* ---- Pieces side by side --------------------------------------------------------------------- */

/* A table larger than the caches is waited for at each byte. Several places of one file are walked
 * in turns, so that they wait together: each from as far before as makes its state certain. Pieces
 * do not lie a power of 2 apart, which would put them in the same places of a cache. */
enum { PIECES = 8, PIECE_SIZE = 4160, BLOCK_SIZE = PIECES * PIECE_SIZE, MAX_OVERLAP = 512 };

typedef struct ending {
    uint32_t offset, state; /* of the file; one with outputs */
} ending;

typedef struct block {
    uint32_t states[PIECES];
    uint32_t counts[PIECES];
    ending endings[PIECES][PIECE_SIZE];
} block;

/* The states in which pieces begin, but that of the first, which is known. */
static void warm_up(const vy_automaton *a, const uint8_t *bytes, uint32_t at, block *b)
{
    for (uint32_t p = 1; p < PIECES; p++) {
        b->states[p] = 0;
    }
    for (uint32_t i = a->overlap; i > 0; i--) {
        for (uint32_t p = 1; p < PIECES; p++) {
            uint32_t class = a->classes[bytes[at + p * PIECE_SIZE - i]];
            b->states[p] = a->transitions[(size_t)b->states[p] * a->class_count + class];
        }
    }
}

static void walk_block(const vy_automaton *a, const uint8_t *bytes, uint32_t at, block *b)
{
    memset(b->counts, 0, sizeof b->counts);
    for (uint32_t i = 0; i < PIECE_SIZE; i++) {
        for (uint32_t p = 0; p < PIECES; p++) {
            uint32_t offset = at + p * PIECE_SIZE + i, class = a->classes[bytes[offset]];
            uint32_t state = a->transitions[(size_t)b->states[p] * a->class_count + class];
            b->states[p] = state;
            if (a->output_offsets[state] < a->output_offsets[state + 1]) {
                b->endings[p][b->counts[p]++] = (ending){offset, state};
            }
        }
    }
}

static int give_block(const walk *w, const vy_automaton *a, const block *b)
{
    for (uint32_t p = 0; p < PIECES; p++) {
        for (uint32_t i = 0; i < b->counts[p]; i++) {
            const ending *e = &b->endings[p][i];
            uint32_t first = a->output_offsets[e->state], end = a->output_offsets[e->state + 1];
            if (give(w, e->offset, a->outputs + first, end - first)) {
                return 1;
            }
        }
    }
    return 0;
}

static vyre_result walk_pieces(const walk *w, const uint8_t *bytes, uint32_t size, vyre_diag *diag)
{
    const vyre_allocator *allocator = &w->catalogue->allocator;
    const vy_automaton *a = &w->catalogue->automata[0];
    block *b = vy_scan_alloc(allocator, 1, sizeof *b);
    uint32_t at = 0, state = 0;
    int stop = 0;
    if (!b) {
        return vy_diag_no_memory(diag);
    }
    for (; !stop && size - at >= BLOCK_SIZE; at += BLOCK_SIZE) {
        warm_up(a, bytes, at, b);
        b->states[0] = state;
        walk_block(a, bytes, at, b);
        state = b->states[PIECES - 1];
        stop = give_block(w, a, b);
    }
    if (!stop) {
        (void)walk_one(w, bytes, at, size, state);
    }
    vy_scan_free(allocator, b, 1, sizeof *b);
    return VYRE_OK;
}

/* ---- Automata side by side ------------------------------------------------------------------- */

static void walk_all(walk *w, const uint8_t *bytes, uint32_t size)
{
    const vyre_catalogue *c = w->catalogue;
    memset(w->states, 0, c->automaton_count * sizeof *w->states);
    for (uint32_t at = 0; at < size; at++) {
        size_t count = 0;
        for (uint32_t i = 0; i < c->automaton_count; i++) {
            const vy_automaton *a = &c->automata[i];
            uint32_t class = a->classes[bytes[at]];
            uint32_t state = a->transitions[(size_t)w->states[i] * a->class_count + class];
            uint32_t first = a->output_offsets[state], end = a->output_offsets[state + 1];
            w->states[i] = state;
            if (first < end) {
                count = merge(w, count, a->outputs + first, end - first);
            }
        }
        if (give(w, at, w->rules, count)) {
            return;
        }
    }
}

vyre_result vyre_catalogue_scan(const vyre_catalogue *catalogue, const void *bytes, size_t size,
                                vyre_hit_fn hit, void *user, vyre_diag *diag)
{
    walk w = {.catalogue = catalogue, .hit = hit, .user = user};
    vy_diag_clear(diag);
    if (!catalogue || !hit || (size && !bytes)) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "%s is NULL. Fix: give a catalogue, the bytes and a function for hits",
                           !catalogue ? "catalogue" : (!hit ? "hit" : "bytes"));
    }
    if (size > UINT32_MAX) {
        return vy_diag_set(diag, VYRE_ERROR_INVALID_ARGUMENT, (vy_loc){0, 0},
                           "there are %llu bytes, and offsets have 32 bits. Fix: scan at most "
                           "4,294,967,295 bytes at once",
                           (unsigned long long)size);
    }
    if (catalogue->automaton_count == 0) {
        return VYRE_OK;
    }
    if (catalogue->automaton_count == 1) {
        if (size >= 2 * BLOCK_SIZE && catalogue->automata[0].overlap <= MAX_OVERLAP) {
            return walk_pieces(&w, bytes, (uint32_t)size, diag);
        }
        (void)walk_one(&w, bytes, 0, (uint32_t)size, 0);
        return VYRE_OK;
    }
    const vyre_allocator *allocator = &catalogue->allocator;
    size_t automata = catalogue->automaton_count, rules = catalogue->most_outputs;
    w.states = vy_scan_alloc(allocator, automata, sizeof *w.states);
    w.rules = vy_scan_alloc(allocator, rules, sizeof *w.rules);
    vyre_result result = VYRE_OK;
    if (w.states && w.rules) {
        walk_all(&w, bytes, (uint32_t)size);
    } else {
        result = vy_diag_no_memory(diag);
    }
    vy_scan_free(allocator, w.states, automata, sizeof *w.states);
    vy_scan_free(allocator, w.rules, rules, sizeof *w.rules);
    return result;
}
