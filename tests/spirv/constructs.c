/* See constructs.h. */
#include "constructs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#define U32 VYRE_TYPE_U32
#define F32 VYRE_TYPE_F32

static uint32_t gid(form *f)
{
    return form_builtin(f, VYRE_BUILTIN_GID_X);
}

static void writes(form *f, uint32_t buffer)
{
    f->options.module_writes |= (uint64_t)1 << f->program.buffers.data[buffer].binding;
}

static void build_copy(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_IN, "a", U32);
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", U32);
    uint32_t i = gid(f);
    form_store(f, out, i, form_load(f, a, i));
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_unchecked(form *f)
{
    build_copy(f);
    for (uint32_t i = 1; i < f->ssa.ins.count; i++) {
        f->ssa.ins.data[i].unchecked = true;
    }
}

static void build_bool_memory(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_IN, "flag", VYRE_TYPE_BOOL);
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_BOOL);
    uint32_t i = gid(f);
    uint32_t value = form_load(f, a, i);
    form_store(f, out, i, form_op(f, VYRE_OP_NOT, VYRE_TYPE_BOOL, value, 0));
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_float_arithmetic(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_IN, "a", F32);
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", F32);
    uint32_t s = form_param(f, "s", F32);
    uint32_t i = gid(f);
    uint32_t x = form_load(f, a, i);
    uint32_t p = form_ins(f, VYRE_OP_PARAM, F32, s, 0, 0, 0, 0);
    uint32_t y = form_op(f, VYRE_OP_MUL, F32, x, p);
    y = form_op(f, VYRE_OP_ADD, F32, y, x);
    y = form_op(f, VYRE_OP_SUB, F32, y, p);
    form_store(f, out, i, y);
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_divide(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_IN, "a", F32);
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", F32);
    uint32_t i = gid(f);
    uint32_t x = form_load(f, a, i);
    uint32_t y = form_op(f, VYRE_OP_SQRT, F32, x, 0);
    y = form_op(f, VYRE_OP_DIV, F32, y, x);
    y = form_op(f, VYRE_OP_DIV, F32, y, x); /* the helper is there once */
    form_store(f, out, i, y);
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_fast_divide(form *f)
{
    build_divide(f);
    f->program.fast_math = true;
}

