/* The functions that a module's code calls, each emitted once, when it is first called. A helper is
 * made in a buffer of its own, so that it may ask for others while it is being made. */
#include "codegen/spirv/emit.h"

typedef enum vy_helper_type { NOTHING, F32, U32, U32X2, U64, F64 } vy_helper_type;

typedef struct vy_helper_row {
    const char *name;
    vy_helper_fn emit;
    uint8_t result, parameter, count; /* of one type all */
    vy_helper3_fn emit3;              /* in place of `emit`: of three parameters */
} vy_helper_row;

static const vy_helper_row rows[VY_HELPER_COUNT] = {
    [VY_HELPER_DIVIDE] = {"vy_divide", vy_emit_divide, F32, F32, 2, NULL},
    [VY_HELPER_SQRT] = {"vy_sqrt", vy_emit_sqrt, F32, F32, 1, NULL},
    [VY_HELPER_REDUCE] = {"vy_reduce", vy_emit_reduce, U32X2, F32, 1, NULL},
    [VY_HELPER_SIN] = {"vy_sin", vy_emit_sin, F32, F32, 1, NULL},
    [VY_HELPER_COS] = {"vy_cos", vy_emit_cos, F32, F32, 1, NULL},
    [VY_HELPER_TAN] = {"vy_tan", vy_emit_tan, F32, F32, 1, NULL},
    [VY_HELPER_ASIN] = {"vy_asin", vy_emit_asin, F32, F32, 1, NULL},
    [VY_HELPER_ACOS] = {"vy_acos", vy_emit_acos, F32, F32, 1, NULL},
    [VY_HELPER_ATAN] = {"vy_atan", vy_emit_atan, F32, F32, 1, NULL},
    [VY_HELPER_ATAN2] = {"vy_atan2", vy_emit_atan2, F32, F32, 2, NULL},
    [VY_HELPER_SINH] = {"vy_sinh", vy_emit_sinh, F32, F32, 1, NULL},
    [VY_HELPER_COSH] = {"vy_cosh", vy_emit_cosh, F32, F32, 1, NULL},
    [VY_HELPER_TANH] = {"vy_tanh", vy_emit_tanh, F32, F32, 1, NULL},
    [VY_HELPER_EXP] = {"vy_exp", vy_emit_exp, F32, F32, 1, NULL},
    [VY_HELPER_EXP2] = {"vy_exp2", vy_emit_exp2, F32, F32, 1, NULL},
    [VY_HELPER_LOG] = {"vy_log", vy_emit_log, F32, F32, 1, NULL},
    [VY_HELPER_LOG2] = {"vy_log2", vy_emit_log2, F32, F32, 1, NULL},
    [VY_HELPER_POW] = {"vy_pow", vy_emit_pow, F32, F32, 2, NULL},
    [VY_HELPER_RSQRT] = {"vy_rsqrt", vy_emit_rsqrt, F32, F32, 1, NULL},
    [VY_HELPER_RECIPROCAL] = {"vy_reciprocal", vy_emit_reciprocal, F32, F32, 1, NULL},
    [VY_HELPER_RECORD] = {"vy_record", vy_emit_record, NOTHING, U32, 2, NULL},
    [VY_HELPER_RECORD_OF] = {"vy_record_of", vy_emit_record_of, NOTHING, U32X2, 2, NULL},
    [VY_HELPER_FMA] = {"vy_fma", NULL, F32, F32, 3, vy_emit_fma},
    [VY_HELPER_ROUND_HALF] = {"vy_round_half", vy_emit_round_half, F32, F32, 1, NULL},
    [VY_HELPER_PACK_HALF] = {"vy_pack_half", vy_emit_pack_half, U32, F32, 1, NULL},
    [VY_HELPER_UNPACK_HALF] = {"vy_unpack_half", vy_emit_unpack_half, F32, U32, 1, NULL},
    [VY_HELPER_PACK_BF16] = {"vy_pack_bf16", vy_emit_pack_bf16, U32, F32, 1, NULL},
    [VY_HELPER_U32_TO_F32] = {"vy_u32_to_f32", vy_emit_u32_to_f32, F32, U32, 1, NULL},
    [VY_HELPER_U64_TO_F32] = {"vy_u64_to_f32", vy_emit_u64_to_f32, F32, U64, 1, NULL},
    [VY_HELPER_F32_TO_F64] = {"vy_f32_to_f64", vy_emit_f32_to_f64, F64, F32, 1, NULL},
    [VY_HELPER_F64_TO_F32] = {"vy_f64_to_f32", vy_emit_f64_to_f32, F32, F64, 1, NULL},
    [VY_HELPER_F64_TO_ODD] = {"vy_f64_to_odd", vy_emit_f64_to_odd, F32, F64, 1, NULL},
    [VY_HELPER_DIVIDE_F64] = {"vy_divide_f64", vy_emit_divide_f64, F64, F64, 2, NULL},
    [VY_HELPER_SQRT_F64] = {"vy_sqrt_f64", vy_emit_sqrt_f64, F64, F64, 1, NULL},
    [VY_HELPER_FMA_F64] = {"vy_fma_f64", NULL, F64, F64, 3, vy_emit_fma_f64},
};

