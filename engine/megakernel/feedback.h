/* What rings and snapshots of tasks say of the work that waits, for the next launch's request.
 * Pure. */
#ifndef VY_MEGAKERNEL_FEEDBACK_H
#define VY_MEGAKERNEL_FEEDBACK_H

#include "engine/megakernel/map.h"
#include "engine/megakernel/telemetry.h"

/* The windows of a ring's slots that wait, that is PUBLISHED, WAIT_IO, YIELD or REQUEUE, in the
 * order in which they come. A slot does not say whether it carries ticket and class, so the caller
 * names the opcodes that do. *out_windows lies in `arena`; NULL where there is none. Errors:
 * INVALID_ARGUMENT: a ring that is none, a slot of those opcodes whose class is none;
 * OUT_OF_HOST_MEMORY. */
VYRE_CHECK vyre_result vy_mk_windows_read(vy_arena *arena, const void *ring, size_t size,
                                          const uint32_t *opcodes, uint32_t opcode_count,
                                          const vy_mk_window **out_windows, uint32_t *out_count,
                                          vyre_diag *diag);

/* A request for the tasks of a snapshot: as many as are schedulable, the oldest one's age, and
 * their requeues besides those that the request has, 2^32 - 1 where there are more. The rest of it
 * stays. */
void vy_mk_feed_tasks(const vyre_task_counts *counts, vy_mk_request *request);

#endif
