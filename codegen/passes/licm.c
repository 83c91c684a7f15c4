/* Pass licm: what a loop computes anew in every trip from values made outside moves in front of it.
 * Needs cse before it (an operand that stands in the loop a second time would hold its user back);
 * keeps the blocks. All operators are total, so that computing earlier, or where no trip happens,
 * is safe; loads move only if the segment changes nothing that they could see.
 *
 * Not moved, because a value that waits for a loop takes a register: what costs nothing where it
 * stands (literals, ids, lengths, changes of type), unless something that moves needs it; what is
 * not computed in every trip, unless it is cheap; more than MAX_MOVED for a loop. */
#include "codegen/passes/flow.h"
#include "codegen/passes/passes.h"

#define MAX_MOVED 24u

typedef struct licm_walk {
    vy_ssa *ssa;
    vy_flow flow;
    vy_constant_memory memory;
    uint32_t *preheader; /* by header: 0: nothing can move in front of it */
    uint32_t *moved;     /* by header: how many */
} licm_walk;

/* Costs no more than a register; moves only for others. */
static bool is_free(const vy_ssa *ssa, const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
    case VYRE_OP_BUILTIN:
    case VYRE_OP_PARAM:
    case VYRE_OP_LENGTH:
    case VY_SSA_HOST_INDEX:
    case VY_SSA_IS_ELEMENT:
    case VYRE_OP_BITCAST:
    case VY_SSA_COMPONENT:
        return true;
    case VYRE_OP_CAST:
        return vyre_type_size((vyre_type)ins->type) ==
                   vyre_type_size((vyre_type)ssa->ins.data[ins->arg[0]].type) &&
               vy_type_is_integer((vyre_type)ins->type) &&
               vy_type_is_integer((vyre_type)ssa->ins.data[ins->arg[0]].type);
    default:
        return false;
    }
}

static bool can_move(const licm_walk *w, const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL: /* all in the entry block */
        return false;
    case VYRE_OP_LOAD:
        return vy_constant_memory_has(&w->memory, w->ssa, ins->ref);
    default:
        return vy_ssa_is_pure(ins);
    }
}

/* About one instruction of the device. */
static bool is_cheap(const vy_ssa *ssa, const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VYRE_OP_LOAD:
    case VYRE_OP_TABLE:
    case VYRE_OP_DIV:
    case VYRE_OP_REM:
    case VYRE_OP_MUL_SAT:
    case VYRE_OP_DOT4:
        return false;
    default:
        return is_free(ssa, ins) || ins->op >= VYRE_OP_COUNT ||
               (vy_op_get((vyre_op)ins->op)->shape != VY_SHAPE_FLOAT_UNARY &&
                vy_op_get((vyre_op)ins->op)->shape != VY_SHAPE_FLOAT &&
                vy_op_get((vyre_op)ins->op)->shape != VY_SHAPE_FLOAT3);
    }
}

/* An operand that stands in the way only by its place. */
static bool can_follow(const licm_walk *w, uint32_t value, uint32_t header)
{
    const vy_ins *ins = &w->ssa->ins.data[value];
    if (!is_free(w->ssa, ins) || !can_move(w, ins)) {
        return false;
    }
    uint32_t count = vy_ssa_operand_count(ins);
    return count == 0 || !vy_flow_is_inside(&w->flow, w->ssa->ins.data[ins->arg[0]].block, header);
}

static bool is_invariant(const licm_walk *w, const vy_ins *ins, uint32_t header)
{
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t a = 0; a < count; a++) {
        uint32_t home = w->ssa->ins.data[ins->arg[a]].block;
        if (vy_flow_is_inside(&w->flow, home, header) && !can_follow(w, ins->arg[a], header)) {
            return false;
        }
    }
    return true;
}

