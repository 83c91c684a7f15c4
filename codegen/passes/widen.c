/* Joins loads, and stores, of neighbours. A group of them lies in one block, its indices are of the
 * same terms (linear.h), and low bits that are known to be zero say which of them begins a wide
 * element. Loads go up to the first one of a group, stores down to the last one: so nothing may lie
 * between that could touch the same elements, nor an order that others rely on.
 *
 * Elements of different terms may be the same; those of the same terms at other offsets are not,
 * and those of other bindings are not either, since coarse words are for dispatches without
 * overlaps of what is written. */
#include "codegen/passes/widen.h"

#include "codegen/passes/linear.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/wide.h"

#include <string.h>

#define MAX_OPEN 32u /* groups at a time; more are rare, and each access looks at all of them */

/* Accesses of the elements of one wide one. */
typedef struct group {
    uint32_t buffer, lanes;
    bool is_store;
    vy_linear base; /* the index of element 0 */
    /* By lane. */
    uint32_t members[VY_WIDE_LANES]; /* instructions, or 0 */
    uint32_t places[VY_WIDE_LANES];  /* of them in the walk */
    uint32_t first;                  /* the least of those */
    uint32_t stored;                 /* bits: of a group of loads, stored behind its first one */
} group;

/* What is to be done: `lanes` members of a group. */
typedef struct join {
    uint32_t lanes, first, last; /* first, last: in the order of the block */
    bool is_store;
    uint32_t members[VY_WIDE_LANES];
} join;

typedef struct widener {
    vy_ssa *ssa;
    const uint8_t *zeros;
    group open[MAX_OPEN];
    uint32_t open_count, place;
    VY_VEC(join) joins;
    VY_VEC(uint32_t) again; /* pairs: a load, and the one before it of the same element */
} widener;

static bool is_shared(const widener *w, uint32_t buffer)
{
    return w->ssa->program->buffers.data[buffer].mode == VYRE_BUFFER_SHARED;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* All in bounds: every one, or the last, if no index of the others can have wrapped. */
static bool is_in_bounds(const widener *w, const uint32_t *members, uint32_t count)
{
    const vy_ins *last = &w->ssa->ins.data[members[count - 1]];
    bool all = last->unchecked;
    for (uint32_t k = 0; k + 1 < count; k++) {
        const vy_ins *ins = &w->ssa->ins.data[members[k]];
        vyre_type type = (vyre_type)w->ssa->ins.data[ins->arg[0]].type;
        all = all && (ins->unchecked || vy_type_width(type) == 32);
    }
    return all;
}

/* Of the members from `first` on: as many as can be, in one access or in some of half the size. */
static void join_members(widener *w, const group *g, uint32_t first, uint32_t count)
{
    uint32_t size = vy_wide_element_size(w->ssa->program, g->buffer, VY_WIDE_PART), there = 0;
    if (count < 2 || count * size < sizeof(uint32_t)) {
        return;
    }
    join j = {.lanes = count, .is_store = g->is_store};
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t member = g->members[first + k], place = g->places[first + k];
        j.members[k] = member;
        there += member != 0;
        j.first = member && place < least ? member : j.first;
        j.last = member && place > most ? member : j.last;
        least = member && place < least ? place : least;
        most = member && place > most ? place : most;
    }
    if (there == count && is_in_bounds(w, j.members, count)) {
        (void)vy_vec_push(w->ssa->scratch, &w->joins, j);
    } else if (there >= 2) {
        join_members(w, g, first, count / 2);
        join_members(w, g, first + count / 2, count / 2);
    }
}

/* Stores that go down, past the first load of a group of the same elements to which others may
 * still come. */
