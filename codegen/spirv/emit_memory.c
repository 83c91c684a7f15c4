/* Loads and stores of buffers, and the checks of every index: it is compared with the length before
 * it is used, both being the same values in check and access. Loads read element 0 instead, stores
 * are jumped over. Every IR load is one OpLoad. */
#include "codegen/spirv/emit.h"

/* ---- Checks ---------------------------------------------------------------------------------- */

vy_checked vy_check_index(vy_emitter *emitter, const vy_ins *ins, uint32_t count)
{
    vy_module *m = &emitter->module;
    uint32_t index = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    vyre_type type = vy_emitter_type(emitter, ins->arg[0]);
    vy_checked checked = {0, index};
    if (vy_type_width(type) == 64) {
        checked.index = vy_emit_low(emitter, index);
        if (!ins->unchecked) {
            uint32_t wide = vy_v1(m, SpvOpUConvert, vy_type_u64(m), count);
            checked.ok = vy_b2(m, SpvOpULessThan, index, wide);
        }
    } else if (!ins->unchecked) {
        checked.ok = vy_b2(m, SpvOpULessThan, index, count);
    }
    return checked;
}

vy_checked vy_check_index_for_load(vy_emitter *emitter, const vy_ins *ins, uint32_t count)
{
    vy_module *m = &emitter->module;
    uint32_t zero = ins->unchecked ? 0 : vy_const_u32(m, 0);
    vy_checked checked = vy_check_index(emitter, ins, count);
    if (checked.ok) {
        checked.index = vy_select_u(m, checked.ok, checked.index, zero);
    }
    return checked;
}

uint32_t vy_checked_value(vy_emitter *emitter, vyre_type type, bool is_packed, vy_checked checked,
                          uint32_t value)
{
    vy_module *m = &emitter->module;
    if (checked.ok) {
        vy_cell cell = vy_cell_of(type, is_packed);
        uint32_t of = vy_cell_value_type(emitter, cell);
        uint32_t zero = cell <= VY_CELL_32   ? vy_const_u32(m, 0)
                        : cell == VY_CELL_64 ? vy_const_u64(m, 0)
                                             : vy_const_null(m, of);
        value = vy_select(m, of, checked.ok, value, zero);
    }
    return vy_emit_from_cell(emitter, type, is_packed, value);
}

uint32_t vy_begin_checked(vy_emitter *emitter, vy_checked checked)
{
    vy_module *m = &emitter->module;
    if (!checked.ok) {
        return 0;
    }
    uint32_t inside = vy_module_id(m), merge = vy_module_id(m);
    vy_if(m, checked.ok, inside, merge, merge);
    vy_emitter_label(emitter, inside);
    return merge;
}

void vy_end_checked(vy_emitter *emitter, uint32_t merge)
{
    if (merge) {
        vy_jump(&emitter->module, merge);
        vy_emitter_label(emitter, merge);
    }
}

/* ---- Buffers --------------------------------------------------------------------------------- */

bool vy_emit_is_shared(const vy_emitter *emitter, uint32_t buffer)
{
    return emitter->ssa->program->buffers.data[buffer].mode == VYRE_BUFFER_SHARED;
}

vy_cell vy_emit_buffer_cell(const vy_emitter *emitter, uint32_t buffer)
{
    vyre_type type = (vyre_type)emitter->ssa->program->buffers.data[buffer].type;
    return vy_cell_of(type, !vy_emit_is_shared(emitter, buffer));
}

uint32_t vy_emit_shared_count(vy_emitter *emitter, uint32_t buffer)
{
    const vyre_program *program = emitter->ssa->program;
    const vy_buffer *row = &program->buffers.data[buffer];
    const vy_expr *count = NULL;
    if (row->count.root && row->count.root < program->exprs.count) {
        count = &program->exprs.data[row->count.root];
    }
    if (!count || count->op != VYRE_OP_LITERAL || count->bits[0] == 0) {
        return vy_emitter_fail(emitter, VYRE_ERROR_INVALID_PROGRAM, row->loc,
                               "shared buffer %s has no literal element count. Fix: write it as a "
                               "number of 1 or more",
                               row->name ? row->name : "");
    }
    return (uint32_t)count->bits[0];
}

