/* Random well-formed programs for differential tests: race-free by construction, so that every
 * order of invocations gives the same bits, with control flow driven by input data so that nothing
 * folds away. Reads a seed, makes `.vyre` text and what it is run with. The same seed gives the
 * same text everywhere.
 *
 * Types and operators are rows of tables (generate_language.c). Which rows the language takes, and
 * together with which types, the parser is asked: what it refuses stands in no program. */
#ifndef VY_GENERATE_H
#define VY_GENERATE_H

#include "codegen/base/base.h"
#include "vyre/program.h"

#define VY_GEN_TYPES      24u /* rows of types, at most */
#define VY_GEN_CONSTRUCTS 160u

typedef enum vy_gen_grid {
    VY_GRID_GROUPS,
    VY_GRID_ELEMENTS,
    VY_GRID_OVER, /* the program's own */
    VY_GRID_OF,   /* the program's own: groups */
    VY_GRID_FROM  /* out of the buffer `sizes`: groups, in x more_groups of them more */
} vy_gen_grid;

/* What a program is and is run with. */
typedef struct vy_generated {
    uint64_t seed; /* of the inputs' contents */
    /* What it holds: bit i is the i-th name of vy_generate_construct_name. */
    uint64_t constructs[(VY_GEN_CONSTRUCTS + 63u) / 64u];
    vy_gen_grid grid;
    uint32_t groups[3];    /* GROUPS, and the most with FROM */
    uint32_t more_groups;  /* FROM: that do not run */
    uint32_t elements[3];  /* ELEMENTS */
    uint32_t workgroup[3]; /* another size than the program's, which cannot tell; 0: none */
    uint32_t lengths[VY_GEN_TYPES];   /* of inputs, by row of their type */
    bool zero_inputs[VY_GEN_TYPES];   /* all elements are zero */
    uint64_t params[VY_GEN_TYPES][2]; /* their bytes, by row of their type */
} vy_generated;

/* Writes the program of that seed. */
void vy_generate(uint64_t seed, vy_text *out, vy_generated *out_info);

/* ---- Parts ------------------------------------------------------------------------------------
 * The structure of a program's text, for whoever makes it smaller. */

typedef enum vy_part_kind {
    VY_PART_DECLARATION, /* whole lines */
    VY_PART_STATEMENT,   /* whole lines */
    VY_PART_BODY,        /* what stands between braces, whole lines */
    VY_PART_EXPRESSION,
    VY_PART_NUMBER /* a literal of a directive or a size */
} vy_part_kind;

typedef struct vy_part {
    uint32_t begin, end; /* bytes of the text */
    vy_part_kind kind;
    uint32_t type; /* EXPRESSION: row of its type */
} vy_part;

/* A program with its parts, each behind the one that holds it. */
typedef struct vy_gen_case {
    vy_text text;
    vy_generated info;
    vy_part *parts;
    uint32_t part_count, part_capacity;
} vy_gen_case;

void vy_gen_case_generate(uint64_t seed, vy_gen_case *out_case);
void vy_gen_case_copy(const vy_gen_case *from, vy_gen_case *out_case);
void vy_gen_case_finish(vy_gen_case *c);
/* Replaces bytes [begin, end) by bytes [from, to) of the same text, which lie within them, or by
 * `text` where that is not NULL. Parts move along. */
void vy_gen_case_edit(vy_gen_case *c, uint32_t begin, uint32_t end, uint32_t from, uint32_t to,
                      const char *text);

/* ---- Names and contents -----------------------------------------------------------------------
 */

/* Names of all constructs and operators that programs are counted by; NULL past the last. */
const char *vy_generate_construct_name(uint32_t index);
/* Whether the language has it: operators that the parser refuses with every type are in no
 * program. */
bool vy_generate_has_construct(uint32_t index);

/* The keyword of a type's row, NULL past the last. */
const char *vy_generate_type_name(uint32_t row);
/* The row of that keyword, or VY_GEN_TYPES. */
uint32_t vy_generate_find_type(const char *keyword);
/* The shortest literal of that type. */
const char *vy_generate_zero(uint32_t row);

/* One element of an input as it lies in memory (at most 16 bytes), edge values among them. */
void vy_generate_input(const vy_generated *info, uint32_t row, uint32_t index, void *out);
/* The buffer that a program's grid is from. */
bool vy_generate_is_sizes(const char *name);
void vy_generate_sizes(const vy_generated *info, uint32_t out_sizes[3]);
/* The most workgroups that may run, or 0 where the program's grid is not from a buffer. */
uint32_t vy_generate_max_groups(const vy_generated *info);

#endif
