/* The megakernel dispatcher: many small operations in one launch. A queue of work items is planned
 * on the host (duplicates, dependencies, order), drained by one kernel that knows all of the
 * caller's handlers, and reported. docs/megakernel.md says when that is faster than dispatches of
 * their own; megakernel.h has the words of queues and the built-in operations. */
#ifndef VYRE_DISPATCHER_H
#define VYRE_DISPATCHER_H

#include "vyre/dispatch.h"
#include "vyre/megakernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keeps device, program and resident buffers in use until it is destroyed. Thread-safety: safe,
 * apart from create and destroy: any number of threads may dispatch, also from within io callbacks.
 */
typedef struct vyre_dispatcher vyre_dispatcher;

/* ---- Handlers -------------------------------------------------------------------------------- */

/* What a handler does to what its item names: input (argument 0) and output (argument 1) are
 * handles, of which nothing is known but whether two are equal. Duplicates are dropped and items
 * are ordered by this alone, so it must be true. 0: it touches nothing that has a name. */
#define VYRE_EFFECT_READS_INPUT  1u
#define VYRE_EFFECT_WRITES_INPUT 2u
#define VYRE_EFFECT_READS_OUTPUT 4u
/* All that the output holds is written anew; a handler that leaves parts of it as they were reads
 * it as well. */
#define VYRE_EFFECT_WRITES_OUTPUT  8u
#define VYRE_EFFECT_READS_CONTROL  16u /* any word of the control buffer */
#define VYRE_EFFECT_WRITES_CONTROL 32u
/* What it writes follows from its input and param, and there is nothing else that it does. */
#define VYRE_EFFECT_PURE 64u
/* Run twice with nothing between it leaves what once leaves, input and output being different. */
#define VYRE_EFFECT_IDEMPOTENT 128u
/* On one output, items of this opcode may run in any order and at the same time (atomics). */
#define VYRE_EFFECT_COMMUTATIVE 256u
/* Nothing is known: it may read and write what its input and its output name. */
#define VYRE_EFFECT_OPAQUE 512u
/* What it touches no handle names: every item before runs before it, every later one after it. */
#define VYRE_EFFECT_ORDERS_ALL 1024u
/* It may give VYRE_HANDLER_REQUEUE or VYRE_HANDLER_YIELD: its queues are drained as rings. */
#define VYRE_EFFECT_REQUEUES 2048u

/* What a handler's function gives: 0: the item is done; 2 to 255: it ends as FAULT with that code
 * (of vyre_slot_fault, or from 16 on the caller's to choose); all else is VYRE_FAULT_HANDLER. */
#define VYRE_HANDLER_DONE 0u
/* The slot is given back, to be run again: soon, or behind what else waits. Only with
 * VYRE_EFFECT_REQUEUES. */
#define VYRE_HANDLER_REQUEUE 256u
#define VYRE_HANDLER_YIELD   257u

/* What is done for an opcode of the user's. */
typedef struct vyre_handler {
    uint32_t opcode; /* a user's: 8 to 0xffef, 0x10000 to 0x7fffffff */
    /* A function of the handlers' program: (slot: u32, a0: u32, ...: u32) -> u32 with up to 12
     * arguments behind the slot; those that an item has not are 0. The slot is where the item lies
     * in the queue as it is drained, which planning may change. */
    const char *function;
    uint32_t effects; /* VYRE_EFFECT_* */
} vyre_handler;

/* How invocations take items. Results are the same. */
typedef enum vyre_claim {
    VYRE_CLAIM_AUTO,     /* WORKGROUP, on processors LANE, as was measured */
    VYRE_CLAIM_LANE,     /* each for itself: for items of very different length */
    VYRE_CLAIM_SUBGROUP, /* subgroups together; needs VK_KHR_shader_maximal_reconvergence */
    VYRE_CLAIM_WORKGROUP /* workgroups together: for short items */
} vyre_claim;

