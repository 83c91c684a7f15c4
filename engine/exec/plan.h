/* The commands of one chunk of a dispatch, decided without Vulkan: what runs, in which order, and
 * the barriers that hazards need, no others. record.c carries a list out. */
#ifndef VY_EXEC_PLAN_H
#define VY_EXEC_PLAN_H

#include "codegen/kernel.h"
#include "engine/device/barrier.h"

/* A chunk is short enough for a display's watchdog, and its command buffer for memory. */
#define VY_CHUNK_DISPATCHES 4096u

#define VY_WHOLE_STATE_WORDS 2u /* vy_kernel_whole_words: passes, whether it converged */

#define VY_MAX_LANES 2u /* chunks in flight of one dispatch */

/* Memory, as commands and hazards name it: bindings are 0 .. 23, the numbers are bits of masks. */
enum {
    VY_MEM_STATE = 24,      /* the dispatch's state, but for what follows of it below */
    VY_MEM_BLOCK = 25,      /* parameter blocks */
    VY_MEM_HOST_BLOCK = 26, /* what the host writes: copied there, and the state's start */
    VY_MEM_UPLOAD = 27,
    VY_MEM_READBACK = 28,
    VY_MEM_CRUMBS = 29,
    VY_MEM_STATE_START = 30, /* of the host block: what STATE is at first */
    VY_MEM_FLAGS = 31,       /* VY_STATE_TURNS of them: the state's flag words */
    VY_MEM_PASSES = VY_MEM_FLAGS + VY_STATE_TURNS, /* likewise: the counts beside them */
    VY_MEM_SYNC = VY_MEM_PASSES + VY_STATE_TURNS,  /* where workgroups that stay meet */
    VY_MEM_FLAG = 61,    /* of these masks: what the flag is in the pass */
    VY_MEM_RECORDS = 62, /* as in vy_kernel_segment's masks */
    VY_MEM_SPILL = 63,
    VY_MEM_COUNT = 64
};

typedef enum vy_command_kind {
    VY_COMMAND_BARRIER,
    VY_COMMAND_DISPATCH,
    VY_COMMAND_DISPATCH_INDIRECT, /* by the arguments in STATE */
    VY_COMMAND_FILL,
    VY_COMMAND_COPY,
    VY_COMMAND_TIMESTAMP,
    VY_COMMAND_CRUMB, /* notes in host memory which dispatch comes next */
    VY_COMMAND_GRID,  /* writes the arguments and the parameter block by `grid from` */
    VY_COMMAND_WHOLE, /* all executions of `pass` passes by one dispatch */
    /* By one dispatch of workgroups that stay: from `execution` on as many as `word` says, in each
     * of `pass` passes, the first of which is in phase `block`. */
    VY_COMMAND_PERSISTENT
} vy_command_kind;

enum {
    VY_TIME_BEGIN, /* before the first command */
    VY_TIME_FIRST, /* before the first dispatch */
    VY_TIME_LAST,  /* after the last dispatch */
    VY_TIME_END,   /* after the last command */
    VY_TIME_COUNT
};

typedef struct vy_command {
    uint8_t kind;
    uint8_t target, source; /* VY_MEM_*: FILL, COPY; TIMESTAMP: VY_TIME_* in target */
    bool is_by_kernel; /* FILL, COPY: by a dispatch, with the transfer's block of that number */
    uint32_t block;
    vy_barrier barrier;
    /* Index in the pass; DISPATCH: what is pushed of the pass, CRUMB: its index in the chunk. */
    uint32_t execution, pass;
    uint32_t word; /* FILL */
    uint64_t target_offset, source_offset, size;
} vy_command;

/* What a segment touches, with every binding that shares memory with what it names. */
typedef struct vy_touch {
    uint64_t reads, writes;
} vy_touch;
/* `alias` by binding, as vy_shape_overlaps gives it. */
vy_touch vy_touch_of(const vy_kernel_segment *segment, const uint64_t *alias,
                     uint32_t binding_count);

