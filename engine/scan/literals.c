/* Literals made into one automaton, by Aho and Corasick's construction with a full table.
 *
 * The trie is built breadth-first: the literals that begin with a node's bytes are a range of
 * `order`, which a counting sort by the next byte cuts into those of its children. That is linear
 * in the bytes of all literals and gives the states their order. Each byte that occurs in a literal
 * is a class of its own, since it alone leads to states that end in it; all others are one. */
#include "engine/scan/automaton.h"

#include <string.h>

/* A state: children follow each other and are ascending by class. */
typedef struct node {
    uint32_t first;       /* of its literals in `order`: those that end here, then the others */
    uint32_t ended_count; /* set while it has its children made; before: all literals */
    uint32_t first_child;
    uint32_t failure; /* the longest proper suffix that is a state */
    uint32_t label;   /* class by which it is entered */
} node;

typedef struct trie {
    vyre_allocator allocator;
    const vy_literal *literals;
    uint32_t literal_count;
    uint64_t max_size;
    vyre_diag *diag;
    uint32_t *order, *sorted, *counts;
    node *nodes;
    size_t node_count, node_capacity;
    uint32_t class_count;
    uint8_t classes[256];
} trie;

/* ---- Classes --------------------------------------------------------------------------------- */

static unsigned fold(unsigned byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
}

/* Numbered in the order of their first bytes. */
static void find_classes(trie *t, uint32_t flags)
{
    enum { UNSEEN = 0xffff };
    uint8_t occurs[256] = {0};
    uint32_t of[257]; /* by byte; the last: of all that do not occur */
    bool is_caseless = (flags & VYRE_PATTERN_CASELESS) != 0;
    for (uint32_t i = 0; i < t->literal_count; i++) {
        for (uint32_t k = 0; k < t->literals[i].size; k++) {
            occurs[t->literals[i].bytes[k]] = 1;
        }
    }
    for (unsigned b = 'A'; is_caseless && b <= 'Z'; b++) {
        occurs[b] = occurs[fold(b)] = occurs[b] | occurs[fold(b)];
    }
    for (unsigned b = 0; b < 257; b++) {
        of[b] = UNSEEN;
    }
    for (unsigned b = 0; b < 256; b++) {
        unsigned key = occurs[b] ? (is_caseless ? fold(b) : b) : 256;
        if (of[key] == UNSEEN) {
            of[key] = t->class_count++;
        }
        t->classes[b] = (uint8_t)of[key];
    }
}

/* ---- The trie -------------------------------------------------------------------------------- */

static vyre_result add_node(trie *t, uint32_t first, uint32_t count, uint32_t label)
{
    /* What the states have without outputs. */
    uint64_t size = sizeof t->classes + sizeof(uint32_t) +
                    (t->node_count + 1) * sizeof(uint32_t) * (t->class_count + 1ull);
    if (size > t->max_size) {
        return vy_scan_too_large(t->diag, t->max_size);
    }
    if (t->node_count == VY_AUTOMATON_MAX_STATES) {
        return vy_diag_set(t->diag, VYRE_ERROR_UNSUPPORTED_FEATURE, (vy_loc){0, 0},
                           "the literals of the catalogue need more than %u states. Fix: make "
                           "several catalogues of fewer or shorter literals",
                           VY_AUTOMATON_MAX_STATES);
    }
    if (t->node_count == t->node_capacity) {
        size_t capacity = t->node_capacity ? 2 * t->node_capacity : 64; /* a power of 2 */
        node *nodes = vy_realloc(&t->allocator, t->nodes, t->node_capacity * sizeof *nodes,
                                 capacity * sizeof *nodes);
        if (!nodes) {
            return vy_diag_no_memory(t->diag);
        }
        t->nodes = nodes;
        t->node_capacity = capacity;
    }
    t->nodes[t->node_count++] = (node){first, count, 0, 0, label};
    return VYRE_OK;
}

static uint32_t class_at(const trie *t, uint32_t at, uint32_t depth)
{
    return t->classes[t->literals[t->order[at]].bytes[depth]];
}

/* Sorts the literals of a node by what follows its bytes, and makes its children. */
static vyre_result add_children(trie *t, uint32_t parent, uint32_t depth)
{
    uint32_t first = t->nodes[parent].first, count = t->nodes[parent].ended_count;
    t->nodes[parent].first_child = (uint32_t)t->node_count;
    t->nodes[parent].ended_count = 0;
    if (count == 1) { /* most of them */
        if (t->literals[t->order[first]].size == depth) {
            t->nodes[parent].ended_count = 1;
            return VYRE_OK;
        }
        return add_node(t, first, 1, class_at(t, first, depth));
    }
    memset(t->counts, 0, (t->class_count + 1) * sizeof *t->counts);
    for (uint32_t i = first; i < first + count; i++) {
        bool has_ended = t->literals[t->order[i]].size == depth;
        t->counts[has_ended ? 0 : 1 + class_at(t, i, depth)]++;
    }
    uint32_t start = first;
    t->nodes[parent].ended_count = t->counts[0];
    for (uint32_t k = 0; k <= t->class_count; k++) {
        uint32_t of_k = t->counts[k];
        if (k && of_k) {
            vyre_result result = add_node(t, start, of_k, k - 1);
            if (result != VYRE_OK) {
                return result;
            }
        }
        t->counts[k] = start;
        start += of_k;
    }
    for (uint32_t i = first; i < first + count; i++) {
        bool has_ended = t->literals[t->order[i]].size == depth;
        t->sorted[t->counts[has_ended ? 0 : 1 + class_at(t, i, depth)]++] = t->order[i];
    }
    memcpy(t->order + first, t->sorted + first, count * sizeof *t->order);
    return VYRE_OK;
}

