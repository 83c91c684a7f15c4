/* From the statements of one segment to SSA: the walk over statement lists, and what happens at a
 * segment's start and at every way out of it. Reads a validated program and its split. Recursion is
 * by statement levels and calls and ends at VY_BUILD_MAX_DEPTH. */
#include "codegen/passes/build_parts.h"

#include <string.h>

/* ---- Keys ------------------------------------------------------------------------------------ */

static uint32_t keys_of(const vy_var *var)
{
    return var->kind == VY_VAR_ARRAY ? 1 : vy_type_components((vyre_type)var->type);
}

static uint32_t add_keys(vy_ssa_builder *b, vy_key_state state, uint32_t count)
{
    uint32_t first = b->keys.count;
    for (uint32_t c = 0; c < count; c++) {
        (void)vy_vec_push(b->arena, &b->keys, state);
    }
    return b->arena->failed ? 0 : first;
}

uint32_t vy_key_make(vy_ssa_builder *b, uint32_t var)
{
    uint32_t key = add_keys(b, (vy_key_state){.var = var}, vy_key_count(b, var));
    b->tables.first_key[var] = key;
    return key;
}

uint32_t vy_key_count(const vy_ssa_builder *b, uint32_t var)
{
    return keys_of(&b->program->vars.data[var]);
}

/* Of each function: up to four components of its value, then whether it has returned. */
#define FUNCTION_KEYS 5u

uint32_t vy_key_budget(const vy_ssa_builder *b)
{
    (void)b;
    return 1;
}

uint32_t vy_key_value(vy_ssa_builder *b, uint32_t function)
{
    uint32_t *key = &b->tables.function_keys[function];
    if (*key == 0) {
        *key = add_keys(b, (vy_key_state){.function = function}, FUNCTION_KEYS);
    }
    return *key;
}

uint32_t vy_key_left(vy_ssa_builder *b, uint32_t function)
{
    if (function == 0) {
        return b->left_key;
    }
    uint32_t first = vy_key_value(b, function);
    return first ? first + FUNCTION_KEYS - 1 : 0;
}

vyre_type vy_build_key_type(const vy_ssa_builder *b, uint32_t key)
{
    const vy_key_state *state = &b->keys.data[key];
    if (state->var) {
        return vy_type_component((vyre_type)b->program->vars.data[state->var].type);
    }
    if (key && key == b->left_key) {
        return VYRE_TYPE_BOOL;
    }
    if (!state->function) {
        return VYRE_TYPE_U32; /* the budget, the execution */
    }
    if (key == b->tables.function_keys[state->function] + FUNCTION_KEYS - 1) {
        return VYRE_TYPE_BOOL;
    }
    return vy_type_component((vyre_type)b->program->functions.data[state->function].return_type);
}

const char *vy_build_key_name(const vy_ssa_builder *b, uint32_t key)
{
    uint32_t var = b->keys.data[key].var;
    return var ? b->program->vars.data[var].name : NULL;
}

void vy_build_forget(vy_ssa_builder *b, uint32_t key)
{
    b->keys.data[key].current = 0;
}

/* ---- State ----------------------------------------------------------------------------------- */

void vy_build_fail(vy_ssa_builder *b, vyre_result result, vy_loc loc, const char *message)
{
    if (b->result == VYRE_OK) {
        b->result = vy_diag_set(b->diag, result, loc, "%s", message);
    }
}

bool vy_build_deeper(vy_ssa_builder *b, vy_loc loc)
{
    if (b->depth >= VY_BUILD_MAX_DEPTH) {
        vy_build_fail(b, VYRE_ERROR_INVALID_PROGRAM, loc,
                      "statements and calls are nested more than 700 levels deep once functions "
                      "are put in where they are called. Fix: nest less, or call fewer functions "
                      "from within each other");
        return false;
    }
    b->depth++;
    return true;
}

/* For debuggers. */
static void note_binding(vy_ssa_builder *b, uint32_t key, uint32_t value)
{
    uint32_t var = key < b->keys.count ? b->keys.data[key].var : 0;
    if (!b->split->keeps_bindings || !var || !value || !b->block) {
        return;
    }
    vy_binding binding = {var,      key - b->tables.first_key[var],    value, b->ssa->call,
                          b->block, b->ssa->blocks.data[b->block].last};
    (void)vy_vec_push(b->ssa->arena, &b->ssa->bindings, binding);
}

