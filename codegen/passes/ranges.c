/* Pass ranges: what every integer can be at most and at least, and which of its bits are known.
 * Needs cse before it (a check and the access behind it must name one value) and nothing after it
 * that moves an instruction out of the block that made it safe; keeps the blocks. Makes: accesses,
 * shifts and divisions without a guard where none is needed; comparisons, remainders and masks that
 * are known; conditions that are known, for fold.
 *
 * Sound at every moment: the first round takes phis of loops for anything, each later one narrows
 * them by what the last one has found at the back edges. At most ROUNDS of them, fewer where one
 * more would find the same, one walk over the
 * dominator tree each: what a branch says holds in the blocks below it, and is taken back when the
 * walk leaves them. What an index of a `for` is follows from its own branch; that it never falls
 * below its first value, from the sum that cannot wrap. */
#include "codegen/passes/linear.h"
#include "codegen/passes/ranges_parts.h"

#include <string.h>

#define ROUNDS 3u

/* ---- Instructions ---------------------------------------------------------------------------- */

static vy_known of_builtin(const vy_ranges *r, const vy_ins *ins)
{
    const uint32_t *size = r->ssa->program->workgroup;
    uint32_t axis;
    if (r->ssa->program->prints_shape) {
        return vy_known_anything(32);
    }
    switch ((vyre_builtin)ins->ref) {
    case VYRE_BUILTIN_LID_X:
    case VYRE_BUILTIN_LID_Y:
    case VYRE_BUILTIN_LID_Z:
        /* A program that names it for more than to print it keeps its workgroup's size. */
        axis = ins->ref - VYRE_BUILTIN_LID_X;
        return vy_known_unsigned(0, size[axis] ? size[axis] - 1 : 0, 32);
    case VYRE_BUILTIN_GROUP_SIZE_X:
    case VYRE_BUILTIN_GROUP_SIZE_Y:
    case VYRE_BUILTIN_GROUP_SIZE_Z:
        axis = ins->ref - VYRE_BUILTIN_GROUP_SIZE_X;
        return vy_known_exact(size[axis], 32);
    case VYRE_BUILTIN_NUM_GROUPS_X:
    case VYRE_BUILTIN_NUM_GROUPS_Y:
    case VYRE_BUILTIN_NUM_GROUPS_Z:
        return vy_known_unsigned(1, UINT32_MAX, 32); /* who reads it is in one */
    default:
        return vy_known_anything(32);
    }
}

static vy_known of_length(vy_ranges *r, const vy_ins *ins, uint32_t index)
{
    const vyre_program *program = r->ssa->program;
    uint32_t buffer = r->length_of[ins->ref];
    const vy_range count = program->buffers.data[buffer].count;
    if (!r->length_value[buffer]) {
        r->length_value[buffer] = index;
        r->has_news = true;
    }
    if (count.root && program->exprs.data[count.root].op == VYRE_OP_LITERAL) {
        return vy_known_exact(program->exprs.data[count.root].bits[0], 32);
    }
    return vy_known_anything(32);
}

static vy_known of_logic(const vy_ranges *r, const vy_ins *ins)
{
    const vy_known *a = &r->known[ins->arg[0]], *b = &r->known[ins->arg[1]];
    bool is_and = ins->op == VYRE_OP_LOGICAL_AND;
    if (ins->op == VYRE_OP_NOT) {
        return vy_known_unsigned(1 - a->umax, 1 - a->umin, 32);
    }
    return vy_known_unsigned(is_and ? a->umin & b->umin : a->umin | b->umin,
                             is_and ? a->umax & b->umax : a->umax | b->umax, 32);
}

