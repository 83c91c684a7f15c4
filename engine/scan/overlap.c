/* After how many bytes the state no longer depends on where scanning began.
 *
 * That is so once every two states that can have been there before are one: the longest way from a
 * pair of the start and another state to a pair of equal states. A pair that is met on its own way
 * goes round for ever, and then no number of bytes is enough. */
#include "engine/scan/automaton.h"

#define MAX_PAIRS   1000000u
#define ON_THE_WAY  UINT32_MAX
#define FIRST_SLOTS 1024u

/* Two different states, the smaller one first. */
typedef struct pair {
    uint32_t a, b;
    uint32_t length; /* of the longest way from here, at least 1; ON_THE_WAY */
} pair;

typedef struct step {
    uint32_t pair, next_class, longest;
} step;

typedef struct search {
    const vy_automaton *automaton;
    vy_arena arena;
    VY_VEC(pair) pairs;
    VY_VEC(step) steps;
    uint32_t *slots; /* a pair's index + 1; 0: free */
    uint32_t slot_count;
} search;

static uint32_t slot_of(const search *s, uint32_t a, uint32_t b)
{
    uint32_t mask = s->slot_count - 1;
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t at = (uint32_t)((key * VY_HASH_MULTIPLIER) >> 40) & mask;
    while (s->slots[at]) {
        const pair *p = &s->pairs.data[s->slots[at] - 1];
        if (p->a == a && p->b == b) {
            break;
        }
        at = (at + 1) & mask;
    }
    return at;
}

/* At most half of the slots are taken. */
static bool grow(search *s)
{
    if (2 * s->pairs.count < s->slot_count) {
        return true;
    }
    uint32_t count = s->slot_count ? 4 * s->slot_count : FIRST_SLOTS;
    s->slots = vy_arena_alloc(&s->arena, count, sizeof *s->slots);
    if (!s->slots) {
        return false;
    }
    s->slot_count = count;
    for (uint32_t i = 0; i < s->pairs.count; i++) {
        s->slots[slot_of(s, s->pairs.data[i].a, s->pairs.data[i].b)] = i + 1;
    }
    return true;
}

typedef enum outcome { FOUND, ENDLESS, NO_MEMORY } outcome;

/* Goes on with a pair that may be known: *out_length is that of its longest way, or 0 where it was
 * put on the way. */
static outcome enter(search *s, uint32_t a, uint32_t b, uint32_t *out_length)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (!grow(s)) {
        return NO_MEMORY;
    }
    uint32_t slot = slot_of(s, low, high);
    *out_length = 0;
    if (s->slots[slot]) {
        *out_length = s->pairs.data[s->slots[slot] - 1].length;
        return *out_length == ON_THE_WAY ? ENDLESS : FOUND;
    }
    if (s->pairs.count == MAX_PAIRS) {
        return ENDLESS;
    }
    if (!vy_vec_push(&s->arena, &s->pairs, (pair){low, high, ON_THE_WAY}) ||
        !vy_vec_push(&s->arena, &s->steps, (step){s->pairs.count - 1, 0, 0})) {
        return NO_MEMORY;
    }
    s->slots[slot] = s->pairs.count;
    return FOUND;
}

/* The longest way from one pair; those that it meets are known from then on. */
static outcome follow(search *s, uint32_t a, uint32_t b, uint32_t *out_length)
{
    const vy_automaton *m = s->automaton;
    outcome result = enter(s, a, b, out_length);
    while (result == FOUND && s->steps.count) {
        step *top = &s->steps.data[s->steps.count - 1];
        pair *p = &s->pairs.data[top->pair];
        if (top->next_class == m->class_count) {
            *out_length = p->length = top->longest + 1;
            s->steps.count--;
            if (s->steps.count) {
                step *below = &s->steps.data[s->steps.count - 1];
                below->longest = p->length > below->longest ? p->length : below->longest;
            }
            continue;
        }
        uint32_t class = top->next_class++, length = 0;
        uint32_t to_a = m->transitions[(size_t)p->a * m->class_count + class];
        uint32_t to_b = m->transitions[(size_t)p->b * m->class_count + class];
        if (to_a != to_b) {
            result = enter(s, to_a, to_b, &length);
            /* Where it was entered anew, `top` may have moved; it has nothing to take then. */
            if (result == FOUND && length > 0 && length > top->longest) {
                top->longest = length;
            }
        }
    }
    return result;
}

vyre_result vy_automaton_find_overlap(const vyre_allocator *allocator,
                                      const vy_automaton *automaton, uint32_t *out_overlap,
                                      vyre_diag *diag)
{
    search s = {.automaton = automaton};
    outcome result = FOUND;
    uint32_t most = 0;
    vy_arena_init(&s.arena, allocator);
    for (uint32_t q = 1; result == FOUND && q < automaton->state_count; q++) {
        uint32_t length = 0;
        result = follow(&s, 0, q, &length);
        most = length > most ? length : most;
    }
    vy_arena_finish(&s.arena);
    *out_overlap = result == FOUND ? most : VYRE_OVERLAP_NONE;
    return result == NO_MEMORY ? vy_diag_no_memory(diag) : VYRE_OK;
}