void vy_build_assign(vy_ssa_builder *b, uint32_t key, uint32_t value)
{
    if (key && key < b->keys.count &&
        vy_vec_push(b->arena, &b->log, (vy_undo){key, b->keys.data[key].current})) {
        b->keys.data[key].current = value;
    }
    note_binding(b, key, value);
}

uint32_t vy_build_block(vy_ssa_builder *b, vy_loc loc)
{
    return vy_ssa_add_block(b->ssa, loc);
}

void vy_build_place(vy_ssa_builder *b, uint32_t block)
{
    b->block = vy_vec_push(b->arena, &b->order, block) ? block : 0;
}

void vy_build_jump(vy_ssa_builder *b, uint32_t target)
{
    if (b->block) {
        vy_block *block = &b->ssa->blocks.data[b->block];
        block->end = VY_END_JUMP;
        block->target[0] = target;
    }
    b->block = 0;
}

void vy_build_branch(vy_ssa_builder *b, uint32_t cond, uint32_t yes, uint32_t no, uint32_t merge)
{
    if (b->block) {
        vy_block *block = &b->ssa->blocks.data[b->block];
        block->end = VY_END_BRANCH;
        block->cond = cond;
        block->target[0] = yes;
        block->target[1] = no;
        block->merge = merge;
        block->merge_kind = merge ? VY_MERGE_SELECTION : VY_MERGE_NONE;
    }
    b->block = 0;
}

static void bind(vy_ssa_builder *b, uint32_t var, vy_parts value)
{
    const char *name = b->program->vars.data[var].name;
    uint32_t key = vy_key(b, var), count = vy_key_count(b, var);
    for (uint32_t c = 0; c < count && c < value.count; c++) {
        vy_ins *ins = &b->ssa->ins.data[value.id[c]];
        if (value.id[c] && ins->op != VYRE_OP_LITERAL && !ins->name) {
            ins->name = name;
        }
        vy_build_assign(b, key ? key + c : 0, value.id[c]);
    }
}

/* ---- A segment's start and its ways out -------------------------------------------------------
 */

static uint32_t array_of(vy_ssa_builder *b, uint32_t var)
{
    const vy_var *decl = &b->program->vars.data[var];
    uint32_t index = b->ssa->arrays.count;
    vy_array array = {decl->name, decl->type, decl->array_count, var, b->ssa->call};
    if (!vy_key(b, var) || !vy_vec_push(b->ssa->arena, &b->ssa->arrays, array)) {
        return 0;
    }
    b->tables.arrays[var] = index;
    return index;
}

/* Words of one component of a spilled value. */
static uint32_t component_words(vyre_type type)
{
    return vy_type_width(type) == 64 ? 2 : 1;
}

static vy_parts load_slots(vy_ssa_builder *b, const vy_var *decl, uint32_t slot)
{
    vyre_type type = vy_element_value_type((vyre_type)decl->type);
    vy_parts parts = {.count = vy_type_components(type)};
    for (uint32_t c = 0; c < parts.count; c++) {
        vy_ins load = {.op = VY_SSA_SPILL_LOAD,
                       .type = (uint8_t)vy_type_component(type),
                       .ref = slot + c * component_words(type),
                       .name = decl->name,
                       .loc = b->segment->loc};
        parts.id[c] = vy_build_ins(b, load);
    }
    return parts;
}

static void store_slots(vy_ssa_builder *b, vyre_type type, vy_parts parts, uint32_t slot,
                        vy_loc loc)
{
    for (uint32_t c = 0; c < parts.count; c++) {
        (void)vy_build_ins(b, (vy_ins){.op = VY_SSA_SPILL_STORE,
                                       .ref = slot + c * component_words(type),
                                       .arg = {parts.id[c]},
                                       .loc = loc});
    }
}

