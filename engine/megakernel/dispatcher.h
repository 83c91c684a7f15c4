/* The dispatcher's parts: its programs, its queues with their memory, and the steps of a queue's
 * life: set up, launched slice by slice, finished. */
#ifndef VY_MEGAKERNEL_DISPATCHER_H
#define VY_MEGAKERNEL_DISPATCHER_H

#include "engine/device/thread.h"
#include "engine/megakernel/drain.h"
#include "engine/megakernel/geometry.h"
#include "engine/megakernel/lru.h"
#include "engine/megakernel/policy.h"
#include "engine/megakernel/queue_plan.h"
#include "engine/megakernel/speculation.h"
#include "engine/megakernel/statistics.h"
#include "vyre/dispatcher.h"

#include <stdatomic.h>

#define VY_MK_KEY_SIZE      32u /* of a variant, in bytes */
#define VY_MK_MAX_IN_FLIGHT 64u
#define VY_MK_IN_FLIGHT     4u /* by default */
#define VY_MK_SLICE_NS      4000000u
#define VY_MK_FIRST_ROUNDS  64u            /* of a first slice, before anything is known */
#define VY_MK_MAX_LAUNCH    VYRE_MAX_SLOTS /* items of one launch: what word 144 can name */
#define VY_MK_IO_WORDS      (VYRE_MAX_IO_SLOTS * VYRE_IO_WORDS)
#define VY_MK_MAX_BINDINGS  VYRE_MAX_BUFFERS
#define VY_MK_MAX_WAVES     4096u /* of one launch */

/* ---- Programs -------------------------------------------------------------------------------- */

/* What tells one draining program of a dispatcher from another. */
typedef struct vy_mk_variant {
    vy_drain_form form;
    vyre_claim claim;
    uint32_t workgroup;
    bool by_priority, in_waves, is_special, polls_io;
    uint32_t opcode; /* with is_special */
} vy_mk_variant;

/* Kept while it is in the table or has users. */
typedef struct vy_mk_program {
    vyre_program *program;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline; /* NULL on the interpreter */
    uint32_t users;
    bool is_listed;
} vy_mk_program;

/* ---- Queues ---------------------------------------------------------------------------------- */

typedef enum vy_mk_state {
    VY_MK_FREE,
    VY_MK_SET_UP,  /* its thread plans it */
    VY_MK_MAPPED,  /* the caller writes its items */
    VY_MK_READY,   /* nothing is in flight, and there is more to do */
    VY_MK_RUNNING, /* a slice is in flight */
    VY_MK_ENDED,   /* drained, or failed: `result` */
    VY_MK_DROPPED  /* nobody waits for the slice in flight */
} vy_mk_state;

/* Memory that a queue needs and the next one takes again. Mapped, or, where the device has no
 * memory that is the host's too, bound as host memory for each launch. */
typedef struct vy_mk_memory {
    vyre_device *device; /* that the buffers lie on */
    vyre_buffer buffer;  /* control, and the ring behind it; mapped */
    void *mapped;        /* NULL: there is no such memory */
    bool is_coherent;
    uint64_t ring_offset, ring_capacity; /* bytes */
    vyre_buffer result; /* of the host's memory: the control words that come back */
    void *result_mapped;
    bool is_result_coherent;
    void *host; /* a ring: of rings that come back, and where nothing is mapped */
    void *control;
    size_t control_capacity;
    void *debug_log;
    size_t debug_capacity;
} vy_mk_memory;

typedef struct vy_mk_queue {
    _Atomic(vy_mk_state) state; /* changed by who drives it, and looked at by all */
    bool is_driven;             /* by a thread, which alone touches the rest */
    uint64_t serial;
    vyre_queue_params params;
    vy_arena arena; /* of the plan */
    bool has_arena;

    vy_drain_form form;
    vy_mk_survey survey;
    vy_mk_plan plan;
    bool is_ring; /* of the caller's, which is `ring` */
    void *ring;
    uint32_t slot_count;
    bool is_in_place; /* the caller wrote the items into the ring */
    bool posts_io;    /* a ring has slots that may post requests */
    size_t control_size;
    size_t io_size; /* in bytes */
    vy_mk_recommendation recommendation;

    vy_mk_trial *trial; /* that this queue is a sample of, or NULL */
    vy_mk_way way;

    /* Progress. */
    vy_mk_variant variant;
    uint32_t wave, position;   /* what is launched next */
    uint32_t base;             /* the first item of the part that launches number from 0 */
    uint32_t pass_denied;      /* denied before this pass over the wave */
    uint32_t pass_requeues;    /* requeued before it */
    bool has_work_again;       /* requests were completed since the pass began */
    uint64_t round_ns;         /* what a round took last; 0: not known */
    uint64_t deadline, called; /* vy_clock_ns */
    vy_mk_program *program;    /* of the slice in flight */
    vyre_ticket slice;
    uint64_t slice_start;
    uint32_t slice_waves, slice_begin, slice_end, slice_rounds, slice_groups;
    bool slice_reads_ring, has_ring; /* the ring comes back with it; it lies in memory.host */
    uint64_t first_submit;
    vyre_device *device; /* that it runs on, and which of the dispatcher's that is */
    uint32_t generation;
    vy_mk_limits limits; /* of that device, as the next two */
    uint32_t most_groups;
    uint64_t offset_alignment;
    bool was_recovered;
    uint64_t executed_rounds;        /* of all slices */
    uint32_t fault_slot, fault_code; /* of the lowest that failed; fault_code 0: none */

    vyre_result result;
    uint64_t uploaded, read_back; /* bytes, by copies */
    vyre_queue_report report;

    /* From here on nothing is made zero for the next queue: memory is kept, the rest is written
     * before it is read. */
    vy_mk_memory memory;
    vyre_binding bindings[VY_MK_MAX_BINDINGS];
    uint32_t io[VY_MK_IO_WORDS]; /* io_size bytes */
    vyre_diag diag;
} vy_mk_queue;

