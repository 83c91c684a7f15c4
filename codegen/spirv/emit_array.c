/* Private arrays, which are variables of the body's function, and spill slots, which carry values
 * from one segment to the next. */
#include "codegen/spirv/emit.h"

#define ZERO_BY_LOOP_COUNT 17u

/* ---- Private arrays -------------------------------------------------------------------------- */

static vy_cell array_cell(const vy_emitter *emitter, uint32_t ref)
{
    return vy_cell_of((vyre_type)emitter->ssa->arrays.data[ref].type, false);
}

void vy_emit_array_variables(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    const vy_ssa *ssa = emitter->ssa;
    for (uint32_t i = 1; i < ssa->arrays.count; i++) {
        const vy_array *array = &ssa->arrays.data[i];
        uint32_t element = vy_cell_type(emitter, array_cell(emitter, i));
        uint32_t type = vy_type_array(m, element, array->count ? array->count : 1);
        uint32_t pointer = vy_type_pointer(m, SpvStorageClassFunction, type);
        emitter->arrays[i] =
            vy_value(m, SpvOpVariable, pointer, VY_LIST((uint32_t)SpvStorageClassFunction));
        vy_module_name(m, emitter->arrays[i], array->name);
    }
}

static uint32_t array_pointer(vy_emitter *emitter, uint32_t ref, uint32_t index)
{
    vy_module *m = &emitter->module;
    uint32_t element = vy_cell_type(emitter, array_cell(emitter, ref));
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassFunction, element);
    return vy_value(m, SpvOpAccessChain, pointer, VY_LIST(emitter->arrays[ref], index));
}

/* for (i = 0; i < count; i++) array[i] = 0 */
static void zero_by_loop(vy_emitter *emitter, uint32_t ref, uint32_t count)
{
    vy_module *m = &emitter->module;
    uint32_t type = vy_type_u32(m);
    uint32_t before = emitter->current_label;
    uint32_t header = vy_module_id(m), body = vy_module_id(m), step = vy_module_id(m);
    uint32_t merge = vy_module_id(m), next = vy_module_id(m);
    vy_cell cell = array_cell(emitter, ref);
    uint32_t zero = vy_const_u32(m, 0);
    uint32_t empty = cell == VY_CELL_32 ? zero : vy_const_null(m, vy_cell_type(emitter, cell));
    vy_jump(m, header);
    vy_emitter_label(emitter, header);
    uint32_t index = vy_value(m, SpvOpPhi, type, VY_LIST(zero, before, next, step));
    uint32_t more = vy_b2c(m, SpvOpULessThan, index, count);
    vy_effect(m, SpvOpLoopMerge, VY_LIST(merge, step, SpvLoopControlMaskNone));
    vy_effect(m, SpvOpBranchConditional, VY_LIST(more, body, merge));
    vy_emitter_label(emitter, body);
    uint32_t pointer = array_pointer(emitter, ref, index);
    vy_emit_store_cell(emitter, pointer, cell, empty, SpvMemoryAccessMaskNone);
    vy_jump(m, step);
    vy_emitter_label(emitter, step);
    uint32_t one = vy_const_u32(m, 1);
    vy_effect(m, SpvOpIAdd, VY_LIST(type, next, index, one));
    vy_jump(m, header);
    vy_emitter_label(emitter, merge);
}

void vy_emit_array_zero(vy_emitter *emitter, const vy_ins *ins)
{
    vy_module *m = &emitter->module;
    uint32_t count = emitter->ssa->arrays.data[ins->ref].count;
    if (count >= ZERO_BY_LOOP_COUNT) {
        zero_by_loop(emitter, ins->ref, count);
        return;
    }
    uint32_t element = vy_cell_type(emitter, array_cell(emitter, ins->ref));
    uint32_t type = vy_type_array(m, element, count ? count : 1);
    uint32_t null = vy_const_null(m, type);
    vy_emit_store_word(emitter, emitter->arrays[ins->ref], null, SpvMemoryAccessMaskNone);
}

