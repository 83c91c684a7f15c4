/* The megakernel's protocol: the words of the queues that a host and a draining kernel share, and
 * what encodes, publishes and reads them. Pure host code: no device is needed, nothing is kept, and
 * memory is the caller's. docs/megakernel.md draws the layouts.
 *
 * Everything is made of little-endian u32 words. Memory is passed with its size in bytes, since
 * what comes from elsewhere may have any; it must be aligned to 4 bytes. Errors are
 * INVALID_ARGUMENT unless a comment says otherwise, fill `diag` (may be NULL), and leave memory and
 * outputs as they were. Thread-safety: external for each piece of memory. */
#ifndef VYRE_MEGAKERNEL_H
#define VYRE_MEGAKERNEL_H

#include "vyre/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Control --------------------------------------------------------------------------------- */

/* Words of the control buffer. */
typedef enum vyre_control_word {
    VYRE_CONTROL_SHUTDOWN = 0,           /* not 0: workers leave */
    VYRE_CONTROL_DONE_COUNT = 1,         /* slots that were run to their end */
    VYRE_CONTROL_TENANT_BASE = 2,        /* the word of the first tenant mask */
    VYRE_CONTROL_TENANT_MASKS = 3,       /* VYRE_MAX_TENANTS: not 0: the tenant may run */
    VYRE_CONTROL_TENANT_QUOTAS = 32,     /* 32 */
    VYRE_CONTROL_TENANT_FAIRNESS = 64,   /* 32: claims by tenant */
    VYRE_CONTROL_METRICS = 96,           /* 32: executions of opcodes 0 to 31 */
    VYRE_CONTROL_EPOCH = 128,            /* fences that have run */
    VYRE_CONTROL_PRIORITY_OFFSETS = 129, /* 6: where each priority's slots begin, and their end */
    VYRE_CONTROL_PRIORITY_STARVATION = 135,
    VYRE_CONTROL_PRIORITY_FAIRNESS = 136, /* 5: claims by priority */
    VYRE_CONTROL_CURSOR = 141,            /* slots that were looked at */
    VYRE_CONTROL_DENIED_COUNT = 142,      /* slots whose tenant may not run; they stay published */
    VYRE_CONTROL_FAULT_COUNT = 143,
    /* Of the fault in the lowest slot: (0xfffff - slot) * 256 + its vyre_slot_fault; 0: none. */
    VYRE_CONTROL_FIRST_FAULT = 144,
    VYRE_CONTROL_UNKNOWN_COUNT = 146, /* of the faults those of unknown opcodes */
    VYRE_CONTROL_REQUEUE_COUNT = 147, /* slots that were given back */
    VYRE_CONTROL_OBSERVABLES = 160    /* results that the host reads, to the buffer's end */
} vyre_control_word;

#define VYRE_MAX_TENANTS      29u
#define VYRE_METRIC_COUNT     32u
#define VYRE_MAX_OBSERVABLES  1048576u
#define VYRE_TENANT_ALLOWED   0xffffffffu /* a mask as encoded */
#define VYRE_TENANT_QUOTA     1000000u    /* a quota as encoded */
#define VYRE_MAX_SLOTS        1048576u
#define VYRE_MAX_IO_SLOTS     64u
#define VYRE_DEBUG_LOG_LENGTH 64u /* records of a log by default */

/* Size in bytes of a control buffer with that many observables. Errors: more than
 * VYRE_MAX_OBSERVABLES. */
VYRE_API VYRE_CHECK vyre_result vyre_control_query_size(uint32_t observable_count, size_t *out_size,
                                                        vyre_diag *diag);

/* What vyre_control_encode writes. */
typedef struct vyre_control_params {
    uint32_t struct_size;
    uint32_t tenant_count; /* tenants 0 to this may run; 0 means 1. At most VYRE_MAX_TENANTS. */
    uint32_t slot_count;   /* of the ring, for the priorities' partitions; 0: none are written */
    int shutdown;
} vyre_control_params;

