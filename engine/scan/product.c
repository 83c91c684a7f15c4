/* Two automata side by side as one: its states are the pairs that the two starts reach together,
 * numbered breadth-first. */
#include "engine/scan/automaton.h"

#include <string.h>

typedef struct product {
    vyre_allocator allocator;
    const vy_automaton *a, *b;
    uint32_t class_count;
    uint8_t classes[256];
    uint32_t a_classes[256], b_classes[256]; /* of each class */
    uint32_t *a_states, *b_states;           /* of each state */
    uint32_t *transitions;
    uint32_t *slots; /* by pair: a state + 1; 0: free */
    uint32_t state_count, capacity, slot_count;
} product;

static void join_classes(product *p)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t a = p->a->classes[byte], b = p->b->classes[byte], at = 0;
        while (at < p->class_count && (p->a_classes[at] != a || p->b_classes[at] != b)) {
            at++;
        }
        if (at == p->class_count) {
            p->a_classes[at] = a;
            p->b_classes[at] = b;
            p->class_count++;
        }
        p->classes[byte] = (uint8_t)at;
    }
}

/* ---- States ---------------------------------------------------------------------------------- */

static uint32_t slot_of(const product *p, uint32_t a, uint32_t b)
{
    uint32_t mask = p->slot_count - 1;
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t at = (uint32_t)((key * VY_HASH_MULTIPLIER) >> 32) & mask;
    while (p->slots[at] &&
           (p->a_states[p->slots[at] - 1] != a || p->b_states[p->slots[at] - 1] != b)) {
        at = (at + 1) & mask;
    }
    return at;
}

static bool resize(const vyre_allocator *allocator, uint32_t **words, size_t old_count,
                   size_t count)
{
    uint32_t *grown =
        vy_realloc(allocator, *words, old_count * sizeof **words, count * sizeof **words);
    if (!grown) {
        return false;
    }
    *words = grown;
    return true;
}

static bool grow(product *p)
{
    const vyre_allocator *allocator = &p->allocator;
    size_t old = p->capacity, capacity = old ? 2 * old : 64, classes = p->class_count;
    if (!resize(allocator, &p->a_states, old, capacity)) {
        return false;
    }
    if (!resize(allocator, &p->b_states, old, capacity)) {
        vy_free(allocator, p->a_states, capacity * sizeof *p->a_states);
        p->a_states = NULL;
        return false;
    }
    if (!resize(allocator, &p->transitions, old * classes, capacity * classes)) {
        vy_free(allocator, p->a_states, capacity * sizeof *p->a_states);
        vy_free(allocator, p->b_states, capacity * sizeof *p->b_states);
        p->a_states = p->b_states = NULL;
        return false;
    }
    p->capacity = (uint32_t)capacity;
    uint32_t *slots = vy_alloc_zeroed(allocator, 2 * capacity, sizeof *slots);
    if (!slots) {
        return false;
    }
    vy_free(allocator, p->slots, p->slot_count * sizeof *p->slots);
    p->slots = slots;
    p->slot_count = (uint32_t)(2 * capacity);
    for (uint32_t s = 0; s < p->state_count; s++) {
        slots[slot_of(p, p->a_states[s], p->b_states[s])] = s + 1;
    }
    return true;
}

static void finish(product *p)
{
    size_t capacity = p->capacity;
    vy_free(&p->allocator, p->a_states, capacity * sizeof *p->a_states);
    vy_free(&p->allocator, p->b_states, capacity * sizeof *p->b_states);
    vy_free(&p->allocator, p->transitions, capacity * p->class_count * sizeof *p->transitions);
    vy_free(&p->allocator, p->slots, p->slot_count * sizeof *p->slots);
}

/* The number of a pair, which it gets where it has none; false where there is no memory. */
static bool number_of(product *p, uint32_t a, uint32_t b, uint32_t *out_state)
{
    if (p->state_count == p->capacity && !grow(p)) {
        return false;
    }
    uint32_t slot = slot_of(p, a, b);
    if (p->slots[slot] == 0) {
        p->a_states[p->state_count] = a;
        p->b_states[p->state_count] = b;
        p->slots[slot] = ++p->state_count;
    }
    *out_state = p->slots[slot] - 1;
    return true;
}

