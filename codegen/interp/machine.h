/* The interpreter's inside. A run is three things: `vy_plan`, what is known from the program alone
 * (expression columns, frames, the host's walk over segments); `vy_machine`, the memory and the
 * lanes of one workgroup at a time; and the walk of run.c over passes, segments and workgroups. One
 * invocation of a workgroup is a lane. Every value is a column: 64 bits per lane (vy_type_bits); a
 * vector takes one column after the other for its components. A statement is executed for all its
 * active lanes before the next one, so a barrier has nothing to wait for, and the lanes that a
 * subgroup operation sees are those that reach it.
 * Thread-safety: external. */
#ifndef VY_INTERP_MACHINE_H
#define VY_INTERP_MACHINE_H

#include "codegen/interp/eval.h"
#include "codegen/interp/watch.h"

#define VY_INTERP_MAX_VOLUME     1024u
#define VY_INTERP_MAX_SUBGROUP   128u
#define VY_INTERP_MAX_SEGMENTS   65536u
#define VY_INTERP_MAX_HOST_TRIPS (1u << 20)
#define VY_INTERP_MAX_KEPT_SIZE  ((uint64_t)2 << 30)

/* ---- Plan ------------------------------------------------------------------------------------ */

typedef enum vy_host_kind {
    VY_HOST_STRETCH, /* statements [first, first + count) of stretch_stmts; segment: its number */
    VY_HOST_FOR,     /* stmt; target: behind its end */
    VY_HOST_FOR_END, /* target: its VY_HOST_FOR */
    VY_HOST_IF,      /* stmt; target: where to go when false */
    VY_HOST_JUMP     /* target */
} vy_host_kind;

typedef struct vy_host_step {
    uint8_t kind;
    uint32_t stmt, target;
    uint32_t first, count, segment;
} vy_host_step;

typedef struct vy_plan {
    uint32_t *expr_column;  /* by expression: its first column within its statement's */
    uint32_t *stmt_columns; /* by statement: columns that its ranges take together */
    bool *has_barrier;      /* by statement: WHILE with a barrier or uniform load inside */
    uint32_t columns;       /* of the deepest chain of calls */
    uint32_t frames;
    VY_VEC(vy_host_step) steps;
    VY_VEC(uint32_t) stretch_stmts;
    bool *is_kept;          /* by variable: lives across segments */
    bool *is_host_index;    /* by variable */
    uint32_t segment_count; /* static ones */
    uint32_t host_scratch;  /* words that the longest host expression needs */
    vy_prints prints;
} vy_plan;

/* Everything in `arena`. Errors: OUT_OF_HOST_MEMORY; INVALID_PROGRAM for what no validated program
 * has. */
vyre_result vy_plan_build(const vyre_program *program, vy_prints prints, vy_arena *arena,
                          vy_plan *out_plan, vyre_diag *diag);

/* ---- Arguments ------------------------------------------------------------------------------- */

typedef struct vy_bound {
    uint32_t *lengths; /* by binding */
    uint32_t *params;  /* words; bools are 0 or 1 */
    uint32_t groups[3], size[3];
    uint32_t elements[3];
    bool limited; /* invocations at or beyond elements run nothing */
    uint32_t volume;
    uint32_t group_count; /* linear */
    bool is_grid_clamped; /* `grid from`: the buffer has more workgroups than may run */
    uint32_t passes;
    uint32_t subgroup_width;
} vy_bound;

/* Checks all arguments but the data behind them; writes nothing outside out_bound. */
vyre_result vy_bind(const vyre_program *program, const vyre_interp_params *params,
                    const vy_plan *plan, vy_arena *arena, vy_bound *out_bound, vyre_diag *diag);

/* ---- Races ----------------------------------------------------------------------------------- */

typedef enum vy_access {
    VY_ACCESS_LOAD,
    VY_ACCESS_STORE,
    VY_ACCESS_ATOMIC_LOAD,
    VY_ACCESS_ATOMIC,
    VY_ACCESS_COUNT
} vy_access;