static vy_known of_comparison(const vy_ranges *r, const vy_ins *ins)
{
    uint8_t type = vy_ranges_get(r, ins->arg[0])->type;
    bool is_signed = vy_type_is_signed((vyre_type)type);
    vyre_op op = (vyre_op)ins->op;
    if (!vy_ranges_tracks(type)) {
        return vy_ranges_either();
    }
    int known = vy_known_compare(op, is_signed, &r->known[ins->arg[0]], &r->known[ins->arg[1]]);
    if (known < 0 && !is_signed && op != VYRE_OP_EQ && op != VYRE_OP_NE) {
        bool turned = op == VYRE_OP_GT || op == VYRE_OP_GE;
        uint32_t low = ins->arg[turned ? 1 : 0], high = ins->arg[turned ? 0 : 1];
        bool strict = op == VYRE_OP_LT || op == VYRE_OP_GT;
        if (vy_ranges_is_below(r, low, vy_bound_value(r, high), strict)) {
            known = 1;
        } else if (vy_ranges_is_below(r, high, vy_bound_value(r, low), !strict)) {
            known = 0;
        }
    }
    return known < 0 ? vy_ranges_either() : vy_known_exact((uint64_t)known, 32);
}

static vy_known of_conversion(const vy_ranges *r, const vy_ins *ins)
{
    const vy_ins *from = vy_ranges_get(r, ins->arg[0]);
    uint32_t width = vy_ranges_width(ins->type);
    const vy_known *a = &r->known[ins->arg[0]];
    if (!vy_ranges_tracks(from->type)) {
        return vy_known_anything(width);
    }
    if (ins->type == VYRE_TYPE_BOOL) {
        return vy_known_unsigned(a->umin ? 1 : 0, a->umax ? 1 : 0, 32);
    }
    return vy_known_resize(a, vy_type_is_signed((vyre_type)from->type), vy_ranges_width(from->type),
                           width);
}

/* Each operand as it is where it is taken. */
static vy_known of_select(vy_ranges *r, const vy_ins *ins)
{
    vy_known condition = r->known[ins->arg[0]], operands[2];
    for (uint32_t i = 0; i < 2; i++) {
        vy_range_mark mark = vy_ranges_mark(r);
        vy_ranges_assume(r, ins->arg[0], i == 0);
        operands[i] = r->known[ins->arg[1 + i]];
        vy_ranges_go_back(r, mark);
    }
    if (vy_known_is_exact(&condition)) {
        return operands[condition.umin ? 0 : 1];
    }
    return vy_known_join(&operands[0], &operands[1]);
}

/* What order between the operands of a difference says beyond their bounds. */
static void refine_difference(vy_ranges *r, const vy_ins *ins, uint32_t index, vy_known *k)
{
    const vy_known *a = &r->known[ins->arg[0]], *b = &r->known[ins->arg[1]];
    if (ins->op != VYRE_OP_SUB || a->umin >= b->umax ||
        !vy_ranges_is_below(r, ins->arg[1], vy_bound_value(r, ins->arg[0]), false)) {
        return;
    }
    vy_known by = vy_known_unsigned(a->umin > b->umax ? a->umin - b->umax : 0, a->umax - b->umin,
                                    vy_ranges_width(ins->type));
    (void)vy_known_meet(k, &by, vy_ranges_width(ins->type));
    vy_ranges_add_fits(r, index, VY_FITS_UNSIGNED);
}

static vy_known of_operator(vy_ranges *r, const vy_ins *ins, uint32_t index)
{
    const vy_op_info *info = &vy_op_rows[ins->op];
    uint32_t width = vy_ranges_width(ins->type), fits = 0;
    const vy_known *operands[4] = {0};
    for (uint32_t a = 0; a < info->operand_count; a++) {
        if (!vy_ranges_tracks(vy_ranges_get(r, ins->arg[a])->type)) {
            return vy_known_anything(width);
        }
        operands[a] = &r->known[ins->arg[a]];
    }
    uint8_t type = vy_ranges_get(r, ins->arg[0])->type;
    uint32_t from = vy_ranges_width(type);
    switch (info->shape) {
    case VY_SHAPE_BIT_COUNT:
        return vy_known_unsigned(0, from, width);
    case VY_SHAPE_ABS_DIFF:
        return vy_known_anything(width);
    default:
        break;
    }
    vy_known k = vy_known_compute((vyre_op)ins->op, vy_type_is_signed((vyre_type)type), width,
                                  operands, &fits);
    vy_ranges_add_fits(r, index, fits);
    refine_difference(r, ins, index, &k);
    return k;
}