static void load_spilled(vy_ssa_builder *b, uint32_t var)
{
    const vy_var *decl = &b->program->vars.data[var];
    const vy_var_crossing *crossing = &b->split->vars[var];
    if (decl->kind != VY_VAR_ARRAY) {
        bind(b, var, load_slots(b, decl, crossing->slot));
        return;
    }
    vyre_type type = vy_element_value_type((vyre_type)decl->type);
    uint32_t array = array_of(b, var), words = crossing->words / decl->array_count;
    for (uint32_t i = 0; i < decl->array_count && array; i++) {
        uint32_t index = vy_ssa_literal(b->ssa, VYRE_TYPE_U32, i);
        vy_parts parts = load_slots(b, decl, crossing->slot + i * words);
        uint32_t value = vy_build_put_together(b, parts, type, b->segment->loc);
        (void)vy_build_ins(b, (vy_ins){.op = VY_SSA_ARRAY_STORE,
                                       .ref = array,
                                       .arg = {index, value},
                                       .loc = b->segment->loc});
    }
}

static void load_value(vy_ssa_builder *b, uint32_t var)
{
    const vy_var_crossing *crossing = &b->split->vars[var];
    const vy_var *decl = &b->program->vars.data[var];
    if (b->is_whole && crossing->crossing != VY_CROSSING_RECOMPUTE) {
        return; /* it has its value */
    }
    if (crossing->crossing == VY_CROSSING_SPILL) {
        load_spilled(b, var);
    } else if (crossing->crossing == VY_CROSSING_HOST) {
        vy_ins ins = {.op = VY_SSA_HOST_INDEX,
                      .type = decl->type,
                      .ref = crossing->slot,
                      .name = decl->name,
                      .loc = decl->loc};
        vy_build_assign(b, vy_key(b, var), vy_build_ins(b, ins));
    } else if (crossing->crossing == VY_CROSSING_RECOMPUTE) {
        vy_parts value = vy_build_value(b, b->program->stmts.data[crossing->statement].x);
        bind(b, var, value);
    }
}

void vy_build_begin_segment(vy_ssa_builder *b)
{
    const vy_segment *segment = b->segment;
    bool draws = false;
    for (uint32_t i = 0; i < segment->stmt_count; i++) {
        draws |= b->split->facts[b->split->stmts.data[segment->first_stmt + i]].draws_budget;
    }
    if (draws) {
        vy_build_assign(b, vy_key_budget(b),
                        vy_ssa_literal(b->ssa, VYRE_TYPE_U32, b->program->loop_limit));
    }
    for (uint32_t i = 0; i < segment->in_count; i++) {
        load_value(b, b->split->var_lists.data[segment->first_in + i]);
    }
    for (uint32_t i = 0; i < segment->out_count; i++) {
        uint32_t var = b->split->var_lists.data[segment->first_out + i];
        const vy_var *decl = &b->program->vars.data[var];
        if (&b->split->segments.data[b->split->vars[var].home] != segment) {
            continue;
        }
        if (decl->kind == VY_VAR_ARRAY) {
            uint32_t array = array_of(b, var);
            (void)vy_build_ins(b,
                               (vy_ins){.op = VY_SSA_ARRAY_ZERO, .ref = array, .loc = decl->loc});
        } else {
            uint32_t zero = vy_build_zero(b, vy_type_component((vyre_type)decl->type));
            for (uint32_t c = 0; c < vy_key_count(b, var); c++) {
                vy_build_assign(b, vy_key(b, var) + c, zero);
            }
        }
    }
}

/* The components of a variable's value where the builder stands. */
static vy_parts current_value(vy_ssa_builder *b, uint32_t var)
{
    vy_parts parts = {.count = vy_key_count(b, var)};
    uint32_t key = vy_key(b, var);
    for (uint32_t c = 0; c < parts.count; c++) {
        parts.id[c] = vy_build_current(b, key ? key + c : 0);
    }
    return parts;
}

