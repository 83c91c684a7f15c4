/* Subgroup operations on the device, against their meaning lane by lane: for every type, in whole
 * subgroups, in a partial last one, and where only some lanes take part. */
#include "batch.h"

#include "bench.h"
#include "judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <spirv/unified1/spirv.h>
#include <string.h>

#define MAX_N 130u

static const vyre_type types[] = {VYRE_TYPE_U8,  VYRE_TYPE_I8,  VYRE_TYPE_U16, VYRE_TYPE_I16,
                                  VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_U64, VYRE_TYPE_I64,
                                  VYRE_TYPE_F16, VYRE_TYPE_F32, VYRE_TYPE_F64};

static gpu *device;

typedef struct run_of {
    vyre_subgroup op;
    vyre_type type, result;
    uint32_t n;   /* invocations of the one workgroup */
    bool is_half; /* only lanes whose value in `takes` is not zero take part */
    uint32_t target, interface;
    const uint64_t *x;
    const uint32_t *y, *takes;
} run_of;

static void run(const run_of *r, uint8_t *out)
{
    uint8_t in[MAX_N * 8];
    uint32_t size = vyre_type_size(r->type), out_size = vyre_type_size(r->result);
    const gpu_buffer buffers[] = {{in, r->n * size, r->n},
                                  {(void *)(uintptr_t)r->y, 4 * r->n, r->n},
                                  {(void *)(uintptr_t)r->takes, 4 * r->n, r->n},
                                  {out, out_size * r->n, r->n}};
    form f;
    form_init(&f);
    f.program.workgroup[0] = r->n;
    f.options.target = (vyre_target)r->target;
    batch_pack(r->type, r->x, r->n, in);
    uint32_t x_buffer = form_buffer(&f, VYRE_BUFFER_IN, "x", r->type);
    uint32_t y_buffer = form_buffer(&f, VYRE_BUFFER_IN, "y", VYRE_TYPE_U32);
    uint32_t takes = form_buffer(&f, VYRE_BUFFER_IN, "takes", VYRE_TYPE_BOOL);
    uint32_t to = form_buffer(&f, VYRE_BUFFER_OUT, "out", r->result);
    f.options.module_writes = 8;
    uint32_t i = form_builtin(&f, VYRE_BUILTIN_LID_X);
    uint32_t x = form_load(&f, x_buffer, i), y = form_load(&f, y_buffer, i);
    uint32_t end = 0;
    if (r->is_half) {
        uint32_t condition = form_load(&f, takes, i), inside = form_block(&f);
        end = form_block(&f);
        form_if(&f, condition, inside, end, end);
        form_at(&f, inside);
    }
    uint32_t value = form_ins(&f, VY_SSA_SUBGROUP, r->result, 0, x, y, 0, 0);
    f.ssa.ins.data[value].subgroup = (uint8_t)r->op;
    form_store(&f, to, i, value);
    if (r->is_half) {
        form_jump(&f, end);
        form_at(&f, end);
    }
    form_end(&f, VY_END_RETURN);
    memset(out, 0xee, (size_t)out_size * r->n);
    gpu_prepare(device, &f, NULL, 0);
    gpu_run(device, &f, buffers, NULL, 1);
    form_finish(&f);
}

/* ---- Meaning --------------------------------------------------------------------------------- */

static double float_value(vyre_type type, uint64_t bits)
{
    return type == VYRE_TYPE_F64   ? batch_double(bits)
           : type == VYRE_TYPE_F16 ? batch_f16_value(bits)
                                   : (double)float_of((uint32_t)bits);
}

static uint64_t float_bits(vyre_type type, double value)
{
    return type == VYRE_TYPE_F64   ? batch_bits(value)
           : type == VYRE_TYPE_F16 ? batch_f16_of(value)
                                   : bits_of((float)value);
}

static uint64_t fold_floats(vyre_op op, vyre_type type, uint64_t x, uint64_t y)
{
    double a = float_value(type, x), b = float_value(type, y);
    if (op == VYRE_OP_ADD || op == VYRE_OP_MUL) {
        return float_bits(type, op == VYRE_OP_ADD ? a + b : a * b);
    }
    if (isnan(a) || isnan(b)) {
        return isnan(a) ? y : x;
    }
    bool first = a < b || (a == b && signbit(a));
    return first == (op == VYRE_OP_MIN) ? x : y;
}

