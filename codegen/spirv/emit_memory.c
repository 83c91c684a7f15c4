/* Loads and stores: buffers, workgroup memory, private arrays, tables, spill slots. An index is
 * compared with the length before it is used, both being the same values in check and access: loads
 * read element 0 instead, stores are jumped over. Every IR load is one OpLoad. */
#include "codegen/spirv/emit.h"

#define MAX_MODULE_TABLE_COUNT 4096u /* 16 KiB */
#define MAX_TABLE_COUNT        (1u << 24)
#define TABLE_ROW              1024u
#define ZERO_BY_LOOP_COUNT     17u
#define WORD_SIZE              4u

/* ---- Words and values ------------------------------------------------------------------------ */

uint32_t vy_emit_type(vy_emitter *emitter, vyre_type type)
{
    switch ((int)type) {
    case VYRE_TYPE_BOOL:
        return vy_type_bool(&emitter->module);
    case VYRE_TYPE_F32:
        return vy_type_f32(&emitter->module);
    default:
        return vy_type_u32(&emitter->module);
    }
}

uint32_t vy_emit_to_word(vy_emitter *emitter, vyre_type type, uint32_t value)
{
    vy_module *m = &emitter->module;
    if (type == VYRE_TYPE_F32) {
        return vy_bits_of(m, value);
    }
    if (type == VYRE_TYPE_BOOL) {
        uint32_t one = vy_const_u32(m, 1), zero = vy_const_u32(m, 0);
        return vy_select_u(m, value, one, zero);
    }
    return value;
}

uint32_t vy_emit_from_word(vy_emitter *emitter, vyre_type type, uint32_t word)
{
    vy_module *m = &emitter->module;
    if (type == VYRE_TYPE_F32) {
        return vy_f32_of(m, word);
    }
    return type == VYRE_TYPE_BOOL ? vy_b2c(m, SpvOpINotEqual, word, 0) : word;
}

/* Words that memory operands take, in {access, WORD_SIZE}: an alignment stands behind its bit. */
static uint32_t operand_count(uint32_t access)
{
    return access & SpvMemoryAccessAlignedMask ? 2 : access ? 1 : 0;
}

uint32_t vy_emit_load_word(vy_emitter *emitter, uint32_t pointer, uint32_t access)
{
    vy_module *m = &emitter->module;
    return vy_value(m, SpvOpLoad, vy_type_u32(m), (const uint32_t[]){pointer, access, WORD_SIZE},
                    1 + operand_count(access));
}

void vy_emit_store_word(vy_emitter *emitter, uint32_t pointer, uint32_t word, uint32_t access)
{
    vy_effect(&emitter->module, SpvOpStore, (const uint32_t[]){pointer, word, access, WORD_SIZE},
              2 + operand_count(access));
}

/* ---- Checks ---------------------------------------------------------------------------------- */

typedef struct vy_checked {
    uint32_t ok, index;
} vy_checked;

static vy_checked check_for_load(vy_emitter *emitter, const vy_ins *ins, uint32_t index,
                                 uint32_t count)
{
    vy_module *m = &emitter->module;
    vy_checked checked = {0, index};
    if (!ins->unchecked) {
        uint32_t zero = vy_const_u32(m, 0);
        checked.ok = vy_b2(m, SpvOpULessThan, index, count);
        checked.index = vy_select_u(m, checked.ok, index, zero);
    }
    return checked;
}

static uint32_t checked_value(vy_emitter *emitter, const vy_ins *ins, vy_checked checked,
                              uint32_t word)
{
    vy_module *m = &emitter->module;
    if (checked.ok) {
        uint32_t zero = vy_const_u32(m, 0);
        word = vy_select_u(m, checked.ok, word, zero);
    }
    return vy_emit_from_word(emitter, (vyre_type)ins->type, word);
}

/* Opens a selection that is entered where the index is in bounds; returns its merge label, or 0
 * where nothing needs to be checked. */
