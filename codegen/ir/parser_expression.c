/* Expressions. Operators of one nesting level wait on a stack of at most one entry for each level
 * of precedence; only parentheses, brackets and prefix operators recurse, VYRE_MAX_NESTING deep. */
#include "codegen/ir/parser.h"

#include <inttypes.h>

#define LEVEL_COMPARISON 3
#define LEVEL_COUNT      10

static const vyre_expr no_expr = {0};

vyre_op vy_parser_infix(vy_token_kind kind, uint32_t *out_level)
{
    static const struct {
        uint8_t level;
        uint16_t op;
    } rows[VY_TOKEN_KIND_COUNT] = {[VY_TOKEN_OR_OR] = {1, VYRE_OP_LOGICAL_OR},
                                   [VY_TOKEN_AND_AND] = {2, VYRE_OP_LOGICAL_AND},
                                   [VY_TOKEN_EQ] = {3, VYRE_OP_EQ},
                                   [VY_TOKEN_NE] = {3, VYRE_OP_NE},
                                   [VY_TOKEN_LT] = {3, VYRE_OP_LT},
                                   [VY_TOKEN_LE] = {3, VYRE_OP_LE},
                                   [VY_TOKEN_GT] = {3, VYRE_OP_GT},
                                   [VY_TOKEN_GE] = {3, VYRE_OP_GE},
                                   [VY_TOKEN_OR] = {4, VYRE_OP_OR},
                                   [VY_TOKEN_XOR] = {5, VYRE_OP_XOR},
                                   [VY_TOKEN_AND] = {6, VYRE_OP_AND},
                                   [VY_TOKEN_SHL] = {7, VYRE_OP_SHL},
                                   [VY_TOKEN_SHR] = {7, VYRE_OP_SHR},
                                   [VY_TOKEN_ADD] = {8, VYRE_OP_ADD},
                                   [VY_TOKEN_SUB] = {8, VYRE_OP_SUB},
                                   [VY_TOKEN_MUL] = {9, VYRE_OP_MUL},
                                   [VY_TOKEN_DIV] = {9, VYRE_OP_DIV},
                                   [VY_TOKEN_REM] = {9, VYRE_OP_REM}};
    *out_level = rows[kind].level;
    return (vyre_op)rows[kind].op;
}

bool vy_parser_goes_on(const vy_parser *p)
{
    uint32_t level;
    return vy_parser_is(p, VY_TOKEN_DOT) ||
           vy_parser_infix((vy_token_kind)p->token.kind, &level) != VYRE_OP_NONE;
}

/* ---- Operands -------------------------------------------------------------------------------- */

static bool fits(vyre_type type, uint64_t value)
{
    return value == vy_type_bits(type, value) &&
           (!vy_type_is_signed(type) || vy_type_signed_value(type, value) >= 0);
}

static vyre_expr parse_number(vy_parser *p)
{
    const vy_loc loc = p->token.loc;
    const uint64_t value = p->token.value;
    const bool is_integer = p->token.kind == VY_TOKEN_INTEGER;
    vyre_type type = (vyre_type)p->token.type;
    vy_parser_at(p, loc);
    vy_parser_advance(p);
    if (type == VYRE_TYPE_INT) {
        return vyre_build_int(p->builder, value);
    }
    if (is_integer && !fits(type, value)) {
        uint64_t all = vy_type_bits(type, UINT64_MAX);
        vy_parser_fail(p, loc,
                       "the number does not fit %s, whose largest is %" PRIu64
                       ". Fix: write a smaller one%s",
                       vyre_type_keyword(type), vy_type_is_signed(type) ? all >> 1 : all,
                       vy_type_is_signed(type) ? ", or the suffix of the unsigned type" : "");
        return no_expr;
    }
    return vyre_build_literal(p->builder, type, value);
}

/* An expression in parentheses or brackets whose opening token was taken. */
static vyre_expr parse_nested(vy_parser *p, vy_loc loc, vy_token_kind close, const char *where)
{
    if (!vy_parser_enter(p, loc)) {
        return no_expr;
    }
    vyre_expr value = vy_parse_expression(p);
    vy_parser_leave(p);
    vy_parser_expect(p, close, where);
    return value;
}