static void pass_loads(widener *w, const group *stores)
{
    uint32_t last = 0, members = 0;
    for (uint32_t k = 0; k < stores->lanes; k++) {
        last = stores->members[k] && stores->places[k] > last ? stores->places[k] : last;
        members |= stores->members[k] ? 1u << k : 0;
    }
    for (uint32_t g = 0; g < w->open_count; g++) {
        group *loads = &w->open[g];
        if (!loads->is_store && loads->buffer == stores->buffer && loads->first < last &&
            loads->base.offset == stores->base.offset &&
            vy_linear_has_terms_of(&loads->base, &stores->base)) {
            loads->stored |= members;
        }
    }
}

static void close_group(widener *w, uint32_t at)
{
    if (w->open[at].is_store) {
        pass_loads(w, &w->open[at]);
    }
    join_members(w, &w->open[at], 0, w->open[at].lanes);
    w->open_count--;
    memmove(&w->open[at], &w->open[at + 1], (w->open_count - at) * sizeof w->open[at]);
}

static void close_buffer(widener *w, uint32_t buffer)
{
    for (uint32_t g = w->open_count; g-- > 0;) {
        if (w->open[g].buffer == buffer) {
            close_group(w, g);
        }
    }
}

static void close_all(widener *w)
{
    while (w->open_count) {
        close_group(w, w->open_count - 1);
    }
}

/* ---- Accesses -------------------------------------------------------------------------------- */

/* What an access does to an open group of the same buffer. */
static void meet(widener *w, uint32_t at, const vy_linear *index, bool is_store)
{
    group *g = &w->open[at];
    bool is_same = vy_linear_has_terms_of(&g->base, index);
    uint32_t lane = index->offset - g->base.offset;
    bool is_inside = is_same && lane < g->lanes;
    if (!g->is_store && !is_store) {
        return;
    }
    if (!is_same) {
        close_group(w, at);
    } else if (is_inside && !g->is_store) {
        g->stored |= 1u << lane; /* later loads of it see that */
    } else if (is_inside && g->members[lane]) {
        close_group(w, at);
    }
}

/* Puts it into a group. */
static void add(widener *w, uint32_t index, const vy_linear *linear, uint32_t lanes)
{
    const vy_ins *ins = &w->ssa->ins.data[index];
    bool is_store = ins->op == VY_SSA_STORE;
    uint32_t lane = linear->offset & (lanes - 1), at = 0;
    vy_linear base = *linear;
    base.offset -= lane;
    while (at < w->open_count &&
           (w->open[at].buffer != ins->ref || w->open[at].is_store != is_store ||
            w->open[at].base.offset != base.offset ||
            !vy_linear_has_terms_of(&w->open[at].base, &base))) {
        at++;
    }
    if (at < w->open_count && (w->open[at].stored >> lane & 1)) {
        close_group(w, at);
        at = w->open_count;
    }
    if (at == w->open_count) {
        if (at == MAX_OPEN) {
            close_group(w, 0);
            at--;
        }
        w->open[at] = (group){.buffer = ins->ref,
                              .lanes = lanes,
                              .is_store = is_store,
                              .base = base,
                              .first = w->place};
        w->open_count++;
    }
    group *g = &w->open[at];
    if (g->members[lane]) { /* a load of what was loaded */
        const uint32_t both[2] = {g->members[lane], index};
        if (is_in_bounds(w, both, 2)) {
            (void)vy_vec_push(w->ssa->scratch, &w->again, index);
            (void)vy_vec_push(w->ssa->scratch, &w->again, g->members[lane]);
        }
        return;
    }
    g->members[lane] = index;
    g->places[lane] = w->place;
}

/* How many elements a wide one may have that begins where the terms say; below 2: none. */
static uint32_t lanes_of(const widener *w, uint32_t buffer, const vy_linear *index)
{
    uint32_t size = vy_wide_element_size(w->ssa->program, buffer, VY_WIDE_PART);
    uint32_t zeros = vy_linear_zeros(index, w->zeros), lanes = size ? VY_WIDE_SIZE / size : 0;
    while (lanes > 1 && zeros < 5 && lanes > 1u << zeros) {
        lanes /= 2;
    }
    return lanes;
}