static void end_segment(vy_ssa_builder *b, vy_loc loc)
{
    for (uint32_t i = 0; i < b->segment->out_count && b->block; i++) {
        uint32_t var = b->split->var_lists.data[b->segment->first_out + i];
        const vy_var_crossing *crossing = &b->split->vars[var];
        const vy_var *decl = &b->program->vars.data[var];
        vyre_type type = vy_element_value_type((vyre_type)decl->type);
        if (decl->kind != VY_VAR_ARRAY) {
            store_slots(b, type, current_value(b, var), crossing->slot, loc);
            continue;
        }
        uint32_t words = crossing->words / decl->array_count;
        for (uint32_t e = 0; e < decl->array_count; e++) {
            uint32_t index = vy_ssa_literal(b->ssa, VYRE_TYPE_U32, e);
            vy_ins load = {.op = VY_SSA_ARRAY_LOAD,
                           .type = (uint8_t)type,
                           .ref = b->tables.arrays[var],
                           .arg = {index},
                           .loc = loc};
            uint32_t value = vy_build_ins(b, load);
            vy_parts parts = vy_build_take_apart(b, value, type, loc);
            store_slots(b, type, parts, crossing->slot + e * words, loc);
        }
    }
    if (b->block) {
        b->ssa->blocks.data[b->block].end = VY_END_RETURN;
    }
    b->block = 0;
}

/* ---- Statements -------------------------------------------------------------------------------
 */

static void build_store(vy_ssa_builder *b, const vy_stmt *stmt)
{
    vy_ins ins = {.op = VY_SSA_STORE, .ref = stmt->ref, .loc = stmt->loc};
    ins.arg[0] = vy_build_range(b, stmt->x);
    vy_parts parts = vy_build_value(b, stmt->y);
    vyre_type type = (vyre_type)b->program->exprs.data[stmt->y.root].type;
    ins.arg[1] = vy_build_put_together(b, parts, type, stmt->loc);
    if (stmt->kind == VY_STMT_ARRAY_STORE) {
        ins.op = VY_SSA_ARRAY_STORE;
        ins.ref = b->tables.arrays[stmt->ref];
    }
    (void)vy_build_ins(b, ins);
}

static void build_atomic(vy_ssa_builder *b, const vy_stmt *stmt)
{
    vy_ins ins = {.op = VY_SSA_ATOMIC,
                  .ref = stmt->ref,
                  .loc = stmt->loc,
                  .atomic = stmt->atomic,
                  .order = stmt->order};
    ins.arg[0] = vy_build_range(b, stmt->x);
    ins.arg[1] = vy_build_range(b, stmt->y);
    ins.arg[2] = vy_build_range(b, stmt->z);
    ins.type = stmt->atomic == VYRE_ATOMIC_STORE ? VYRE_TYPE_VOID
                                                 : b->program->buffers.data[stmt->ref].type;
    uint32_t value = vy_build_ins(b, ins);
    if (stmt->result) {
        bind(b, stmt->result, (vy_parts){1, {value}});
    }
}

static vy_parts take_part(const vy_parts *parts, uint32_t c)
{
    return (vy_parts){parts->count ? 1 : 0, {parts->id[parts->count > 1 ? c : 0]}};
}

/* Component by component, but for a ballot, which gives a vector. */
static void build_subgroup(vy_ssa_builder *b, const vy_stmt *stmt)
{
    const vy_subgroup_info *info = vy_subgroup_get((vyre_subgroup)stmt->subgroup);
    vy_parts x = vy_build_value(b, stmt->x), y = vy_build_value(b, stmt->y), result = {0};
    bool is_ballot = info->kind == VY_SUBGROUP_BALLOT;
    vyre_type type = VYRE_TYPE_BOOL;
    if (stmt->x.root) {
        type = vy_type_component((vyre_type)b->program->exprs.data[stmt->x.root].type);
    }
    uint32_t count = x.count ? x.count : 1;
    for (uint32_t c = 0; c < count && b->block; c++) {
        vy_parts one = take_part(&x, c), lane = take_part(&y, c);
        vy_ins ins = {.op = VY_SSA_SUBGROUP,
                      .type = (uint8_t)(is_ballot ? VYRE_TYPE_U32X4 : type),
                      .subgroup = stmt->subgroup,
                      .arg = {one.id[0], lane.id[0]},
                      .loc = stmt->loc};
        result.id[result.count++] = vy_build_ins(b, ins);
    }
    if (is_ballot) {
        result = vy_build_take_apart(b, result.id[0], VYRE_TYPE_U32X4, stmt->loc);
    }
    if (stmt->result) {
        bind(b, stmt->result, result);
    }
}

void vy_build_barrier(vy_ssa_builder *b, vy_loc loc)
{
    (void)vy_build_ins(b, (vy_ins){.op = VY_SSA_BARRIER, .loc = loc});
}

