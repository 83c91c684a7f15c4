/* Pipelines and dispatches: a kernel made ready for one device, runs of it, waited for at once or
 * later, and sequences of several. */
#ifndef VYRE_DISPATCH_H
#define VYRE_DISPATCH_H

#include "vyre/buffer.h"
#include "vyre/interp.h" /* vyre_fault_record, vyre_convergence */

#ifdef __cplusplus
extern "C" {
#endif

/* Thread-safety: safe, apart from create and destroy: any number of threads may dispatch. */
typedef struct vyre_pipeline vyre_pipeline;

/* How kernels reach their buffers. Results are the same. */
typedef enum vyre_binding_mode {
    VYRE_BINDINGS_AUTO,      /* addresses where the device and every buffer bound allow it, but
                                descriptors on processors, which they are faster on; workgroups
                                that stay have addresses there, too */
    VYRE_BINDINGS_ADDRESS,   /* always; otherwise UNSUPPORTED_FEATURE */
    VYRE_BINDINGS_DESCRIPTOR /* for debugging: validation layers see every access */
} vyre_binding_mode;

/* How vyre_pipeline_create makes a kernel ready for a device. */
typedef struct vyre_pipeline_params {
    uint32_t struct_size;
    /* The workgroup size, where the program cannot tell one from another; 0: the program's own. */
    uint32_t workgroup[3];
    vyre_binding_mode bindings; /* AUTO is DESCRIPTOR while validation is on */
} vyre_pipeline_params;

static inline void vyre_pipeline_params_init(vyre_pipeline_params *params)
{
    vyre_pipeline_params zero = {0, {0, 0, 0}, VYRE_BINDINGS_AUTO};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Keeps the kernel until it is destroyed; the kernel was compiled with vyre_device_kernel_params of
 * this device. params may be NULL. Errors: UNSUPPORTED_FEATURE (a limit or feature, by its Vulkan
 * name), KERNEL_COMPILE_FAILED (the driver refused a module), INVALID_ARGUMENT, and memory. */
VYRE_API VYRE_CHECK vyre_result vyre_pipeline_create(vyre_device *device, const vyre_kernel *kernel,
                                                     const vyre_pipeline_params *params,
                                                     vyre_pipeline **out_pipeline, vyre_diag *diag);
/* Waits for the pipeline's dispatches in flight, whose tickets then are stale. Recordings and
 * sequences of the pipeline must be destroyed before. */
VYRE_API void vyre_pipeline_destroy(vyre_pipeline **pipeline);

/* Some drivers compile at the first dispatch only: this makes them do it now, by a dispatch of no
 * workgroups for each segment in every variant that there is (at first the one for addresses, or
 * descriptors); submits and waits. Touches no buffer. Errors: as vyre_dispatch. */
VYRE_API VYRE_CHECK vyre_result vyre_pipeline_warm_up(vyre_pipeline *pipeline, vyre_diag *diag);

/* ---- Bindings -------------------------------------------------------------------------------- */

typedef enum vyre_binding_kind {
    VYRE_BINDING_NONE,     /* scratch only: the library's own memory, of the declared size */
    VYRE_BINDING_RESIDENT, /* a range of a resident buffer */
    VYRE_BINDING_HOST      /* host memory, borrowed for this dispatch */
} vyre_binding_kind;

/* As many elements as the program declares; for a resident buffer where it declares none, all that
 * lie behind the offset. */
#define VYRE_COUNT_DECLARED UINT32_MAX

/* What a dispatch binds to one buffer of the program. */
typedef struct vyre_binding {
    vyre_binding_kind kind;
    uint32_t count;     /* elements of the buffer's type */
    vyre_buffer buffer; /* RESIDENT */
    uint64_t offset;    /* RESIDENT: bytes; a multiple of vyre_device_info.offset_alignment */
    const void *in;     /* HOST: contents, for in, uniform and inout; read during the call */
    /* Where the results go when the run has ended, for out, inout and scratch, of HOST bindings and
     * of RESIDENT ones; NULL: they are not read back. Must stay valid until the run was waited for.
     */
    void *out;
    uint64_t out_offset, out_size; /* bytes of the binding that go to `out`, multiples of 4; size 0:
                                      all behind the offset */
} vyre_binding;

struct vyre_host_sync; /* vulkan.h */

/* How a dispatch's segments and passes get to the device. Results are the same. */
typedef enum vyre_strategy {
    /* The library's choice: WORKGROUP where that can be and more than one segment execution is to
     * be run (segments times passes); PERSISTENT where that can be with what is known of the
     * device, many are, and the grid is not much larger than what runs at once; else, and where
     * their modules cannot be made, REPLAY. */
    VYRE_STRATEGY_AUTO,
    VYRE_STRATEGY_REPLAY, /* a dispatch for each segment and pass; always possible */
    /* One dispatch of one workgroup, with barriers between segments and passes: for grids of one
     * workgroup, where a step then costs a tenth or less. INVALID_ARGUMENT with the reason where it
     * is not possible. The first such dispatch of a pipeline compiles a module. */
    VYRE_STRATEGY_WORKGROUP,
    /* One dispatch of as many workgroups as the device is known to run at once (see
     * resident_groups); they walk the grid in each segment, and meet at a barrier where hazards
     * need one. INVALID_ARGUMENT with the reason where it is not possible. Where they did not all
     * run at once, the dispatch ends some seconds later with DISPATCH_FAILED, what it writes is
     * lost, and the device replays from then on. The first such dispatch of a pipeline compiles a
     * module. */
    VYRE_STRATEGY_PERSISTENT
} vyre_strategy;

/* Whether an invocation does several elements that stand side by side, by accesses of up to 16
 * bytes, where the program cannot tell, or accesses its own neighbours so. Results are the same;
 * old values of atomics are those of some order of the elements, as ever. */
typedef enum vyre_coarsening {
    VYRE_COARSENING_AUTO,  /* where the grid is large enough to gain by it */
    VYRE_COARSENING_NEVER, /* for measurements */
    VYRE_COARSENING_ALWAYS /* wherever it is possible, however small the grid: for tests */
} vyre_coarsening;

/* Every `out` is taken for NULL: results stay on the device. */
#define VYRE_DISPATCH_NO_READBACK 1u
/* The report has the device's times, which costs some microseconds. */
#define VYRE_DISPATCH_TIMED 2u

/* A run in flight; a value as vyre_buffer is one. All zero is no ticket. */
typedef struct vyre_ticket {
    uint64_t bits;
} vyre_ticket;

/* Called once for a run, when a call that polls or waits, or the device's thread, sees its end;
 * `result` is what waiting for the ticket gives; for a run given up before its last pass was
 * submitted, INVALID_ARGUMENT. Must not call into the library. */
typedef void (*vyre_done_fn)(void *user, vyre_ticket ticket, vyre_result result);

/* One run of a pipeline. Lists are borrowed for the call. */
typedef struct vyre_dispatch_params {
    uint32_t struct_size;
    uint32_t binding_count;
    const vyre_binding *bindings; /* one for each non-shared buffer, in declaration order */
    const uint32_t *params;       /* words of the parameters, in declaration order: low bits first,
                                     64 bits in two words, a vector in one for each component */
    uint32_t param_count;         /* words: vyre_kernel_param_words */
    /* The grid: workgroups, or elements, or neither where the program has `grid over`, `grid of` or
     * `grid from`. A dimension after the first that is 0 is 1. */
    uint32_t groups[3], elements[3];
    uint32_t passes;     /* overrides the fixpoint's limit; 0 keeps it */
    uint32_t flags;      /* VYRE_DISPATCH_* */
    uint64_t timeout_ns; /* of vyre_dispatch, the whole call; 0: none */
    const char *label;   /* for debuggers, traces and errors; NULL: the program's name */
    vyre_done_fn done;   /* may be NULL */
    void *done_user;
    const struct vyre_host_sync *sync; /* semaphores and ownership of the host's, or NULL */
    /* With `grid from`: the most workgroups that run, whatever the buffer has; 0: as many as the
     * language allows. Needed where values cross a grid_sync, since memory is set aside for so
     * many.
     */
    uint32_t max_groups;
    vyre_strategy strategy; /* of recordings and sequences always replay */
    vyre_coarsening coarsening;
    /* PERSISTENT: so many workgroups of this program run at once, by the caller's word, which must
     * be right. 0: one for each compute unit (vyre_device_info.compute_units), where that is known,
     * else 1. */
    uint32_t resident_groups;
} vyre_dispatch_params;

static inline void vyre_dispatch_params_init(vyre_dispatch_params *params)
{
    vyre_dispatch_params zero = {0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 {0, 0, 0},
                                 {0, 0, 0},
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 VYRE_STRATEGY_AUTO,
                                 VYRE_COARSENING_AUTO,
                                 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* ---- Reports --------------------------------------------------------------------------------- */

#define VYRE_NS_NONE UINT64_MAX /* a time that was not measured */

/* What a run did. Sizes are in bytes; times are in ns, VYRE_NS_NONE where nothing was measured. */
typedef struct vyre_report {
    const char *strategy;        /* "replay", "workgroup", "persistent" */
    const char *strategy_reason; /* why it was chosen, in a few words; text that stays */
    const char *bindings;        /* "address", "push descriptor", "descriptor set" */
    uint32_t passes;             /* that ran */
    vyre_convergence convergence;
    vyre_fault_record record; /* the first trap or exhausted loop, if any */
    uint32_t segments;        /* segment executions in one pass */
    uint32_t chunks, submissions, waits;
    /* In the command buffers submitted: of the program. */
    uint64_t dispatches_recorded;
    uint64_t dispatches_executed; /* of these, the program's own that were not skipped */
    uint64_t passes_saved;        /* of the limit, by convergence */
    /* Of the grid, not launched: the host knows that their segment does nothing there. */
    uint64_t workgroups_saved;
    uint64_t barriers_recorded; /* in the command buffers submitted */
    uint64_t barriers_elided;   /* places between dispatches where none was needed */
    uint64_t upload_size, download_size;
    uint32_t uploads, downloads; /* copies */
    uint32_t descriptor_writes;
    uint32_t recordings, recordings_reused;
    uint64_t spill_size, staging_size, scratch_size, argument_size; /* hidden memory, in bytes */
    int is_coarse;      /* invocations did several elements each, or accessed neighbours at once (of
                           a sequence: of some step) */
    int is_folded;      /* the grid was larger than the device launches at once */
    uint32_t groups[3]; /* workgroups of the grid, with `grid from` those that the device made of
                           what it read; zero for sequences, and where no segment runs by it */
    /* The buffer of `grid from` had more workgroups than may run (of a sequence: of some step). */
    int is_grid_clamped;
    /* The host's time: the whole from call to result; of it all that leads to submissions (checks,
     * copies of inputs, recording, the submit calls, of every chunk), and blocked in waits. */
    uint64_t wall_ns, enqueue_ns, wait_ns;
    /* The parts of enqueue_ns: checks, planning and pipelines; recording; writing inputs and
     * arguments; the submit calls. Then copying outputs, which is not in it. The rest of wall_ns is
     * time in which the caller did something else. */
    uint64_t plan_ns, record_ns, stage_ns, submit_ns, readback_ns;
    /* The device's time, the same on every path: first dispatch's start to last dispatch's end, and
     * first command's start to last command's end. VYRE_NS_NONE without VYRE_DISPATCH_TIMED, and
     * where the device has no timestamps. */
    uint64_t device_dispatches_ns, device_ns;
    /* The start of the first command, on the clock of vyre_clock_ns; VYRE_NS_NONE where the device
     * has no calibrated timestamps. */
    uint64_t device_start_ns;
} vyre_report;

/* As JSON, schema "vyre.report/1"; times that were not measured are null. Cut at out_size; returns
 * the whole text's length without the final zero. */
VYRE_API size_t vyre_report_format_json(const vyre_report *report, char *out, size_t out_size);
/* The clock of the reports: monotonic, in nanoseconds. */
VYRE_API uint64_t vyre_clock_ns(void);

/* ---- Running --------------------------------------------------------------------------------- */

/* Runs the program once and waits for its end. Everything is checked before anything is done: after
 * INVALID_ARGUMENT, BUSY and UNSUPPORTED_FEATURE the caller's memory and the resident buffers are
 * untouched; after other errors the caller's memory is. diag names the binding, segment or pass
 * where one is meant. The second and later runs of the same shape (grid, passes, kinds of bindings,
 * sizes that are copied or made zero) allocate, record and write descriptors no more, but for
 * parameters that let a segment reach further than before, which record once.
 * TIMEOUT: nothing was read back and no other pass is submitted; what was submitted goes on, and
 * the buffers stay in use until that has ended (vyre_device_wait waits). To wait again, use
 * vyre_dispatch_async. out_report may be NULL. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatch(vyre_pipeline *pipeline,
                                              const vyre_dispatch_params *params,
                                              vyre_report *out_report, vyre_diag *diag);

/* Submits and returns. The ticket must be waited for, or dropped. A program with `until` goes on
 * beyond its first chunk of passes (at most 4) only while someone polls or waits, or with
 * vyre_device_params.driver_thread. Errors: as vyre_dispatch, of what is known by then. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatch_async(vyre_pipeline *pipeline,
                                                    const vyre_dispatch_params *params,
                                                    vyre_ticket *out_ticket, vyre_diag *diag);

/* What an async run leaves on the device, without running anything: one entry for each out, inout
 * and scratch binding, in declaration order. */
typedef struct vyre_output {
    uint32_t binding;
    vyre_buffer buffer;    /* none for HOST and NONE bindings */
    uint64_t offset, size; /* bytes; of `out_offset` and `out_size` where they say something */
} vyre_output;
/* Where such a dispatch would leave its results: up to `capacity` entries, and into *out_count
 * how many there are; nothing runs. Errors: those of vyre_dispatch for its parameters. */
VYRE_API VYRE_CHECK vyre_result vyre_dispatch_query_outputs(vyre_pipeline *pipeline,
                                                            const vyre_dispatch_params *params,
                                                            vyre_output *out_outputs,
                                                            uint32_t capacity, uint32_t *out_count,
                                                            vyre_diag *diag);

/* Thread-safety of all ticket calls: safe. A ticket that was waited for, dropped, or whose pipeline
 * was destroyed is stale: INVALID_ARGUMENT. */

/* Never blocks. *out_is_done 1: waiting gives the result at once (it may be an error). */
VYRE_API VYRE_CHECK vyre_result vyre_ticket_poll(vyre_device *device, vyre_ticket ticket,
                                                 int *out_is_done, vyre_diag *diag);
/* Blocks until the run has ended, writes the outputs and zeroes *ticket. Completion is polled for a
 * while before the thread sleeps. timeout_ns 0: only looks; UINT64_MAX: no limit. Errors: TIMEOUT
 * (everything stays owned: wait again), DEVICE_LOST, DISPATCH_FAILED, and memory; apart from
 * TIMEOUT the ticket is used up. out_report may be NULL. */
VYRE_API VYRE_CHECK vyre_result vyre_ticket_wait(vyre_device *device, vyre_ticket *ticket,
                                                 uint64_t timeout_ns, vyre_report *out_report,
                                                 vyre_diag *diag);
typedef enum vyre_wait_mode { VYRE_WAIT_ALL, VYRE_WAIT_ANY } vyre_wait_mode;
/* Blocks until all (or one) of the runs have ended, and uses none of the tickets up: follow with
 * vyre_ticket_wait. *out_index (may be NULL): the first that has ended. Entries without a ticket
 * are passed over. */
VYRE_API VYRE_CHECK vyre_result vyre_ticket_wait_many(vyre_device *device,
                                                      const vyre_ticket *tickets, uint32_t count,
                                                      vyre_wait_mode mode, uint64_t timeout_ns,
                                                      uint32_t *out_index, vyre_diag *diag);
/* Gives the run up without waiting and zeroes *ticket: what was submitted goes on, no other pass
 * is, nothing is read back, and what the run holds is freed when it has ended. */
VYRE_API VYRE_CHECK vyre_result vyre_ticket_drop(vyre_device *device, vyre_ticket *ticket,
                                                 vyre_diag *diag);

/* ---- Sequences ------------------------------------------------------------------------------- */

/* One dispatch of a sequence. Bindings are RESIDENT or NONE; `out`, timeout_ns and `done` are not
 * used, and `sync` is refused. */
typedef struct vyre_step {
    vyre_pipeline *pipeline;
    vyre_dispatch_params dispatch;
} vyre_step;

/* The prefix once, then the group `repeat` times; fills before, downloads after. Fills are of whole
 * words, downloads of any bytes; those that touch or overlap are copied once. An imported buffer
 * needs VK_BUFFER_USAGE_TRANSFER_DST_BIT to be filled and TRANSFER_SRC_BIT to be downloaded. */
typedef struct vyre_sequence_params {
    uint32_t struct_size;
    uint32_t prefix_count, group_count, repeat; /* repeat 0: the group is not even looked at */
    const vyre_step *prefix, *group;
    uint32_t fill_count, download_count;
    const vyre_fill *fills; /* the last for one range wins */
    const vyre_download *downloads;
    uint32_t flags; /* VYRE_DISPATCH_TIMED */
} vyre_sequence_params;

static inline void vyre_sequence_params_init(vyre_sequence_params *params)
{
    vyre_sequence_params zero = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    *params = zero;
    params->struct_size = (uint32_t)sizeof *params;
}

/* Recorded once, run any number of times. Thread-safety: external. */
typedef struct vyre_sequence vyre_sequence;

/* Checks and records everything. The buffers cannot be destroyed until the sequence is. At most
 * 1,048,576 dispatches in all; a fixpoint in a step runs as vyre_record's do. Errors: as
 * vyre_dispatch; diag->segment is the number of the step, prefix first. */
VYRE_API VYRE_CHECK vyre_result vyre_sequence_create(vyre_device *device,
                                                     const vyre_sequence_params *params,
                                                     vyre_sequence **out_sequence, vyre_diag *diag);
/* Submits, waits once, and writes the downloads. The report's passes are those of all steps each
 * time they run, its convergence LIMIT where one of them reached its limit; its record is that of
 * the first step that left one: of the pass and segment that did so first, and the least invocation
 * that did in any repetition. Errors: as vyre_dispatch. After TIMEOUT nothing was written, and the
 * next run answers BUSY until the one before has ended. timeout_ns 0: no limit. */
VYRE_API VYRE_CHECK vyre_result vyre_sequence_run(vyre_sequence *sequence, uint64_t timeout_ns,
                                                  vyre_report *out_report, vyre_diag *diag);
/* Waits for a run in flight. */
VYRE_API void vyre_sequence_destroy(vyre_sequence **sequence);

#ifdef __cplusplus
}
#endif
#endif