static inline void vyre_control_params_init(vyre_control_params *params)
{
    vyre_control_params zero = {0, 0, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Writes the whole buffer; its observables (behind word 160) become 0. With slot_count each
 * priority gets a fifth of the slots, and NORMAL what is left over. Errors: a size that no control
 * buffer has, more tenants than there are masks, more slots than VYRE_MAX_SLOTS. */
VYRE_API VYRE_CHECK vyre_result vyre_control_encode(const vyre_control_params *params,
                                                    void *control, size_t size, vyre_diag *diag);

/* What a drained control buffer says. */
typedef struct vyre_control_report {
    uint32_t done_count, denied_count, fault_count, unknown_count, requeue_count;
    uint32_t fault_slot,
        fault_code; /* of the lowest slot that failed; VYRE_DIAG_NONE and 0: none */
    uint32_t epoch, cursor;
    int shutdown;
} vyre_control_report;

/* Strict readers. Errors: a size that is no multiple of 4 bytes, a word that is not there, an
 * observable index beyond the buffer. */
VYRE_API VYRE_CHECK vyre_result vyre_control_read(const void *control, size_t size,
                                                  vyre_control_report *out_report, vyre_diag *diag);
/* One of the observables. Errors: as vyre_control_read. */
VYRE_API VYRE_CHECK vyre_result vyre_control_read_observable(const void *control, size_t size,
                                                             uint32_t index, uint32_t *out_value,
                                                             vyre_diag *diag);

/* How often an opcode ran. */
typedef struct vyre_opcode_count {
    uint32_t opcode, count;
} vyre_opcode_count;

/* Opcodes 0 to 31 that ran, in ascending order. Errors: a buffer without the whole window. */
VYRE_API VYRE_CHECK vyre_result vyre_control_read_metrics(
    const void *control, size_t size, vyre_opcode_count out_counts[VYRE_METRIC_COUNT],
    uint32_t *out_count, vyre_diag *diag);

/* Lenient: the word, or 0 where the buffer has none. */
VYRE_API uint32_t vyre_control_find(const void *control, size_t size, uint32_t word);

/* ---- Opcodes --------------------------------------------------------------------------------- */

/* Built-in operations; arguments 0, 1 and 2. Words that they write are observables, by their number
 * in the control buffer; any other ends the slot as FAULT. */
#define VYRE_OPCODE_NOP        0u
#define VYRE_OPCODE_STORE_U32  1u /* control[arg1] = arg0 */
#define VYRE_OPCODE_ATOMIC_ADD 2u /* control[arg1] += arg0 */
#define VYRE_OPCODE_LOAD_U32   3u /* observable[arg1] = control[arg0] */
#define VYRE_OPCODE_COMPARE_SWAP                                                                   \
    4u /* control[arg0]: arg1 becomes arg2; observable[arg0] = the old */
#define VYRE_OPCODE_MEMCPY      5u /* control[arg1 + i] = control[arg0 + i], i < arg2, ascending */
#define VYRE_OPCODE_DFA_STEP    6u /* reserved */
#define VYRE_OPCODE_BATCH_FENCE 7u /* epoch += 1; observable[0] = arg1. Waits for nothing. */
#define VYRE_OPCODE_LOAD_MISS   0xfffdu
#define VYRE_OPCODE_PRINTF      0xfffeu /* arg0, arg1, arg2 and the slot into the debug log */
#define VYRE_OPCODE_PACKED_SLOT 0x80000001u
#define VYRE_OPCODE_SHUTDOWN    0xffffffffu

#define VYRE_USER_OPCODE_FIRST 8u
#define VYRE_TENANT_OPCODES    0x100000u   /* local opcodes of a tenant */
#define VYRE_TENANT_OPCODE_0   0x40000000u /* the first of tenant 0 */

/* System: up to 7, 0xfff0 to 0xffff, and all with bit 31; the others are users'. */
VYRE_API int vyre_opcode_is_system(uint32_t opcode);
/* Those that a slot may have: users', and of the system's those with a meaning (DFA_STEP has none)
 * but LOAD_MISS, which vyre_ring_publish_load alone writes. */
VYRE_API int vyre_opcode_is_publishable(uint32_t opcode);
/* A tenant's own opcode: 0x40000000 + tenant * 2^20 + local. Errors: no such tenant or local. */
VYRE_API VYRE_CHECK vyre_result vyre_opcode_of_tenant(uint32_t tenant, uint32_t local,
                                                      uint32_t *out_opcode, vyre_diag *diag);

/* ---- Ring ------------------------------------------------------------------------------------ */

/* Words of a slot. */
typedef enum vyre_slot_word {
    VYRE_SLOT_STATUS = 0, /* written last */
    VYRE_SLOT_OPCODE = 1,
    VYRE_SLOT_TENANT = 2,
    VYRE_SLOT_PRIORITY = 3,
    VYRE_SLOT_ARGS = 4, /* VYRE_SLOT_MAX_ARGS */
    VYRE_SLOT_WORDS = 16
} vyre_slot_word;

#define VYRE_SLOT_SIZE     64u
#define VYRE_SLOT_MAX_ARGS 12u

typedef enum vyre_slot_status {
    VYRE_STATUS_EMPTY = 0,
    VYRE_STATUS_PUBLISHED = 1,
    VYRE_STATUS_CLAIMED = 2,
    VYRE_STATUS_DONE = 3,
    VYRE_STATUS_WAIT_IO = 4,
    VYRE_STATUS_YIELD = 5,
    VYRE_STATUS_REQUEUE = 6,
    VYRE_STATUS_FAULT = 7,
    VYRE_STATUS_COUNT = 8
} vyre_slot_status;

typedef enum vyre_priority {
    VYRE_PRIORITY_CRITICAL,
    VYRE_PRIORITY_HIGH,
    VYRE_PRIORITY_NORMAL,
    VYRE_PRIORITY_LOW,
    VYRE_PRIORITY_IDLE,
    VYRE_PRIORITY_COUNT
} vyre_priority;

/* Why a slot ended as FAULT. */
typedef enum vyre_slot_fault {
    VYRE_FAULT_NONE,
    VYRE_FAULT_UNKNOWN_OPCODE,
    VYRE_FAULT_BOUNDS,  /* an argument that names no word it may name */
    VYRE_FAULT_TENANT,  /* a tenant that there is no mask for */
    VYRE_FAULT_PACKED,  /* a packed slot whose description is none */
    VYRE_FAULT_HANDLER, /* a handler gave no code that it may give */
    VYRE_FAULT_IO       /* the request that the slot waited for ended as ERROR */
} vyre_slot_fault;

/* What moves a slot from one status to another. */
typedef enum vyre_slot_edge {
    VYRE_EDGE_CLAIM,   /* PUBLISHED, YIELD, REQUEUE: CLAIMED */
    VYRE_EDGE_DONE,    /* CLAIMED: DONE */
    VYRE_EDGE_WAIT_IO, /* CLAIMED: WAIT_IO */
    VYRE_EDGE_READY,   /* WAIT_IO: REQUEUE */
    VYRE_EDGE_YIELD,   /* CLAIMED: YIELD */
    VYRE_EDGE_REQUEUE, /* CLAIMED: REQUEUE */
    VYRE_EDGE_FAULT,   /* PUBLISHED, CLAIMED, WAIT_IO, YIELD, REQUEUE: FAULT */
    VYRE_EDGE_CANCEL,  /* PUBLISHED, WAIT_IO, YIELD, REQUEUE: EMPTY */
    VYRE_EDGE_RESET    /* DONE, FAULT: EMPTY */
} vyre_slot_edge;

/* Errors: more than VYRE_MAX_SLOTS. */
VYRE_API VYRE_CHECK vyre_result vyre_ring_query_size(uint32_t slot_count, size_t *out_size,
                                                     vyre_diag *diag);
/* All slots become EMPTY, every word 0. As all functions on rings: errors where the size is no
 * multiple of VYRE_SLOT_SIZE, or of more than VYRE_MAX_SLOTS slots. */
VYRE_API VYRE_CHECK vyre_result vyre_ring_clear(void *ring, size_t size, vyre_diag *diag);
/* For one caller where several move a slot at a time, or a device beside them.
 * Errors: an edge that does not leave from the slot's status, or a status that is none; BUSY where
 * the slot is claimed and the edge would take it away; a slot that the ring has not. */
VYRE_API VYRE_CHECK vyre_result vyre_ring_move(void *ring, size_t size, uint32_t slot,
                                               vyre_slot_edge edge, vyre_diag *diag);

/* What is published to a slot: an opcode with its arguments. */
typedef struct vyre_slot_params {
    uint32_t struct_size;
    uint32_t opcode, tenant;
    vyre_priority priority; /* CRITICAL by zero; vyre_slot_params_init: NORMAL */
    const uint32_t *args;
    uint32_t arg_count;
} vyre_slot_params;

static inline void vyre_slot_params_init(vyre_slot_params *params)
{
    vyre_slot_params zero = {0, 0, 0, VYRE_PRIORITY_NORMAL, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Publishers write arguments that are not given as 0, and the status last, behind a release. Errors
 * before anything is written: an opcode that is not publishable, more than VYRE_SLOT_MAX_ARGS, a
 * priority or tenant that is none, a slot beyond the ring; BUSY: a slot that is not EMPTY or DONE.
 */
VYRE_API VYRE_CHECK vyre_result vyre_ring_publish(void *ring, size_t size, uint32_t slot,
                                                  const vyre_slot_params *params, vyre_diag *diag);

/* A plain item: 16 bytes, as an array of them is uploaded. */
typedef struct vyre_work_item {
    uint32_t opcode;
    uint32_t input, output, param; /* arguments 0, 1 and 2 */
} vyre_work_item;

/* Items into the slots from `first` on, all or none; tenant 0, priority NORMAL. */
VYRE_API VYRE_CHECK vyre_result vyre_ring_publish_items(void *ring, size_t size, uint32_t first,
                                                        const vyre_work_item *items, uint32_t count,
                                                        vyre_diag *diag);
/* The same from bytes as they lie in a file or a message. Errors: a size that is no multiple of 16;
 * memory that is not aligned to 4 bytes. */
VYRE_API VYRE_CHECK vyre_result vyre_ring_publish_bytes(void *ring, size_t size, uint32_t first,
                                                        const void *items, size_t items_size,
                                                        vyre_diag *diag);
/* Slots of any kind from `first` on and a BATCH_FENCE with arguments (count, tag) behind them, all
 * or none: count + 1 slots. The fence is tenant 0's and NORMAL. */
VYRE_API VYRE_CHECK vyre_result vyre_ring_publish_batch(void *ring, size_t size, uint32_t first,
                                                        const vyre_slot_params *slots,
                                                        uint32_t count, uint32_t tag,
                                                        vyre_diag *diag);

/* One of several operations in a slot. */
typedef struct vyre_packed_op {
    uint32_t opcode; /* at most 255 */
    const uint32_t *args;
    uint32_t arg_count;
} vyre_packed_op;

#define VYRE_MAX_PACKED_OPS 23u

/* A slot of several operations, which run in their order. The twelve argument words hold, as bytes,
 * the count, the number of argument words, and for each operation its opcode and where its
 * arguments begin, in words behind that head; then the arguments. Errors: no operation, more words
 * than a slot has, an opcode that does not fit in a byte or may not be packed (it would nest). */
VYRE_API VYRE_CHECK vyre_result vyre_ring_publish_packed(void *ring, size_t size, uint32_t slot,
                                                         uint32_t tenant, vyre_priority priority,
                                                         const vyre_packed_op *ops, uint32_t count,
                                                         vyre_diag *diag);
/* The operations of twelve argument words, their arguments in `args`. Errors: a head that describes
 * no such slot. */
VYRE_API VYRE_CHECK vyre_result vyre_packed_decode(const uint32_t args[VYRE_SLOT_MAX_ARGS],
                                                   vyre_packed_op out_ops[VYRE_MAX_PACKED_OPS],
                                                   uint32_t *out_count, vyre_diag *diag);

#define VYRE_WINDOW_MAX_PAYLOAD 10u

/* Slots that carry (ticket, class) before their arguments: class 0 must run, class 1 may. */
typedef struct vyre_window_params {
    uint32_t struct_size;
    uint32_t ticket;
    const vyre_slot_params *required;
    uint32_t required_count;
    const vyre_slot_params *look_ahead;
    uint32_t look_ahead_count;
} vyre_window_params;

static inline void vyre_window_params_init(vyre_window_params *params)
{
    vyre_window_params zero = {0, 0, 0, 0, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* The required ones, then the others, from `first` on, all or none. Errors: more than
 * VYRE_WINDOW_MAX_PAYLOAD arguments in one of them. */
VYRE_API VYRE_CHECK vyre_result vyre_ring_publish_window(void *ring, size_t size, uint32_t first,
                                                         const vyre_window_params *params,
                                                         vyre_diag *diag);

/* What a slot of VYRE_OPCODE_LOAD_MISS asks for: a READ of the I/O queue. */
typedef struct vyre_load_params {
    uint32_t struct_size;
    uint32_t source, target; /* handles, as of a vyre_io_request */
    uint64_t offset;
    uint32_t size; /* in bytes */
} vyre_load_params;

static inline void vyre_load_params_init(vyre_load_params *params)
{
    vyre_load_params zero = {0, 0, 0, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* A slot that asks for bytes and waits for them without a worker (docs/megakernel.md, Loads). The
 * errors of vyre_ring_publish. */
VYRE_API VYRE_CHECK vyre_result vyre_ring_publish_load(void *ring, size_t size, uint32_t slot,
                                                       uint32_t tenant, vyre_priority priority,
                                                       const vyre_load_params *params,
                                                       vyre_diag *diag);
/* What such a slot asks for, into a struct that vyre_load_params_init made. Errors: another opcode.
 */
VYRE_API VYRE_CHECK vyre_result vyre_slot_read_load(const uint32_t words[VYRE_SLOT_WORDS],
                                                    vyre_load_params *out_params, vyre_diag *diag);
/* The request of a slot that is WAIT_IO has ended: io_status (VYRE_IO_OK or VYRE_IO_ERROR) into its
 * last word, then REQUEUE behind a release, so that the next launch ends it. One caller for a slot
 * at a time. Errors: a status that is none, another opcode, a slot that does not wait; BUSY: one
 * that is CLAIMED. */
VYRE_API VYRE_CHECK vyre_result vyre_ring_complete_load(void *ring, size_t size, uint32_t slot,
                                                        uint32_t io_status, vyre_diag *diag);

/* How many slots have each status. */
typedef struct vyre_ring_counts {
    uint32_t by_status[VYRE_STATUS_COUNT], unknown;
    uint32_t slot_count, queue_depth; /* depth: neither EMPTY nor DONE */
} vyre_ring_counts;

/* Counts the ring's slots. Errors: a size that no ring has. */
VYRE_API VYRE_CHECK vyre_result vyre_ring_count(const void *ring, size_t size,
                                                vyre_ring_counts *out_counts, vyre_diag *diag);
/* A slot's words, with their status as it is. */
VYRE_API VYRE_CHECK vyre_result vyre_ring_read(const void *ring, size_t size, uint32_t slot,
                                               uint32_t out_words[VYRE_SLOT_WORDS],
                                               vyre_diag *diag);

/* ---- Debug log ------------------------------------------------------------------------------- */

/* What a handler wrote into the debug log: a format and two words. */
typedef struct vyre_debug_record {
    uint32_t format, args[2];
    uint32_t slot_word; /* the ring's word at which the slot begins */
} vyre_debug_record;

/* Word 0 is the cursor, in words; records of four words follow. Errors: more than VYRE_MAX_SLOTS
 * records. */
VYRE_API VYRE_CHECK vyre_result vyre_debug_log_query_size(uint32_t record_count, size_t *out_size,
                                                          vyre_diag *diag);
/* Up to `capacity` records, the oldest first, and into *out_count how many the log has; out_records
 * may be NULL for capacity 0. The kernel reserves before it looks whether there is room, so a
 * cursor beyond the log counts what was lost: into *out_lost_count, and without it (NULL) that is
 * an error. Errors: a size that no log has, a cursor that is no multiple of 4. */
VYRE_API VYRE_CHECK vyre_result vyre_debug_log_read(const void *log, size_t size,
                                                    vyre_debug_record *out_records,
                                                    uint32_t capacity, uint32_t *out_count,
                                                    uint32_t *out_lost_count, vyre_diag *diag);

/* ---- I/O queue ------------------------------------------------------------------------------- */

/* Thread-safety: any number of threads, and a device, may poll and claim one queue while requests
 * are published, completed and released in it, each request by one of them at a time. */

/* Words of a request. */
typedef enum vyre_io_word {
    VYRE_IO_OP = 0,
    VYRE_IO_SOURCE = 1,
    VYRE_IO_TARGET = 2,
    VYRE_IO_OFFSET_LOW = 3,
    VYRE_IO_OFFSET_HIGH = 4,
    VYRE_IO_SIZE = 5, /* in bytes */
    VYRE_IO_STATUS = 6,
    VYRE_IO_TAG = 7,
    VYRE_IO_WORDS = 8
} vyre_io_word;

typedef enum vyre_io_op { VYRE_IO_READ = 1, VYRE_IO_WRITE = 2, VYRE_IO_FENCE = 3 } vyre_io_op;

/* Beside the ring's. */
#define VYRE_IO_OK    0x10u
#define VYRE_IO_ERROR 0x11u

/* What the I/O queue is asked to do. */
typedef struct vyre_io_request {
    vyre_io_op op;
    uint32_t source, target; /* handles, which mean what host and handlers agree on */
    uint64_t offset;
    uint32_t size, tag;
} vyre_io_request;

/* Whether bytes are a queue: a multiple of 32 bytes, at most VYRE_MAX_IO_SLOTS requests; none is
 * one too. */
VYRE_API VYRE_CHECK vyre_result vyre_io_check(const void *queue, size_t size, vyre_diag *diag);
/* All requests EMPTY. Errors: no slot, more than VYRE_MAX_IO_SLOTS, or what vyre_io_check says. */
VYRE_API VYRE_CHECK vyre_result vyre_io_clear(void *queue, size_t size, vyre_diag *diag);
/* Errors: an operation that is none; BUSY: the request is not EMPTY. */
VYRE_API VYRE_CHECK vyre_result vyre_io_publish(void *queue, size_t size, uint32_t index,
                                                const vyre_io_request *request, vyre_diag *diag);
/* Lists what is PUBLISHED, without claiming it. */
VYRE_API VYRE_CHECK vyre_result vyre_io_poll(const void *queue, size_t size,
                                             uint32_t out_indices[VYRE_MAX_IO_SLOTS],
                                             uint32_t *out_count, vyre_diag *diag);
/* PUBLISHED becomes CLAIMED, for one caller, and its request is given out as it lies there; who
 * meets an operation that is none completes it with VYRE_IO_ERROR. Errors: BUSY: not PUBLISHED. */
VYRE_API VYRE_CHECK vyre_result vyre_io_claim(void *queue, size_t size, uint32_t index,
                                              vyre_io_request *out_request, vyre_diag *diag);

/* How a request ended. */
typedef struct vyre_io_completion {
    uint32_t index, status; /* status: VYRE_IO_OK or VYRE_IO_ERROR */
} vyre_io_completion;

/* All or none. Errors: a request that is not CLAIMED or is named twice, a status that is none, more
 * than VYRE_MAX_IO_SLOTS of them. */
VYRE_API VYRE_CHECK vyre_result vyre_io_complete(void *queue, size_t size,
                                                 const vyre_io_completion *completions,
                                                 uint32_t count, vyre_diag *diag);
/* OK and ERROR become EMPTY, so that the request can be published again. Errors: another status;
 * BUSY: PUBLISHED or CLAIMED. */
VYRE_API VYRE_CHECK vyre_result vyre_io_release(void *queue, size_t size, uint32_t index,
                                                vyre_diag *diag);

/* ---- Tasks ----------------------------------------------------------------------------------- */

typedef enum vyre_task_state {
    VYRE_TASK_EMPTY = 0,
    VYRE_TASK_READY = 1,
    VYRE_TASK_RUNNING = 2,
    VYRE_TASK_DONE = 3,
    VYRE_TASK_PAUSED = 4,
    VYRE_TASK_YIELDED = 5,
    VYRE_TASK_REQUEUED = 6,
    VYRE_TASK_FAULTED = 7,
    VYRE_TASK_STATE_COUNT = 8
} vyre_task_state;

#define VYRE_TASK_FLAG_PAUSED       1u
#define VYRE_TASK_FLAG_YIELDED      2u
#define VYRE_TASK_FLAG_REQUEUED     4u
#define VYRE_TASK_FLAG_RESUME_READY 8u

/* A slot that goes on where it left: the sixteen words of a slot, in this order. */
typedef struct vyre_task {
    uint32_t state, opcode, tenant, priority;
    uint32_t input, output, param;
    uint32_t continuation, continuation_data; /* where it goes on, and with what */
    uint32_t resume_epoch;                    /* not before this epoch */
    uint32_t id, parent_id;
    uint32_t age; /* scans since it became ready, counted by who scans */
    uint32_t requeue_count, yield_count;
    uint32_t flags; /* VYRE_TASK_FLAG_* */
} vyre_task;

/* What happens to a task. */
typedef enum vyre_task_event {
    VYRE_TASK_START,   /* READY, YIELDED, REQUEUED: RUNNING */
    VYRE_TASK_FINISH,  /* RUNNING: DONE */
    VYRE_TASK_PAUSE,   /* RUNNING: PAUSED */
    VYRE_TASK_YIELD,   /* RUNNING: YIELDED, one yield more */
    VYRE_TASK_REQUEUE, /* RUNNING: REQUEUED, one requeue more */
    VYRE_TASK_RESUME,  /* PAUSED: READY, once its epoch has come */
    VYRE_TASK_FAIL     /* READY, RUNNING, PAUSED, YIELDED, REQUEUED: FAULTED */
} vyre_task_event;

/* Flags become those of the event: PAUSED, YIELDED, REQUEUED, RESUME_READY, none for START and
 * FINISH; FAIL keeps them, and bits that are no flag stay. Becoming READY, YIELDED or REQUEUED sets
 * the age to 0. Errors: a state or event that is none, an event that does not leave from the state
 * (DONE and FAULTED are for good), a counter that would overflow, a resume before its epoch. */
VYRE_API VYRE_CHECK vyre_result vyre_task_move(vyre_task *task, vyre_task_event event,
                                               uint32_t epoch, vyre_diag *diag);

/* What vyre_task_count counts. */
typedef struct vyre_task_counts {
    uint32_t by_state[VYRE_TASK_STATE_COUNT];
    uint32_t schedulable; /* READY, YIELDED and REQUEUED */
    uint64_t requeues;    /* tasks YIELDED and REQUEUED, and the requeue_count of every task */
    uint32_t max_age;     /* of the schedulable ones */
} vyre_task_counts;

/* Errors: a state that is none, more tasks than VYRE_MAX_SLOTS. */
VYRE_API VYRE_CHECK vyre_result vyre_task_count(const vyre_task *tasks, uint32_t count,
                                                vyre_task_counts *out_counts, vyre_diag *diag);

/* ---- Tenants --------------------------------------------------------------------------------- */

/* A host's book of what its tenants hold. Thread-safety: safe. */
typedef struct vyre_tenants vyre_tenants;

/* How much a tenant may hold, holds, or asks for. */
typedef struct vyre_tenant_quota {
    uint32_t slots;        /* published and not drained */
    uint32_t handles;      /* resident */
    uint64_t staging_size; /* in bytes */
} vyre_tenant_quota;

/* Tenants 0 to count - 1, none of which holds anything or may. allocator: NULL: malloc; it is kept.
 * Errors, with NULL in *out_tenants: no tenant, more than VYRE_MAX_TENANTS, OUT_OF_HOST_MEMORY. */
VYRE_API VYRE_CHECK vyre_result vyre_tenants_create(uint32_t count, const vyre_allocator *allocator,
                                                    vyre_tenants **out_tenants, vyre_diag *diag);
/* Sets *tenants to NULL; NULL is no error. No other call may be in it. */
VYRE_API void vyre_tenants_destroy(vyre_tenants **tenants);
/* Errors: a tenant that is none; BUSY: it holds more than that. */
VYRE_API VYRE_CHECK vyre_result vyre_tenants_set_quota(vyre_tenants *tenants, uint32_t tenant,
                                                       const vyre_tenant_quota *quota,
                                                       vyre_diag *diag);
/* Takes that much, all or nothing. Errors: BUSY: its quota would be passed (the message names which
 * part, what is held and what is allowed), or the tenant is quiescing. */
VYRE_API VYRE_CHECK vyre_result vyre_tenants_acquire(vyre_tenants *tenants, uint32_t tenant,
                                                     const vyre_tenant_quota *amount,
                                                     vyre_diag *diag);
/* Gives that much back. Errors: more than it holds. */
VYRE_API VYRE_CHECK vyre_result vyre_tenants_release(vyre_tenants *tenants, uint32_t tenant,
                                                     const vyre_tenant_quota *amount,
                                                     vyre_diag *diag);
/* Either output may be NULL. */
VYRE_API VYRE_CHECK vyre_result vyre_tenants_query(vyre_tenants *tenants, uint32_t tenant,
                                                   vyre_tenant_quota *out_held,
                                                   vyre_tenant_quota *out_quota, vyre_diag *diag);
/* Admits nothing more of that tenant and waits until it holds no slot. Errors: TIMEOUT: it still
 * admits nothing; quiesce again, or vyre_tenants_admit. BUSY: another thread admitted it. */
VYRE_API VYRE_CHECK vyre_result vyre_tenants_quiesce(vyre_tenants *tenants, uint32_t tenant,
                                                     uint64_t timeout_ns, vyre_diag *diag);
/* Admits a tenant that was quiesced again. Errors: a tenant that is none. */
VYRE_API VYRE_CHECK vyre_result vyre_tenants_admit(vyre_tenants *tenants, uint32_t tenant,
                                                   vyre_diag *diag);
/* Of the tenants in `candidates` (bit t: tenant t) some that may run together, greedily from the
 * lowest; conflicts[t]: the tenants that t must not run beside, nor they beside t. There its own
 * bit and those of no tenant mean nothing. Errors: no tenant, more than VYRE_MAX_TENANTS, a
 * candidate that is none. Thread-safety: safe. */
VYRE_API VYRE_CHECK vyre_result vyre_tenants_select(uint32_t tenant_count,
                                                    const uint32_t *conflicts, uint32_t candidates,
                                                    uint32_t *out_selected, vyre_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
