/* Subgroup operations over the invocations that reach them. Values of up to 32 bits go as words, so
 * that no feature for other types is needed; wider ones as two words where the operation only moves
 * or joins bits, and lane by lane where it computes. A lane that does not exist or is not active
 * reads as zero, whatever the device would give. */
#include "codegen/spirv/emit_int.h"

typedef struct vy_subgroup_op {
    vy_emitter *emitter;
    vy_module *m;
    const vy_ins *ins;
    const vy_subgroup_info *info;
    vyre_type type; /* of the value */
    uint32_t scope, word, ballot_type;
} vy_subgroup_op;

static bool is_wide(vyre_type type)
{
    return vy_type_width(type) == 64;
}

/* ---- Values as words ------------------------------------------------------------------------- */

static uint32_t raw_type(const vy_subgroup_op *s)
{
    return is_wide(s->type) ? vy_type_u32_vector(s->m, 2) : s->word;
}

/* The register's bits. */
static uint32_t to_raw(const vy_subgroup_op *s, uint32_t value)
{
    if (is_wide(s->type)) {
        return vy_v1(s->m, SpvOpBitcast, raw_type(s), value);
    }
    return s->type == VYRE_TYPE_F16 ? vy_bits_of(s->m, value)
                                    : vy_emit_to_word(s->emitter, s->type, value);
}

static uint32_t from_raw(const vy_subgroup_op *s, uint32_t raw)
{
    if (is_wide(s->type)) {
        return vy_v1(s->m, SpvOpBitcast, vy_emit_type(s->emitter, s->type), raw);
    }
    if (vy_type_is_integer(s->type)) {
        return raw;
    }
    return s->type == VYRE_TYPE_F16 ? vy_f32_of(s->m, raw)
                                    : vy_emit_from_word(s->emitter, s->type, raw);
}

static uint32_t raw_zero(const vy_subgroup_op *s)
{
    return is_wide(s->type) ? vy_const_null(s->m, raw_type(s)) : vy_const_u32(s->m, 0);
}

/* ---- Votes ----------------------------------------------------------------------------------- */

static uint32_t vote(const vy_subgroup_op *s, SpvOp op, uint32_t condition)
{
    vy_module_capability(s->m, SpvCapabilityGroupNonUniformVote);
    return vy_value(s->m, op, vy_type_bool(s->m), VY_LIST(s->scope, condition));
}

static uint32_t ballot(const vy_subgroup_op *s, uint32_t condition)
{
    vy_module_capability(s->m, SpvCapabilityGroupNonUniformBallot);
    return vy_value(s->m, SpvOpGroupNonUniformBallot, s->ballot_type, VY_LIST(s->scope, condition));
}

static uint32_t active(const vy_subgroup_op *s)
{
    return ballot(s, vy_const_bool(s->m, true));
}

static uint32_t has_bit(const vy_subgroup_op *s, uint32_t bits, uint32_t lane)
{
    return vy_value(s->m, SpvOpGroupNonUniformBallotBitExtract, vy_type_bool(s->m),
                    VY_LIST(s->scope, bits, lane));
}

/* ---- Reading lanes --------------------------------------------------------------------------- */

static uint32_t shuffle(const vy_subgroup_op *s, uint32_t raw, uint32_t lane)
{
    vy_module_capability(s->m, SpvCapabilityGroupNonUniformShuffle);
    return vy_value(s->m, SpvOpGroupNonUniformShuffle, raw_type(s), VY_LIST(s->scope, raw, lane));
}

/* The lane that is read, and whether there may be one: *out_ok. */
static uint32_t lane_of(const vy_subgroup_op *s, uint32_t operand, uint32_t *out_ok)
{
    vy_module *m = s->m;
    uint32_t self = vy_emit_input(s->emitter, VY_INPUT_LANE);
    uint32_t lanes = vy_emit_input(s->emitter, VY_INPUT_LANES);
    uint32_t lane = operand;
    switch ((int)s->ins->subgroup) {
    case VYRE_SUBGROUP_SHUFFLE_UP:
        *out_ok = vy_b2(m, SpvOpULessThanEqual, operand, self);
        return vy_u2(m, SpvOpISub, self, operand);
    case VYRE_SUBGROUP_SHUFFLE_DOWN: {
        uint32_t above = vy_u2(m, SpvOpISub, lanes, self);
        *out_ok = vy_b2(m, SpvOpULessThan, operand, above);
        return vy_u2(m, SpvOpIAdd, self, operand);
    }
    case VYRE_SUBGROUP_SHUFFLE_XOR:
        lane = vy_u2(m, SpvOpBitwiseXor, self, operand);
        break;
    default:
        break;
    }
    *out_ok = vy_b2(m, SpvOpULessThan, lane, lanes);
    return lane;
}

