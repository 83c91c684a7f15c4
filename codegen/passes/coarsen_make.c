/* Instructions and blocks of a form that is being made coarse. */
#include "codegen/passes/coarsen_make.h"

uint32_t vy_make(vy_coarsener *c, uint32_t block, uint32_t op, vyre_type type, uint32_t a,
                 uint32_t b)
{
    vy_ins ins = {.op = (uint16_t)op, .type = (uint8_t)type, .arg = {a, b}};
    return vy_ssa_append(c->ssa, block, ins);
}

uint32_t vy_make_u32(vy_coarsener *c, uint32_t block, vyre_op op, uint32_t a, uint32_t b)
{
    return vy_make(c, block, op, VYRE_TYPE_U32, a, b);
}

uint32_t vy_make_number(vy_coarsener *c, uint32_t value)
{
    return vy_ssa_literal(c->ssa, VYRE_TYPE_U32, value);
}

uint32_t vy_make_block(vy_coarsener *c)
{
    return vy_ssa_add_block(c->ssa, (vy_loc){0, 0});
}

void vy_make_begin(vy_coarsener *c, uint32_t block)
{
    (void)vy_vec_push(c->ssa->scratch, &c->order, block);
}

void vy_make_jump(vy_coarsener *c, uint32_t from, uint32_t to)
{
    c->ssa->blocks.data[from].end = VY_END_JUMP;
    c->ssa->blocks.data[from].target[0] = to;
}

void vy_make_branch(vy_coarsener *c, uint32_t from, uint32_t cond, uint32_t yes, uint32_t no)
{
    vy_block *block = &c->ssa->blocks.data[from];
    block->end = VY_END_BRANCH;
    block->cond = cond;
    block->target[0] = yes;
    block->target[1] = no;
}

void vy_make_merge(vy_coarsener *c, uint32_t from, uint32_t merge)
{
    c->ssa->blocks.data[from].merge_kind = VY_MERGE_SELECTION;
    c->ssa->blocks.data[from].merge = merge;
}

uint32_t vy_make_phi(vy_coarsener *c, uint32_t block, uint32_t after, vyre_type type,
                     uint32_t first, uint32_t count)
{
    vy_ins ins = {.op = VY_SSA_PHI, .type = (uint8_t)type, .ref = first, .bits = count};
    return vy_ssa_insert(c->ssa, block, after, ins);
}

uint32_t vy_make_copy(vy_coarsener *c, uint32_t block, vy_ins ins)
{
    uint32_t count = vy_ssa_operand_count(&ins);
    for (uint32_t a = 0; a < count; a++) {
        ins.arg[a] = c->values[ins.arg[a]];
    }
    return vy_ssa_append(c->ssa, block, ins);
}

uint32_t vy_make_place_of(uint32_t buffer, uint32_t element)
{
    return buffer * VY_COARSE_MOST + element;
}

uint32_t vy_make_identity(vy_coarsener *c, uint32_t join)
{
    const vy_coarse_join *j = &c->plan->joins[join];
    return vy_ssa_literal(c->ssa, (vyre_type)j->type, j->identity);
}

void vy_make_sum(vy_coarsener *c, uint32_t block, uint32_t *sum, uint32_t join, uint32_t operand)
{
    const vy_coarse_join *j = &c->plan->joins[join];
    *sum = *sum == vy_make_identity(c, join)
               ? operand
               : vy_make(c, block, j->op, (vyre_type)j->type, *sum, operand);
}
