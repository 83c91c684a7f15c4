/* The inside of spirv/: what the emit_*.c files share. One emitter turns one segment's SSA form
 * into one module; the places where modules differ lie behind three small interfaces: the target
 * (SPIR-V version and memory model), the addressing (how memory is reached), the wrapper (the entry
 * point around the body). Nothing else asks which of them is in use.
 *
 * Order of evaluation of C arguments is not fixed, and ids are given as values are made: no call
 * may have two arguments that emit. */
#ifndef VY_SPIRV_EMIT_H
#define VY_SPIRV_EMIT_H

#include "codegen/spirv/debug_info.h"
#include "codegen/spirv/interface.h"
#include "codegen/spirv/module.h"
#include "codegen/spirv/spirv.h"

#define VY_F32_SIGN      0x80000000u
#define VY_F32_MAGNITUDE 0x7fffffffu
#define VY_F32_INFINITY  0x7f800000u
#define VY_F32_NAN       0x7fc00000u
#define VY_F32_ONE       0x3f800000u

/* ---- Target ---------------------------------------------------------------------------------- */

typedef struct vy_spirv_target {
    uint32_t version;
    SpvMemoryModel memory_model;
    bool has_memory_capabilities; /* VulkanMemoryModel, and its device scope where it is used */
    bool is_coherent_decorated;   /* visibility of plain accesses is a decoration */
    uint32_t shared_access;       /* memory operands of plain accesses to what others may access */
    uint32_t acquire, release;    /* semantics bits that an acquire, a release has beside */
} vy_spirv_target;

extern const vy_spirv_target vy_spirv_target_vulkan12, vy_spirv_target_vulkan13;

/* ---- Addressing ------------------------------------------------------------------------------ */

/* What one OpLoad or OpStore moves. Floats are moved by their bits. */
typedef enum vy_cell {
    VY_CELL_8,
    VY_CELL_16,
    VY_CELL_32,
    VY_CELL_64,
    VY_CELL_32X2,
    VY_CELL_32X4,
    VY_CELL_COUNT
} vy_cell;

/* A slot is the number of a non-shared buffer, or binding_count + VY_HIDDEN_*, all but the
 * parameter block. */
typedef struct vy_spirv_addressing {
    SpvAddressingModel model;
    SpvCapability capability; /* that the model takes */
    uint32_t access;          /* memory operands that every load and store through `element` has */
    /* Pointer to element `index` (u32) of the slot, which is an array of such cells. */
    uint32_t (*element)(vy_emitter *emitter, uint32_t slot, vy_cell cell, uint32_t index);
    uint32_t (*param_binding)(uint32_t binding_count); /* of the parameter block, in set 0 */
} vy_spirv_addressing;

extern const vy_spirv_addressing vy_spirv_addressing_descriptor, vy_spirv_addressing_physical;

/* address.c, for the two: what a slot is to this module. Not written: NonWritable. Coherent: where
 * the target says it by decorations, invocations of the segment speak to each other through it. */
bool vy_slot_is_written(const vy_emitter *emitter, uint32_t slot);
bool vy_slot_is_coherent(const vy_emitter *emitter, uint32_t slot);
const char *vy_slot_name(const vy_emitter *emitter, uint32_t slot);
/* The buffer that it is, or 0. */
uint32_t vy_slot_buffer(const vy_emitter *emitter, uint32_t slot);
/* Where the body keeps what the addressing makes of a slot, for such cells. */
uint32_t *vy_slot_kept(vy_emitter *emitter, uint32_t slot, vy_cell cell);
/* A block type, decorated as a whole but for its contents: struct { cell cells[]; }. */
uint32_t vy_slot_block_type(vy_emitter *emitter, vy_cell cell, const char *name);
/* Pointer to a word of the parameter block. */
uint32_t vy_param_pointer(vy_emitter *emitter, uint32_t word);
/* Pointer to the word at `byte` of the push constants: VY_PUSH_PASS, _EXECUTION, or
 * VY_PUSH_INDICES + 4 * slot. */
uint32_t vy_push_pointer(vy_emitter *emitter, uint32_t byte);

/* ---- Wrapper --------------------------------------------------------------------------------- */

