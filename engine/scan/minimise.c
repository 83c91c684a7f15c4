/* A pattern's automaton made small: states that cannot be reached are left out, states that nothing
 * tells apart are one (Hopcroft's partition refinement), bytes with equal columns are one class.
 * States are numbered breadth-first and classes by their first bytes, so that automata of the same
 * language come out as the same arrays. */
#include "engine/scan/automaton.h"
#include "engine/scan/classes.h"

#include <string.h>

#define NO_STATE UINT32_MAX

/* A dense table over classes. */
typedef struct table {
    uint32_t state_count, class_count;
    const uint32_t *transitions;
    const uint8_t *accepts;
    uint8_t classes[256];
} table;

/* ---- What can be reached --------------------------------------------------------------------- */

/* Numbers the states that state 0 reaches in breadth-first order: out_order[number] is the state,
 * out_numbers[state] its number or NO_STATE. */
static uint32_t number_states(const uint32_t *transitions, uint32_t state_count, uint32_t width,
                              uint32_t *out_order, uint32_t *out_numbers)
{
    uint32_t count = 1;
    for (uint32_t s = 0; s < state_count; s++) {
        out_numbers[s] = NO_STATE;
    }
    out_order[0] = out_numbers[0] = 0;
    for (uint32_t at = 0; at < count; at++) {
        const uint32_t *row = transitions + (size_t)out_order[at] * width;
        for (uint32_t c = 0; c < width; c++) {
            if (out_numbers[row[c]] == NO_STATE) {
                out_numbers[row[c]] = count;
                out_order[count++] = row[c];
            }
        }
    }
    return count;
}

/* Merges columns and renumbers states: the canonical form of what the rows say. */
static bool tidy(vy_arena *arena, const table *from, table *out)
{
    uint32_t merged[256], first[256];
    uint32_t *order = vy_arena_alloc(arena, from->state_count, sizeof *order);
    uint32_t *numbers = vy_arena_alloc(arena, from->state_count, sizeof *numbers);
    if (!order || !numbers) {
        return false;
    }
    uint32_t width = from->class_count;
    uint32_t states = number_states(from->transitions, from->state_count, width, order, numbers);
    uint32_t *rows = vy_arena_alloc(arena, states, width * sizeof *rows);
    uint8_t *accepts = vy_arena_alloc(arena, states, sizeof *accepts);
    if (!rows || !accepts) {
        return false;
    }
    for (uint32_t s = 0; s < states; s++) {
        const uint32_t *row = from->transitions + (size_t)order[s] * width;
        for (uint32_t c = 0; c < width; c++) {
            rows[(size_t)s * width + c] = numbers[row[c]];
        }
        accepts[s] = from->accepts[order[s]] != 0;
    }
    out->state_count = states;
    out->class_count = vy_columns_merge(rows, states, width, merged);
    for (uint32_t b = 0; b < 256; b++) {
        out->classes[b] = (uint8_t)merged[from->classes[b]];
    }
    for (uint32_t c = width; c-- > 0;) {
        first[merged[c]] = c;
    }
    for (uint32_t s = 0; s < states; s++) { /* in place: what is read lies behind */
        for (uint32_t c = 0; c < out->class_count; c++) {
            rows[(size_t)s * out->class_count + c] = rows[(size_t)s * width + first[c]];
        }
    }
    out->transitions = rows;
    out->accepts = accepts;
    return true;
}

/* ---- Partition refinement -------------------------------------------------------------------- */

typedef struct refinement {
    uint32_t *elements, *places; /* states by block; of each state its place among them */
    uint32_t *blocks;            /* of each state */
    uint32_t *firsts, *ends;     /* of each block, in `elements` */
    uint32_t *marked;            /* of each block: so many of its first elements */
    uint32_t *touched, touched_count;
    uint32_t *work, work_count;  /* blocks that others are still to be split by */
    uint32_t *members;           /* of the block that they are split by */
    uint32_t *offsets, *sources; /* (class, target): the states that lead there */
    uint32_t block_count;
} refinement;

