/* Constant expressions: what stands behind const, workgroup, fixpoint, loop_limit, trap and case,
 * and in the brackets of private arrays. Computed exactly, so that a value that does not fit is an
 * error and never wraps. */
#include "codegen/ir/number.h"
#include "codegen/ir/parser.h"

#include <inttypes.h>
#include <stdio.h>

static const vy_constant none = {.type = VYRE_TYPE_INT};

static vy_constant parse_levels(vy_parser *p);

static const char *type_text(vyre_type type)
{
    return type == VYRE_TYPE_INT ? "an integer" : vyre_type_keyword(type);
}

static bool is_integer(vyre_type type)
{
    return type == VYRE_TYPE_INT || vy_type_is_integer(type);
}

static bool is_float(vyre_type type)
{
    return type != VYRE_TYPE_INT && vy_type_is_float(type);
}

static vy_wide least(vyre_type type)
{
    if (type == VYRE_TYPE_INT) {
        return INT64_MIN;
    }
    return vy_type_is_signed(type) ? -((vy_wide)1 << (vy_type_width(type) - 1)) : 0;
}

static vy_wide largest(vyre_type type)
{
    if (type == VYRE_TYPE_INT) {
        return UINT64_MAX;
    }
    return ((vy_wide)1 << (vy_type_width(type) - (vy_type_is_signed(type) ? 1 : 0))) - 1;
}

typedef struct wide_text {
    char text[24];
} wide_text;

static wide_text text_of(vy_wide value)
{
    wide_text out;
    if (value < 0) {
        snprintf(out.text, sizeof out.text, "-%" PRIu64, (uint64_t)-value);
    } else {
        snprintf(out.text, sizeof out.text, "%" PRIu64, (uint64_t)value);
    }
    return out;
}

/* Whether the value fits its type; an untyped one may become any integer. */
static bool check_range(vy_parser *p, const vy_constant *c)
{
    vy_wide low = least(c->type), high = largest(c->type);
    if (c->value >= low && c->value <= high) {
        return true;
    }
    bool is_shown = c->value >= INT64_MIN && c->value <= UINT64_MAX;
    bool is_wider = is_shown && (c->type == VYRE_TYPE_U32 || c->type == VYRE_TYPE_I32);
    vy_parser_fail(p, c->loc, "the constant%s%s does not fit %s. Fix: use a value in %s .. %s%s",
                   is_shown ? " " : "", is_shown ? text_of(c->value).text : "",
                   c->type == VYRE_TYPE_INT ? "64 bits" : type_text(c->type), text_of(low).text,
                   text_of(high).text,
                   !is_wider      ? ""
                   : c->value < 0 ? ", or i64 with the suffix l"
                                  : ", or u64 with the suffix ul");
    return false;
}

static vy_constant parse_integer(vy_parser *p)
{
    vy_constant c = {
        .type = (vyre_type)p->token.type, .value = (vy_wide)p->token.value, .loc = p->token.loc};
    vy_parser_advance(p);
    return check_range(p, &c) ? c : none;
}

/* The value of a typed integer's or bool's bits. */
static vy_wide value_of(vyre_type type, uint64_t bits)
{
    return vy_type_is_signed(type) ? (vy_wide)vy_type_signed_value(type, bits) : (vy_wide)bits;
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
    if (p->lexer.failed) {
        return none;
    }
    bool is_bool = c.type == VYRE_TYPE_BOOL || operand.type == VYRE_TYPE_BOOL;
    if (is_bool || vy_type_is_vector(c.type) || c.type == VYRE_TYPE_VOID) {
        vy_parser_fail(p, c.loc, "bitcast %s. Fix: write %s",
                       is_bool ? "does not take or give bool" : "of a constant gives a scalar",
                       is_bool ? "true or false" : "each component");
        return none;
    }
    vyre_type from = operand.type == VYRE_TYPE_INT
                         ? vy_type_of_width(operand.value < 0, vy_type_width(c.type))
                         : operand.type;
    c.bits = vy_constant_bits(p, &operand, &from);
    if (vy_type_width(from) != vy_type_width(c.type)) {
        vy_parser_fail(p, c.loc,
                       "bitcast from %s to %s changes the size. Fix: use types of the same width",
                       vyre_type_keyword(from), vyre_type_keyword(c.type));
    }
    c.value = is_integer(c.type) ? value_of(c.type, c.bits) : 0;
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
        c.is_special = true;
    } else if (name->word == VY_WORD_NAN) {
        c.bits = 0x7fc00000u;
        c.is_special = true;
    } else if (name->symbol == VY_SYMBOL_CONSTANT) {
        c.type = (vyre_type)name->type;
        c.bits = name->value;
        c.value = is_float(c.type) ? 0 : value_of(c.type, name->value);
        if (vy_type_is_vector(c.type)) {
            vy_parser_fail(p, c.loc,
                           "the constant '%.64s' is a vector. Fix: write one of its components",
                           name->text);
            return none;
        }
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
            .type = (vyre_type)p->token.type, .bits = p->token.value, .loc = p->token.loc};
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
    if (kind == VY_TOKEN_SUB && is_float(c.type)) {
        c.bits ^= (uint64_t)1 << (vy_type_width(c.type) - 1);
    } else if (kind == VY_TOKEN_SUB && is_integer(c.type)) {
        c.value = -c.value;
        check_range(p, &c);
    } else if (kind == VY_TOKEN_COMPLEMENT && is_integer(c.type)) {
        /* Its width decides what it is, so an untyped one becomes u32, or u64 where it must. */
        if (c.type == VYRE_TYPE_INT && c.value >= 0) {
            c.type = c.value > UINT32_MAX ? VYRE_TYPE_U64 : VYRE_TYPE_U32;
        }
        bool is_unsigned = c.type != VYRE_TYPE_INT && !vy_type_is_signed(c.type);
        c.value = is_unsigned ? largest(c.type) - c.value : -c.value - 1;
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
    /* The only signed value whose magnitude is none. */
    vyre_type type = (vyre_type)p->token.type;
    bool is_least = kind == VY_TOKEN_SUB && p->token.kind == VY_TOKEN_INTEGER &&
                    type != VYRE_TYPE_INT && vy_type_is_signed(type) &&
                    (vy_wide)p->token.value == -least(type);
    if (is_least) {
        vy_parser_advance(p);
        return (vy_constant){.type = type, .value = least(type), .loc = loc};
    }
    if (!vy_parser_enter(p, loc)) {
        return none;
    }
    vy_constant c = parse_prefix(p);
    vy_parser_leave(p);
    return apply_prefix(p, kind, c, loc);
}