static uint64_t fold(vyre_op op, vyre_type type, uint64_t x, uint64_t y)
{
    if (vy_type_is_float(type)) {
        return fold_floats(op, type, x, y);
    }
    bool is_less = vy_type_is_signed(type)
                       ? vy_type_signed_value(type, x) < vy_type_signed_value(type, y)
                       : x < y;
    switch ((int)op) {
    case VYRE_OP_ADD:
        return vy_type_bits(type, x + y);
    case VYRE_OP_MUL:
        return vy_type_bits(type, x * y);
    case VYRE_OP_MIN:
        return is_less ? x : y;
    case VYRE_OP_MAX:
        return is_less ? y : x;
    case VYRE_OP_AND:
        return x & y;
    case VYRE_OP_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

static uint64_t identity(vyre_op op, vyre_type type)
{
    uint32_t width = vy_type_width(type);
    bool is_signed = vy_type_is_signed(type);
    if (vy_type_is_float(type)) {
        return float_bits(type, op == VYRE_OP_MUL   ? 1
                                : op == VYRE_OP_MIN ? INFINITY
                                : op == VYRE_OP_MAX ? -INFINITY
                                                    : 0);
    }
    switch ((int)op) {
    case VYRE_OP_MUL:
        return 1;
    case VYRE_OP_MIN:
        return vy_type_bits(type, is_signed ? UINT64_MAX >> (65 - width) : UINT64_MAX);
    case VYRE_OP_MAX:
        return is_signed ? (uint64_t)1 << (width - 1) : 0;
    case VYRE_OP_AND:
        return vy_type_bits(type, UINT64_MAX);
    default:
        return 0;
    }
}

static bool takes_part(const run_of *r, uint32_t invocation)
{
    return invocation < r->n && (!r->is_half || r->takes[invocation]);
}

static uint64_t expect_reduction(const run_of *r, uint32_t i)
{
    const vy_subgroup_info *info = vy_subgroup_get(r->op);
    uint32_t width = gpu_subgroup_size(device), first = i / width * width;
    uint32_t end = info->kind == VY_SUBGROUP_REDUCE      ? first + width
                   : info->kind == VY_SUBGROUP_INCLUSIVE ? i + 1
                                                         : i;
    bool has = info->kind == VY_SUBGROUP_EXCLUSIVE;
    uint64_t all = has ? identity(info->op, r->type) : 0;
    for (uint32_t k = first; k < end; k++) {
        if (takes_part(r, k)) {
            all = has ? fold(info->op, r->type, all, r->x[k]) : r->x[k];
            has = true;
        }
    }
    return all;
}

static uint64_t expect_lane(const run_of *r, uint32_t i)
{
    uint32_t width = gpu_subgroup_size(device), first = i / width * width, self = i - first;
    uint64_t lane = r->y[i];
    switch ((int)r->op) {
    case VYRE_SUBGROUP_SHUFFLE_XOR:
        lane ^= self;
        break;
    case VYRE_SUBGROUP_SHUFFLE_UP:
        lane = lane > self ? UINT64_MAX : self - lane;
        break;
    case VYRE_SUBGROUP_SHUFFLE_DOWN:
        lane += self;
        break;
    default:
        break;
    }
    return lane < width && takes_part(r, first + (uint32_t)lane) ? r->x[first + lane] : 0;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static uint32_t takes[MAX_N], operands[MAX_N];
static uint64_t values[MAX_N];

static void fill(vyre_type type, uint64_t seed)
{
    static const uint32_t lanes[] = {0,  1,  2,  3,   7,          8,           9,
                                     31, 32, 64, 128, 0x7fffffff, 0x80000000u, 0xffffffffu};
    static uint64_t known[256];
    if (vy_type_is_float(type)) {
        batch_floats(type, known, 256);
    } else {
        batch_integers(type, known, 256);
    }
    for (uint32_t i = 0; i < MAX_N; i++) {
        values[i] = known[next_random(&seed) % 256];
        operands[i] = lanes[next_random(&seed) % VY_COUNT_OF(lanes)];
        takes[i] = next_random(&seed) & 1;
    }
}

static void judge(const run_of *r, const uint8_t *out, uint32_t i, uint64_t wanted)
{
    uint64_t got = 0;
    uint32_t size = vyre_type_size(r->result);
    memcpy(&got, out + (size_t)i * size, size);
    bool is_same =
        vy_type_is_float(r->result) ? batch_same_float(r->result, got, wanted) : got == wanted;
    if (!is_same) {
        fail_msg("%s of %s: invocation %u of %u%s gets 0x%llx, not 0x%llx",
                 vy_subgroup_get(r->op)->text, vyre_type_keyword(r->type), i, r->n,
                 r->is_half ? ", some," : "", (unsigned long long)got, (unsigned long long)wanted);
    }
}

static bool has_order(const run_of *r)
{
    vyre_op op = vy_subgroup_get(r->op)->op;
    return vy_type_is_float(r->type) && (op == VYRE_OP_ADD || op == VYRE_OP_MUL);
}

static void check(run_of *r)
{
    uint8_t out[MAX_N * 16];
    vy_subgroup_kind kind = vy_subgroup_get(r->op)->kind;
    run(r, out);
    for (uint32_t i = 0; i < r->n; i++) {
        if (takes_part(r, i)) {
            judge(r, out, i, kind == VY_SUBGROUP_LANE ? expect_lane(r, i) : expect_reduction(r, i));
        }
    }
}

static bool is_defined(vyre_op op, vyre_type type)
{
    bool is_bitwise = op == VYRE_OP_AND || op == VYRE_OP_OR || op == VYRE_OP_XOR;
    return !is_bitwise || !vy_type_is_float(type);
}

static void test_reductions_and_scans(void **state)
{
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(types); t++) {
        for (int op = VYRE_SUBGROUP_ADD; op < VYRE_SUBGROUP_COUNT; op++) {
            run_of r = {.op = (vyre_subgroup)op,
                        .type = types[t],
                        .result = types[t],
                        .n = 61,
                        .is_half = op & 1,
                        .x = values,
                        .y = operands,
                        .takes = takes};
            fill(types[t], 100 + (uint64_t)op);
            if (!is_defined(vy_subgroup_get(r.op)->op, types[t]) || has_order(&r)) {
                continue;
            }
            check(&r);
            r.is_half = !r.is_half;
            check(&r);
        }
    }
}

/* Small whole numbers have no order that shows. */
static void test_float_sums_of_whole_numbers(void **state)
{
    static const vyre_type floats[] = {VYRE_TYPE_F16, VYRE_TYPE_F32, VYRE_TYPE_F64};
    static const vyre_subgroup ops[] = {VYRE_SUBGROUP_ADD, VYRE_SUBGROUP_INCLUSIVE_ADD,
                                        VYRE_SUBGROUP_EXCLUSIVE_ADD, VYRE_SUBGROUP_MUL,
                                        VYRE_SUBGROUP_EXCLUSIVE_MUL};
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(floats) * VY_COUNT_OF(ops); t++) {
        vyre_type type = floats[t / VY_COUNT_OF(ops)];
        run_of r = {.op = ops[t % VY_COUNT_OF(ops)],
                    .type = type,
                    .result = type,
                    .n = 29,
                    .is_half = true,
                    .x = values,
                    .y = operands,
                    .takes = takes};
        fill(type, t);
        for (uint32_t i = 0; i < MAX_N; i++) {
            values[i] = float_bits(type, (int)(i % 5) - 2 ? (int)(i % 5) - 2 : 1);
        }
        check(&r);
    }
}

static void test_lanes_that_are_not_there_read_as_zero(void **state)
{
    static const vyre_subgroup ops[] = {VYRE_SUBGROUP_BROADCAST, VYRE_SUBGROUP_SHUFFLE,
                                        VYRE_SUBGROUP_SHUFFLE_XOR, VYRE_SUBGROUP_SHUFFLE_UP,
                                        VYRE_SUBGROUP_SHUFFLE_DOWN};
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(types) * VY_COUNT_OF(ops); t++) {
        vyre_type type = types[t / VY_COUNT_OF(ops)];
        run_of r = {.op = ops[t % VY_COUNT_OF(ops)],
                    .type = type,
                    .result = type,
                    .n = 61,
                    .target = t & 1,
                    .x = values,
                    .y = operands,
                    .takes = takes};
        fill(type, 3 * t);
        check(&r);
        r.is_half = true;
        check(&r);
    }
}

