/* The blocks of the body, in the order in which they stand, which keeps definitions before uses and
 * constructs together. An instruction that is checked or loops splits its block; whoever leaves the
 * block then leaves from its last part, and phis name that one. */
#include "codegen/spirv/emit.h"

#include <stdlib.h>

#define MAX_SWITCH_CASES 16383u /* what every consumer has to take */

/* ---- Which blocks are there ------------------------------------------------------------------ */

static void mark(vy_emitter *emitter, uint32_t *stack, uint32_t *count, uint32_t block)
{
    if (block && block < emitter->ssa->blocks.count && !emitter->is_emitted[block]) {
        emitter->is_emitted[block] = true;
        stack[(*count)++] = block;
    }
}

/* Blocks that the entry reaches, and what the constructs that they head need. */
static bool mark_blocks(vy_emitter *emitter)
{
    const vy_ssa *ssa = emitter->ssa;
    uint32_t count = 0;
    uint32_t *stack = vy_arena_alloc(emitter->module.arena, ssa->blocks.count, sizeof *stack);
    if (!stack) {
        return false;
    }
    mark(emitter, stack, &count, 1);
    while (count) {
        const vy_block *block = &ssa->blocks.data[stack[--count]];
        mark(emitter, stack, &count, block->merge_kind != VY_MERGE_NONE ? block->merge : 0);
        mark(emitter, stack, &count,
             block->merge_kind == VY_MERGE_LOOP ? block->continue_block : 0);
        if (block->end == VY_END_JUMP || block->end == VY_END_BRANCH ||
            block->end == VY_END_SWITCH) {
            mark(emitter, stack, &count, block->target[0]);
        }
        if (block->end == VY_END_BRANCH) {
            mark(emitter, stack, &count, block->target[1]);
        }
        for (uint32_t i = 0; block->end == VY_END_SWITCH && i < block->case_count; i++) {
            mark(emitter, stack, &count, ssa->cases.data[block->first_case + i].block);
        }
    }
    return true;
}

/* ---- Phis ------------------------------------------------------------------------------------ */

static uint32_t emitted_edges(const vy_emitter *emitter, const vy_ins *ins)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ins->bits; i++) {
        count += emitter->is_emitted[emitter->ssa->phi_edges.data[ins->ref + i].block] ? 1 : 0;
    }
    return count;
}

/* NVIDIA's driver (580) crashes on every phi of bools at the head of a loop. Such a phi is one of
 * words, 0 and 1, which the blocks that lead there make and the head compares with 0. */
static bool is_by_word(const vy_block *block, const vy_ins *ins)
{
    return block->merge_kind == VY_MERGE_LOOP && ins->op == VY_SSA_PHI &&
           ins->type == VYRE_TYPE_BOOL;
}

/* Words for the phis of one block behind that block. */
static void emit_edge_words(vy_emitter *emitter, uint32_t from, uint32_t to)
{
    vy_module *m = &emitter->module;
    const vy_ssa *ssa = emitter->ssa;
    const vy_block *block = &ssa->blocks.data[to < ssa->blocks.count ? to : 0];
    for (uint32_t i = block->first; i && ssa->ins.data[i].op == VY_SSA_PHI;
         i = ssa->ins.data[i].next) {
        const vy_ins *ins = &ssa->ins.data[i];
        for (uint32_t k = 0; is_by_word(block, ins) && k < ins->bits; k++) {
            const vy_phi_edge *edge = &ssa->phi_edges.data[ins->ref + k];
            if (edge->block == from) {
                uint32_t value = vy_emitter_value(emitter, edge->value, ins->loc);
                uint32_t one = vy_const_u32(m, 1), zero = vy_const_u32(m, 0);
                emitter->edge_words[ins->ref + k] = vy_select_u(m, value, one, zero);
            }
        }
    }
}