static vyre_expr parse_builtin(vy_parser *p, const vy_name *name, vy_loc loc)
{
    uint32_t component = 0;
    if (name->components > 0) {
        if (!vy_parser_take(p, VY_TOKEN_DOT)) {
            vy_parser_fail(p, loc,
                           "'%s' has three components and is no value itself. Fix: write %s.x",
                           name->text, name->text);
            return no_expr;
        }
        if (!vy_parser_is_word(p, VY_WORD_AT_X) && !vy_parser_is_word(p, VY_WORD_AT_Y) &&
            !vy_parser_is_word(p, VY_WORD_AT_Z)) {
            vy_parser_fail(p, p->token.loc, "'%s' has no component %s. Fix: write .x, .y or .z",
                           name->text, vy_parser_found(p).text);
            return no_expr;
        }
        component = (uint32_t)(p->token.name->word - VY_WORD_AT_X);
        vy_parser_advance(p);
    }
    vy_parser_at(p, loc);
    return vyre_build_builtin(p->builder, (vyre_builtin)(name->ref + component));
}

static vyre_expr parse_length(vy_parser *p, vy_loc loc)
{
    vy_parser_expect(p, VY_TOKEN_LEFT_PAREN, "behind len");
    if (!vy_parser_is(p, VY_TOKEN_NAME) || p->token.name->symbol != VY_SYMBOL_BUFFER) {
        if (vy_parser_is(p, VY_TOKEN_NAME) && p->token.name->symbol == VY_SYMBOL_NONE) {
            vy_parser_fail_unknown(p, &p->token);
        }
        vy_parser_fail(p, p->token.loc,
                       "len takes the name of a buffer, but found %s. Fix: write "
                       "len(BUFFER)",
                       vy_parser_found(p).text);
        return no_expr;
    }
    vyre_ref buffer = {p->token.name->ref};
    vy_parser_advance(p);
    vy_parser_expect(p, VY_TOKEN_RIGHT_PAREN, "behind the buffer of len");
    vy_parser_at(p, loc);
    return vyre_build_length(p->builder, buffer);
}

/* Takes "(a, b, ...)" onto p->arguments; how many there are. */
static uint32_t parse_list(vy_parser *p, const char *name)
{
    vy_loc open = p->token.loc;
    if (!vy_parser_take(p, VY_TOKEN_LEFT_PAREN)) {
        vy_parser_fail(p, open,
                       "expected '(' behind the function '%.40s', but found %s. Fix: write "
                       "its operands in parentheses",
                       name, vy_parser_found(p).text);
        return 0;
    }
    uint32_t count = 0;
    if (!vy_parser_enter(p, open)) {
        return 0;
    }
    while (!vy_parser_is(p, VY_TOKEN_RIGHT_PAREN) && !p->lexer.failed) {
        vyre_expr value = vy_parse_expression(p);
        if (!vy_vec_push(&p->arena, &p->arguments, value)) {
            vy_parser_fail(p, open, "out of memory. Fix: free memory");
        }
        count++;
        if (!vy_parser_take(p, VY_TOKEN_COMMA)) {
            break;
        }
    }
    vy_parser_leave(p);
    vy_parser_expect(p, VY_TOKEN_RIGHT_PAREN, "behind the operands of a function");
    return p->lexer.failed ? 0 : count;
}

/* A vector of its components, of one scalar, or another vector cast to it. */
static vyre_expr parse_vector(vy_parser *p, const vy_name *type, vy_loc loc)
{
    uint32_t before = p->arguments.count;
    uint32_t count = parse_list(p, type->text);
    if (p->lexer.failed) {
        return no_expr;
    }
    vyre_expr *parts = p->arguments.data + before;
    p->arguments.count = before;
    vy_parser_at(p, loc);
    if (count == 0 || count > 4) {
        vy_parser_fail(p, loc,
                       "'%s' takes 1 to 4 parts, but %u are given. Fix: give its components, or "
                       "one scalar for all of them",
                       type->text, count);
        return no_expr;
    }
    return vyre_build_vector(p->builder, (vyre_type)type->ref, parts, count);
}

