/* Types of expressions: what each shape takes and gives, and how untyped integer literals find
 * their type. An untyped tree holds only literals and operators over them, and is typed as a whole,
 * once, when it meets a typed operand or a statement; so the work is linear. */
#include "codegen/ir/builder.h"

#include <inttypes.h>
#include <string.h>

#define TYPE_BIT(type) (1u << (type))
#define INTEGERS       (TYPE_BIT(VYRE_TYPE_U32) | TYPE_BIT(VYRE_TYPE_I32))
#define NUMBERS        (INTEGERS | TYPE_BIT(VYRE_TYPE_F32))
#define ANY_TYPE       (NUMBERS | TYPE_BIT(VYRE_TYPE_BOOL))

static void fail(vyre_builder *b, vy_loc loc, const char *what, const char *fix)
{
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, loc, "%s. Fix: %s", what, fix);
}

/* The types that the operands named T of a shape may have. */
static uint32_t shape_types(vyre_op op)
{
    switch (vy_op_get(op)->shape) {
    case VY_SHAPE_ARITHMETIC:
    case VY_SHAPE_ARITHMETIC3:
    case VY_SHAPE_ORDER:
    case VY_SHAPE_ABS_DIFF:
    case VY_SHAPE_BITCAST:
        return NUMBERS;
    case VY_SHAPE_SIGNED_UNARY:
        return op == VYRE_OP_NEGATE ? NUMBERS : TYPE_BIT(VYRE_TYPE_I32) | TYPE_BIT(VYRE_TYPE_F32);
    case VY_SHAPE_INTEGER:
    case VY_SHAPE_INTEGER_UNARY:
    case VY_SHAPE_SHIFT:
    case VY_SHAPE_BIT_COUNT:
    case VY_SHAPE_EXTRACT:
    case VY_SHAPE_INSERT:
        return INTEGERS;
    case VY_SHAPE_LOGIC:
    case VY_SHAPE_LOGIC_UNARY:
        return TYPE_BIT(VYRE_TYPE_BOOL);
    case VY_SHAPE_FLOAT_UNARY:
    case VY_SHAPE_FLOAT:
    case VY_SHAPE_FLOAT3:
    case VY_SHAPE_FLOAT_TEST:
        return TYPE_BIT(VYRE_TYPE_F32);
    case VY_SHAPE_EQUALITY:
    case VY_SHAPE_SELECT:
    case VY_SHAPE_CAST:
        return ANY_TYPE;
    case VY_SHAPE_LEAF:
    case VY_SHAPE_INDEXED:
    case VY_SHAPE_CALL:
        break;
    }
    return ANY_TYPE;
}

static const char *types_text(uint32_t types)
{
    switch (types) {
    case INTEGERS:
        return "u32 or i32";
    case NUMBERS:
        return "u32, i32 or f32";
    case TYPE_BIT(VYRE_TYPE_BOOL):
        return "bool";
    case TYPE_BIT(VYRE_TYPE_F32):
        return "f32";
    case TYPE_BIT(VYRE_TYPE_I32) | TYPE_BIT(VYRE_TYPE_F32):
        return "i32 or f32";
    default:
        return "bool, u32, i32 or f32";
    }
}

/* What to write where `got` stands and one of `types` is needed. */
static const char *conversion_fix(uint32_t types, vyre_type got)
{
    if (types == TYPE_BIT(VYRE_TYPE_BOOL)) {
        return "compare it, such as `x != 0`";
    }
    if (got == VYRE_TYPE_BOOL) {
        return "convert it, such as `u32(b)`";
    }
    if (types == TYPE_BIT(VYRE_TYPE_F32)) {
        return "convert it: `f32(x)`";
    }
    if (types == (TYPE_BIT(VYRE_TYPE_I32) | TYPE_BIT(VYRE_TYPE_F32))) {
        return "convert it, such as `i32(x)`; an unsigned value has no sign";
    }
    return "convert it, such as `u32(x)` or `i32(x)`";
}

