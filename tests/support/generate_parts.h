/* What the parts of the generator share: the language's tables, its state, and the small writers.
 */
#ifndef VY_GENERATE_PARTS_H
#define VY_GENERATE_PARTS_H

#include "tests/support/generate.h"

#define VY_GEN_OPS       96u
#define VY_GEN_ATOMICS   10u
#define VY_GEN_FUNCTIONS 3u
#define VY_GEN_OWN       4u /* elements of even_out and odd_out that belong to one invocation */
#define VY_GEN_NONE      255u
#define VY_GEN_TABLE     16u /* elements of rows */

/* ---- Language (generate_language.c) -----------------------------------------------------------
 */

typedef enum vy_gen_kind { VY_GEN_BOOL, VY_GEN_UNSIGNED, VY_GEN_SIGNED, VY_GEN_FLOAT } vy_gen_kind;

typedef struct vy_gen_type {
    const char *name;
    vy_gen_kind kind;
    uint8_t width, components;
    const char *value; /* the type that its loads give, where that is another one */
    uint8_t weight;    /* in expressions, against the other types of a program */
} vy_gen_type;

/* Operands, one letter each: T the type, u a u32, s an amount (u32 or i32), b a bool, n a T that is
 * no literal; with vectors alone e one of T's components, S amounts and v bools for each. */
typedef struct vy_gen_op {
    const char *text;
    char form; /* i: infix, p: prefix, c: call */
    const char *operands;
    uint8_t weight;
} vy_gen_op;

/* What the parser takes, by row. VY_GEN_NONE: it does not. */
typedef struct vy_language {
    uint32_t type_count, op_count;
    bool has_type[VY_GEN_TYPES];
    bool is_value[VY_GEN_TYPES]; /* expressions have it */
    bool is_element[VY_GEN_TYPES];
    uint8_t value_of[VY_GEN_TYPES];             /* the type of an element's value */
    uint8_t component_of[VY_GEN_TYPES];         /* of a vector, otherwise NONE */
    uint8_t results[VY_GEN_OPS][VY_GEN_TYPES];  /* by the type T */
    bool casts[VY_GEN_TYPES][VY_GEN_TYPES];     /* [to][from] */
    bool bitcasts[VY_GEN_TYPES][VY_GEN_TYPES];  /* [to][from] */
    bool atomics[VY_GEN_ATOMICS][VY_GEN_TYPES]; /* elements */
    bool is_index[VY_GEN_TYPES];
    bool is_param[VY_GEN_TYPES];
    bool is_table[VY_GEN_TYPES];                       /* elements */
    bool subgroups[VYRE_SUBGROUP_COUNT][VY_GEN_TYPES]; /* those that are exact */
} vy_language;

/* Operands: one of elect (nothing), value (x), lane (x and a u32); ballots give no value of x's
 * type. */
typedef struct vy_gen_subgroup {
    const char *text;
    bool has_value, has_lane, is_vote, is_ballot;
} vy_gen_subgroup;

extern const vy_gen_type vy_gen_types[];
extern const vy_gen_op vy_gen_ops[];
extern const char *const vy_gen_atomics[VY_GEN_ATOMICS];
extern const vy_gen_subgroup vy_gen_subgroups[VYRE_SUBGROUP_COUNT];

enum { VY_GEN_ADD, VY_GEN_SUB, VY_GEN_MIN, VY_GEN_MAX, VY_GEN_AND, VY_GEN_OR, VY_GEN_XOR };

/* Asks the parser. */
void vy_language_probe(vy_language *out);
/* What it has answered in this process. */
const vy_language *vy_gen_language(void);

/* Rows that every program has. */
enum { T_BOOL, T_U32, T_I32, T_F32 };

/* ---- State ------------------------------------------------------------------------------------
 */

typedef struct vy_gen_var {
    uint32_t name;
    uint8_t type;
    bool assignable, array;
} vy_gen_var;

