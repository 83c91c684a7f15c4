/* The parser's private parts, shared by parser*.c: the current token, the open blocks and what is
 * known about names. Types are the builder's business, syntax and names are the parser's. */
#ifndef VY_PARSER_H
#define VY_PARSER_H

#include "codegen/ir/builder.h"
#include "codegen/ir/lexer.h"
#include "vyre/text.h"

typedef enum vy_block_kind {
    VY_BLOCK_KERNEL,
    VY_BLOCK_FUNCTION,
    VY_BLOCK_IF,
    VY_BLOCK_ELSE,
    VY_BLOCK_SWITCH, /* holds cases only */
    VY_BLOCK_PLAIN   /* all others */
} vy_block_kind;

/* One '{' that is open. */
typedef struct vy_block {
    uint8_t kind;
    uint8_t selector;    /* SWITCH: vyre_type of what it selects by */
    uint32_t first_name; /* its names start here in `scope` */
    uint32_t ends;       /* builder lists that its '}' closes: an `else if` chain is one block */
    vy_loc loc;          /* of the '{' */
} vy_block;

/* A directive that names a buffer which may be declared further down. */
typedef struct vy_late_name {
    vy_name *name;
    vy_loc loc;
} vy_late_name;

/* Wide enough for every integer type and for what is computed of two of them, products apart. */
__extension__ typedef __int128 vy_wide;

/* A value known while parsing. */
typedef struct vy_constant {
    vyre_type type;  /* INT: an integer that takes the type it meets */
    vy_wide value;   /* integers and bool */
    uint64_t bits;   /* floats */
    bool is_special; /* inf or nan without a type of its own: `type` is F32 */
    vy_loc loc;
} vy_constant;

/* An operator of a constant expression whose right operand is not known yet. */
typedef struct vy_constant_operator {
    vy_constant left;
    vyre_op op;
    uint32_t level;
} vy_constant_operator;

typedef struct vy_parser {
    const vyre_allocator *memory;
    vy_arena arena;
    vy_names names;
    vy_lexer lexer;
    vy_token token; /* the one to be looked at; END after an error */
    vyre_builder *builder;
    bool builder_failed_first;
    bool has_clash;          /* something was declared under a name that meant something */
    uint32_t depth;          /* of open parentheses, brackets and prefix operators */
    const vy_name *function; /* whose body is open, NULL in the kernel */
    uint32_t seen;           /* directives, by bits of vy_directive */
    vy_late_name grid_over, grid_from, until;
    uint32_t passes;
    vy_loc fixpoint_loc;
    VY_VEC(vy_block) blocks;
    VY_VEC(vy_name *) scope; /* names of open blocks */
    VY_VEC(vyre_expr) arguments;
    VY_VEC(uint32_t) values;
    VY_VEC(uint8_t) bytes; /* of a table */
    VY_VEC(vy_constant_operator) operators;
} vy_parser;

/* A place to come back to, since expressions without effects may be read twice. */
typedef struct vy_mark {
    vy_token token;
    size_t at, line_begin;
    uint32_t line;
} vy_mark;