static void access(widener *w, uint32_t index)
{
    const vy_ins *ins = &w->ssa->ins.data[index];
    if (is_shared(w, ins->ref)) {
        return;
    }
    if (ins->ref == w->ssa->program->until) { /* its element 0 lies elsewhere */
        return;
    }
    vy_linear linear = vy_linear_find(w->ssa, w->zeros, ins->arg[0]);
    for (uint32_t g = w->open_count; g-- > 0;) {
        if (w->open[g].buffer == ins->ref) {
            meet(w, g, &linear, ins->op == VY_SSA_STORE);
        }
    }
    uint32_t lanes = lanes_of(w, ins->ref, &linear);
    if (lanes > 1) {
        w->place++;
        add(w, index, &linear, lanes);
    }
}

static void visit(widener *w, uint32_t index)
{
    const vy_ins *ins = &w->ssa->ins.data[index];
    switch ((int)ins->op) {
    case VYRE_OP_LOAD:
    case VY_SSA_STORE:
        access(w, index);
        break;
    case VY_SSA_ATOMIC:
        if (ins->order != VYRE_ORDER_RELAXED) {
            close_all(w);
        } else if (!is_shared(w, ins->ref)) {
            close_buffer(w, ins->ref);
        }
        break;
    case VY_SSA_BARRIER:
        close_all(w);
        break;
    default:
        break;
    }
}

/* ---- Doing it -------------------------------------------------------------------------------- */

static uint32_t put(widener *w, uint32_t block, uint32_t *after, vy_ins ins)
{
    *after = vy_ssa_insert(w->ssa, block, *after, ins);
    return *after;
}

/* Which wide element, behind `after`. The index of any member says so that stands before. */
static uint32_t wide_index(widener *w, const join *j, uint32_t member, uint32_t *after)
{
    vy_ssa *ssa = w->ssa;
    uint32_t index = ssa->ins.data[member].arg[0], block = ssa->ins.data[member].block, places = 0;
    vyre_type type = (vyre_type)ssa->ins.data[index].type;
    while (j->lanes >> places > 1) {
        places++;
    }
    if (type != VYRE_TYPE_U32) {
        bool is_short = vy_type_width(type) == 32;
        vy_ins low = {.op = (uint16_t)(is_short ? VYRE_OP_BITCAST : VYRE_OP_CAST),
                      .type = VYRE_TYPE_U32,
                      .arg = {index}};
        index = put(w, block, after, low);
    }
    vy_ins shift = {.op = VYRE_OP_SHR,
                    .type = VYRE_TYPE_U32,
                    .unchecked = true,
                    .arg = {index, vy_ssa_literal(ssa, VYRE_TYPE_U32, places)}};
    return put(w, block, after, shift);
}

static void join_loads(widener *w, const join *j, uint32_t *map)
{
    vy_ssa *ssa = w->ssa;
    uint32_t after = j->first, block = ssa->ins.data[j->first].block, values[VY_WIDE_LANES];
    vy_wide wide = {ssa->ins.data[j->first].ref, j->lanes, 0, ssa->ins.data[j->first].loc};
    wide.index = wide_index(w, j, j->first, &after);
    (void)vy_wide_load(ssa, block, after, &wide, values);
    for (uint32_t k = 0; k < j->lanes && !ssa->arena->failed; k++) {
        ssa->ins.data[values[k]].name = ssa->ins.data[j->members[k]].name;
        ssa->ins.data[j->members[k]].removed = true;
        map[j->members[k]] = values[k];
    }
}

static void join_stores(widener *w, const join *j)
{
    vy_ssa *ssa = w->ssa;
    uint32_t after = j->last, block = ssa->ins.data[j->last].block, values[VY_WIDE_LANES];
    vy_wide wide = {ssa->ins.data[j->last].ref, j->lanes, 0, ssa->ins.data[j->last].loc};
    for (uint32_t k = 0; k < j->lanes; k++) {
        values[k] = ssa->ins.data[j->members[k]].arg[1];
        ssa->ins.data[j->members[k]].removed = true;
    }
    wide.index = wide_index(w, j, j->members[0], &after); /* as of loads, which begin there */
    (void)vy_wide_store(ssa, block, after, &wide, values);
}