static vyre_expr parse_cast(vy_parser *p, const vy_name *type, vy_loc loc)
{
    if (vy_parser_is(p, VY_TOKEN_NAME)) {
        vy_parser_fail(p, loc,
                       "a declaration does not begin with its type. Fix: write let %.40s : "
                       "%s = ..., or var for a variable",
                       p->token.name->text, type->text);
        return no_expr;
    }
    vy_mark mark = vy_parser_mark(p);
    vy_loc open = p->token.loc;
    if (!vy_parser_expect(p, VY_TOKEN_LEFT_PAREN, "behind the type of a cast")) {
        return no_expr;
    }
    if (vy_type_is_vector((vyre_type)type->ref)) {
        vy_parser_return_to(p, &mark);
        return parse_vector(p, type, loc);
    }
    vyre_expr value = parse_nested(p, open, VY_TOKEN_RIGHT_PAREN, "behind the operand of a cast");
    vy_parser_at(p, loc);
    return vyre_build_cast(p->builder, (vyre_type)type->ref, value);
}

/* Whether a bitcast of an integer literal alone is a literal of that type with these bits. */
static bool is_written_by_bits(vyre_type type)
{
    return !vy_type_is_vector(type) && type != VYRE_TYPE_U32 && type != VYRE_TYPE_I32 &&
           vy_type_kind_of(type) > VY_KIND_BOOL;
}

/* Takes "INTEGER )", the whole operand of a bitcast, or nothing. */
static bool take_only_integer(vy_parser *p, vyre_type type, uint64_t *out_bits)
{
    vy_mark mark = vy_parser_mark(p);
    if (mark.token.kind != VY_TOKEN_INTEGER ||
        mark.token.value != vy_type_bits(type, mark.token.value) ||
        (mark.token.type != VYRE_TYPE_INT &&
         (vy_type_is_signed((vyre_type)mark.token.type) ||
          vy_type_width((vyre_type)mark.token.type) != vy_type_width(type)))) {
        return false;
    }
    vy_parser_advance(p);
    if (!vy_parser_take(p, VY_TOKEN_RIGHT_PAREN)) {
        vy_parser_return_to(p, &mark);
        return false;
    }
    *out_bits = mark.token.value;
    return true;
}

static vyre_expr parse_bitcast(vy_parser *p, vy_loc loc)
{
    if (!vy_parser_take(p, VY_TOKEN_LT)) {
        vy_parser_fail(p, p->token.loc,
                       "expected '<' behind bitcast, but found %s. Fix: write "
                       "bitcast<u32>(x)",
                       vy_parser_found(p).text);
        return no_expr;
    }
    vyre_type type = vy_parser_type(p);
    vy_parser_expect(p, VY_TOKEN_GT, "behind the type of bitcast");
    vy_loc open = p->token.loc;
    vy_parser_expect(p, VY_TOKEN_LEFT_PAREN, "in front of the operand of bitcast");
    uint64_t bits;
    if (is_written_by_bits(type) && take_only_integer(p, type, &bits)) {
        vy_parser_at(p, loc);
        return vyre_build_literal(p->builder, type, bits);
    }
    vyre_expr value = parse_nested(p, open, VY_TOKEN_RIGHT_PAREN, "behind the operand of bitcast");
    vy_parser_at(p, loc);
    return vyre_build_bitcast(p->builder, type, value);
}

static vyre_expr parse_operator_call(vy_parser *p, const vy_name *name, vy_loc loc)
{
    vyre_op op = (vyre_op)name->ref;
    uint32_t before = p->arguments.count;
    uint32_t count = parse_list(p, name->text), needed = vy_op_get(op)->operand_count;
    if (p->lexer.failed) {
        return no_expr;
    }
    if (count != needed) {
        vy_parser_fail(p, loc, "'%s' takes %u operand%s, but %u %s given. Fix: pass %u", name->text,
                       needed, needed == 1 ? "" : "s", count, count == 1 ? "is" : "are", needed);
        return no_expr;
    }
    vyre_expr operand[4] = {{0}};
    for (uint32_t i = 0; i < needed && i < 4; i++) {
        operand[i] = p->arguments.data[before + i];
    }
    p->arguments.count = before;
    vy_parser_at(p, loc);
    return vyre_build_op(p->builder, op, operand[0], operand[1], operand[2], operand[3]);
}

