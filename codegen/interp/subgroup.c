/* Subgroup operations: what the active lanes of one subgroup give each other. Lanes are consecutive
 * linear local indices; those that are inactive, or beyond a partial last subgroup, read as zero.
 * Reads columns of operands, writes the result's variable. */
#include "codegen/interp/float.h"
#include "codegen/interp/machine.h"

#include <string.h>

/* One subgroup of one statement. */
typedef struct subgroup {
    const vy_machine *m;
    const vy_stmt *stmt;
    const vy_subgroup_info *info;
    const uint32_t *lanes; /* its active lanes, ascending; some are */
    uint32_t count;
    uint32_t first, width; /* the lane of the workgroup that is its lane 0 */
    const uint64_t *x, *y;
    uint64_t *result;
    uint32_t components;
    vyre_type type; /* of a component of x */
} subgroup;

static void give_all(const subgroup *s, uint64_t value)
{
    for (uint32_t i = 0; i < s->count; i++) {
        s->result[s->lanes[i]] = value;
    }
}

static void elect(const subgroup *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        s->result[s->lanes[i]] = i == 0;
    }
}

static void vote(const subgroup *s)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        set += s->x[s->lanes[i]] != 0;
    }
    give_all(s, s->info->op == VYRE_OP_LOGICAL_OR ? set > 0 : set == s->count);
}

static void ballot(const subgroup *s)
{
    uint64_t words[VY_INTERP_MAX_SUBGROUP / 32] = {0};
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t lane = s->lanes[i] - s->first;
        words[lane / 32] |= (uint64_t)(s->x[s->lanes[i]] != 0) << lane % 32;
    }
    for (uint32_t c = 0; c < VY_COUNT_OF(words); c++) {
        for (uint32_t i = 0; i < s->count; i++) {
            s->result[(size_t)c * s->m->volume + s->lanes[i]] = words[c];
        }
    }
}

/* The lane of the subgroup that `lane` reads; `width` and beyond: none. */
static uint64_t source_of(const subgroup *s, uint32_t lane, uint64_t y)
{
    switch ((int)s->stmt->subgroup) {
    case VYRE_SUBGROUP_SHUFFLE_XOR:
        return lane ^ y;
    case VYRE_SUBGROUP_SHUFFLE_UP:
        return y > lane ? s->width : lane - y;
    case VYRE_SUBGROUP_SHUFFLE_DOWN:
        return lane + y;
    default:
        return y;
    }
}

static void exchange(const subgroup *s)
{
    bool is_active[VY_INTERP_MAX_SUBGROUP] = {false};
    for (uint32_t i = 0; i < s->count; i++) {
        is_active[s->lanes[i] - s->first] = true;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t lane = s->lanes[i];
        uint64_t source = source_of(s, lane - s->first, s->y[lane]);
        bool is_there = source < s->width && is_active[source];
        for (uint32_t c = 0; c < s->components; c++) {
            size_t column = (size_t)c * s->m->volume;
            s->result[column + lane] = is_there ? s->x[column + s->first + source] : 0;
        }
    }
}

static void broadcast_first(const subgroup *s)
{
    for (uint32_t c = 0; c < s->components; c++) {
        size_t column = (size_t)c * s->m->volume;
        uint64_t value = s->x[column + s->lanes[0]];
        for (uint32_t i = 0; i < s->count; i++) {
            s->result[column + s->lanes[i]] = value;
        }
    }
}

/* ---- Reductions and scans -------------------------------------------------------------------- */

/* The value that changes no other one, where an exclusive scan starts. */
static uint64_t identity_of(vyre_op op, vyre_type type)
{
    const vy_float_format *f = vy_float_format_get(type);
    uint64_t sign = (uint64_t)1 << (vy_type_width(type) - 1);
    bool is_signed = vy_type_is_signed(type);
    switch ((int)op) {
    case VYRE_OP_MUL:
        return f ? f->one : 1;
    case VYRE_OP_MIN:
        if (f) {
            return f->infinity;
        }
        return is_signed ? sign - 1 : vy_type_bits(type, UINT64_MAX);
    case VYRE_OP_MAX:
        if (f) {
            return f->sign | f->infinity;
        }
        return is_signed ? sign : 0;
    case VYRE_OP_AND:
        return vy_type_bits(type, UINT64_MAX);
    default:
        return 0;
    }
}

/* A NaN alone has the form of those that operators make. */
static uint64_t canonical(vyre_type type, uint64_t bits)
{
    return vy_type_is_float(type) && vy_float_is_nan(type, bits) ? vy_float_nan(type) : bits;
}

/* In the order of lanes, which counts for floats. */
static void accumulate(const subgroup *s, const uint64_t *x, uint64_t *result)
{
    uint64_t sum = identity_of(s->info->op, s->type);
    bool is_exclusive = s->info->kind == VY_SUBGROUP_EXCLUSIVE;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t lane = s->lanes[i];
        const uint64_t pair[2] = {sum, x[lane]};
        if (is_exclusive) {
            result[lane] = sum;
        }
        sum = i || is_exclusive
                  ? vy_interp_eval(s->info->op, s->type, s->type, pair, s->m->flush_denormals)
                  : canonical(s->type, x[lane]);
        if (!is_exclusive) {
            result[lane] = sum;
        }
    }
    for (uint32_t i = 0; i < s->count && s->info->kind == VY_SUBGROUP_REDUCE; i++) {
        result[s->lanes[i]] = sum;
    }
}

static void run(const subgroup *s)
{
    switch (s->info->kind) {
    case VY_SUBGROUP_ELECT:
        elect(s);
        return;
    case VY_SUBGROUP_VOTE:
        vote(s);
        return;
    case VY_SUBGROUP_BALLOT:
        ballot(s);
        return;
    case VY_SUBGROUP_VALUE:
        broadcast_first(s);
        return;
    case VY_SUBGROUP_LANE:
        exchange(s);
        return;
    case VY_SUBGROUP_REDUCE:
    case VY_SUBGROUP_INCLUSIVE:
    case VY_SUBGROUP_EXCLUSIVE:
        for (uint32_t c = 0; c < s->components; c++) {
            size_t column = (size_t)c * s->m->volume;
            accumulate(s, s->x + column, s->result + column);
        }
        return;
    }
}

void vy_machine_subgroup(vy_machine *m, const vy_frame *frame, const vy_stmt *stmt)
{
    const uint32_t *lanes = vy_frame_block(m, frame, VY_BLOCK_ACTIVE);
    vyre_type type = (vyre_type)m->program->exprs.data[stmt->x.root].type; /* of entry 0: void */
    subgroup s = {.m = m,
                  .stmt = stmt,
                  .info = vy_subgroup_get((vyre_subgroup)stmt->subgroup),
                  .width = m->bound->subgroup_width,
                  .x = vy_machine_column(m, stmt->x.root, frame->columns),
                  .y = vy_machine_column(m, stmt->y.root, frame->columns),
                  .result = m->vars[stmt->result],
                  .components = vy_type_components(type),
                  .type = vy_type_component(type)};
    for (uint32_t i = 0; i < frame->active; i += s.count) {
        s.lanes = lanes + i;
        s.first = lanes[i] - lanes[i] % s.width;
        s.count = 1;
        while (i + s.count < frame->active && lanes[i + s.count] - s.first < s.width) {
            s.count++;
        }
        run(&s);
    }
}