/* Instructions that a join makes, at most: the index, its literal, the access, elements or words.
 */
#define JOIN_INSTRUCTIONS (VY_WIDE_LANES + 6u)

static bool apply(widener *w, uint64_t *out_streams)
{
    vy_ssa *ssa = w->ssa;
    size_t size = ssa->ins.count + (size_t)w->joins.count * JOIN_INSTRUCTIONS;
    uint32_t *map = vy_arena_alloc(ssa->scratch, size, sizeof *map);
    if (!map) {
        return false;
    }
    vy_ssa_index_literals(ssa);
    for (uint32_t i = 0; i < w->joins.count && !ssa->arena->failed; i++) {
        const join *j = &w->joins.data[i];
        uint32_t buffer = ssa->ins.data[j->first].ref;
        *out_streams |= (uint64_t)1 << ssa->program->buffers.data[buffer].binding;
        if (j->is_store) {
            join_stores(w, j);
        } else {
            join_loads(w, j, map);
        }
    }
    if (ssa->arena->failed) {
        return false;
    }
    for (uint32_t i = 0; i < w->again.count; i += 2) {
        ssa->ins.data[w->again.data[i]].removed = true;
        map[w->again.data[i]] = w->again.data[i + 1];
    }
    ssa->is_folded = ssa->is_live = false;
    vy_ssa_sweep(ssa);
    vy_ssa_rewrite(ssa, map);
    return vy_pass_dce(ssa, NULL);
}

/* Whether a block loads from a buffer, or stores to it, more than once: others have no neighbours.
 */
static bool may_join(const vy_ssa *ssa)
{
    uint32_t buffers = ssa->program->buffers.count;
    uint32_t *seen = vy_arena_alloc(ssa->scratch, 2 * (size_t)buffers, sizeof *seen);
    for (uint32_t b = 1; seen && b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            const vy_ins *ins = &ssa->ins.data[i];
            if (ins->op != VYRE_OP_LOAD && ins->op != VY_SSA_STORE) {
                continue;
            }
            uint32_t *in_block = &seen[2 * ins->ref + (ins->op == VY_SSA_STORE)];
            if (*in_block == b && ssa->program->buffers.data[ins->ref].mode != VYRE_BUFFER_SHARED) {
                return true;
            }
            *in_block = b;
        }
    }
    return false;
}

static bool find(widener *w, vy_ssa *ssa)
{
    *w = (widener){.ssa = ssa};
    if (!may_join(ssa)) {
        return !ssa->scratch->failed;
    }
    w->zeros = vy_ssa_low_zeros(ssa);
    for (uint32_t b = 1; w->zeros && b < ssa->blocks.count; b++) {
        for (uint32_t i = ssa->blocks.data[b].first; i; i = ssa->ins.data[i].next) {
            visit(w, i);
        }
        close_all(w);
    }
    return !ssa->scratch->failed;
}

bool vy_ssa_widen(vy_ssa *ssa, uint64_t *out_streams)
{
    widener w;
    *out_streams = 0;
    return find(&w, ssa) && (!w.joins.count || apply(&w, out_streams));
}

bool vy_ssa_has_neighbours(vy_ssa *ssa, bool *out_has)
{
    widener w;
    bool is_done = find(&w, ssa);
    *out_has = w.joins.count > 0;
    return is_done;
}

bool vy_ssa_coarsen_or_widen(vy_ssa *ssa, uint32_t ways, vy_coarse *out_coarse)
{
    if (!vy_ssa_coarsen(ssa, ways, out_coarse)) {
        return false;
    }
    if (out_coarse->elements) {
        return true;
    }
    bool is_done = vy_ssa_widen(ssa, &out_coarse->streams);
    out_coarse->elements = out_coarse->streams ? 1 : 0;
    return is_done;
}
