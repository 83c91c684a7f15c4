/* The inside of pass ranges: what ranges.c (the walk), ranges_prove.c (order between values) and
 * ranges_use.c (what follows from it) share. */
#ifndef VY_RANGES_PARTS_H
#define VY_RANGES_PARTS_H

#include "codegen/passes/flow.h"
#include "codegen/passes/known.h"
#include "codegen/passes/passes.h"

/* value < other, or value <= other, as unsigned numbers, in the blocks below the one that says so.
 */
typedef struct vy_order_fact {
    uint32_t value, other;
    bool strict;
    uint32_t before; /* the fact about `value` that was the last until now, + 1 */
} vy_order_fact;

typedef struct vy_range_undo {
    uint32_t value;
    vy_known known;
} vy_range_undo;

/* The state at a point, to go back to. */
typedef struct vy_range_mark {
    uint32_t facts, undos;
} vy_range_mark;

/* What the pass has decided to do with an instruction. */
typedef enum vy_range_action {
    VY_RANGE_KEEP,
    VY_RANGE_LITERAL,     /* it is that literal: bits */
    VY_RANGE_SAME,        /* it is its operand `with` */
    VY_RANGE_LOW_BITS,    /* operand 0 AND bits */
    VY_RANGE_SHIFT_RIGHT, /* operand 0 SHR bits */
    VY_RANGE_UNCHECKED
} vy_range_action;

typedef struct vy_range_decision {
    uint8_t action, with;
    uint32_t bits; /* of a literal: its place in `literals` */
} vy_range_decision;

/* Of a phi: what has come in from the blocks walked so far, and the last round's share of the back
 * edges. */
typedef struct vy_range_phi {
    vy_known incoming, back;
    bool has_incoming, has_back;
    bool had_back;      /* in the round before: what `back` is until this one comes back */
    uint32_t next_edge; /* where to look first */
} vy_range_phi;

typedef struct vy_ranges {
    vy_ssa *ssa;
    vy_flow flow;
    uint32_t count;        /* instructions when the pass began */
    vy_known *known;       /* by instruction: at this point of the walk */
    uint8_t *fits;         /* by instruction: VY_FITS_* of sums and differences */
    uint8_t *low_zeros;    /* by instruction: vy_ssa_low_zeros; NULL without loops */
    uint32_t *facts_about; /* by instruction: last fact + 1 */
    VY_VEC(vy_order_fact) facts;
    VY_VEC(vy_range_undo) undos;
    vy_range_mark *marks; /* by block: before what it was entered by */
    uint32_t *phi_places; /* by instruction: of a phi among `phis` */
    vy_range_phi *phis;
    uint32_t *brought_by; /* by block: the last one that brought something to its phis */
    /* By block: the only case that leads to it. */
    uint64_t *case_value;
    uint32_t *case_count;
    uint32_t *length_of;    /* by buffer: the one with the same number of elements by declaration */
    uint32_t *length_value; /* by buffer: a LENGTH of it met so far, or 0 */
    bool decides;           /* in this round, which may be the last */
    bool has_news;          /* in this round something was found that a later one could see */
    /* Likewise a value became one with a sign, or without; and somebody asked for that of one that
     * the walk had not come to. */
    bool has_turned, asked_sign;
    vy_range_decision *decisions; /* by instruction */
    VY_VEC(uint64_t) literals;    /* that it decided for */
    bool has_decisions;           /* or ends decided; perhaps in an earlier round only */
    bool *decided_ends;           /* by block: what it chooses by is known */
    uint64_t *end_values;
    uint32_t budget; /* conditions still to be taken apart for this edge */
} vy_ranges;

/* Bits of what the pass follows, 0 of everything else. */
static const uint8_t vy_ranges_widths[VYRE_TYPE_COUNT] = {
    [VYRE_TYPE_BOOL] = 32, [VYRE_TYPE_U8] = 8,   [VYRE_TYPE_I8] = 8,
    [VYRE_TYPE_U16] = 16,  [VYRE_TYPE_I16] = 16, [VYRE_TYPE_U32] = 32,
    [VYRE_TYPE_I32] = 32,  [VYRE_TYPE_U64] = 64, [VYRE_TYPE_I64] = 64,
};

static inline uint32_t vy_ranges_width(uint8_t type)
{
    return vy_ranges_widths[type];
}

static inline bool vy_ranges_tracks(uint8_t type)
{
    return vy_ranges_widths[type] != 0;
}

static inline bool vy_ranges_is_integer(uint8_t type)
{
    return type != VYRE_TYPE_BOOL && vy_ranges_tracks(type);
}

/* A bool of which nothing is known. */
static inline vy_known vy_ranges_either(void)
{
    return (vy_known){0, 1, 0, 1, ~(uint64_t)1, 0};
}

static inline void vy_ranges_add_fits(vy_ranges *r, uint32_t index, uint32_t fits)
{
    r->has_news |= (fits & ~(uint32_t)r->fits[index]) != 0;
    r->fits[index] |= (uint8_t)fits;
}

static inline const vy_ins *vy_ranges_get(const vy_ranges *r, uint32_t value)
{
    return &r->ssa->ins.data[value];
}

/* ---- ranges_prove.c -------------------------------------------------------------------------- */

/* What something is compared with: a value, a buffer's length, a number; the least it can be. With
 * a divisor above 1: that divided by it. */
typedef struct vy_bound {
    uint32_t value, length; /* 0: none */
    uint64_t least, divisor;
} vy_bound;
vy_bound vy_bound_value(const vy_ranges *r, uint32_t value);
vy_bound vy_bound_length(const vy_ranges *r, uint32_t buffer);
vy_bound vy_bound_number(uint64_t number);

void vy_ranges_add_fact(vy_ranges *r, uint32_t value, uint32_t other, bool strict);
/* value < bound, or value <= bound, unsigned, here. False: not known. */
bool vy_ranges_is_below(const vy_ranges *r, uint32_t value, vy_bound bound, bool strict);

/* Narrows what is known of a value, and of those that it is made of in ways that can be undone. */
void vy_ranges_narrow(vy_ranges *r, uint32_t value, const vy_known *by);
/* The condition holds, or does not. */
void vy_ranges_assume(vy_ranges *r, uint32_t condition, bool holds);
/* In the body of a loop that counts trips down, which is entered where the condition holds, for the
 * indices beside the count. */
void vy_ranges_assume_trips(vy_ranges *r, uint32_t condition, uint32_t body);
vy_range_mark vy_ranges_mark(const vy_ranges *r);
void vy_ranges_go_back(vy_ranges *r, vy_range_mark mark);

/* ---- ranges_use.c ---------------------------------------------------------------------------- */

void vy_ranges_decide(vy_ranges *r, uint32_t index);
bool vy_ranges_apply(vy_ranges *r);

#endif