static bool find_sources(vy_arena *arena, const table *t, refinement *r)
{
    size_t states = t->state_count, classes = t->class_count;
    r->offsets = vy_arena_alloc(arena, classes, (states + 1) * sizeof *r->offsets);
    r->sources = vy_arena_alloc(arena, classes, states * sizeof *r->sources);
    if (!r->offsets || !r->sources) {
        return false;
    }
    for (size_t c = 0; c < classes; c++) {
        uint32_t *offsets = r->offsets + c * (states + 1);
        for (size_t s = 0; s < states; s++) {
            offsets[t->transitions[s * classes + c]]++;
        }
        uint32_t total = 0;
        for (size_t s = 0; s < states; s++) {
            total += offsets[s];
            offsets[s] = total;
        }
        offsets[states] = total;
        for (size_t s = states; s-- > 0;) {
            r->sources[c * states + --offsets[t->transitions[s * classes + c]]] = (uint32_t)s;
        }
    }
    return true;
}

static void mark(refinement *r, uint32_t state)
{
    uint32_t block = r->blocks[state], from = r->places[state];
    uint32_t to = r->firsts[block] + r->marked[block];
    if (from < to) {
        return;
    }
    r->elements[from] = r->elements[to];
    r->places[r->elements[from]] = from;
    r->elements[to] = state;
    r->places[state] = to;
    if (r->marked[block]++ == 0) {
        r->touched[r->touched_count++] = block;
    }
}

/* Makes the smaller part of each block that is marked in part a block of its own, which others are
 * to be split by: if the whole block was, so are both parts; if not, the smaller one is enough. */
static void split(refinement *r)
{
    while (r->touched_count) {
        uint32_t block = r->touched[--r->touched_count];
        uint32_t first = r->firsts[block], end = r->ends[block];
        uint32_t middle = first + r->marked[block], made = r->block_count;
        r->marked[block] = 0;
        if (middle == end) {
            continue;
        }
        r->block_count++;
        if (middle - first <= end - middle) {
            r->firsts[made] = first;
            r->ends[made] = r->firsts[block] = middle;
        } else {
            r->firsts[made] = r->ends[block] = middle;
            r->ends[made] = end;
        }
        for (uint32_t i = r->firsts[made]; i < r->ends[made]; i++) {
            r->blocks[r->elements[i]] = made;
        }
        r->work[r->work_count++] = made;
    }
}

static void refine(const table *t, refinement *r)
{
    size_t states = t->state_count;
    while (r->work_count) {
        uint32_t block = r->work[--r->work_count];
        uint32_t count = r->ends[block] - r->firsts[block];
        /* A copy: the block itself may be split by its own members. */
        memcpy(r->members, r->elements + r->firsts[block], count * sizeof *r->members);
        for (size_t c = 0; c < t->class_count; c++) {
            const uint32_t *offsets = r->offsets + c * (states + 1);
            const uint32_t *sources = r->sources + c * states;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t target = r->members[i];
                for (uint32_t k = offsets[target]; k < offsets[target + 1]; k++) {
                    mark(r, sources[k]);
                }
            }
            split(r);
        }
    }
}

static bool make_blocks(vy_arena *arena, const table *t, refinement *r)
{
    uint32_t **const arrays[] = {&r->elements, &r->places,  &r->blocks, &r->firsts, &r->ends,
                                 &r->marked,   &r->touched, &r->work,   &r->members};
    uint32_t states = t->state_count;
    for (size_t i = 0; i < VY_COUNT_OF(arrays); i++) {
        *arrays[i] = vy_arena_alloc(arena, states, sizeof **arrays[i]);
        if (!*arrays[i]) {
            return false;
        }
    }
    if (!find_sources(arena, t, r)) {
        return false;
    }
    for (uint32_t s = 0; s < states; s++) {
        r->elements[s] = r->places[s] = s;
    }
    r->ends[0] = states;
    r->block_count = 1;
    for (uint32_t s = 0; s < states; s++) {
        if (t->accepts[s]) {
            mark(r, s);
        }
    }
    split(r);
    refine(t, r);
    return true;
}

