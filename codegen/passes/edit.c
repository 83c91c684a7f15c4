/* Operations on the SSA form: adding, replacing, removing, renumbering. */
#include "codegen/passes/edit.h"

#include <string.h>

void vy_ssa_init(vy_ssa *ssa, const vyre_program *program, vy_arena *arena)
{
    *ssa = (vy_ssa){.program = program, .arena = arena, .scratch = arena, .is_indexed = true};
    (void)vy_vec_push(arena, &ssa->ins, (vy_ins){0});
    (void)vy_vec_push(arena, &ssa->blocks, (vy_block){0});
    (void)vy_vec_push(arena, &ssa->arrays, (vy_array){0});
    (void)vy_vec_push(arena, &ssa->calls, (vy_call){0});
}

uint32_t vy_ssa_add_block(vy_ssa *ssa, vy_loc loc)
{
    vy_block block = {.call = ssa->call, .loc = loc};
    uint32_t index = ssa->blocks.count;
    return vy_vec_push(ssa->arena, &ssa->blocks, block) ? index : 0;
}

uint32_t vy_ssa_insert(vy_ssa *ssa, uint32_t block, uint32_t after, vy_ins ins)
{
    uint32_t index = ssa->ins.count;
    vy_block *at = &ssa->blocks.data[block];
    ins.block = block;
    ins.call = ssa->call ? ssa->call : ins.call;
    ins.next = after ? ssa->ins.data[after].next : at->first;
    if (!vy_vec_push(ssa->arena, &ssa->ins, ins)) {
        return 0;
    }
    if (after) {
        ssa->ins.data[after].next = index;
    } else {
        at->first = index;
    }
    if (at->last == after) {
        at->last = index;
    }
    return index;
}

vy_ins *vy_ssa_add(vy_ssa *ssa, uint32_t block)
{
    if (!vy_vec_reserve(ssa->arena, &ssa->ins, 1)) {
        return NULL;
    }
    uint32_t index = ssa->ins.count++;
    vy_block *at = &ssa->blocks.data[block];
    vy_ins *ins = &ssa->ins.data[index];
    *ins = (vy_ins){.block = block, .call = ssa->call};
    if (at->last) {
        ssa->ins.data[at->last].next = index;
    } else {
        at->first = index;
    }
    at->last = index;
    return ins;
}

uint32_t vy_ssa_append(vy_ssa *ssa, uint32_t block, vy_ins ins)
{
    return vy_ssa_insert(ssa, block, ssa->blocks.data[block].last, ins);
}

/* ---- Literals -------------------------------------------------------------------------------- */

static uint32_t literal_place(const vy_ssa *ssa, uint8_t type, uint64_t bits)
{
    uint32_t mask = ssa->literal_capacity - 1;
    uint32_t hash = ((uint32_t)bits ^ (uint32_t)(bits >> 32) ^ (uint32_t)type << 27) * 2654435761u;
    uint32_t at = (hash ^ hash >> 15) & mask;
    while (ssa->literals[at]) {
        const vy_ins *ins = &ssa->ins.data[ssa->literals[at]];
        if (ins->type == type && ins->bits == bits) {
            break;
        }
        at = (at + 1) & mask;
    }
    return at;
}

static bool grow_literals(vy_ssa *ssa)
{
    if (ssa->literals && ssa->literal_count * 2 < ssa->literal_capacity) {
        return true;
    }
    uint32_t *old = ssa->literals, old_capacity = ssa->literal_capacity;
    uint32_t capacity = old_capacity ? old_capacity * 2 : 64;
    uint32_t *table = vy_arena_alloc(ssa->arena, capacity, sizeof *table);
    if (!table) {
        return false;
    }
    ssa->literals = table;
    ssa->literal_capacity = capacity;
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[i]) {
            const vy_ins *ins = &ssa->ins.data[old[i]];
            table[literal_place(ssa, ins->type, ins->bits)] = old[i];
        }
    }
    return true;
}

static uint32_t add_literal(vy_ssa *ssa, vyre_type type, uint64_t bits, uint32_t at)
{
    if (!vy_vec_reserve(ssa->arena, &ssa->ins, 1)) {
        return 0;
    }
    const uint32_t index = ssa->ins.count++, before = ssa->last_literal;
    vy_block *entry = &ssa->blocks.data[1];
    uint32_t *link = before ? &ssa->ins.data[before].next : &entry->first;
    vy_ins *ins = &ssa->ins.data[index];
    *ins = (vy_ins){.op = VYRE_OP_LITERAL,
                    .type = (uint8_t)type,
                    .next = *link,
                    .bits = bits,
                    .block = 1,
                    .call = ssa->call};
    *link = index;
    entry->last = entry->last == before ? index : entry->last;
    ssa->literals[at] = ssa->last_literal = index;
    ssa->literal_count++;
    return index;
}

