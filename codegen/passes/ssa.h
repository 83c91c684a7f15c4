/* One segment in SSA form: blocks of instructions with phis, in structured control flow. Made from
 * the program's statements by build.c, improved by the passes below, read by spirv/. The blocks
 * stand in an order in which every definition precedes its uses, phis of loop headers apart, and in
 * which a construct's blocks lie together: header, body, continue, merge.
 *
 * Values are scalars: the builder takes vectors apart. Only what moves a vector as a whole knows
 * one: LOAD, TABLE, ARRAY_LOAD and a BALLOT give one, which COMPONENT takes apart; COMPOSE puts one
 * together for STORE and ARRAY_STORE. Loads of bf16 give f32, its stores take f32. */
#ifndef VY_SSA_H
#define VY_SSA_H

#include "codegen/ir/ir.h"
#include "codegen/passes/split.h"

/* Instructions: the pure operators of vyre_op (LITERAL, BUILTIN, PARAM, LENGTH, TABLE and LOAD
 * among them, with the same `ref`), and these. VARIABLE, ELEMENT and CALL do not occur. */
typedef enum vy_ssa_op {
    VY_SSA_PHI = VYRE_OP_COUNT, /* ref: first of its phi_edges; bits: how many */
    VY_SSA_HOST_INDEX,          /* ref: slot of the pushed host loop index */
    VY_SSA_STORE,               /* buffer ref [arg0] = arg1 */
    VY_SSA_ATOMIC,              /* buffer ref [arg0], operands arg1 arg2; atomic, order */
    VY_SSA_BARRIER,             /* workgroup: execution, shared and storage memory */
    VY_SSA_ARRAY_ZERO,          /* private array ref */
    VY_SSA_ARRAY_LOAD,          /* private array ref [arg0] */
    VY_SSA_ARRAY_STORE,         /* private array ref [arg0] = arg1 */
    VY_SSA_SPILL_LOAD,          /* spill word ref of this invocation; 64 bits: ref and ref + 1 */
    VY_SSA_SPILL_STORE,         /* likewise = arg0 */
    VY_SSA_RECORD, /* leaves a record at site ref; where arg0 is there, of pass arg0 and segment
                      execution arg1, else of those that are pushed */
    VY_SSA_CANONICAL_NAN, /* arg0, or the quiet NaN of its type where it is a NaN */
    VY_SSA_COMPONENT,     /* component ref of the vector arg0 */
    VY_SSA_COMPOSE,       /* a vector of arg0, arg1 (, arg2, arg3) */
    VY_SSA_SUBGROUP,      /* subgroup operation over arg0, arg1; an effect, never moved */
    VY_SSA_IS_ELEMENT,    /* bool: an invocation of the only workgroup has an element to run for */
    /* Of coarse segments (coarsen.h). What is loaded and stored are the words of some elements that
     * stand side by side: u32, u32x2 or u32x4; in bounds. */
    VY_SSA_ELEMENTS,   /* u32: elements of the grid in x */
    VY_SSA_LOAD_WIDE,  /* buffer ref, of the words of number arg0 in it */
    VY_SSA_STORE_WIDE, /* likewise = arg1 */
    VY_SSA_UNPACK,     /* element `bits` of the words arg0 of the buffer ref */
    VY_SSA_RANK, /* u32x2: how many of the subgroup's lanes that are here have arg0, before this
                    one and in all */
    VY_SSA_PACK, /* a word: elements arg0, arg1, ... of the buffer ref; of one of 64 bits the
                    word of number `bits` */
    VY_SSA_GROUP_BEGIN, /* the whole workgroup comes here, and waits: words 0 to ref - 1, which all
                           of it sees, are arg0, arg1, ... */
    VY_SSA_STAGE,   /* a word of the workgroup's, at place arg0: arg1, an element of buffer ref */
    VY_SSA_UNSTAGE, /* the whole workgroup comes here, and waits: what was staged, as many as its
                       staged atomic has added, is stored to buffer ref from what that found, and
                           `bits`, on */
    VY_SSA_PRINT,   /* statement ref: arg0, arg1, ... are the components of its values from number
                       `bits` on; the last of its PRINTs, which stand together, prints */
    VY_SSA_OP_COUNT
} vy_ssa_op;