static bool check_operand(vyre_builder *b, vyre_op op, vyre_type got, vy_loc loc)
{
    uint32_t types = shape_types(op);
    if (TYPE_BIT(got) & types) {
        return true;
    }
    if (op == VYRE_OP_REM && got == VYRE_TYPE_F32) {
        fail(b, loc, "'%' does not take f32", "write `x - y * trunc(x / y)`");
        return false;
    }
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, loc, "'%s' takes %s, not %s. Fix: %s",
                    vy_op_get(op)->text, types_text(types), vyre_type_keyword(got),
                    conversion_fix(types, got));
    return false;
}

/* ---- Untyped literals ------------------------------------------------------------------------ */

static bool is_exact_f32(uint64_t magnitude)
{
    while (magnitude && !(magnitude & 1)) {
        magnitude >>= 1;
    }
    return magnitude < (uint64_t)1 << 24;
}

static void fail_range(vyre_builder *b, const vy_node *node, const char *type, const char *range,
                       const char *fix)
{
    /* A reader of text gives the largest value for one that does not fit 64 bits. */
    const char *at_least = node->bits == UINT64_MAX ? "at least " : "";
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, node->loc,
                    "the integer literal %s%s%" PRIu64 " does not fit %s (%s). Fix: %s",
                    node->flags & VY_NODE_NEGATIVE ? "-" : "", at_least, node->bits, type, range,
                    fix);
}

static bool settle_literal(vyre_builder *b, vy_node *node, vyre_type type)
{
    bool is_negative = node->flags & VY_NODE_NEGATIVE;
    uint64_t magnitude = node->bits;
    uint32_t bits = (uint32_t)magnitude;
    switch ((unsigned)type) {
    case VYRE_TYPE_U32:
        if (is_negative) {
            vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, node->loc,
                            "the negative literal -%" PRIu64 " stands where u32 is needed. Fix: "
                            "write `-%" PRIu64 "i` where i32 is meant, subtract, or write the "
                            "wrapped value",
                            magnitude, magnitude);
            return false;
        }
        if (magnitude > UINT32_MAX) {
            fail_range(b, node, "u32", "0 .. 4294967295",
                       "use a smaller value; 64-bit integers "
                       "are not available yet");
            return false;
        }
        break;
    case VYRE_TYPE_I32:
        if (magnitude > (is_negative ? 0x80000000u : 0x7fffffffu)) {
            fail_range(b, node, "i32", "-2147483648 .. 2147483647",
                       "use a smaller value, or u32 with the suffix u");
            return false;
        }
        bits = is_negative ? 0u - bits : bits;
        break;
    default: {
        if (!is_exact_f32(magnitude)) {
            fail_range(b, node, "f32 exactly", "24 bits",
                       "write it as a float, such as 16777217.0, which is rounded");
            return false;
        }
        float value = is_negative ? -(float)magnitude : (float)magnitude;
        memcpy(&bits, &value, sizeof bits);
        break;
    }
    }
    node->bits = bits;
    node->type = (uint8_t)type;
    return true;
}

bool vy_builder_settle(vyre_builder *b, uint32_t root, vyre_type type)
{
    if (b->pool.data[root].type != VYRE_TYPE_INT) {
        return true;
    }
    b->visits.count = 0;
    if (!vy_vec_push(&b->scratch, &b->visits, (vy_visit){root, 0})) {
        vy_builder_no_memory(b);
        return false;
    }
    while (b->visits.count) {
        vy_node *node = &b->pool.data[b->visits.data[--b->visits.count].node];
        if (node->op == VYRE_OP_LITERAL) {
            if (!settle_literal(b, node, type)) {
                return false;
            }
            continue;
        }
        if (node->op == VYRE_OP_NEGATE && type == VYRE_TYPE_U32) {
            fail(b, node->loc, "a literal expression is negated where u32 is needed",
                 "give a literal the suffix i where i32 is meant, or subtract");
            return false;
        }
        if (!check_operand(b, (vyre_op)node->op, type, node->loc)) {
            return false;
        }
        node->type = (uint8_t)type;
        for (uint32_t i = vy_op_get((vyre_op)node->op)->operand_count; i > 0; i--) {
            uint32_t operand = node->arg[i - 1];
            if (b->pool.data[operand].type == VYRE_TYPE_INT &&
                !vy_vec_push(&b->scratch, &b->visits, (vy_visit){operand, 0})) {
                vy_builder_no_memory(b);
                return false;
            }
        }
    }
    return true;
}