static uint32_t read_lane(const vy_subgroup_op *s, uint32_t value, uint32_t operand)
{
    vy_module *m = s->m;
    uint32_t ok = 0, lane = lane_of(s, operand, &ok);
    uint32_t self = vy_emit_input(s->emitter, VY_INPUT_LANE);
    uint32_t bits = active(s);
    lane = vy_select_u(m, ok, lane, self);
    uint32_t is_there = has_bit(s, bits, lane);
    ok = vy_b2(m, SpvOpLogicalAnd, ok, is_there);
    lane = vy_select_u(m, ok, lane, self);
    uint32_t raw = to_raw(s, value);
    raw = shuffle(s, raw, lane);
    raw = vy_select(m, raw_type(s), ok, raw, raw_zero(s));
    return from_raw(s, raw);
}

static uint32_t broadcast_first(const vy_subgroup_op *s, uint32_t value)
{
    vy_module_capability(s->m, SpvCapabilityGroupNonUniformBallot);
    uint32_t raw = to_raw(s, value);
    raw = vy_value(s->m, SpvOpGroupNonUniformBroadcastFirst, raw_type(s), VY_LIST(s->scope, raw));
    return from_raw(s, raw);
}

/* ---- Reductions and scans -------------------------------------------------------------------- */

static SpvGroupOperation group_operation(const vy_subgroup_op *s)
{
    return s->info->kind == VY_SUBGROUP_REDUCE      ? SpvGroupOperationReduce
           : s->info->kind == VY_SUBGROUP_INCLUSIVE ? SpvGroupOperationInclusiveScan
                                                    : SpvGroupOperationExclusiveScan;
}

static uint32_t native(const vy_subgroup_op *s, SpvOp op, uint32_t type, uint32_t value)
{
    vy_module_capability(s->m, SpvCapabilityGroupNonUniformArithmetic);
    return vy_value(s->m, op, type, VY_LIST(s->scope, (uint32_t)group_operation(s), value));
}

static SpvOp native_op(vyre_op op, bool is_signed)
{
    switch ((int)op) {
    case VYRE_OP_ADD:
        return SpvOpGroupNonUniformIAdd;
    case VYRE_OP_MUL:
        return SpvOpGroupNonUniformIMul;
    case VYRE_OP_MIN:
        return is_signed ? SpvOpGroupNonUniformSMin : SpvOpGroupNonUniformUMin;
    case VYRE_OP_MAX:
        return is_signed ? SpvOpGroupNonUniformSMax : SpvOpGroupNonUniformUMax;
    case VYRE_OP_AND:
        return SpvOpGroupNonUniformBitwiseAnd;
    case VYRE_OP_OR:
        return SpvOpGroupNonUniformBitwiseOr;
    default:
        return SpvOpGroupNonUniformBitwiseXor;
    }
}

/* The first value of an exclusive scan is the instruction's identity, that of 32 bits: brought into
 * the range of a narrow type. */
static uint32_t reduce_integer(const vy_subgroup_op *s, uint32_t value)
{
    vy_ints k = vy_ints_of(s->emitter, s->type);
    uint32_t result = native(s, native_op(s->info->op, k.is_signed), k.type, value);
    if (k.width == k.bits) {
        return result;
    }
    if (s->info->op != VYRE_OP_MIN && s->info->op != VYRE_OP_MAX) {
        return vy_wrap(&k, result);
    }
    bool is_min = s->info->op == VYRE_OP_MIN;
    uint32_t limit = vy_ic(&k, is_min ? vy_int_most(&k) : vy_int_least(&k));
    SpvOp beyond = is_min ? (k.is_signed ? SpvOpSGreaterThan : SpvOpUGreaterThan)
                          : (k.is_signed ? SpvOpSLessThan : SpvOpULessThan);
    uint32_t is_beyond = vy_b2(s->m, beyond, result, limit);
    return vy_select_i(&k, is_beyond, limit, result);
}

/* Bits of an f32 as a signed integer in the order of the numbers, and back: the same. */
static uint32_t turn_key(vy_module *m, uint32_t bits)
{
    uint32_t sign = vy_u2c(m, SpvOpShiftRightArithmetic, bits, 31);
    sign = vy_u2c(m, SpvOpBitwiseAnd, sign, VY_F32_MAGNITUDE);
    return vy_u2(m, SpvOpBitwiseXor, bits, sign);
}

