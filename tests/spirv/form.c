/* See form.h. */
#include "form.h"

#include "judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

void form_init(form *f)
{
    memset(f, 0, sizeof *f);
    vy_arena_init(&f->arena, NULL);
    vyre_program *p = &f->program;
    p->name = "form";
    p->workgroup[0] = 64;
    p->workgroup[1] = p->workgroup[2] = 1;
    p->loop_limit = VYRE_DEFAULT_LOOP_LIMIT;
    p->passes = 1;
    f->ssa.program = p;
    f->ssa.arena = &f->arena;
    /* Entry 0 of every table is reserved. */
    assert_true(vy_vec_push(&f->arena, &p->exprs, (vy_expr){0}));
    assert_true(vy_vec_push(&f->arena, &p->buffers, (vy_buffer){0}));
    assert_true(vy_vec_push(&f->arena, &p->params, (vy_named){0}));
    assert_true(vy_vec_push(&f->arena, &p->tables, (vy_table){0}));
    assert_true(vy_vec_push(&f->arena, &f->ssa.ins, (vy_ins){0}));
    assert_true(vy_vec_push(&f->arena, &f->ssa.blocks, (vy_block){0}));
    assert_true(vy_vec_push(&f->arena, &f->ssa.arrays, (vy_array){0}));
    f->block = form_block(f);
    f->options =
        (vy_spirv_options){.target = VYRE_TARGET_VULKAN_1_3,
                           .float_modes = VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE |
                                          VYRE_FLOAT_DENORM_PRESERVE | VYRE_FLOAT_ROUNDING_RTE,
                           .entry_name = "main",
                           .file_name = "form.vyre"};
}

void form_finish(form *f)
{
    vy_arena_finish(&f->arena);
}

uint32_t form_buffer(form *f, vyre_buffer_mode mode, const char *name, vyre_type type)
{
    vy_buffer buffer = {.name = name, .mode = (uint8_t)mode, .type = (uint8_t)type};
    buffer.binding = f->program.binding_count++;
    assert_true(vy_vec_push(&f->arena, &f->program.buffers, buffer));
    return f->program.buffers.count - 1;
}

uint32_t form_shared(form *f, const char *name, vyre_type type, uint32_t count)
{
    vy_buffer buffer = {.name = name, .mode = VYRE_BUFFER_SHARED, .type = (uint8_t)type};
    vy_expr literal = {.op = VYRE_OP_LITERAL, .type = VYRE_TYPE_U32, .bits = {count, 0}};
    uint32_t at = f->program.exprs.count;
    assert_true(vy_vec_push(&f->arena, &f->program.exprs, literal));
    buffer.count = (vy_range){at, at + 1, at};
    buffer.binding = f->program.shared_count++;
    assert_true(vy_vec_push(&f->arena, &f->program.buffers, buffer));
    return f->program.buffers.count - 1;
}

uint32_t form_param(form *f, const char *name, vyre_type type)
{
    vy_named param = {.name = name, .type = (uint8_t)type, .word = f->program.param_words};
    f->program.param_words += vy_param_type_words(type);
    assert_true(vy_vec_push(&f->arena, &f->program.params, param));
    return f->program.params.count - 1;
}

uint32_t form_table(form *f, const char *name, vyre_type type, const uint32_t *bits, uint32_t count)
{
    vy_table table = {
        .name = name, .type = (uint8_t)type, .bytes = (const uint8_t *)bits, .count = count};
    assert_true(vy_vec_push(&f->arena, &f->program.tables, table));
    return f->program.tables.count - 1;
}

uint32_t form_array(form *f, const char *name, vyre_type type, uint32_t count)
{
    vy_array array = {.name = name, .type = (uint8_t)type, .count = count};
    assert_true(vy_vec_push(&f->arena, &f->ssa.arrays, array));
    return f->ssa.arrays.count - 1;
}

uint32_t form_block(form *f)
{
    assert_true(vy_vec_push(&f->arena, &f->ssa.blocks, (vy_block){0}));
    return f->ssa.blocks.count - 1;
}

void form_at(form *f, uint32_t block)
{
    f->block = block;
}

uint32_t form_ins(form *f, uint32_t op, vyre_type type, uint32_t ref, uint32_t a, uint32_t b,
                  uint32_t c, uint32_t d)
{
    vy_ins ins = {.op = (uint16_t)op, .type = (uint8_t)type, .ref = ref, .block = f->block};
    ins.arg[0] = a;
    ins.arg[1] = b;
    ins.arg[2] = c;
    ins.arg[3] = d;
    ins.loc = (vy_loc){f->line, f->line ? 1 : 0};
    assert_true(vy_vec_push(&f->arena, &f->ssa.ins, ins));
    uint32_t index = f->ssa.ins.count - 1;
    vy_block *block = &f->ssa.blocks.data[f->block];
    if (block->last) {
        f->ssa.ins.data[block->last].next = index;
    } else {
        block->first = index;
    }
    block->last = index;
    return index;
}

