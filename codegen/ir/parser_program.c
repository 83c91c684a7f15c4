/* What stands outside of blocks: the program's name, directives, declarations, functions, kernel.
 */
#include "codegen/ir/parser.h"

enum {
    SEEN_WORKGROUP = 1,
    SEEN_GRID = 2,
    SEEN_FIXPOINT = 4,
    SEEN_LOOP_LIMIT = 8,
    SEEN_FAST_MATH = 16,
    SEEN_KERNEL = 32,
    SEEN_SUBGROUP = 64
};

static bool once(vy_parser *p, uint32_t bit, const vy_token *token)
{
    if (p->seen & bit) {
        vy_parser_fail(p, token->loc, "'%s' stands here for the second time. Fix: keep one of them",
                       token->name->text);
        return false;
    }
    p->seen |= bit;
    return true;
}

/* ---- Directives ------------------------------------------------------------------------------ */

static void parse_workgroup(vy_parser *p, vy_loc loc)
{
    uint32_t size[3] = {1, 1, 1};
    size[0] = vy_parse_constant_u32(p);
    for (uint32_t i = 1; i < 3 && vy_parser_take(p, VY_TOKEN_COMMA); i++) {
        size[i] = vy_parse_constant_u32(p);
    }
    vy_parser_at(p, loc);
    vyre_build_workgroup(p->builder, size[0], size[1], size[2]);
}

/* The buffer may be declared below, so it is looked up when everything was read. */
static vy_late_name parse_late_buffer(vy_parser *p, const char *where)
{
    vy_late_name late = {NULL, p->token.loc};
    if (!vy_parser_is(p, VY_TOKEN_NAME)) {
        vy_parser_fail(p, p->token.loc,
                       "expected the name of a buffer behind %s, but found %s. "
                       "Fix: write one",
                       where, vy_parser_found(p).text);
        return late;
    }
    late.name = p->token.name;
    vy_parser_advance(p);
    return late;
}

static void parse_grid_of(vy_parser *p, vy_loc loc)
{
    vyre_expr counts[3] = {{0}};
    counts[0] = vy_parse_expression(p);
    for (uint32_t i = 1; i < 3 && vy_parser_take(p, VY_TOKEN_COMMA); i++) {
        counts[i] = vy_parse_expression(p);
    }
    if (p->lexer.failed) {
        return;
    }
    vy_parser_at(p, loc);
    vyre_build_grid_of(p->builder, counts[0], counts[1], counts[2]);
}

static void parse_grid(vy_parser *p, vy_loc loc)
{
    if (vy_parser_take_word(p, VY_WORD_FROM)) {
        p->grid_from = parse_late_buffer(p, "grid from");
        return;
    }
    if (vy_parser_take_word(p, VY_WORD_OF)) {
        parse_grid_of(p, loc);
        return;
    }
    if (!vy_parser_take_word(p, VY_WORD_OVER)) {
        vy_parser_fail(p, p->token.loc,
                       "expected 'over', 'from' or 'of' behind grid, but found %s. Fix: write grid "
                       "over BUFFER, grid from BUFFER, or grid of COUNT for workgroups",
                       vy_parser_found(p).text);
        return;
    }
    p->grid_over = parse_late_buffer(p, "grid over");
}

static void parse_fixpoint(vy_parser *p, vy_loc loc)
{
    p->fixpoint_loc = loc;
    p->passes = vy_parse_constant_u32(p);
    if (vy_parser_take_word(p, VY_WORD_UNTIL)) {
        p->until = parse_late_buffer(p, "until");
    }
}

static vyre_ref find_late_buffer(vy_parser *p, const vy_late_name *late)
{
    if (late->name->symbol == VY_SYMBOL_BUFFER) {
        return (vyre_ref){late->name->ref};
    }
    if (late->name->symbol == VY_SYMBOL_NONE) {
        vy_token token = {.kind = VY_TOKEN_NAME, .loc = late->loc, .name = late->name};
        vy_parser_fail_unknown(p, &token);
    } else {
        vy_parser_fail(p, late->loc,
                       "'%.64s' is a %s, not a buffer. Fix: write the name of a buffer",
                       late->name->text, vy_symbol_kind_text((vy_symbol_kind)late->name->symbol));
    }
    return (vyre_ref){0};
}