/* How a dispatcher is made. */
typedef struct vyre_dispatcher_params {
    uint32_t struct_size;
    const vyre_allocator *allocator; /* kept */
    /* Buffers, parameters and functions of the handlers, by text or by the builder; its kernel is
     * not used. Names beginning with mk_ are the dispatcher's. NULL: built-in operations alone. */
    const vyre_program *program;
    const vyre_handler *handlers;
    uint32_t handler_count;
    /* For each buffer of the program that is not shared, in the order of declaration: RESIDENT, or
     * NONE for scratch. */
    const vyre_binding *bindings;
    uint32_t binding_count;
    const uint32_t *params; /* words of the program's parameters */
    uint32_t param_count;
    /* Of the program: (kind: u32, source: u32, target: u32, offset_lo: u32, offset_hi: u32, size:
     * u32, tag: u32) -> u32; runs the requests that the I/O queue of a dispatch has, each once: 0
     * is OK, anything else ERROR. NULL: the device does not look at the queue. */
    const char *io_function;
    uint32_t observable_count; /* words behind the control buffer's protocol */
    uint32_t max_in_flight;    /* queues; 0: 4. At most 64. */
    vyre_claim claim;
    vyre_binding_mode bind_mode;
    /* How long a launch should take at most, so that time limits hold and displays stay alive; 0: 4
     * ms. Kept by what launches before took. */
    uint64_t slice_ns;
    /* Called once where the device was lost and the queue may run again (nothing of it was seen
     * done, or every item is idempotent; not with bindings of its own): gives another device, and
     * writes bindings for it over the old ones. 0: there is none. The lost device must stay until
     * the dispatcher is destroyed. Must not call into the dispatcher. NULL: losses are reported. */
    int (*recover)(void *user, vyre_device **out_device, vyre_binding *bindings,
                   uint32_t binding_count);
    void *recover_user;
} vyre_dispatcher_params;