uint32_t vy_emit_array_load(vy_emitter *emitter, const vy_ins *ins)
{
    vyre_type type = (vyre_type)emitter->ssa->arrays.data[ins->ref].type;
    uint32_t count = vy_const_u32(&emitter->module, emitter->ssa->arrays.data[ins->ref].count);
    vy_checked checked = vy_check_index_for_load(emitter, ins, count);
    uint32_t pointer = array_pointer(emitter, ins->ref, checked.index);
    uint32_t value =
        vy_emit_load_cell(emitter, pointer, array_cell(emitter, ins->ref), SpvMemoryAccessMaskNone);
    return vy_checked_value(emitter, type, false, checked, value);
}

void vy_emit_array_store(vy_emitter *emitter, const vy_ins *ins)
{
    vyre_type type = (vyre_type)emitter->ssa->arrays.data[ins->ref].type;
    uint32_t value = vy_emitter_value(emitter, ins->arg[1], ins->loc);
    uint32_t cell = vy_emit_to_cell(emitter, type, false, value);
    uint32_t count = vy_const_u32(&emitter->module, emitter->ssa->arrays.data[ins->ref].count);
    vy_checked checked = vy_check_index(emitter, ins, count);
    uint32_t merge = vy_begin_checked(emitter, checked);
    uint32_t pointer = array_pointer(emitter, ins->ref, checked.index);
    vy_emit_store_cell(emitter, pointer, array_cell(emitter, ins->ref), cell,
                       SpvMemoryAccessMaskNone);
    vy_end_checked(emitter, merge);
}

/* ---- Spill slots ----------------------------------------------------------------------------- */

/* Value-major: word w of all invocations lies together, so that neighbours access neighbours. */
static uint32_t spill_pointer(vy_emitter *emitter, uint32_t word)
{
    vy_module *m = &emitter->module;
    uint32_t invocation = vy_emit_input(emitter, VY_INPUT_INVOCATION);
    uint32_t slot = emitter->ssa->program->binding_count + VY_HIDDEN_SPILL;
    uint32_t index = invocation;
    if (word) {
        uint32_t stride = vy_emit_input(emitter, VY_INPUT_STRIDE);
        uint32_t first = vy_u2c(m, SpvOpIMul, stride, word);
        index = vy_u2(m, SpvOpIAdd, first, invocation);
    }
    return emitter->addressing->element(emitter, slot, VY_CELL_32, index);
}

static uint32_t load_spilled(vy_emitter *emitter, uint32_t word)
{
    uint32_t pointer = spill_pointer(emitter, word);
    uint32_t access = emitter->target->shared_access | emitter->addressing->access;
    return vy_emit_load_word(emitter, pointer, access);
}

static void store_spilled(vy_emitter *emitter, uint32_t word, uint32_t value)
{
    uint32_t pointer = spill_pointer(emitter, word);
    uint32_t access = emitter->target->shared_access | emitter->addressing->access;
    vy_emit_store_word(emitter, pointer, value, access);
}

uint32_t vy_emit_spill_load(vy_emitter *emitter, const vy_ins *ins)
{
    vyre_type type = (vyre_type)ins->type;
    uint32_t low = load_spilled(emitter, ins->ref);
    if (vy_type_width(type) != 64) {
        return vy_emit_from_word(emitter, type, low);
    }
    uint32_t high = load_spilled(emitter, ins->ref + 1);
    uint32_t wide = vy_emit_join(emitter, low, high);
    return vy_type_is_float(type)
               ? vy_v1(&emitter->module, SpvOpBitcast, vy_emit_type(emitter, type), wide)
               : wide;
}

void vy_emit_spill_store(vy_emitter *emitter, const vy_ins *ins)
{
    vyre_type type = vy_emitter_type(emitter, ins->arg[0]);
    uint32_t value = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    if (vy_type_width(type) != 64) {
        store_spilled(emitter, ins->ref, vy_emit_to_word(emitter, type, value));
        return;
    }
    if (vy_type_is_float(type)) {
        value = vy_v1(&emitter->module, SpvOpBitcast, vy_type_u64(&emitter->module), value);
    }
    store_spilled(emitter, ins->ref, vy_emit_low(emitter, value));
    store_spilled(emitter, ins->ref + 1, vy_emit_high(emitter, value));
}