/* ---- Places that need a type ----------------------------------------------------------------- */

static bool fail_mismatch(vyre_builder *b, vy_loc loc, const char *what, vyre_type need,
                          vyre_type got)
{
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, loc, "%s is %s, but %s is needed. Fix: %s%s%s",
                    what, vyre_type_keyword(got), vyre_type_keyword(need),
                    need == VYRE_TYPE_BOOL ? "compare it, such as `x != 0`" : "convert it: `",
                    need == VYRE_TYPE_BOOL ? "" : vyre_type_keyword(need),
                    need == VYRE_TYPE_BOOL ? "" : "(...)`");
    return false;
}

bool vy_builder_coerce(vyre_builder *b, uint32_t node, vyre_type type, const char *what)
{
    vyre_type got = (vyre_type)b->pool.data[node].type;
    if (got == VYRE_TYPE_INT && type != VYRE_TYPE_BOOL) {
        return vy_builder_settle(b, node, type);
    }
    return got == type || fail_mismatch(b, b->pool.data[node].loc, what, type, got);
}

bool vy_builder_coerce_index(vyre_builder *b, uint32_t node, const char *what)
{
    if (!vy_builder_settle(b, node, VYRE_TYPE_U32)) {
        return false;
    }
    vyre_type got = (vyre_type)b->pool.data[node].type;
    if (vy_type_is_integer(got)) {
        return true;
    }
    vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->pool.data[node].loc,
                    "%s is %s, but u32 or i32 is needed. Fix: convert it: `u32(...)`", what,
                    vyre_type_keyword(got));
    return false;
}

bool vy_builder_unify(vyre_builder *b, const uint32_t *nodes, uint32_t count, const char *what)
{
    vyre_type type = VYRE_TYPE_INT;
    for (uint32_t i = 0; i < count && type == VYRE_TYPE_INT; i++) {
        type = (vyre_type)b->pool.data[nodes[i]].type;
    }
    for (uint32_t i = 0; i < count; i++) {
        vyre_type other = (vyre_type)b->pool.data[nodes[i]].type;
        if (other == type) {
            continue;
        }
        if (type == VYRE_TYPE_BOOL || other == VYRE_TYPE_BOOL) {
            vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                            "%s mixes bool with %s. Fix: write `x != 0` for a bool or `u32(b)` "
                            "for a number",
                            what, vyre_type_keyword(type == VYRE_TYPE_BOOL ? other : type));
            return false;
        }
        if (other == VYRE_TYPE_INT) {
            if (!vy_builder_settle(b, nodes[i], type)) {
                return false;
            }
            continue;
        }
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%s mixes %s with %s, and nothing is converted implicitly. Fix: convert "
                        "one of them: `%s(...)`",
                        what, vyre_type_keyword(type), vyre_type_keyword(other),
                        vyre_type_keyword(type));
        return false;
    }
    return true;
}

/* ---- Operators ------------------------------------------------------------------------------- */

static bool type_same(vyre_builder *b, vyre_op op, const uint32_t *nodes, uint32_t count,
                      vyre_type *out)
{
    char what[48] = "'";
    strncat(what, vy_op_get(op)->text, 40);
    strncat(what, "'", 2);
    if (!vy_builder_unify(b, nodes, count, what)) {
        return false;
    }
    *out = (vyre_type)b->pool.data[nodes[0]].type;
    return *out == VYRE_TYPE_INT || check_operand(b, op, *out, b->at);
}

/* The same, with untyped operands made u32 (f32 where the operator takes only that). */
static bool type_settled(vyre_builder *b, vyre_op op, const uint32_t *nodes, uint32_t count,
                         vyre_type *out)
{
    vyre_type none = shape_types(op) == TYPE_BIT(VYRE_TYPE_F32) ? VYRE_TYPE_F32 : VYRE_TYPE_U32;
    if (!type_same(b, op, nodes, count, out)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!vy_builder_settle(b, nodes[i], none)) {
            return false;
        }
    }
    *out = (vyre_type)b->pool.data[nodes[0]].type;
    return check_operand(b, op, *out, b->at);
}

