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

static void walk_one(const walk *w, const uint8_t *bytes, uint32_t size)
{
    const vy_automaton *a = &w->catalogue->automata[0];
    uint32_t state = 0;
    for (uint32_t at = 0; at < size; at++) {
        state = a->transitions[(size_t)state * a->class_count + a->classes[bytes[at]]];
        uint32_t first = a->output_offsets[state], end = a->output_offsets[state + 1];
        if (first < end && give(w, at, a->outputs + first, end - first)) {
            return;
        }
    }
}

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
    if (catalogue->automaton_count == 1) {
        walk_one(&w, bytes, (uint32_t)size);
    }
    if (catalogue->automaton_count <= 1) {
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