static void build_late(vy_parser *p)
{
    if (p->grid_over.name && !p->lexer.failed) {
        vyre_ref buffer = find_late_buffer(p, &p->grid_over);
        vy_parser_at(p, p->grid_over.loc);
        if (!p->lexer.failed) {
            vyre_build_grid_over(p->builder, buffer);
        }
    }
    if (p->grid_from.name && !p->lexer.failed) {
        vyre_ref buffer = find_late_buffer(p, &p->grid_from);
        vy_parser_at(p, p->grid_from.loc);
        if (!p->lexer.failed) {
            vyre_build_grid_from(p->builder, buffer);
        }
    }
    if (!(p->seen & SEEN_FIXPOINT) || p->lexer.failed) {
        return;
    }
    vyre_ref flag = p->until.name ? find_late_buffer(p, &p->until) : (vyre_ref){0};
    vy_parser_at(p, p->until.name ? p->until.loc : p->fixpoint_loc);
    if (p->lexer.failed) {
        return;
    }
    if (p->until.name) {
        vyre_build_fixpoint_until(p->builder, p->passes, flag);
    } else {
        vyre_build_fixpoint(p->builder, p->passes);
    }
}

/* ---- Declarations ---------------------------------------------------------------------------- */

/* Shared memory has a size that is known now: a literal, or the name of one. */
static vyre_expr parse_shared_count(vy_parser *p)
{
    vy_mark mark = vy_parser_mark(p);
    if (vy_parser_is(p, VY_TOKEN_NAME) && mark.token.name->symbol == VY_SYMBOL_CONSTANT) {
        vy_parser_advance(p);
        if (vy_parser_is(p, VY_TOKEN_RIGHT_BRACKET)) {
            vy_parser_at(p, mark.token.loc);
            return vyre_build_constant_value(p->builder, (vyre_ref){mark.token.name->ref});
        }
        vy_parser_return_to(p, &mark);
    }
    uint32_t count = vy_parse_constant_u32(p);
    vy_parser_at(p, mark.token.loc);
    return vyre_build_u32(p->builder, count);
}