static vy_wide floor_divide(vy_wide a, vy_wide b)
{
    return a / b - (a % b != 0 && a < 0 ? 1 : 0);
}

/* Far outside of every type, for what does not fit. */
#define BEYOND ((vy_wide)1 << 100)

/* The values are within 65 bits, so that only products need care. */
static vy_wide multiply(vy_wide x, vy_wide y)
{
    vy_wide a = x < 0 ? -x : x, b = y < 0 ? -y : y;
    return b != 0 && a > BEYOND / b ? BEYOND : x * y;
}

static vy_wide compute(vy_parser *p, vyre_op op, const vy_constant *a, vy_wide y)
{
    vy_wide x = a->value;
    int64_t width = a->type == VYRE_TYPE_INT ? 64 : vy_type_width(a->type);
    switch (op) {
    case VYRE_OP_ADD:
        return x + y;
    case VYRE_OP_SUB:
        return x - y;
    case VYRE_OP_MUL:
        return multiply(x, y);
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
        if (y < 0 || y >= width) {
            vy_parser_fail(p, a->loc,
                           "a constant is shifted by %s bits. Fix: shift by 0 to %" PRId64,
                           text_of(y).text, width - 1);
            return 0;
        }
        return op == VYRE_OP_SHL ? multiply(x, (vy_wide)1 << (int)y)
                                 : floor_divide(x, (vy_wide)1 << (int)y);
    default:
        return 0;
    }
}