static void test_votes_ballots_and_the_first_lane(void **state)
{
    static uint8_t out[MAX_N * 16];
    (void)state;
    fill(VYRE_TYPE_U32, 77);
    for (uint32_t i = 0; i < MAX_N; i++) {
        values[i] = i < 16 ? 1 : i < 32 ? 0 : values[i] & 1;
    }
    run_of r = {.type = VYRE_TYPE_BOOL,
                .n = 61,
                .is_half = true,
                .x = values,
                .y = operands,
                .takes = takes};
    for (uint32_t k = 0; device && k < 5; k++) {
        static const vyre_subgroup ops[] = {VYRE_SUBGROUP_ANY, VYRE_SUBGROUP_ALL,
                                            VYRE_SUBGROUP_BALLOT, VYRE_SUBGROUP_ELECT,
                                            VYRE_SUBGROUP_BROADCAST_FIRST};
        uint32_t width = gpu_subgroup_size(device);
        r.op = ops[k];
        r.result = r.op == VYRE_SUBGROUP_BALLOT ? VYRE_TYPE_U32X4 : VYRE_TYPE_BOOL;
        run(&r, out);
        for (uint32_t i = 0; i < r.n; i++) {
            uint32_t bits[4] = {0}, any = 0, all = 1, first = UINT32_MAX, got[4] = {0};
            for (uint32_t lane = 0; lane < width; lane++) {
                uint32_t at = i / width * width + lane;
                if (takes_part(&r, at)) {
                    any |= (uint32_t)values[at];
                    all &= (uint32_t)values[at];
                    bits[lane / 32] |= (uint32_t)values[at] << lane % 32;
                    first = first == UINT32_MAX ? at : first;
                }
            }
            if (!takes_part(&r, i)) {
                continue;
            }
            memcpy(got, out + i * vyre_type_size(r.result), vyre_type_size(r.result));
            switch (k) {
            case 0:
                assert_int_equal(got[0], any);
                break;
            case 1:
                assert_int_equal(got[0], all);
                break;
            case 2:
                assert_memory_equal(got, bits, sizeof bits);
                break;
            case 3:
                assert_int_equal(got[0], first == i);
                break;
            default:
                assert_int_equal(got[0], values[first]);
            }
        }
    }
}