static vyre_result build_trie(trie *t)
{
    t->order = vy_scan_alloc(&t->allocator, t->literal_count, sizeof *t->order);
    t->sorted = vy_scan_alloc(&t->allocator, t->literal_count, sizeof *t->sorted);
    t->counts = vy_scan_alloc(&t->allocator, t->class_count + 1, sizeof *t->counts);
    if (!t->order || !t->sorted || !t->counts) {
        return vy_diag_no_memory(t->diag);
    }
    for (uint32_t i = 0; i < t->literal_count; i++) {
        t->order[i] = i;
    }
    vyre_result result = add_node(t, 0, t->literal_count, 0);
    size_t level_end = 1;
    uint32_t depth = 0;
    for (size_t at = 0; result == VYRE_OK && at < t->node_count; at++) {
        if (at == level_end) {
            level_end = t->node_count;
            depth++;
        }
        result = add_children(t, (uint32_t)at, depth);
    }
    return result;
}

/* ---- The automaton --------------------------------------------------------------------------- */

/* A row is that of the state's failure, which is of an earlier level, with its own children. */
static void fill_transitions(const trie *t, uint32_t *transitions)
{
    size_t row_size = t->class_count * sizeof *transitions;
    memset(transitions, 0, row_size);
    for (size_t s = 0; s < t->node_count; s++) {
        uint32_t *row = transitions + s * t->class_count;
        size_t end = s + 1 < t->node_count ? t->nodes[s + 1].first_child : t->node_count;
        if (s) {
            memcpy(row, transitions + (size_t)t->nodes[s].failure * t->class_count, row_size);
        }
        for (size_t child = t->nodes[s].first_child; child < end; child++) {
            uint32_t label = t->nodes[child].label;
            t->nodes[child].failure = s ? row[label] : 0;
            row[label] = (uint32_t)child;
        }
    }
}

/* Those of the state's own literals and of its failure, both ascending: merged. */
static void fill_outputs(const trie *t, vy_automaton *a)
{
    for (size_t s = 0; s < t->node_count; s++) {
        const node *n = &t->nodes[s];
        uint32_t own = n->first, own_end = n->first + n->ended_count;
        uint32_t other = a->output_offsets[n->failure];
        uint32_t other_end = s ? a->output_offsets[n->failure + 1] : other;
        uint32_t at = a->output_offsets[s];
        while (own < own_end || other < other_end) {
            uint32_t rule = own < own_end ? t->literals[t->order[own]].rule : UINT32_MAX;
            if (own < own_end && (other == other_end || rule < a->outputs[other])) {
                a->outputs[at++] = rule;
                own++;
            } else {
                a->outputs[at++] = a->outputs[other++];
            }
        }
    }
}

static vyre_result fill_automaton(const trie *t, vy_automaton *a)
{
    uint64_t total = 0;
    size_t entries = 0;
    if (!vy_mul_size(t->node_count, t->class_count, &entries) || entries > UINT32_MAX) {
        return vy_scan_too_large(t->diag, t->max_size);
    }
    a->state_count = (uint32_t)t->node_count;
    a->class_count = t->class_count;
    memcpy(a->classes, t->classes, sizeof a->classes);
    a->transitions = vy_scan_alloc(&t->allocator, entries, sizeof *a->transitions);
    a->output_offsets = vy_scan_alloc(&t->allocator, t->node_count + 1, sizeof *a->output_offsets);
    if (!a->transitions || !a->output_offsets) {
        return vy_diag_no_memory(t->diag);
    }
    fill_transitions(t, a->transitions);
    a->output_offsets[0] = 0;
    for (size_t s = 0; s < t->node_count; s++) {
        uint32_t failure = t->nodes[s].failure;
        total += t->nodes[s].ended_count;
        total += s ? a->output_offsets[failure + 1] - a->output_offsets[failure] : 0;
        uint64_t size =
            sizeof a->classes + sizeof(uint32_t) * (entries + t->node_count + 1 + total);
        if (total > UINT32_MAX || size > t->max_size) {
            return vy_scan_too_large(t->diag, t->max_size);
        }
        a->output_offsets[s + 1] = (uint32_t)total;
    }
    a->outputs = vy_scan_alloc(&t->allocator, (size_t)total, sizeof *a->outputs);
    if (!a->outputs) {
        return vy_diag_no_memory(t->diag);
    }
    fill_outputs(t, a);
    return VYRE_OK;
}

vyre_result vy_literals_combine(const vyre_allocator *allocator, const vy_literal *literals,
                                uint32_t count, uint32_t flags, uint64_t max_size,
                                vy_automaton *out, vyre_diag *diag)
{
    trie t = {.allocator = *allocator,
              .literals = literals,
              .literal_count = count,
              .max_size = max_size,
              .diag = diag};
    *out = (vy_automaton){0};
    find_classes(&t, flags);
    vyre_result result = build_trie(&t);
    if (result == VYRE_OK) {
        result = fill_automaton(&t, out);
    }
    for (uint32_t i = 0; i < count; i++) {
        /* A state is at most as long as the longest literal: no byte before those counts. */
        out->overlap = literals[i].size > out->overlap ? literals[i].size : out->overlap;
    }
    if (result != VYRE_OK) {
        vy_automaton_finish(out, allocator);
    }
    vy_free(allocator, t.nodes, t.node_capacity * sizeof *t.nodes);
    vy_scan_free(allocator, t.order, count, sizeof *t.order);
    vy_scan_free(allocator, t.sorted, count, sizeof *t.sorted);
    vy_scan_free(allocator, t.counts, t.class_count + 1, sizeof *t.counts);
    return result;
}
