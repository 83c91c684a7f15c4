/* See bench.h. */
#include "bench.h"

#include "judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static const char *const names[4] = {"x", "y", "z", "w"};

static void finish_form(bench *b, vyre_op op, const uint32_t *values, vyre_type result)
{
    form *f = &b->form;
    uint32_t out = form_buffer(f, VYRE_BUFFER_OUT, "out", result);
    uint32_t zero = form_u32(f, 0);
    uint32_t value =
        form_ins(f, (uint32_t)op, result, 0, values[0], values[1], values[2], values[3]);
    form_store(f, out, zero, value);
    form_end(f, VY_END_RETURN);
    f->options.module_writes = (uint64_t)1 << f->program.buffers.data[out].binding;
    form_emit(f);
    machine_init(&b->machine, f->words, f->word_count);
    uint32_t bindings = f->program.binding_count;
    for (uint32_t i = 0; i < bindings; i++) {
        b->machine.buffers[i].words = b->memory[i + 1 == bindings ? 4 : i];
        b->machine.buffers[i].count = 1;
        b->params[VY_PARAM_LENGTHS + i] = 1;
    }
    b->params[VY_PARAM_GROUPS] = b->params[VY_PARAM_GROUPS + 1] = 1;
    b->machine.buffers[bindings].words = b->params;
    b->machine.buffers[bindings].count = 64;
}

void bench_init_typed(bench *b, vyre_op op, const vyre_type *types, uint32_t count,
                      vyre_type result)
{
    memset(b, 0, sizeof *b);
    form_init(&b->form);
    uint32_t values[4] = {0}, buffers[4] = {0};
    for (uint32_t i = 0; i < count; i++) {
        buffers[i] = form_buffer(&b->form, VYRE_BUFFER_IN, names[i], types[i]);
    }
    uint32_t zero = form_u32(&b->form, 0);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = form_load(&b->form, buffers[i], zero);
    }
    finish_form(b, op, values, result);
}

void bench_init(bench *b, vyre_op op, vyre_type operand, vyre_type result, uint32_t operand_count)
{
    vyre_type types[4] = {operand, operand, operand, operand};
    bench_init_typed(b, op, types, operand_count, result);
}

void bench_init_literal(bench *b, vyre_op op, vyre_type type, uint32_t literal)
{
    memset(b, 0, sizeof *b);
    form_init(&b->form);
    uint32_t values[4] = {0};
    uint32_t buffer = form_buffer(&b->form, VYRE_BUFFER_IN, "x", type);
    uint32_t zero = form_u32(&b->form, 0);
    values[0] = form_load(&b->form, buffer, zero);
    values[1] = form_literal(&b->form, type, literal);
    finish_form(b, op, values, type);
}

void bench_finish(bench *b)
{
    machine_finish(&b->machine);
    form_finish(&b->form);
}

uint32_t bench_run(bench *b, uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    b->memory[0][0] = x;
    b->memory[1][0] = y;
    b->memory[2][0] = z;
    b->memory[3][0] = w;
    b->memory[4][0] = 0xdeadbeefu;
    machine_run(&b->machine);
    return b->memory[4][0];
}

uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool is_same_f32(uint32_t a, uint32_t b)
{
    return a == b || (isnan(float_of(a)) && isnan(float_of(b)));
}

uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t mixed = (*state ^ *state >> 33) * 0xff51afd7ed558ccdu;
    return (uint32_t)(mixed >> 32);
}