/* A NaN loses: its key lies beyond infinity. An exclusive scan starts at infinity. */
static uint32_t reduce_extreme(const vy_subgroup_op *s, uint32_t value)
{
    vy_module *m = s->m;
    bool is_min = s->info->op == VYRE_OP_MIN;
    uint32_t bits = vy_bits_of(m, value);
    uint32_t is_nan = vy_emit_is_nan_bits(s->emitter, bits);
    uint32_t key = turn_key(m, bits);
    uint32_t loser = vy_const_u32(m, is_min ? VY_F32_NAN : ~VY_F32_NAN);
    key = vy_select_u(m, is_nan, loser, key);
    key = native(s, is_min ? SpvOpGroupNonUniformSMin : SpvOpGroupNonUniformSMax, s->word, key);
    uint32_t limit = vy_const_u32(m, is_min ? VY_F32_INFINITY : ~VY_F32_INFINITY);
    uint32_t beyond = vy_b2(m, is_min ? SpvOpSGreaterThan : SpvOpSLessThan, key, limit);
    uint32_t infinity = vy_const_u32(m, VY_F32_INFINITY | (is_min ? 0 : VY_F32_SIGN));
    uint32_t nan = vy_const_u32(m, VY_F32_NAN);
    bits = turn_key(m, key);
    bits = vy_select_u(m, beyond, s->info->kind == VY_SUBGROUP_EXCLUSIVE ? infinity : nan, bits);
    return vy_f32_of(m, bits);
}

/* The order of float sums and products is open. */
static uint32_t reduce_f32(const vy_subgroup_op *s, uint32_t value)
{
    if (s->info->op == VYRE_OP_MIN || s->info->op == VYRE_OP_MAX) {
        return reduce_extreme(s, value);
    }
    SpvOp op = s->info->op == VYRE_OP_ADD ? SpvOpGroupNonUniformFAdd : SpvOpGroupNonUniformFMul;
    uint32_t result = native(s, op, vy_type_f32(s->m), value);
    return s->type == VYRE_TYPE_F16 ? vy_emit_round_f16(s->emitter, result) : result;
}

/* Where folding begins, as a value of 64 bits. Extremes of floats begin with a NaN, which loses,
 * but for exclusive scans. */
static uint32_t first_of(const vy_subgroup_op *s)
{
    bool is_float = vy_type_is_float(s->type), is_min = s->info->op == VYRE_OP_MIN;
    uint64_t bits = 0;
    if (s->info->op == VYRE_OP_MUL) {
        bits = is_float ? (uint64_t)1023 << 52 : 1;
    } else if (s->info->op == VYRE_OP_MIN || s->info->op == VYRE_OP_MAX) {
        vy_ints k = vy_ints_of(s->emitter, is_float ? VYRE_TYPE_I64 : s->type);
        bits = is_min ? vy_int_most(&k) : vy_int_least(&k);
        if (is_float) {
            bits = s->info->kind != VY_SUBGROUP_EXCLUSIVE ? 0x7ff8000000000000u
                   : is_min                               ? 0x7ff0000000000000u
                                                          : 0xfff0000000000000u;
        }
    }
    return is_float ? vy_const_f64(s->m, bits) : vy_const_u64(s->m, bits);
}

static uint32_t fold(const vy_subgroup_op *s, uint32_t a, uint32_t b)
{
    const uint32_t operands[4] = {a, b, 0, 0};
    vy_ins ins = {.op = (uint16_t)s->info->op, .type = (uint8_t)s->type, .loc = s->ins->loc};
    return vy_type_is_float(s->type) ? vy_emit_f64(s->emitter, &ins, operands)
                                     : vy_emit_integer(s->emitter, &ins, operands, s->type);
}

/* for (i = 0; i < lanes; i++) if lane i counts: all = fold(all, value of lane i). The same trips
 * for all that reach it. */