/* What lies on the other side of a chunk's ends. */
typedef enum vy_border {
    VY_BORDER_NONE,   /* nothing, or the host makes the barrier */
    VY_BORDER_ENGINE, /* commands of the engine, earlier on the queue */
    VY_BORDER_ALL     /* any commands of the host's */
} vy_border;

typedef struct vy_chunk_input {
    const vy_execution *executions; /* of a pass */
    uint32_t execution_count;
    const vy_touch *touches; /* by segment */
    const uint64_t *alias;   /* by binding */
    uint32_t binding_count;
    int32_t until;  /* binding of the flag, or -1 */
    uint32_t phase; /* `until`: number of the chunk's first pass mod VY_STATE_TURNS */
    bool has_grid;  /* the device reads the grid from ... */
    uint32_t grid;  /* ... this binding */
    bool serialize; /* a barrier before everything: for debugging */
    bool has_crumbs;
    bool is_whole; /* one dispatch runs all of the chunk's passes and writes SPILL */
    /* One dispatch runs all of the chunk's executions and passes and uses SYNC, which is copied to
     * byte sync_target of READBACK. */
    bool is_persistent;
    uint64_t sync_target;
    bool is_direct; /* parameter blocks are read where the host wrote them */
    bool has_timestamps;
    /* FILL and COPY, before the first pass and after the last. */
    const vy_command *prologue, *epilogue;
    uint32_t prologue_count, epilogue_count;
    /* The chunk: executions [first, first + count) of each of `passes` passes; several passes only
     * where it holds whole ones. */
    uint32_t first, count, passes;
    bool has_flag, reads_state;
    vy_command flag;  /* the copy of a flag word to the flag's buffer, before the epilogue */
    vy_command state; /* the copy of STATE to READBACK at the end; of a whole chunk it is the two
                         words that SPILL has of it */
    /* Of a whole chunk: bytes between the words of SPILL, and where in the state they go. */
    uint64_t whole_stride, whole_targets[VY_WHOLE_STATE_WORDS];
    uint64_t host_reads; /* what the host reads after it where it lies: READBACK, bindings */
    vy_border before, after;
} vy_chunk_input;

/* What an execution of a pass of the chunk touches, the flag's words of that pass among it. */
vy_touch vy_chunk_touch(const vy_chunk_input *input, uint32_t execution, uint32_t pass);

typedef struct vy_chunk_plan {
    VY_VEC(vy_command) commands;
    /* moves: transfers by kernels, and the grid's. */
    uint32_t dispatches, moves, barriers;
    uint32_t elided; /* dispatches that follow one they need no barrier after */
} vy_chunk_plan;

/* Memory from the arena; false when it failed. */
bool vy_chunk_plan_build(const vy_chunk_input *input, vy_arena *arena, vy_chunk_plan *out_plan);

/* By execution of a pass: whether workgroups that stay have to meet before it, in any pass. What an
 * invocation spills is its own there. */
void vy_plan_meetings(const vy_execution *executions, uint32_t count, const vy_touch *touches,
                      bool *out_meets);

/* How many passes of so many dispatches a chunk holds: at least 1. */
uint32_t vy_chunk_passes(uint32_t execution_count);
/* The passes of the chunk that begins at that pass of a fixpoint with `until`, if the limit allows:
 * growing with the root of those before, but enough that the host, which looks when a chunk ends,
 * is back before the next one does. Behind convergence what is left of a chunk and the next one
 * only skip.
 */
uint32_t vy_chunk_ladder(uint32_t pass, uint32_t execution_count, uint64_t group_count);
/* Whether the next chunk is submitted while that one runs. The first ones end so soon that skipping
 * another chunk would cost more than the host's looking. */
bool vy_chunk_has_next_ahead(uint32_t pass, uint32_t execution_count, uint64_t group_count);

#endif