void vy_build_record(vy_ssa_builder *b, uint32_t site, vy_loc loc)
{
    vy_ins ins = {.op = VY_SSA_RECORD, .ref = site, .loc = loc};
    if (b->is_whole) {
        ins.arg[0] = b->pass;
        ins.arg[1] = vy_build_current(b, b->execution_key);
    }
    (void)vy_build_ins(b, ins);
}

static void build_uniform_load(vy_ssa_builder *b, const vy_stmt *stmt)
{
    uint32_t index = vy_build_range(b, stmt->x);
    vy_ins ins = {
        .op = VYRE_OP_LOAD,
        .type = (uint8_t)vy_element_value_type((vyre_type)b->program->buffers.data[stmt->ref].type),
        .ref = stmt->ref,
        .arg = {index},
        .loc = stmt->loc};
    vy_build_barrier(b, stmt->loc);
    uint32_t value = vy_build_ins(b, ins);
    vy_build_barrier(b, stmt->loc);
    if (stmt->result) {
        bind(b, stmt->result, vy_build_take_apart(b, value, (vyre_type)ins.type, stmt->loc));
    }
}

/* An array that crosses a cut has its place since the segment's start. */
static void build_array(vy_ssa_builder *b, const vy_stmt *stmt)
{
    uint32_t array = b->tables.arrays[stmt->ref];
    if (!array || b->split->vars[stmt->ref].crossing != VY_CROSSING_SPILL) {
        array = array_of(b, stmt->ref);
    }
    (void)vy_build_ins(b, (vy_ins){.op = VY_SSA_ARRAY_ZERO, .ref = array, .loc = stmt->loc});
}

static void build_return(vy_ssa_builder *b, const vy_stmt *stmt)
{
    vy_parts value = vy_build_value(b, stmt->x);
    if (b->activation->function || b->activation->exit) {
        vy_build_return_value(b, value);
    } else {
        end_segment(b, stmt->loc);
    }
}

static void build_printf(vy_ssa_builder *b, uint32_t index)
{
    const vy_stmt *stmt = &b->program->stmts.data[index];
    uint32_t components[4 * VYRE_MAX_PRINTF_VALUES], count = 0;
    for (uint32_t i = 0; i < stmt->value_count && i < VYRE_MAX_PRINTF_VALUES && b->block; i++) {
        vy_parts value = vy_build_value(b, vy_printf_value(b->program, stmt, i));
        for (uint32_t c = 0; c < value.count; c++) {
            components[count++] = value.id[c];
        }
    }
    for (uint32_t first = 0; first == 0 || first < count; first += 4) {
        vy_ins ins = {.op = VY_SSA_PRINT, .ref = index, .bits = first, .loc = stmt->loc};
        for (uint32_t i = 0; i < 4 && first + i < count; i++) {
            ins.arg[i] = components[first + i];
        }
        (void)vy_build_ins(b, ins);
    }
}

void vy_build_stmt(vy_ssa_builder *b, uint32_t index)
{
    const vy_stmt *stmt = &b->program->stmts.data[index];
    vy_parts value;
    switch ((vy_stmt_kind)stmt->kind) {
    case VY_STMT_LET:
    case VY_STMT_VAR:
    case VY_STMT_ASSIGN:
        value = vy_build_value(b, stmt->x);
        bind(b, stmt->ref, value);
        break;
    case VY_STMT_ARRAY:
        build_array(b, stmt);
        break;
    case VY_STMT_STORE:
    case VY_STMT_ARRAY_STORE:
        build_store(b, stmt);
        break;
    case VY_STMT_ATOMIC:
        build_atomic(b, stmt);
        break;
    case VY_STMT_SUBGROUP:
        build_subgroup(b, stmt);
        break;
    case VY_STMT_UNIFORM_LOAD:
        build_uniform_load(b, stmt);
        break;
    case VY_STMT_CALL:
        value = vy_build_value(b, stmt->x);
        if (stmt->result) {
            bind(b, stmt->result, value);
        }
        break;
    case VY_STMT_IF:
        vy_build_if(b, stmt);
        break;
    case VY_STMT_SWITCH:
        vy_build_switch(b, stmt);
        break;
    case VY_STMT_FOR:
        vy_build_for(b, index);
        break;
    case VY_STMT_WHILE:
        vy_build_while(b, index);
        break;
    case VY_STMT_BLOCK:
    case VY_STMT_REGION:
        vy_build_list(b, stmt->body);
        break;
    case VY_STMT_BREAK:
        vy_build_break(b);
        break;
    case VY_STMT_CONTINUE:
        vy_build_continue(b);
        break;
    case VY_STMT_RETURN:
        build_return(b, stmt);
        break;
    case VY_STMT_BARRIER:
        vy_build_barrier(b, stmt->loc);
        break;
    case VY_STMT_TRAP:
        vy_build_record(b, stmt->site, stmt->loc);
        break;
    case VY_STMT_PRINTF:
        if (b->split->prints) {
            build_printf(b, index);
        }
        break;
    case VY_STMT_NONE:
    case VY_STMT_CASE:
    case VY_STMT_GRID_SYNC:
    case VY_STMT_KIND_COUNT:
        break;
    }
}