static vy_known evaluate(vy_ranges *r, uint32_t index)
{
    const vy_ins *ins = vy_ranges_get(r, index);
    uint32_t width = vy_ranges_width(ins->type);
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
        return vy_known_exact(ins->bits, width);
    case VYRE_OP_BUILTIN:
        return of_builtin(r, ins);
    case VYRE_OP_LENGTH:
        return of_length(r, ins, index);
    case VYRE_OP_EQ:
    case VYRE_OP_NE:
    case VYRE_OP_LT:
    case VYRE_OP_LE:
    case VYRE_OP_GT:
    case VYRE_OP_GE:
        return of_comparison(r, ins);
    case VYRE_OP_LOGICAL_AND:
    case VYRE_OP_LOGICAL_OR:
    case VYRE_OP_NOT:
        return of_logic(r, ins);
    case VYRE_OP_CAST:
    case VYRE_OP_BITCAST:
        return of_conversion(r, ins);
    case VYRE_OP_SELECT:
        return of_select(r, ins);
    default:
        break;
    }
    if (ins->type == VYRE_TYPE_BOOL) {
        return vy_ranges_either();
    }
    bool is_operator = ins->op < VYRE_OP_COUNT && vy_op_rows[ins->op].form != VY_FORM_LEAF;
    return is_operator ? of_operator(r, ins, index) : vy_known_anything(width);
}

/* ---- Phis ------------------------------------------------------------------------------------ */

static bool is_header_phi(const vy_ranges *r, const vy_ins *ins)
{
    return r->ssa->blocks.data[ins->block].merge_kind == VY_MERGE_LOOP;
}

/* Whether `value` is the phi, or the phi and sums of something not negative (differences), none of
 * which wraps. */
static bool moves_one_way(vy_ranges *r, uint32_t value, uint32_t phi, vyre_op op, uint8_t fits,
                          uint32_t depth)
{
    const vy_ins *ins = vy_ranges_get(r, value);
    if (value == phi) {
        return true;
    }
    if (depth == 0) {
        return false;
    }
    if (ins->op == VY_SSA_PHI && !is_header_phi(r, ins) && ins->bits <= 4) {
        for (uint32_t e = 0; e < ins->bits; e++) {
            if (!moves_one_way(r, r->ssa->phi_edges.data[ins->ref + e].value, phi, op, fits,
                               depth - 1)) {
                return false;
            }
        }
        return true;
    }
    if (ins->op != op || !(r->fits[value] & fits)) {
        return false;
    }
    bool turned = op == VYRE_OP_ADD && vy_ranges_get(r, ins->arg[0])->op == VYRE_OP_LITERAL;
    uint32_t from = ins->arg[turned ? 1 : 0], by = ins->arg[turned ? 0 : 1];
    if (fits == VY_FITS_SIGNED) {
        r->asked_sign |= vy_ranges_get(r, by)->op != VYRE_OP_LITERAL;
        if (r->known[by].smin < 0) {
            return false;
        }
    }
    return moves_one_way(r, from, phi, op, fits, depth - 1);
}

/* The bound that the values before the loop set for all trips. */
static void bound_by_first(vy_ranges *r, uint32_t phi, const vy_known *first, vy_known *k)
{
    const vy_ins *ins = vy_ranges_get(r, phi);
    uint32_t width = vy_ranges_width(ins->type);
    vy_known by = vy_known_anything(width);
    for (uint32_t e = 0; e < ins->bits; e++) {
        const vy_phi_edge *edge = &r->ssa->phi_edges.data[ins->ref + e];
        if (edge->block < ins->block || !vy_flow_is_reachable(&r->flow, edge->block)) {
            continue;
        }
        uint32_t v = edge->value;
        if (moves_one_way(r, v, phi, VYRE_OP_ADD, VY_FITS_UNSIGNED, 4)) {
            by.umin = first->umin;
        }
        if (moves_one_way(r, v, phi, VYRE_OP_ADD, VY_FITS_SIGNED, 4)) {
            by.smin = first->smin;
        }
        if (moves_one_way(r, v, phi, VYRE_OP_SUB, VY_FITS_UNSIGNED, 4)) {
            by.umax = first->umax;
        }
        if (moves_one_way(r, v, phi, VYRE_OP_SUB, VY_FITS_SIGNED, 4)) {
            by.smax = first->smax;
        }
    }
    (void)vy_known_meet(k, &by, width);
}