static void emit_all_edge_words(vy_emitter *emitter, uint32_t from)
{
    const vy_block *block = &emitter->ssa->blocks.data[from];
    uint32_t targets = block->end == VY_END_JUMP     ? 1
                       : block->end == VY_END_BRANCH ? 2
                       : block->end == VY_END_SWITCH ? 1
                                                     : 0;
    for (uint32_t i = 0; i < targets; i++) {
        emit_edge_words(emitter, from, block->target[i]);
    }
    for (uint32_t i = 0; block->end == VY_END_SWITCH && i < block->case_count; i++) {
        emit_edge_words(emitter, from, emitter->ssa->cases.data[block->first_case + i].block);
    }
}

/* Room for the operands, which are known only later. */
static uint32_t emit_phi(vy_emitter *emitter, const vy_ins *ins, vyre_type of)
{
    vy_module *m = &emitter->module;
    uint32_t count = emitted_edges(emitter, ins);
    if (3 + 2 * (uint64_t)count > VY_MAX_INSTRUCTION_WORDS) {
        return vy_emitter_fail(
            emitter, VYRE_ERROR_INVALID_PROGRAM, ins->loc,
            "a value here depends on %u paths, more than a SPIR-V instruction "
            "can name. Fix: end fewer paths here, by nested ifs or by a function",
            count);
    }
    uint32_t type = vy_emit_type(emitter, of);
    uint32_t *room = vy_arena_alloc(m->arena, 2 * (size_t)count, sizeof *room);
    if (!room) {
        return 0;
    }
    uint32_t id = vy_value(m, SpvOpPhi, type, room, 2 * count);
    vy_phi_patch patch = {m->code->count - 2 * count, ins->ref, (uint32_t)ins->bits, ins->loc};
    (void)vy_vec_push(m->arena, &emitter->patches, patch);
    return id;
}

static void patch_phis(vy_emitter *emitter)
{
    if (!vy_module_is_whole(&emitter->module)) {
        return; /* offsets may be wrong */
    }
    uint32_t *words = emitter->module.sections[VY_SECTION_BODY].data;
    for (uint32_t i = 0; i < emitter->patches.count; i++) {
        const vy_phi_patch *patch = &emitter->patches.data[i];
        uint32_t at = patch->offset;
        for (uint32_t k = 0; k < patch->count; k++) {
            const vy_phi_edge *edge = &emitter->ssa->phi_edges.data[patch->first + k];
            if (emitter->is_emitted[edge->block]) {
                uint32_t word = emitter->edge_words[patch->first + k];
                words[at++] = word ? word : vy_emitter_value(emitter, edge->value, patch->loc);
                words[at++] = emitter->last_labels[edge->block];
            }
        }
    }
}

/* ---- Instructions ---------------------------------------------------------------------------- */

bool vy_emit_splits_block(const vy_emitter *emitter, const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VYRE_OP_LOAD:
        return vy_emit_flag_splits(emitter, ins);
    case VY_SSA_STORE:
        return !ins->unchecked || vy_emit_flag_splits(emitter, ins);
    case VY_SSA_ARRAY_STORE:
        return !ins->unchecked;
    case VY_SSA_ATOMIC:
        return !ins->unchecked || vy_emit_flag_splits(emitter, ins) ||
               emitter->ssa->program->buffers.data[ins->ref].type == VYRE_TYPE_F32 ||
               vy_emit_is_aggregated(emitter, ins);
    case VY_SSA_ARRAY_ZERO:
    case VY_SSA_GROUP_BEGIN:
    case VY_SSA_UNSTAGE:
        return true;
    case VY_SSA_SUBGROUP:
        return vy_emit_subgroup_splits(emitter, ins);
    default:
        return false;
    }
}

static void emit_line(vy_emitter *emitter, vy_loc loc)
{
    vy_module *m = &emitter->module;
    if (!m->has_names || !emitter->options->file_name || loc.line == 0 ||
        (loc.line == emitter->line.line && loc.column == emitter->line.column)) {
        return;
    }
    emitter->line = loc;
    vy_effect(m, SpvOpLine, VY_LIST(m->file_id, loc.line, loc.column));
}

