/* What coarsen.c and coarsen_returns.c share while they make the new form. */
#ifndef VY_COARSEN_MAKE_H
#define VY_COARSEN_MAKE_H

#include "codegen/passes/coarsen_parts.h"

typedef struct vy_coarsener {
    vy_ssa *ssa;        /* the new form */
    const vy_ssa *from; /* whose body is copied: the segment, or the plan's form of it */
    const vy_coarse_plan *plan;
    uint32_t *values; /* by instruction of the body: what it is in the copy being made */
    uint32_t *fronts; /* those of each element, where atomics return */
    uint32_t *comes;  /* by block, in a front: whether the element comes there; 0: it does */
    uint32_t *blocks; /* by block of the body: what it is in the copy being made */
    /* By block, for each join and then each buffer: what is joined when it ends, so far; the value
     * to be stored, 0 where there is none on some way. */
    uint32_t *sums;
    uint32_t *loaded; /* by buffer, for each element of an invocation: its value */
    uint32_t *stored; /* likewise: what it stores */
    /* Of the copies before; where the atomic has returned, what the next element finds, of those
     * that are ranked in all lanes. */
    uint32_t joined[VY_COARSE_JOINS];
    VY_VEC(uint32_t) order; /* of the blocks */
    /* In the entry block: T, and for each round the number of a block and of its first element;
     * whether all blocks of all invocations of the workgroup may be done as a whole. */
    uint32_t count, rounds[VY_COARSE_MOST], firsts[VY_COARSE_MOST], has_group;
    bool is_staged; /* it is known that all of the workgroup is here, and what it appends is staged
                     */
} vy_coarsener;

/* A copy of the body. */
typedef struct vy_body_copy {
    uint32_t place;   /* gid.x */
    uint32_t element; /* of the invocation's; UINT32_MAX: all is plain */
    uint32_t after;   /* the block behind it */
} vy_body_copy;

/* ---- coarsen_make.c: instructions and blocks at the end of what is there --------------------- */

uint32_t vy_make(vy_coarsener *c, uint32_t block, uint32_t op, vyre_type type, uint32_t a,
                 uint32_t b);
uint32_t vy_make_u32(vy_coarsener *c, uint32_t block, vyre_op op, uint32_t a, uint32_t b);
uint32_t vy_make_number(vy_coarsener *c, uint32_t value);
/* A copy of what is no phi. */
uint32_t vy_make_copy(vy_coarsener *c, uint32_t block, vy_ins ins);
/* Behind `after`, of `count` edges from the first one on. */
uint32_t vy_make_phi(vy_coarsener *c, uint32_t block, uint32_t after, vyre_type type,
                     uint32_t first, uint32_t count);

uint32_t vy_make_block(vy_coarsener *c);
/* The next one in the order. */
void vy_make_begin(vy_coarsener *c, uint32_t block);
void vy_make_jump(vy_coarsener *c, uint32_t from, uint32_t to);
void vy_make_branch(vy_coarsener *c, uint32_t from, uint32_t cond, uint32_t yes, uint32_t no);
void vy_make_merge(vy_coarsener *c, uint32_t from, uint32_t merge);

/* Of `loaded` and `stored`. */
uint32_t vy_make_place_of(uint32_t buffer, uint32_t element);
uint32_t vy_make_identity(vy_coarsener *c, uint32_t join);
/* Joins an operand. */
void vy_make_sum(vy_coarsener *c, uint32_t block, uint32_t *sum, uint32_t join, uint32_t operand);

/* ---- coarsen_returns.c ----------------------------------------------------------------------- */

/* Where the whole workgroup is here, its words begin. Returns the block it ends in. */
uint32_t vy_make_group_begin(vy_coarsener *c, uint32_t block);
/* The joined atomics that return, or the others, in `block` and behind; where no element may have
 * one, only if something was joined. Returns the block it ends in. */
uint32_t vy_make_joined(vy_coarsener *c, uint32_t block, bool returns);
/* The front of one element, at the end of the block. */
void vy_make_front(vy_coarsener *c, uint32_t block, const vy_body_copy *copy);
/* What the element's ranked atomics find, at the end of the block before its body, where all lanes
 * are that have made the front. */
void vy_make_ranks(vy_coarsener *c, uint32_t block);

#endif