/* parser.c */
void vy_parser_fail(vy_parser *p, vy_loc loc, const char *format, ...) VY_PRINTF(3, 4);
/* The builder's error stands before whatever the parser would find next. */
bool vy_parser_stop(vy_parser *p);
/* Whether there was an error, in the builder too; the token is END then. */
static inline bool vy_parser_stopped(vy_parser *p)
{
    return (p->lexer.failed || (p->builder && p->builder->failed)) && vy_parser_stop(p);
}
/* What was found, in quotes and cut to a readable length, for messages: "'foo'". */
typedef struct vy_found {
    char text[64];
} vy_found;
vy_found vy_parser_found(const vy_parser *p);
static inline void vy_parser_advance(vy_parser *p)
{
    vy_lexer_next(&p->lexer, &p->token);
    (void)vy_parser_stopped(p);
}
static inline bool vy_parser_is(const vy_parser *p, vy_token_kind kind)
{
    return p->token.kind == kind;
}
static inline bool vy_parser_is_word(const vy_parser *p, vy_word word)
{
    return p->token.kind == VY_TOKEN_NAME && p->token.name->word == word;
}
bool vy_parser_take(vy_parser *p, vy_token_kind kind);
bool vy_parser_take_word(vy_parser *p, vy_word word);
/* Takes the token or fails: "expected '{' WHERE, but found ...". */
bool vy_parser_expect(vy_parser *p, vy_token_kind kind, const char *where);
vy_mark vy_parser_mark(const vy_parser *p);
void vy_parser_return_to(vy_parser *p, const vy_mark *mark);
/* The place of what is built next. */
static inline void vy_parser_at(vy_parser *p, vy_loc loc)
{
    if (p->builder) {
        p->builder->at = loc;
    }
}
/* Counts nesting; false after an error. */
bool vy_parser_enter(vy_parser *p, vy_loc loc);
void vy_parser_leave(vy_parser *p);
/* Takes the name of a declaration: one that means nothing yet. NULL after an error. */
vy_name *vy_parser_new_name(vy_parser *p, const char *what, vy_loc *out_loc);
/* Gives it its meaning, until the innermost block ends where `local`. */
void vy_parser_declare(vy_parser *p, vy_name *name, vy_symbol_kind symbol, vyre_type type,
                       vyre_ref ref, vy_loc loc);
void vy_parser_fail_unknown(vy_parser *p, const vy_token *token);
/* Takes a type; VOID after an error. */
vyre_type vy_parser_type(vy_parser *p);

/* parser_constant.c */
/* Takes a constant expression. */
vy_constant vy_parse_constant(vy_parser *p);
/* Its bits as `type` (VOID: its own, u32 for an untyped integer), which is given back. */
uint64_t vy_constant_bits(vy_parser *p, const vy_constant *constant, vyre_type *type);
/* Takes a constant of that type as `component_count` words, or one value: a vector is written as
 * its type with its components behind it. False after an error. */
bool vy_parse_constant_vector(vy_parser *p, vyre_type type, uint32_t components[4]);
/* Takes a constant expression of type u32. */
uint32_t vy_parse_constant_u32(vy_parser *p);

/* parser_expression.c */
vyre_expr vy_parse_expression(vy_parser *p);
/* The rest of an expression whose first operand is there. */
vyre_expr vy_parse_expression_after(vy_parser *p, vyre_expr first);
/* Whether the token goes on with an expression: an infix operator or the '.' of a swizzle. */
bool vy_parser_goes_on(const vy_parser *p);
/* The operator of a token in infix position, NONE for others; *out_level is its precedence. */
vyre_op vy_parser_infix(vy_token_kind kind, uint32_t *out_level);
/* Takes "(a, b)" behind the name of a function and leaves the values on p->arguments, whose count
 * before is given back. */
uint32_t vy_parse_arguments(vy_parser *p, const vy_name *function, vy_loc loc);

/* parser_statement.c */
/* Takes statements until the block that was opened last is closed. */
void vy_parse_block(vy_parser *p);
/* Takes '{' and opens a block. */
bool vy_parser_open_block(vy_parser *p, vy_block_kind kind, const char *where);

/* parser_effect.c: statements that begin with a name, and what stands behind `let NAME =` */
void vy_parse_atomic(vy_parser *p, vy_name *result, vyre_type type);
void vy_parse_uniform_load(vy_parser *p, vy_name *result, vyre_type type);
void vy_parse_subgroup(vy_parser *p, vy_name *result, vyre_type type);
/* Behind the word, which stands at `loc`. */
void vy_parse_printf(vy_parser *p, vy_loc loc);
void vy_parse_call_statement(vy_parser *p);
void vy_parse_assignment(vy_parser *p);

/* parser_program.c */
void vy_parse_items(vy_parser *p);

#endif