static uint32_t shared_variable(vy_emitter *emitter, uint32_t buffer)
{
    vy_module *m = &emitter->module;
    emitter->is_shared_used[buffer] = true;
    if (!emitter->shared[buffer]) {
        uint32_t element = vy_cell_type(emitter, vy_emit_buffer_cell(emitter, buffer));
        uint32_t count = vy_emit_shared_count(emitter, buffer);
        uint32_t type = vy_type_array(m, element, count ? count : 1);
        emitter->shared[buffer] = vy_global_variable(m, SpvStorageClassWorkgroup, type, 0);
        vy_module_name(m, emitter->shared[buffer],
                       emitter->ssa->program->buffers.data[buffer].name);
        vy_debug_buffer(emitter, buffer, emitter->shared[buffer]);
    }
    return emitter->shared[buffer];
}

uint32_t vy_emit_element(vy_emitter *emitter, uint32_t buffer, uint32_t index)
{
    vy_module *m = &emitter->module;
    vy_cell cell = vy_emit_buffer_cell(emitter, buffer);
    if (!vy_emit_is_shared(emitter, buffer)) {
        uint32_t slot = emitter->ssa->program->buffers.data[buffer].binding;
        return emitter->addressing->element(emitter, slot, cell, index);
    }
    uint32_t variable = shared_variable(emitter, buffer);
    uint32_t element = vy_cell_type(emitter, cell);
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassWorkgroup, element);
    return vy_value(m, SpvOpAccessChain, pointer, VY_LIST(variable, index));
}

uint32_t vy_emit_length(vy_emitter *emitter, uint32_t buffer)
{
    if (vy_emit_is_shared(emitter, buffer)) {
        return vy_const_u32(&emitter->module, vy_emit_shared_count(emitter, buffer));
    }
    return vy_emit_binding_length(emitter, emitter->ssa->program->buffers.data[buffer].binding);
}

/* Where a length may be beyond 2^31, a negative i32 must not pass for an index. */
uint32_t vy_emit_bound(vy_emitter *emitter, const vy_ins *ins)
{
    vyre_type type = vy_emitter_type(emitter, ins->arg[0]);
    if (ins->unchecked || !vy_type_is_signed(type) || vy_emit_is_shared(emitter, ins->ref)) {
        return vy_emit_length(emitter, ins->ref);
    }
    return vy_emit_signed_length(emitter, emitter->ssa->program->buffers.data[ins->ref].binding);
}

/* What nobody writes while the module runs stays private. */
uint32_t vy_emit_plain_access(const vy_emitter *emitter, uint32_t buffer)
{
    if (!vy_emit_is_shared(emitter, buffer)) {
        uint32_t binding = emitter->ssa->program->buffers.data[buffer].binding;
        bool may_change = emitter->module_writes >> binding & 1 || vy_emit_is_flag(emitter, buffer);
        return emitter->addressing->access | (may_change ? emitter->target->shared_access : 0);
    }
    return emitter->target->shared_access;
}

static uint32_t load_at(vy_emitter *emitter, const vy_ins *ins, uint32_t pointer, const void *data)
{
    (void)data;
    return vy_emit_load_cell(emitter, pointer, vy_emit_buffer_cell(emitter, ins->ref),
                             vy_emit_plain_access(emitter, ins->ref));
}

/* data: the cell's value. */
static uint32_t store_at(vy_emitter *emitter, const vy_ins *ins, uint32_t pointer, const void *data)
{
    const uint32_t *cell = data;
    vy_emit_store_cell(emitter, pointer, vy_emit_buffer_cell(emitter, ins->ref), *cell,
                       vy_emit_plain_access(emitter, ins->ref));
    return 0;
}

uint32_t vy_emit_load(vy_emitter *emitter, const vy_ins *ins)
{
    vyre_type type = (vyre_type)emitter->ssa->program->buffers.data[ins->ref].type;
    bool is_packed = !vy_emit_is_shared(emitter, ins->ref);
    uint32_t count = vy_emit_bound(emitter, ins);
    vy_checked checked = vy_check_index_for_load(emitter, ins, count);
    uint32_t value = vy_emit_access(emitter, ins, checked.index, load_at, NULL);
    return vy_checked_value(emitter, type, is_packed, checked, value);
}

void vy_emit_store(vy_emitter *emitter, const vy_ins *ins)
{
    vyre_type type = (vyre_type)emitter->ssa->program->buffers.data[ins->ref].type;
    uint32_t value = vy_emitter_value(emitter, ins->arg[1], ins->loc);
    bool is_packed = !vy_emit_is_shared(emitter, ins->ref);
    uint32_t cell = vy_emit_to_cell(emitter, type, is_packed, value);
    uint32_t count = vy_emit_bound(emitter, ins);
    vy_checked checked = vy_check_index(emitter, ins, count);
    uint32_t merge = vy_begin_checked(emitter, checked);
    (void)vy_emit_access(emitter, ins, checked.index, store_at, &cell);
    vy_end_checked(emitter, merge);
}