static uint32_t emit_literal(vy_emitter *emitter, const vy_ins *ins)
{
    switch ((int)ins->type) {
    case VYRE_TYPE_BOOL:
        return vy_const_bool(&emitter->module, ins->bits != 0);
    case VYRE_TYPE_F16:
        return vy_const_f32(&emitter->module, vy_f16_as_f32((uint32_t)ins->bits));
    case VYRE_TYPE_F32:
        return vy_const_f32(&emitter->module, (uint32_t)ins->bits);
    case VYRE_TYPE_F64:
        return vy_const_f64(&emitter->module, ins->bits);
    default:
        return vy_const_integer(emitter, (vyre_type)ins->type, ins->bits);
    }
}

static uint32_t emit_operator(vy_emitter *emitter, const vy_ins *ins)
{
    vy_module *m = &emitter->module;
    uint32_t count = ins->op == VYRE_OP_CAST || ins->op == VYRE_OP_BITCAST
                         ? 1u
                         : vy_op_get((vyre_op)ins->op)->operand_count;
    uint32_t operands[4] = {0};
    for (uint32_t i = 0; i < count && i < 4; i++) {
        operands[i] = vy_emitter_value(emitter, ins->arg[i], ins->loc);
    }
    if (emitter->result != VYRE_OK) {
        return 0;
    }
    vyre_type type = vy_emitter_type(emitter, ins->arg[0]);
    switch ((int)ins->op) {
    case VYRE_OP_SELECT:
        return vy_select(m, vy_emit_type(emitter, (vyre_type)ins->type), operands[0], operands[1],
                         operands[2]);
    case VYRE_OP_CAST:
        return vy_emit_cast(emitter, ins, operands[0], type);
    case VYRE_OP_BITCAST:
        return vy_emit_bitcast(emitter, ins, operands[0], type);
    default:
        break;
    }
    switch ((int)type) {
    case VYRE_TYPE_BOOL:
        return vy_emit_bool(emitter, ins, operands);
    case VYRE_TYPE_F16:
    case VYRE_TYPE_F32:
        return vy_emit_f32(emitter, ins, operands, type);
    case VYRE_TYPE_F64:
        return vy_emit_f64(emitter, ins, operands);
    default:
        return vy_emit_integer(emitter, ins, operands, type);
    }
}

static void emit_record(vy_emitter *emitter, const vy_ins *ins)
{
    uint32_t site = vy_const_u32(&emitter->module, ins->ref);
    uint32_t invocation = vy_emit_input(emitter, VY_INPUT_INVOCATION);
    if (ins->arg[0]) {
        uint32_t pass = vy_emitter_value(emitter, ins->arg[0], ins->loc);
        uint32_t execution = vy_emitter_value(emitter, ins->arg[1], ins->loc);
        uint32_t pair = vy_type_u32_vector(&emitter->module, 2);
        uint32_t what =
            vy_value(&emitter->module, SpvOpCompositeConstruct, pair, VY_LIST(site, invocation));
        uint32_t when =
            vy_value(&emitter->module, SpvOpCompositeConstruct, pair, VY_LIST(pass, execution));
        (void)vy_helper_call(emitter, VY_HELPER_RECORD_OF, what, when);
        return;
    }
    (void)vy_helper_call(emitter, VY_HELPER_RECORD, site, invocation);
}