typedef struct vy_spirv_wrapper {
    /* The entry point's function, after the body was emitted: it calls emitter->body, a function
     * from the logical workgroup id (a vector of three) to nothing, in uniform control flow. */
    void (*emit)(vy_emitter *emitter);
    /* What other functions than the entry point's know of the parameter block, by word, and of the
     * push constants, by byte; NULL: they read it where it lies. */
    uint32_t (*param_word)(vy_emitter *emitter, uint32_t word);
    uint32_t (*push_word)(vy_emitter *emitter, uint32_t byte);
    /* The number of the pass mod VY_STATE_TURNS, and whether this is its first execution: a bool.
     */
    uint32_t (*turn)(vy_emitter *emitter);
    uint32_t (*leads)(vy_emitter *emitter);
} vy_spirv_wrapper;

extern const vy_spirv_wrapper vy_spirv_wrapper_replay, vy_spirv_wrapper_persistent;

/* wrap_parts.c: what wrappers have in common. Whether an invocation only fills up the last
 * workgroup, in programs that cannot tell. */
uint32_t vy_wrap_is_beyond_elements(vy_emitter *emitter, const uint32_t group[3]);
/* Zeroes the shared buffers that are in use, by buffer, then waits; begun in the block with the
 * label `block`, the one that it ends in is returned. Programs with shared buffers have a fixed
 * workgroup size. */
uint32_t vy_wrap_clear_shared(vy_emitter *emitter, const bool *is_used, uint32_t block);
/* The entry point's function up to its first block, whose label it gives; and its end. */
uint32_t vy_wrap_begin_entry(vy_emitter *emitter, uint32_t *out_label);
void vy_wrap_end_entry(vy_emitter *emitter, uint32_t function);

/* ---- Helper functions ------------------------------------------------------------------------ */

/* Functions of the module that the body calls; each is emitted when first asked for. */
typedef enum vy_helper {
    VY_HELPER_DIVIDE,
    VY_HELPER_SQRT,
    VY_HELPER_REDUCE, /* f32 bits -> (bits of the rest within +-pi/4, quadrant) */
    VY_HELPER_SIN,
    VY_HELPER_COS,
    VY_HELPER_TAN,
    VY_HELPER_ASIN,
    VY_HELPER_ACOS,
    VY_HELPER_ATAN,
    VY_HELPER_ATAN2,
    VY_HELPER_SINH,
    VY_HELPER_COSH,
    VY_HELPER_TANH,
    VY_HELPER_EXP,
    VY_HELPER_EXP2,
    VY_HELPER_LOG,
    VY_HELPER_LOG2,
    VY_HELPER_POW,
    VY_HELPER_RSQRT,
    VY_HELPER_RECIPROCAL,
    VY_HELPER_RECORD,    /* site, linear invocation -> nothing */
    VY_HELPER_RECORD_OF, /* the same as a pair, pass and segment execution as another */
    VY_HELPER_FMA,
    VY_HELPER_ROUND_HALF,  /* f32 -> the nearest f16, as an f32 */
    VY_HELPER_PACK_HALF,   /* f32 that is an f16 -> its 16 bits */
    VY_HELPER_UNPACK_HALF, /* 16 bits -> f32 */
    VY_HELPER_PACK_BF16,   /* f32 -> 16 bits of the nearest bf16 */
    VY_HELPER_U32_TO_F32,
    VY_HELPER_U64_TO_F32,
    VY_HELPER_F32_TO_F64,
    VY_HELPER_F64_TO_F32,
    VY_HELPER_F64_TO_ODD, /* f64 -> f32 whose last bit says whether more was there */
    VY_HELPER_DIVIDE_F64,
    VY_HELPER_SQRT_F64,
    VY_HELPER_FMA_F64,
    VY_HELPER_COUNT
} vy_helper;

/* Calls it; the result is of the helper's type. */
uint32_t vy_helper_call(vy_emitter *emitter, vy_helper helper, uint32_t a, uint32_t b);
uint32_t vy_helper_call3(vy_emitter *emitter, vy_helper helper, uint32_t a, uint32_t b, uint32_t c);

/* Bodies of helpers: parameters in, result out. Blocks that they make are their own, by vy_label:
 * vy_emitter_label is the body's. */
