/* Constant expressions: what stands behind const, workgroup, fixpoint, loop_limit, trap and case,
 * and in the brackets of private arrays. Computed exactly, so that a value that does not fit is an
 * error and never wraps. */
#include "codegen/ir/number.h"
#include "codegen/ir/parser.h"

#include <inttypes.h>
#include <string.h>

static const vy_constant none = {.type = VYRE_TYPE_INT};

static vy_constant parse_levels(vy_parser *p);

static const char *type_text(vyre_type type)
{
    return type == VYRE_TYPE_INT ? "an integer" : vyre_type_keyword(type);
}

static bool is_integer(vyre_type type)
{
    return type == VYRE_TYPE_INT || type == VYRE_TYPE_U32 || type == VYRE_TYPE_I32;
}

/* Whether the value fits its type; an untyped one may become u32 or i32. */
static bool check_range(vy_parser *p, const vy_constant *c)
{
    int64_t low = c->type == VYRE_TYPE_U32 ? 0 : INT32_MIN;
    int64_t high = c->type == VYRE_TYPE_I32 ? INT32_MAX : UINT32_MAX;
    if (c->value >= low && c->value <= high) {
        return true;
    }
    vy_parser_fail(p, c->loc,
                   "the constant %" PRId64 " does not fit %s. Fix: use a value in %" PRId64
                   " .. %" PRId64,
                   c->value, c->type == VYRE_TYPE_INT ? "32 bits" : type_text(c->type), low, high);
    return false;
}

static vy_constant parse_integer(vy_parser *p)
{
    vy_constant c = {.type = VYRE_TYPE_INT, .loc = p->token.loc};
    if (p->token.suffix) {
        c.type = p->token.suffix == 'u' ? VYRE_TYPE_U32 : VYRE_TYPE_I32;
    }
    uint64_t value = p->token.value;
    if (value > UINT32_MAX) {
        vy_parser_fail(p, c.loc,
                       "the number is larger than 4294967295, the largest u32. Fix: write a "
                       "smaller one; 64-bit integers are not available yet");
        return none;
    }
    c.value = (int64_t)value;
    vy_parser_advance(p);
    return c;
}

/* bitcast<f32>(u32 constant), the way to write a NaN with a payload. */
static vy_constant parse_bitcast(vy_parser *p)
{
    vy_constant c = {.loc = p->token.loc};
    vy_parser_advance(p);
    vy_parser_expect(p, VY_TOKEN_LT, "behind bitcast");
    c.type = vy_parser_type(p);
    vy_parser_expect(p, VY_TOKEN_GT, "behind the type of bitcast");
    vy_parser_expect(p, VY_TOKEN_LEFT_PAREN, "in front of the operand of bitcast");
    if (!vy_parser_enter(p, c.loc)) {
        return none;
    }
    vy_constant operand = parse_levels(p);
    vy_parser_leave(p);
    vy_parser_expect(p, VY_TOKEN_RIGHT_PAREN, "behind the operand of bitcast");
    vyre_type from = operand.type == VYRE_TYPE_INT ? VYRE_TYPE_U32 : operand.type;
    uint32_t bits = vy_constant_bits(p, &operand, &from);
    if (c.type == VYRE_TYPE_BOOL || from == VYRE_TYPE_BOOL) {
        vy_parser_fail(p, c.loc, "bitcast does not take or give bool. Fix: write true or false");
    }
    c.bits = bits;
    c.value = c.type == VYRE_TYPE_I32 ? (int64_t)(int32_t)bits : (int64_t)bits;
    return c;
}

static vy_constant parse_name(vy_parser *p)
{
    vy_constant c = {.type = VYRE_TYPE_F32, .loc = p->token.loc};
    const vy_name *name = p->token.name;
    if (name->word == VY_WORD_BITCAST) {
        return parse_bitcast(p);
    }
    if (name->word == VY_WORD_TRUE || name->word == VY_WORD_FALSE) {
        c.type = VYRE_TYPE_BOOL;
        c.value = name->word == VY_WORD_TRUE;
    } else if (name->word == VY_WORD_INF) {
        c.bits = 0x7f800000u;
    } else if (name->word == VY_WORD_NAN) {
        c.bits = 0x7fc00000u;
    } else if (name->symbol == VY_SYMBOL_CONSTANT) {
        c.type = (vyre_type)name->type;
        c.bits = name->value;
        c.value = c.type == VYRE_TYPE_I32 ? (int64_t)(int32_t)name->value : (int64_t)name->value;
    } else if (name->symbol == VY_SYMBOL_NONE) {
        vy_parser_fail_unknown(p, &p->token);
        return none;
    } else {
        vy_parser_fail(
            p, c.loc,
            "'%.64s' is a %s, not a constant. Fix: write a literal or the name of a const",
            name->text, vy_symbol_kind_text((vy_symbol_kind)name->symbol));
        return none;
    }
    vy_parser_advance(p);
    return c;
}

