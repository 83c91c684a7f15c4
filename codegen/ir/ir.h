/* A program in memory. Expressions lie in one array in evaluation order: every operand stands
 * before its user, and each statement owns a contiguous range, so that whoever evaluates, checks or
 * lowers an expression walks a range from front to back and never recurses. `select`, `&&` and `||`
 * evaluate all their operands, which makes that walk the meaning and not an approximation of it.
 * Statements form lists linked by `next`; nested lists hang from `body` and `other`.
 * Entry 0 of every table is reserved and means "none". */
#ifndef VY_IR_H
#define VY_IR_H

#include "codegen/base/base.h"
#include "codegen/ir/ops.h"
#include "vyre/interp.h"
#include "vyre/program.h"

#include <stdatomic.h>

typedef struct vy_expr {
    uint16_t op;        /* vyre_op */
    uint8_t type;       /* vyre_type of the result */
    uint8_t is_printed; /* of a PRINTF's values: no result depends on it */
    uint32_t ref;       /* LITERAL: index into constants + 1 where it was named, else 0. BUILTIN:
                           vyre_builtin. PARAM VARIABLE ELEMENT TABLE CALL LENGTH LOAD: the entry.
                           SWIZZLE: VY_SWIZZLE */
    union {
        uint32_t arg[4];  /* operands: indices of earlier entries; CALL: arg[0] first index into
                             call_args, arg[1] count; VECTOR: 0 behind the last part */
        uint64_t bits[2]; /* LITERAL: the value (vy_type_bits); of a vector, which is always a named
                             constant's: two components in each word, the lower one first */
    };
    vy_loc loc;
} vy_expr;

/* Operands in arg[]; 0 for CALL, whose arguments lie elsewhere. */
static inline uint32_t vy_expr_operand_count(const vy_expr *expr)
{
    if (expr->op != VYRE_OP_VECTOR) {
        return vy_op_get((vyre_op)expr->op)->operand_count;
    }
    uint32_t count = 0;
    while (count < 4 && expr->arg[count]) {
        count++;
    }
    return count;
}
/* The bits of an integer that the float type (f16, f32, f64) holds exactly. */
uint64_t vy_float_of_integer(vyre_type type, bool is_negative, uint64_t magnitude);
bool vy_float_is_nan(vyre_type type, uint64_t bits);
bool vy_float_is_denormal(vyre_type type, uint64_t bits);
/* The one NaN that operators give: quiet, positive, no payload. */
uint64_t vy_float_nan(vyre_type type);
/* The bf16 bits of an f32, to nearest even, overflow to infinity; any NaN becomes 0x7fc0. They are
 * the upper half of an f32's. */
uint32_t vy_bf16_of_f32(uint32_t bits);
/* Component `i` of the value of a LITERAL. */
uint64_t vy_expr_literal(const vy_expr *expr, uint32_t i);

/* Entries [begin, end) of exprs in evaluation order; `root` is the value (end - 1), 0 when none. */
typedef struct vy_range {
    uint32_t begin, end, root;
} vy_range;

typedef enum vy_stmt_kind {
    VY_STMT_NONE,
    VY_STMT_LET,          /* var ref = x */
    VY_STMT_VAR,          /* var ref = x */
    VY_STMT_ARRAY,        /* private array ref, zeroed */
    VY_STMT_ASSIGN,       /* var ref = x */
    VY_STMT_STORE,        /* buffer ref [x] = y */
    VY_STMT_ARRAY_STORE,  /* private array var ref [x] = y */
    VY_STMT_ATOMIC,       /* var result (or 0) = atomic on buffer ref [x], operands y and z */
    VY_STMT_UNIFORM_LOAD, /* var result = buffer ref [x] between barriers */
    VY_STMT_CALL,         /* var result (or 0) = x, whose root is a CALL */
    VY_STMT_IF,           /* x; body, other */
    VY_STMT_SWITCH,       /* x; body: list of CASE */
    VY_STMT_CASE,         /* values[first_value .. + value_count), count 0: default; body */
    VY_STMT_FOR,          /* var result in x .. y step z (z.root 0: 1), down; body */
    VY_STMT_WHILE,        /* x; body */
    VY_STMT_BLOCK,        /* body */
    VY_STMT_REGION,       /* name; body */
    VY_STMT_BREAK,
    VY_STMT_CONTINUE,
    VY_STMT_RETURN, /* x (root 0 outside functions with a value) */
    VY_STMT_BARRIER,
    VY_STMT_GRID_SYNC,
    VY_STMT_TRAP,     /* bits: the code */
    VY_STMT_SUBGROUP, /* var result (or 0) = subgroup operation over x and y */
    VY_STMT_PRINTF,   /* name: the format; x: all values, one tree behind the other;
                         values[first_value .. + value_count): their roots, counted from x.begin */
    VY_STMT_KIND_COUNT
} vy_stmt_kind;

