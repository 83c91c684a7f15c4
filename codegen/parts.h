/* What of a finished program may stand in another one, and what that other has to know of it: for
 * engine/, which writes programs around those of callers and does not see the IR. Pure.
 * Thread-safety: safe. */
#ifndef VY_PARTS_H
#define VY_PARTS_H

#include "codegen/base/base.h"
#include "vyre/program.h"

/* What a program says for all of its functions, and how much it declares. */
typedef struct vy_program_traits {
    uint32_t loop_limit, subgroup_width; /* width 0: any */
    bool fast_math;
    uint32_t binding_count, shared_count, param_count, param_words;
} vy_program_traits;
vy_program_traits vy_parts_traits(const vyre_program *program);
/* Holds it beyond its owner's vyre_program_destroy: the holder calls that too. */
vyre_program *vy_parts_hold(const vyre_program *program);

typedef struct vy_function_traits {
    uint32_t parameter_count;
    bool is_all_u32; /* parameters and what it gives */
    bool has_barrier, has_uniform_load;
} vy_function_traits;
/* Whether there is one of that name. */
bool vy_parts_find_function(const vyre_program *program, const char *name,
                            vy_function_traits *out_traits);
/* The first declared name that begins so, variables' too; NULL: none. */
const char *vy_parts_find_name(const vyre_program *program, const char *prefix);

/* Constants, params and buffers, and the functions, as canonical text: what may stand in a program
 * that has these names free. Errors: OUT_OF_HOST_MEMORY, INVALID_PROGRAM (as vyre_program_print).
 */
vyre_result vy_parts_print(const vyre_program *program, vy_text *declarations, vy_text *functions);

#endif