/* Whether what the instruction names exists; a form that was not verified must not crash us. */
static bool has_reference(const vy_emitter *emitter, const vy_ins *ins)
{
    const vyre_program *program = emitter->ssa->program;
    switch ((int)ins->op) {
    case VYRE_OP_PARAM:
        return ins->ref > 0 && ins->ref < program->params.count;
    case VYRE_OP_TABLE:
        return ins->ref > 0 && ins->ref < program->tables.count;
    case VYRE_OP_LOAD:
    case VYRE_OP_LENGTH:
    case VY_SSA_STORE:
    case VY_SSA_ATOMIC:
    case VY_SSA_LOAD_WIDE:
    case VY_SSA_STORE_WIDE:
    case VY_SSA_UNPACK:
    case VY_SSA_PACK:
    case VY_SSA_STAGE:
    case VY_SSA_UNSTAGE:
        return ins->ref > 0 && ins->ref < program->buffers.count &&
               (program->buffers.data[ins->ref].mode == VYRE_BUFFER_SHARED ||
                program->buffers.data[ins->ref].binding < program->binding_count);
    case VY_SSA_ARRAY_ZERO:
    case VY_SSA_ARRAY_LOAD:
    case VY_SSA_ARRAY_STORE:
        return ins->ref > 0 && ins->ref < emitter->ssa->arrays.count;
    case VYRE_OP_BUILTIN:
        return ins->ref < VYRE_BUILTIN_COUNT;
    case VY_SSA_HOST_INDEX:
        return ins->ref < VYRE_MAX_HOST_LOOPS;
    case VY_SSA_PRINT:
        return ins->ref < program->stmts.count &&
               program->stmts.data[ins->ref].kind == VY_STMT_PRINTF;
    case VY_SSA_PHI:
        return ins->bits <= emitter->ssa->phi_edges.count &&
               ins->ref <= emitter->ssa->phi_edges.count - ins->bits;
    default:
        return true;
    }
}

/* What gives no value; whether it is that. */
static bool emit_effect(vy_emitter *emitter, const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VY_SSA_STORE_WIDE:
        vy_emit_store_wide(emitter, ins);
        return true;
    case VY_SSA_STORE:
        vy_emit_store(emitter, ins);
        return true;
    case VY_SSA_BARRIER:
        vy_emit_barrier(emitter);
        return true;
    case VY_SSA_GROUP_BEGIN:
        vy_emit_group_begin(emitter, ins);
        return true;
    case VY_SSA_STAGE:
        vy_emit_stage(emitter, ins);
        return true;
    case VY_SSA_UNSTAGE:
        vy_emit_unstage(emitter, ins);
        return true;
    case VY_SSA_ARRAY_ZERO:
        vy_emit_array_zero(emitter, ins);
        return true;
    case VY_SSA_ARRAY_STORE:
        vy_emit_array_store(emitter, ins);
        return true;
    case VY_SSA_SPILL_STORE:
        vy_emit_spill_store(emitter, ins);
        return true;
    case VY_SSA_RECORD:
        emit_record(emitter, ins);
        return true;
    case VY_SSA_PRINT:
        vy_emit_print(emitter, ins);
        return true;
    default:
        return false;
    }
}