uint32_t vy_parse_arguments(vy_parser *p, const vy_name *function, vy_loc loc)
{
    uint32_t before = p->arguments.count;
    uint32_t count = parse_list(p, function->text);
    if (!p->lexer.failed && count != function->parameters) {
        vy_parser_fail(p, loc,
                       "the function '%.64s' takes %u argument%s, but %u %s given. Fix: pass "
                       "one for each parameter",
                       function->text, function->parameters, function->parameters == 1 ? "" : "s",
                       count, count == 1 ? "is" : "are");
    }
    return before;
}

static vyre_expr parse_call(vy_parser *p, const vy_name *function, vy_loc loc)
{
    uint32_t before = vy_parse_arguments(p, function, loc);
    if (p->lexer.failed) {
        return no_expr;
    }
    vy_parser_at(p, loc);
    vyre_expr call = vyre_build_call(p->builder, (vyre_ref){function->ref},
                                     function->parameters ? p->arguments.data + before : NULL,
                                     function->parameters);
    p->arguments.count = before;
    return call;
}

static vyre_expr parse_element(vy_parser *p, const vy_name *name, vy_loc loc)
{
    vy_loc open = p->token.loc;
    if (!vy_parser_take(p, VY_TOKEN_LEFT_BRACKET)) {
        vy_parser_fail(p, loc,
                       "the %s '%.64s' is no value itself. Fix: write one element: %.64s[i]",
                       vy_symbol_kind_text((vy_symbol_kind)name->symbol), name->text, name->text);
        return no_expr;
    }
    vyre_expr index = parse_nested(p, open, VY_TOKEN_RIGHT_BRACKET, "behind an index");
    vy_parser_at(p, loc);
    return vyre_build_load(p->builder, (vyre_ref){name->ref}, index);
}

static vyre_expr parse_word(vy_parser *p, const vy_name *name, vy_loc loc)
{
    const char *text = name->text;
    switch (name->word) {
    case VY_WORD_TRUE:
    case VY_WORD_FALSE:
        return vyre_build_bool(p->builder, name->word == VY_WORD_TRUE);
    case VY_WORD_INF:
        return vy_builder_special(p->builder, 0x7f800000u);
    case VY_WORD_NAN:
        return vy_builder_special(p->builder, 0x7fc00000u);
    case VY_WORD_LEN:
        return parse_length(p, loc);
    case VY_WORD_BITCAST:
        return parse_bitcast(p, loc);
    case VY_WORD_UNIFORM:
        vy_parser_fail(p, loc,
                       "a uniform load is no part of an expression. Fix: bind it first: let x = "
                       "uniform b[i]");
        return no_expr;
    case VY_WORD_IF:
    case VY_WORD_SWITCH:
        vy_parser_fail(
            p, loc,
            "'%s' is a statement and gives no value. Fix: write select(condition, a, b), "
            "or assign a var",
            text);
        return no_expr;
    default:
        vy_parser_fail(p, loc,
                       "expected a value, but found the word '%s'. Fix: write an expression", text);
        return no_expr;
    }
}

static vyre_expr parse_name(vy_parser *p)
{
    const vy_name *name = p->token.name;
    const vy_loc loc = p->token.loc;
    if (name->symbol == VY_SYMBOL_NONE) {
        vy_parser_fail_unknown(p, &p->token);
        return no_expr;
    }
    vy_parser_at(p, loc);
    vy_parser_advance(p);
    vyre_ref ref = {name->ref};
    switch ((vy_symbol_kind)name->symbol) {
    case VY_SYMBOL_WORD:
        return parse_word(p, name, loc);
    case VY_SYMBOL_TYPE:
        return parse_cast(p, name, loc);
    case VY_SYMBOL_BUILTIN:
        return parse_builtin(p, name, loc);
    case VY_SYMBOL_OPERATOR:
        return parse_operator_call(p, name, loc);
    case VY_SYMBOL_ATOMIC:
        vy_parser_fail(p, loc,
                       "an atomic is no part of an expression. Fix: bind it first: let old = "
                       "%s(...)",
                       name->text);
        return no_expr;
    case VY_SYMBOL_SUBGROUP:
        vy_parser_fail(p, loc,
                       "a subgroup operation is no part of an expression. Fix: bind it first: let "
                       "x = %s(...)",
                       name->text);
        return no_expr;
    case VY_SYMBOL_BUFFER:
    case VY_SYMBOL_TABLE:
    case VY_SYMBOL_ARRAY:
        return parse_element(p, name, loc);
    case VY_SYMBOL_PARAM:
        return vyre_build_param_value(p->builder, ref);
    case VY_SYMBOL_CONSTANT:
        return vyre_build_constant_value(p->builder, ref);
    case VY_SYMBOL_FUNCTION:
        return parse_call(p, name, loc);
    case VY_SYMBOL_LET:
    case VY_SYMBOL_INDEX:
    case VY_SYMBOL_ARGUMENT:
    case VY_SYMBOL_VAR:
        return vyre_build_variable(p->builder, ref);
    case VY_SYMBOL_NONE:
        break;
    }
    return no_expr;
}

