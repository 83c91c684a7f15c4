/* What the parts of the generator share: its state, and the small writers. */
#ifndef VY_GENERATE_PARTS_H
#define VY_GENERATE_PARTS_H

#include "tests/support/generate.h"

#define VY_GEN_OWN 4u /* elements of even_out and odd_out that belong to one invocation */

enum { T_BOOL, T_U32, T_I32, T_F32, T_COUNT };
extern const char *const vy_gen_type_names[T_COUNT];

typedef struct vy_gen {
    vy_text *out;
    vy_generated *info;
    uint64_t state;
    int indent;
    int depth;         /* of statements */
    int budget;        /* statements left */
    bool uniform;      /* control flow here is uniform over the workgroup */
    bool returned;     /* a non-uniform return stands before, in this segment */
    bool in_loop;      /* break and continue are allowed */
    bool own_loop_cut; /* the innermost loop holds cuts or barriers: no break, no continue */
    bool in_function;
    uint32_t segment;
    uint32_t next_name;
    struct {
        uint32_t name;
        uint8_t type;
        bool assignable, array, host_level;
    } vars[64];
    int var_count;
    bool used_regions;
} vy_gen;

uint32_t vy_gen_random(vy_gen *g);
uint32_t vy_gen_below(vy_gen *g, uint32_t count);
bool vy_gen_chance(vy_gen *g, uint32_t percent);
/* Notes that the program holds the construct of that name. */
void vy_gen_mark(vy_gen *g, const char *name);
void vy_gen_put(vy_gen *g, const char *text);
/* A random expression of a type, at most `depth` operators deep. */
void vy_gen_expr(vy_gen *g, int type, int depth);

#endif