static void build_trigonometry(form *f)
{
    uint32_t out = form_buffer(f, VYRE_BUFFER_INOUT, "x", F32);
    uint32_t i = gid(f);
    uint32_t x = form_load(f, out, i);
    uint32_t y = form_op(f, VYRE_OP_SIN, F32, x, 0);
    form_store(f, out, i, form_op(f, VYRE_OP_POW, F32, y, x));
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_integer_division(form *f)
{
    uint32_t out = form_buffer(f, VYRE_BUFFER_INOUT, "x", VYRE_TYPE_I32);
    uint32_t i = gid(f);
    uint32_t x = form_load(f, out, i);
    uint32_t y = form_op(f, VYRE_OP_DIV, VYRE_TYPE_I32, i, x);
    y = form_op(f, VYRE_OP_REM, VYRE_TYPE_I32, y, x);
    form_store(f, out, i, y);
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

/* var n = 1; if gid < 7 { out[gid] = 5; n = 2 }; out[0] = n: the stores split their blocks. */
static void build_if(form *f)
{
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", U32);
    uint32_t yes = form_block(f), merge = form_block(f);
    uint32_t i = gid(f);
    uint32_t one = form_u32(f, 1), two = form_u32(f, 2), five = form_u32(f, 5);
    uint32_t less = form_op(f, VYRE_OP_LT, VYRE_TYPE_BOOL, i, form_u32(f, 7));
    form_if(f, less, yes, merge, merge);
    form_at(f, yes);
    form_store(f, out, i, five);
    form_jump(f, merge);
    form_at(f, merge);
    uint32_t n = form_phi(f, U32, 1, one, yes, two);
    form_store(f, out, form_u32(f, 0), n);
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

/* for i in 0 .. 10 { out[i] = i; if i == gid { break } } out[11] = i, with the body as its header,
 * so that the header is split. */
static void build_loop(form *f)
{
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", U32);
    uint32_t header = form_block(f), body = form_block(f), next = form_block(f);
    uint32_t merge = form_block(f);
    uint32_t g = gid(f), zero = form_u32(f, 0), one = form_u32(f, 1), ten = form_u32(f, 10);
    uint32_t eleven = form_u32(f, 11);
    form_jump(f, header);
    form_at(f, header);
    uint32_t i = form_phi(f, U32, 1, zero, next, 0);
    form_store(f, out, i, i);
    uint32_t more = form_op(f, VYRE_OP_LT, VYRE_TYPE_BOOL, i, ten);
    form_loop(f, more, body, next, merge);
    form_at(f, body);
    uint32_t stop = form_op(f, VYRE_OP_EQ, VYRE_TYPE_BOOL, i, g);
    form_if(f, stop, merge, next, 0);
    f->ssa.blocks.data[body].merge_kind = VY_MERGE_NONE;
    form_at(f, next);
    uint32_t step = form_op(f, VYRE_OP_ADD, U32, i, one);
    form_phi_set(f, i, 1, step);
    form_jump(f, header);
    form_at(f, merge);
    form_store(f, out, eleven, i);
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_switch(form *f)
{
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", U32);
    uint32_t first = form_block(f), second = form_block(f), other = form_block(f);
    uint32_t merge = form_block(f);
    const vy_case cases[3] = {{7, first}, {9, second}, {0xffffffff, first}};
    uint32_t i = gid(f), zero = form_u32(f, 0), one = form_u32(f, 1), two = form_u32(f, 2);
    form_switch(f, i, cases, 3, other, merge);
    form_at(f, first);
    form_jump(f, merge);
    form_at(f, second);
    form_end(f, VY_END_RETURN);
    form_at(f, other);
    form_store(f, out, one, two);
    form_jump(f, merge);
    form_at(f, merge);
    uint32_t n = form_phi(f, U32, first, one, other, two);
    form_store(f, out, zero, n);
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_unreachable_merge(form *f)
{
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", U32);
    uint32_t yes = form_block(f), no = form_block(f), merge = form_block(f);
    uint32_t i = gid(f), less = form_op(f, VYRE_OP_LT, VYRE_TYPE_BOOL, i, form_u32(f, 7));
    form_if(f, less, yes, no, merge);
    form_at(f, yes);
    form_store(f, out, i, i);
    form_end(f, VY_END_RETURN);
    form_at(f, no);
    form_end(f, VY_END_RETURN);
    form_at(f, merge);
    form_end(f, VY_END_UNREACHABLE);
    writes(f, out);
}

static void build_atomics(form *f)
{
    uint32_t c = form_buffer(f, VYRE_BUFFER_INOUT, "counts", U32);
    uint32_t i = gid(f), one = form_u32(f, 1), two = form_u32(f, 2);
    uint32_t old = form_atomic(f, c, VYRE_ATOMIC_ADD, VYRE_ORDER_RELAXED, i, one, 0);
    old = form_atomic(f, c, VYRE_ATOMIC_MAX, VYRE_ORDER_ACQ_REL, old, one, 0);
    old = form_atomic(f, c, VYRE_ATOMIC_COMPARE_EXCHANGE, VYRE_ORDER_ACQ_REL, old, one, two);
    old = form_atomic(f, c, VYRE_ATOMIC_COMPARE_EXCHANGE, VYRE_ORDER_RELEASE, old, one, two);
    old = form_atomic(f, c, VYRE_ATOMIC_LOAD, VYRE_ORDER_ACQUIRE, old, 0, 0);
    (void)form_atomic(f, c, VYRE_ATOMIC_STORE, VYRE_ORDER_RELEASE, old, two, 0);
    form_end(f, VY_END_RETURN);
    writes(f, c);
}

static void build_float_atomics(form *f)
{
    uint32_t c = form_buffer(f, VYRE_BUFFER_INOUT, "sums", F32);
    uint32_t i = gid(f), one = form_literal(f, F32, 0x3f800000);
    uint32_t old = form_atomic(f, c, VYRE_ATOMIC_ADD, VYRE_ORDER_RELAXED, i, one, 0);
    old = form_atomic(f, c, VYRE_ATOMIC_EXCHANGE, VYRE_ORDER_RELAXED, i, old, 0);
    (void)form_atomic(f, c, VYRE_ATOMIC_STORE, VYRE_ORDER_RELAXED, i, old, 0);
    form_end(f, VY_END_RETURN);
    writes(f, c);
}

static void build_shared(form *f)
{
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", U32);
    uint32_t same = form_shared(f, "same", U32, 64), few = form_shared(f, "few", F32, 3);
    uint32_t many = form_shared(f, "many", U32, 200), unused = form_shared(f, "unused", U32, 9);
    (void)unused;
    uint32_t l = form_builtin(f, VYRE_BUILTIN_LID_X), g = gid(f);
    form_store(f, same, l, g);
    (void)form_ins(f, VY_SSA_BARRIER, VYRE_TYPE_VOID, 0, 0, 0, 0, 0);
    uint32_t a = form_load(f, many, l);
    uint32_t b = form_load(f, few, l);
    b = form_ins(f, VYRE_OP_CAST, U32, 0, b, 0, 0, 0);
    a = form_op(f, VYRE_OP_ADD, U32, a, b);
    (void)form_atomic(f, same, VYRE_ATOMIC_ADD, VYRE_ORDER_ACQ_REL, l, a, 0);
    form_store(f, out, g, a);
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_array(form *f)
{
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", F32);
    uint32_t small = form_array(f, "small", F32, 4), large = form_array(f, "large", U32, 40);
    uint32_t i = gid(f);
    (void)form_ins(f, VY_SSA_ARRAY_ZERO, VYRE_TYPE_VOID, small, 0, 0, 0, 0);
    (void)form_ins(f, VY_SSA_ARRAY_ZERO, VYRE_TYPE_VOID, large, 0, 0, 0, 0);
    uint32_t one = form_literal(f, F32, 0x3f800000);
    (void)form_ins(f, VY_SSA_ARRAY_STORE, VYRE_TYPE_VOID, small, i, one, 0, 0);
    uint32_t k = form_ins(f, VY_SSA_ARRAY_LOAD, U32, large, i, 0, 0, 0);
    form_store(f, out, i, form_ins(f, VY_SSA_ARRAY_LOAD, F32, small, k, 0, 0, 0));
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_tables(form *f)
{
    static const uint32_t bits[3] = {10, 20, 30};
    static const uint32_t offsets[3] = {UINT32_MAX, UINT32_MAX, 100};
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", U32);
    uint32_t near = form_table(f, "near", U32, bits, 3), far = form_table(f, "far", U32, bits, 3);
    uint32_t i = gid(f);
    uint32_t a = form_ins(f, VYRE_OP_TABLE, U32, near, i, 0, 0, 0);
    uint32_t b = form_ins(f, VYRE_OP_TABLE, U32, far, i, 0, 0, 0);
    form_store(f, out, i, form_op(f, VYRE_OP_SUB, U32, a, b));
    form_end(f, VY_END_RETURN);
    f->options.table_offsets = offsets;
    writes(f, out);
}

static void build_spill(form *f)
{
    uint32_t b = form_ins(f, VY_SSA_SPILL_LOAD, VYRE_TYPE_BOOL, 0, 0, 0, 0, 0);
    uint32_t x = form_ins(f, VY_SSA_SPILL_LOAD, F32, 2, 0, 0, 0, 0);
    uint32_t zero = form_literal(f, F32, 0);
    x = form_ins(f, VYRE_OP_SELECT, F32, 0, b, x, zero, 0);
    (void)form_ins(f, VY_SSA_SPILL_STORE, VYRE_TYPE_VOID, 1, x, 0, 0, 0);
    form_end(f, VY_END_RETURN);
}

static void build_record(form *f)
{
    (void)form_ins(f, VY_SSA_RECORD, VYRE_TYPE_VOID, 3, 0, 0, 0, 0);
    (void)form_ins(f, VY_SSA_RECORD, VYRE_TYPE_VOID, 4, 0, 0, 0, 0);
    form_end(f, VY_END_RETURN);
}

static void build_inputs(form *f)
{
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", U32);
    uint32_t sum = form_ins(f, VYRE_OP_LENGTH, U32, out, 0, 0, 0, 0);
    for (uint32_t i = 0; i <= VYRE_BUILTIN_PASS; i++) {
        sum = form_op(f, VYRE_OP_ADD, U32, sum, form_builtin(f, (vyre_builtin)i));
    }
    uint32_t index = form_ins(f, VY_SSA_HOST_INDEX, U32, 1, 0, 0, 0, 0);
    form_store(f, out, index, sum);
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_agnostic(form *f)
{
    build_copy(f);
    f->options.agnostic = true;
}

/* ---- Types ----------------------------------------------------------------------------------- */

static void build_small_elements(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_IN, "a", VYRE_TYPE_I8);
    uint32_t b = form_buffer(f, VYRE_BUFFER_IN, "b", VYRE_TYPE_U16);
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_U8);
    uint32_t i = gid(f);
    uint32_t x = form_load(f, a, i), y = form_load(f, b, i);
    x = form_op(f, VYRE_OP_ADD, VYRE_TYPE_I8, x, x);
    y = form_op(f, VYRE_OP_CAST, VYRE_TYPE_I8, y, 0);
    x = form_op(f, VYRE_OP_ADD_SAT, VYRE_TYPE_I8, x, y);
    form_store(f, out, i, form_op(f, VYRE_OP_BITCAST, VYRE_TYPE_U8, x, 0));
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_wide_integers(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_U64);
    uint32_t i = gid(f);
    uint32_t x = form_load(f, a, i);
    uint32_t y = form_op(f, VYRE_OP_DIV, VYRE_TYPE_U64, x,
                         form_literal(f, VYRE_TYPE_U64, 0x123456789abcdef0u));
    y = form_op(f, VYRE_OP_MUL_HIGH, VYRE_TYPE_U64, y, x);
    form_store(f, a, form_op(f, VYRE_OP_CLZ, VYRE_TYPE_U32, x, 0), y);
    (void)form_load(f, a, x); /* an index of 64 bits */
    form_end(f, VY_END_RETURN);
    writes(f, a);
}

static void build_halves(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_IN, "a", VYRE_TYPE_F16);
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_BF16);
    uint32_t i = gid(f);
    uint32_t x = form_load(f, a, i);
    uint32_t one = form_literal(f, VYRE_TYPE_F16, 0x3c00);
    x = form_op(f, VYRE_OP_ADD, VYRE_TYPE_F16, x, one);
    x = form_ins(f, VYRE_OP_FMA, VYRE_TYPE_F16, 0, x, x, one, 0);
    form_store(f, out, i, form_op(f, VYRE_OP_CAST, F32, x, 0));
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_doubles(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_F64);
    uint32_t i = gid(f);
    uint32_t x = form_load(f, a, i);
    uint32_t y = form_op(f, VYRE_OP_MUL, VYRE_TYPE_F64, x, x);
    y = form_op(f, VYRE_OP_MIN, VYRE_TYPE_F64, y, x);
    y = form_op(f, VYRE_OP_DIV, VYRE_TYPE_F64, y, x);
    form_store(f, a, i, y);
    form_end(f, VY_END_RETURN);
    writes(f, a);
}

static void build_fma(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_INOUT, "a", F32);
    uint32_t i = gid(f);
    uint32_t x = form_load(f, a, i);
    form_store(f, a, i, form_ins(f, VYRE_OP_FMA, F32, 0, x, x, x, 0));
    form_end(f, VY_END_RETURN);
    writes(f, a);
}

static void build_vectors(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_IN, "a", VYRE_TYPE_F32X4);
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_F32X2);
    uint32_t shared = form_shared(f, "shared", VYRE_TYPE_F32X4, 64);
    uint32_t i = gid(f);
    uint32_t v = form_load(f, a, i);
    form_store(f, shared, i, v);
    uint32_t x = form_ins(f, VY_SSA_COMPONENT, F32, 1, v, 0, 0, 0);
    uint32_t y = form_ins(f, VY_SSA_COMPONENT, F32, 3, v, 0, 0, 0);
    form_store(f, out, i, form_ins(f, VY_SSA_COMPOSE, VYRE_TYPE_F32X2, 0, x, y, 0, 0));
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_wide_atomics(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_I64);
    uint32_t shared = form_shared(f, "shared", VYRE_TYPE_U64, 4);
    uint32_t i = gid(f), one = form_literal(f, VYRE_TYPE_I64, 1);
    uint32_t old = form_atomic(f, a, VYRE_ATOMIC_MIN, VYRE_ORDER_RELAXED, i, one, 0);
    uint32_t bits = form_op(f, VYRE_OP_BITCAST, VYRE_TYPE_U64, old, 0);
    (void)form_atomic(f, shared, VYRE_ATOMIC_ADD, VYRE_ORDER_ACQ_REL, i, bits, 0);
    form_end(f, VY_END_RETURN);
    writes(f, a);
}

static uint32_t subgroup(form *f, vyre_subgroup op, vyre_type type, uint32_t x, uint32_t y)
{
    uint32_t ins = form_ins(f, VY_SSA_SUBGROUP, type, 0, x, y, 0, 0);
    f->ssa.ins.data[ins].subgroup = (uint8_t)op;
    return ins;
}

static void build_subgroups(form *f)
{
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", U32);
    uint32_t i = gid(f);
    uint32_t sum = subgroup(f, VYRE_SUBGROUP_INCLUSIVE_ADD, U32, i, 0);
    sum = subgroup(f, VYRE_SUBGROUP_SHUFFLE, U32, sum, form_builtin(f, VYRE_BUILTIN_LANES));
    uint32_t first = subgroup(f, VYRE_SUBGROUP_ELECT, VYRE_TYPE_BOOL, 0, 0);
    first = subgroup(f, VYRE_SUBGROUP_ANY, VYRE_TYPE_BOOL, first, 0);
    uint32_t bits = subgroup(f, VYRE_SUBGROUP_BALLOT, VYRE_TYPE_U32X4, first, 0);
    sum = form_op(f, VYRE_OP_ADD, U32, sum, form_ins(f, VY_SSA_COMPONENT, U32, 0, bits, 0, 0, 0));
    form_store(f, out, i, sum);
    form_end(f, VY_END_RETURN);
    writes(f, out);
}

static void build_subgroup_wide(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_INOUT, "a", VYRE_TYPE_U64);
    uint32_t i = gid(f);
    uint32_t x = form_load(f, a, i);
    form_store(f, a, i, subgroup(f, VYRE_SUBGROUP_ADD, VYRE_TYPE_U64, x, 0));
    form_end(f, VY_END_RETURN);
    writes(f, a);
}

