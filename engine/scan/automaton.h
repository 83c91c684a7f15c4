/* Automata over classes of bytes, and the catalogue that holds them. Pure host code. */
#ifndef VY_SCAN_AUTOMATON_H
#define VY_SCAN_AUTOMATON_H

#include "codegen/base/base.h"
#include "vyre/scan.h"

/* Starts in state 0. All arrays are of the catalogue's allocator. */
typedef struct vy_automaton {
    uint32_t state_count, class_count;
    uint8_t classes[256];  /* of each byte: below class_count */
    uint32_t *transitions; /* state * class_count + class: a state */
    /* Rules that have ended in state s: outputs[output_offsets[s]] up to
     * outputs[output_offsets[s + 1]], ascending, each once. output_offsets has state_count + 1
     * entries. */
    uint32_t *output_offsets;
    uint32_t *outputs;
    /* After so many bytes the state does not depend on the one before them; VYRE_OVERLAP_NONE. */
    uint32_t overlap;
} vy_automaton;

#define VY_AUTOMATON_MAX_STATES (1u << 24)

/* Bytes of the tables, with 32-bit entries. */
uint64_t vy_automaton_size(const vy_automaton *automaton);
/* Frees the arrays and leaves an automaton of zeros; one that is half made is no error. */
void vy_automaton_finish(vy_automaton *automaton, const vyre_allocator *allocator);
/* Unlike malloc's: never NULL but on failure, for no elements too; not zeroed. vy_scan_free takes
 * the same count. */
void *vy_scan_alloc(const vyre_allocator *allocator, size_t count, size_t size);
void vy_scan_free(const vyre_allocator *allocator, void *memory, size_t count, size_t size);
/* That tables take more than they may. */
vyre_result vy_scan_too_large(vyre_diag *diag, uint64_t max_size);

/* Mixes all of the automaton into the hash. */
void vy_automaton_hash(const vy_automaton *automaton, vy_hash *hash);

/* A list that owns what is in it. */
typedef struct vy_automata {
    vyre_allocator allocator;
    vy_automaton *list;
    uint32_t count, capacity;
} vy_automata;

/* Takes the automaton, also on failure, and leaves zeros. */
bool vy_automata_add(vy_automata *automata, vy_automaton *automaton);
void vy_automata_finish(vy_automata *automata);

/* ---- Shapes (shapes.c) ----------------------------------------------------------------------- */

/* Automata that each find one thing, output 0, and the rules that ask for it. Equal ones are kept
 * once. */
typedef struct vy_shapes {
    vy_automata automata;
    uint32_t *first_rule, *last_rule; /* of each automaton */
    uint32_t shape_capacity;
    uint32_t *next_rule; /* of each rule: the next one of the same automaton */
    uint32_t rule_count;
    uint32_t *slots; /* by hash: an automaton's index + 1; 0: free */
    uint32_t slot_count;
    uint64_t size;                /* bytes of all tables with their outputs */
    uint64_t max_size, max_total; /* that one may have; all of them */
} vy_shapes;

vyre_result vy_shapes_init(vy_shapes *shapes, const vyre_allocator *allocator, uint32_t rule_count,
                           uint64_t max_size, uint64_t max_total, vyre_diag *diag);
void vy_shapes_finish(vy_shapes *shapes);
/* Takes an automaton whose states have the output 0 or none, also on failure. Rules ascend. Errors:
 * UNSUPPORTED_FEATURE (max_size), OUT_OF_HOST_MEMORY. */
vyre_result vy_shapes_add(vy_shapes *shapes, vy_automaton *automaton, uint32_t rule,
                          vyre_diag *diag);
/* Looks for overlaps that are not known, puts the rules in the place of output 0 and moves the
 * automata to the end of a list. */
vyre_result vy_shapes_take(vy_shapes *shapes, vy_automata *out, vyre_diag *diag);

/* ---- Literals (literals.c) ------------------------------------------------------------------- */

typedef struct vy_literal {
    const uint8_t *bytes; /* borrowed */
    uint32_t size;        /* at least 1, below VY_AUTOMATON_MAX_STATES */
    uint32_t rule;        /* ascending */
} vy_literal;

/* One automaton for all literals, at least one: Aho and Corasick's, with a full table. States are
 * in breadth-first order, and no smaller automaton has the same outputs. `flags` are
 * VYRE_PATTERN_*, of all of them. Errors: UNSUPPORTED_FEATURE (more than max_size bytes, or
 * VY_AUTOMATON_MAX_STATES states), OUT_OF_HOST_MEMORY. */
vyre_result vy_literals_combine(const vyre_allocator *allocator, const vy_literal *literals,
                                uint32_t count, uint32_t flags, uint64_t max_size,
                                vy_automaton *out, vyre_diag *diag);

/* ---- Automata (minimise.c, overlap.c) -------------------------------------------------------- */

/* The smallest automaton that accepts where this one does, with output 0. Its states are numbered
 * breadth-first and its classes by their first bytes: automata that accept the same come out the
 * same. Tables are as vyre_pattern says, and checked: targets below state_count. The overlap is not
 * looked for (VYRE_OVERLAP_NONE). Errors: OUT_OF_HOST_MEMORY. */
vyre_result vy_automaton_make(const vyre_allocator *allocator, const uint32_t *transitions,
                              const uint8_t *accepts, uint32_t state_count, vy_automaton *out,
                              vyre_diag *diag);
/* The smallest number of bytes after which the state is the same whatever it was before (of states
 * that the start reaches, which all of them must be); VYRE_OVERLAP_NONE where there is none, or
 * where more than 1,000,000 pairs of states would have to be looked at. */
vyre_result vy_automaton_find_overlap(const vyre_allocator *allocator,
                                      const vy_automaton *automaton, uint32_t *out_overlap,
                                      vyre_diag *diag);

/* ---- Products (product.c) -------------------------------------------------------------------- */

typedef enum vy_product_fit { VY_PRODUCT_FITS, VY_PRODUCT_STATES, VY_PRODUCT_SIZE } vy_product_fit;

/* One automaton that finds what two find. Where both are the smallest of their kind and have no
 * rule in common so is it, and it has the form of vy_automaton_make: two of its states differ in a
 * state of either, which some bytes tell apart by that one's rules. With more states than
 * max_states, or more than max_size bytes, it is left empty and *out_fit says why. Errors:
 * OUT_OF_HOST_MEMORY. */
vyre_result vy_automaton_multiply(const vyre_allocator *allocator, const vy_automaton *a,
                                  const vy_automaton *b, uint32_t max_states, uint64_t max_size,
                                  vy_automaton *out, vy_product_fit *out_fit, vyre_diag *diag);

/* ---- Groups (grouping.c) --------------------------------------------------------------------- */

/* Combines automata without a rule in common: all of them into one, or as far as they fit.
 * `grouping`: COMBINED or AUTO. Errors: UNSUPPORTED_FEATURE (COMBINED beyond max_states or
 * max_size), OUT_OF_HOST_MEMORY. */
vyre_result vy_automata_combine(vy_automata *automata, vyre_grouping grouping, uint32_t max_states,
                                uint64_t max_size, vyre_diag *diag);

struct vyre_catalogue {
    vyre_allocator allocator;
    uint32_t rule_count;
    vy_automaton *automata; /* none has no states; equal patterns have one with several outputs */
    uint32_t automaton_count, automaton_capacity;
    vyre_rejection *rejections;
    uint32_t rejection_count, rejection_capacity;
    size_t most_outputs; /* rules that can end at one offset, at most */
    uint64_t fingerprint;
};

#endif
