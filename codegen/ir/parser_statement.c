/* Statements and blocks. Open blocks lie on a stack of their own, so nothing here recurses however
 * deep blocks are nested. */
#include "codegen/ir/parser.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

bool vy_parser_open_block(vy_parser *p, vy_block_kind kind, const char *where)
{
    vy_block block = {.kind = (uint8_t)kind,
                      .first_name = p->scope.count,
                      .ends = kind == VY_BLOCK_KERNEL ? 0 : 1,
                      .loc = p->token.loc};
    if (!vy_parser_expect(p, VY_TOKEN_LEFT_BRACE, where)) {
        return false;
    }
    if (!vy_vec_push(&p->arena, &p->blocks, block)) {
        vy_parser_fail(p, block.loc, "out of memory. Fix: free memory");
        return false;
    }
    return true;
}

static void forget_names(vy_parser *p, uint32_t first)
{
    while (p->scope.count > first) {
        p->scope.data[--p->scope.count]->symbol = VY_SYMBOL_NONE;
    }
}

static void parse_if_head(vy_parser *p, vy_loc loc)
{
    vyre_expr condition = vy_parse_expression(p);
    vy_parser_at(p, loc);
    vyre_build_if_begin(p->builder, condition);
}

/* Behind the '}' of an if. A chain of `else if` stays one block here. */
static bool parse_else(vy_parser *p, vy_block *block)
{
    if (!vy_parser_is_word(p, VY_WORD_ELSE)) {
        return false;
    }
    vy_parser_at(p, p->token.loc);
    vyre_build_else(p->builder);
    vy_parser_advance(p);
    vy_loc loc = p->token.loc;
    if (vy_parser_take_word(p, VY_WORD_IF)) {
        parse_if_head(p, loc);
        block->ends++;
    } else {
        block->kind = VY_BLOCK_ELSE;
    }
    block->loc = p->token.loc;
    vy_parser_expect(p, VY_TOKEN_LEFT_BRACE,
                     block->kind == VY_BLOCK_ELSE ? "behind else" : "behind the condition");
    return true;
}

static void close_block(vy_parser *p)
{
    vy_block *block = &p->blocks.data[p->blocks.count - 1];
    vy_loc loc = p->token.loc;
    vy_parser_advance(p);
    forget_names(p, block->first_name);
    if (block->kind == VY_BLOCK_IF && parse_else(p, block)) {
        return;
    }
    for (uint32_t i = 0; i < block->ends; i++) {
        vy_parser_at(p, loc);
        vyre_build_end(p->builder);
    }
    p->blocks.count--;
}

/* ---- Declarations ---------------------------------------------------------------------------- */

/* A call that is all that stands behind '=' is a statement, which may have effects; as an operand
 * of more it is an expression. */
static bool parse_call_value(vy_parser *p, vy_name *result, vyre_type type, vyre_expr *out_value)
{
    const vy_name *function = p->token.name;
    vy_loc loc = p->token.loc;
    vy_parser_advance(p);
    uint32_t before = vy_parse_arguments(p, function, loc);
    if (p->lexer.failed) {
        return true;
    }
    const vyre_expr *arguments = function->parameters ? p->arguments.data + before : NULL;
    p->arguments.count = before;
    vyre_ref callee = {function->ref};
    vy_parser_at(p, loc);
    if (vy_parser_goes_on(p)) {
        vyre_expr call = vyre_build_call(p->builder, callee, arguments, function->parameters);
        *out_value = vy_parse_expression_after(p, call);
        return false;
    }
    if (type != VYRE_TYPE_VOID && type != function->type && function->type != VYRE_TYPE_VOID) {
        vy_parser_fail(p, loc,
                       "the function '%.64s' gives %s, but %s is needed. Fix: convert it in "
                       "a let of its own, or change the type",
                       function->text, vyre_type_keyword((vyre_type)function->type),
                       vyre_type_keyword(type));
        return true;
    }
    vyre_ref ref = vyre_build_call_statement(p->builder, result->text, callee, arguments,
                                             function->parameters);
    vy_parser_declare(p, result, VY_SYMBOL_LET, (vyre_type)function->type, ref, loc);
    return true;
}