static uint32_t emit_value(vy_emitter *emitter, const vy_ins *ins)
{
    switch ((int)ins->op) {
    case VYRE_OP_LITERAL:
        return emit_literal(emitter, ins);
    case VYRE_OP_BUILTIN:
        return vy_emit_builtin(emitter, (vyre_builtin)ins->ref);
    case VYRE_OP_PARAM:
        return vy_emit_param(emitter, ins);
    case VYRE_OP_LENGTH:
        return vy_emit_length(emitter, ins->ref);
    case VYRE_OP_LOAD:
        return vy_emit_load(emitter, ins);
    case VYRE_OP_TABLE:
        return vy_emit_table(emitter, ins);
    case VY_SSA_PHI:
        return emit_phi(emitter, ins, (vyre_type)ins->type);
    case VY_SSA_HOST_INDEX:
        return vy_emit_host_index(emitter, ins->ref);
    case VY_SSA_IS_ELEMENT:
        return vy_emit_is_element(emitter);
    case VY_SSA_ELEMENTS:
        return vy_emit_input(emitter, VY_INPUT_ELEMENTS);
    case VY_SSA_LOAD_WIDE:
        return vy_emit_load_wide(emitter, ins);
    case VY_SSA_UNPACK:
        return vy_emit_unpack(emitter, ins);
    case VY_SSA_RANK:
        return vy_emit_rank(emitter, ins);
    case VY_SSA_PACK:
        return vy_emit_pack(emitter, ins);
    case VY_SSA_ATOMIC:
        return vy_emit_atomic(emitter, ins);
    case VY_SSA_ARRAY_LOAD:
        return vy_emit_array_load(emitter, ins);
    case VY_SSA_SPILL_LOAD:
        return vy_emit_spill_load(emitter, ins);
    case VY_SSA_CANONICAL_NAN: {
        uint32_t value = vy_emitter_value(emitter, ins->arg[0], ins->loc);
        return vy_emit_canonical_nan(emitter, value, (vyre_type)ins->type);
    }
    case VY_SSA_COMPONENT:
        return vy_emit_component(emitter, ins);
    case VY_SSA_COMPOSE:
        return vy_emit_compose(emitter, ins);
    case VY_SSA_SUBGROUP:
        return vy_emit_subgroup(emitter, ins);
    default:
        break;
    }
    if (emit_effect(emitter, ins)) {
        return 0;
    }
    if (ins->op == VYRE_OP_NONE || ins->op == VYRE_OP_VARIABLE || ins->op == VYRE_OP_ELEMENT ||
        ins->op == VYRE_OP_CALL || ins->op >= VYRE_OP_COUNT) {
        return vy_emitter_fail(
            emitter, VYRE_ERROR_INTERNAL, ins->loc,
            "instruction %u does not belong in SSA form. Fix: report it with the "
            "program",
            (unsigned)ins->op);
    }
    return emit_operator(emitter, ins);
}

static void emit_instruction(vy_emitter *emitter, uint32_t index)
{
    const vy_ins *ins = &emitter->ssa->ins.data[index];
    if (!has_reference(emitter, ins)) {
        (void)vy_emitter_fail(emitter, VYRE_ERROR_INTERNAL, ins->loc,
                              "instruction %%%u names %u, which is not there. Fix: report it with "
                              "the program",
                              index, ins->ref);
        return;
    }
    if (ins->op != VY_SSA_PHI && (emitter->debug || emitter->module.has_names)) {
        vy_debug_bind(emitter, ins->block, index);
        vy_debug_place(emitter, ins->loc, ins->call);
        emit_line(emitter, ins->loc);
    }
    uint32_t before = emitter->module.next_id;
    uint32_t value = vy_emit_plain(emitter, ins);
    value = value ? value : emit_value(emitter, ins);
    emitter->values[index] = value;
    if (ins->op == VYRE_OP_PARAM) {
        vy_debug_param(emitter, ins->ref, (uint32_t)ins->bits, value);
    }
    if (value >= before) { /* not a constant or input that others share */
        vy_module_name(&emitter->module, value, ins->name);
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static uint32_t label_of(vy_emitter *emitter, uint32_t block)
{
    if (block == 0 || block >= emitter->ssa->blocks.count) {
        return vy_emitter_fail(emitter, VYRE_ERROR_INTERNAL, (vy_loc){0, 0},
                               "a block leads to block %u, which is not there. Fix: report it with "
                               "the program",
                               block);
    }
    if (!emitter->labels[block]) {
        emitter->labels[block] = vy_module_id(&emitter->module);
    }
    return emitter->labels[block];
}

/* Where subgroups reconverge, lanes that different selectors lead to one place go there together:
 * a driver was seen to keep them apart. So the switch is on the number of the block that a selector
 * leads to, 0 for the default. */
static bool switches_on_blocks(const vy_emitter *emitter)
{
    return emitter->options->reconvergence == VYRE_RECONVERGENCE_MAXIMAL;
}

static uint32_t chosen_block(vy_emitter *emitter, const vy_block *block, uint32_t selector)
{
    vy_module *m = &emitter->module;
    uint32_t chosen = vy_const_u32(m, 0);
    for (uint32_t i = 0; i < block->case_count; i++) {
        const vy_case *row = &emitter->ssa->cases.data[block->first_case + i];
        if (row->block != block->target[0]) {
            uint32_t is_this = vy_b2c(m, SpvOpIEqual, selector, row->value);
            uint32_t number = vy_const_u32(m, row->block);
            chosen = vy_select_u(m, is_this, number, chosen);
        }
    }
    return chosen;
}

static int compare_first(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Each block once; returns how many pairs are left. */
static uint32_t number_by_block(const vy_emitter *emitter, const vy_block *block, uint32_t *pairs)
{
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < block->case_count; i++) {
        uint32_t to = emitter->ssa->cases.data[block->first_case + i].block;
        if (to != block->target[0]) {
            pairs[2 * count] = to;
            pairs[2 * count++ + 1] = emitter->labels[to];
        }
    }
    qsort(pairs, count, 2 * sizeof *pairs, compare_first);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || pairs[2 * i] != pairs[2 * i - 2]) {
            pairs[2 * kept] = pairs[2 * i];
            pairs[2 * kept++ + 1] = pairs[2 * i + 1];
        }
    }
    return kept;
}