static void test_lane_numbers(void **state)
{
    uint32_t out[64];
    const gpu_buffer buffers[] = {{out, sizeof out, 64}};
    (void)state;
    for (uint32_t pinned = 0; device && pinned < 2; pinned++) {
        form f;
        form_init(&f);
        f.program.subgroup_width = pinned ? gpu_subgroup_size(device) : 0;
        uint32_t to = form_buffer(&f, VYRE_BUFFER_OUT, "out", VYRE_TYPE_U32);
        uint32_t lane = form_builtin(&f, VYRE_BUILTIN_LANE);
        uint32_t lanes = form_builtin(&f, VYRE_BUILTIN_LANES);
        uint32_t i = form_builtin(&f, VYRE_BUILTIN_LID_X);
        form_store(&f, to, i,
                   form_op(&f, VYRE_OP_ADD, VYRE_TYPE_U32, lane,
                           form_op(&f, VYRE_OP_MUL, VYRE_TYPE_U32, lanes, form_u32(&f, 1000))));
        form_end(&f, VY_END_RETURN);
        f.options.module_writes = 1;
        gpu_prepare(device, &f, NULL, 0);
        gpu_run(device, &f, buffers, NULL, 1);
        uint32_t width = gpu_subgroup_size(device);
        for (uint32_t k = 0; k < 64; k++) {
            assert_int_equal(out[k], 1000 * width + k % width);
        }
        form_finish(&f);
    }
}

/* ---- Joined atomics -------------------------------------------------------------------------- */

enum { INVOCATIONS = 192 };

static uint32_t joined_one_by_one(vyre_atomic op, uint32_t cell, uint32_t x)
{
    switch ((int)op) {
    case VYRE_ATOMIC_ADD:
        return cell + x;
    case VYRE_ATOMIC_SUB:
        return cell - x;
    case VYRE_ATOMIC_MIN:
        return x < cell ? x : cell;
    case VYRE_ATOMIC_MAX:
        return x > cell ? x : cell;
    case VYRE_ATOMIC_AND:
        return cell & x;
    case VYRE_ATOMIC_OR:
        return cell | x;
    default:
        return cell ^ x;
    }
}

static uint32_t count_joined(const form *f)
{
    return judge_count(f->words, f->word_count, SpvOpGroupNonUniformElect) +
           judge_count(f->words, f->word_count, SpvOpGroupNonUniformBallot);
}

