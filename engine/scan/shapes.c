/* Patterns that are found by equal automata share one. Automata of one thing have one form each
 * (minimise.c, literals.c), so that equal languages are equal arrays. */
#include "engine/scan/automaton.h"

#include <string.h>

#define NO_RULE UINT32_MAX

vyre_result vy_shapes_init(vy_shapes *shapes, const vyre_allocator *allocator, uint32_t rule_count,
                           uint64_t max_size, uint64_t max_total, vyre_diag *diag)
{
    *shapes = (vy_shapes){.automata = {.allocator = *allocator},
                          .rule_count = rule_count,
                          .max_size = max_size,
                          .max_total = max_total};
    shapes->next_rule = vy_scan_alloc(allocator, rule_count, sizeof *shapes->next_rule);
    return shapes->next_rule ? VYRE_OK : vy_diag_no_memory(diag);
}

void vy_shapes_finish(vy_shapes *shapes)
{
    const vyre_allocator *allocator = &shapes->automata.allocator;
    vy_automata_finish(&shapes->automata);
    vy_free(allocator, shapes->first_rule, shapes->shape_capacity * sizeof *shapes->first_rule);
    vy_free(allocator, shapes->last_rule, shapes->shape_capacity * sizeof *shapes->last_rule);
    vy_free(allocator, shapes->slots, shapes->slot_count * sizeof *shapes->slots);
    vy_scan_free(allocator, shapes->next_rule, shapes->rule_count, sizeof *shapes->next_rule);
    *shapes = (vy_shapes){.automata = {.allocator = *allocator}};
}

/* ---- Finding equal ones ---------------------------------------------------------------------- */

static uint64_t hash_of(const vy_automaton *a)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_automaton_hash(a, &hash);
    return vy_hash_value(&hash);
}

static bool is_equal(const vy_automaton *a, const vy_automaton *b)
{
    size_t states = a->state_count;
    return a->state_count == b->state_count && a->class_count == b->class_count &&
           memcmp(a->classes, b->classes, sizeof a->classes) == 0 &&
           memcmp(a->transitions, b->transitions,
                  states * a->class_count * sizeof *a->transitions) == 0 &&
           memcmp(a->output_offsets, b->output_offsets, (states + 1) * sizeof *a->output_offsets) ==
               0;
}

/* The slot of an equal automaton, or the free one where it belongs. */
static uint32_t find_slot(const vy_shapes *shapes, const vy_automaton *a)
{
    uint32_t mask = shapes->slot_count - 1;
    uint32_t at = (uint32_t)hash_of(a) & mask;
    while (shapes->slots[at] && !is_equal(&shapes->automata.list[shapes->slots[at] - 1], a)) {
        at = (at + 1) & mask;
    }
    return at;
}

/* Room for one more shape, and at most half of the slots taken. */
static bool grow(vy_shapes *shapes)
{
    const vyre_allocator *allocator = &shapes->automata.allocator;
    uint32_t count = shapes->automata.count;
    if (count < shapes->shape_capacity) {
        return true;
    }
    uint32_t capacity = count ? 2 * count : 4;
    size_t old_size = shapes->shape_capacity * sizeof(uint32_t), size = capacity * sizeof(uint32_t);
    if (capacity > UINT32_MAX / 4) {
        return false;
    }
    uint32_t *slots = vy_alloc_zeroed(allocator, 2 * (size_t)capacity, sizeof *slots);
    uint32_t *first = vy_realloc(allocator, NULL, 0, size);
    uint32_t *last = vy_realloc(allocator, NULL, 0, size);
    if (!slots || !first || !last) {
        vy_free(allocator, slots, 2 * size);
        vy_free(allocator, first, size);
        vy_free(allocator, last, size);
        return false;
    }
    if (count) {
        memcpy(first, shapes->first_rule, old_size);
        memcpy(last, shapes->last_rule, old_size);
    }
    vy_free(allocator, shapes->first_rule, old_size);
    vy_free(allocator, shapes->last_rule, old_size);
    vy_free(allocator, shapes->slots, shapes->slot_count * sizeof *slots);
    shapes->first_rule = first;
    shapes->last_rule = last;
    shapes->shape_capacity = capacity;
    shapes->slots = slots;
    shapes->slot_count = 2 * capacity;
    for (uint32_t i = 0; i < count; i++) {
        slots[find_slot(shapes, &shapes->automata.list[i])] = i + 1;
    }
    return true;
}

