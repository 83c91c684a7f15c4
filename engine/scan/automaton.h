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

struct vyre_catalogue {
    vyre_allocator allocator;
    uint32_t rule_count;
    vy_automaton *automata; /* none has no states; equal patterns have one with several outputs */
    uint32_t automaton_count;
    vyre_rejection *rejections;
    uint32_t rejection_count;
    uint64_t fingerprint;
};

#endif
