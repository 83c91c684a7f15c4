/* Small operations on the SSA form for the builder and the passes. Failure of the arena is sticky:
 * functions then return id 0, and whoever called looks at `arena->failed` at the end of a step. */
#ifndef VY_EDIT_H
#define VY_EDIT_H

#include "codegen/passes/ssa.h"

void vy_ssa_init(vy_ssa *ssa, const vyre_program *program, vy_arena *arena);
uint32_t vy_ssa_add_block(vy_ssa *ssa, vy_loc loc);
/* An instruction of zeros at the end of the block, to be filled in; NULL on failure. It is the last
 * of `ins`. */
vy_ins *vy_ssa_add(vy_ssa *ssa, uint32_t block);
/* At the end of the block. */
uint32_t vy_ssa_append(vy_ssa *ssa, uint32_t block, vy_ins ins);
/* Behind `after`, or at the front of the block where after is 0. */
uint32_t vy_ssa_insert(vy_ssa *ssa, uint32_t block, uint32_t after, vy_ins ins);
/* The LITERAL of that type and value, among those at the front of the entry block. */
uint32_t vy_ssa_literal(vy_ssa *ssa, vyre_type type, uint64_t bits);
/* Puts the LITERALs that stand there into the table that vy_ssa_literal looks into. */
void vy_ssa_index_literals(vy_ssa *ssa);

/* Of arg[], PHI and leaves: 0. */
uint32_t vy_ssa_own_operand_count(const vy_ins *ins); /* of what is no vyre_op */
static inline uint32_t vy_ssa_operand_count(const vy_ins *ins)
{
    return ins->op < VYRE_OP_COUNT ? vy_op_rows[ins->op].operand_count
                                   : vy_ssa_own_operand_count(ins);
}
/* Whether its value follows from its operands, wherever it stands: operators, and what is the same
 * for an invocation all the time. Not phis, and nothing that reads memory. */
static inline bool vy_ssa_is_pure(const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VYRE_OP_NONE:
    case VYRE_OP_VARIABLE:
    case VYRE_OP_ELEMENT:
    case VYRE_OP_CALL:
    case VYRE_OP_LOAD:
        return false;
    case VY_SSA_HOST_INDEX:
    case VY_SSA_IS_ELEMENT:
    case VY_SSA_CANONICAL_NAN:
    case VY_SSA_COMPONENT:
    case VY_SSA_COMPOSE:
        return true;
    default:
        return ins->op < VYRE_OP_COUNT;
    }
}
/* Whether the first two operands may be exchanged; also for numbers that are no vyre_op. */
bool vy_op_is_commutative(uint32_t op);
/* Whether it must stay although nobody reads its value. */
bool vy_ssa_has_effect(const vy_ins *ins);

/* Where `map` (by instruction; 0: itself) leads: every use is rewritten. Chains are followed. */
void vy_ssa_rewrite(vy_ssa *ssa, uint32_t *map);
uint32_t vy_ssa_resolve_chain(uint32_t *map, uint32_t value);
static inline uint32_t vy_ssa_resolve(uint32_t *map, uint32_t value)
{
    return map[value] ? vy_ssa_resolve_chain(map, value) : value;
}
/* Takes removed instructions out of their blocks' lists. */
void vy_ssa_sweep(vy_ssa *ssa);
/* Keeps the blocks of `order` (block 1 first), in that order, and renumbers everything. */
void vy_ssa_reorder(vy_ssa *ssa, const uint32_t *order, uint32_t count);

/* The blocks that a block goes to: target i, or 0 past the last. Cases count singly. */
static inline uint32_t vy_ssa_successor(const vy_ssa *ssa, const vy_block *block, uint32_t i)
{
    switch ((vy_end_kind)block->end) {
    case VY_END_JUMP:
        return i == 0 ? block->target[0] : 0;
    case VY_END_BRANCH:
        return i < 2 ? block->target[i] : 0;
    case VY_END_SWITCH:
        if (i == 0) {
            return block->target[0];
        }
        return i <= block->case_count ? ssa->cases.data[block->first_case + i - 1].block : 0;
    case VY_END_NONE:
    case VY_END_RETURN:
    case VY_END_UNREACHABLE:
        break;
    }
    return 0;
}

#endif