static inline void vyre_dispatcher_params_init(vyre_dispatcher_params *params)
{
    vyre_dispatcher_params zero = {
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, VYRE_CLAIM_AUTO, VYRE_BINDINGS_AUTO, 0, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Copies what params point to, but for the program, which is kept until it is destroyed. No
 * pipeline is made yet. Errors: INVALID_ARGUMENT (opcodes that are the system's or stand twice,
 * effects that contradict each other, functions that the program has not or of another form,
 * buffers that are not bound), UNSUPPORTED_FEATURE (a claim that the device cannot do),
 * OUT_OF_HOST_MEMORY. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_create(vyre_device *device,
                                                       const vyre_dispatcher_params *params,
                                                       vyre_dispatcher **out_dispatcher,
                                                       vyre_diag *diag);
/* Waits for queues in flight, whose tickets then are stale. Before the device. */
VYRE_API void vyre_dispatcher_destroy(vyre_dispatcher **dispatcher);
/* Compiles what a queue of items needs, so that the first does not. Errors: as vyre_dispatch. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_warm_up(vyre_dispatcher *dispatcher,
                                                        vyre_diag *diag);

/* ---- Queues ---------------------------------------------------------------------------------- */

/* Items do not depend on each other: neither looked for nor ordered, which saves the host's time.
 */
#define VYRE_QUEUE_INDEPENDENT 1u
/* No duplicates are looked for. */
#define VYRE_QUEUE_KEEP_DUPLICATES 2u
/* All exact duplicates but the first are dropped, whatever they do: for queues that are sets. */
#define VYRE_QUEUE_PRUNE_ALL 4u
/* Items that may run together are arranged by opcode, so that neighbouring invocations run the same
 * handler: for handlers that take long, since it costs the host some nanoseconds an item. */
#define VYRE_QUEUE_ARRANGE 8u
/* No kernel of its own for a queue of one opcode. */
#define VYRE_QUEUE_NO_SPECIAL 16u
/* Drained as a ring of slots whose statuses are read back and counted beside the counters. */
#define VYRE_QUEUE_STRICT 32u
/* A SHUTDOWN item ends it: items not yet taken remain. */
#define VYRE_QUEUE_PERSISTENT 64u
/* Rings alone: slots are taken by the partitions of the control buffer, urgent ones first. */
#define VYRE_QUEUE_BY_PRIORITY 128u
/* The report has the device's times, which costs some microseconds. */
#define VYRE_QUEUE_TIMED 256u
/* A kernel of its own for a queue of one opcode. Without this and NO_SPECIAL that is measured, with
 * long queues that come often, and done where it is faster. */
#define VYRE_QUEUE_SPECIAL 512u

/* A request that a slot posted (VYRE_OPCODE_LOAD_MISS) and waits for. The callback does it, for
 * instance by vyre_buffer_upload, and gives 1, or 0 where it failed. No launch of the queue runs
 * meanwhile. */
typedef int (*vyre_queue_io_fn)(void *user, const vyre_io_request *request);

/* How one queue is drained. */
typedef struct vyre_queue_params {
    uint32_t struct_size;
    uint32_t flags;         /* VYRE_QUEUE_* */
    uint32_t worker_count;  /* a hint, not 0: the device is filled whatever it is, unless memory or
                               frontier say otherwise */
    uint32_t group_cap;     /* workgroups at most; 0: as many as fill the device */
    uint64_t max_wall_ns;   /* from the call on; not 0 */
    uint32_t hits_per_item; /* that are expected; 0 means 1 */
    uint32_t tenant;        /* of items; rings have theirs */
    vyre_priority priority;
    /* Hints; 0: nothing is known. */
    uint32_t hot_opcode_count, hot_window_count, requeue_count, age;
    uint64_t node_count, edge_count;    /* of the graph whose frontier the queue is */
    uint32_t density_bps, pressure_bps; /* of 10000 */
    uint64_t resident_size; /* bytes of the device that the caller's data already take */
    uint64_t budget_size;   /* bytes of the device that a dispatch may need with them; 0: any */
    /* A control buffer of the caller's (masks, quotas, priorities, observables), overwritten with
     * the drained one; counts, cursor and shutdown are made 0 first. NULL: encoded for tenant 0
     * alone, or for those up to `tenant`. As the next three it must stay valid until the queue was
     * waited for. */
    void *control;
    size_t control_size;
    void *io_queue; /* io.h's requests, overwritten where the device or a callback looks at them; or
                       NULL */
    size_t io_size;
    void *debug_log; /* gets the records of PRINTF; or NULL */
    size_t debug_size;
    vyre_queue_io_fn io; /* NULL: slots that wait for a request stay so */
    void *io_user;
    /* Bindings other than those of vyre_dispatcher_create, for this queue; or NULL. */
    const vyre_binding *bindings;
    uint32_t binding_count;
    /* Which opcodes contributed to what each published item leaves, its own among them, up to
     * lineage_limit items (0: 256; above it there is none): bit (opcode modulo 32) of a word for
     * each. Or NULL. Read during the call alone. */
    uint32_t *lineage;
    uint32_t lineage_capacity, lineage_limit;
    /* The same without aliasing: bit k of the set stands for lineage_opcodes[k]; up to 256 opcodes.
     */
    uint64_t (*lineage_sets)[4];
    uint32_t *lineage_opcodes; /* 256 */
} vyre_queue_params;

static inline void vyre_queue_params_init(vyre_queue_params *params)
{
    vyre_queue_params zero = {0,
                              0,
                              64,
                              0,
                              60000000000u,
                              0,
                              0,
                              VYRE_PRIORITY_NORMAL,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Hints for a drain of `ring` (megakernel.h), from its slots and from the control buffer that the
 * drain before it left: node_count is the slots, edge_count those neither EMPTY nor DONE,
 * density_bps the share of these, requeue_count the requeues that were counted or that wait,
 * whichever are more, hot_opcode_count the opcodes that ran, as far as the control buffer counts
 * them, and hot_window_count the windows (vyre_ring_publish_window) of four waiting slots or more.
 * A slot does not say whether it is a window's, so window_opcodes names the opcodes that are
 * (NULL with a count of 0: none). The other parameters stay. Pure; `ring` and `control` are read
 * alone, by the thread that calls. Errors, with params as they were: INVALID_ARGUMENT (a ring or a
 * control buffer that is none, a slot of those opcodes that no window has), OUT_OF_HOST_MEMORY. */
VYRE_API VYRE_CHECK vyre_result vyre_queue_params_read_ring(
    vyre_queue_params *params, const void *ring, size_t size, const void *control,
    size_t control_size, const uint32_t *window_opcodes, uint32_t window_opcode_count,
    vyre_diag *diag);
/* Hints from a snapshot of tasks (vyre_task_count): age is the oldest schedulable one's, and
 * requeue_count has theirs besides its own, 2^32 - 1 where there are more. */
VYRE_API void vyre_queue_params_read_tasks(vyre_queue_params *params,
                                           const vyre_task_counts *counts);

/* ---- Reports --------------------------------------------------------------------------------- */

/* What became of a queue. processed + denied + faulted + remaining = given. */
typedef struct vyre_queue_report {
    uint32_t given, processed, remaining; /* processed: done, and duplicates of what is done */
    uint32_t denied, faulted,
        unknown;      /* unknown: of the faulted those of opcodes that nobody has */
    uint32_t waiting; /* of the remaining those that wait for a request */
    uint32_t requeues;
    uint32_t fault_slot,
        fault_code; /* of the lowest that failed; items: its number in the queue given */
    uint32_t deduped, published;
    uint32_t waves; /* parts that ran one after the other, for the items' dependencies */
    uint32_t epoch;
    int was_shut_down;
    /* Of VYRE_QUEUE_STRICT: slots by status, which agree with the counts above. */
    vyre_ring_counts statuses;

    uint32_t lineage_items, lineage_opcode_count; /* 0: none */
    /* Of the first handler that trapped or used up a loop, its place in the draining program. Its
     * item ends by what the handler gives; the launch goes on to its end, and the queue has ended
     * with it: items not taken by then remain. */
    vyre_fault_record record;

    /* The host's time: duplicates and dependencies; arranging and encoding; making programs and
     * pipelines, 0 where none was made; lineage; from the first submission to results; in all. */
    uint64_t plan_ns, publish_ns, compile_ns, lineage_ns, dispatch_ns, wall_ns;
    uint64_t device_ns; /* of all launches; VYRE_NS_NONE without VYRE_QUEUE_TIMED */

    uint64_t upload_size, readback_size, moved_size;
    uint32_t readback_buffers;
    uint32_t resident_allocations; /* of device memory for queues, in this call */
    uint32_t launches, sync_points;
    int was_compiled, was_resident;                 /* caches hit: pipeline; memory for the queue */
    int is_special;                                 /* a kernel for its one opcode drained it */
    const char *form;                               /* "items", "ring" */
    const char *claim;                              /* "lane", "subgroup", "workgroup" */
    const char *topology, *pressure, *mode, *route; /* docs/megakernel.md */
    uint32_t worker_count;                          /* after shedding */
    uint32_t workgroup, group_count;
    uint32_t occupancy_proxy_bps, frontier_density_bps, lane_busy_bps; /* of 10000 */
    uint32_t hit_capacity;
    uint64_t peak_size, budget_size; /* device memory in bytes */
} vyre_queue_report;

/* As JSON, schema "vyre.queue-report/1". Cut at out_size; returns the whole text's length. */
VYRE_API size_t vyre_queue_report_format_json(const vyre_queue_report *report, char *out,
                                              size_t out_size);

/* ---- Draining -------------------------------------------------------------------------------- */

/* Drains a queue and waits. Everything is checked before anything is done: params (no worker, no
 * time, an I/O queue or control buffer that is none, also where there is no item), items (opcodes
 * that may not be published), memory against the budget. No item is no work: a report of zeros.
 * out_report may be NULL; it is filled as far as is known after every error but INVALID_ARGUMENT.
 * TIMEOUT: items that were not taken by then remain; to go on later, use vyre_dispatcher_submit.
 * Errors: INVALID_ARGUMENT, DEVICE_OUT_OF_MEMORY (over the budget: both figures), BUSY (as many
 * queues in flight as there may be), and those of vyre_dispatch. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_run(vyre_dispatcher *dispatcher,
                                                    const vyre_work_item *items, uint32_t count,
                                                    const vyre_queue_params *params,
                                                    vyre_queue_report *out_report, vyre_diag *diag);
/* The same of items as bytes. Errors besides: a size that is no multiple of 16, memory that is not
 * aligned to 4 bytes. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_run_bytes(vyre_dispatcher *dispatcher,
                                                          const void *items, size_t size,
                                                          const vyre_queue_params *params,
                                                          vyre_queue_report *out_report,
                                                          vyre_diag *diag);
/* The same of a ring of slots (megakernel.h): those that are PUBLISHED, YIELD or REQUEUE, whatever
 * tenants, priorities, packed operations and arguments they have, and those that are WAIT_IO, which
 * go on where their request is served. `ring` gets all slots as they were left; after errors,
 * TIMEOUT too, it is as it was. Neither pruned nor ordered. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_run_ring(vyre_dispatcher *dispatcher, void *ring,
                                                         size_t size,
                                                         const vyre_queue_params *params,
                                                         vyre_queue_report *out_report,
                                                         vyre_diag *diag);

/* A queue in flight; a value. All zero is none. */
typedef struct vyre_queue_ticket {
    uint64_t bits;
} vyre_queue_ticket;

/* Submit and return. Items are copied; a ring must stay valid until the queue was waited for. What
 * does not fit in one launch goes on only while somebody waits or polls. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_submit(vyre_dispatcher *dispatcher,
                                                       const vyre_work_item *items, uint32_t count,
                                                       const vyre_queue_params *params,
                                                       vyre_queue_ticket *out_ticket,
                                                       vyre_diag *diag);
/* As vyre_dispatcher_submit, of a ring of slots instead of items. It gets all slots as they were
 * left. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_submit_ring(vyre_dispatcher *dispatcher, void *ring,
                                                            size_t size,
                                                            const vyre_queue_params *params,
                                                            vyre_queue_ticket *out_ticket,
                                                            vyre_diag *diag);
/* A queue whose items the caller writes where the device reads them: nothing is copied, and the
 * items are not looked at. They are independent, drained in any order, and their opcodes are the
 * caller's to get right: what nobody has becomes a fault, packed slots and handlers that requeue
 * too. *out_items: room for as many, until they are submitted. It may be memory that is slow to
 * read: write it once, in order. The ticket is for submit_mapped, or vyre_dispatcher_drop. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_map(vyre_dispatcher *dispatcher, uint32_t count,
                                                    const vyre_queue_params *params,
                                                    vyre_work_item **out_items,
                                                    vyre_queue_ticket *out_ticket, vyre_diag *diag);
/* The first `count` of them were written. The ticket is then as one of vyre_dispatcher_submit,
 * whose time begins now. After errors it is as before. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_submit_mapped(vyre_dispatcher *dispatcher,
                                                              vyre_queue_ticket ticket,
                                                              uint32_t count, vyre_diag *diag);
/* Never blocks, but for callbacks. *out_is_done 1: waiting gives the result at once. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_poll(vyre_dispatcher *dispatcher,
                                                     vyre_queue_ticket ticket, int *out_is_done,
                                                     vyre_diag *diag);
/* Blocks until the queue is drained and zeroes *ticket. TIMEOUT: of this call (timeout_ns;
 * UINT64_MAX: none), or of the queue's own limit: *ticket stays, the report says how far it is, and
 * nothing more is launched once the limit has passed. Wait again, resume, or drop. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_wait(vyre_dispatcher *dispatcher,
                                                     vyre_queue_ticket *ticket, uint64_t timeout_ns,
                                                     vyre_queue_report *out_report,
                                                     vyre_diag *diag);
/* Gives the queue so much time from now on. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_resume(vyre_dispatcher *dispatcher,
                                                       vyre_queue_ticket ticket,
                                                       uint64_t max_wall_ns, vyre_diag *diag);
/* Gives the queue up without waiting: what was launched goes on, nothing more is. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatcher_drop(vyre_dispatcher *dispatcher,
                                                     vyre_queue_ticket *ticket, vyre_diag *diag);

/* Since the dispatcher was created. */
typedef struct vyre_dispatcher_counters {
    uint64_t queues, items, launches, timeouts, recoveries;
    uint64_t pipelines, pipeline_hits, pipeline_misses, pipeline_evictions; /* of at most 64 */
    uint64_t arenas, arena_hits, arena_misses; /* memory for queues: alive; taken again; made */
    uint64_t arena_size;                       /* bytes of device memory */
    uint64_t special_trials,
        special_adoptions; /* runs that were measured; opcodes whose own kernel won */
    uint64_t claims[VYRE_PRIORITY_COUNT], starvation; /* by priority */
    /* How long queues took, from call to result; the percentiles to an eighth. */
    uint64_t min_ns, mean_ns, max_ns, p50_ns, p99_ns;
    uint64_t items_per_second; /* of the time that queues took */
} vyre_dispatcher_counters;
/* Fills in what the dispatcher did so far. */
VYRE_API void vyre_dispatcher_get_counters(vyre_dispatcher *dispatcher,
                                           vyre_dispatcher_counters *out_counters);

#ifdef __cplusplus
}
#endif
#endif