/* Of VY_MK_COST_UNIT items, by vy_mk_way; 0: not known. */
#define VY_MK_COST_UNIT 1024u
typedef struct vy_mk_way_costs {
    uint64_t ns[2];
} vy_mk_way_costs;

/* ---- The dispatcher -------------------------------------------------------------------------- */

struct vyre_dispatcher {
    vyre_allocator allocator;
    vyre_device *device;            /* NULL: the interpreter */
    uint32_t generation;            /* of the device: how many were lost before */
    uint16_t id;                    /* in tickets */
    vy_arena arena;                 /* handlers, names, parameters */
    vyre_program *handlers_program; /* parsed again: its own */
    vyre_handler *handlers;
    uint32_t handler_count;
    vy_mk_effects effects;
    vyre_binding bindings[VY_MK_MAX_BINDINGS];
    uint32_t binding_count;
    uint32_t *params;
    uint32_t param_count;
    const char *io_function;
    uint32_t observable_count;
    vyre_claim claim;
    vyre_binding_mode bind_mode;
    uint64_t slice_ns;
    int (*recover)(void *user, vyre_device **out_device, vyre_binding *bindings, uint32_t count);
    void *recover_user;
    vy_mk_limits limits;
    uint32_t most_groups; /* workgroups that the device keeps resident */
    uint64_t offset_alignment;

    vy_mutex mutex;         /* of all below */
    vy_mutex compile_mutex; /* taken before the other: one program is made at a time */
    bool has_mutexes;
    vy_mk_topology topology;         /* of the last queue */
    atomic_uint_least64_t round_ns;  /* what a round took last; 0: not known */
    atomic_uint_least64_t launch_ns; /* what the shortest launch took; 0: not known */
    uint64_t serial;
    vy_mk_queue *queues;
    uint32_t queue_count;
    vy_mk_lru lru;
    vy_mk_program *programs[VY_MK_LRU_PIPELINES]; /* by the table's numbers */
    vy_mk_trial *trials;    /* of special programs: by handler, then by built-in opcode */
    vy_mk_way_costs *costs; /* likewise */
    vy_mk_statistics statistics;
    vy_mk_priority_totals totals;
    vyre_dispatcher_counters counters;
};

/* ---- dispatcher_program.c -------------------------------------------------------------------- */

/* The program of the queue's variant, made where there is none, with one user more;
 * *out_compile_ns: 0 where it was there. Errors: those of compiling and of pipelines. */
vyre_result vy_mk_program_take(vyre_dispatcher *d, const vy_mk_queue *q,
                               vy_mk_program **out_program, uint64_t *out_compile_ns,
                               vyre_diag *diag);
void vy_mk_program_give(vyre_dispatcher *d, vy_mk_program *program);
/* None has users. */
void vy_mk_programs_finish(vyre_dispatcher *d);

/* ---- dispatcher_trial.c ---------------------------------------------------------------------- */

/* Rows of trials that a dispatcher has. */
uint32_t vy_mk_trial_count(uint32_t handler_count);
/* Whether a queue of one opcode is drained by a program for it: by what was measured, or as a
 * sample of what is being measured. */
void vy_mk_trial_choose(vyre_dispatcher *d, vy_mk_queue *q);
/* What opcodes' own programs save of VY_MK_COST_UNIT items, where they were adopted: rows of
 * vy_mk_trial_count at most. */
