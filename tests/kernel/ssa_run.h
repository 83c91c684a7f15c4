/* Runs a program's SSA forms on the host: what a correct emitter and device would make of them.
 * Checks whatever passes claim of an instruction, whenever it runs. Reads the form alone, apart
 * from the meaning of operators, which is the interpreter's; NaNs made by arithmetic get other bits
 * on purpose, as on devices. */
#ifndef VY_TESTS_SSA_RUN_H
#define VY_TESTS_SSA_RUN_H

#include "vyre/interp.h"
#include "vyre/kernel.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct ssa_run_params {
    vyre_host_buffer *buffers; /* by binding; count UINT32_MAX: the declared one, without data */
    const uint32_t *params;
    uint32_t groups[3];
    uint32_t pass_count; /* of the pipeline that run before: 0 for the form as built */
    bool flush_denormals;
    bool is_widened; /* then neighbours are accessed as one (passes/widen.h) */
    bool overlaps;   /* buffers with the same data are the same memory, and passes may not rely on
                        anything else */
} ssa_run_params;

typedef struct ssa_run_report {
    uint32_t passes, segments;
    uint32_t loops;     /* of the forms */
    uint64_t unchecked; /* instructions run that a pass proved safe: each was checked */
    uint64_t wide;      /* accesses of several elements at once, likewise */
    vyre_fault_record record;
} ssa_run_report;

/* False, with a message, where a form is not well formed or does what no form may do. */
bool ssa_run(const vyre_program *program, const ssa_run_params *params, ssa_run_report *out_report,
             char *message, size_t message_size);

#endif
