/* The program that drains a queue: its text, with a caller's handlers in it, parsed as any other.
 */
#ifndef VY_MEGAKERNEL_DRAIN_H
#define VY_MEGAKERNEL_DRAIN_H

#include "codegen/base/base.h"
#include "vyre/program.h"

/* Bindings, in this order, before the caller's; parameters likewise. */
enum { VY_DRAIN_CONTROL, VY_DRAIN_RING, VY_DRAIN_DEBUG_LOG, VY_DRAIN_IO, VY_DRAIN_BINDINGS };
enum { VY_DRAIN_SLOT_COUNT, VY_DRAIN_MAX_CLAIMS, VY_DRAIN_PERSISTENT, VY_DRAIN_PARAMS };

/* function: of `functions`, (slot: u32, a0: u32, a1: u32, a2: u32) -> u32, which gives 0, or the
 * fault that the slot ends with (VYRE_FAULT_HANDLER). */
typedef struct vy_drain_handler {
    uint32_t opcode;
    const char *function;
} vy_drain_handler;

typedef struct vy_drain_params {
    uint32_t workgroup; /* invocations of one; 0: 64 */
    bool by_subgroup;   /* lanes claim together; needs VYRE_RECONVERGENCE_MAXIMAL */
    const char
        *declarations;     /* buffers and parameters that the handlers use, as text; NULL: none */
    const char *functions; /* the handlers, and what they call; NULL: none */
    const vy_drain_handler *handlers;
    uint32_t handler_count;
} vy_drain_params;

/* Errors: an opcode that is the system's or named twice, INVALID_PROGRAM (in `functions` or
 * `declarations`: the place is in these, and the file so named), OUT_OF_HOST_MEMORY. */
vyre_result vy_drain_build(const vy_drain_params *params, const vyre_allocator *allocator,
                           vyre_program **out_program, vyre_diag *diag);

#endif
