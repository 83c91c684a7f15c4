/* Statements that begin with a name (assignments, stores, calls, atomics) and the two loads that
 * only a let may bind. */
#include "codegen/ir/parser.h"

#include <string.h>

/* BUFFER[index], whose name is the current token. */
static const vy_name *parse_place(vy_parser *p, const char *what, vyre_expr *out_index)
{
    vy_token token = p->token;
    if (!vy_parser_is(p, VY_TOKEN_NAME) || token.name->symbol != VY_SYMBOL_BUFFER) {
        if (vy_parser_is(p, VY_TOKEN_NAME) && token.name->symbol == VY_SYMBOL_NONE) {
            vy_parser_fail_unknown(p, &token);
        }
        vy_parser_fail(p, token.loc,
                       "%s takes an element of a buffer, but found %s. Fix: write "
                       "BUFFER[i]",
                       what, vy_parser_found(p).text);
        return NULL;
    }
    vy_parser_advance(p);
    vy_loc open = p->token.loc;
    if (!vy_parser_expect(p, VY_TOKEN_LEFT_BRACKET, "behind the name of a buffer") ||
        !vy_parser_enter(p, open)) {
        return NULL;
    }
    *out_index = vy_parse_expression(p);
    vy_parser_leave(p);
    return vy_parser_expect(p, VY_TOKEN_RIGHT_BRACKET, "behind an index") ? token.name : NULL;
}

static bool check_result_type(vy_parser *p, const vy_name *buffer, vyre_type type, vy_loc loc)
{
    if (type == VYRE_TYPE_VOID || type == vy_element_value_type((vyre_type)buffer->type)) {
        return true;
    }
    vy_parser_fail(p, loc,
                   "the elements of '%.64s' are %s, but %s is needed. Fix: convert it in a "
                   "let of its own, or change the type",
                   buffer->text, vyre_type_keyword((vyre_type)buffer->type),
                   vyre_type_keyword(type));
    return false;
}

/* [, ORDER] */
static vyre_order parse_order(vy_parser *p, const vy_name *atomic, uint32_t operands)
{
    if (!vy_parser_take(p, VY_TOKEN_COMMA) || vy_parser_is(p, VY_TOKEN_RIGHT_PAREN)) {
        return VYRE_ORDER_RELAXED;
    }
    vy_word word = vy_parser_is(p, VY_TOKEN_NAME) ? (vy_word)p->token.name->word : VY_WORD_NONE;
    if (word < VY_WORD_RELAXED || word > VY_WORD_ACQ_REL) {
        vy_parser_fail(p, p->token.loc,
                       "'%s' takes a place, %u value%s and an order, but found %s. Fix: write "
                       "relaxed, acquire, release or acq_rel, or nothing",
                       atomic->text, operands, operands == 1 ? "" : "s", vy_parser_found(p).text);
        return VYRE_ORDER_RELAXED;
    }
    vy_parser_advance(p);
    return (vyre_order)(word - VY_WORD_RELAXED);
}