typedef struct vy_stmt {
    uint8_t kind;
    uint8_t atomic, order; /* ATOMIC: vyre_atomic, vyre_order */
    uint8_t subgroup;      /* SUBGROUP: vyre_subgroup */
    uint8_t down;          /* FOR */
    uint8_t outside; /* TRAP: vyre_record_kind of an access to `name`, element x of y; else 0 */
    uint32_t next;
    uint32_t body, other;
    uint32_t ref, result;
    vy_range x, y, z; /* evaluated in this order */
    uint32_t first_value, value_count;
    uint32_t bits;    /* TRAP: code; of an access: the binding */
    uint32_t site;    /* TRAP and WHILE: number of its record site, in textual order from 0 */
    const char *name; /* REGION; TRAP of an access; PRINTF */
    vy_loc loc, end_loc;
} vy_stmt;

typedef enum vy_var_kind {
    VY_VAR_LET,
    VY_VAR_VAR,
    VY_VAR_ARRAY,
    VY_VAR_INDEX,    /* of a for loop */
    VY_VAR_PARAMETER /* of a function */
} vy_var_kind;

/* One declaration. The same index is never declared twice; the two passes of a function body that
 * is called twice share it, which is sound because functions do not recurse. */
typedef struct vy_var {
    const char *name;
    uint8_t kind, type;
    uint32_t array_count; /* ARRAY */
    uint32_t function;    /* the function it belongs to, 0: the kernel body */
    vy_loc loc;
} vy_var;

typedef struct vy_buffer {
    const char *name;
    uint8_t mode, type;
    vy_range count;   /* host expression; root 0: what is bound */
    uint32_t binding; /* index among the non-shared buffers, or among the shared ones */
    vy_loc loc;
} vy_buffer;

typedef struct vy_named {
    const char *name;
    uint8_t type;
    uint64_t bits[2]; /* constants: as of a LITERAL */
    uint32_t word;    /* params: the first of its words among those of all */
    vy_loc loc;
} vy_named;

typedef struct vy_table {
    const char *name;
    uint8_t type;
    const uint8_t *bytes; /* the elements as they lie in memory; bools are 0 or 1 */
    uint32_t count;
    vy_loc loc;
} vy_table;

/* What a load of an element of that type gives: bf16 widens to f32. */
vyre_type vy_element_value_type(vyre_type type);
/* Words of a param of that type. */
uint32_t vy_param_type_words(vyre_type type);
/* The bits of component `i` of an element, 0 out of bounds. bf16: those of the f32. */
uint64_t vy_table_value(const vy_table *table, uint64_t index, uint32_t i);
/* An index value as a number; a negative one is beyond every length. */
static inline uint64_t vy_table_index(vyre_type type, uint64_t bits)
{
    return (uint64_t)vy_type_signed_value(type, bits);
}

typedef struct vy_function {
    const char *name;
    uint8_t return_type;
    uint32_t first_parameter, parameter_count; /* consecutive entries of vars */
    uint32_t body;                             /* first statement */
    bool impure;    /* has an atomic, barrier, uniform load, store or trap, itself or by a call */
    uint32_t kinds; /* bits 1 << vy_stmt_kind: statements it has, itself or by a call */
    vy_loc loc;
} vy_function;

/* What occurs anywhere in a program, as bits by number, so that nobody walks it for what is not
 * there. */
typedef struct vy_uses {
    uint64_t ops[(VYRE_OP_COUNT + 63) / 64]; /* of expressions, also of those that are printed */
    uint64_t types, builtins;                /* likewise */
    uint64_t kinds;                          /* of statements */
} vy_uses;

struct vyre_program {
    vy_arena arena;
    atomic_uint holders; /* besides the first: vyre_program_destroy by the last ends it */
    const char *name;
    const char *file; /* of the text, without its folders; NULL: not known */
    const char *text; /* that was parsed, for debuggers; NULL: there is none */
    size_t text_size;
    uint32_t workgroup[3];
    uint32_t grid_over;  /* buffer or 0 */
    uint32_t grid_from;  /* buffer or 0 */
    vy_range grid_of[3]; /* host expressions of workgroups; root 0: 1, of x: there is none */
    uint32_t passes;     /* fixpoint N, default 1 */
    uint32_t until;      /* buffer or 0 */
    uint32_t loop_limit;
    bool fast_math;
    bool records_bounds; /* by vyre_program_record_bounds */
    bool prints_shape; /* agnostic (below), but for what it prints: its workgroup may be another */
    uint32_t subgroup_width; /* pinned, or 0 */
    /* A subgroup operation stands where some invocations of a workgroup may be and others not. Then
     * it means what it says only on devices that converge maximally. */
    bool has_divergent_subgroup;
    vy_loc divergent_subgroup; /* the first such place */
    uint32_t param_words;   /* of all params: 2 for 64 bits, one for each component of a vector */
    uint32_t body;          /* first statement */
    uint32_t site_count;    /* record sites */
    uint32_t binding_count; /* non-shared buffers */
    uint32_t shared_count;
    VY_VEC(vy_expr) exprs;
    VY_VEC(uint32_t) call_args;
    VY_VEC(vy_stmt) stmts;
    VY_VEC(uint32_t) values; /* of cases */
    VY_VEC(vy_var) vars;
    VY_VEC(vy_buffer) buffers;
    VY_VEC(vy_named) params;
    VY_VEC(vy_named) constants;
    VY_VEC(vy_table) tables;
    VY_VEC(vy_function) functions;
    vy_uses uses; /* by vy_program_validate */
};