static void emit_switch(vy_emitter *emitter, const vy_block *block, uint32_t selector)
{
    vy_module *m = &emitter->module;
    if (block->case_count > MAX_SWITCH_CASES) {
        (void)vy_emitter_fail(emitter, VYRE_ERROR_INVALID_PROGRAM, block->loc,
                              "a switch has %u case values, more than the %u that SPIR-V allows. "
                              "Fix: split it, or look the value up in a table",
                              block->case_count, MAX_SWITCH_CASES);
        return;
    }
    uint32_t *operands =
        vy_arena_alloc(m->arena, 2 + 2 * (size_t)block->case_count, sizeof *operands);
    if (!operands) {
        return;
    }
    operands[0] = selector;
    operands[1] = label_of(emitter, block->target[0]);
    for (uint32_t i = 0; i < block->case_count; i++) {
        const vy_case *row = &emitter->ssa->cases.data[block->first_case + i];
        operands[2 + 2 * i] = row->value;
        operands[3 + 2 * i] = label_of(emitter, row->block);
    }
    uint32_t count = block->case_count;
    if (switches_on_blocks(emitter) && emitter->result == VYRE_OK) {
        count = number_by_block(emitter, block, operands + 2);
    }
    vy_effect(m, SpvOpSwitch, operands, 2 + 2 * count);
}

static void emit_loop_merge(vy_emitter *emitter, const vy_block *block)
{
    uint32_t header = (uint32_t)(block - emitter->ssa->blocks.data);
    SpvLoopControlMask control =
        vy_emit_unrolls(emitter, header) ? SpvLoopControlUnrollMask : SpvLoopControlMaskNone;
    uint32_t merge = label_of(emitter, block->merge);
    uint32_t next = label_of(emitter, block->continue_block);
    vy_effect(&emitter->module, SpvOpLoopMerge, VY_LIST(merge, next, (uint32_t)control));
}