static void check_suffix(vy_parser *p)
{
    switch (p->token.kind) {
    case VY_TOKEN_LEFT_BRACKET:
        vy_parser_fail(p, p->token.loc,
                       "only buffers, arrays and tables are indexed. Fix: write NAME[i]");
        break;
    case VY_TOKEN_LEFT_PAREN:
        vy_parser_fail(p, p->token.loc,
                       "this value cannot be called. Fix: write an operator "
                       "between the two, or the name of a function");
        break;
    case VY_TOKEN_INCREMENT:
    case VY_TOKEN_DECREMENT:
        vy_parser_fail(p, p->token.loc,
                       "there is no operator %s. Fix: write a statement such as x "
                       "%s 1",
                       vy_token_kind_text((vy_token_kind)p->token.kind),
                       p->token.kind == VY_TOKEN_INCREMENT ? "+=" : "-=");
        break;
    default:
        break;
    }
}

/* ".xy" behind a value, as often as there is one. */
static VY_SELDOM vyre_expr parse_these_swizzles(vy_parser *p, vyre_expr value)
{
    while (vy_parser_is(p, VY_TOKEN_DOT) && !p->lexer.failed) {
        vy_loc loc = p->token.loc;
        vy_parser_advance(p);
        if (!vy_parser_is(p, VY_TOKEN_NAME)) {
            vy_parser_fail(p, loc,
                           "expected the names of components behind '.', but found %s. Fix: write "
                           ".x, .y, .z, .w or several of them",
                           vy_parser_found(p).text);
            return value;
        }
        const char *components = p->token.name->text;
        vy_parser_advance(p);
        vy_parser_at(p, loc);
        value = vyre_build_swizzle(p->builder, value, components);
    }
    return value;
}

static inline vyre_expr parse_swizzles(vy_parser *p, vyre_expr value)
{
    return vy_parser_is(p, VY_TOKEN_DOT) ? parse_these_swizzles(p, value) : value;
}

static vyre_expr parse_operand(vy_parser *p)
{
    vyre_expr value = no_expr;
    vy_loc loc = p->token.loc;
    switch (p->token.kind) {
    case VY_TOKEN_INTEGER:
    case VY_TOKEN_FLOAT:
        value = parse_number(p);
        break;
    case VY_TOKEN_NAME:
        value = parse_name(p);
        break;
    case VY_TOKEN_LEFT_PAREN:
        vy_parser_advance(p);
        value = parse_nested(p, loc, VY_TOKEN_RIGHT_PAREN, "behind an expression in parentheses");
        break;
    case VY_TOKEN_ADD:
        vy_parser_fail(p, loc, "there is no prefix '+'. Fix: leave it out");
        break;
    case VY_TOKEN_MUL:
    case VY_TOKEN_AND:
        vy_parser_fail(p, loc, "there are no pointers. Fix: write an element, such as b[i]");
        break;
    case VY_TOKEN_INCREMENT:
    case VY_TOKEN_DECREMENT:
        vy_parser_fail(p, loc, "there is no operator %s. Fix: write a statement such as x %s 1",
                       vy_token_kind_text((vy_token_kind)p->token.kind),
                       p->token.kind == VY_TOKEN_INCREMENT ? "+=" : "-=");
        break;
    default:
        vy_parser_fail(p, loc, "expected a value, but found %s. Fix: write an expression",
                       vy_parser_found(p).text);
        break;
    }
    value = parse_swizzles(p, value);
    check_suffix(p);
    return value;
}