void vy_parse_atomic(vy_parser *p, vy_name *result, vyre_type type)
{
    const vy_name *name = p->token.name;
    vy_loc loc = p->token.loc;
    vyre_atomic op = (vyre_atomic)name->ref;
    uint32_t operands = vy_atomic_operand_count(op);
    vyre_expr index = {0}, value[2] = {{0}, {0}};
    vy_parser_advance(p);
    vy_parser_expect(p, VY_TOKEN_LEFT_PAREN, "behind an atomic");
    const vy_name *buffer = parse_place(p, name->text, &index);
    for (uint32_t i = 0; i < operands && i < 2; i++) {
        if (!vy_parser_take(p, VY_TOKEN_COMMA)) {
            vy_parser_fail(p, p->token.loc,
                           "'%s' takes %u value%s behind the place, but %u %s given."
                           " Fix: write %s",
                           name->text, operands, operands == 1 ? "" : "s", i, i == 1 ? "is" : "are",
                           operands == 2 ? "(b[i], expected, new)" : "(b[i], value)");
        }
        value[i] = vy_parse_expression(p);
    }
    vyre_order order = parse_order(p, name, operands);
    vy_parser_expect(p, VY_TOKEN_RIGHT_PAREN, "behind the operands of an atomic");
    if (p->lexer.failed || !buffer) {
        return;
    }
    if (result && op == VYRE_ATOMIC_STORE) {
        vy_parser_fail(p, loc,
                       "atomic_store gives no value. Fix: write it as a statement of its "
                       "own");
    }
    if (!check_result_type(p, buffer, type, loc)) {
        return;
    }
    if (vy_parser_goes_on(p)) {
        vy_parser_fail(p, p->token.loc,
                       "an atomic is no part of an expression. Fix: bind it first: let old = "
                       "%s(...)",
                       name->text);
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = vyre_build_atomic(p->builder, op, order, result ? result->text : NULL,
                                     (vyre_ref){buffer->ref}, index, value[0], value[1]);
    vy_parser_declare(p, result, VY_SYMBOL_LET, (vyre_type)buffer->type, ref, loc);
}

void vy_parse_uniform_load(vy_parser *p, vy_name *result, vyre_type type)
{
    vy_loc loc = p->token.loc;
    vyre_expr index = {0};
    vy_parser_advance(p);
    const vy_name *buffer = parse_place(p, "uniform", &index);
    if (p->lexer.failed || !buffer || !check_result_type(p, buffer, type, loc)) {
        return;
    }
    if (vy_parser_goes_on(p)) {
        vy_parser_fail(p, p->token.loc,
                       "a uniform load is no part of an expression. Fix: bind it first: let x = "
                       "uniform b[i]");
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref =
        vyre_build_uniform_load(p->builder, result->text, (vyre_ref){buffer->ref}, index);
    vyre_type own = vy_element_value_type((vyre_type)buffer->type);
    vy_parser_declare(p, result, VY_SYMBOL_LET, own, ref, loc);
}

void vy_parse_subgroup(vy_parser *p, vy_name *result, vyre_type type)
{
    const vy_name *name = p->token.name;
    vy_loc loc = p->token.loc;
    const vy_subgroup_info *info = vy_subgroup_get((vyre_subgroup)name->ref);
    vyre_expr operand[2] = {{0}, {0}};
    vy_parser_advance(p);
    vy_parser_expect(p, VY_TOKEN_LEFT_PAREN, "behind a subgroup operation");
    if (!vy_parser_enter(p, loc)) {
        return;
    }
    for (uint32_t i = 0; i < info->operand_count && i < 2; i++) {
        if (i > 0 && !vy_parser_take(p, VY_TOKEN_COMMA)) {
            vy_parser_fail(p, p->token.loc,
                           "'%s' takes a value and a lane, but found %s. Fix: write %s(x, lane)",
                           name->text, vy_parser_found(p).text, name->text);
        }
        operand[i] = vy_parse_expression(p);
    }
    vy_parser_leave(p);
    vy_parser_expect(p, VY_TOKEN_RIGHT_PAREN, "behind the operands of a subgroup operation");
    if (p->lexer.failed) {
        return;
    }
    if (vy_parser_goes_on(p)) {
        vy_parser_fail(p, p->token.loc,
                       "a subgroup operation is no part of an expression. Fix: bind it first: let "
                       "x = %s(...)",
                       name->text);
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = vyre_build_subgroup(p->builder, (vyre_subgroup)name->ref,
                                       result ? result->text : NULL, operand[0], operand[1]);
    vyre_type own = vy_builder_variable_type(p->builder, ref);
    if (result && type != VYRE_TYPE_VOID && own != VYRE_TYPE_VOID && own != type) {
        vy_parser_fail(
            p, loc,
            "%s gives %s here, but %s is needed. Fix: convert it in a let of its own, or "
            "change the type",
            name->text, vyre_type_keyword(own), vyre_type_keyword(type));
        return;
    }
    vy_parser_declare(p, result, VY_SYMBOL_LET, own, ref, loc);
}

/* "\n" at a format's end is what other languages have taught. */
static bool ends_in_line_end(const vy_parser *p)
{
    const vy_token *token = &p->token;
    const char *end = p->lexer.text + token->end;
    return token->end - token->begin >= 4 && end[-3] == '\\' && end[-2] == 'n' &&
           (token->end - token->begin == 4 || end[-4] != '\\');
}

static const char *parse_format(vy_parser *p)
{
    if (!vy_parser_is(p, VY_TOKEN_STRING)) {
        vy_parser_fail(p, p->token.loc,
                       "expected the format of a printf, but found %s. Fix: write "
                       "printf(\"x = %%u\", x)",
                       vy_parser_found(p).text);
        return NULL;
    }
    if (ends_in_line_end(p)) {
        vy_parser_fail(p, p->token.loc,
                       "the format of a printf has a line end. Fix: leave out \\n: each printf is "
                       "a line of its own");
        return NULL;
    }
    const char *format = vy_lexer_string(&p->lexer, &p->token);
    vy_parser_advance(p);
    return format;
}

void vy_parse_printf(vy_parser *p, vy_loc loc)
{
    uint32_t before = p->arguments.count;
    vy_loc open = p->token.loc;
    if (!vy_parser_expect(p, VY_TOKEN_LEFT_PAREN, "behind printf") || !vy_parser_enter(p, open)) {
        return;
    }
    vy_loc format_loc = p->token.loc;
    const char *format = parse_format(p);
    while (!p->lexer.failed && vy_parser_take(p, VY_TOKEN_COMMA)) {
        vyre_expr value = vy_parse_expression(p);
        if (!p->lexer.failed && !vy_vec_push(&p->arena, &p->arguments, value)) {
            vy_parser_fail(p, loc, "out of memory. Fix: free memory");
        }
    }
    vy_parser_leave(p);
    vy_parser_expect(p, VY_TOKEN_RIGHT_PAREN, "behind the values of a printf");
    if (p->lexer.failed) {
        return;
    }
    if (vy_parser_goes_on(p)) {
        vy_parser_fail(p, p->token.loc,
                       "a printf is no part of an expression. Fix: write it as a statement of its "
                       "own");
        return;
    }
    uint32_t count = p->arguments.count - before;
    vy_parser_at(p, format_loc);
    vyre_build_printf(p->builder, format, count ? p->arguments.data + before : NULL, count);
    p->arguments.count = before;
}

void vy_parse_call_statement(vy_parser *p)
{
    const vy_name *function = p->token.name;
    vy_loc loc = p->token.loc;
    vy_parser_advance(p);
    uint32_t before = vy_parse_arguments(p, function, loc);
    if (p->lexer.failed) {
        return;
    }
    const vyre_expr *arguments = function->parameters ? p->arguments.data + before : NULL;
    p->arguments.count = before;
    vy_parser_at(p, loc);
    vyre_build_call_statement(p->builder, NULL, (vyre_ref){function->ref}, arguments,
                              function->parameters);
}

/* The operator of `+=` and its kin; NONE for '='. False, with an error, for anything else. */
static bool parse_assign_operator(vy_parser *p, const vy_name *name, vyre_op *out_op)
{
    static const struct {
        uint8_t kind;
        uint16_t op;
    } rows[] = {{VY_TOKEN_ASSIGN, VYRE_OP_NONE},    {VY_TOKEN_ADD_ASSIGN, VYRE_OP_ADD},
                {VY_TOKEN_SUB_ASSIGN, VYRE_OP_SUB}, {VY_TOKEN_MUL_ASSIGN, VYRE_OP_MUL},
                {VY_TOKEN_DIV_ASSIGN, VYRE_OP_DIV}, {VY_TOKEN_REM_ASSIGN, VYRE_OP_REM},
                {VY_TOKEN_AND_ASSIGN, VYRE_OP_AND}, {VY_TOKEN_OR_ASSIGN, VYRE_OP_OR},
                {VY_TOKEN_XOR_ASSIGN, VYRE_OP_XOR}, {VY_TOKEN_SHL_ASSIGN, VYRE_OP_SHL},
                {VY_TOKEN_SHR_ASSIGN, VYRE_OP_SHR}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        if (vy_parser_take(p, (vy_token_kind)rows[i].kind)) {
            *out_op = (vyre_op)rows[i].op;
            return true;
        }
    }
    vy_token_kind kind = (vy_token_kind)p->token.kind;
    if (kind == VY_TOKEN_INCREMENT || kind == VY_TOKEN_DECREMENT) {
        vy_parser_fail(p, p->token.loc, "there is no operator %s. Fix: write %.64s %s 1",
                       vy_token_kind_text(kind), name->text,
                       kind == VY_TOKEN_INCREMENT ? "+=" : "-=");
    } else if (kind == VY_TOKEN_AND_AND_ASSIGN || kind == VY_TOKEN_OR_OR_ASSIGN) {
        vy_parser_fail(p, p->token.loc, "there is no operator %s. Fix: write %.64s = %.64s %s ...",
                       vy_token_kind_text(kind), name->text, name->text,
                       kind == VY_TOKEN_AND_AND_ASSIGN ? "&&" : "||");
    } else if (kind == VY_TOKEN_DEFINE) {
        vy_parser_fail(p, p->token.loc,
                       "there is no operator :=. Fix: write = to assign, or let to "
                       "declare");
    } else if (kind == VY_TOKEN_EQ) {
        vy_parser_fail(p, p->token.loc,
                       "'==' compares and is no statement. Fix: write = to assign");
    } else if (kind == VY_TOKEN_LEFT_BRACKET && name->symbol == VY_SYMBOL_VAR) {
        vy_parser_fail(p, p->token.loc,
                       "'%.64s' is a var, not an array. Fix: assign it whole, or "
                       "declare var %.64s : u32[16]",
                       name->text, name->text);
    } else {
        vy_parser_fail(p, p->token.loc,
                       "expected '=' behind '%.64s', but found %s. Fix: write an "
                       "assignment",
                       name->text, vy_parser_found(p).text);
    }
    return false;
}

/* `v.x = e` is v with another x. */
static void parse_component_assignment(vy_parser *p, const vy_name *name, vy_loc loc)
{
    static const char *const names[4] = {"x", "y", "z", "w"};
    vyre_ref variable = {name->ref};
    vyre_type type = vy_builder_variable_type(p->builder, variable);
    uint32_t count = vy_type_components(type), place = 0;
    vy_parser_advance(p);
    const char *text = vy_parser_is(p, VY_TOKEN_NAME) ? p->token.name->text : "";
    while (place < 4 && strcmp(names[place], text) != 0) {
        place++;
    }
    if (count < 2 || place >= count) {
        vy_parser_fail(p, p->token.loc,
                       "'%.64s' is %s, and one of its components is needed here. Fix: assign %s",
                       name->text, vyre_type_keyword(type),
                       count < 2 ? "it whole" : "one of .x .y .z .w that it has");
        return;
    }
    vy_parser_advance(p);
    vyre_op op;
    vyre_expr none = {0}, parts[4] = {{0}};
    vy_loc op_loc = p->token.loc;
    if (!parse_assign_operator(p, name, &op)) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i != place || op != VYRE_OP_NONE) {
            vyre_expr old = vyre_build_variable(p->builder, variable);
            parts[i] = vyre_build_swizzle(p->builder, old, names[i]);
        }
    }
    vyre_expr value = vy_parse_expression(p);
    if (p->lexer.failed) {
        return;
    }
    vy_parser_at(p, op_loc);
    parts[place] =
        op == VYRE_OP_NONE ? value : vyre_build_op(p->builder, op, parts[place], value, none, none);
    vy_parser_at(p, loc);
    vyre_build_assign(p->builder, variable, vyre_build_vector(p->builder, type, parts, count));
}

static void parse_variable_assignment(vy_parser *p, const vy_name *name, vy_loc loc)
{
    vyre_op op;
    vyre_ref variable = {name->ref};
    vyre_expr none = {0}, old = {0};
    vy_loc op_loc = p->token.loc;
    if (vy_parser_is(p, VY_TOKEN_DOT)) {
        parse_component_assignment(p, name, loc);
        return;
    }
    if (!parse_assign_operator(p, name, &op)) {
        return;
    }
    vy_parser_at(p, loc);
    if (op != VYRE_OP_NONE) {
        old = vyre_build_variable(p->builder, variable);
    }
    vyre_expr value = vy_parse_expression(p);
    vy_parser_at(p, op_loc);
    if (op != VYRE_OP_NONE && !p->lexer.failed) {
        value = vyre_build_op(p->builder, op, old, value, none, none);
    }
    vy_parser_at(p, loc);
    if (!p->lexer.failed) {
        vyre_build_assign(p->builder, variable, value);
    }
}

static vyre_expr parse_index(vy_parser *p)
{
    vyre_expr index = {0};
    if (vy_parser_enter(p, p->token.loc)) {
        index = vy_parse_expression(p);
        vy_parser_leave(p);
    }
    return index;
}

/* `b[i] += v` is `b[i] = b[i] + v`: the index has no effects and is read twice. */
static void parse_element_assignment(vy_parser *p, const vy_name *name, vy_loc loc)
{
    vyre_op op;
    vyre_ref place = {name->ref};
    vyre_expr none = {0}, old = {0};
    if (!vy_parser_take(p, VY_TOKEN_LEFT_BRACKET)) {
        vy_parser_fail(p, p->token.loc,
                       "the %s '%.64s' cannot be assigned whole. Fix: assign one "
                       "element: %.64s[i] = ...",
                       vy_symbol_kind_text((vy_symbol_kind)name->symbol), name->text, name->text);
        return;
    }
    vy_mark before_index = vy_parser_mark(p);
    vyre_expr index = parse_index(p);
    vy_parser_expect(p, VY_TOKEN_RIGHT_BRACKET, "behind an index");
    vy_loc op_loc = p->token.loc;
    if (!parse_assign_operator(p, name, &op)) {
        return;
    }
    if (op != VYRE_OP_NONE) {
        vy_mark behind = vy_parser_mark(p);
        vy_parser_return_to(p, &before_index);
        vyre_expr again = parse_index(p);
        vy_parser_return_to(p, &behind);
        vy_parser_at(p, loc);
        old = vyre_build_load(p->builder, place, again);
    }
    vyre_expr value = vy_parse_expression(p);
    if (p->lexer.failed) {
        return;
    }
    if (op != VYRE_OP_NONE) {
        vy_parser_at(p, op_loc);
        value = vyre_build_op(p->builder, op, old, value, none, none);
    }
    vy_parser_at(p, loc);
    vyre_build_store(p->builder, place, index, value);
}

void vy_parse_assignment(vy_parser *p)
{
    const vy_name *name = p->token.name;
    vy_loc loc = p->token.loc;
    vy_parser_advance(p);
    if (name->symbol == VY_SYMBOL_VAR) {
        parse_variable_assignment(p, name, loc);
    } else {
        parse_element_assignment(p, name, loc);
    }
}
