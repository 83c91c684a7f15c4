/* What the files that make a vy_split share: split.c (steps and segments), facts.c (what statements
 * contain) and crossing.c (how values get from one segment to another). */
#ifndef VY_SPLIT_PARTS_H
#define VY_SPLIT_PARTS_H

#include "codegen/ir/walk.h"
#include "codegen/passes/split.h"

typedef struct vy_splitter {
    const vyre_program *program;
    vy_arena *arena;
    vy_split *split;
    bool invalid; /* not what a validator lets through */
    /* split.c */
    bool is_open; /* statements go on in the last segment */
    uint32_t loop_depth;
    const char *region;
} vy_splitter;

void vy_split_find_facts(vy_splitter *s);
vyre_result vy_split_find_crossings(vy_splitter *s, vyre_diag *diag);

#endif