uint32_t vy_mk_trial_list_savings(vyre_dispatcher *d, vy_mk_cost *out_savings);
/* What the sample cost. */
void vy_mk_trial_end(vyre_dispatcher *d, vy_mk_queue *q, vyre_result result);

/* ---- queue_memory.c -------------------------------------------------------------------------- */

/* Room for the queue's ring of `size` bytes and its host buffers (reads_ring: one that the ring
 * comes back to). *out_allocations: of device memory. */
vyre_result vy_mk_memory_reserve(vyre_dispatcher *d, vy_mk_queue *q, uint64_t size,
                                 uint32_t *out_allocations, vyre_diag *diag);
/* What they will take. */
uint64_t vy_mk_ring_capacity(uint64_t size);
uint64_t vy_mk_control_room(size_t size);
void vy_mk_memory_finish(vyre_dispatcher *d, vy_mk_memory *memory);
/* Host writes to the mapped ring reach the device, or the other way round. `offset`: of the ring.
 */
vyre_result vy_mk_memory_sync(const vy_mk_queue *q, uint64_t offset, uint64_t size,
                              vyre_mapped_sync direction, vyre_diag *diag);
/* Where the host writes the ring. */
static inline void *vy_mk_memory_ring(const vy_mk_memory *memory)
{
    return memory->mapped ? (unsigned char *)memory->mapped + memory->ring_offset : memory->host;
}
/* The control words go where the launch finds them; the launch's are in memory.control again. */
vyre_result vy_mk_memory_send_control(const vy_mk_queue *q, vyre_diag *diag);
vyre_result vy_mk_memory_fetch_control(vy_mk_queue *q, vyre_diag *diag);

/* ---- queue_set_up.c -------------------------------------------------------------------------- */

/* Checks everything, plans, and makes room; nothing is launched. A queue without work is ENDED. */
vyre_result vy_mk_queue_set_up(vyre_dispatcher *d, vy_mk_queue *q, const vyre_work_item *items,
                               uint32_t count, bool is_ring, void *ring, size_t ring_size,
                               vyre_diag *diag);

/* The same of a queue whose items the caller writes to *out_items: MAPPED. */
vyre_result vy_mk_queue_map(vyre_dispatcher *d, vy_mk_queue *q, uint32_t count,
                            vyre_work_item **out_items, vyre_diag *diag);
/* So many were written: READY, or ENDED. */
vyre_result vy_mk_queue_unmap(vyre_dispatcher *d, vy_mk_queue *q, uint32_t count, vyre_diag *diag);
/* From the beginning, on the dispatcher's device of now. */
vyre_result vy_mk_queue_restart(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag);

/* ---- queue_launch.c -------------------------------------------------------------------------- */

/* Starts the next slice: READY becomes RUNNING. */
vyre_result vy_mk_queue_launch(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag);
/* Waits for it until then; its results are in the queue's memory. TIMEOUT: it goes on. */
vyre_result vy_mk_queue_land(vyre_dispatcher *d, vy_mk_queue *q, uint64_t deadline,
                             vyre_diag *diag);

/* ---- queue_drive.c --------------------------------------------------------------------------- */

/* Goes on with a queue that this thread drives until it has ended or `deadline` passes (0: as far
 * as nothing blocks). TIMEOUT: there is more to do. */
vyre_result vy_mk_queue_drive(vyre_dispatcher *d, vy_mk_queue *q, uint64_t deadline,
                              vyre_diag *diag);

/* ---- recover.c --------------------------------------------------------------------------------
 */

/* After a loss: whether the queue goes on, on another device; *diag is clear then. */
bool vy_mk_queue_recover(vyre_dispatcher *d, vy_mk_queue *q, vyre_diag *diag);

/* ---- queues.c ----------------------------------------------------------------------------------
 */

/* The queue is to run on the dispatcher's device of now, with its bindings. Under the mutex. */
void vy_mk_queue_take_device(vyre_dispatcher *d, vy_mk_queue *q);
/* Waits for those in flight; all memory is given back. */
void vy_mk_queues_finish(vyre_dispatcher *d);

/* ---- dispatcher.c -----------------------------------------------------------------------------
 */

/* Limits of the device, or of the interpreter. */
vyre_result vy_mk_dispatcher_look_at_device(vyre_dispatcher *d, vyre_diag *diag);

/* ---- queue_finish.c -------------------------------------------------------------------------- */

/* The report as far as the queue is. */
vyre_result vy_mk_queue_tell(vy_mk_queue *q, vyre_diag *diag);
/* The part of it that planning gives, and the caller's arrays of lineage. */
void vy_mk_queue_tell_plan(vy_mk_queue *q);
/* Writes what is the caller's: ring, control, log, I/O queue. */
vyre_result vy_mk_queue_give_out(vy_mk_queue *q, vyre_diag *diag);

#endif