static uint32_t type_of(vy_module *m, uint8_t type)
{
    switch (type) {
    case U32X2:
        return vy_type_u32_vector(m, 2);
    case NOTHING:
        return vy_type_void(m);
    case U32:
        return vy_type_u32(m);
    case U64:
        return vy_type_u64(m);
    case F64:
        return vy_type_f64(m);
    default:
        return vy_type_f32(m);
    }
}

static uint32_t make(vy_emitter *emitter, const vy_helper_row *row)
{
    vy_module *m = &emitter->module;
    vy_words *outer = m->code, words = {0};
    m->code = &words;
    uint32_t result = type_of(m, row->result);
    uint32_t parameter = type_of(m, row->parameter);
    uint32_t parameters[3] = {parameter, parameter, parameter}, p[3] = {0};
    uint32_t type = vy_type_function(m, result, parameters, row->count);
    uint32_t function =
        vy_value(m, SpvOpFunction, result, VY_LIST((uint32_t)SpvFunctionControlMaskNone, type));
    vy_module_name(m, function, row->name);
    for (uint32_t i = 0; i < row->count; i++) {
        p[i] = vy_value(m, SpvOpFunctionParameter, parameter, NULL, 0);
    }
    uint32_t label = vy_module_id(m);
    vy_label(m, label);
    uint32_t value =
        row->emit3 ? row->emit3(emitter, p[0], p[1], p[2]) : row->emit(emitter, p[0], p[1]);
    if (value) {
        vy_effect(m, SpvOpReturnValue, &value, 1);
    } else {
        vy_effect(m, SpvOpReturn, NULL, 0);
    }
    vy_effect(m, SpvOpFunctionEnd, NULL, 0);
    m->code = outer;
    vy_words *helpers = &m->sections[VY_SECTION_HELPERS];
    vy_words_append(m->arena, helpers, words.data, words.count);
    helpers->too_long = helpers->too_long || words.too_long;
    return function;
}

uint32_t vy_helper_call3(vy_emitter *emitter, vy_helper helper, uint32_t a, uint32_t b, uint32_t c)
{
    vy_module *m = &emitter->module;
    const vy_helper_row *row = &rows[helper];
    if (!emitter->helpers[helper]) {
        uint32_t function = make(emitter, row); /* asks for others, at most three deep */
        emitter->helpers[helper] = function;
    }
    uint32_t type = type_of(m, row->result);
    return vy_value(m, SpvOpFunctionCall, type,
                    (const uint32_t[]){emitter->helpers[helper], a, b, c}, 1u + row->count);
}

uint32_t vy_helper_call(vy_emitter *emitter, vy_helper helper, uint32_t a, uint32_t b)
{
    return vy_helper_call3(emitter, helper, a, b, 0);
}