typedef uint32_t (*vy_helper_fn)(vy_emitter *emitter, uint32_t a, uint32_t b);
typedef uint32_t (*vy_helper3_fn)(vy_emitter *emitter, uint32_t a, uint32_t b, uint32_t c);
uint32_t vy_emit_fma(vy_emitter *emitter, uint32_t a, uint32_t b, uint32_t c);
uint32_t vy_emit_fma_f64(vy_emitter *emitter, uint32_t a, uint32_t b, uint32_t c);
/* adds_zero: c is the literal +0. */
uint32_t vy_emit_fma_half(vy_emitter *emitter, uint32_t a, uint32_t b, uint32_t c, bool adds_zero);
uint32_t vy_emit_divide_f64(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_sqrt_f64(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_round_half(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_pack_half(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_unpack_half(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_pack_bf16(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_u32_to_f32(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_u64_to_f32(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_f32_to_f64(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_f64_to_f32(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_f64_to_odd(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_divide(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_sqrt(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_reduce(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_sin(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_cos(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_tan(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_asin(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_acos(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_atan(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_atan2(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_sinh(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_cosh(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_tanh(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_exp(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_exp2(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_log(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_log2(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_pow(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_rsqrt(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_reciprocal(vy_emitter *emitter, uint32_t a, uint32_t b);
uint32_t vy_emit_record(vy_emitter *emitter, uint32_t site, uint32_t invocation);
uint32_t vy_emit_record_of(vy_emitter *emitter, uint32_t what, uint32_t when);

/* ---- The emitter ----------------------------------------------------------------------------- */

/* Values that the body reads at most once, at its beginning. */
typedef enum vy_input {
    VY_INPUT_GROUP,      /* 3: logical workgroup */
    VY_INPUT_LOCAL = 3,  /* 3 */
    VY_INPUT_GLOBAL = 6, /* 3 */
    VY_INPUT_GROUPS = 9, /* 3: logical workgroups */
    VY_INPUT_LOCAL_INDEX = 12,
    VY_INPUT_INVOCATION, /* linear */
    VY_INPUT_STRIDE,     /* of spill slots */
    VY_INPUT_PASS,
    VY_INPUT_LANE,
    VY_INPUT_LANES,
    VY_INPUT_ZERO,     /* VY_PARAM_ZERO */
    VY_INPUT_ELEMENTS, /* VY_PARAM_ELEMENTS, x */
    VY_INPUT_TURN,     /* the word of the state that the flag's element 0 is in this pass */
    VY_INPUT_COUNT
} vy_input;

/* Operands of an OpPhi to be written once every value and block has its id. */
typedef struct vy_phi_patch {
    uint32_t offset;       /* into BODY: of the first operand pair */
    uint32_t first, count; /* phi_edges */
    vy_loc loc;
} vy_phi_patch;

struct vy_emitter {
    vy_module module;
    const vy_ssa *ssa;
    const vy_access *access;
    const vy_spirv_options *options;
    const vy_spirv_target *target;
    const vy_spirv_addressing *addressing;
    const vy_spirv_wrapper *wrapper;
    uint64_t module_writes; /* bindings */
    /* By SSA instruction, block, array: ids, 0 while there is none. */
    uint32_t *values, *labels, *last_labels, *arrays;
    uint8_t *joined;      /* by SSA instruction: see emit_aggregate.c; NULL: none */
    uint8_t *is_index;    /* by SSA instruction: see unroll.c; NULL: none */
    bool *is_emitted;     /* by block */
    uint32_t *edge_words; /* by edge of a phi: what it gets in place of a bool, or 0 */
    VY_VEC(vy_phi_patch) patches;
    uint32_t current_label;      /* of the block being filled */
    vy_loc line;                 /* of the last OpLine in this block */
    struct vy_debug_info *debug; /* debug_info.c; NULL: none */
    /* Global things, 0 until used. */
    uint32_t *slots;            /* by slot, twice: what the addressing keeps */
    uint32_t *wide_slots;       /* by slot and cell: likewise, of what is accessed as words */
    uint32_t *shared;           /* by buffer: variable */
    bool *is_shared_used;       /* by buffer: by the body that was begun last */
    uint32_t *tables;           /* by table: variable */
    uint32_t *lengths, *params; /* by binding, by word of the parameters: values in the body */
    uint32_t *signed_lengths;   /* by binding: not beyond what an i32 can name */
    uint32_t inputs[VY_INPUT_COUNT];
    uint32_t builtins[6];                     /* variables: see vy_emit_builtin_variable */
    uint32_t group_size[3];                   /* constants */
    uint32_t zero_sums;                       /* VY_SPEC_ZERO_SUMS, made when first needed */
    uint32_t has_turns;                       /* VY_SPEC_TURNS, likewise */
    uint32_t group_words[4], group_begins[4]; /* of VY_SSA_GROUP_BEGIN: variables; their values */
    /* Variables of what is staged: its words, how many they are, and where the first one goes. */
    uint32_t stage, stage_total, stage_first;
    uint32_t param_block, push_block;         /* variables */
    uint32_t param_veil;                      /* in the body: see emit_input.c */
    uint32_t buffer_blocks[VY_CELL_COUNT][3]; /* read only, written, coherent */
    uint32_t helpers[VY_HELPER_COUNT];
    uint32_t body, body_group; /* the body's function and its parameter */
    /* Of a module of several segments, by segment: the bodies, and the shared buffers that they
     * use, a row of all for each. */
    uint32_t segment_count, *bodies;
    bool *bodies_shared;
    /* Variables that hold what wrappers give the bodies: by word of the parameter block, by word of
     * the push constants; 0: not asked for. */
    uint32_t *held_params, held_push[VY_PUSH_SIZE / 4];
    vy_access all_access; /* of all segments */
    /* printf: the imported set, 0: not imported; the format's string by statement, from entry 0 on
     * in pairs; the words of the values that have been met. */
    uint32_t printf_set;
    VY_VEC(uint32_t) printf_strings;
    VY_VEC(uint32_t) printf_words;
    vyre_result result; /* the first error, with its diag filled */
    vyre_diag *diag;
};

/* Keeps the first error; returns 0, for "no value". */
uint32_t vy_emitter_fail(vy_emitter *emitter, vyre_result code, vy_loc loc, const char *format, ...)
    VY_PRINTF(4, 5);

/* The value of an SSA instruction, which has been emitted; else an error. */
uint32_t vy_emitter_value(vy_emitter *emitter, uint32_t instruction, vy_loc loc);
vyre_type vy_emitter_type(const vy_emitter *emitter, uint32_t instruction);
/* The bits of a LITERAL; false for anything else. */
bool vy_emitter_literal(const vy_emitter *emitter, uint32_t instruction, uint64_t *out_bits);

/* Begins a block of the emitter's own making. */
void vy_emitter_label(vy_emitter *emitter, uint32_t label);

/* unroll.c: which values are indices of private arrays, once, before the blocks are emitted. */
void vy_emit_find_indices(vy_emitter *emitter);
/* Whether the loop with that header has few trips, whose number is known, through such an array. */
bool vy_emit_unrolls(const vy_emitter *emitter, uint32_t header);

/* emit_control.c: every block of the body. */
void vy_emit_blocks(vy_emitter *emitter);
/* Whether the instruction makes blocks of its own. */
bool vy_emit_splits_block(const vy_emitter *emitter, const vy_ins *ins);

/* The pure operators by the type of their first operand: emit_int.c and emit_bits.c, emit_float.c,
 * emit_f64.c, emit_cast.c. */
/* An operator over u32 or i32 that is one instruction, as most are; 0: it is not, or an operand
 * has no value. */
uint32_t vy_emit_plain(vy_emitter *emitter, const vy_ins *ins);
uint32_t vy_emit_integer(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                         vyre_type type);
uint32_t vy_emit_bits(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                      vyre_type type);
uint32_t vy_emit_bool(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands);
/* f16 too: computed as f32, then rounded. */
uint32_t vy_emit_f32(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands,
                     vyre_type type);
uint32_t vy_emit_f64(vy_emitter *emitter, const vy_ins *ins, const uint32_t *operands);
uint32_t vy_emit_cast(vy_emitter *emitter, const vy_ins *ins, uint32_t operand, vyre_type from);
uint32_t vy_emit_bitcast(vy_emitter *emitter, const vy_ins *ins, uint32_t operand, vyre_type from);
/* The float comparison that an operator is, and that on keys of integers (may be NULL). */
bool vy_find_comparison(vyre_op op, SpvOp *out_float, SpvOp *out_key);
/* On bits: not a number. */
uint32_t vy_emit_is_nan_bits(vy_emitter *emitter, uint32_t bits);
uint32_t vy_emit_canonical_nan(vy_emitter *emitter, uint32_t value, vyre_type type);
uint32_t vy_emit_canonical_f64(vy_emitter *emitter, uint32_t value);

/* emit_int.c. An integer made to fit its type again, in the register where it lives. */
uint32_t vy_emit_wrap(vy_emitter *emitter, vyre_type type, uint32_t value);
uint32_t vy_const_integer(vy_emitter *emitter, vyre_type type, uint64_t bits);

/* emit_half.c. f16 lives in f32: as an f32 that is exactly an f16. */
uint32_t vy_emit_round_f16(vy_emitter *emitter, uint32_t value);
uint32_t vy_emit_f16_to_bits(vy_emitter *emitter, uint32_t value);
uint32_t vy_emit_f16_of_bits(vy_emitter *emitter, uint32_t bits);
/* The 16 bits of the bf16 nearest to an f32. */
uint32_t vy_emit_bf16_of_f32(vy_emitter *emitter, uint32_t value);
/* The bits of the f32 that an f16 is. */
uint32_t vy_f16_as_f32(uint32_t bits);

/* emit_element.c. Where values live: integers of up to 32 bits in u32, extended by their type; f16
 * and f32 in f32; u64 and i64 in u64; f64, bool and vectors in their own types. In memory they are
 * cells. Buffers hold elements as they are (packed); workgroup memory, private arrays and tables
 * keep each in a whole number of words, small ones as they live in registers. */
uint32_t vy_emit_type(vy_emitter *emitter, vyre_type type);
uint32_t vy_emit_zero(vy_emitter *emitter, vyre_type type);
vy_cell vy_cell_of(vyre_type type, bool is_packed);
uint32_t vy_cell_size(vy_cell cell);
/* As an element; and as a value, that is with 8 and 16 bits extended by zeros. */
uint32_t vy_cell_type(vy_emitter *emitter, vy_cell cell);
uint32_t vy_cell_value_type(vy_emitter *emitter, vy_cell cell);
/* `access`: memory operands. */
uint32_t vy_emit_load_cell(vy_emitter *emitter, uint32_t pointer, vy_cell cell, uint32_t access);
void vy_emit_store_cell(vy_emitter *emitter, uint32_t pointer, vy_cell cell, uint32_t value,
                        uint32_t access);
uint32_t vy_emit_load_word(vy_emitter *emitter, uint32_t pointer, uint32_t access);
void vy_emit_store_word(vy_emitter *emitter, uint32_t pointer, uint32_t word, uint32_t access);
/* Between a cell's value and the value of an element of that type. */
uint32_t vy_emit_to_cell(vy_emitter *emitter, vyre_type type, bool is_packed, uint32_t value);
uint32_t vy_emit_from_cell(vy_emitter *emitter, vyre_type type, bool is_packed, uint32_t value);
/* Values in words: of up to 32 bits one, of 64 two. Small integers by their low bits. */
uint32_t vy_emit_to_word(vy_emitter *emitter, vyre_type type, uint32_t value);
uint32_t vy_emit_from_word(vy_emitter *emitter, vyre_type type, uint32_t word);
uint32_t vy_emit_low(vy_emitter *emitter, uint32_t wide);
uint32_t vy_emit_high(vy_emitter *emitter, uint32_t wide);
uint32_t vy_emit_join(vy_emitter *emitter, uint32_t low, uint32_t high);
uint32_t vy_emit_component(vy_emitter *emitter, const vy_ins *ins);
uint32_t vy_emit_compose(vy_emitter *emitter, const vy_ins *ins);

/* emit_memory.c: checks and buffers. An index is u32, i32 or u64. */
typedef struct vy_checked {
    uint32_t ok, index; /* ok: 0 where nothing needs to be checked */
} vy_checked;
/* The index as a u32, and whether it is below count. */
vy_checked vy_check_index(vy_emitter *emitter, const vy_ins *ins, uint32_t count);
/* The same with 0 in place of an index that is not. */
vy_checked vy_check_index_for_load(vy_emitter *emitter, const vy_ins *ins, uint32_t count);
/* The element of that type, or zero where the index is out of bounds. */
uint32_t vy_checked_value(vy_emitter *emitter, vyre_type type, bool is_packed, vy_checked checked,
                          uint32_t value);
/* Opens a selection that is entered where the index is in bounds; its merge label, or 0. */
uint32_t vy_begin_checked(vy_emitter *emitter, vy_checked checked);
void vy_end_checked(vy_emitter *emitter, uint32_t merge);
uint32_t vy_emit_load(vy_emitter *emitter, const vy_ins *ins);
void vy_emit_store(vy_emitter *emitter, const vy_ins *ins);
/* Memory operands of a plain access to a buffer. */
uint32_t vy_emit_plain_access(const vy_emitter *emitter, uint32_t buffer);
bool vy_emit_is_shared(const vy_emitter *emitter, uint32_t buffer);
/* Elements of a shared buffer. */
uint32_t vy_emit_shared_count(vy_emitter *emitter, uint32_t buffer);
vy_cell vy_emit_buffer_cell(const vy_emitter *emitter, uint32_t buffer);
/* Pointer to an element of a buffer, shared or not. */
uint32_t vy_emit_element(vy_emitter *emitter, uint32_t buffer, uint32_t index);
/* The elements of a buffer, as a value; and what an index of that instruction is compared with. */
uint32_t vy_emit_length(vy_emitter *emitter, uint32_t buffer);
uint32_t vy_emit_bound(vy_emitter *emitter, const vy_ins *ins);

/* emit_flag.c: the flag of `until`. One access of a buffer by that index, checked: `act` does it at
 * the pointer it is given, which is called twice where only the device knows whether it is the
 * flag. Gives what it gave, a u32 where it is called twice, or 0. */
typedef uint32_t (*vy_access_fn)(vy_emitter *emitter, const vy_ins *ins, uint32_t pointer,
                                 const void *data);
uint32_t vy_emit_access(vy_emitter *emitter, const vy_ins *ins, uint32_t index, vy_access_fn act,
                        const void *data);
/* Whether that makes blocks; whether element 0 of the buffer is not in it. */
bool vy_emit_flag_splits(const vy_emitter *emitter, const vy_ins *ins);
bool vy_emit_is_flag(const vy_emitter *emitter, uint32_t buffer);
/* Whether the module runs one segment in passes that the state tells apart: its pass is what stands
 * there for a turn. */
bool vy_emit_is_gated(const vy_emitter *emitter);
uint32_t vy_emit_counted_pass(vy_emitter *emitter, uint32_t turn);
/* In the entry point's first block, by all: whether the fixpoint is over, a bool that is the same
 * for all of a dispatch. */
uint32_t vy_emit_gate(vy_emitter *emitter);
/* By one invocation, where the fixpoint is over: all that come later see it. */
void vy_emit_end_flag(vy_emitter *emitter);

/* emit_table.c, emit_array.c: tables, private arrays, spill slots. */
uint32_t vy_emit_table(vy_emitter *emitter, const vy_ins *ins);
void vy_emit_array_variables(vy_emitter *emitter);
void vy_emit_array_zero(vy_emitter *emitter, const vy_ins *ins);
uint32_t vy_emit_array_load(vy_emitter *emitter, const vy_ins *ins);
void vy_emit_array_store(vy_emitter *emitter, const vy_ins *ins);
uint32_t vy_emit_spill_load(vy_emitter *emitter, const vy_ins *ins);
void vy_emit_spill_store(vy_emitter *emitter, const vy_ins *ins);

/* emit_coarse.c: of coarse segments. Elements as words; the invocations that are launched for so
 * many elements. */
uint32_t vy_emit_load_wide(vy_emitter *emitter, const vy_ins *ins);
void vy_emit_store_wide(vy_emitter *emitter, const vy_ins *ins);
uint32_t vy_emit_unpack(vy_emitter *emitter, const vy_ins *ins);
uint32_t vy_emit_pack(vy_emitter *emitter, const vy_ins *ins);
uint32_t vy_emit_coarse_count(vy_emitter *emitter, uint32_t elements);

/* emit_atomic.c. */
uint32_t vy_emit_atomic(vy_emitter *emitter, const vy_ins *ins);
/* Of the workgroup, in the body, whose next block begins behind it. */
void vy_emit_barrier(vy_emitter *emitter);
/* The same elsewhere; gives the label of that block, which is to begin. */
uint32_t vy_emit_barrier_ways(vy_emitter *emitter);
/* One whose order of memory others than the workgroup rely on, in the same block. */
void vy_emit_full_barrier(vy_emitter *emitter);
void vy_emit_group_begin(vy_emitter *emitter, const vy_ins *ins);
/* All of the workgroup, for what is in its memory. */
void vy_emit_wait_for_group(vy_emitter *emitter);
uint32_t vy_emit_device_scope(vy_emitter *emitter);

/* emit_stage.c: VY_SSA_STAGE, VY_SSA_UNSTAGE; the variable that tells how many are staged. */
void vy_emit_stage(vy_emitter *emitter, const vy_ins *ins);
void vy_emit_unstage(vy_emitter *emitter, const vy_ins *ins);
uint32_t vy_emit_stage_total(vy_emitter *emitter);

/* emit_aggregate.c. First, which atomics are done once for each subgroup (false: out of memory);
 * whether one is; then that: `act` does it with the joined operand and gives the old value, in one
 * block. No value (0) where nothing reads the old one. */
bool vy_emit_find_aggregated(vy_emitter *emitter);
typedef uint32_t (*vy_aggregated_fn)(vy_emitter *emitter, const vy_ins *ins, const void *place,
                                     uint32_t x);
bool vy_emit_is_aggregated(const vy_emitter *emitter, const vy_ins *ins);
uint32_t vy_emit_aggregated(vy_emitter *emitter, const vy_ins *ins, uint32_t x,
                            vy_aggregated_fn act, const void *place);
/* VY_SSA_RANK, under maximal reconvergence. */
uint32_t vy_emit_rank(vy_emitter *emitter, const vy_ins *ins);

/* emit_printf.c: VY_SSA_PRINT. */
void vy_emit_print(vy_emitter *emitter, const vy_ins *ins);

/* emit_subgroup.c. */
uint32_t vy_emit_subgroup(vy_emitter *emitter, const vy_ins *ins);
bool vy_emit_subgroup_splits(const vy_emitter *emitter, const vy_ins *ins);

/* emit_input.c: what an invocation knows from outside. They may be asked for in any block: reading
 * is done in the prologue, so that it is done once. */
uint32_t vy_emit_builtin(vy_emitter *emitter, vyre_builtin builtin);
uint32_t vy_emit_input(vy_emitter *emitter, vy_input input);
uint32_t vy_emit_param(vy_emitter *emitter, const vy_ins *ins);
uint32_t vy_emit_binding_length(vy_emitter *emitter, uint32_t binding);
uint32_t vy_emit_signed_length(vy_emitter *emitter, uint32_t binding);
uint32_t vy_emit_host_index(vy_emitter *emitter, uint32_t slot);
/* In a grid of one workgroup. */
uint32_t vy_emit_is_element(vy_emitter *emitter);
/* In how many dimensions invocations are counted: by `grid over` there are no more than one. */
uint32_t vy_emit_element_axes(const vy_emitter *emitter);
/* Where module->code stands: a word of the parameter block, a constant of the workgroup's size, an
 * input variable of the entry point, loaded. */
uint32_t vy_emit_param_word(vy_emitter *emitter, uint32_t word);
/* Of what loops in bodies may begin or end with: llvmpipe puts what it finds in a uniform block in
 * place of such loads, and then leaves out the ends of loops that begin with it. There this, an
 * input that is zero in every grid that it takes, is joined to them. Made once in a module. */
uint32_t vy_emit_param_veil(vy_emitter *emitter);
uint32_t vy_emit_group_size(vy_emitter *emitter, uint32_t axis);
uint32_t vy_emit_group_volume(vy_emitter *emitter);
uint32_t vy_emit_builtin_variable(vy_emitter *emitter, SpvBuiltIn builtin);
/* LocalInvocationIndex, or what it is where a workgroup is known to have one row. */
uint32_t vy_emit_local_index(vy_emitter *emitter);
uint32_t vy_emit_push_word(vy_emitter *emitter, uint32_t byte);
uint32_t vy_emit_pass(vy_emitter *emitter);

#endif
