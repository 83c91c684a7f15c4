/* The names of a text while it is parsed: words of the language, what operators are called, and
 * what the program declares. Shadowing is an error, so that a name means at most one thing at a
 * time. */
#ifndef VY_NAMES_H
#define VY_NAMES_H

#include "codegen/base/base.h"
#include "vyre/program.h"

/* Words with a place of their own in the grammar. The first group is reserved, the second may be
 * used as names. */
/* clang-format off */
#define VY_RESERVED_WORDS(X)                                                                       \
    X(IN, "in") X(OUT, "out") X(INOUT, "inout") X(SCRATCH, "scratch") X(UNIFORM, "uniform")        \
    X(SHARED, "shared") X(PARAM, "param") X(CONST, "const") X(FN, "fn") X(KERNEL, "kernel")        \
    X(LET, "let") X(VAR, "var") X(IF, "if") X(ELSE, "else") X(SWITCH, "switch") X(CASE, "case")    \
    X(DEFAULT, "default") X(FOR, "for") X(WHILE, "while") X(BREAK, "break")                        \
    X(CONTINUE, "continue") X(RETURN, "return") X(REGION, "region") X(BARRIER, "barrier")          \
    X(GRID_SYNC, "grid_sync") X(TRAP, "trap") X(TRUE, "true") X(FALSE, "false") X(INF, "inf")      \
    X(NAN, "nan") X(LEN, "len") X(BITCAST, "bitcast") X(PRINTF, "printf")
/* clang-format on */
/* clang-format off */
#define VY_FREE_WORDS(X)                                                                           \
    X(PROGRAM, "program") X(WORKGROUP, "workgroup") X(GRID, "grid") X(OVER, "over") X(OF, "of")                \
    X(FROM, "from") X(FIXPOINT, "fixpoint") X(UNTIL, "until") X(LOOP_LIMIT, "loop_limit")          \
    X(FAST_MATH, "fast_math") X(KEEP, "keep") X(STEP, "step") X(DOWN, "down") X(AT_X, "x")         \
    X(AT_Y, "y") X(AT_Z, "z") X(RELAXED, "relaxed") X(ACQUIRE, "acquire") X(RELEASE, "release")    \
    X(ACQ_REL, "acq_rel") X(SUBGROUP, "subgroup")
/* clang-format on */

typedef enum vy_word {
    VY_WORD_NONE,
#define VY_X(name, text) VY_WORD_##name,
    VY_RESERVED_WORDS(VY_X) VY_FREE_WORDS(VY_X)
#undef VY_X
        VY_WORD_COUNT
} vy_word;

typedef enum vy_symbol_kind {
    VY_SYMBOL_NONE,     /* free */
    VY_SYMBOL_WORD,     /* a reserved word */
    VY_SYMBOL_TYPE,     /* ref: vyre_type */
    VY_SYMBOL_BUILTIN,  /* ref: vyre_builtin; a vector's first component where `components` */
    VY_SYMBOL_OPERATOR, /* ref: vyre_op */
    VY_SYMBOL_ATOMIC,   /* ref: vyre_atomic */
    VY_SYMBOL_SUBGROUP, /* ref: vyre_subgroup */
    VY_SYMBOL_BUFFER,   /* from here on declared by the program; ref: the builder's */
    VY_SYMBOL_PARAM,
    VY_SYMBOL_CONSTANT,
    VY_SYMBOL_TABLE,
    VY_SYMBOL_FUNCTION,
    VY_SYMBOL_LET,
    VY_SYMBOL_INDEX,    /* of a for loop */
    VY_SYMBOL_ARGUMENT, /* parameter of a function */
    VY_SYMBOL_VAR,
    VY_SYMBOL_ARRAY
} vy_symbol_kind;

typedef struct vy_name {
    const char *text; /* ends in a zero */
    uint32_t length;
    uint8_t word;   /* vy_word */
    uint8_t symbol; /* vy_symbol_kind */
    uint8_t type;   /* vyre_type of what is declared; of a function: what it returns */
    uint8_t components;
    bool was_local; /* of some block or function before */
    uint32_t ref;
    uint64_t value;      /* CONSTANT: its bits */
    uint32_t parameters; /* FUNCTION: how many */
    uint64_t hash;
    vy_loc loc; /* of the declaration */
} vy_name;

/* A hash table of all names of one text. Everything lives in the arena. */
typedef struct vy_names {
    vy_arena *arena;
    vy_name **slots;
    uint32_t slot_count, count;
} vy_names;

/* Enters the words of the language; false when out of memory. */
bool vy_names_init(vy_names *names, vy_arena *arena);
/* The entry of a name, made where there is none; NULL when out of memory. `packed`: vy_name_pack
 * over its bytes in turn, from 0. */
vy_name *vy_names_intern(vy_names *names, const char *text, size_t length, uint64_t packed);
/* Up to VY_PACKED_NAME bytes, none of which is zero, are told by what comes out. */
#define VY_PACKED_NAME 8u
static inline uint64_t vy_name_pack(uint64_t packed, char c)
{
    return (packed << 8 | packed >> 56) ^ (unsigned char)c;
}
/* The text of the most similar name that has a meaning here, or NULL. */
const char *vy_names_similar(const vy_names *names, const char *text, size_t length);
/* "buffer", "constant", ...; never NULL. */
const char *vy_symbol_kind_text(vy_symbol_kind kind);
/* Whether a program may declare a thing of this name: [A-Za-z_][A-Za-z0-9_]*, at most VYRE_MAX_NAME
 * bytes, and no word of the language. */
bool vy_name_is_free(const char *text);
/* For many names: a set of bits that tells of most names that they are no word of the language, by
 * their ends and their lengths. */
typedef struct vy_word_shapes {
    uint64_t bits[64];
} vy_word_shapes;
void vy_word_shapes_find(vy_word_shapes *out);
/* False: a name like that is no word of the language. */
bool vy_word_shapes_has(const vy_word_shapes *shapes, const char *text);
/* The same without looking at the words: what a program may be called. */
bool vy_name_is_plain(const char *text);

#endif