/* Each invocation, or where is_half every third, does the atomic with its number or all with 3. */
static void check_aggregated(vyre_atomic op, vyre_type type, bool is_uniform, bool is_half)
{
    uint32_t cells[2] = {1000, 7}, wanted = 1000;
    const gpu_buffer buffers[] = {{cells, sizeof cells, 2}};
    form f;
    form_init(&f);
    bool is_joined = gpu_has_maximal_reconvergence(device);
    f.options.aggregate = VYRE_AGGREGATE_STORAGE;
    f.options.reconvergence = is_joined ? VYRE_RECONVERGENCE_MAXIMAL : VYRE_RECONVERGENCE_NONE;
    uint32_t memory = form_buffer(&f, VYRE_BUFFER_INOUT, "memory", type);
    f.options.module_writes = 1;
    uint32_t i = form_builtin(&f, VYRE_BUILTIN_GID_X), zero = form_u32(&f, 0), end = 0;
    uint32_t number = form_op(&f, VYRE_OP_CAST, type, i, 0);
    uint32_t x = is_uniform ? form_literal(&f, type, 3) : number;
    if (is_half) {
        uint32_t third = form_op(&f, VYRE_OP_REM, VYRE_TYPE_U32, i, form_u32(&f, 3));
        uint32_t condition = form_op(&f, VYRE_OP_EQ, VYRE_TYPE_BOOL, third, zero);
        uint32_t inside = form_block(&f);
        end = form_block(&f);
        form_if(&f, condition, inside, end, end);
        form_at(&f, inside);
    }
    (void)form_atomic(&f, memory, op, VYRE_ORDER_RELAXED, zero, x, 0);
    /* Out of bounds, by all of them. */
    (void)form_atomic(&f, memory, op, VYRE_ORDER_RELAXED, form_u32(&f, 2), x, 0);
    if (is_half) {
        form_jump(&f, end);
        form_at(&f, end);
    }
    form_end(&f, VY_END_RETURN);
    gpu_prepare(device, &f, NULL, 0);
    assert_int_equal(count_joined(&f), is_joined ? 2 : 0);
    gpu_run(device, &f, buffers, NULL, INVOCATIONS / 64);
    for (uint32_t k = 0; k < INVOCATIONS; k++) {
        if (!is_half || k % 3 == 0) {
            wanted = joined_one_by_one(op, wanted, is_uniform ? 3 : k);
        }
    }
    assert_int_equal(cells[0], wanted);
    assert_int_equal(cells[1], 7);
    form_finish(&f);
}

static void test_aggregated_atomics_change_nothing(void **state)
{
    static const vyre_atomic ops[] = {VYRE_ATOMIC_ADD, VYRE_ATOMIC_SUB, VYRE_ATOMIC_MIN,
                                      VYRE_ATOMIC_MAX, VYRE_ATOMIC_AND, VYRE_ATOMIC_OR,
                                      VYRE_ATOMIC_XOR};
    (void)state;
    for (size_t i = 0; device && i < VY_COUNT_OF(ops); i++) {
        for (uint32_t k = 0; k < 8; k++) {
            check_aggregated(ops[i], k & 1 ? VYRE_TYPE_I32 : VYRE_TYPE_U32, (k & 2) != 0,
                             (k & 4) != 0);
        }
    }
}

/* One atomic, and what of it is joined. */
typedef struct joined_row {
    uint8_t aggregate, reconvergence, type, order, op;
    bool is_shared, is_known, is_read; /* known: the index is one for all; read: the old value */
    uint32_t joined;
} joined_row;

static void check_joined(const joined_row *r)
{
    form f;
    vyre_type type = (vyre_type)r->type;
    form_init(&f);
    f.options.aggregate = r->aggregate;
    f.options.reconvergence = (vyre_reconvergence)r->reconvergence;
    uint32_t memory = r->is_shared ? form_shared(&f, "s", type, 8)
                                   : form_buffer(&f, VYRE_BUFFER_INOUT, "memory", type);
    uint32_t to = form_buffer(&f, VYRE_BUFFER_OUT, "olds", type);
    f.options.module_writes = 3;
    uint32_t i = form_builtin(&f, VYRE_BUILTIN_GID_X);
    uint32_t group = form_builtin(&f, VYRE_BUILTIN_WID_X);
    uint32_t index =
        form_op(&f, VYRE_OP_AND, VYRE_TYPE_U32, r->is_known ? group : i, form_u32(&f, 7));
    uint32_t x = form_literal(&f, type, 3);
    uint32_t old = form_atomic(&f, memory, (vyre_atomic)r->op, (vyre_order)r->order, index, x, 0);
    if (r->is_read) {
        form_store(&f, to, i, old);
    }
    form_end(&f, VY_END_RETURN);
    form_emit(&f);
    assert_int_equal(count_joined(&f), r->joined);
    assert_int_equal(judge_count(f.words, f.word_count, SpvOpGroupNonUniformBroadcastFirst),
                     r->joined && r->is_read);
    form_finish(&f);
}

