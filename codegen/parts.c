/* See parts.h. */
#include "codegen/parts.h"

#include "codegen/ir/ir.h"
#include "codegen/ir/print.h"

#include <string.h>

vy_program_traits vy_parts_traits(const vyre_program *program)
{
    return (vy_program_traits){.loop_limit = program->loop_limit,
                               .subgroup_width = program->subgroup_width,
                               .fast_math = program->fast_math,
                               .binding_count = program->binding_count,
                               .shared_count = program->shared_count,
                               .param_count = (uint32_t)program->params.count - 1,
                               .param_words = program->param_words};
}

vyre_program *vy_parts_hold(const vyre_program *program)
{
    return vy_program_hold(program);
}

bool vy_parts_find_function(const vyre_program *program, const char *name,
                            vy_function_traits *out_traits)
{
    for (uint32_t f = 1; f < program->functions.count; f++) {
        const vy_function *function = &program->functions.data[f];
        if (strcmp(function->name, name) != 0) {
            continue;
        }
        bool is_all_u32 = function->return_type == VYRE_TYPE_U32;
        for (uint32_t i = 0; i < function->parameter_count; i++) {
            is_all_u32 = is_all_u32 &&
                         program->vars.data[function->first_parameter + i].type == VYRE_TYPE_U32;
        }
        *out_traits =
            (vy_function_traits){.parameter_count = function->parameter_count,
                                 .is_all_u32 = is_all_u32,
                                 .has_barrier = function->kinds >> VY_STMT_BARRIER & 1,
                                 .has_uniform_load = function->kinds >> VY_STMT_UNIFORM_LOAD & 1};
        return true;
    }
    return false;
}

#define FIND(list)                                                                                 \
    for (uint32_t i = 1; i < (list).count; i++) {                                                  \
        const char *name = (list).data[i].name;                                                    \
        if (name && strncmp(name, prefix, strlen(prefix)) == 0) {                                  \
            return name;                                                                           \
        }                                                                                          \
    }

const char *vy_parts_find_name(const vyre_program *program, const char *prefix)
{
    FIND(program->buffers)
    FIND(program->params)
    FIND(program->constants)
    FIND(program->tables)
    FIND(program->functions)
    FIND(program->vars)
    return NULL;
}

vyre_result vy_parts_print(const vyre_program *program, vy_text *declarations, vy_text *functions)
{
    return vy_program_print_parts(program, declarations, functions);
}