/* One state for each block; that of state 0 is the first. */
static bool merge_states(vy_arena *arena, const table *from, table *out)
{
    refinement r = {0};
    if (!make_blocks(arena, from, &r)) {
        return false;
    }
    size_t classes = from->class_count;
    uint32_t start = r.blocks[0];
    out->state_count = r.block_count;
    out->class_count = from->class_count;
    memcpy(out->classes, from->classes, sizeof out->classes);
    uint32_t *rows = vy_arena_alloc(arena, r.block_count, classes * sizeof *rows);
    uint8_t *accepts = vy_arena_alloc(arena, r.block_count, sizeof *accepts);
    if (!rows || !accepts) {
        return false;
    }
    for (uint32_t s = 0; s < from->state_count; s++) { /* block 0 and that of the start change */
        uint32_t block = r.blocks[s];
        r.blocks[s] = block == start ? 0 : (block == 0 ? start : block);
    }
    for (uint32_t s = 0; s < from->state_count; s++) {
        uint32_t block = r.blocks[s];
        accepts[block] = from->accepts[s];
        for (size_t c = 0; c < classes; c++) {
            rows[block * classes + c] = r.blocks[from->transitions[s * classes + c]];
        }
    }
    out->transitions = rows;
    out->accepts = accepts;
    return true;
}

/* ---- The automaton --------------------------------------------------------------------------- */

static bool copy_out(const vyre_allocator *allocator, const table *t, vy_automaton *out)
{
    size_t entries = (size_t)t->state_count * t->class_count;
    uint32_t accepting = 0;
    for (uint32_t s = 0; s < t->state_count; s++) {
        accepting += t->accepts[s];
    }
    *out = (vy_automaton){
        .state_count = t->state_count, .class_count = t->class_count, .overlap = VYRE_OVERLAP_NONE};
    memcpy(out->classes, t->classes, sizeof out->classes);
    out->transitions = vy_scan_alloc(allocator, entries, sizeof *out->transitions);
    out->output_offsets =
        vy_alloc_zeroed(allocator, t->state_count + 1u, sizeof *out->output_offsets);
    if (!out->transitions || !out->output_offsets) {
        return false;
    }
    memcpy(out->transitions, t->transitions, entries * sizeof *out->transitions);
    for (uint32_t s = 0; s < t->state_count; s++) {
        out->output_offsets[s + 1] = out->output_offsets[s] + t->accepts[s];
    }
    out->outputs = vy_scan_alloc(allocator, accepting, sizeof *out->outputs);
    if (!out->outputs) {
        return false;
    }
    memset(out->outputs, 0, accepting * sizeof *out->outputs);
    return true;
}

vyre_result vy_automaton_make(const vyre_allocator *allocator, const uint32_t *transitions,
                              const uint8_t *accepts, uint32_t state_count, vy_automaton *out,
                              vyre_diag *diag)
{
    vy_arena arena;
    table given = {state_count, 256, transitions, accepts, {0}}, reached, merged, done;
    *out = (vy_automaton){0};
    vy_arena_init(&arena, allocator);
    for (uint32_t b = 0; b < 256; b++) {
        given.classes[b] = (uint8_t)b;
    }
    bool is_done = tidy(&arena, &given, &reached) && merge_states(&arena, &reached, &merged) &&
                   tidy(&arena, &merged, &done) && copy_out(allocator, &done, out);
    vy_arena_finish(&arena);
    if (!is_done) {
        vy_automaton_finish(out, allocator);
        return vy_diag_no_memory(diag);
    }
    return VYRE_OK;
}