static void test_only_what_changes_nothing_is_joined(void **state)
{
    enum {
        STORAGE = VYRE_AGGREGATE_STORAGE,
        SHARED = VYRE_AGGREGATE_SHARED,
        OLD = VYRE_AGGREGATE_OLD,
        NONE = VYRE_RECONVERGENCE_NONE,
        UNIFORM = VYRE_RECONVERGENCE_UNIFORM,
        MAXIMAL = VYRE_RECONVERGENCE_MAXIMAL,
        U32 = VYRE_TYPE_U32,
        RELAXED = VYRE_ORDER_RELAXED,
        ADD = VYRE_ATOMIC_ADD
    };
    static const joined_row rows[] = {
        {STORAGE, MAXIMAL, U32, RELAXED, ADD, false, true, false, 1},
        {SHARED, MAXIMAL, U32, RELAXED, ADD, true, true, false, 1},
        {STORAGE, MAXIMAL, U32, RELAXED, ADD, true, true, false, 0},
        {SHARED, MAXIMAL, U32, RELAXED, ADD, false, true, false, 0},
        {STORAGE | SHARED, MAXIMAL, VYRE_TYPE_I32, RELAXED, VYRE_ATOMIC_MAX, true, true, false, 1},
        {STORAGE, MAXIMAL, U32, RELAXED, ADD, false, false, false, 0},
        /* Nothing else promises that one block's instructions see the same lanes. */
        {STORAGE, NONE, U32, RELAXED, ADD, false, true, false, 0},
        {SHARED, NONE, U32, RELAXED, ADD, true, true, false, 0},
        {STORAGE | SHARED, NONE, VYRE_TYPE_I32, RELAXED, VYRE_ATOMIC_MAX, true, true, false, 0},
        {STORAGE, UNIFORM, U32, RELAXED, ADD, false, true, false, 0},
        {SHARED, UNIFORM, U32, RELAXED, ADD, true, true, false, 0},
        {STORAGE | OLD, MAXIMAL, U32, RELAXED, ADD, false, true, true, 1},
        {STORAGE | OLD, NONE, U32, RELAXED, ADD, false, true, true, 0},
        {STORAGE | OLD, UNIFORM, U32, RELAXED, ADD, false, true, true, 0},
        {STORAGE, MAXIMAL, U32, RELAXED, ADD, false, true, true, 0},
        {OLD, MAXIMAL, U32, RELAXED, ADD, false, true, true, 0},
        /* An order is each invocation's own; so is what others see of exchanges. */
        {VYRE_AGGREGATE_ALL, MAXIMAL, U32, VYRE_ORDER_ACQUIRE, ADD, false, true, false, 0},
        {VYRE_AGGREGATE_ALL, MAXIMAL, U32, VYRE_ORDER_ACQ_REL, ADD, true, true, false, 0},
        {VYRE_AGGREGATE_ALL, MAXIMAL, U32, RELAXED, VYRE_ATOMIC_EXCHANGE, true, true, false, 0},
        {VYRE_AGGREGATE_ALL, MAXIMAL, VYRE_TYPE_F32, RELAXED, ADD, false, true, false, 0},
        {VYRE_AGGREGATE_ALL, MAXIMAL, VYRE_TYPE_U64, RELAXED, ADD, false, true, false, 0},
        {0, MAXIMAL, U32, RELAXED, ADD, false, true, false, 0},
    };
    (void)state;
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        check_joined(&rows[i]);
    }
}

static int setup(void **state)
{
    (void)state;
    device = gpu_open();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    gpu_close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reductions_and_scans),
        cmocka_unit_test(test_float_sums_of_whole_numbers),
        cmocka_unit_test(test_lanes_that_are_not_there_read_as_zero),
        cmocka_unit_test(test_votes_ballots_and_the_first_lane),
        cmocka_unit_test(test_lane_numbers),
        cmocka_unit_test(test_aggregated_atomics_change_nothing),
        cmocka_unit_test(test_only_what_changes_nothing_is_joined),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