static void build_subgroup_extreme(form *f)
{
    uint32_t a = form_buffer(f, VYRE_BUFFER_INOUT, "a", F32);
    uint32_t i = gid(f);
    form_store(f, a, i, subgroup(f, VYRE_SUBGROUP_MIN, F32, form_load(f, a, i), 0));
    form_end(f, VY_END_RETURN);
    writes(f, a);
}

const construct constructs[] = {
    {"copy", build_copy},
    {"unchecked", build_unchecked},
    {"agnostic", build_agnostic},
    {"bool_memory", build_bool_memory},
    {"float_arithmetic", build_float_arithmetic},
    {"divide", build_divide},
    {"fast_divide", build_fast_divide},
    {"trigonometry", build_trigonometry},
    {"integer_division", build_integer_division},
    {"if", build_if},
    {"loop", build_loop},
    {"switch", build_switch},
    {"unreachable_merge", build_unreachable_merge},
    {"atomics", build_atomics},
    {"float_atomics", build_float_atomics},
    {"shared", build_shared},
    {"array", build_array},
    {"tables", build_tables},
    {"spill", build_spill},
    {"record", build_record},
    {"inputs", build_inputs},
    {"small_elements", build_small_elements},
    {"wide_integers", build_wide_integers},
    {"halves", build_halves},
    {"doubles", build_doubles},
    {"fma", build_fma},
    {"vectors", build_vectors},
    {"wide_atomics", build_wide_atomics},
    {"subgroups", build_subgroups},
    {"subgroup_wide", build_subgroup_wide},
    {"subgroup_extreme", build_subgroup_extreme},
};
const uint32_t construct_count = VY_COUNT_OF(constructs);

void construct_begin(form *f, const char *name)
{
    for (uint32_t i = 0; i < construct_count; i++) {
        if (strcmp(constructs[i].name, name) == 0) {
            form_init(f);
            constructs[i].build(f);
            return;
        }
    }
    fail_msg("no construct %s", name);
}