static void emit_end(vy_emitter *emitter, const vy_block *block, bool is_loop_open)
{
    vy_module *m = &emitter->module;
    uint32_t condition = 0;
    if (block->end == VY_END_BRANCH || block->end == VY_END_SWITCH) {
        condition = vy_emitter_value(emitter, block->cond, block->loc);
    }
    if (block->end == VY_END_SWITCH && switches_on_blocks(emitter)) {
        condition = chosen_block(emitter, block, condition);
    }
    vy_debug_place(emitter, block->loc, block->call);
    emit_line(emitter, block->loc); /* the merge instruction is the last but one */
    if (block->merge_kind == VY_MERGE_LOOP && !is_loop_open) {
        emit_loop_merge(emitter, block);
    } else if (block->merge_kind == VY_MERGE_SELECTION) {
        uint32_t merge = label_of(emitter, block->merge);
        vy_effect(m, SpvOpSelectionMerge, VY_LIST(merge, SpvSelectionControlMaskNone));
    }
    switch (block->end) {
    case VY_END_JUMP:
        vy_jump(m, label_of(emitter, block->target[0]));
        break;
    case VY_END_BRANCH: {
        uint32_t yes = label_of(emitter, block->target[0]);
        uint32_t no = label_of(emitter, block->target[1]);
        vy_effect(m, SpvOpBranchConditional, VY_LIST(condition, yes, no));
        break;
    }
    case VY_END_SWITCH:
        emit_switch(emitter, block, condition);
        break;
    case VY_END_RETURN:
        vy_effect(m, SpvOpReturn, NULL, 0);
        break;
    case VY_END_UNREACHABLE:
        vy_effect(m, SpvOpUnreachable, NULL, 0);
        break;
    default:
        (void)vy_emitter_fail(emitter, VYRE_ERROR_INTERNAL, block->loc,
                              "a block has no end. Fix: report it with the program");
        break;
    }
}

static bool splits(const vy_emitter *emitter, const vy_block *block)
{
    for (uint32_t i = block->first; i; i = emitter->ssa->ins.data[i].next) {
        if (vy_emit_splits_block(emitter, &emitter->ssa->ins.data[i])) {
            return true;
        }
    }
    return false;
}

static void emit_phis(vy_emitter *emitter, const vy_block *block)
{
    vy_module *m = &emitter->module;
    const vy_ins *all = emitter->ssa->ins.data;
    uint32_t i = block->first;
    for (; i && all[i].op == VY_SSA_PHI; i = all[i].next) {
        if (is_by_word(block, &all[i]) && has_reference(emitter, &all[i])) {
            emitter->values[i] = emit_phi(emitter, &all[i], VYRE_TYPE_U32);
        } else {
            emit_instruction(emitter, i);
        }
    }
    for (i = block->first; i && all[i].op == VY_SSA_PHI; i = all[i].next) {
        if (is_by_word(block, &all[i]) && emitter->values[i]) {
            emitter->values[i] = vy_b2c(m, SpvOpINotEqual, emitter->values[i], 0);
            vy_module_name(m, emitter->values[i], all[i].name);
        }
    }
}

static void emit_block(vy_emitter *emitter, uint32_t index)
{
    vy_module *m = &emitter->module;
    const vy_ssa *ssa = emitter->ssa;
    const vy_block *block = &ssa->blocks.data[index];
    vy_emitter_label(emitter, label_of(emitter, index));
    uint32_t i = block->first;
    emit_phis(emitter, block);
    while (i && ssa->ins.data[i].op == VY_SSA_PHI) {
        i = ssa->ins.data[i].next;
    }
    /* A loop's merge instruction belongs into the block that the back edge leads to. */
    bool is_loop_open = block->merge_kind == VY_MERGE_LOOP && splits(emitter, block);
    if (is_loop_open) {
        uint32_t rest = vy_module_id(m);
        emit_loop_merge(emitter, block);
        vy_jump(m, rest);
        vy_emitter_label(emitter, rest);
    }
    for (; i && emitter->result == VYRE_OK; i = ssa->ins.data[i].next) {
        emit_instruction(emitter, i);
    }
    vy_debug_bind(emitter, index, UINT32_MAX);
    emit_all_edge_words(emitter, index);
    emit_end(emitter, block, is_loop_open);
    emitter->last_labels[index] = emitter->current_label;
}

void vy_emit_blocks(vy_emitter *emitter)
{
    if (!mark_blocks(emitter)) {
        return;
    }
    for (uint32_t i = 1; i < emitter->ssa->blocks.count; i++) {
        if (emitter->is_emitted[i]) {
            emit_block(emitter, i);
        }
        if (emitter->result != VYRE_OK || !vy_module_is_whole(&emitter->module)) {
            return;
        }
    }
    patch_phis(emitter);
}