/* Which bits are zero round the loop, the rounds do not find: they begin with anything. */
static void keep_low_zeros(const vy_ranges *r, uint32_t index, vy_known *k)
{
    const vy_ins *ins = vy_ranges_get(r, index);
    uint32_t width = vy_ranges_width(ins->type), zeros = r->low_zeros[index];
    if (zeros == 0 || !vy_ranges_is_integer(ins->type)) {
        return;
    }
    vy_known by = vy_known_anything(width);
    by.zeros |= vy_known_mask(zeros);
    (void)vy_known_meet(k, &by, width);
}

static vy_known of_phi(vy_ranges *r, uint32_t index)
{
    const vy_ins *ins = vy_ranges_get(r, index);
    vy_known anything = ins->type == VYRE_TYPE_BOOL ? vy_ranges_either()
                                                    : vy_known_anything(vy_ranges_width(ins->type));
    vy_range_phi *phi = &r->phis[r->phi_places[index]];
    if (!phi->has_incoming) {
        return anything; /* nothing comes here */
    }
    vy_known first = phi->incoming;
    phi->has_incoming = false;
    if (!is_header_phi(r, ins)) {
        return first;
    }
    phi->had_back = phi->has_back;
    vy_known k = first;
    bool has_back = false;
    for (uint32_t e = 0; e < ins->bits; e++) {
        uint32_t from = r->ssa->phi_edges.data[ins->ref + e].block;
        has_back |= from >= ins->block && vy_flow_is_reachable(&r->flow, from);
    }
    if (has_back) {
        k = phi->has_back ? vy_known_join(&first, &phi->back) : anything;
        bound_by_first(r, index, &first, &k);
        keep_low_zeros(r, index, &k);
    }
    phi->has_back = false;
    return k;
}

/* Phis name blocks mostly in the order in which the walk comes by: the search goes on where the
 * last one ended. */
static const vy_phi_edge *find_edge(vy_ranges *r, uint32_t phi, uint32_t block)
{
    const vy_ins *ins = vy_ranges_get(r, phi);
    uint32_t *next = &r->phis[r->phi_places[phi]].next_edge, at = *next;
    for (uint32_t e = 0; e < ins->bits; e++, at++) {
        at = at < ins->bits ? at : 0;
        const vy_phi_edge *edge = &r->ssa->phi_edges.data[ins->ref + at];
        if (edge->block == block) {
            *next = at + 1;
            return edge;
        }
    }
    return NULL;
}

/* What the end of block b brings to the phis of `target`. */
static void bring(vy_ranges *r, uint32_t b, uint32_t target)
{
    const vy_ssa *ssa = r->ssa;
    for (uint32_t i = ssa->blocks.data[target].first; i; i = ssa->ins.data[i].next) {
        const vy_ins *ins = &ssa->ins.data[i];
        if (ins->op != VY_SSA_PHI) {
            break;
        }
        if (!vy_ranges_tracks(ins->type)) {
            continue;
        }
        bool is_back = target <= b;
        vy_range_phi *phi = &r->phis[r->phi_places[i]];
        vy_known *to = is_back ? &phi->back : &phi->incoming;
        bool *has = is_back ? &phi->has_back : &phi->has_incoming;
        const vy_phi_edge *edge = find_edge(r, i, b);
        if (edge) {
            const vy_known *k = &r->known[edge->value];
            /* There is one way back to a loop. */
            r->has_news |= is_back && !(phi->had_back && vy_known_same(to, k));
            *to = *has ? vy_known_join(to, k) : *k;
            *has = true;
        }
    }
}

/* ---- The walk -------------------------------------------------------------------------------- */

static bool has_phis(const vy_ranges *r, uint32_t block)
{
    uint32_t first = r->ssa->blocks.data[block].first;
    return first && vy_ranges_get(r, first)->op == VY_SSA_PHI;
}