/* Who made one kind of access to one element: two different invocations of the latest barrier
 * epoch, and one of an earlier workgroup of this segment. 0 none, else linear invocation + 1. */
typedef struct vy_trace {
    uint64_t epoch;
    uint32_t first, second, earlier_group;
} vy_trace;

typedef struct vy_shadow {
    vy_trace traces[VY_ACCESS_COUNT];
    bool reported;
} vy_shadow;

/* Epochs grow for ever; what an epoch before these belongs to is told by comparing. */
typedef struct vy_race_check {
    bool enabled;
    uint64_t epoch, group_begin, segment_begin;
    uint64_t count;
    vyre_diag first;
} vy_race_check;

/* ---- Machine --------------------------------------------------------------------------------- */

typedef struct vy_memory {
    uint8_t *bytes;
    uint32_t count; /* elements */
    uint8_t type;
    uint8_t components, component_size, element_size;
    vy_shadow *shadows; /* by element; NULL without the race check */
} vy_memory;

typedef enum vy_lane_state {
    VY_LANE_RUNS,
    VY_LANE_BREAK,
    VY_LANE_CONTINUE,
    VY_LANE_RETURN
} vy_lane_state;

typedef enum vy_frame_kind {
    VY_FRAME_STRETCH, /* the root: statements of a stretch */
    VY_FRAME_LIST,    /* a body that runs once */
    VY_FRAME_IF,      /* the first branch, with the second one still to come */
    VY_FRAME_SWITCH,
    VY_FRAME_FOR,
    VY_FRAME_WHILE,
    VY_FRAME_CALL
} vy_frame_kind;

/* Blocks of lane words that belong to a frame, each `volume` long. */
typedef enum vy_block {
    VY_BLOCK_ACTIVE,  /* the lanes that run the frame's statements, ascending */
    VY_BLOCK_WAITING, /* IF: lanes of the second branch; SWITCH, FOR, WHILE: lanes still inside */
    VY_BLOCK_A,       /* FOR: index; SWITCH: the case chosen, by place in WAITING */
    VY_BLOCK_B,       /* FOR: step */
    VY_BLOCK_C,       /* FOR: trips left */
    VY_BLOCK_COUNT
} vy_block;

typedef struct vy_frame {
    uint8_t kind;
    bool testing;  /* WHILE: the condition is being evaluated */
    uint32_t stmt; /* what opened it */
    uint32_t next; /* the statement to execute next, 0 at the end; STRETCH: place in it */
    uint32_t active, waiting;
    uint32_t columns;      /* first expression column of its statements */
    uint32_t budget;       /* WHILE with a barrier: trips left */
    uint32_t next_case;    /* SWITCH */
    uint32_t call;         /* 1 + the innermost CALL frame at or below it, 0 in the body */
    uint64_t *result;      /* CALL: column of the value */
    uint32_t pending;      /* statement whose expressions are being evaluated, 0 none */
    uint32_t phase, entry; /* which range of it, and the next entry */
} vy_frame;

typedef struct vy_machine {
    const vyre_program *program;
    const vy_plan *plan;
    const vy_bound *bound;
    vy_memory *buffers; /* by declaration, shared ones too */
    uint32_t volume;
    bool flush_denormals;
    /* Columns. */
    uint64_t *columns;      /* of expressions */
    uint64_t **vars;        /* by variable, for the current workgroup; arrays element-major */
    uint32_t *kept_vars;    /* the kept variables */
    uint64_t **kept_values; /* theirs for all workgroups, one workgroup after the other */
    uint32_t kept_count;
    uint32_t *lane_words;   /* VY_BLOCK_COUNT blocks per frame */
    uint8_t *states;        /* vy_lane_state by lane */
    uint32_t *budgets;      /* while trips left in this segment, by lane */
    uint32_t *local_ids[3]; /* by lane */
    vy_frame *frames;
    uint32_t depth; /* frames in use */
    bool jumped;    /* some lane may have a state other than RUNS */
    /* Where it stands. */
    uint32_t stretch_first, stretch_count;
    uint32_t group[3], group_index;
    uint32_t pass, segment;
    uint32_t *host_indices; /* by variable */
    uint32_t *host_scratch;
    vyre_fault_record record;
    bool segment_recorded; /* `record` is of the segment execution that runs */
    uint32_t record_site;
    const vy_stmt *record_stmt; /* that left it */
    uint64_t outside_index;     /* of an access out of bounds */
    uint32_t outside_length;
    vy_race_check races;
    uint32_t execution; /* of the pass */
    vy_interp_watch *watch;
    void (*print)(void *user, const vyre_printf_line *line);
    void *print_user;
} vy_machine;

