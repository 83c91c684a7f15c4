/* The program that drains a queue: its text, with a caller's handlers in it, parsed as any other.
 * Which one it is depends on the queue's form and on how it is drained, never on its length. */
#ifndef VY_MEGAKERNEL_DRAIN_H
#define VY_MEGAKERNEL_DRAIN_H

#include "codegen/base/base.h"
#include "vyre/dispatcher.h"

/* Bindings, in this order, before the caller's; with `in_waves` two more, before the caller's too.
 */
enum {
    VY_DRAIN_CONTROL,
    VY_DRAIN_RING, /* of the form: u32[], inout; or u32x4[], in */
    VY_DRAIN_DEBUG_LOG,
    VY_DRAIN_IO,
    VY_DRAIN_RESULT, /* u32[], inout: as many words of control as it has, as the last workgroup of
                        the launch leaves them; a host reads them there without a copy */
    VY_DRAIN_BINDINGS,
    VY_DRAIN_BOUNDS = VY_DRAIN_BINDINGS, /* u32[], in: where each wave begins, and the last ends */
    VY_DRAIN_CURSORS,                    /* scratch, a word for each wave: NONE is bound */
    VY_DRAIN_WAVE_BINDINGS
};
/* Parameters, before the caller's. */
enum {
    VY_DRAIN_SLOT_COUNT, /* of the queue that are looked at; a ring ends where its buffer does */
    VY_DRAIN_MAX_CLAIMS, /* by one invocation in this launch */
    VY_DRAIN_PERSISTENT, /* not 0: a shutdown ends it */
    VY_DRAIN_TENANT,     /* of all items; rings have theirs */
    VY_DRAIN_PRIORITY,
    VY_DRAIN_WAVES, /* with in_waves: how many; the launch has as many passes */
    VY_DRAIN_PARAMS
};

/* Words of control, one for each priority: how many slots of its partition were looked at by
 * priority. Set to 0 where VYRE_CONTROL_CURSOR is. */
#define VY_DRAIN_PARTITION_CURSORS 148u
/* How many workgroups have left, where there is a result: 0 before the launch; not 0 in the result,
 * once that is there. */
#define VY_DRAIN_LEFT 153u

typedef enum vy_drain_form {
    VY_DRAIN_OF_RING, /* slots with statuses (vyre_slot_word) */
    VY_DRAIN_OF_ITEMS /* vyre_work_item: each is taken once, by the cursor alone */
} vy_drain_form;

/* All of it is plain data, and decides the program: equal ones make equal programs. */
typedef struct vy_drain_params {
    vy_drain_form form;
    vyre_claim claim;   /* AUTO: WORKGROUP */
    uint32_t workgroup; /* invocations of one; 0: 64, or the program's `subgroup N` */
    bool by_priority;   /* of a ring, claimed by lanes */
    bool in_waves;      /* of items: passes one after the other, each to its end (MAX_CLAIMS is
                           not looked at); the cursor of control gets what was taken added */
    bool is_special;    /* of items, all of `opcode`: nothing else is known, nothing is looked up */
    uint32_t opcode;
    const vyre_program *program; /* NULL: none */
    const vyre_handler *handlers;
    uint32_t handler_count;
    const char *io_function; /* NULL: requests are not looked at */
} vy_drain_params;

/* Whether handlers and their program can be drained with: what vyre_dispatcher_create refuses of
 * them. Errors: INVALID_ARGUMENT. */
vyre_result vy_drain_check(const vy_drain_params *params, vyre_diag *diag);
/* Errors: those, INVALID_PROGRAM, OUT_OF_HOST_MEMORY. */
vyre_result vy_drain_build(const vy_drain_params *params, const vyre_allocator *allocator,
                           vyre_program **out_program, vyre_diag *diag);

#endif
