/* Constant tables: small ones are variables of the module that nobody writes, large ones lie in the
 * tables buffer. Either way an element is a whole number of words (vy_spirv_table_word). */
#include "codegen/spirv/emit.h"

#define MAX_MODULE_TABLE_COUNT 4096u /* 16 KiB */
#define MAX_TABLE_COUNT        (1u << 24)
#define TABLE_ROW              1024u

uint32_t vy_spirv_table_words(vyre_type type)
{
    return vy_type_width(type) == 64 ? 2 : vy_type_components(type);
}

uint32_t vy_spirv_table_word(const vy_table *table, uint32_t index, uint32_t word)
{
    vyre_type type = (vyre_type)table->type;
    if (vy_type_width(type) == 64) {
        return (uint32_t)(vy_table_value(table, index, 0) >> 32 * word);
    }
    uint64_t bits = vy_table_value(table, index, word);
    if (type == VYRE_TYPE_F16) {
        return vy_f16_as_f32((uint32_t)bits);
    }
    return vy_type_is_signed(type) ? (uint32_t)vy_type_signed_value(type, bits) : (uint32_t)bits;
}

static uint32_t constant_element(vy_emitter *emitter, const vy_table *table, vy_cell cell,
                                 uint32_t index)
{
    vy_module *m = &emitter->module;
    uint32_t count = vy_spirv_table_words((vyre_type)table->type), parts[4] = {0};
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = index < table->count ? vy_spirv_table_word(table, index, i) : 0;
    }
    if (cell == VY_CELL_64) {
        return vy_const_u64(m, parts[0] | (uint64_t)parts[1] << 32);
    }
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = vy_const_u32(m, parts[i]);
    }
    uint32_t type = vy_cell_type(emitter, cell);
    return count == 1 ? parts[0] : vy_const_composite(m, type, parts, count);
}

/* The constant of `count` elements; its type in *out_type. */
static uint32_t constant_array(vy_emitter *emitter, const vy_table *table, uint32_t first,
                               uint32_t count, uint32_t *out_type)
{
    vy_module *m = &emitter->module;
    vy_cell cell = vy_cell_of((vyre_type)table->type, false);
    uint32_t *parts = vy_arena_alloc(m->arena, count, sizeof *parts);
    uint32_t element = vy_cell_type(emitter, cell);
    *out_type = vy_type_array(m, element, count);
    if (!parts) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = constant_element(emitter, table, cell, first + i);
    }
    return vy_const_composite(m, *out_type, parts, count);
}

/* An instruction holds 65,535 words: larger tables are arrays of rows. */
static uint32_t constant_rows(vy_emitter *emitter, const vy_table *table, uint32_t *out_type)
{
    vy_module *m = &emitter->module;
    uint32_t row_count = (table->count + TABLE_ROW - 1) / TABLE_ROW, row_type = 0;
    uint32_t *rows = vy_arena_alloc(m->arena, row_count, sizeof *rows);
    if (!rows) {
        return 0;
    }
    for (uint32_t i = 0; i < row_count; i++) {
        rows[i] = constant_array(emitter, table, i * TABLE_ROW, TABLE_ROW, &row_type);
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
        value = is_in_rows(table) ? constant_rows(emitter, table, &type)
                                  : constant_array(emitter, table, 0, table->count, &type);
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

/* Word `word` of an element of a table in the tables buffer. */
static uint32_t load_word(vy_emitter *emitter, uint32_t ref, uint32_t first, uint32_t word)
{
    vy_module *m = &emitter->module;
    uint32_t offset = emitter->options->table_offsets[ref] + word;
    uint32_t slot = emitter->ssa->program->binding_count + VY_HIDDEN_TABLES;
    uint32_t place = offset ? vy_u2c(m, SpvOpIAdd, first, offset) : first;
    uint32_t pointer = emitter->addressing->element(emitter, slot, VY_CELL_32, place);
    return vy_emit_load_word(emitter, pointer, emitter->addressing->access);
}

static uint32_t load_from_buffer(vy_emitter *emitter, uint32_t ref, vy_cell cell, uint32_t index)
{
    vy_module *m = &emitter->module;
    vyre_type type = (vyre_type)emitter->ssa->program->tables.data[ref].type;
    uint32_t count = vy_spirv_table_words(type), parts[4] = {0};
    uint32_t first = count > 1 ? vy_u2c(m, SpvOpIMul, index, count) : index;
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = load_word(emitter, ref, first, i);
    }
    if (count == 1) {
        return parts[0];
    }
    if (cell == VY_CELL_64) {
        return vy_emit_join(emitter, parts[0], parts[1]);
    }
    return vy_value(m, SpvOpCompositeConstruct, vy_cell_type(emitter, cell), parts, count);
}

static uint32_t table_pointer(vy_emitter *emitter, uint32_t ref, vy_cell cell, uint32_t index)
{
    vy_module *m = &emitter->module;
    uint32_t variable = table_variable(emitter, ref);
    uint32_t element = vy_cell_type(emitter, cell);
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
    const vy_table *table = &emitter->ssa->program->tables.data[ins->ref];
    vyre_type type = (vyre_type)table->type;
    if (table->count == 0) {
        return vy_emit_zero(emitter, (vyre_type)ins->type);
    }
    if (table->count > MAX_TABLE_COUNT) {
        return vy_emitter_fail(emitter, VYRE_ERROR_INVALID_PROGRAM, table->loc,
                               "table %s has more than %u elements. Fix: bind it as an `in` buffer",
                               table->name ? table->name : "", MAX_TABLE_COUNT);
    }
    uint32_t count = vy_const_u32(&emitter->module, table->count);
    vy_checked checked = vy_check_index_for_load(emitter, ins, count);
    vy_cell cell = vy_cell_of(type, false);
    uint32_t value;
    if (is_in_buffer(emitter, ins->ref)) {
        value = load_from_buffer(emitter, ins->ref, cell, checked.index);
    } else {
        uint32_t pointer = table_pointer(emitter, ins->ref, cell, checked.index);
        value = vy_emit_load_cell(emitter, pointer, cell, 0);
    }
    return vy_checked_value(emitter, type, false, checked, value);
}