/* What the way into a block says that is entered from one block only. */
static void assume_way(vy_ranges *r, uint32_t from, uint32_t to)
{
    const vy_block *block = &r->ssa->blocks.data[from];
    if (block->end == VY_END_BRANCH) {
        vy_ranges_assume(r, block->cond, block->target[0] == to);
    } else if (block->end == VY_END_SWITCH && r->case_count[to] == 1 && block->target[0] != to) {
        uint32_t width = vy_ranges_width(vy_ranges_get(r, block->cond)->type);
        vy_known by = vy_known_exact(r->case_value[to], width);
        vy_ranges_narrow(r, block->cond, &by);
    }
}

static void end_block(vy_ranges *r, uint32_t b)
{
    const vy_block *block = &r->ssa->blocks.data[b];
    uint32_t target;
    bool chooses = block->end == VY_END_BRANCH || block->end == VY_END_SWITCH;
    if (r->decides && chooses) {
        r->decided_ends[b] = vy_known_is_exact(&r->known[block->cond]);
        r->has_decisions |= r->decided_ends[b];
        r->end_values[b] = r->known[block->cond].umin;
    }
    for (uint32_t i = 0; (target = vy_ssa_successor(r->ssa, block, i)) != 0; i++) {
        if (!has_phis(r, target) || r->brought_by[target] == b) {
            continue;
        }
        r->brought_by[target] = b; /* a switch may name a block many times */
        vy_range_mark mark = vy_ranges_mark(r);
        if (block->end == VY_END_BRANCH) {
            assume_way(r, b, target);
        }
        bring(r, b, target);
        vy_ranges_go_back(r, mark);
    }
}

static void enter(vy_ranges *r, uint32_t b)
{
    const vy_flow *flow = &r->flow;
    r->marks[b] = vy_ranges_mark(r);
    if (flow->pred_count[b] == 1 && flow->preds[flow->first_pred[b]] == flow->idom[b]) {
        const vy_block *from = &r->ssa->blocks.data[flow->idom[b]];
        assume_way(r, flow->idom[b], b);
        if (from->end == VY_END_BRANCH && from->target[0] == b) {
            vy_ranges_assume_trips(r, from->cond, b);
        }
    }
    for (uint32_t i = r->ssa->blocks.data[b].first; i; i = r->ssa->ins.data[i].next) {
        const vy_ins *ins = vy_ranges_get(r, i);
        if (vy_ranges_tracks(ins->type)) {
            bool was_negative = r->known[i].smin < 0;
            r->known[i] = ins->op == VY_SSA_PHI ? of_phi(r, i) : evaluate(r, i);
            r->has_turned |= was_negative != (r->known[i].smin < 0);
        }
        if (r->decides) {
            vy_ranges_decide(r, i);
        }
    }
    end_block(r, b);
}

