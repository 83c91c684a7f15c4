/* The reference interpreter: runs a program on the host, without Vulkan, by the obvious reading of
 * docs/language.md. The oracle that devices are compared with. */
#ifndef VYRE_INTERP_H
#define VYRE_INTERP_H

#include "vyre/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One buffer's contents, by declaration index among the non-shared buffers. For `in`, `uniform` and
 * `inout` the caller fills `data` (count elements of the buffer's type); `out` is written;
 * `scratch` too where data is not NULL. The declared count, where there is one, must equal `count`;
 * count UINT32_MAX asks for the declared one, and the interpreter then needs no data. */
typedef struct vyre_host_buffer {
    void *data;
    uint32_t count;
} vyre_host_buffer;

/* The record of a trap or of a while loop that used up its budget: the first by pass, segment, then
 * linear invocation (linear workgroup x workgroup volume + linear local index). */
typedef enum vyre_record_kind {
    VYRE_RECORD_NONE,
    VYRE_RECORD_TRAP,
    VYRE_RECORD_LOOP_LIMIT,
    /* Accesses out of bounds, of programs that vyre_program_record_bounds was called with. */
    VYRE_RECORD_LOAD_OUTSIDE,
    VYRE_RECORD_STORE_OUTSIDE,
    VYRE_RECORD_ATOMIC_OUTSIDE
} vyre_record_kind;
/* What JSON and tools call it: "trap", "loop_limit", "store_outside"; "none". */
VYRE_API const char *vyre_record_kind_text(vyre_record_kind kind);

/* The first trap or exhausted loop of a run. */
typedef struct vyre_fault_record {
    vyre_record_kind kind;
    /* Of a trap; of an access out of bounds the binding, VYRE_DIAG_NONE where there is none: shared
     * buffers, private arrays, tables. */
    uint32_t code;
    uint32_t line, column;
    uint32_t pass, segment;
    uint32_t invocation;
} vyre_fault_record;

typedef enum vyre_convergence {
    VYRE_CONVERGENCE_NONE, /* no `until` */
    VYRE_CONVERGENCE_YES,  /* a pass left the flag zero */
    VYRE_CONVERGENCE_LIMIT /* the pass limit was reached first */
} vyre_convergence;

/* One run on the interpreter. */
typedef struct vyre_interp_params {
    uint32_t struct_size;
    const vyre_allocator *allocator;
    vyre_host_buffer *buffers; /* one for each non-shared buffer, in declaration order */
    uint32_t buffer_count;
    /* Words of all params, in declaration order: one for each (of 8 and 16 bits the low ones), two
     * for 64 bits, the low one first, and one for each component of a vector. */
    const uint32_t *params;
    uint32_t param_count; /* words */
    /* The grid: workgroups, or elements (invocations, rounded up to workgroups), or neither where
     * the program has `grid over`, `grid of` or `grid from`. */
    uint32_t groups[3];
    uint32_t elements[3];
    uint32_t workgroup[3]; /* an override where the program allows one; 0 for its own */
    uint32_t passes;       /* overrides the fixpoint's limit; 0 keeps it */
    int flush_denormals;   /* 1: f32 denormals are flushed to zero with the sign kept */
    int detect_races;      /* 1: plain conflicting accesses are counted in the report */
    uint32_t max_groups;   /* as in vyre_dispatch_params */
    /* Lanes of a subgroup where the program does not fix it: a power of two of 1 to 128; 0 is 32.
     * The last subgroup of a workgroup may have fewer invocations. */
    uint32_t subgroup_width;
    /* Called with each line that a printf statement prints; NULL: none does. In the order of
     * passes, segments and workgroups (by linear number), then statement by statement, each for the
     * invocations of the workgroup that reach it together, by their number; must not call into the
     * library. */
    void (*print)(void *user, const vyre_printf_line *line);
    void *print_user;
} vyre_interp_params;

/* What a run on the interpreter did. */
typedef struct vyre_interp_report {
    uint32_t passes;
    vyre_convergence convergence;
    uint32_t segments; /* segment executions in one pass */
    vyre_fault_record record;
    uint64_t race_count;  /* elements with a plain conflicting access, with detect_races */
    vyre_diag first_race; /* message and place of the first one */
    uint32_t groups[3];   /* workgroups that ran */
    int is_grid_clamped;  /* as in vyre_report */
    /* Of a record of an access out of bounds: what was accessed, which element (a negative index as
     * its two's complement of the index's width) of how many. The name is the program's. */
    const char *outside_name;
    uint64_t outside_index;
    uint32_t outside_length;
} vyre_interp_report;

/* Runs the program on the calling thread. Buffers and parameters are checked as a dispatch checks
 * them, but for limits of devices. A trap is no error. Errors: INVALID_ARGUMENT, INVALID_PROGRAM,
 * OUT_OF_HOST_MEMORY. */
VYRE_API VYRE_CHECK vyre_result vyre_interp_run(const vyre_program *program,
                                                const vyre_interp_params *params,
                                                vyre_interp_report *out_report, vyre_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
