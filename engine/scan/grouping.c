/* Which automata become one. A heap gives the two smallest, which are combined and put back, so
 * that no state is walked more often than there are levels of pairs. */
#include "engine/scan/automaton.h"

/* Pairs that turned out too large, until no more are tried: each takes as long as one that fits. */
#define MAX_FAILURES 32u

typedef struct grouping {
    vy_automata *automata; /* those that are in others by now have no states */
    uint32_t max_states;
    uint64_t max_size;
    vyre_diag *diag;
    uint32_t *heap, *parked; /* of indices: the smallest first; what did not fit with another */
    uint32_t heap_count, parked_count, failure_count;
} grouping;

/* ---- The heap -------------------------------------------------------------------------------- */

static bool is_before(const grouping *g, uint32_t i, uint32_t k)
{
    uint32_t a = g->automata->list[i].state_count, b = g->automata->list[k].state_count;
    return a != b ? a < b : i < k;
}

static void push(grouping *g, uint32_t index)
{
    uint32_t at = g->heap_count++;
    while (at > 0 && is_before(g, index, g->heap[(at - 1) / 2])) {
        g->heap[at] = g->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    g->heap[at] = index;
}

static uint32_t pop(grouping *g)
{
    uint32_t smallest = g->heap[0], last = g->heap[--g->heap_count], at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= g->heap_count) {
            break;
        }
        if (child + 1 < g->heap_count && is_before(g, g->heap[child + 1], g->heap[child])) {
            child++;
        }
        if (!is_before(g, g->heap[child], last)) {
            break;
        }
        g->heap[at] = g->heap[child];
        at = child;
    }
    g->heap[at] = last;
    return smallest;
}

/* ---- Combining ------------------------------------------------------------------------------- */

/* Puts the product of two in the place of the first. */
static vyre_result combine(grouping *g, uint32_t into, uint32_t from, vy_product_fit *out_fit)
{
    vy_automaton *list = g->automata->list, made;
    const vyre_allocator *allocator = &g->automata->allocator;
    vyre_result result = vy_automaton_multiply(allocator, &list[into], &list[from], g->max_states,
                                               g->max_size, &made, out_fit, g->diag);
    if (result == VYRE_OK && *out_fit == VY_PRODUCT_FITS) {
        vy_automaton_finish(&list[into], allocator);
        vy_automaton_finish(&list[from], allocator);
        list[into] = made;
    }
    return result;
}

static vyre_result too_large(const grouping *g, vy_product_fit fit)
{
    if (fit == VY_PRODUCT_SIZE) {
        return vy_scan_too_large(g->diag, g->max_size);
    }
    return vy_diag_set(g->diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                       "the patterns as one automaton (VYRE_GROUPING_COMBINED) would have more "
                       "than %u states (max_states). Fix: use VYRE_GROUPING_AUTO, which makes "
                       "several automata where one is not enough, or raise max_states",
                       (unsigned)g->max_states);
}

/* Combines the two smallest until one is left; those that do not fit together are parked. */
static vyre_result combine_smallest(grouping *g, vyre_grouping how)
{
    while (g->heap_count > 1) {
        vy_product_fit fit = VY_PRODUCT_STATES;
        uint32_t first = pop(g), second = pop(g);
        uint32_t into = first < second ? first : second, from = first < second ? second : first;
        bool is_tried = g->failure_count < MAX_FAILURES;
        vyre_result result = is_tried ? combine(g, into, from, &fit) : VYRE_OK;
        if (result != VYRE_OK) {
            return result;
        }
        if (fit == VY_PRODUCT_FITS) {
            push(g, into);
            continue;
        }
        if (how == VYRE_GROUPING_COMBINED) {
            return too_large(g, fit);
        }
        g->failure_count++;
        g->parked[g->parked_count++] = first;
        g->parked[g->parked_count++] = second;
    }
    if (g->heap_count) {
        g->parked[g->parked_count++] = pop(g);
    }
    return VYRE_OK;
}

/* Combines each that was parked with the first that it fits with. */
static vyre_result combine_parked(grouping *g)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->parked_count; i++) {
        vy_product_fit fit = VY_PRODUCT_STATES;
        for (uint32_t k = 0; k < kept && fit != VY_PRODUCT_FITS && g->failure_count < MAX_FAILURES;
             k++) {
            vyre_result result = combine(g, g->parked[k], g->parked[i], &fit);
            if (result != VYRE_OK) {
                return result;
            }
            g->failure_count += fit != VY_PRODUCT_FITS;
        }
        if (fit != VY_PRODUCT_FITS) {
            g->parked[kept++] = g->parked[i];
        }
    }
    return VYRE_OK;
}

vyre_result vy_automata_combine(vy_automata *automata, vyre_grouping how, uint32_t max_states,
                                uint64_t max_size, vyre_diag *diag)
{
    const vyre_allocator *allocator = &automata->allocator;
    uint32_t count = automata->count, kept = 0;
    grouping g = {automata, max_states, max_size, diag, NULL, NULL, 0, 0, 0};
    vyre_result result = VYRE_OK;
    if (count < 2) {
        return VYRE_OK;
    }
    g.heap = vy_scan_alloc(allocator, count, sizeof *g.heap);
    g.parked = vy_scan_alloc(allocator, count, sizeof *g.parked);
    if (g.heap && g.parked) {
        for (uint32_t i = 0; i < count; i++) {
            push(&g, i);
        }
        result = combine_smallest(&g, how);
        result = result == VYRE_OK ? combine_parked(&g) : result;
    } else {
        result = vy_diag_no_memory(diag);
    }
    vy_scan_free(allocator, g.heap, count, sizeof *g.heap);
    vy_scan_free(allocator, g.parked, count, sizeof *g.parked);
    for (uint32_t i = 0; i < count; i++) {
        if (automata->list[i].state_count) {
            automata->list[kept++] = automata->list[i];
        }
    }
    automata->count = kept;
    return result;
}