typedef struct vy_gen_function {
    uint8_t result, parameter_count;
    uint8_t parameters[3];
} vy_gen_function;

typedef struct vy_gen {
    vy_text *out;
    vy_gen_case *parts; /* NULL: parts are not noted */
    vy_generated *info;
    const vy_language *language;
    uint64_t state;
    bool active[VY_GEN_TYPES];
    uint8_t cross;         /* element type of even_out and odd_out */
    uint8_t tile;          /* of tile */
    uint8_t slots;         /* of slots */
    uint8_t common, tally; /* of common and tally: integers */
    uint8_t rows;          /* of the table rows */
    bool has_subgroups;
    bool has_divergent;      /* subgroup operations stand anywhere */
    bool owns[VY_GEN_TYPES]; /* own_T exists */
    uint32_t elements;       /* invocations */
    uint32_t size[3];        /* of a workgroup */
    uint32_t volume;
    char me[48], here[48]; /* number of the invocation in the grid, in its workgroup */
    bool agnostic;         /* the program cannot tell its workgroups */
    bool big_table;
    int indent, depth; /* depth of statements */
    int budget;        /* statements left */
    bool uniform;      /* control flow here is uniform over the workgroup */
    bool returned;     /* a non-uniform return stands before, in this segment */
    bool in_loop;      /* break and continue are allowed */
    bool in_function;
    uint32_t segment;
    uint32_t next_name;
    vy_gen_var vars[64];
    int var_count;
    vy_gen_function functions[VY_GEN_FUNCTIONS];
    uint32_t function_count;
} vy_gen;

uint32_t vy_gen_random(vy_gen *g);
uint32_t vy_gen_below(vy_gen *g, uint32_t count);
bool vy_gen_chance(vy_gen *g, uint32_t percent);
/* Notes that the program holds the construct of that name. */
void vy_gen_mark(vy_gen *g, const char *name);
void vy_gen_put(vy_gen *g, const char *text);
void vy_gen_printf(vy_gen *g, const char *format, ...) VY_PRINTF(2, 3);
/* Everything written in between is one part. */
uint32_t vy_gen_open(vy_gen *g, vy_part_kind kind, uint32_t type);
void vy_gen_close(vy_gen *g, uint32_t part);

/* A type that values have here, by weight. */
uint32_t vy_gen_value_type(vy_gen *g);
/* A random expression of a type, at most `depth` operators deep (generate_expr.c). */
void vy_gen_expr(vy_gen *g, uint32_t type, int depth);
/* A literal in a table. */
void vy_gen_constant(vy_gen *g, uint32_t type);
/* The invocation's own element of what has one for each, sometimes by another type of index. */
void vy_gen_own_index(vy_gen *g);
/* The value of g->common or g->tally of `text`, a u32, and back. */
void vy_gen_as(vy_gen *g, uint32_t type, const char *text);
void vy_gen_as_u32(vy_gen *g, uint32_t type, const char *text);
/* One whose value is an index: mostly of type u32. */
void vy_gen_index(vy_gen *g, int depth);
void vy_gen_literal(vy_gen *g, uint32_t type);
/* A variable that is visible from here on. */
void vy_gen_declare(vy_gen *g, uint32_t name, uint32_t type, bool assignable, bool array);

/* ---- Statements (generate_statement.c) ----------------------------------------------------------
 */

void vy_gen_statements(vy_gen *g, int count);
/* Memory of the workgroup, with its barriers; where barriers may stand. */
void vy_gen_shared(vy_gen *g);
/* A line of its own, which is a statement. */
uint32_t vy_gen_begin(vy_gen *g);
void vy_gen_end(vy_gen *g, uint32_t part);
/* " {", statements in between, "}": without the line's end behind it. */
uint32_t vy_gen_open_list(vy_gen *g);
void vy_gen_close_list(vy_gen *g, uint32_t part);

#endif
