/* What tools need of dispatches beyond the public interface: an early end, how far they are, and
 * what each segment takes. Includes nothing of the engine's inside, so that tools may have it
 * beside the IR. */
#ifndef VY_DEBUG_H
#define VY_DEBUG_H

#include "vyre/dispatch.h"

/* As vyre_dispatch_async, but of the last of params->passes passes only the first `executions`
 * segment executions are run, in the order of the text; 0: all, and as many as there are or more
 * are all, too. A part of a pass is always run by replay; passes, convergence and what was executed
 * are then reported as of whole passes. */
VYRE_CHECK vyre_result vy_dispatch_prefix(vyre_pipeline *pipeline,
                                          const vyre_dispatch_params *params, uint32_t executions,
                                          vyre_ticket *out_ticket, vyre_diag *diag);
/* Passes that have ended, as far as the host has seen; 0 for a stale ticket. By the thread that
 * waits for the ticket, on devices without a thread of their own. */
uint32_t vy_ticket_passes(vyre_device *device, vyre_ticket ticket);

/* A segment execution that was timed: from its start to its end, counted from the run's first
 * command. */
typedef struct vy_mark {
    uint32_t pass, execution;
    uint64_t begin_ns, end_ns;
} vy_mark;
/* The caller's; those beyond the capacity are left out. */
typedef struct vy_marks {
    vy_mark *list;
    uint32_t count, capacity;
} vy_marks;
/* As vyre_dispatch with VYRE_DISPATCH_TIMED, by replay and with commands of its own for each
 * segment execution, so that none overlaps another; results are the same. With `until` there may be
 * marks of passes behind the last one. None where the device has no timestamps. */
VYRE_CHECK vyre_result vy_dispatch_marked(vyre_pipeline *pipeline,
                                          const vyre_dispatch_params *params, vy_marks *marks,
                                          vyre_report *out_report, vyre_diag *diag);

#endif
