/* Looking on while the interpreter runs a program: for debuggers. */
#ifndef VY_INTERP_WATCH_H
#define VY_INTERP_WATCH_H

#include "codegen/base/base.h"
#include "vyre/interp.h"

/* Where a run stands: behind a segment execution. What the caller's buffers have of what the run
 * writes is what it left. */
typedef struct vy_interp_place {
    uint32_t pass, execution, executions; /* executions: of a pass */
    uint32_t segment, segments;           /* segments: of the program */
    uint32_t line;                        /* of its first statement; 0: it has none */
} vy_interp_place;

/* For debuggers: looks on while a program runs. */
typedef struct vy_interp_watch {
    /* Of the last of the passes, no more segment executions are run; 0: all. */
    uint32_t last_count;
    /* May be NULL. False ends the run there, as if it were over. */
    bool (*step)(void *user, const vy_interp_place *place);
    void *user;
    /* Behind every few workgroups, buffers apart: how far the segment is. May be NULL. */
    void (*tick)(void *user, const vy_interp_place *place, uint32_t group, uint32_t group_count);
    void *tick_user;
    /* An element of buffers[buffer]; 0: none. What was written there last: */
    uint32_t buffer, element;
    uint32_t stmt; /* a STORE or ATOMIC, 0: nothing */
    uint32_t pass, execution, invocation;
    uint32_t writes; /* in that execution */
} vy_interp_watch;

/* As vyre_interp_run; `watch` may be NULL. */
vyre_result vy_interp_run_watched(const vyre_program *program, const vyre_interp_params *params,
                                  vy_interp_watch *watch, vyre_interp_report *out_report,
                                  vyre_diag *diag);
/* The segment executions of a pass, with their lines; `pass` and `execution` count from 0. In
 * `arena`. */
vyre_result vy_interp_schedule(const vyre_program *program, const vyre_interp_params *params,
                               vy_arena *arena, vy_interp_place **out_list, uint32_t *out_count,
                               vyre_diag *diag);

#endif