static vy_constant apply(vy_parser *p, vyre_op op, const vy_constant *left,
                         const vy_constant *right)
{
    const vy_constant a = *left, b = *right;
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

/* At most one open operator for each level of precedence, so nothing here recurses but operands.
 * They lie in the parser's memory, since deep nesting must do with a small stack. */
static vy_constant parse_levels(vy_parser *p)
{
    uint32_t first = p->operators.count;
    vy_constant right = parse_prefix(p);
    for (;;) {
        uint32_t level = 0;
        vyre_op op = vy_parser_infix((vy_token_kind)p->token.kind, &level);
        while (p->operators.count > first && !p->lexer.failed &&
               p->operators.data[p->operators.count - 1].level >= level) {
            const vy_constant_operator *open = &p->operators.data[--p->operators.count];
            right = apply(p, open->op, &open->left, &right);
        }
        if (op == VYRE_OP_NONE || p->lexer.failed) {
            p->operators.count = first;
            return p->lexer.failed ? none : right;
        }
        if (!vy_vec_push(&p->arena, &p->operators,
                         (vy_constant_operator){.left = right, .op = op, .level = level})) {
            vy_parser_fail(p, right.loc, "out of memory. Fix: free memory");
            return none;
        }
        vy_parser_advance(p);
        right = parse_prefix(p);
    }
}

vy_constant vy_parse_constant(vy_parser *p)
{
    return parse_levels(p);
}

/* inf and nan are of every float type. */
static uint64_t special_bits(vyre_type type, const vy_constant *c)
{
    uint64_t sign = c->bits >> 31 ? (uint64_t)1 << (vy_type_width(type) - 1) : 0;
    bool is_nan = (c->bits & 0x7fffffffu) > 0x7f800000u;
    return sign | (is_nan ? vy_float_nan(type) : vy_number_infinity(type));
}

static uint64_t float_bits(vy_parser *p, const vy_constant *c, vyre_type type)
{
    uint64_t magnitude = c->value < 0 ? (uint64_t)-c->value : (uint64_t)c->value;
    uint64_t bits = vy_float_of_integer(type, c->value < 0, magnitude);
    uint32_t precision = type == VYRE_TYPE_F64 ? 53 : type == VYRE_TYPE_F32 ? 24 : 11;
    uint64_t odd = magnitude;
    while (odd && !(odd & 1)) {
        odd >>= 1;
    }
    if (odd >> precision || (type == VYRE_TYPE_F16 && magnitude > 65504)) {
        vy_parser_fail(p, c->loc,
                       "the integer %s is no %s exactly. Fix: write %s.0%s, which is rounded",
                       text_of(c->value).text, vyre_type_keyword(type), text_of(c->value).text,
                       type == VYRE_TYPE_F64   ? "d"
                       : type == VYRE_TYPE_F16 ? "h"
                                               : "");
    }
    return bits;
}

/* Of the literals of a type; none where they need none or have none. */
static const char *suffix_of(vyre_type type)
{
    switch ((int)type) {
    case VYRE_TYPE_I32:
        return "i";
    case VYRE_TYPE_I64:
        return "l";
    case VYRE_TYPE_U64:
        return "ul";
    case VYRE_TYPE_F16:
        return "h";
    case VYRE_TYPE_F64:
        return "d";
    default:
        return "";
    }
}

uint64_t vy_constant_bits(vy_parser *p, const vy_constant *constant, vyre_type *type)
{
    vy_constant c = *constant;
    if (p->lexer.failed) {
        return 0;
    }
    if (*type == VYRE_TYPE_VOID) {
        *type = c.type == VYRE_TYPE_INT ? VYRE_TYPE_U32 : c.type;
    }
    vyre_type need = vy_element_value_type(*type);
    if (c.type == VYRE_TYPE_INT && vy_type_kind_of(need) == VY_KIND_UNSIGNED && c.value < 0) {
        vy_parser_fail(p, c.loc,
                       "the constant %s is negative, but %s is needed. Fix: write the suffix i or "
                       "the type i32 where that is meant",
                       text_of(c.value).text, vyre_type_keyword(need));
        return 0;
    }
    if (c.type == VYRE_TYPE_INT && is_integer(need)) {
        c.type = need;
        return check_range(p, &c) ? vy_type_bits(need, (uint64_t)c.value) : 0;
    }
    if (c.type == VYRE_TYPE_INT && is_float(need) && !vy_type_is_vector(need)) {
        return float_bits(p, &c, need);
    }
    if (c.is_special && is_float(need) && !vy_type_is_vector(need)) {
        return special_bits(need, &c);
    }
    if (c.type != need) {
        const char *suffix = suffix_of(need);
        vy_parser_fail(p, c.loc,
                       "the constant is %s, but %s is needed. Fix: write one of type %s%s%s",
                       type_text(c.type), vyre_type_keyword(need), vyre_type_keyword(need),
                       *suffix ? ", with the suffix " : "", suffix);
        return 0;
    }
    return is_float(c.type) ? c.bits : vy_type_bits(need, (uint64_t)c.value);
}

bool vy_parse_constant_vector(vy_parser *p, vyre_type type, uint32_t components[4])
{
    vy_loc loc = p->token.loc;
    uint32_t count = 0, need = vy_type_components(type);
    if (!vy_parser_is(p, VY_TOKEN_NAME) || p->token.name->symbol != VY_SYMBOL_TYPE ||
        p->token.name->ref != (uint32_t)type) {
        vy_parser_fail(p, loc, "expected a constant of type %s, but found %s. Fix: write %s(...)",
                       vyre_type_keyword(type), vy_parser_found(p).text, vyre_type_keyword(type));
        return false;
    }
    vy_parser_advance(p);
    vy_parser_expect(p, VY_TOKEN_LEFT_PAREN, "behind the type of a vector");
    while (!vy_parser_is(p, VY_TOKEN_RIGHT_PAREN) && !p->lexer.failed) {
        vyre_type component = vy_type_component(type);
        vy_constant c = vy_parse_constant(p);
        uint64_t bits = vy_constant_bits(p, &c, &component);
        if (count < 4) {
            components[count] = (uint32_t)bits;
        }
        count++;
        if (!vy_parser_take(p, VY_TOKEN_COMMA)) {
            break;
        }
    }
    vy_parser_expect(p, VY_TOKEN_RIGHT_PAREN, "behind the components of a vector");
    if (count != 1 && count != need) {
        vy_parser_fail(p, loc,
                       "%s has %u components, but %u are given. Fix: give as many, or one for all "
                       "of them",
                       vyre_type_keyword(type), need, count);
    }
    for (uint32_t i = count; count == 1 && i < need; i++) {
        components[i] = components[0];
    }
    return !p->lexer.failed;
}

uint32_t vy_parse_constant_u32(vy_parser *p)
{
    vyre_type type = VYRE_TYPE_U32;
    vy_constant c = vy_parse_constant(p);
    return (uint32_t)vy_constant_bits(p, &c, &type);
}