/* ---- Operators ------------------------------------------------------------------------------- */

static vyre_expr parse_prefix(vy_parser *p)
{
    vyre_op op = p->token.kind == VY_TOKEN_SUB          ? VYRE_OP_NEGATE
                 : p->token.kind == VY_TOKEN_NOT        ? VYRE_OP_NOT
                 : p->token.kind == VY_TOKEN_COMPLEMENT ? VYRE_OP_COMPLEMENT
                                                        : VYRE_OP_NONE;
    if (op == VYRE_OP_NONE) {
        return parse_operand(p);
    }
    vy_loc loc = p->token.loc;
    vy_parser_advance(p);
    /* The only signed value whose magnitude is none. */
    vyre_type type = (vyre_type)p->token.type;
    if (op == VYRE_OP_NEGATE && vy_parser_is(p, VY_TOKEN_INTEGER) && type != VYRE_TYPE_INT &&
        vy_type_is_signed(type) && p->token.value == (uint64_t)1 << (vy_type_width(type) - 1)) {
        uint64_t bits = p->token.value;
        vy_parser_at(p, loc);
        vy_parser_advance(p);
        return vyre_build_literal(p->builder, type, bits);
    }
    if (!vy_parser_enter(p, loc)) {
        return no_expr;
    }
    vyre_expr value = parse_prefix(p);
    vy_parser_leave(p);
    vy_parser_at(p, loc);
    return vyre_build_op(p->builder, op, value, no_expr, no_expr, no_expr);
}

/* What people write behind an expression that has a meaning elsewhere. */
static void check_end(vy_parser *p)
{
    vy_token_kind kind = (vy_token_kind)p->token.kind;
    if (kind == VY_TOKEN_QUESTION) {
        vy_parser_fail(p, p->token.loc,
                       "there is no operator ?:. Fix: write select(condition, a, "
                       "b), which evaluates both");
    } else if (kind == VY_TOKEN_ASSIGN) {
        vy_parser_fail(p, p->token.loc,
                       "'=' is no part of an expression. Fix: write == to compare, "
                       "or assign in a statement of its own");
    } else if ((kind >= VY_TOKEN_ADD_ASSIGN && kind <= VY_TOKEN_XOR_ASSIGN) ||
               (kind >= VY_TOKEN_SHL_ASSIGN && kind <= VY_TOKEN_OR_OR_ASSIGN)) {
        vy_parser_fail(p, p->token.loc,
                       "'%s' is no part of an expression. Fix: assign in a "
                       "statement of its own",
                       vy_token_kind_text(kind));
    }
}

typedef struct open_operator {
    vyre_expr left;
    vyre_op op;
    uint32_t level;
    vy_loc loc;
} open_operator;

static vyre_expr close_operator(vy_parser *p, const open_operator *open, vyre_expr right)
{
    vy_parser_at(p, open->loc);
    return vyre_build_op(p->builder, open->op, open->left, right, no_expr, no_expr);
}

vyre_expr vy_parse_expression_after(vy_parser *p, vyre_expr first)
{
    open_operator open[LEVEL_COUNT]; /* of strictly rising levels */
    uint32_t count = 0;
    vyre_expr right = parse_swizzles(p, first);
    for (;;) {
        uint32_t level = 0;
        vyre_op op = vy_parser_infix((vy_token_kind)p->token.kind, &level);
        while (count > 0 && open[count - 1].level >= level && !p->lexer.failed) {
            if (level == LEVEL_COMPARISON && open[count - 1].level == LEVEL_COMPARISON) {
                vy_parser_fail(p, p->token.loc,
                               "comparisons do not chain. Fix: write a < b && b < c, or put one of "
                               "them in parentheses");
                break;
            }
            right = close_operator(p, &open[--count], right);
        }
        if (op == VYRE_OP_NONE || p->lexer.failed) {
            break;
        }
        open[count++] = (open_operator){right, op, level, p->token.loc};
        vy_parser_advance(p);
        right = parse_prefix(p);
    }
    check_end(p);
    return right;
}

vyre_expr vy_parse_expression(vy_parser *p)
{
    return vy_parse_expression_after(p, parse_prefix(p));
}