static uint32_t reduce_by_lanes(const vy_subgroup_op *s, uint32_t value)
{
    vy_module *m = s->m;
    uint32_t type = vy_emit_type(s->emitter, s->type), raw = to_raw(s, value);
    uint32_t self = vy_emit_input(s->emitter, VY_INPUT_LANE);
    uint32_t lanes = vy_emit_input(s->emitter, VY_INPUT_LANES);
    uint32_t bits = active(s), start = first_of(s), zero = vy_const_u32(m, 0);
    uint32_t before = s->emitter->current_label;
    uint32_t header = vy_module_id(m), body = vy_module_id(m), next = vy_module_id(m);
    uint32_t merge = vy_module_id(m), i_next = vy_module_id(m), all_next = vy_module_id(m);
    vy_jump(m, header);
    vy_emitter_label(s->emitter, header);
    uint32_t i = vy_value(m, SpvOpPhi, s->word, VY_LIST(zero, before, i_next, next));
    uint32_t all = vy_value(m, SpvOpPhi, type, VY_LIST(start, before, all_next, next));
    uint32_t more = vy_b2(m, SpvOpULessThan, i, lanes);
    vy_effect(m, SpvOpLoopMerge, VY_LIST(merge, next, SpvLoopControlMaskNone));
    vy_effect(m, SpvOpBranchConditional, VY_LIST(more, body, merge));
    vy_emitter_label(s->emitter, body);
    uint32_t counts = has_bit(s, bits, i);
    uint32_t source = vy_select_u(m, counts, i, self);
    if (s->info->kind != VY_SUBGROUP_REDUCE) {
        SpvOp op = s->info->kind == VY_SUBGROUP_INCLUSIVE ? SpvOpULessThanEqual : SpvOpULessThan;
        uint32_t is_before = vy_b2(m, op, i, self);
        counts = vy_b2(m, SpvOpLogicalAnd, counts, is_before);
    }
    uint32_t other = shuffle(s, raw, source);
    other = from_raw(s, other);
    uint32_t sum = fold(s, all, other);
    vy_jump(m, next);
    vy_emitter_label(s->emitter, next);
    uint32_t one = vy_const_u32(m, 1);
    vy_select_as(m, all_next, type, counts, sum, all);
    vy_effect(m, SpvOpIAdd, VY_LIST(s->word, i_next, i, one));
    vy_jump(m, header);
    vy_emitter_label(s->emitter, merge);
    return all;
}

static bool is_bitwise(vyre_op op)
{
    return op == VYRE_OP_AND || op == VYRE_OP_OR || op == VYRE_OP_XOR;
}

static uint32_t reduce(const vy_subgroup_op *s, uint32_t value)
{
    if (is_wide(s->type)) {
        if (!is_bitwise(s->info->op)) {
            return reduce_by_lanes(s, value);
        }
        uint32_t raw = to_raw(s, value);
        raw = native(s, native_op(s->info->op, false), raw_type(s), raw);
        return from_raw(s, raw);
    }
    return vy_type_is_float(s->type) ? reduce_f32(s, value) : reduce_integer(s, value);
}

/* ---- All ------------------------------------------------------------------------------------- */

bool vy_emit_subgroup_splits(const vy_emitter *emitter, const vy_ins *ins)
{
    const vy_subgroup_info *info = vy_subgroup_get((vyre_subgroup)ins->subgroup);
    return info->kind >= VY_SUBGROUP_REDUCE && is_wide(vy_emitter_type(emitter, ins->arg[0])) &&
           !is_bitwise(info->op);
}

uint32_t vy_emit_subgroup(vy_emitter *emitter, const vy_ins *ins)
{
    vy_module *m = &emitter->module;
    vy_subgroup_op s = {.emitter = emitter, .m = m, .ins = ins};
    uint32_t x = 0, y = 0;
    s.info = vy_subgroup_get((vyre_subgroup)ins->subgroup);
    s.type = vy_emitter_type(emitter, ins->arg[0]);
    vy_module_capability(m, SpvCapabilityGroupNonUniform);
    s.scope = vy_const_u32(m, SpvScopeSubgroup);
    s.word = vy_type_u32(m);
    s.ballot_type = vy_type_u32_vector(m, 4);
    if (s.info->operand_count > 0) {
        x = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    }
    if (s.info->operand_count > 1) {
        y = vy_emitter_value(emitter, ins->arg[1], ins->loc);
    }
    if (emitter->result != VYRE_OK) {
        return 0;
    }
    switch (s.info->kind) {
    case VY_SUBGROUP_ELECT:
        return vy_value(m, SpvOpGroupNonUniformElect, vy_type_bool(m), VY_LIST(s.scope));
    case VY_SUBGROUP_VOTE:
        return vote(&s,
                    ins->subgroup == VYRE_SUBGROUP_ANY ? SpvOpGroupNonUniformAny
                                                       : SpvOpGroupNonUniformAll,
                    x);
    case VY_SUBGROUP_BALLOT:
        return ballot(&s, x);
    case VY_SUBGROUP_VALUE:
        return broadcast_first(&s, x);
    case VY_SUBGROUP_LANE:
        return read_lane(&s, x, y);
    default:
        return reduce(&s, x);
    }
}