uint32_t form_literal(form *f, vyre_type type, uint64_t bits)
{
    uint32_t index = form_ins(f, VYRE_OP_LITERAL, type, 0, 0, 0, 0, 0);
    f->ssa.ins.data[index].bits = bits;
    return index;
}

uint32_t form_u32(form *f, uint32_t value)
{
    return form_literal(f, VYRE_TYPE_U32, value);
}

uint32_t form_builtin(form *f, vyre_builtin builtin)
{
    return form_ins(f, VYRE_OP_BUILTIN, VYRE_TYPE_U32, (uint32_t)builtin, 0, 0, 0, 0);
}

uint32_t form_load(form *f, uint32_t buffer, uint32_t index)
{
    vyre_type type = (vyre_type)f->program.buffers.data[buffer].type;
    return form_ins(f, VYRE_OP_LOAD, vy_element_value_type(type), buffer, index, 0, 0, 0);
}

void form_store(form *f, uint32_t buffer, uint32_t index, uint32_t value)
{
    (void)form_ins(f, VY_SSA_STORE, VYRE_TYPE_VOID, buffer, index, value, 0, 0);
}

uint32_t form_atomic(form *f, uint32_t buffer, vyre_atomic op, vyre_order order, uint32_t index,
                     uint32_t x, uint32_t y)
{
    vyre_type type = (vyre_type)f->program.buffers.data[buffer].type;
    uint32_t ins = form_ins(f, VY_SSA_ATOMIC, op == VYRE_ATOMIC_STORE ? VYRE_TYPE_VOID : type,
                            buffer, index, x, y, 0);
    f->ssa.ins.data[ins].atomic = (uint8_t)op;
    f->ssa.ins.data[ins].order = (uint8_t)order;
    return ins;
}

uint32_t form_op(form *f, vyre_op op, vyre_type type, uint32_t a, uint32_t b)
{
    return form_ins(f, (uint32_t)op, type, 0, a, b, 0, 0);
}

uint32_t form_phi_of(form *f, vyre_type type, uint32_t first, uint32_t count)
{
    uint32_t index = form_ins(f, VY_SSA_PHI, type, first, 0, 0, 0, 0);
    f->ssa.ins.data[index].bits = count;
    return index;
}

uint32_t form_phi(form *f, vyre_type type, uint32_t block_0, uint32_t value_0, uint32_t block_1,
                  uint32_t value_1)
{
    uint32_t first = f->ssa.phi_edges.count;
    assert_true(vy_vec_push(&f->arena, &f->ssa.phi_edges, (vy_phi_edge){block_0, value_0}));
    assert_true(vy_vec_push(&f->arena, &f->ssa.phi_edges, (vy_phi_edge){block_1, value_1}));
    return form_phi_of(f, type, first, 2);
}

void form_phi_set(form *f, uint32_t phi, uint32_t edge, uint32_t value)
{
    f->ssa.phi_edges.data[f->ssa.ins.data[phi].ref + edge].value = value;
}

static vy_block *current(form *f)
{
    return &f->ssa.blocks.data[f->block];
}

void form_jump(form *f, uint32_t target)
{
    current(f)->end = VY_END_JUMP;
    current(f)->target[0] = target;
}

void form_if(form *f, uint32_t condition, uint32_t yes, uint32_t no, uint32_t merge)
{
    vy_block *block = current(f);
    block->end = VY_END_BRANCH;
    block->merge_kind = VY_MERGE_SELECTION;
    block->cond = condition;
    block->target[0] = yes;
    block->target[1] = no;
    block->merge = merge;
}

void form_loop(form *f, uint32_t condition, uint32_t body, uint32_t next, uint32_t merge)
{
    form_if(f, condition, body, merge, merge);
    current(f)->merge_kind = VY_MERGE_LOOP;
    current(f)->continue_block = next;
}

void form_switch(form *f, uint32_t selector, const vy_case *cases, uint32_t count,
                 uint32_t otherwise, uint32_t merge)
{
    vy_block *block = current(f);
    block->end = VY_END_SWITCH;
    block->merge_kind = VY_MERGE_SELECTION;
    block->cond = selector;
    block->target[0] = otherwise;
    block->merge = merge;
    block->first_case = f->ssa.cases.count;
    block->case_count = count;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(vy_vec_push(&f->arena, &f->ssa.cases, cases[i]));
    }
}

void form_end(form *f, vy_end_kind end)
{
    current(f)->end = (uint8_t)end;
}

vyre_result form_try_emit(form *f, vyre_diag *diag)
{
    vy_access access = {0};
    vy_ssa_access(&f->ssa, &access);
    return vy_spirv_emit(&f->ssa, &access, &f->options, &f->arena, &f->words, &f->word_count, diag);
}

void form_emit(form *f)
{
    vyre_diag diag;
    vyre_result result = form_try_emit(f, &diag);
    if (result != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    judge_valid(f->words, f->word_count, f->options.target);
}