static vy_constant parse_operand(vy_parser *p)
{
    switch (p->token.kind) {
    case VY_TOKEN_INTEGER:
        return parse_integer(p);
    case VY_TOKEN_FLOAT: {
        vy_constant c = {
            .type = VYRE_TYPE_F32, .bits = (uint32_t)p->token.value, .loc = p->token.loc};
        vy_parser_advance(p);
        return c;
    }
    case VY_TOKEN_NAME:
        return parse_name(p);
    case VY_TOKEN_LEFT_PAREN: {
        vy_loc loc = p->token.loc;
        vy_parser_advance(p);
        if (!vy_parser_enter(p, loc)) {
            return none;
        }
        vy_constant c = parse_levels(p);
        vy_parser_leave(p);
        vy_parser_expect(p, VY_TOKEN_RIGHT_PAREN, "behind a constant in parentheses");
        return c;
    }
    default:
        vy_parser_fail(p, p->token.loc,
                       "expected a constant, but found %s. Fix: write a literal or "
                       "the name of a const",
                       vy_parser_found(p).text);
        return none;
    }
}

static vy_constant apply_prefix(vy_parser *p, vy_token_kind kind, vy_constant c, vy_loc loc)
{
    c.loc = loc;
    if (kind == VY_TOKEN_SUB && c.type == VYRE_TYPE_F32) {
        c.bits ^= 0x80000000u;
    } else if (kind == VY_TOKEN_SUB && is_integer(c.type)) {
        c.value = -c.value;
        check_range(p, &c);
    } else if (kind == VY_TOKEN_COMPLEMENT && is_integer(c.type)) {
        c.value = c.type == VYRE_TYPE_I32 || c.value < 0 ? ~c.value
                                                         : (int64_t)(uint32_t) ~(uint32_t)c.value;
    } else if (kind == VY_TOKEN_NOT && c.type == VYRE_TYPE_BOOL) {
        c.value = !c.value;
    } else {
        vy_parser_fail(p, loc, "'%s' of %s is no constant. Fix: write its value",
                       vy_token_kind_text(kind), type_text(c.type));
    }
    return c;
}

static vy_constant parse_prefix(vy_parser *p)
{
    vy_token_kind kind = (vy_token_kind)p->token.kind;
    if (kind != VY_TOKEN_SUB && kind != VY_TOKEN_COMPLEMENT && kind != VY_TOKEN_NOT) {
        return parse_operand(p);
    }
    vy_loc loc = p->token.loc;
    vy_parser_advance(p);
    /* The only i32 whose magnitude is none. */
    bool is_least = kind == VY_TOKEN_SUB && p->token.kind == VY_TOKEN_INTEGER &&
                    p->token.suffix == 'i' && p->token.value == 0x80000000u;
    if (is_least) {
        vy_parser_advance(p);
        return (vy_constant){.type = VYRE_TYPE_I32, .value = INT32_MIN, .loc = loc};
    }
    if (!vy_parser_enter(p, loc)) {
        return none;
    }
    vy_constant c = parse_prefix(p);
    vy_parser_leave(p);
    return apply_prefix(p, kind, c, loc);
}

static int64_t power_of_two(int64_t exponent)
{
    return exponent < 0 || exponent > 32 ? 0 : INT64_C(1) << exponent;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && a < 0 ? 1 : 0);
}

/* The values are within 33 bits, so that only a product needs care. */
static int64_t compute(vy_parser *p, vyre_op op, const vy_constant *a, int64_t y)
{
    int64_t x = a->value;
    switch (op) {
    case VYRE_OP_ADD:
        return x + y;
    case VYRE_OP_SUB:
        return x - y;
    case VYRE_OP_MUL:
        return y != 0 && (x < 0 ? -x : x) > INT64_MAX / (y < 0 ? -y : y) ? INT64_MAX : x * y;
    case VYRE_OP_DIV:
    case VYRE_OP_REM:
        if (y == 0) {
            vy_parser_fail(p, a->loc, "a constant is divided by zero. Fix: write its value");
            return 0;
        }
        return op == VYRE_OP_DIV ? x / y : x % y;
    case VYRE_OP_AND:
        return x & y;
    case VYRE_OP_OR:
        return x | y;
    case VYRE_OP_XOR:
        return x ^ y;
    case VYRE_OP_SHL:
    case VYRE_OP_SHR:
        if (y < 0 || y > 31) {
            vy_parser_fail(p, a->loc,
                           "a constant is shifted by %" PRId64 " bits. Fix: shift by 0 to 31", y);
            return 0;
        }
        return op == VYRE_OP_SHL ? x * power_of_two(y) : floor_divide(x, power_of_two(y));
    default:
        return 0;
    }
}