uint32_t vy_ssa_literal(vy_ssa *ssa, vyre_type type, uint64_t bits)
{
    if (!grow_literals(ssa)) {
        return 0;
    }
    uint32_t at = literal_place(ssa, (uint8_t)type, bits);
    return ssa->literals[at] ? ssa->literals[at] : add_literal(ssa, type, bits, at);
}

void vy_ssa_index_literals(vy_ssa *ssa)
{
    if (ssa->is_indexed) {
        return;
    }
    if (ssa->literals) {
        memset(ssa->literals, 0, ssa->literal_capacity * sizeof *ssa->literals);
    } else {
        ssa->literal_capacity = 0;
    }
    ssa->literal_count = ssa->last_literal = 0;
    bool front = true;
    for (uint32_t i = ssa->blocks.data[1].first; i; i = ssa->ins.data[i].next) {
        const vy_ins *ins = &ssa->ins.data[i];
        if (ins->op != VYRE_OP_LITERAL) {
            front = false;
            continue;
        }
        ssa->last_literal = front ? i : ssa->last_literal;
        if (!grow_literals(ssa)) {
            return;
        }
        uint32_t at = literal_place(ssa, ins->type, ins->bits);
        if (ssa->literals[at] == 0) {
            ssa->literals[at] = i;
            ssa->literal_count++;
        }
    }
    ssa->is_indexed = true;
}

/* ---- Facts about instructions ---------------------------------------------------------------- */

uint32_t vy_ssa_own_operand_count(const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VY_SSA_PHI:
    case VY_SSA_HOST_INDEX:
    case VY_SSA_BARRIER:
    case VY_SSA_ARRAY_ZERO:
    case VY_SSA_SPILL_LOAD:
    case VY_SSA_IS_ELEMENT:
    case VY_SSA_ELEMENTS:
    case VY_SSA_UNSTAGE:
        return 0;
    case VY_SSA_RECORD:
        return ins->arg[0] ? 2 : 0;
    case VY_SSA_ARRAY_LOAD:
    case VY_SSA_SPILL_STORE:
    case VY_SSA_CANONICAL_NAN:
    case VY_SSA_COMPONENT:
    case VY_SSA_LOAD_WIDE:
    case VY_SSA_UNPACK:
    case VY_SSA_RANK:
        return 1;
    case VY_SSA_STORE:
    case VY_SSA_ARRAY_STORE:
    case VY_SSA_STORE_WIDE:
    case VY_SSA_STAGE:
        return 2;
    case VY_SSA_PACK:
        return ins->arg[3] ? 4 : ins->arg[1] ? 2 : 1;
    case VY_SSA_COMPOSE:
        return vy_type_components((vyre_type)ins->type);
    case VY_SSA_GROUP_BEGIN:
        return ins->ref < 4 ? ins->ref : 4;
    case VY_SSA_PRINT:
        return (uint32_t)((ins->arg[0] != 0) + (ins->arg[1] != 0) + (ins->arg[2] != 0) +
                          (ins->arg[3] != 0));
    case VY_SSA_SUBGROUP:
        return vy_subgroup_get((vyre_subgroup)ins->subgroup)->operand_count;
    case VY_SSA_ATOMIC:
        return 1 + vy_atomic_operand_count((vyre_atomic)ins->atomic);
    default:
        return 0;
    }
}

bool vy_op_is_commutative(uint32_t op)
{
    switch (op) {
    case VYRE_OP_ADD:
    case VYRE_OP_MUL:
    case VYRE_OP_AND:
    case VYRE_OP_OR:
    case VYRE_OP_XOR:
    case VYRE_OP_EQ:
    case VYRE_OP_NE:
    case VYRE_OP_LOGICAL_AND:
    case VYRE_OP_LOGICAL_OR:
    case VYRE_OP_MIN:
    case VYRE_OP_MAX:
    case VYRE_OP_ABS_DIFF:
    case VYRE_OP_MUL_HIGH:
    case VYRE_OP_ADD_SAT:
    case VYRE_OP_MUL_SAT:
    case VYRE_OP_DOT4:
        return true;
    default:
        return false;
    }
}

bool vy_ssa_can_be_unchecked(uint32_t op)
{
    switch (op) {
    case VYRE_OP_LOAD:
    case VYRE_OP_TABLE:
    case VYRE_OP_SHL:
    case VYRE_OP_SHR:
    case VYRE_OP_ROTATE_LEFT:
    case VYRE_OP_ROTATE_RIGHT:
    case VYRE_OP_DIV:
    case VYRE_OP_REM:
    case VY_SSA_STORE:
    case VY_SSA_ATOMIC:
    case VY_SSA_ARRAY_LOAD:
    case VY_SSA_ARRAY_STORE:
        return true;
    default:
        return false;
    }
}

