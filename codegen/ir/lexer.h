/* Tokens of the text form. Reads a text of known size, makes one token at a time; names are
 * interned, so that equal names are one vy_name. */
#ifndef VY_LEXER_H
#define VY_LEXER_H

#include "codegen/ir/names.h"

/* Punctuators; where the lexer could take two, the longer one stands first. The last rows are known
 * only so that errors can say what to write instead. */
/* clang-format off */
#define VY_PUNCTUATORS(X)                                                                          \
    X(SHL_ASSIGN, "<<=") X(SHR_ASSIGN, ">>=") X(AND_AND_ASSIGN, "&&=") X(OR_OR_ASSIGN, "||=")      \
    X(SHL, "<<") X(SHR, ">>") X(EQ, "==") X(NE, "!=") X(LE, "<=") X(GE, ">=") X(AND_AND, "&&")     \
    X(OR_OR, "||") X(ADD_ASSIGN, "+=") X(SUB_ASSIGN, "-=") X(MUL_ASSIGN, "*=")                     \
    X(DIV_ASSIGN, "/=") X(REM_ASSIGN, "%=") X(AND_ASSIGN, "&=") X(OR_ASSIGN, "|=")                 \
    X(XOR_ASSIGN, "^=") X(ARROW, "->") X(INCREMENT, "++") X(DECREMENT, "--") X(RANGE, "..")        \
    X(DEFINE, ":=") X(ADD, "+") X(SUB, "-") X(MUL, "*") X(DIV, "/") X(REM, "%") X(AND, "&")        \
    X(OR, "|") X(XOR, "^") X(LT, "<") X(GT, ">") X(NOT, "!") X(COMPLEMENT, "~") X(ASSIGN, "=")     \
    X(COMMA, ",") X(COLON, ":") X(SEMICOLON, ";") X(DOT, ".") X(LEFT_PAREN, "(")                   \
    X(RIGHT_PAREN, ")") X(LEFT_BRACKET, "[") X(RIGHT_BRACKET, "]") X(LEFT_BRACE, "{")              \
    X(RIGHT_BRACE, "}") X(QUESTION, "?") X(AT, "@") X(HASH, "#") X(DOLLAR, "$")                    \
    X(BACKSLASH, "\\")
/* clang-format on */

typedef enum vy_token_kind {
    VY_TOKEN_END, /* the end of the text, and everything after an error */
    VY_TOKEN_NAME,
    VY_TOKEN_INTEGER,
    VY_TOKEN_FLOAT,
    VY_TOKEN_STRING,
#define VY_X(name, text) VY_TOKEN_##name,
    VY_PUNCTUATORS(VY_X)
#undef VY_X
        VY_TOKEN_KIND_COUNT
} vy_token_kind;

typedef struct vy_token {
    uint8_t kind; /* vy_token_kind */
    uint8_t type; /* INTEGER: of its suffix, VYRE_TYPE_INT without one. FLOAT: f16, f32, f64 */
    vy_loc loc;
    size_t begin, end; /* bytes of the text */
    vy_name *name;     /* NAME */
    uint64_t value;    /* INTEGER; FLOAT: its bits */
} vy_token;

/* Errors are sticky: the first is kept in `error`, and every later token is END.
 * Thread-safety: external. */
typedef struct vy_lexer {
    const char *text;
    size_t size, at, line_begin;
    uint32_t line;
    vy_names *names;
    uint8_t first_punctuators[128]; /* by first byte: the first one that begins with it */
    uint8_t
        short_punctuators[256]; /* by first byte: the token of it alone, or 0: to be looked at */
    bool goes_on[256];          /* by byte: it is the second of some punctuator */
    bool failed;
    vyre_diag error;
} vy_lexer;

void vy_lexer_init(vy_lexer *lexer, const char *text, size_t size, vy_names *names);
void vy_lexer_next(vy_lexer *lexer, vy_token *out_token);
/* Keeps the error if it is the first. */
void vy_lexer_fail(vy_lexer *lexer, vy_loc loc, const char *format, ...) VY_PRINTF(3, 4);
/* "name", "number" or the punctuator's own text; never NULL. */
const char *vy_token_kind_text(vy_token_kind kind);
/* The text between the quotes of a STRING token with its escapes resolved, of at most
 * VYRE_MAX_NAME bytes; NULL after an error. */
const char *vy_lexer_string(vy_lexer *lexer, const vy_token *token);

#endif