/* Where the instruction of block b can go: the outermost preheader, or 0. */
static uint32_t find_place(licm_walk *w, const vy_ins *ins, uint32_t b)
{
    const vy_ssa *ssa = w->ssa;
    uint32_t place = 0, from = b;
    for (uint32_t header = w->flow.loop[b]; header; header = w->flow.around[header]) {
        uint32_t next = ssa->blocks.data[header].continue_block;
        bool every_trip = vy_flow_dominates(&w->flow, from, next);
        if (!w->preheader[header] || w->moved[header] >= MAX_MOVED ||
            (!every_trip && !is_cheap(ssa, ins)) || !is_invariant(w, ins, header)) {
            break;
        }
        w->moved[header]++;
        place = from = w->preheader[header];
    }
    return place;
}

static void append(vy_ssa *ssa, uint32_t block, uint32_t index)
{
    vy_block *to = &ssa->blocks.data[block];
    vy_ins *ins = &ssa->ins.data[index];
    ins->block = block;
    ins->next = 0;
    ins->unchecked = false; /* what was known where it stood need not hold here */
    if (to->last) {
        ssa->ins.data[to->last].next = index;
    } else {
        to->first = index;
    }
    to->last = index;
}

/* Leaves its block's list: by search, since lists have no way back. Free operands only. */
static void take_out(vy_ssa *ssa, uint32_t index)
{
    vy_block *block = &ssa->blocks.data[ssa->ins.data[index].block];
    uint32_t before = 0;
    for (uint32_t i = block->first; i != index; i = ssa->ins.data[i].next) {
        before = i;
    }
    if (before) {
        ssa->ins.data[before].next = ssa->ins.data[index].next;
    } else {
        block->first = ssa->ins.data[index].next;
    }
    if (block->last == index) {
        block->last = before;
    }
}

static void move_operands(licm_walk *w, const vy_ins *ins, uint32_t place)
{
    uint32_t count = vy_ssa_operand_count(ins);
    for (uint32_t a = 0; a < count; a++) {
        uint32_t home = w->ssa->ins.data[ins->arg[a]].block;
        if (!vy_flow_dominates(&w->flow, home, place)) {
            take_out(w->ssa, ins->arg[a]);
            append(w->ssa, place, ins->arg[a]);
        }
    }
}

static void move_block(licm_walk *w, uint32_t b)
{
    vy_ssa *ssa = w->ssa;
    for (uint32_t i = ssa->blocks.data[b].first, next; i; i = next) {
        vy_ins *ins = &ssa->ins.data[i];
        next = ins->next;
        if (!can_move(w, ins) || is_free(ssa, ins)) {
            continue;
        }
        uint32_t place = find_place(w, ins, b);
        if (place) {
            move_operands(w, ins, place);
            take_out(ssa, i);
            append(ssa, place, i);
        }
    }
}

bool vy_pass_licm(vy_ssa *ssa, const vy_pass_context *context)
{
    (void)context;
    licm_walk w = {.ssa = ssa, .memory = vy_constant_memory_find(ssa)};
    bool has_loop = false;
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        has_loop |= ssa->blocks.data[b].merge_kind == VY_MERGE_LOOP;
    }
    if (!has_loop) {
        return true;
    }
    w.preheader = vy_arena_alloc(ssa->scratch, ssa->blocks.count, sizeof *w.preheader);
    w.moved = vy_arena_alloc(ssa->scratch, ssa->blocks.count, sizeof *w.moved);
    if (ssa->arena->failed || !vy_flow_find(ssa, &w.flow)) {
        return false;
    }
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        const vy_block *block = &ssa->blocks.data[b];
        /* Without a way back there is one trip, and nothing to gain. */
        if (block->merge_kind == VY_MERGE_LOOP &&
            vy_flow_is_reachable(&w.flow, block->continue_block)) {
            w.preheader[b] = vy_flow_preheader(&w.flow, b);
        }
        if (w.flow.loop[b] && vy_flow_is_reachable(&w.flow, b)) {
            move_block(&w, b);
        }
    }
    return true;
}