static void parse_let(vy_parser *p)
{
    vy_loc loc;
    vy_name *name = vy_parser_new_name(p, "let", &loc);
    vyre_type type = VYRE_TYPE_VOID;
    if (vy_parser_take(p, VY_TOKEN_COLON)) {
        type = vy_parser_type(p);
    }
    if (!vy_parser_expect(p, VY_TOKEN_ASSIGN, "behind the name of a let")) {
        return;
    }
    vyre_expr value = {0};
    bool is_name = vy_parser_is(p, VY_TOKEN_NAME);
    if (is_name && p->token.name->symbol == VY_SYMBOL_ATOMIC) {
        vy_parse_atomic(p, name, type);
        return;
    }
    if (is_name && p->token.name->symbol == VY_SYMBOL_SUBGROUP) {
        vy_parse_subgroup(p, name, type);
        return;
    }
    if (vy_parser_is_word(p, VY_WORD_UNIFORM)) {
        vy_parse_uniform_load(p, name, type);
        return;
    }
    if (is_name && p->token.name->symbol == VY_SYMBOL_FUNCTION) {
        if (parse_call_value(p, name, type, &value)) {
            return;
        }
    } else {
        value = vy_parse_expression(p);
    }
    if (p->lexer.failed) {
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = vyre_build_let(p->builder, name->text, type, value);
    vy_parser_declare(p, name, VY_SYMBOL_LET, type, ref, loc);
}

/* var NAME : TYPE[COUNT], behind the type. */
static void parse_array(vy_parser *p, vy_name *name, vyre_type type, vy_loc loc)
{
    uint32_t count = vy_parse_constant_u32(p);
    vy_parser_expect(p, VY_TOKEN_RIGHT_BRACKET, "behind the count of an array");
    if (vy_parser_is(p, VY_TOKEN_ASSIGN)) {
        vy_parser_fail(p, p->token.loc,
                       "an array has no initialiser: its elements are zero. Fix: "
                       "assign them one by one, or use a const table");
    }
    if (p->lexer.failed) {
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = vyre_build_array(p->builder, name->text, type, count);
    vy_parser_declare(p, name, VY_SYMBOL_ARRAY, type, ref, loc);
}

static void parse_var(vy_parser *p)
{
    vy_loc loc;
    vy_name *name = vy_parser_new_name(p, "var", &loc);
    vyre_type type = VYRE_TYPE_VOID;
    if (vy_parser_take(p, VY_TOKEN_COLON)) {
        type = vy_parser_type(p);
        if (vy_parser_take(p, VY_TOKEN_LEFT_BRACKET)) {
            parse_array(p, name, type, loc);
            return;
        }
    }
    if (!vy_parser_take(p, VY_TOKEN_ASSIGN)) {
        vy_parser_fail(p, p->token.loc,
                       "expected '=' behind the name of a var, but found %s. Fix: write its first "
                       "value: = 0",
                       vy_parser_found(p).text);
        return;
    }
    if (vy_parser_is(p, VY_TOKEN_NAME) && (p->token.name->symbol == VY_SYMBOL_ATOMIC ||
                                           p->token.name->symbol == VY_SYMBOL_SUBGROUP)) {
        vy_parser_fail(p, p->token.loc,
                       "the value of %s is bound by let only. Fix: write let old = %s(...), then "
                       "var %.64s = old",
                       p->token.name->symbol == VY_SYMBOL_ATOMIC ? "an atomic"
                                                                 : "a subgroup operation",
                       p->token.name->text, name ? name->text : "");
    }
    vyre_expr value = vy_parse_expression(p);
    if (p->lexer.failed) {
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = vyre_build_var(p->builder, name->text, type, value);
    vy_parser_declare(p, name, VY_SYMBOL_VAR, type, ref, loc);
}

/* ---- Control --------------------------------------------------------------------------------- */

static void parse_if(vy_parser *p, vy_loc loc)
{
    parse_if_head(p, loc);
    vy_parser_open_block(p, VY_BLOCK_IF, "behind the condition");
}

static void parse_while(vy_parser *p, vy_loc loc)
{
    vyre_expr condition = vy_parse_expression(p);
    vy_parser_at(p, loc);
    vyre_build_while_begin(p->builder, condition);
    vy_parser_open_block(p, VY_BLOCK_PLAIN, "behind the condition");
}

static void parse_for(vy_parser *p, vy_loc loc)
{
    vy_loc name_loc;
    if (vy_parser_is(p, VY_TOKEN_LEFT_PAREN)) {
        vy_parser_fail(
            p, p->token.loc,
            "a for has no parentheses. Fix: write for i in 0 .. n { ... }, with step s or "
            "down in front of the { where needed");
        return;
    }
    vy_name *name = vy_parser_new_name(p, "loop index", &name_loc);
    if (!vy_parser_take_word(p, VY_WORD_IN)) {
        vy_parser_fail(p, p->token.loc,
                       "expected 'in' behind the loop index, but found %s. Fix: "
                       "write for i in 0 .. n { ... }",
                       vy_parser_found(p).text);
        return;
    }
    vyre_expr from = vy_parse_expression(p), step = {0};
    vy_parser_expect(p, VY_TOKEN_RANGE, "behind the lower bound of a for");
    if (vy_parser_is(p, VY_TOKEN_ASSIGN) || vy_parser_is(p, VY_TOKEN_LT)) {
        vy_parser_fail(p, p->token.loc,
                       "ranges are half open: the upper bound is left out. Fix: "
                       "write a .. b, or a .. b + 1");
        return;
    }
    vyre_expr to = vy_parse_expression(p);
    bool down = vy_parser_take_word(p, VY_WORD_DOWN);
    if (vy_parser_take_word(p, VY_WORD_STEP)) {
        step = vy_parse_expression(p);
        down |= vy_parser_take_word(p, VY_WORD_DOWN);
    }
    if (p->lexer.failed) {
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = down ? vyre_build_for_down_begin(p->builder, name->text, from, to, step)
                        : vyre_build_for_begin(p->builder, name->text, from, to, step);
    if (vy_parser_open_block(p, VY_BLOCK_PLAIN, "behind the range of a for")) {
        vy_parser_declare(p, name, VY_SYMBOL_INDEX, VYRE_TYPE_VOID, ref, name_loc);
    }
}

static void parse_switch(vy_parser *p, vy_loc loc)
{
    vyre_expr selector = vy_parse_expression(p);
    vy_parser_at(p, loc);
    vyre_build_switch_begin(p->builder, selector);
    if (vy_parser_stopped(p)) {
        return;
    }
    const vyre_program *program = p->builder->program;
    uint32_t root = program->stmts.data[program->stmts.count - 1].x.root;
    if (vy_parser_open_block(p, VY_BLOCK_SWITCH, "behind the selector of a switch")) {
        p->blocks.data[p->blocks.count - 1].selector = program->exprs.data[root].type;
    }
}

static void parse_case(vy_parser *p)
{
    vyre_type type = (vyre_type)p->blocks.data[p->blocks.count - 1].selector;
    vy_loc loc = p->token.loc;
    bool is_default = vy_parser_is_word(p, VY_WORD_DEFAULT);
    if (!is_default && !vy_parser_is_word(p, VY_WORD_CASE)) {
        vy_parser_fail(p, loc,
                       "expected case, default or '}' in a switch, but found %s. Fix: write "
                       "case 1, 2 { ... } or default { ... }",
                       vy_parser_found(p).text);
        return;
    }
    vy_parser_advance(p);
    p->values.count = 0;
    while (!is_default && !p->lexer.failed) {
        vy_constant value = vy_parse_constant(p);
        uint32_t bits = (uint32_t)vy_constant_bits(p, &value, &type);
        if (!vy_vec_push(&p->arena, &p->values, bits)) {
            vy_parser_fail(p, loc, "out of memory. Fix: free memory");
        }
        if (!vy_parser_take(p, VY_TOKEN_COMMA) || vy_parser_is(p, VY_TOKEN_LEFT_BRACE)) {
            break;
        }
    }
    if (vy_parser_is(p, VY_TOKEN_COLON)) {
        vy_parser_fail(p, p->token.loc,
                       "a case has a body in braces and does not fall through. "
                       "Fix: write { ... } instead of ':'");
        return;
    }
    vy_parser_at(p, loc);
    vyre_build_case_begin(p->builder, p->values.data, p->values.count);
    vy_parser_open_block(p, VY_BLOCK_PLAIN, is_default ? "behind default" : "behind a case");
}

static void parse_region(vy_parser *p, vy_loc loc)
{
    if (!vy_parser_is(p, VY_TOKEN_STRING)) {
        vy_parser_fail(p, p->token.loc,
                       "expected the name of a region, but found %s. Fix: write "
                       "region \"name\" { ... }",
                       vy_parser_found(p).text);
        return;
    }
    const char *name = vy_lexer_string(&p->lexer, &p->token);
    vy_parser_at(p, loc);
    vy_parser_advance(p);
    if (name && !p->lexer.failed) {
        vyre_build_region_begin(p->builder, name);
    }
    vy_parser_open_block(p, VY_BLOCK_PLAIN, "behind the name of a region");
}

static void parse_return(vy_parser *p, vy_loc loc)
{
    vyre_expr value = {0};
    if (p->function && p->function->type != VYRE_TYPE_VOID) {
        value = vy_parse_expression(p);
    } else if (vy_parser_is(p, VY_TOKEN_INTEGER) || vy_parser_is(p, VY_TOKEN_FLOAT) ||
               vy_parser_is(p, VY_TOKEN_LEFT_PAREN) || vy_parser_is(p, VY_TOKEN_SUB)) {
        vy_parser_fail(p, p->token.loc,
                       "%s gives no value, so return takes none. Fix: write return alone%s",
                       p->function ? "this function" : "the kernel",
                       p->function ? ", or give the function a type: -> u32" : "");
        return;
    }
    vy_parser_at(p, loc);
    vyre_build_return(p->builder, value);
}

static void parse_trap(vy_parser *p, vy_loc loc)
{
    vy_parser_expect(p, VY_TOKEN_LEFT_PAREN, "behind trap");
    uint32_t code = vy_parse_constant_u32(p);
    vy_parser_expect(p, VY_TOKEN_RIGHT_PAREN, "behind the code of a trap");
    vy_parser_at(p, loc);
    vyre_build_trap(p->builder, code);
}

static void parse_wait(vy_parser *p, vy_loc loc, vy_word word)
{
    if (vy_parser_take(p, VY_TOKEN_LEFT_PAREN)) {
        vy_parser_expect(p, VY_TOKEN_RIGHT_PAREN, "behind a barrier, which takes no operands");
    }
    vy_parser_at(p, loc);
    if (word == VY_WORD_BARRIER) {
        vyre_build_barrier(p->builder);
    } else {
        vyre_build_grid_sync(p->builder);
    }
}

/* ---- Statements ------------------------------------------------------------------------------ */

static void parse_misplaced_word(vy_parser *p)
{
    const char *text = p->token.name->text;
    switch (p->token.name->word) {
    case VY_WORD_ELSE:
        vy_parser_fail(p, p->token.loc,
                       "an else without an if in front of it. Fix: write if c { "
                       "... } else { ... }");
        break;
    case VY_WORD_CASE:
    case VY_WORD_DEFAULT:
        vy_parser_fail(p, p->token.loc,
                       "'%s' stands outside of a switch. Fix: write switch x { %s "
                       "... }",
                       text, text);
        break;
    case VY_WORD_CONST:
        vy_parser_fail(p, p->token.loc,
                       "a const stands outside of functions and the kernel. Fix: "
                       "move it up, or write let");
        break;
    case VY_WORD_SHARED:
        vy_parser_fail(p, p->token.loc,
                       "shared memory is declared outside of the kernel. Fix: move "
                       "it up, beside the buffers");
        break;
    case VY_WORD_FN:
        vy_parser_fail(p, p->token.loc,
                       "a fn stands outside of functions and the kernel. Fix: move "
                       "it up");
        break;
    default:
        vy_parser_fail(p, p->token.loc,
                       "expected a statement, but found the word '%s'. Fix: write "
                       "a statement, or '}' where the block ends",
                       text);
        break;
    }
}

static void parse_word(vy_parser *p)
{
    vy_loc loc = p->token.loc;
    vy_word word = (vy_word)p->token.name->word;
    switch (word) {
    case VY_WORD_LET:
        vy_parser_advance(p);
        parse_let(p);
        break;
    case VY_WORD_VAR:
        vy_parser_advance(p);
        parse_var(p);
        break;
    case VY_WORD_IF:
        vy_parser_advance(p);
        parse_if(p, loc);
        break;
    case VY_WORD_SWITCH:
        vy_parser_advance(p);
        parse_switch(p, loc);
        break;
    case VY_WORD_FOR:
        vy_parser_advance(p);
        parse_for(p, loc);
        break;
    case VY_WORD_WHILE:
        vy_parser_advance(p);
        parse_while(p, loc);
        break;
    case VY_WORD_BREAK:
    case VY_WORD_CONTINUE:
        vy_parser_at(p, loc);
        vy_parser_advance(p);
        if (word == VY_WORD_BREAK) {
            vyre_build_break(p->builder);
        } else {
            vyre_build_continue(p->builder);
        }
        break;
    case VY_WORD_RETURN:
        vy_parser_advance(p);
        parse_return(p, loc);
        break;
    case VY_WORD_REGION:
        vy_parser_advance(p);
        parse_region(p, loc);
        break;
    case VY_WORD_BARRIER:
    case VY_WORD_GRID_SYNC:
        vy_parser_advance(p);
        parse_wait(p, loc, word);
        break;
    case VY_WORD_TRAP:
        vy_parser_advance(p);
        parse_trap(p, loc);
        break;
    case VY_WORD_PRINTF:
        vy_parser_advance(p);
        vy_parse_printf(p, loc);
        break;
    default:
        parse_misplaced_word(p);
        break;
    }
}

static void parse_named(vy_parser *p)
{
    const vy_name *name = p->token.name;
    switch ((vy_symbol_kind)name->symbol) {
    case VY_SYMBOL_WORD:
        parse_word(p);
        break;
    case VY_SYMBOL_FUNCTION:
        vy_parse_call_statement(p);
        break;
    case VY_SYMBOL_ATOMIC:
        vy_parse_atomic(p, NULL, VYRE_TYPE_VOID);
        break;
    case VY_SYMBOL_SUBGROUP:
        vy_parse_subgroup(p, NULL, VYRE_TYPE_VOID);
        break;
    case VY_SYMBOL_BUFFER:
    case VY_SYMBOL_VAR:
    case VY_SYMBOL_ARRAY:
        vy_parse_assignment(p);
        break;
    case VY_SYMBOL_TYPE:
        vy_parser_fail(p, p->token.loc,
                       "a declaration does not begin with its type. Fix: write let "
                       "x : %s = ..., or var for a variable",
                       name->text);
        break;
    case VY_SYMBOL_NONE:
        vy_parser_fail_unknown(p, &p->token);
        break;
    case VY_SYMBOL_LET:
    case VY_SYMBOL_INDEX:
    case VY_SYMBOL_ARGUMENT:
    case VY_SYMBOL_PARAM:
    case VY_SYMBOL_CONSTANT:
    case VY_SYMBOL_TABLE:
    case VY_SYMBOL_BUILTIN:
    case VY_SYMBOL_OPERATOR:
        vy_parser_fail(p, p->token.loc,
                       "'%.64s' is a %s and cannot be assigned. Fix: declare a var "
                       "and assign that",
                       name->text, vy_symbol_kind_text((vy_symbol_kind)name->symbol));
        break;
    }
}

static void parse_other(vy_parser *p)
{
    vy_loc loc = p->token.loc;
    switch (p->token.kind) {
    case VY_TOKEN_LEFT_BRACE:
        vy_parser_at(p, loc);
        vyre_build_block_begin(p->builder);
        vy_parser_open_block(p, VY_BLOCK_PLAIN, "at the start of a block");
        break;
    case VY_TOKEN_SEMICOLON:
        vy_parser_advance(p);
        break;
    case VY_TOKEN_INCREMENT:
    case VY_TOKEN_DECREMENT:
        vy_parser_fail(p, loc, "there is no operator %s. Fix: write x %s 1",
                       vy_token_kind_text((vy_token_kind)p->token.kind),
                       p->token.kind == VY_TOKEN_INCREMENT ? "+=" : "-=");
        break;
    default:
        vy_parser_fail(p, loc,
                       "expected a statement, but found %s. Fix: write a statement, or '}' "
                       "where the block ends",
                       vy_parser_found(p).text);
        break;
    }
}

void vy_parse_block(vy_parser *p)
{
    uint32_t below = p->blocks.count - 1;
    while (p->blocks.count > below && !p->lexer.failed) {
        const vy_block *block = &p->blocks.data[p->blocks.count - 1];
        if (vy_parser_is(p, VY_TOKEN_RIGHT_BRACE)) {
            close_block(p);
        } else if (vy_parser_is(p, VY_TOKEN_END)) {
            vy_parser_fail(p, p->token.loc,
                           "the block that begins at line %u column %u has no end. Fix: write '}'",
                           block->loc.line, block->loc.column);
        } else if (block->kind == VY_BLOCK_SWITCH) {
            if (!vy_parser_take(p, VY_TOKEN_SEMICOLON)) {
                parse_case(p);
            }
        } else if (vy_parser_is(p, VY_TOKEN_NAME)) {
            parse_named(p);
        } else {
            parse_other(p);
        }
    }
}