static void parse_buffer(vy_parser *p, vyre_buffer_mode mode)
{
    vy_loc loc;
    if (mode == VYRE_BUFFER_SCRATCH && vy_parser_is_word(p, VY_WORD_KEEP)) {
        vy_mark mark = vy_parser_mark(p);
        vy_parser_advance(p);
        if (vy_parser_is(p, VY_TOKEN_COLON)) { /* a buffer named keep */
            vy_parser_return_to(p, &mark);
        } else {
            mode = VYRE_BUFFER_SCRATCH_KEEP;
        }
    }
    vy_name *name = vy_parser_new_name(p, "buffer", &loc);
    vy_parser_expect(p, VY_TOKEN_COLON, "behind the name of a buffer");
    vyre_type type = vy_parser_type(p);
    if (!vy_parser_is(p, VY_TOKEN_LEFT_BRACKET)) {
        vy_parser_fail(p, p->token.loc,
                       "a buffer has elements, but found %s behind its type. Fix: "
                       "write %s[] or %s[COUNT]",
                       vy_parser_found(p).text, vyre_type_keyword(type), vyre_type_keyword(type));
        return;
    }
    vy_parser_advance(p);
    vyre_expr count = {0};
    if (!vy_parser_is(p, VY_TOKEN_RIGHT_BRACKET)) {
        count = mode == VYRE_BUFFER_SHARED ? parse_shared_count(p) : vy_parse_expression(p);
    }
    vy_parser_expect(p, VY_TOKEN_RIGHT_BRACKET, "behind the count of a buffer");
    if (p->lexer.failed) {
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = vyre_build_buffer(p->builder, mode, name->text, type, count);
    vy_parser_declare(p, name, VY_SYMBOL_BUFFER, type, ref, loc);
}

static void parse_param(vy_parser *p)
{
    vy_loc loc;
    vy_name *name = vy_parser_new_name(p, "param", &loc);
    vy_parser_expect(p, VY_TOKEN_COLON, "behind the name of a param");
    vyre_type type = vy_parser_type(p);
    if (vy_parser_is(p, VY_TOKEN_LEFT_BRACKET)) {
        vy_parser_fail(p, p->token.loc,
                       "a param is one value. Fix: declare a buffer: uniform NAME : "
                       "%s[]",
                       vyre_type_keyword(type));
    }
    if (vy_parser_is(p, VY_TOKEN_ASSIGN)) {
        vy_parser_fail(p, p->token.loc,
                       "a param gets its value at dispatch. Fix: leave out the "
                       "value, or write const");
    }
    if (p->lexer.failed) {
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = vyre_build_param(p->builder, name->text, type);
    vy_parser_declare(p, name, VY_SYMBOL_PARAM, type, ref, loc);
}

static void add_bytes(vy_parser *p, uint64_t bits, uint32_t size, vy_loc loc)
{
    for (uint32_t i = 0; i < size; i++) {
        if (!vy_vec_push(&p->arena, &p->bytes, (uint8_t)(bits >> 8 * i))) {
            vy_parser_fail(p, loc, "out of memory. Fix: free memory");
            return;
        }
    }
}

/* One element as it lies in memory. */
static void parse_table_element(vy_parser *p, vyre_type type, vy_loc loc)
{
    if (vy_type_is_vector(type)) {
        uint32_t components[4];
        bool ok = vy_parse_constant_vector(p, type, components);
        for (uint32_t i = 0; ok && i < vy_type_components(type); i++) {
            add_bytes(p, components[i], 4, loc);
        }
        return;
    }
    vy_constant value = vy_parse_constant(p);
    uint64_t bits = vy_constant_bits(p, &value, &type);
    if (type == VYRE_TYPE_BF16) {
        /* What is a bf16 already keeps its bits, a NaN's too. */
        bits = bits & 0xffffu ? vy_bf16_of_f32((uint32_t)bits) : bits >> 16;
    }
    add_bytes(p, bits, vyre_type_size(type), loc);
}

/* const NAME : TYPE[COUNT] = [a, b, ...], behind the '['. */
static void parse_table(vy_parser *p, vy_name *name, vyre_type type, vy_loc loc)
{
    bool counted = !vy_parser_is(p, VY_TOKEN_RIGHT_BRACKET);
    uint32_t count = counted ? vy_parse_constant_u32(p) : 0;
    vy_parser_expect(p, VY_TOKEN_RIGHT_BRACKET, "behind the count of a table");
    vy_parser_expect(p, VY_TOKEN_ASSIGN, "behind the type of a table");
    vy_parser_expect(p, VY_TOKEN_LEFT_BRACKET, "in front of the elements of a table");
    uint32_t elements = 0;
    p->bytes.count = 0;
    while (!vy_parser_is(p, VY_TOKEN_RIGHT_BRACKET) && !p->lexer.failed) {
        parse_table_element(p, type, loc);
        elements++;
        if (!vy_parser_take(p, VY_TOKEN_COMMA)) {
            break;
        }
    }
    vy_parser_expect(p, VY_TOKEN_RIGHT_BRACKET, "behind the elements of a table");
    if (p->lexer.failed) {
        return;
    }
    if (counted && count != elements) {
        vy_parser_fail(p, loc,
                       "the table '%.64s' has %u elements, but its type says %u. Fix: correct "
                       "the count, or leave it out: %s[]",
                       name->text, elements, count, vyre_type_keyword(type));
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = vyre_build_table(p->builder, name->text, type, p->bytes.data, elements);
    vy_parser_declare(p, name, VY_SYMBOL_TABLE, type, ref, loc);
}

static void parse_vector_const(vy_parser *p, vy_name *name, vyre_type type, vy_loc loc)
{
    uint32_t components[4] = {0};
    type = type == VYRE_TYPE_VOID ? (vyre_type)p->token.name->ref : type;
    if (!vy_parse_constant_vector(p, type, components)) {
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = vyre_build_vector_constant(p->builder, name->text, type, components);
    vy_parser_declare(p, name, VY_SYMBOL_CONSTANT, type, ref, loc);
}

static void parse_const(vy_parser *p)
{
    vy_loc loc;
    vy_name *name = vy_parser_new_name(p, "const", &loc);
    vyre_type type = VYRE_TYPE_VOID;
    if (vy_parser_take(p, VY_TOKEN_COLON)) {
        type = vy_parser_type(p);
        if (vy_parser_take(p, VY_TOKEN_LEFT_BRACKET)) {
            parse_table(p, name, type, loc);
            return;
        }
    }
    vy_parser_expect(p, VY_TOKEN_ASSIGN, "behind the name of a const");
    if (vy_parser_is(p, VY_TOKEN_LEFT_BRACKET)) {
        vy_parser_fail(p, p->token.loc,
                       "a table says its type. Fix: write const NAME : u32[] = "
                       "[...]");
    }
    bool is_vector = vy_parser_is(p, VY_TOKEN_NAME) && p->token.name->symbol == VY_SYMBOL_TYPE &&
                     vy_type_is_vector((vyre_type)p->token.name->ref);
    if (vy_type_is_vector(type) || is_vector) {
        parse_vector_const(p, name, type, loc);
        return;
    }
    vy_constant value = vy_parse_constant(p);
    uint64_t bits = vy_constant_bits(p, &value, &type);
    if (p->lexer.failed) {
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = vyre_build_constant(p->builder, name->text, type, bits);
    vy_parser_declare(p, name, VY_SYMBOL_CONSTANT, type, ref, loc);
    name->value = bits;
}

/* ---- Functions and the kernel ---------------------------------------------------------------- */

/* Takes "(a: u32, b: f32)" onto the scope; the names are declared once the body is open. */
static uint32_t parse_parameters(vy_parser *p, const vy_name *function, uint32_t first)
{
    uint32_t count = 0;
    vy_parser_expect(p, VY_TOKEN_LEFT_PAREN, "behind the name of a fn");
    while (!vy_parser_is(p, VY_TOKEN_RIGHT_PAREN) && !p->lexer.failed) {
        vy_loc loc;
        if (vy_parser_is(p, VY_TOKEN_NAME) && p->token.name->symbol == VY_SYMBOL_TYPE) {
            vy_parser_fail(p, p->token.loc,
                           "a parameter does not begin with its type. Fix: write "
                           "fn f(a: %s)",
                           p->token.name->text);
            break;
        }
        vy_name *name = vy_parser_new_name(p, "parameter", &loc);
        for (uint32_t i = first; name && i < p->scope.count; i++) {
            if (p->scope.data[i] == name) {
                vy_parser_fail(p, loc, "two parameters are named '%.64s'. Fix: rename one",
                               name->text);
            }
        }
        if (name && name == function) {
            vy_parser_fail(p, loc,
                           "the function '%.64s' has a parameter of that name. Fix: rename "
                           "the parameter",
                           name->text);
        }
        vy_parser_expect(p, VY_TOKEN_COLON, "behind the name of a parameter");
        vyre_type type = vy_parser_type(p);
        if (p->lexer.failed) {
            break;
        }
        name->type = (uint8_t)type;
        name->loc = loc;
        if (!vy_vec_push(&p->arena, &p->scope, name)) {
            vy_parser_fail(p, loc, "out of memory. Fix: free memory");
        }
        count++;
        if (!vy_parser_take(p, VY_TOKEN_COMMA)) {
            break;
        }
    }
    vy_parser_expect(p, VY_TOKEN_RIGHT_PAREN, "behind the parameters of a fn");
    return count;
}

static void parse_function(vy_parser *p, vy_loc loc)
{
    vy_loc name_loc;
    vy_name *name = vy_parser_new_name(p, "fn", &name_loc);
    uint32_t first = p->scope.count;
    uint32_t count = parse_parameters(p, name, first);
    vyre_type type = VYRE_TYPE_VOID;
    if (vy_parser_take(p, VY_TOKEN_ARROW)) {
        type = vy_parser_type(p);
    } else if (vy_parser_is(p, VY_TOKEN_COLON)) {
        vy_parser_fail(p, p->token.loc,
                       "the type of a fn stands behind ->. Fix: write fn f() -> u32");
    }
    if (p->lexer.failed) {
        return;
    }
    vy_parser_at(p, loc);
    vyre_ref ref = vyre_build_function_begin(p->builder, name->text, type);
    vy_parser_declare(p, name, VY_SYMBOL_FUNCTION, type, ref, name_loc);
    name->parameters = count;
    for (uint32_t i = first; i < p->scope.count; i++) {
        vy_name *parameter = p->scope.data[i];
        vy_parser_at(p, parameter->loc);
        ref =
            vyre_build_function_parameter(p->builder, parameter->text, (vyre_type)parameter->type);
        p->has_clash |= parameter->symbol != VY_SYMBOL_NONE;
        parameter->symbol = VY_SYMBOL_ARGUMENT;
        parameter->was_local = true;
        parameter->ref = ref.id;
    }
    if (vy_parser_open_block(p, VY_BLOCK_FUNCTION, "at the start of the body of a fn")) {
        p->blocks.data[p->blocks.count - 1].first_name = first;
        p->function = name;
        vy_parse_block(p);
        p->function = NULL;
    }
}

static void parse_kernel(vy_parser *p)
{
    if (vy_parser_is(p, VY_TOKEN_NAME)) {
        vy_parser_fail(p, p->token.loc,
                       "the kernel has no name of its own. Fix: write kernel { ... }");
    }
    if (vy_parser_open_block(p, VY_BLOCK_KERNEL, "behind kernel")) {
        vy_parse_block(p);
    }
}

/* ---- Items ----------------------------------------------------------------------------------- */

static bool parse_directive(vy_parser *p)
{
    vy_token token = p->token;
    switch (token.name->word) {
    case VY_WORD_WORKGROUP:
        vy_parser_advance(p);
        if (once(p, SEEN_WORKGROUP, &token)) {
            parse_workgroup(p, token.loc);
        }
        return true;
    case VY_WORD_GRID:
        vy_parser_advance(p);
        if (once(p, SEEN_GRID, &token)) {
            parse_grid(p, token.loc);
        }
        return true;
    case VY_WORD_FIXPOINT:
        vy_parser_advance(p);
        if (once(p, SEEN_FIXPOINT, &token)) {
            parse_fixpoint(p, token.loc);
        }
        return true;
    case VY_WORD_LOOP_LIMIT:
        vy_parser_advance(p);
        if (once(p, SEEN_LOOP_LIMIT, &token)) {
            uint32_t trips = vy_parse_constant_u32(p);
            vy_parser_at(p, token.loc);
            vyre_build_loop_limit(p->builder, trips);
        }
        return true;
    case VY_WORD_SUBGROUP:
        vy_parser_advance(p);
        if (once(p, SEEN_SUBGROUP, &token)) {
            uint32_t width = vy_parse_constant_u32(p);
            vy_parser_at(p, token.loc);
            vyre_build_subgroup_width(p->builder, width);
        }
        return true;
    case VY_WORD_FAST_MATH:
        vy_parser_advance(p);
        if (once(p, SEEN_FAST_MATH, &token)) {
            vy_parser_at(p, token.loc);
            vyre_build_fast_math(p->builder);
        }
        return true;
    default:
        return false;
    }
}

static void parse_declaration(vy_parser *p)
{
    vy_token token = p->token;
    vy_word word = (vy_word)token.name->word;
    switch (word) {
    case VY_WORD_IN:
    case VY_WORD_OUT:
    case VY_WORD_INOUT:
    case VY_WORD_SCRATCH:
    case VY_WORD_UNIFORM:
    case VY_WORD_SHARED: {
        static const uint8_t modes[] = {VYRE_BUFFER_IN,      VYRE_BUFFER_OUT,
                                        VYRE_BUFFER_INOUT,   VYRE_BUFFER_SCRATCH,
                                        VYRE_BUFFER_UNIFORM, VYRE_BUFFER_SHARED};
        vy_parser_advance(p);
        parse_buffer(p, (vyre_buffer_mode)modes[word - VY_WORD_IN]);
        return;
    }
    case VY_WORD_PARAM:
        vy_parser_advance(p);
        parse_param(p);
        return;
    case VY_WORD_CONST:
        vy_parser_advance(p);
        parse_const(p);
        return;
    case VY_WORD_FN:
        vy_parser_advance(p);
        parse_function(p, token.loc);
        return;
    case VY_WORD_KERNEL:
        vy_parser_advance(p);
        p->seen |= SEEN_KERNEL;
        parse_kernel(p);
        return;
    case VY_WORD_PROGRAM:
        vy_parser_fail(p, token.loc,
                       "'program' stands here for the second time. Fix: write one "
                       "program a file");
        return;
    case VY_WORD_LET:
    case VY_WORD_VAR:
        vy_parser_fail(p, token.loc,
                       "'%s' stands outside of the kernel. Fix: write const, or move "
                       "it into kernel { ... }",
                       token.name->text);
        return;
    default:
        vy_parser_fail(
            p, token.loc,
            "expected a declaration, but found '%.64s'. Fix: write a directive, a buffer, "
            "param, const, fn, or kernel { ... }",
            token.name->text);
        return;
    }
}

static bool parse_program_name(vy_parser *p)
{
    vy_parser_advance(p);
    while (vy_parser_take(p, VY_TOKEN_SEMICOLON)) {
    }
    if (!vy_parser_take_word(p, VY_WORD_PROGRAM)) {
        vy_parser_fail(p, p->token.loc,
                       "a text begins with the name of its program, but found %s. "
                       "Fix: write program NAME in the first line",
                       vy_parser_found(p).text);
        return false;
    }
    const char *name = NULL;
    if (vy_parser_is(p, VY_TOKEN_NAME)) {
        name = p->token.name->text;
    } else {
        vy_parser_fail(p, p->token.loc,
                       "expected the name of the program, but found %s. Fix: write "
                       "program NAME",
                       vy_parser_found(p).text);
    }
    if (p->lexer.failed || !name) {
        return false;
    }
    if (vyre_builder_create(name, p->memory, &p->builder) != VYRE_OK) {
        p->arena.failed = true;
        p->lexer.failed = true;
        return false;
    }
    vy_builder_expect(p->builder, p->lexer.size);
    vy_parser_at(p, p->token.loc);
    vy_parser_advance(p);
    return true;
}

void vy_parse_items(vy_parser *p)
{
    if (!parse_program_name(p)) {
        return;
    }
    while (!p->lexer.failed && !vy_parser_is(p, VY_TOKEN_END)) {
        if (vy_parser_take(p, VY_TOKEN_SEMICOLON)) {
            continue;
        }
        if (p->seen & SEEN_KERNEL) {
            vy_parser_fail(p, p->token.loc,
                           "the kernel is the last part of a program, but found %s "
                           "behind it. Fix: move this in front of the kernel",
                           vy_parser_found(p).text);
        } else if (!vy_parser_is(p, VY_TOKEN_NAME)) {
            vy_parser_fail(
                p, p->token.loc,
                "expected a declaration, but found %s. Fix: write a directive, a buffer, "
                "param, const, fn, or kernel { ... }",
                vy_parser_found(p).text);
        } else if (!parse_directive(p)) {
            parse_declaration(p);
        }
    }
    if (!p->lexer.failed && !(p->seen & SEEN_KERNEL)) {
        vy_parser_fail(p, p->token.loc, "the program has no kernel. Fix: write kernel { ... }");
    }
    build_late(p);
}