void vy_build_list(vy_ssa_builder *b, uint32_t first)
{
    if (!first || !vy_build_deeper(b, b->program->stmts.data[first].loc)) {
        return;
    }
    for (uint32_t i = first; i && b->block && !vy_build_stopped(b);) {
        const vy_stmt *stmt = &b->program->stmts.data[i];
        vy_build_stmt(b, i);
        /* A return at the very end of a function leaves no jump, but nothing follows it. */
        i = stmt->kind == VY_STMT_RETURN ? 0 : stmt->next;
    }
    b->depth--;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Key 0 is none, key 1 the budget. The form has an instruction for two of three expressions. */
void vy_build_begin_tables(vy_ssa_builder *b)
{
    b->tables = b->split->lowering;
    (void)add_keys(b, (vy_key_state){0}, 2);
    if (b->is_whole) {
        b->execution_key = add_keys(b, (vy_key_state){0}, 1);
        b->left_key = add_keys(b, (vy_key_state){0}, 1);
    }
    uint32_t more = b->segment->expr_count;
    (void)vy_vec_reserve(b->ssa->arena, &b->ssa->ins, more - more / 4);
}

void vy_build_end_tables(vy_ssa_builder *b)
{
    for (uint32_t i = 0; i < b->touched.count; i++) {
        const vy_touched *at = &b->touched.data[i];
        memset(b->tables.values + at->begin, 0, (at->end - at->begin) * sizeof *b->tables.values);
    }
    for (uint32_t k = 1; k < b->keys.count; k++) {
        const vy_key_state *state = &b->keys.data[k];
        b->tables.first_key[state->var] = b->tables.arrays[state->var] = 0;
        b->tables.function_keys[state->function] = 0;
    }
}

vyre_result vy_ssa_build(const vyre_program *program, const vy_split *split, uint32_t segment,
                         vy_arena *arena, vy_arena *scratch, vy_ssa *out_ssa, vyre_diag *diag)
{
    const vy_segment *at = &split->segments.data[segment];
    vy_activation kernel = {0};
    vy_ssa_builder b = {.program = program,
                        .split = split,
                        .segment = at,
                        .arena = scratch,
                        .ssa = out_ssa,
                        .diag = diag,
                        .activation = &kernel,
                        .depth = 1};
    vy_ssa_init(out_ssa, program, arena);
    out_ssa->scratch = scratch;
    vy_build_begin_tables(&b);
    uint32_t entry = vy_ssa_add_block(out_ssa, at->loc);
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    vy_build_place(&b, entry);
    vy_build_begin_segment(&b);
    vy_loc end = at->loc;
    for (uint32_t i = 0; i < at->stmt_count && b.block && !vy_build_stopped(&b); i++) {
        uint32_t stmt = split->stmts.data[at->first_stmt + i];
        vy_build_stmt(&b, stmt);
        end = program->stmts.data[stmt].end_loc;
    }
    end_segment(&b, end);
    if (!vy_build_stopped(&b)) {
        vy_ssa_reorder(out_ssa, b.order.data, b.order.count);
    }
    vy_build_end_tables(&b);
    if (arena->failed) {
        return vy_diag_no_memory(diag);
    }
    return b.result;
}
