/* The functions that a module's code calls, each emitted once, when it is first called. A helper is
 * made in a buffer of its own, so that it may ask for others while it is being made. */
#include "codegen/spirv/emit.h"

typedef enum vy_helper_kind {
    VY_HELPER_F32,      /* f32(f32) */
    VY_HELPER_F32_F32,  /* f32(f32, f32) */
    VY_HELPER_ANGLE,    /* u32 vector of two (f32) */
    VY_HELPER_RECORDING /* void(u32, u32) */
} vy_helper_kind;

typedef struct vy_helper_row {
    const char *name;
    vy_helper_fn emit;
    vy_helper_kind kind;
} vy_helper_row;

static const vy_helper_row rows[VY_HELPER_COUNT] = {
    [VY_HELPER_DIVIDE] = {"vy_divide", vy_emit_divide, VY_HELPER_F32_F32},
    [VY_HELPER_SQRT] = {"vy_sqrt", vy_emit_sqrt, VY_HELPER_F32},
    [VY_HELPER_REDUCE] = {"vy_reduce", vy_emit_reduce, VY_HELPER_ANGLE},
    [VY_HELPER_SIN] = {"vy_sin", vy_emit_sin, VY_HELPER_F32},
    [VY_HELPER_COS] = {"vy_cos", vy_emit_cos, VY_HELPER_F32},
    [VY_HELPER_TAN] = {"vy_tan", vy_emit_tan, VY_HELPER_F32},
    [VY_HELPER_ASIN] = {"vy_asin", vy_emit_asin, VY_HELPER_F32},
    [VY_HELPER_ACOS] = {"vy_acos", vy_emit_acos, VY_HELPER_F32},
    [VY_HELPER_ATAN] = {"vy_atan", vy_emit_atan, VY_HELPER_F32},
    [VY_HELPER_ATAN2] = {"vy_atan2", vy_emit_atan2, VY_HELPER_F32_F32},
    [VY_HELPER_SINH] = {"vy_sinh", vy_emit_sinh, VY_HELPER_F32},
    [VY_HELPER_COSH] = {"vy_cosh", vy_emit_cosh, VY_HELPER_F32},
    [VY_HELPER_TANH] = {"vy_tanh", vy_emit_tanh, VY_HELPER_F32},
    [VY_HELPER_EXP] = {"vy_exp", vy_emit_exp, VY_HELPER_F32},
    [VY_HELPER_EXP2] = {"vy_exp2", vy_emit_exp2, VY_HELPER_F32},
    [VY_HELPER_LOG] = {"vy_log", vy_emit_log, VY_HELPER_F32},
    [VY_HELPER_LOG2] = {"vy_log2", vy_emit_log2, VY_HELPER_F32},
    [VY_HELPER_POW] = {"vy_pow", vy_emit_pow, VY_HELPER_F32_F32},
    [VY_HELPER_RSQRT] = {"vy_rsqrt", vy_emit_rsqrt, VY_HELPER_F32},
    [VY_HELPER_RECIPROCAL] = {"vy_reciprocal", vy_emit_reciprocal, VY_HELPER_F32},
    [VY_HELPER_RECORD] = {"vy_record", vy_emit_record, VY_HELPER_RECORDING},
};

static uint32_t result_type(vy_module *m, vy_helper_kind kind)
{
    switch (kind) {
    case VY_HELPER_ANGLE:
        return vy_type_u32_vector(m, 2);
    case VY_HELPER_RECORDING:
        return vy_type_void(m);
    default:
        return vy_type_f32(m);
    }
}

static uint32_t make(vy_emitter *emitter, const vy_helper_row *row)
{
    vy_module *m = &emitter->module;
    vy_words *outer = m->code, words = {0};
    m->code = &words;
    uint32_t result = result_type(m, row->kind);
    uint32_t parameter = row->kind == VY_HELPER_RECORDING ? vy_type_u32(m) : vy_type_f32(m);
    uint32_t count = row->kind == VY_HELPER_F32 || row->kind == VY_HELPER_ANGLE ? 1 : 2;
    uint32_t parameters[2] = {parameter, parameter};
    uint32_t type = vy_type_function(m, result, parameters, count);
    uint32_t function =
        vy_value(m, SpvOpFunction, result, VY_LIST((uint32_t)SpvFunctionControlMaskNone, type));
    vy_module_name(m, function, row->name);
    uint32_t a = vy_value(m, SpvOpFunctionParameter, parameter, NULL, 0);
    uint32_t b = count == 2 ? vy_value(m, SpvOpFunctionParameter, parameter, NULL, 0) : 0;
    uint32_t label = vy_module_id(m);
    vy_label(m, label);
    uint32_t value = row->emit(emitter, a, b);
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

uint32_t vy_helper_call(vy_emitter *emitter, vy_helper helper, uint32_t a, uint32_t b)
{
    vy_module *m = &emitter->module;
    const vy_helper_row *row = &rows[helper];
    if (!emitter->helpers[helper]) {
        uint32_t function = make(emitter, row); /* asks for others, at most three deep */
        emitter->helpers[helper] = function;
    }
    uint32_t type = result_type(m, row->kind);
    return vy_value(m, SpvOpFunctionCall, type, (const uint32_t[]){emitter->helpers[helper], a, b},
                    b ? 3u : 2u);
}