bool vy_ssa_has_effect(const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VY_SSA_STORE:
    case VY_SSA_STORE_WIDE:
    case VY_SSA_ATOMIC:
    case VY_SSA_SUBGROUP:
    case VY_SSA_BARRIER:
    case VY_SSA_ARRAY_ZERO:
    case VY_SSA_ARRAY_STORE:
    case VY_SSA_SPILL_STORE:
    case VY_SSA_RECORD:
    case VY_SSA_GROUP_BEGIN:
    case VY_SSA_STAGE:
    case VY_SSA_UNSTAGE:
    case VY_SSA_PRINT:
        return true;
    default:
        return false;
    }
}

/* ---- Rewriting ------------------------------------------------------------------------------- */

uint32_t vy_ssa_resolve_chain(uint32_t *map, uint32_t value)
{
    uint32_t end = value;
    while (map[end]) {
        end = map[end];
    }
    while (map[value]) { /* shorten the chain for who comes next */
        uint32_t next = map[value];
        map[value] = end;
        value = next;
    }
    return end;
}

void vy_ssa_rewrite(vy_ssa *ssa, uint32_t *map)
{
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        vy_block *block = &ssa->blocks.data[b];
        block->cond = vy_ssa_resolve(map, block->cond);
        for (uint32_t i = block->first; i; i = ssa->ins.data[i].next) {
            vy_ins *ins = &ssa->ins.data[i];
            uint32_t count = vy_ssa_operand_count(ins);
            for (uint32_t a = 0; a < count; a++) {
                ins->arg[a] = vy_ssa_resolve(map, ins->arg[a]);
            }
        }
    }
    for (uint32_t e = 0; e < ssa->phi_edges.count; e++) {
        ssa->phi_edges.data[e].value = vy_ssa_resolve(map, ssa->phi_edges.data[e].value);
    }
    for (uint32_t i = 0; i < ssa->bindings.count; i++) {
        ssa->bindings.data[i].value = vy_ssa_resolve(map, ssa->bindings.data[i].value);
    }
}

void vy_ssa_sweep(vy_ssa *ssa)
{
    for (uint32_t b = 1; b < ssa->blocks.count; b++) {
        vy_block *block = &ssa->blocks.data[b];
        uint32_t *link = &block->first, last = 0;
        for (uint32_t i = block->first; i; i = ssa->ins.data[i].next) {
            if (!ssa->ins.data[i].removed) {
                *link = i;
                link = &ssa->ins.data[i].next;
                last = i;
            } else if (ssa->ins.data[i].op == VYRE_OP_LITERAL) {
                ssa->is_indexed = false;
            }
        }
        *link = 0;
        block->last = last;
    }
}

void vy_ssa_reorder(vy_ssa *ssa, const uint32_t *order, uint32_t count)
{
    uint32_t *place = vy_arena_alloc(ssa->scratch, ssa->blocks.count, sizeof *place);
    vy_block *blocks = vy_arena_alloc(ssa->arena, (size_t)count + 1, sizeof *blocks);
    if (!place || !blocks) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        place[order[i]] = i + 1;
        blocks[i + 1] = ssa->blocks.data[order[i]];
    }
    for (uint32_t b = 1; b <= count; b++) {
        vy_block *block = &blocks[b];
        block->target[0] = place[block->target[0]];
        block->target[1] = place[block->target[1]];
        block->merge = place[block->merge];
        block->continue_block = place[block->continue_block];
        for (uint32_t i = 0; block->end == VY_END_SWITCH && i < block->case_count; i++) {
            vy_case *entry = &ssa->cases.data[block->first_case + i];
            entry->block = place[entry->block];
        }
        for (uint32_t i = block->first; i; i = ssa->ins.data[i].next) {
            vy_ins *ins = &ssa->ins.data[i];
            ins->block = b;
            for (uint32_t e = 0; ins->op == VY_SSA_PHI && e < ins->bits; e++) {
                vy_phi_edge *edge = &ssa->phi_edges.data[ins->ref + e];
                edge->block = place[edge->block];
            }
        }
    }
    for (uint32_t i = 0; i < ssa->bindings.count; i++) {
        ssa->bindings.data[i].block = place[ssa->bindings.data[i].block];
    }
    ssa->blocks.data = blocks;
    ssa->blocks.count = ssa->blocks.capacity = count + 1;
}