typedef struct vy_ins {
    uint16_t op;
    uint8_t type;
    uint8_t atomic, order;
    uint8_t subgroup; /* SUBGROUP: vyre_subgroup */
    /* Proved by a pass where it stands, so whoever moves it clears it. LOAD, STORE, ATOMIC,
     * ARRAY_*, TABLE: the index is in bounds. SHL, SHR, rotations: the amount is below the width.
     * DIV, REM: the divisor is not 0, and the quotient is not that of MIN / -1. */
    bool unchecked;
    bool removed;    /* by a pass; no longer in its block's list */
    uint32_t arg[4]; /* instructions, whatever the op; 0: none */
    uint32_t ref;
    uint32_t next; /* in its block */
    uint64_t bits; /* LITERAL: vy_type_bits; PARAM: which component; ATOMIC: VY_JOIN_*;
                      some of vy_ssa_op: as said there */
    uint32_t block;
    uint32_t call;    /* of a function, that put it in here: among the form's calls; 0: none */
    const char *name; /* of the variable it was bound to, or NULL; for people */
    vy_loc loc;
} vy_ins;

/* How an atomic is joined, in coarse segments. Ranked: within the subgroup, and all lanes that are
 * here want what the first one finds. Group: the whole workgroup comes here once, and one
 * invocation acts for it; the operands meet in a word of GROUP_BEGIN's, whose number stands above.
 * Skips: no atomic where they leave that word as it began; what is found then is any value. Staged:
 * what is found counts from what the workgroup's atomic finds, which none waits for but UNSTAGE. */
#define VY_JOIN_RANKED 1u
#define VY_JOIN_GROUP  2u
#define VY_JOIN_SKIPS  4u
#define VY_JOIN_STAGED 8u
#define VY_JOIN_WORD   8u /* places that the number is shifted by */

typedef struct vy_phi_edge {
    uint32_t block; /* the predecessor */
    uint32_t value;
} vy_phi_edge;

typedef enum vy_end_kind {
    VY_END_NONE,   /* not finished yet: only while building */
    VY_END_JUMP,   /* target[0] */
    VY_END_BRANCH, /* cond ? target[0] : target[1] */
    VY_END_SWITCH, /* cond (u32 or i32); cases; target[0] is the default */
    VY_END_RETURN,
    VY_END_UNREACHABLE /* a merge block that no edge reaches */
} vy_end_kind;

typedef enum vy_merge_kind { VY_MERGE_NONE, VY_MERGE_SELECTION, VY_MERGE_LOOP } vy_merge_kind;

typedef struct vy_block {
    uint32_t first, last; /* instructions; phis come first */
    uint8_t end, merge_kind;
    uint32_t cond;
    uint32_t target[2];
    uint32_t merge, continue_block; /* of the construct that this block heads */
    uint32_t first_case, case_count;
    uint32_t call; /* as of an instruction */
    vy_loc loc;
} vy_block;

typedef struct vy_case {
    uint32_t value, block;
} vy_case;

typedef struct vy_array {
    const char *name;
    uint8_t type;
    uint32_t count;
    uint32_t var, call; /* whose it is, and in which call */
} vy_array;

/* A call of a function that was put in where it stands. */
typedef struct vy_call {
    uint32_t around; /* the call that it was put in by, or 0 */
    uint32_t function;
    vy_loc loc;
} vy_call;

/* For debuggers: from behind the instruction `after` of the block on (0: its front), or behind
 * those around it where it is gone, that component of the variable is `value`. */
typedef struct vy_binding {
    uint32_t var, component, value, call;
    uint32_t block, after;
} vy_binding;

/* Entry 0 of ins, blocks, arrays and calls is reserved; block 1 is the entry. The builder and the
 * passes keep all LITERALs in the entry block, one for each type and value. */
typedef struct vy_ssa {
    const vyre_program *program;
    vy_arena *arena;
    vy_arena *scratch; /* of one pass; may be `arena`, which fails where it does */
    VY_VEC(vy_ins) ins;
    VY_VEC(vy_block) blocks;
    VY_VEC(vy_phi_edge) phi_edges;
    VY_VEC(vy_case) cases;
    VY_VEC(vy_array) arrays;
    VY_VEC(vy_call) calls;
    VY_VEC(vy_binding) bindings; /* in the order of the program; none unless the split asks */
    uint32_t call;               /* what is appended belongs to; 0 behind the builder */
    uint32_t *literals;          /* edit.c: open-addressing table of the LITERALs; may be NULL */
    bool is_indexed;             /* the table has those that stand there, and no others */
    uint32_t literal_count, literal_capacity, last_literal;
    bool is_whole; /* vy_ssa_build_whole: the flag is in its buffer */
    /* fold, or dce, has been here and would find nothing more. Whoever changes what a value is, or
     * drops a use of one, clears them. */
    bool is_folded, is_live;
} vy_ssa;