static uint32_t begin_checked(vy_emitter *emitter, const vy_ins *ins, uint32_t index,
                              uint32_t count)
{
    vy_module *m = &emitter->module;
    if (ins->unchecked) {
        return 0;
    }
    uint32_t ok = vy_b2(m, SpvOpULessThan, index, count);
    uint32_t inside = vy_module_id(m), merge = vy_module_id(m);
    vy_if(m, ok, inside, merge, merge);
    vy_emitter_label(emitter, inside);
    return merge;
}

static void end_checked(vy_emitter *emitter, uint32_t merge)
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
    if (!emitter->shared[buffer]) {
        uint32_t element = vy_type_u32(m);
        uint32_t count = vy_emit_shared_count(emitter, buffer);
        uint32_t type = vy_type_array(m, element, count ? count : 1);
        emitter->shared[buffer] = vy_global_variable(m, SpvStorageClassWorkgroup, type, 0);
        vy_module_name(m, emitter->shared[buffer],
                       emitter->ssa->program->buffers.data[buffer].name);
    }
    return emitter->shared[buffer];
}

uint32_t vy_emit_element(vy_emitter *emitter, uint32_t buffer, uint32_t index)
{
    vy_module *m = &emitter->module;
    if (!vy_emit_is_shared(emitter, buffer)) {
        uint32_t slot = emitter->ssa->program->buffers.data[buffer].binding;
        return emitter->addressing->word(emitter, slot, index);
    }
    uint32_t variable = shared_variable(emitter, buffer);
    uint32_t element = vy_type_u32(m);
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

/* Memory operands of a plain access: what nobody writes while the module runs stays private. */
static uint32_t plain_access(const vy_emitter *emitter, uint32_t buffer)
{
    if (!vy_emit_is_shared(emitter, buffer)) {
        uint32_t binding = emitter->ssa->program->buffers.data[buffer].binding;
        bool may_change = emitter->module_writes >> binding & 1;
        return emitter->addressing->access | (may_change ? emitter->target->shared_access : 0);
    }
    return emitter->target->shared_access;
}

uint32_t vy_emit_load(vy_emitter *emitter, const vy_ins *ins)
{
    uint32_t index = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    uint32_t count = vy_emit_length(emitter, ins->ref);
    vy_checked checked = check_for_load(emitter, ins, index, count);
    uint32_t pointer = vy_emit_element(emitter, ins->ref, checked.index);
    uint32_t word = vy_emit_load_word(emitter, pointer, plain_access(emitter, ins->ref));
    return checked_value(emitter, ins, checked, word);
}

void vy_emit_store(vy_emitter *emitter, const vy_ins *ins)
{
    uint32_t index = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    uint32_t value = vy_emitter_value(emitter, ins->arg[1], ins->loc);
    uint32_t word = vy_emit_to_word(emitter, vy_emitter_type(emitter, ins->arg[1]), value);
    uint32_t count = vy_emit_length(emitter, ins->ref);
    uint32_t merge = begin_checked(emitter, ins, index, count);
    uint32_t pointer = vy_emit_element(emitter, ins->ref, index);
    vy_emit_store_word(emitter, pointer, word, plain_access(emitter, ins->ref));
    end_checked(emitter, merge);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The constant of `count` words; its type in *out_type. */
static uint32_t constant_words(vy_module *m, const vy_table *table, uint32_t first, uint32_t count,
                               uint32_t padded_count, uint32_t *out_type)
{
    uint32_t *parts = vy_arena_alloc(m->arena, padded_count, sizeof *parts);
    uint32_t element = vy_type_u32(m);
    *out_type = vy_type_array(m, element, padded_count);
    if (!parts) {
        return 0;
    }
    for (uint32_t i = 0; i < padded_count; i++) {
        uint64_t bits = i < count ? vy_table_value(table, first + i, 0) : 0;
        parts[i] = vy_const_u32(m, (uint32_t)bits);
    }
    return vy_const_composite(m, *out_type, parts, padded_count);
}

/* An instruction holds 65,535 words: larger tables are arrays of rows. */
static uint32_t constant_rows(vy_module *m, const vy_table *table, uint32_t *out_type)
{
    uint32_t row_count = (table->count + TABLE_ROW - 1) / TABLE_ROW, row_type = 0;
    uint32_t *rows = vy_arena_alloc(m->arena, row_count, sizeof *rows);
    if (!rows) {
        return 0;
    }
    for (uint32_t i = 0; i < row_count; i++) {
        uint32_t first = i * TABLE_ROW, left = table->count - first;
        rows[i] = constant_words(m, table, first, left < TABLE_ROW ? left : TABLE_ROW, TABLE_ROW,
                                 &row_type);
    }
    *out_type = vy_type_array(m, row_type, row_count);
    return vy_const_composite(m, *out_type, rows, row_count);
}

static bool is_in_rows(const vy_table *table)
{
    return table->count > MAX_MODULE_TABLE_COUNT;
}

static uint32_t table_variable(vy_emitter *emitter, uint32_t ref)
{
    vy_module *m = &emitter->module;
    const vy_table *table = &emitter->ssa->program->tables.data[ref];
    if (!emitter->tables[ref]) {
        uint32_t type = 0, value;
        value = is_in_rows(table) ? constant_rows(m, table, &type)
                                  : constant_words(m, table, 0, table->count, table->count, &type);
        uint32_t variable = vy_global_variable(m, SpvStorageClassPrivate, type, value);
        vy_module_decorate(m, variable, SpvDecorationNonWritable, NULL, 0);
        vy_module_name(m, variable, table->name);
        emitter->tables[ref] = variable;
    }
    return emitter->tables[ref];
}

static bool is_in_buffer(const vy_emitter *emitter, uint32_t ref)
{
    const uint32_t *offsets = emitter->options->table_offsets;
    return offsets && offsets[ref] != UINT32_MAX;
}

static uint32_t table_pointer(vy_emitter *emitter, uint32_t ref, uint32_t index)
{
    vy_module *m = &emitter->module;
    const uint32_t *offsets = emitter->options->table_offsets;
    if (is_in_buffer(emitter, ref)) {
        uint32_t slot = emitter->ssa->program->binding_count + VY_HIDDEN_TABLES;
        uint32_t place = offsets[ref] ? vy_u2c(m, SpvOpIAdd, index, offsets[ref]) : index;
        return emitter->addressing->word(emitter, slot, place);
    }
    uint32_t variable = table_variable(emitter, ref);
    uint32_t element = vy_type_u32(m);
    uint32_t pointer = vy_type_pointer(m, SpvStorageClassPrivate, element);
    if (!is_in_rows(&emitter->ssa->program->tables.data[ref])) {
        return vy_value(m, SpvOpAccessChain, pointer, VY_LIST(variable, index));
    }
    uint32_t row = vy_u2c(m, SpvOpUDiv, index, TABLE_ROW);
    uint32_t column = vy_u2c(m, SpvOpUMod, index, TABLE_ROW);
    return vy_value(m, SpvOpAccessChain, pointer, VY_LIST(variable, row, column));
}

uint32_t vy_emit_table(vy_emitter *emitter, const vy_ins *ins)
{
    vy_module *m = &emitter->module;
    const vy_table *table = &emitter->ssa->program->tables.data[ins->ref];
    uint32_t index = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    if (table->count == 0) {
        uint32_t zero = vy_const_u32(m, 0);
        return vy_emit_from_word(emitter, (vyre_type)ins->type, zero);
    }
    if (table->count > MAX_TABLE_COUNT) {
        return vy_emitter_fail(emitter, VYRE_ERROR_INVALID_PROGRAM, table->loc,
                               "table %s has more than %u elements. Fix: bind it as an `in` buffer",
                               table->name ? table->name : "", MAX_TABLE_COUNT);
    }
    uint32_t count = vy_const_u32(m, table->count);
    vy_checked checked = check_for_load(emitter, ins, index, count);
    uint32_t pointer = table_pointer(emitter, ins->ref, checked.index);
    uint32_t access = is_in_buffer(emitter, ins->ref) ? emitter->addressing->access : 0;
    uint32_t word = vy_emit_load_word(emitter, pointer, access);
    return checked_value(emitter, ins, checked, word);
}

/* ---- Private arrays -------------------------------------------------------------------------- */

void vy_emit_array_variables(vy_emitter *emitter)
{
    vy_module *m = &emitter->module;
    const vy_ssa *ssa = emitter->ssa;
    for (uint32_t i = 1; i < ssa->arrays.count; i++) {
        const vy_array *array = &ssa->arrays.data[i];
        uint32_t element = vy_type_u32(m);
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
    uint32_t element = vy_type_u32(m);
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
    uint32_t zero = vy_const_u32(m, 0);
    vy_jump(m, header);
    vy_emitter_label(emitter, header);
    uint32_t index = vy_value(m, SpvOpPhi, type, VY_LIST(zero, before, next, step));
    uint32_t more = vy_b2c(m, SpvOpULessThan, index, count);
    vy_effect(m, SpvOpLoopMerge, VY_LIST(merge, step, SpvLoopControlMaskNone));
    vy_effect(m, SpvOpBranchConditional, VY_LIST(more, body, merge));
    vy_emitter_label(emitter, body);
    uint32_t pointer = array_pointer(emitter, ref, index);
    vy_emit_store_word(emitter, pointer, zero, SpvMemoryAccessMaskNone);
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
    uint32_t element = vy_type_u32(m);
    uint32_t type = vy_type_array(m, element, count ? count : 1);
    uint32_t null = vy_const_null(m, type);
    vy_emit_store_word(emitter, emitter->arrays[ins->ref], null, SpvMemoryAccessMaskNone);
}

uint32_t vy_emit_array_load(vy_emitter *emitter, const vy_ins *ins)
{
    uint32_t index = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    uint32_t count = vy_const_u32(&emitter->module, emitter->ssa->arrays.data[ins->ref].count);
    vy_checked checked = check_for_load(emitter, ins, index, count);
    uint32_t pointer = array_pointer(emitter, ins->ref, checked.index);
    uint32_t word = vy_emit_load_word(emitter, pointer, SpvMemoryAccessMaskNone);
    return checked_value(emitter, ins, checked, word);
}

void vy_emit_array_store(vy_emitter *emitter, const vy_ins *ins)
{
    uint32_t index = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    uint32_t value = vy_emitter_value(emitter, ins->arg[1], ins->loc);
    uint32_t word = vy_emit_to_word(emitter, vy_emitter_type(emitter, ins->arg[1]), value);
    uint32_t count = vy_const_u32(&emitter->module, emitter->ssa->arrays.data[ins->ref].count);
    uint32_t merge = begin_checked(emitter, ins, index, count);
    uint32_t pointer = array_pointer(emitter, ins->ref, index);
    vy_emit_store_word(emitter, pointer, word, SpvMemoryAccessMaskNone);
    end_checked(emitter, merge);
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
    return emitter->addressing->word(emitter, slot, index);
}

uint32_t vy_emit_spill_load(vy_emitter *emitter, const vy_ins *ins)
{
    uint32_t pointer = spill_pointer(emitter, ins->ref);
    uint32_t access = emitter->target->shared_access | emitter->addressing->access;
    uint32_t word = vy_emit_load_word(emitter, pointer, access);
    return vy_emit_from_word(emitter, (vyre_type)ins->type, word);
}

void vy_emit_spill_store(vy_emitter *emitter, const vy_ins *ins)
{
    uint32_t value = vy_emitter_value(emitter, ins->arg[0], ins->loc);
    uint32_t word = vy_emit_to_word(emitter, vy_emitter_type(emitter, ins->arg[0]), value);
    uint32_t pointer = spill_pointer(emitter, ins->ref);
    uint32_t access = emitter->target->shared_access | emitter->addressing->access;
    vy_emit_store_word(emitter, pointer, word, access);
}
