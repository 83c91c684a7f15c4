/* --trace: what a run did and when, in the trace event format that Perfetto and chrome://tracing
 * read. */
#ifndef VYRE_RUN_TRACE_H
#define VYRE_RUN_TRACE_H

#include "codegen/base/base.h"
#include "engine/exec/debug.h"
#include "vyre/dispatch.h"

/* Runs beyond these are not in the file: --repeat may ask for a billion. */
#define TRACE_MAX_RUNS 1000u
/* Segment executions beyond these are not in it, either. */
#define TRACE_MAX_SEGMENTS 4096u

/* Times are those of vyre_clock_ns. All calls do nothing where it is off. */
typedef struct trace {
    bool is_on;
    vy_text events; /* JSON objects with a ',' before each but the first */
    uint64_t start_ns;
    uint64_t uploaded, downloaded; /* bytes, of the runs so far */
    uint32_t runs;
} trace;

void trace_begin(trace *t);
void trace_finish(trace *t);
/* The device gets a process of its own. */
void trace_device(trace *t, const char *name, const char *driver);
/* A phase of the host, from `begin_ns` on, that has just ended. */
void trace_phase(trace *t, const char *name, uint64_t begin_ns);
void trace_span(trace *t, const char *name, uint64_t begin_ns, uint64_t end_ns);
/* A run on the device, between these times: its phases, the device's, and the bytes. */
void trace_run(trace *t, const vyre_report *report, uint64_t begin_ns, uint64_t end_ns);
/* The segment executions of a run that was timed one by one, of its first `passes` passes; names by
 * execution. The run's first command was at start_ns. */
void trace_segments(trace *t, const vy_marks *marks, uint32_t passes, const char *const *names,
                    uint64_t start_ns);
/* Errors: IO, OUT_OF_HOST_MEMORY. */
vyre_result trace_write(const trace *t, const char *path, vyre_diag *diag);

#endif