static vy_constant apply(vy_parser *p, vyre_op op, vy_constant a, vy_constant b)
{
    const char *text = vy_op_get(op)->text;
    bool shift = op == VYRE_OP_SHL || op == VYRE_OP_SHR;
    if (!is_integer(a.type) || !is_integer(b.type) || vy_op_get(op)->shape == VY_SHAPE_EQUALITY ||
        vy_op_get(op)->shape == VY_SHAPE_ORDER || vy_op_get(op)->shape == VY_SHAPE_LOGIC) {
        vy_parser_fail(p, b.loc,
                       "'%s' of %s and %s is no constant: only integers are computed here. Fix: "
                       "write the value",
                       text, type_text(a.type), type_text(b.type));
        return none;
    }
    if (!shift && a.type != b.type && a.type != VYRE_TYPE_INT && b.type != VYRE_TYPE_INT) {
        vy_parser_fail(p, b.loc, "'%s' mixes %s with %s. Fix: write both with one suffix", text,
                       type_text(a.type), type_text(b.type));
        return none;
    }
    vy_constant c = {.type = a.type, .loc = a.loc};
    if (!shift && a.type == VYRE_TYPE_INT) {
        c.type = b.type;
    }
    c.value = compute(p, op, &a, b.value);
    check_range(p, &c);
    return c;
}

/* At most one open operator for each level of precedence, so nothing here recurses but operands. */
static vy_constant parse_levels(vy_parser *p)
{
    struct {
        vy_constant left;
        vyre_op op;
        uint32_t level;
    } open[10];
    uint32_t count = 0;
    vy_constant right = parse_prefix(p);
    for (;;) {
        uint32_t level = 0;
        vyre_op op = vy_parser_infix((vy_token_kind)p->token.kind, &level);
        while (count > 0 && open[count - 1].level >= level && !p->lexer.failed) {
            count--;
            right = apply(p, open[count].op, open[count].left, right);
        }
        if (op == VYRE_OP_NONE || p->lexer.failed) {
            return p->lexer.failed ? none : right;
        }
        open[count].left = right;
        open[count].op = op;
        open[count++].level = level;
        vy_parser_advance(p);
        right = parse_prefix(p);
    }
}

vy_constant vy_parse_constant(vy_parser *p)
{
    return parse_levels(p);
}

uint32_t vy_constant_bits(vy_parser *p, const vy_constant *constant, vyre_type *type)
{
    vy_constant c = *constant;
    if (p->lexer.failed) {
        return 0;
    }
    if (*type == VYRE_TYPE_VOID) {
        *type = c.type == VYRE_TYPE_INT ? VYRE_TYPE_U32 : c.type;
    }
    if (c.type == VYRE_TYPE_INT && *type == VYRE_TYPE_U32 && c.value < 0) {
        vy_parser_fail(p, c.loc,
                       "the constant %" PRId64 " is negative, but u32 is needed. Fix: write the "
                       "suffix i or the type i32 where that is meant",
                       c.value);
        return 0;
    }
    if (c.type == VYRE_TYPE_INT && is_integer(*type)) {
        c.type = *type;
        return check_range(p, &c) ? (uint32_t)c.value : 0;
    }
    if (c.type == VYRE_TYPE_INT && *type == VYRE_TYPE_F32) {
        float value = (float)c.value;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        if ((int64_t)value != c.value) {
            vy_parser_fail(p, c.loc,
                           "the integer %" PRId64 " is no f32 exactly. Fix: write %" PRId64
                           ".0, which is rounded",
                           c.value, c.value);
        }
        return bits;
    }
    if (c.type != *type) {
        vy_parser_fail(p, c.loc, "the constant is %s, but %s is needed. Fix: write one of type %s",
                       type_text(c.type), vyre_type_keyword(*type), vyre_type_keyword(*type));
        return 0;
    }
    return c.type == VYRE_TYPE_F32 ? c.bits : (uint32_t)c.value;
}

uint32_t vy_parse_constant_u32(vy_parser *p)
{
    vyre_type type = VYRE_TYPE_U32;
    vy_constant c = vy_parse_constant(p);
    return vy_constant_bits(p, &c, &type);
}