static void leave(void *user, uint32_t b)
{
    vy_ranges *r = user;
    vy_ranges_go_back(r, r->marks[b]);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void find_cases(vy_ranges *r)
{
    for (uint32_t b = 1; b < r->ssa->blocks.count; b++) {
        const vy_block *block = &r->ssa->blocks.data[b];
        for (uint32_t i = 0; block->end == VY_END_SWITCH && i < block->case_count; i++) {
            const vy_case *entry = &r->ssa->cases.data[block->first_case + i];
            r->case_value[entry->block] = entry->value;
            r->case_count[entry->block]++;
        }
    }
}

/* Buffers whose declared count is the length of another one. */
static void find_lengths(vy_ranges *r)
{
    const vyre_program *program = r->ssa->program;
    for (uint32_t i = 1; i < program->buffers.count; i++) {
        uint32_t root = program->buffers.data[i].count.root;
        const vy_expr *count = root ? &program->exprs.data[root] : NULL;
        bool is_length = count && count->op == VYRE_OP_LENGTH && count->ref < i;
        r->length_of[i] = is_length ? r->length_of[count->ref] : i;
    }
}

static bool allocate(vy_ranges *r, uint32_t phis)
{
    vy_arena *arena = r->ssa->scratch;
    uint32_t blocks = r->ssa->blocks.count, buffers = r->ssa->program->buffers.count;
    r->known = vy_arena_alloc(arena, r->count, sizeof *r->known);
    r->phi_places = vy_arena_alloc(arena, r->count, sizeof *r->phi_places);
    r->phis = vy_arena_alloc(arena, phis, sizeof *r->phis);
    r->fits = vy_arena_alloc(arena, r->count, sizeof *r->fits);
    r->facts_about = vy_arena_alloc(arena, r->count, sizeof *r->facts_about);
    r->decisions = vy_arena_alloc(arena, r->count, sizeof *r->decisions);
    r->marks = vy_arena_alloc(arena, blocks, sizeof *r->marks);
    r->case_value = vy_arena_alloc(arena, blocks, sizeof *r->case_value);
    r->case_count = vy_arena_alloc(arena, blocks, sizeof *r->case_count);
    r->decided_ends = vy_arena_alloc(arena, blocks, sizeof *r->decided_ends);
    r->brought_by = vy_arena_alloc(arena, blocks, sizeof *r->brought_by);
    r->end_values = vy_arena_alloc(arena, blocks, sizeof *r->end_values);
    r->length_of = vy_arena_alloc(arena, buffers, sizeof *r->length_of);
    r->length_value = vy_arena_alloc(arena, buffers, sizeof *r->length_value);
    return !r->ssa->arena->failed;
}

/* What one round leaves for the next are the back edges of loops, and lengths that were met later
 * than what is compared with them: without both the first round is the last. */
static uint32_t count_rounds(const vy_ssa *ssa, uint32_t *out_phis, bool *out_has_loops)
{
    uint32_t rounds = 1;
    *out_phis = 0;
    *out_has_loops = false;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        *out_has_loops |= block->merge_kind == VY_MERGE_LOOP;
        for (uint32_t i = block->first; i; i = ssa->ins.data[i].next) {
            rounds = ssa->ins.data[i].op == VYRE_OP_LENGTH ? ROUNDS : rounds;
            *out_phis += ssa->ins.data[i].op == VY_SSA_PHI;
        }
    }
    return *out_has_loops ? ROUNDS : rounds;
}

/* Whether another round would start from what this one has started from. */
static bool is_settled(const vy_ranges *r)
{
    return !r->has_news && !(r->has_turned && r->asked_sign);
}

static void place_phis(vy_ranges *r)
{
    uint32_t count = 0;
    for (uint32_t b = 1; b < r->ssa->blocks.count; b++) {
        uint32_t i = r->ssa->blocks.data[b].first;
        for (; i && vy_ranges_get(r, i)->op == VY_SSA_PHI; i = vy_ranges_get(r, i)->next) {
            r->phi_places[i] = count++;
        }
    }
}

bool vy_pass_ranges(vy_ssa *ssa, const vy_pass_context *context)
{
    (void)context;
    vy_ranges r = {.ssa = ssa, .count = ssa->ins.count};
    bool has_loops;
    uint32_t phis, rounds = count_rounds(ssa, &phis, &has_loops);
    r.low_zeros = has_loops ? vy_ssa_low_zeros(ssa) : NULL;
    if (!allocate(&r, phis) || !vy_flow_find(ssa, &r.flow)) {
        return false;
    }
    find_lengths(&r);
    find_cases(&r);
    place_phis(&r);
    for (uint32_t round = 0; round < rounds && !ssa->arena->failed; round++) {
        r.decides = round > 0 || rounds == 1;
        r.has_news = r.has_turned = r.asked_sign = false;
        r.literals.count = 0;
        memset(r.brought_by, 0, ssa->blocks.count * sizeof *r.brought_by);
        for (uint32_t b = 1; b && !ssa->arena->failed;) {
            enter(&r, b);
            b = vy_flow_next(&r.flow, b, leave, &r);
        }
        if (r.decides && is_settled(&r)) {
            break;
        }
    }
    return !ssa->arena->failed && vy_ranges_apply(&r);
}