static inline bool vy_program_has_op(const vyre_program *program, vyre_op op)
{
    return (program->uses.ops[(uint32_t)op / 64] >> (uint32_t)op % 64 & 1) != 0;
}
static inline bool vy_program_has_kind(const vyre_program *program, vy_stmt_kind kind)
{
    return (program->uses.kinds >> kind & 1) != 0;
}
/* Of expressions, as scalars or components. */
bool vy_program_has_floats(const vyre_program *program);
bool vy_program_has_width(const vyre_program *program, uint32_t width);

/* Whether printf statements print: where they do not, everybody goes by as if they were not there,
 * so that what is made of a program is the same as without them. */
typedef enum vy_prints { VY_PRINTS_DROPPED, VY_PRINTS_KEPT } vy_prints;

bool vy_program_has_prints(const vyre_program *program);
/* Value `i` of a PRINTF by itself. */
vy_range vy_printf_value(const vyre_program *program, const vy_stmt *stmt, uint32_t i);

/* Holds a finished program beyond its owner's vyre_program_destroy: the holder calls that too.
 * Thread-safety: safe. */
vyre_program *vy_program_hold(const vyre_program *program);

/* Checks every rule of the language that the builder does not check while building
 * (docs/language.md lists them), numbers the record sites, marks impure functions and notes what
 * occurs. Names may have been checked before: each was free where it was declared, and meant the
 * same until its list ended. */
typedef enum vy_names_state { VY_NAMES_UNKNOWN, VY_NAMES_CHECKED } vy_names_state;
vyre_result vy_program_validate(vyre_program *program, vy_names_state names, vyre_diag *diag);

/* ---- Host-evaluated expressions ------------------------------------------------------------- */

/* What the host knows at a dispatch. */
typedef struct vy_host_env {
    const uint32_t *params;  /* words, by vy_named.word */
    const uint32_t *lengths; /* by binding */
    uint32_t num_groups[3], group_size[3];
    const uint32_t *indices; /* by variable: values of host loop indices */
} vy_host_env;

/* Whether every entry of the range is something that the host can evaluate at a dispatch: literals,
 * params, lengths of non-shared buffers, num_groups (not with `grid from`), group_size, host loop
 * indices (`is_host_index` by variable, may be NULL), and operators over bool, u32 and i32. */
bool vy_host_evaluable(const vyre_program *program, vy_range range, const bool *is_host_index,
                       uint32_t *out_offender);
/* What an operator over scalars means: the value's bits, of the operands' bits (vy_type_bits), by
 * the type of the first operand. */
typedef uint64_t (*vy_eval_fn)(vyre_op op, vyre_type result, vyre_type operand,
                               const uint64_t *operands, bool flush_denormals);
/* Evaluates such a range; the caller wires the operators' meaning in (interp/ has it). */
uint32_t vy_host_evaluate(const vyre_program *program, vy_range range, const vy_host_env *env,
                          vy_eval_fn eval, uint32_t *scratch); /* scratch: end - begin words */

/* What a host expression may be of, as a list for errors. */
const char *vy_host_parts(const vyre_program *program);

/* ---- Grids that the device reads -------------------------------------------------------------
 */

/* How many workgroups of so many invocations may run by `grid from`; `asked` 0: no other limit. */
uint32_t vy_grid_most(uint32_t volume, uint32_t asked);
/* Makes the counts read from the buffer those that run: x as many as `most` allows, y of what is
 * left, then z. Returns whether one became less. With a zero among them nothing runs, and they stay
 * as they are. */
bool vy_grid_clamp(uint32_t groups[3], uint32_t most);

/* Whether the statement list, or anything inside it, contains a statement of that kind (functions
 * called are followed). */
bool vy_list_contains(const vyre_program *program, uint32_t first, vy_stmt_kind kind);

/* A12: the program uses none of lid, wid, group_size, num_groups, shared memory, barriers, uniform
 * loads, `grid from`. Then the workgroup size may be overridden and invocations beyond the elements
 * run nothing. out_use (may be NULL): the text of the first use found otherwise. */
bool vy_program_is_workgroup_agnostic(const vyre_program *program, const char **out_use);

#endif