vyre_result vy_shapes_add(vy_shapes *shapes, vy_automaton *automaton, uint32_t rule,
                          vyre_diag *diag)
{
    const vyre_allocator *allocator = &shapes->automata.allocator;
    if (!grow(shapes)) {
        vy_automaton_finish(automaton, allocator);
        return vy_diag_no_memory(diag);
    }
    uint32_t accept_count = automaton->output_offsets[automaton->state_count];
    uint32_t slot = find_slot(shapes, automaton), shape = shapes->slots[slot];
    uint64_t more =
        shape ? accept_count * (uint64_t)sizeof(uint32_t) : vy_automaton_size(automaton);
    if (more > shapes->max_size || more > shapes->max_total - shapes->size) {
        vy_automaton_finish(automaton, allocator);
        return vy_scan_too_large(diag, shapes->max_size);
    }
    shapes->size += more;
    shapes->next_rule[rule] = NO_RULE;
    if (shape) {
        vy_automaton *known = &shapes->automata.list[shape - 1];
        known->overlap = automaton->overlap < known->overlap ? automaton->overlap : known->overlap;
        vy_automaton_finish(automaton, allocator);
        shapes->next_rule[shapes->last_rule[shape - 1]] = rule;
        shapes->last_rule[shape - 1] = rule;
        return VYRE_OK;
    }
    if (!vy_automata_add(&shapes->automata, automaton)) {
        return vy_diag_no_memory(diag);
    }
    shape = shapes->automata.count;
    shapes->slots[slot] = shape;
    shapes->first_rule[shape - 1] = shapes->last_rule[shape - 1] = rule;
    return VYRE_OK;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static vyre_result give_rules(const vy_shapes *shapes, uint32_t shape, vyre_diag *diag)
{
    vy_automaton *a = &shapes->automata.list[shape];
    const vyre_allocator *allocator = &shapes->automata.allocator;
    uint32_t rule_count = 0, accept_count = a->output_offsets[a->state_count];
    for (uint32_t r = shapes->first_rule[shape]; r != NO_RULE; r = shapes->next_rule[r]) {
        rule_count++;
    }
    uint64_t total = (uint64_t)accept_count * rule_count;
    if (total > UINT32_MAX || total * sizeof *a->outputs > shapes->max_size) {
        return vy_scan_too_large(diag, shapes->max_size);
    }
    uint32_t *outputs = vy_scan_alloc(allocator, (size_t)total, sizeof *outputs);
    if (!outputs) {
        return vy_diag_no_memory(diag);
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < accept_count; i++) {
        for (uint32_t r = shapes->first_rule[shape]; r != NO_RULE; r = shapes->next_rule[r]) {
            outputs[at++] = r;
        }
    }
    vy_scan_free(allocator, a->outputs, accept_count, sizeof *outputs);
    a->outputs = outputs;
    for (uint32_t s = 0; s <= a->state_count; s++) {
        a->output_offsets[s] *= rule_count;
    }
    return VYRE_OK;
}

vyre_result vy_shapes_take(vy_shapes *shapes, vy_automata *out, vyre_diag *diag)
{
    for (uint32_t i = 0; i < shapes->automata.count; i++) {
        vy_automaton *a = &shapes->automata.list[i];
        vyre_result result = VYRE_OK;
        if (a->overlap == VYRE_OVERLAP_NONE) {
            result = vy_automaton_find_overlap(&out->allocator, a, &a->overlap, diag);
        }
        result = result == VYRE_OK ? give_rules(shapes, i, diag) : result;
        if (result != VYRE_OK) {
            return result;
        }
        if (!vy_automata_add(out, &shapes->automata.list[i])) {
            return vy_diag_no_memory(diag);
        }
    }
    return VYRE_OK;
}
