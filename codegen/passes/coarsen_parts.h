/* What coarsen_find.c and coarsen_front.c decide and coarsen.c carries out. */
#ifndef VY_COARSEN_PARTS_H
#define VY_COARSEN_PARTS_H

#include "codegen/passes/coarsen.h"
#include "codegen/passes/edit.h"
#include "codegen/passes/flow.h"

#define VY_COARSE_JOINS  4u /* atomics that are joined, by buffer and index */
#define VY_COARSE_LIMITS 8u /* numbers that gid.x is compared with */

/* How many elements an invocation does at most, all powers of two. Segments that only read streams
 * and join: fewer atomics, more loads at once; by rounds of 16 bytes of the widest stream. Those
 * whose joined atomics' old values are used keep what they have read until these are there. */
#define VY_COARSE_MOST         128u
#define VY_COARSE_ROUNDS       32u
#define VY_COARSE_MOST_RETURNS 16u
/* Of VY_COARSEN_LONG, where blocks are stored: 64 bytes. */
#define VY_COARSE_STORED_ROUNDS 4u

/* Words of the workgroup's memory, where what its elements append is put together before it is
 * stored. */
#define VY_COARSE_STAGE 4096u

typedef enum vy_coarse_role {
    VY_COARSE_PLAIN,   /* copied for every element */
    VY_COARSE_LOAD,    /* at gid.x, and part of a wide one */
    VY_COARSE_STORE,   /* likewise */
    VY_COARSE_JOINED,  /* an atomic whose operand is joined with the others' */
    VY_COARSE_RETURNS, /* likewise, before all that needs what it found */
} vy_coarse_role;

/* Atomics that become one. */
typedef struct vy_coarse_join {
    uint32_t buffer, index; /* index: an instruction that is the same for all */
    uint8_t atomic, type;
    vyre_op op; /* that joins operands */
    uint64_t identity;
    bool is_certain;   /* every element has one */
    bool is_unchecked; /* so proved by one that every element has */
    bool returns;      /* what they find is used; all of them are proved */
    bool is_ranked;    /* what they find counts the lanes that have one */
    bool is_group;     /* one for the workgroup, where all of it is here */
    uint32_t word;     /* then: where operands meet */
    uint64_t most;     /* sum of an element's operands, literals; UINT64_MAX: any, or some are 0 */
    vy_loc loc;
} vy_coarse_join;

typedef struct vy_coarse_plan {
    /* The segment where gid.x is below the limits, so that comparisons with them are known. */
    vy_ssa form;
    vy_ins limits[VY_COARSE_LIMITS]; /* that can stand anywhere */
    uint32_t limit_count;
    vy_flow flow;  /* of that form */
    uint32_t exit; /* the one block that returns; the last */
    /* An invocation does `rounds` blocks of `lanes` neighbours, both powers of two: block j, and
     * those that lie one, two, ... times the count of invocations behind it. */
    uint32_t lanes, lane_shift, rounds, round_shift;
    bool is_near;       /* an invocation's blocks stand side by side instead */
    uint64_t streams;   /* bindings */
    uint8_t *roles;     /* by instruction: vy_coarse_role */
    uint8_t *join_of;   /* by instruction */
    bool *is_loaded;    /* by buffer: loads at gid.x are wide */
    uint32_t *store_of; /* by buffer: a store, where the last one's value is stored wide; or 0 */
    vy_coarse_join joins[VY_COARSE_JOINS];
    uint32_t join_count, group_count; /* group_count: of the workgroup's */
    /* The store of what is appended at the places of one join, 0: none is staged; which join; the
     * atomic that takes its place, and what is added to that. */
    uint32_t staged_store, staged_join, staged_atomic, staged_offset;
    /* Where atomics return: what all elements do before, without control flow. */
    bool *is_front;      /* by instruction */
    bool *is_asked;      /* by block: whether the element comes there */
    uint32_t *header_of; /* by block: the one that names it as its merge block, or 0 */
} vy_coarse_plan;

/* gid.x */
bool vy_coarse_is_place(const vy_ins *ins);

/* coarsen_guard.c: makes that form, in the segment's memory, and finds the limits. False: out of
 * memory. */
bool vy_coarse_assume(const vy_ssa *ssa, vy_coarse_plan *plan);

/* coarsen_front.c: finds what the operands and the ways to the atomics of these buffers (`returns`,
 * by buffer) are made of. Not possible where an element would have to do more for it than to
 * compute, to read its streams, and to read always what nobody writes. False: out of memory. */
bool vy_coarse_find_front(vy_coarse_plan *plan, const bool *returns, bool *out_is_possible);

/* From the segment's scratch memory. False: out of memory. `lanes` 0: it cannot or need not be. */
bool vy_coarse_find(const vy_ssa *ssa, uint32_t ways, vy_coarse_plan *out_plan);

#endif
