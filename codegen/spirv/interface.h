/* How a module meets the engine, in numbers: bindings, the parameter block, push constants,
 * specialisation constants, records. Nothing else is needed from spirv/ by those who run modules.
 *
 * The modules' interface (docs/spirv-interface.md has it for people):
 *   set 0, binding b      the b-th non-shared buffer: runtime array of its elements as integers,
 *                         vectors of 32-bit ones as such
 *   set 0, binding n + 0  parameter block (VY_PARAM_*), a uniform block, n = binding count
 *   set 0, binding n + 1  records
 *   set 0, binding n + 2  spill slots: word w of invocation i at w * invocations + i
 *   set 0, binding n + 3  constant tables that are too large for the module
 *   set 0, binding n + 4  the state of a fixpoint with `until`
 * A module declares only what it uses.
 *
 * In the address form the parameter block is the only descriptor, at binding VY_ADDRESS_BLOCK;
 * behind the words that both forms have lie, from vy_param_addresses on, the 64-bit addresses of
 * the n bindings, then of records, spill slots, tables and the state. */
#ifndef VY_INTERFACE_H
#define VY_INTERFACE_H

#include "vyre/program.h" /* VYRE_MAX_HOST_LOOPS */

#define VY_HIDDEN_PARAMS  0u
#define VY_HIDDEN_STATE   1u
#define VY_HIDDEN_RECORDS 2u
#define VY_HIDDEN_SPILL   3u
#define VY_HIDDEN_TABLES  4u
#define VY_HIDDEN_COUNT   5u

/* Slots of the module of the strategy PERSISTENT alone, in the address form: the word that its
 * workgroups meet at, and the schedule of a pass. Their addresses lie behind the parameter block.
 */
#define VY_HIDDEN_SYNC     VY_HIDDEN_COUNT
#define VY_HIDDEN_SCHEDULE (VY_HIDDEN_COUNT + 1)

/* Slots that a module may have. */
#define VY_SLOT_COUNT(binding_count) ((binding_count) + VY_HIDDEN_SCHEDULE + 1)

/* Binding of the parameter block in the address form. */
#define VY_ADDRESS_BLOCK 0u

/* Words of the parameter block: word w is component w % 4 of vector w / 4. Uniform blocks have
 * arrays of vectors everywhere, and of single words only with a feature of their own. What most
 * modules read begins at byte 64, so that small programs find it in one line of a device's cache
 * for constants. */
enum {
    VY_PARAM_PASS_BASE = 0,   /* first pass of the chunk; not read where the state knows the pass */
    VY_PARAM_GROUPS = 1,      /* 3: logical workgroups in x, y, z */
    VY_PARAM_GROUP_TOTAL = 4, /* product of the three */
    VY_PARAM_INVOCATIONS = 5, /* group total x workgroup volume: stride of the spill slots */
    VY_PARAM_ZERO = 6,        /* 0, which no compiler knows */
    VY_PARAM_ELEMENTS = 16,   /* 3: invocations that run, in a workgroup-agnostic program */
    /* Of the modules that use the state and run one segment, which have a block for each of these:
     */
    VY_PARAM_TURN = 19,   /* number of the pass mod VY_STATE_TURNS */
    VY_PARAM_LEADS = 20,  /* 1 in the first segment execution of a pass, else 0 */
    VY_PARAM_LENGTHS = 22 /* by binding: elements; then the words of the program's params */
};

/* Word of the first address, a multiple of 2; an address is its low word, then its high word. */
static inline uint32_t vy_param_addresses(uint32_t binding_count, uint32_t param_words)
{
    return (VY_PARAM_LENGTHS + binding_count + param_words + 1) / 2 * 2;
}
/* Words of the whole block, in both forms: behind the bindings' addresses those of the hidden
 * buffers, from VY_HIDDEN_STATE on. */
static inline uint32_t vy_param_words(uint32_t binding_count, uint32_t param_words)
{
    return vy_param_addresses(binding_count, param_words) +
           2 * (binding_count + VY_HIDDEN_COUNT - 1);
}

/* The block as a module declares it, and what is bound for it: whole vectors. */
static inline uint32_t vy_param_vectors(uint32_t binding_count, uint32_t param_words)
{
    return (vy_param_words(binding_count, param_words) + 3) / 4;
}
#define VY_PARAM_VECTOR_SIZE 16u

/* Behind the words of the block, in the same uniform block, for the module of the strategy
 * PERSISTENT: the addresses of the sync word and of the schedule, and how often a workgroup looks
 * for the others before it gives up. */