static bool type_signed_unary(vyre_builder *b, vyre_op op, const uint32_t *nodes, vyre_type *out)
{
    const vy_node *node = &b->pool.data[nodes[0]];
    if (op == VYRE_OP_NEGATE && node->op == VYRE_OP_LITERAL && node->type == VYRE_TYPE_U32 &&
        !node->ref) {
        fail(b, b->at, "a u32 literal is negated",
             "write it with the suffix i where i32 is meant, subtract, or write the wrapped value");
        return false;
    }
    return type_same(b, op, nodes, 1, out);
}

static bool coerce_bits_operands(vyre_builder *b, const uint32_t *nodes)
{
    return vy_builder_coerce(b, nodes[0], VYRE_TYPE_U32, "the offset") &&
           vy_builder_coerce(b, nodes[1], VYRE_TYPE_U32, "the count");
}

bool vy_builder_type_op(vyre_builder *b, vyre_op op, const uint32_t *nodes, vyre_type *out_type)
{
    vyre_type type = VYRE_TYPE_VOID;
    uint32_t count = vy_op_get(op)->operand_count;
    bool ok = false;
    switch (vy_op_get(op)->shape) {
    case VY_SHAPE_ARITHMETIC:
    case VY_SHAPE_ARITHMETIC3:
    case VY_SHAPE_INTEGER:
    case VY_SHAPE_INTEGER_UNARY:
        ok = type_same(b, op, nodes, count, &type);
        break;
    case VY_SHAPE_SIGNED_UNARY:
        ok = type_signed_unary(b, op, nodes, &type);
        break;
    case VY_SHAPE_SHIFT:
        ok =
            vy_builder_coerce_index(b, nodes[1], "the amount") && type_same(b, op, nodes, 1, &type);
        break;
    case VY_SHAPE_LOGIC:
    case VY_SHAPE_LOGIC_UNARY:
        for (uint32_t i = 0; i < count; i++) {
            if (b->pool.data[nodes[i]].type != VYRE_TYPE_BOOL) {
                return check_operand(b, op,
                                     (vyre_type)b->pool.data[nodes[i]].type == VYRE_TYPE_INT
                                         ? VYRE_TYPE_U32
                                         : (vyre_type)b->pool.data[nodes[i]].type,
                                     b->at);
            }
        }
        type = VYRE_TYPE_BOOL;
        ok = true;
        break;
    case VY_SHAPE_EQUALITY:
    case VY_SHAPE_ORDER:
    case VY_SHAPE_FLOAT_TEST:
        ok = type_settled(b, op, nodes, count, &type);
        type = VYRE_TYPE_BOOL;
        break;
    case VY_SHAPE_ABS_DIFF:
        ok = type_settled(b, op, nodes, count, &type);
        type = type == VYRE_TYPE_F32 ? VYRE_TYPE_F32 : VYRE_TYPE_U32;
        break;
    case VY_SHAPE_BIT_COUNT:
        ok = type_settled(b, op, nodes, count, &type);
        type = VYRE_TYPE_U32;
        break;
    case VY_SHAPE_EXTRACT:
        ok = coerce_bits_operands(b, nodes + 1) && type_same(b, op, nodes, 1, &type);
        break;
    case VY_SHAPE_INSERT:
        ok = coerce_bits_operands(b, nodes + 2) && type_same(b, op, nodes, 2, &type);
        break;
    case VY_SHAPE_SELECT:
        ok = vy_builder_coerce(b, nodes[0], VYRE_TYPE_BOOL, "the condition of 'select'") &&
             type_same(b, op, nodes + 1, 2, &type);
        break;
    case VY_SHAPE_FLOAT_UNARY:
    case VY_SHAPE_FLOAT:
    case VY_SHAPE_FLOAT3:
        ok = type_settled(b, op, nodes, count, &type);
        break;
    case VY_SHAPE_LEAF:
    case VY_SHAPE_INDEXED:
    case VY_SHAPE_CALL:
    case VY_SHAPE_CAST:
    case VY_SHAPE_BITCAST:
        vy_builder_fail(b, VYRE_ERROR_INVALID_PROGRAM, b->at,
                        "%s is not built by vyre_build_op. Fix: use its own vyre_build_ function",
                        vy_op_get(op)->name);
        break;
    }
    *out_type = type;
    return ok;
}