static vyre_result walk(product *p, uint32_t max_states, uint64_t max_size, vy_product_fit *out_fit,
                        vyre_diag *diag)
{
    uint32_t state = 0;
    uint64_t row_size = (p->class_count + 1ull) * sizeof(uint32_t);
    if (!number_of(p, 0, 0, &state)) {
        return vy_diag_no_memory(diag);
    }
    for (uint32_t s = 0; s < p->state_count; s++) {
        for (uint32_t c = 0; c < p->class_count; c++) {
            uint32_t a =
                p->a->transitions[(size_t)p->a_states[s] * p->a->class_count + p->a_classes[c]];
            uint32_t b =
                p->b->transitions[(size_t)p->b_states[s] * p->b->class_count + p->b_classes[c]];
            if (!number_of(p, a, b, &state)) {
                return vy_diag_no_memory(diag);
            }
            p->transitions[(size_t)s * p->class_count + c] = state;
        }
        if (p->state_count > max_states || p->state_count * row_size > max_size) {
            *out_fit = p->state_count > max_states ? VY_PRODUCT_STATES : VY_PRODUCT_SIZE;
            return VYRE_OK;
        }
    }
    *out_fit =
        (uint64_t)p->state_count * p->class_count > UINT32_MAX ? VY_PRODUCT_SIZE : VY_PRODUCT_FITS;
    return VYRE_OK;
}

/* ---- The automaton --------------------------------------------------------------------------- */

static uint32_t output_count(const vy_automaton *a, uint32_t state)
{
    return a->output_offsets[state + 1] - a->output_offsets[state];
}

static void fill_outputs(const product *p, vy_automaton *out)
{
    uint32_t at = 0;
    for (uint32_t s = 0; s < p->state_count; s++) {
        uint32_t i = p->a->output_offsets[p->a_states[s]];
        uint32_t k = p->b->output_offsets[p->b_states[s]];
        uint32_t i_end = p->a->output_offsets[p->a_states[s] + 1];
        uint32_t k_end = p->b->output_offsets[p->b_states[s] + 1];
        while (i < i_end || k < k_end) {
            bool is_a = k == k_end || (i < i_end && p->a->outputs[i] < p->b->outputs[k]);
            out->outputs[at++] = is_a ? p->a->outputs[i++] : p->b->outputs[k++];
        }
    }
}

static vyre_result fill(product *p, uint64_t max_size, vy_automaton *out, vy_product_fit *out_fit,
                        vyre_diag *diag)
{
    const vyre_allocator *allocator = &p->allocator;
    size_t states = p->state_count, entries = states * p->class_count;
    uint64_t total = 0;
    for (uint32_t s = 0; s < p->state_count; s++) {
        total += output_count(p->a, p->a_states[s]) + (uint64_t)output_count(p->b, p->b_states[s]);
    }
    uint64_t size = sizeof out->classes + sizeof(uint32_t) * (entries + states + 1 + total);
    if (total > UINT32_MAX || size > max_size) {
        *out_fit = VY_PRODUCT_SIZE;
        return VYRE_OK;
    }
    out->state_count = p->state_count;
    out->class_count = p->class_count;
    out->overlap = p->a->overlap > p->b->overlap ? p->a->overlap : p->b->overlap;
    memcpy(out->classes, p->classes, sizeof out->classes);
    out->transitions = vy_scan_alloc(allocator, entries, sizeof *out->transitions);
    out->output_offsets = vy_scan_alloc(allocator, states + 1, sizeof *out->output_offsets);
    if (!out->transitions || !out->output_offsets) {
        return vy_diag_no_memory(diag);
    }
    memcpy(out->transitions, p->transitions, entries * sizeof *out->transitions);
    out->output_offsets[0] = 0;
    for (uint32_t s = 0; s < p->state_count; s++) {
        out->output_offsets[s + 1] = out->output_offsets[s] + output_count(p->a, p->a_states[s]) +
                                     output_count(p->b, p->b_states[s]);
    }
    out->outputs = vy_scan_alloc(allocator, (size_t)total, sizeof *out->outputs);
    if (!out->outputs) {
        return vy_diag_no_memory(diag);
    }
    fill_outputs(p, out);
    return VYRE_OK;
}

vyre_result vy_automaton_multiply(const vyre_allocator *allocator, const vy_automaton *a,
                                  const vy_automaton *b, uint32_t max_states, uint64_t max_size,
                                  vy_automaton *out, vy_product_fit *out_fit, vyre_diag *diag)
{
    product p = {.allocator = *allocator, .a = a, .b = b};
    *out = (vy_automaton){0};
    *out_fit = VY_PRODUCT_STATES;
    if (a->state_count > max_states || b->state_count > max_states) {
        return VYRE_OK; /* every state of each is one of the product's */
    }
    join_classes(&p);
    vyre_result result = walk(&p, max_states, max_size, out_fit, diag);
    if (result == VYRE_OK && *out_fit == VY_PRODUCT_FITS) {
        result = fill(&p, max_size, out, out_fit, diag);
    }
    finish(&p);
    if (result != VYRE_OK) {
        vy_automaton_finish(out, allocator);
    }
    return result;
}
