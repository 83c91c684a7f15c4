/* See batch.h. */
#include "batch.h"

#include "bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void batch_pack(vyre_type type, const uint64_t *values, uint32_t count, uint8_t *out)
{
    uint32_t size = vyre_type_size(type);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(out + (size_t)i * size, &values[i], size);
    }
}

void batch_unpack(vyre_type type, const uint8_t *bytes, uint32_t count, uint64_t *out)
{
    uint32_t size = vyre_type_size(type);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = 0;
        memcpy(&out[i], bytes + (size_t)i * size, size);
    }
}

void batch_run(gpu *g, const batch *b, uint64_t *out)
{
    static const char *const names[4] = {"x", "y", "z", "w"};
    form f;
    gpu_buffer buffers[5];
    uint32_t values[4] = {0}, handles[4] = {0};
    assert_true(b->count <= BATCH_MAX);
    form_init(&f);
    f.options.target = b->target;
    f.options.interface = b->interface;
    uint32_t loaded = b->operand_count - (b->has_literal ? 1 : 0);
    for (uint32_t i = 0; i < loaded; i++) {
        handles[i] = form_buffer(&f, VYRE_BUFFER_IN, names[i], b->types[i]);
        uint32_t size = vyre_type_size(b->types[i]) * b->count;
        buffers[i] = (gpu_buffer){calloc(1, size), size, b->count};
        assert_non_null(buffers[i].data);
        batch_pack(b->types[i], b->operands[i], b->count, buffers[i].data);
    }
    uint32_t store = form_buffer(&f, VYRE_BUFFER_OUT, "out", b->result);
    uint32_t size = vyre_type_size(b->result) * b->count;
    buffers[loaded] = (gpu_buffer){calloc(1, size), size, b->count};
    assert_non_null(buffers[loaded].data);
    memset(buffers[loaded].data, 0xa5, size);
    uint32_t gid = form_builtin(&f, VYRE_BUILTIN_GID_X);
    for (uint32_t i = 0; i < b->operand_count; i++) {
        values[i] = i < loaded ? form_load(&f, handles[i], gid)
                               : form_literal(&f, b->types[i], b->operands[i][0]);
    }
    uint32_t value = form_ins(&f, (uint32_t)b->op, vy_element_value_type(b->result), 0, values[0],
                              values[1], values[2], values[3]);
    form_store(&f, store, gid, value);
    form_end(&f, VY_END_RETURN);
    f.options.module_writes = (uint64_t)1 << loaded;
    gpu_prepare(g, &f, b->specs, b->spec_count);
    gpu_run(g, &f, buffers, NULL, (b->count + 63) / 64);
    batch_unpack(b->result, buffers[loaded].data, b->count, out);
    for (uint32_t i = 0; i <= loaded; i++) {
        free(buffers[i].data);
    }
    form_finish(&f);
}

/* ---- Values ---------------------------------------------------------------------------------- */

void batch_pairs(const uint64_t *values, uint32_t count, uint64_t *out_x, uint64_t *out_y)
{
    for (uint32_t i = 0; i < count * count; i++) {
        out_x[i] = values[i % count];
        out_y[i] = values[i / count];
    }
}

static uint64_t random_64(uint64_t *state)
{
    uint64_t high = next_random(state);
    return high << 32 | next_random(state);
}

void batch_integers(vyre_type type, uint64_t *out, uint32_t count)
{
    uint32_t width = vy_type_width(type), known = 0;
    uint64_t top = (uint64_t)1 << (width - 1), state = 7 + (uint64_t)type;
    const uint64_t edges[] = {0,
                              1,
                              2,
                              3,
                              5,
                              8,
                              7,
                              31,
                              32,
                              63,
                              64,
                              127,
                              128,
                              255,
                              top - 1,
                              top,
                              top + 1,
                              0 - (uint64_t)1,
                              0 - (uint64_t)2,
                              top >> 1,
                              top | 0x55,
                              0x12345678u,
                              0xdeadbeefu,
                              0x8000,
                              0x7fff,
                              0x80000000u,
                              0xffffffffu,
                              0x100000000u};
    for (; known < VY_COUNT_OF(edges) && known < count; known++) {
        out[known] = vy_type_bits(type, edges[known]);
    }
    for (; known < count; known++) {
        uint64_t bits = random_64(&state);
        out[known] = vy_type_bits(type, bits >> (next_random(&state) % width));
    }
}

void batch_floats(vyre_type type, uint64_t *out, uint32_t count)
{
    uint32_t width = vy_type_width(type), known = 0;
    uint32_t precision = width == 64 ? 53 : width == 32 ? 24 : 11;
    uint64_t hidden = (uint64_t)1 << (precision - 1), sign = (uint64_t)1 << (width - 1);
    uint64_t infinity = sign - hidden, one = (infinity >> 1) & ~(hidden - 1), state = 11 + width;
    const uint64_t edges[] = {0,
                              1,
                              2,
                              hidden - 1,
                              hidden,
                              hidden + 1,
                              hidden + hidden / 2,
                              2 * hidden,
                              one,
                              one + 1,
                              one - 1,
                              one + hidden / 2,
                              one + hidden,
                              one - hidden,
                              one - hidden + hidden / 2,
                              one + 2 * hidden + 1,
                              infinity - 1,
                              infinity - hidden,
                              infinity,
                              infinity | hidden >> 1,
                              infinity | 1,
                              one / 2};
    for (uint32_t i = 0; known < 2 * VY_COUNT_OF(edges) && known < count; known++, i++) {
        out[known] = edges[i / 2] | (i & 1 ? sign : 0);
    }
    for (; known < count; known++) {
        uint64_t bits = vy_type_bits(width == 64   ? VYRE_TYPE_U64
                                     : width == 32 ? VYRE_TYPE_U32
                                                   : VYRE_TYPE_U16,
                                     random_64(&state));
        if (known & 1) { /* near one another, so that sums cancel and round */
            bits = (bits & (sign | (hidden - 1))) | (one + ((bits >> 3) % 8 - 4) * hidden);
        }
        out[known] = bits;
    }
}

double batch_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t batch_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double batch_f16_value(uint64_t bits)
{
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, (int)exponent - 25);
    return bits & 0x8000 ? -value : value;
}

uint64_t batch_f16_of(double value)
{
    if (isnan(value)) {
        return 0x7e00;
    }
    uint64_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    if (size == 0) {
        return sign;
    }
    if (size >= 65520) {
        return sign | 0x7c00;
    }
    int exponent = 0;
    (void)frexp(size, &exponent); /* size < 2^exponent */
    int unit = exponent - 11 < -24 ? -24 : exponent - 11;
    double units = nearbyint(ldexp(size, -unit)); /* to nearest even, as the tests run */
    uint64_t number = (uint64_t)units;
    if (unit == -24) {
        return sign | number; /* a carry makes the least normal number */
    }
    return sign | (((uint64_t)(unit + 24) << 10) + number);
}

bool batch_same_float(vyre_type type, uint64_t a, uint64_t b)
{
    return a == b || (vy_float_is_nan(type, a) && vy_float_is_nan(type, b));
}