enum {
    VY_TAIL_SYNC = 0,     /* 2 */
    VY_TAIL_SCHEDULE = 2, /* 2 */
    VY_TAIL_PATIENCE = 4,
    VY_TAIL_WORDS = 5
};

/* The block with its tail. */
static inline uint32_t vy_tailed_vectors(uint32_t binding_count, uint32_t param_words)
{
    return (vy_param_words(binding_count, param_words) + VY_TAIL_WORDS + 3) / 4;
}

/* The schedule of a pass: a row for each segment execution. */
enum {
    VY_ROW_SEGMENT = 0, /* with VY_ROW_MEETS where all workgroups meet before it */
    VY_ROW_INDICES = 1, /* host loop indices by slot */
    VY_ROW_WORDS = 1 + VYRE_MAX_HOST_LOOPS
};
#define VY_ROW_MEETS 0x80000000u

/* The sync word: workgroups that have arrived since the launch began; VY_SYNC_STALLED: one waited
 * in vain, and all leave. */
#define VY_SYNC_STALLED 0x80000000u

/* Push constants, in bytes. */
enum {
    VY_PUSH_EXECUTION = 0, /* index of this segment execution in the pass */
    VY_PUSH_PASS = 4,      /* index of the pass in its chunk; pass = base + this */
    VY_PUSH_INDICES = 8,   /* host loop indices by slot */
    VY_PUSH_SIZE = 8 + 4 * VYRE_MAX_HOST_LOOPS,
    /* What a launch of the module of the strategy PERSISTENT runs, in place of these: rows [FIRST,
     * END) of each of PASSES passes. */
    VY_PUSH_LAUNCH_PASSES = VY_PUSH_INDICES,
    VY_PUSH_LAUNCH_FIRST = VY_PUSH_INDICES + 4,
    VY_PUSH_LAUNCH_END = VY_PUSH_INDICES + 8
};

/* Specialisation constants. */
enum {
    VY_SPEC_WORKGROUP_X = 0, /* only in workgroup-agnostic programs */
    VY_SPEC_WORKGROUP_Y = 1,
    VY_SPEC_WORKGROUP_Z = 2,
    VY_SPEC_FOLDED = 3,            /* bool: the launched grid is not the logical one; the launched
                                      workgroups count linearly, x fastest, up to
                                      VY_PARAM_GROUP_TOTAL */
    VY_SPEC_NATIVE_DIVIDE = 4,     /* bool: OpFDiv is correctly rounded on this device */
    VY_SPEC_NATIVE_SQRT = 5,       /* bool: so is Sqrt */
    VY_SPEC_NATIVE_FMA = 6,        /* bool: Fma of f32 is rounded once, denormals kept */
    VY_SPEC_NATIVE_DIVIDE_F64 = 7, /* bool: the same of f64 */
    VY_SPEC_NATIVE_SQRT_F64 = 8,
    VY_SPEC_NATIVE_FMA_F64 = 9,
    VY_SPEC_ZERO_SUMS = 10, /* bool: this device leaves out additions of a zero that it knows, which
                           is wrong for -0 + 0 */
    VY_SPEC_VEILED_PARAMS = 11, /* bool: this device must not know that the body's values of the
                                   parameter block are those of a uniform block */
    VY_SPEC_TURNS = 12 /* bool: this device runs the invocations of a workgroup on one thread, by
                          turns between barriers, so that these need no order of memory */
};

/* Words of the state, which the modules of programs with `until` use that run one segment. While
 * passes run, element 0 of the flag is word `pass mod VY_STATE_TURNS` of it. A module reads the
 * word of the pass before and does nothing where that is zero; the first segment execution of a
 * pass makes the word of the next pass zero whether it does something or not. Beside each word
 * stands how many passes have run before that one, which the first execution of the pass before
 * hands on, with one more where it did something: the number of a pass that runs. At the start of a
 * dispatch word 0 is zero, as is its count, and the word of the pass before it is not. */
enum {
    VY_STATE_FLAGS = 0,
    VY_STATE_TURNS = 4,
    VY_STATE_PASSES = 4, /* VY_STATE_TURNS */
    VY_STATE_MODULE_WORDS = VY_STATE_PASSES + VY_STATE_TURNS
};

/* Words of the records buffer, all zero at the start of a dispatch: the first (pass, execution)
 * that leaves a record claims it by compare-and-exchange of pass + 1, then of execution + 1; only
 * records of that execution count. A site's word is the maximum of ~(linear invocation). Executions
 * that can leave records are ordered by the hazard on this buffer. */
enum { VY_RECORD_PASS = 0, VY_RECORD_EXECUTION = 1, VY_RECORD_SITES = 4 };

#endif