/* All memory but buffers; errors: OUT_OF_HOST_MEMORY. */
vyre_result vy_machine_init(vy_machine *machine, const vyre_program *program, const vy_plan *plan,
                            const vy_bound *bound, vy_arena *arena, vyre_diag *diag);
/* Makes every variable that the stretch declares zero for all invocations of the grid. */
void vy_machine_begin_segment(vy_machine *machine);
/* Runs the stretch for workgroup `index` (linear). */
void vy_machine_run_group(vy_machine *machine, uint32_t index);

/* Columns of a variable together, in values. */
size_t vy_machine_var_size(const vy_machine *machine, uint32_t var);
/* A statement that opens no frame and does not jump, its expressions evaluated. */
void vy_machine_execute(vy_machine *machine, const vy_frame *frame, const vy_stmt *stmt);

uint32_t *vy_frame_block(const vy_machine *machine, const vy_frame *frame, vy_block block);

/* Evaluates exprs[index], no CALL, for the lanes; its operands have been. `columns`: the frame's.
 */
void vy_machine_eval_entry(vy_machine *machine, uint32_t index, uint32_t columns,
                           const uint32_t *lanes, uint32_t count);
uint64_t *vy_machine_column(const vy_machine *machine, uint32_t expr, uint32_t columns);
/* Copies the columns of `components` for the lanes. */
void vy_machine_copy(const vy_machine *machine, uint64_t *to, const uint64_t *from,
                     uint32_t components, const uint32_t *lanes, uint32_t count);
/* A PRINTF statement, where lines are asked for. */
void vy_machine_print(const vy_machine *machine, const vy_frame *frame, const vy_stmt *stmt);
/* A SUBGROUP statement: the active lanes of the frame, subgroup by subgroup. */
void vy_machine_subgroup(vy_machine *machine, const vy_frame *frame, const vy_stmt *stmt);

/* Accesses of one lane, with bounds and race checks. Loads give, and stores take, the components
 * `volume` apart. */
void vy_machine_load(vy_machine *machine, uint32_t buffer, vyre_type index_type, uint64_t index,
                     uint32_t lane, vy_loc loc, uint64_t *out);
void vy_machine_store(vy_machine *machine, const vy_stmt *stmt, vyre_type index_type,
                      uint64_t index, const uint64_t *value, uint32_t lane);
uint64_t vy_machine_atomic(vy_machine *machine, const vy_stmt *stmt, vyre_type index_type,
                           uint64_t index, const uint64_t *operands, uint32_t lane);
/* What an element of that type keeps of the value stored: all of it, but of bf16. */
uint64_t vy_machine_stored(vyre_type type, uint64_t value);

/* Keeps the first record by (pass, segment execution, invocation, site). */
void vy_machine_record(vy_machine *machine, const vy_stmt *stmt, uint32_t lane, uint32_t columns);
uint32_t vy_machine_invocation(const vy_machine *machine, uint32_t lane);

void vy_race_barrier(vy_race_check *races);
void vy_race_group(vy_race_check *races);
void vy_race_segment(vy_race_check *races);
/* An access by machine's lane to element `index` (in bounds) of the buffer. */
void vy_race_access(vy_machine *machine, uint32_t buffer, uint32_t index, vy_access access,
                    uint32_t lane, vy_loc loc);

#endif