/* Lowers a segment. Functions are inlined, while loops get their counters, values from other
 * segments are loaded or recomputed at the start and stored on every way out. `scratch` is for this
 * function and for the passes, after any of which it may be reset: a scratch arena of `arena`, or
 * `arena` itself. */
vyre_result vy_ssa_build(const vyre_program *program, const vy_split *split, uint32_t segment,
                         vy_arena *arena, vy_arena *scratch, vy_ssa *out_ssa, vyre_diag *diag);

/* Lowers all segments and passes to one: for a grid of one workgroup. What the host would evaluate
 * is control flow, a barrier stands where a dispatch would end. It begins at the pass that the
 * parameter block says and runs at most as many as a pushed index says, or until a pass
 * leaves the flag zero. Then spill word 0 of each invocation has the passes run and word 1 whether
 * the flag was zero; a module that begins behind the first pass reads them. */
vyre_result vy_ssa_build_whole(const vyre_program *program, const vy_split *split, vy_arena *arena,
                               vy_arena *scratch, vy_ssa *out_ssa, vyre_diag *diag);
#define VY_WHOLE_WORD_PASSES    0u
#define VY_WHOLE_WORD_CONVERGED 1u
#define VY_WHOLE_WORDS          2u
/* Pushed indices of such a module: the passes, and a zero that no compiler knows. */
#define VY_WHOLE_INDEX_PASSES 0u
#define VY_WHOLE_INDEX_ZERO   1u

/* ---- Passes. Each is one file that says what it needs and keeps. ------------------------------
 */

/* Everything a pass may ask for. */
typedef struct vy_pass_context {
    vy_eval_fn eval; /* what operators mean, for folding; NULL: folds nothing */
    bool is_apart;   /* no two written buffers overlap */
} vy_pass_context;

typedef struct vy_pass {
    bool is_needed;      /* for what the language promises, not for speed alone */
    const char *name;    /* "fold" */
    const char *summary; /* one line for --help */
    bool (*run)(vy_ssa *ssa, const vy_pass_context *context); /* false: out of memory */
} vy_pass;

/* The pipeline, in the order in which it runs, for which passes.c has the reasons: trivial-phi,
 * fold, cse, dce, licm, ranges, interleave, fold, dce, canonical-nan, dce. `count` rows; names may
 * repeat. */
const vy_pass *vy_passes_get(uint32_t *out_count);

/* Checks the form's own rules (definitions dominate uses, phis match predecessors, one terminator,
 * constructs nest, types agree): NULL when right, else what is wrong (from the arena). */
const char *vy_ssa_verify(const vy_ssa *ssa);

/* Whether `unchecked` means something for an instruction like that. */
bool vy_ssa_can_be_unchecked(uint32_t op);

/* Text for people and golden tests: "block 3:  %12 = add u32 %4, %7   ; x". What is unchecked has a
 * `!` behind its operator. Deterministic. */
void vy_ssa_print(const vy_ssa *ssa, vy_text *out);

/* ---- What a segment touches ------------------------------------------------------------------ */

/* Bits by binding of the non-shared buffers; the two hidden ones that segments write have a bit
 * each. So has element 0 of the flag of `until`, which is not in its buffer while passes run: an
 * index that is no literal may be either. */
#define VY_ACCESS_FLAG    ((uint64_t)1 << 61)
#define VY_ACCESS_RECORDS ((uint64_t)1 << 62)
#define VY_ACCESS_SPILL   ((uint64_t)1 << 63)
typedef struct vy_access {
    uint64_t reads, writes, atomics; /* atomics: also in reads or writes as they read or write */
    bool has_barrier, has_shared;
} vy_access;
/* Of the instructions that are left after the passes. */
void vy_ssa_access(const vy_ssa *ssa, vy_access *out_access);

/* By buffer: whether it is workgroup memory of which every invocation stores the element of its own
 * number first, before a barrier behind which others may access it, so that nobody can tell what it
 * began with. False: out of memory. */
bool vy_ssa_find_written_first(const vy_ssa *segment, vy_arena *arena, bool *out_is_first);

#endif
