/* Elements of every type in every kind of memory, indices of every type, and atomics of 64 bits, on
 * the device. */
#include "batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#define N 64u

static const vyre_type types[] = {
    VYRE_TYPE_U8,    VYRE_TYPE_I8,    VYRE_TYPE_U16,   VYRE_TYPE_I16,   VYRE_TYPE_U32,
    VYRE_TYPE_I32,   VYRE_TYPE_U64,   VYRE_TYPE_I64,   VYRE_TYPE_F16,   VYRE_TYPE_BF16,
    VYRE_TYPE_F32,   VYRE_TYPE_F64,   VYRE_TYPE_U32X2, VYRE_TYPE_U32X4, VYRE_TYPE_I32X2,
    VYRE_TYPE_I32X4, VYRE_TYPE_F32X2, VYRE_TYPE_F32X4};

static gpu *device;

/* Bytes of N elements that keep their bits through registers: bf16 and f16 without NaNs, whose
 * roundings make them canonical. */
static void make_elements(vyre_type type, uint8_t *bytes)
{
    uint32_t size = vyre_type_size(type);
    for (uint32_t i = 0; i < N * size; i++) {
        bytes[i] = (uint8_t)(i * 37 + 11);
    }
    if (type == VYRE_TYPE_BF16 || type == VYRE_TYPE_F16) {
        for (uint32_t i = 1; i < N * size; i += 2) {
            bytes[i] &= 0xbf;
        }
    }
}

static void run(form *f, const gpu_buffer *buffers, const uint32_t *params)
{
    for (uint32_t i = 1; i < f->program.buffers.count; i++) {
        const vy_buffer *buffer = &f->program.buffers.data[i];
        if (buffer->mode == VYRE_BUFFER_OUT || buffer->mode == VYRE_BUFFER_INOUT) {
            f->options.module_writes |= (uint64_t)1 << buffer->binding;
        }
    }
    form_end(f, VY_END_RETURN);
    gpu_prepare(device, f, NULL, 0);
    gpu_run(device, f, buffers, params, 1);
}

/* out[i] = vector of components of in[i] turned round. */
static uint32_t turn(form *f, vyre_type type, uint32_t value)
{
    uint32_t count = vy_type_components(type), parts[4] = {0};
    if (count < 2) {
        return value;
    }
    for (uint32_t c = 0; c < count; c++) {
        parts[c] =
            form_ins(f, VY_SSA_COMPONENT, vy_type_component(type), (c + 1) % count, value, 0, 0, 0);
    }
    return form_ins(f, VY_SSA_COMPOSE, type, 0, parts[0], parts[1], parts[2], parts[3]);
}

/* Ways to reach memory: by descriptors, by addresses, and by addresses computed for each access. */
typedef enum way { DESCRIPTORS, ADDRESSES, COMPUTED, WAYS } way;

static void set_way(form *f, way by)
{
    f->options.interface = by ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR;
    f->options.wide = by == COMPUTED;
}

static void check_copy(vyre_type type, way by, vyre_target target)
{
    uint8_t in[N * 16], out[N * 16], wanted[16];
    uint32_t size = vyre_type_size(type), count = vy_type_components(type);
    const gpu_buffer buffers[] = {{in, N * size, N}, {out, N * size, N - 3}};
    form f;
    form_init(&f);
    set_way(&f, by);
    f.options.target = target;
    make_elements(type, in);
    memset(out, 0xee, sizeof out);
    uint32_t from = form_buffer(&f, VYRE_BUFFER_IN, "from", type);
    uint32_t to = form_buffer(&f, VYRE_BUFFER_OUT, "to", type);
    uint32_t shared = form_shared(&f, "shared", type, N);
    uint32_t array = form_array(&f, "array", type, 20);
    uint32_t i = form_builtin(&f, VYRE_BUILTIN_GID_X);
    uint32_t value = form_load(&f, from, i), three = form_u32(&f, 3);
    (void)form_ins(&f, VY_SSA_ARRAY_ZERO, VYRE_TYPE_VOID, array, 0, 0, 0, 0);
    (void)form_ins(&f, VY_SSA_ARRAY_STORE, VYRE_TYPE_VOID, array, three, value, 0, 0);
    vyre_type loaded = vy_element_value_type(type);
    value = form_ins(&f, VY_SSA_ARRAY_LOAD, loaded, array, three, 0, 0, 0);
    uint32_t last = form_op(&f, VYRE_OP_SUB, VYRE_TYPE_U32, form_u32(&f, N - 1), i);
    form_store(&f, shared, last, value);
    (void)form_ins(&f, VY_SSA_BARRIER, VYRE_TYPE_VOID, 0, 0, 0, 0, 0);
    value = form_load(&f, shared, last);
    form_store(&f, to, i, turn(&f, type, value));
    run(&f, buffers, NULL);
    for (uint32_t k = 0; k < N; k++) {
        for (uint32_t c = 0; c < count; c++) {
            uint32_t part = size / count;
            memcpy(wanted + c * part, in + k * size + (c + 1) % count * part, part);
        }
        if (k >= N - 3) {
            memset(wanted, 0xee, sizeof wanted); /* out of bounds */
        }
        if (memcmp(out + k * size, wanted, size) != 0) {
            fail_msg("%s: element %u is not what was stored", vyre_type_keyword(type), k);
        }
    }
    form_finish(&f);
}

static void test_elements_of_every_type(void **state)
{
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(types); t++) {
        for (int by = 0; by < WAYS; by++) {
            check_copy(types[t], (way)by, VYRE_TARGET_VULKAN_1_3);
            check_copy(types[t], (way)by, VYRE_TARGET_VULKAN_1_2);
        }
    }
}

/* A load outside gives zero of that type. */
static void test_loads_outside_give_zero(void **state)
{
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(types); t++) {
        uint8_t in[N * 16], out[N * 16];
        uint32_t size = vyre_type_size(types[t]);
        const gpu_buffer buffers[] = {{in, N * size, 7}, {out, N * size, N}};
        const uint8_t zeros[16] = {0};
        form f;
        form_init(&f);
        make_elements(types[t], in);
        memset(out, 0xee, sizeof out);
        uint32_t from = form_buffer(&f, VYRE_BUFFER_IN, "from", types[t]);
        uint32_t to = form_buffer(&f, VYRE_BUFFER_OUT, "to", types[t]);
        uint32_t i = form_builtin(&f, VYRE_BUILTIN_GID_X);
        form_store(&f, to, i, form_load(&f, from, i));
        run(&f, buffers, NULL);
        for (uint32_t k = 0; k < N; k++) {
            assert_memory_equal(out + k * size, k < 7 ? in + k * size : zeros, size);
        }
        form_finish(&f);
    }
}

/* out[i] = in[index[i]] */
static void check_indices(vyre_type index, uint32_t length, way by)
{
    const uint64_t at[N] = {0,
                            1,
                            6,
                            7,
                            8,
                            0x7fffffff,
                            0x80000000u,
                            0xfffffffeu,
                            0xffffffffu,
                            0x100000000u,
                            0x100000001u,
                            0x8000000000000001u,
                            UINT64_MAX};
    uint32_t in[16], out[N], got = vy_type_width(index) / 8;
    uint8_t indices[N * 8];
    for (uint32_t i = 0; i < 16; i++) {
        in[i] = 1000 + i;
    }
    for (uint32_t i = 0; i < N; i++) {
        memcpy(indices + i * got, &at[i], got);
    }
    const gpu_buffer buffers[] = {
        {in, sizeof in, length}, {indices, N * got, N}, {out, sizeof out, N}};
    form f;
    form_init(&f);
    set_way(&f, by);
    uint32_t from = form_buffer(&f, VYRE_BUFFER_IN, "from", VYRE_TYPE_U32);
    uint32_t places = form_buffer(&f, VYRE_BUFFER_IN, "places", index);
    uint32_t to = form_buffer(&f, VYRE_BUFFER_OUT, "to", VYRE_TYPE_U32);
    uint32_t i = form_builtin(&f, VYRE_BUILTIN_GID_X);
    form_store(&f, to, i, form_load(&f, from, form_load(&f, places, i)));
    run(&f, buffers, NULL);
    for (uint32_t k = 0; k < 13; k++) {
        uint64_t place = vy_type_bits(index, at[k]);
        bool is_inside = place < 7 && place < length;
        if (place < 16 || is_inside) {
            assert_int_equal(out[k], place < length ? 1000 + place : 0);
        } else {
            assert_int_equal(out[k], 0);
        }
    }
    form_finish(&f);
}

static void test_indices_of_every_type(void **state)
{
    static const vyre_type indices[] = {VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_U64};
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(indices); t++) {
        for (int by = 0; by < WAYS; by++) {
            check_indices(indices[t], 7, (way)by);
        }
    }
}

/* Tables in the module and in the tables buffer are the same elements. */
static void test_tables_of_every_type(void **state)
{
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(types); t++) {
        uint8_t in[N * 16], out[N * 16];
        uint32_t size = vyre_type_size(types[t]);
        const gpu_buffer buffers[] = {{out, N * size, N}};
        form f;
        form_init(&f);
        make_elements(types[t], in);
        memset(out, 0xee, sizeof out);
        uint32_t table =
            form_table(&f, "table", types[t], (const uint32_t *)(const void *)in, N - 1);
        uint32_t to = form_buffer(&f, VYRE_BUFFER_OUT, "to", types[t]);
        uint32_t i = form_builtin(&f, VYRE_BUILTIN_GID_X);
        vyre_type loaded = vy_element_value_type(types[t]);
        form_store(&f, to, i, form_ins(&f, VYRE_OP_TABLE, loaded, table, i, 0, 0, 0));
        run(&f, buffers, NULL);
        memset(in + (N - 1) * size, 0, size);
        assert_memory_equal(out, in, N * size);
        form_finish(&f);
    }
}

/* Parameters by words, 64 bits in two, vectors one for each component; spill slots likewise. */
static void test_parameters_and_spill_slots(void **state)
{
    static const vyre_type kinds[] = {VYRE_TYPE_I8,  VYRE_TYPE_F16, VYRE_TYPE_U64,
                                      VYRE_TYPE_F64, VYRE_TYPE_U16, VYRE_TYPE_F32X4};
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(kinds); t++) {
        const uint32_t params[] = {77, 0xffff3cf1u, 0x40123456u, 0x3f800000u, 0x40000000u};
        uint64_t out[N] = {0}, wanted = 0;
        vyre_type type = vy_type_component(kinds[t]);
        uint32_t size = vyre_type_size(type);
        const gpu_buffer buffers[] = {{out, N * size, N}};
        form f;
        form_init(&f);
        (void)form_param(&f, "first", VYRE_TYPE_U32);
        uint32_t param = form_param(&f, "second", kinds[t]);
        uint32_t to = form_buffer(&f, VYRE_BUFFER_OUT, "to", type);
        uint32_t i = form_builtin(&f, VYRE_BUILTIN_GID_X);
        uint32_t value = form_ins(&f, VYRE_OP_PARAM, type, param, 0, 0, 0, 0);
        f.ssa.ins.data[value].bits = kinds[t] == VYRE_TYPE_F32X4 ? 2 : 0;
        (void)form_ins(&f, VY_SSA_SPILL_STORE, VYRE_TYPE_VOID, 1, value, 0, 0, 0);
        value = form_ins(&f, VY_SSA_SPILL_LOAD, type, 1, 0, 0, 0, 0);
        form_store(&f, to, i, value);
        run(&f, buffers, params);
        memcpy(&wanted, kinds[t] == VYRE_TYPE_F32X4 ? params + 3 : params + 1, size);
        assert_memory_equal(out, &wanted, size);
        form_finish(&f);
    }
}

/* ---- Atomics --------------------------------------------------------------------------------- */

static const struct {
    vyre_atomic op;
    int64_t x, y, expected; /* of -5 and, where they differ, of the bits of -5 unsigned */
    bool differs;
    int64_t expected_unsigned;
} atomics[] = {
    {VYRE_ATOMIC_ADD, 0x100000007, 0, 0x100000002, false, 0},
    {VYRE_ATOMIC_SUB, 3, 0, -8, false, 0},
    {VYRE_ATOMIC_MIN, 9, 0, -5, true, 9},
    {VYRE_ATOMIC_MAX, 9, 0, 9, true, -5},
    {VYRE_ATOMIC_AND, 0xf00000003, 0, 0xf00000003, false, 0},
    {VYRE_ATOMIC_OR, 4, 0, -1, false, 0},
    {VYRE_ATOMIC_XOR, -1, 0, 4, false, 0},
    {VYRE_ATOMIC_EXCHANGE, 0x123456789a, 0, 0x123456789a, false, 0},
    {VYRE_ATOMIC_COMPARE_EXCHANGE, -5, 77, 77, false, 0},
    {VYRE_ATOMIC_COMPARE_EXCHANGE, 6, 77, -5, false, 0},
    {VYRE_ATOMIC_LOAD, 0, 0, -5, false, 0},
    {VYRE_ATOMIC_STORE, 0x8000000000, 0, 0x8000000000, false, 0},
};

static void check_atomic(size_t row, vyre_type type, bool is_shared)
{
    int64_t cell[2] = {-5, -5}, out[2] = {0, 0};
    const gpu_buffer buffers[] = {{cell, sizeof cell, 1}, {out, sizeof out, 2}};
    form f;
    form_init(&f);
    f.program.workgroup[0] = 1;
    uint32_t memory = form_buffer(&f, VYRE_BUFFER_INOUT, "memory", type);
    uint32_t result = form_buffer(&f, VYRE_BUFFER_OUT, "result", type);
    uint32_t place = is_shared ? form_shared(&f, "shared", type, 1) : memory;
    uint32_t zero = form_u32(&f, 0), one = form_u32(&f, 1);
    if (is_shared) {
        form_store(&f, place, zero, form_load(&f, memory, zero));
    }
    uint32_t x = form_literal(&f, type, (uint64_t)atomics[row].x);
    uint32_t y = form_literal(&f, type, (uint64_t)atomics[row].y);
    uint32_t old = form_atomic(&f, place, atomics[row].op, VYRE_ORDER_RELAXED, zero, x, y);
    if (atomics[row].op != VYRE_ATOMIC_STORE) {
        form_store(&f, result, zero, old);
        /* Outside: nothing, and zero. */
        old = form_atomic(&f, place, atomics[row].op, VYRE_ORDER_RELAXED, one, x, y);
        form_store(&f, result, one, old);
    }
    if (is_shared) {
        form_store(&f, memory, zero, form_load(&f, place, zero));
    }
    run(&f, buffers, NULL);
    bool other = atomics[row].differs && type == VYRE_TYPE_U64;
    assert_true(cell[0] == (other ? atomics[row].expected_unsigned : atomics[row].expected));
    assert_true(cell[1] == -5);
    assert_true(out[0] == (atomics[row].op == VYRE_ATOMIC_STORE ? 0 : -5));
    assert_true(out[1] == 0);
    form_finish(&f);
}

static void test_atomics_of_64_bits(void **state)
{
    (void)state;
    for (size_t row = 0; device && row < VY_COUNT_OF(atomics); row++) {
        check_atomic(row, VYRE_TYPE_I64, false);
        check_atomic(row, VYRE_TYPE_U64, false);
        check_atomic(row, VYRE_TYPE_I64, true);
        check_atomic(row, VYRE_TYPE_U64, true);
    }
}

static int setup(void **state)
{
    (void)state;
    device = gpu_open();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    gpu_close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_of_every_type),
        cmocka_unit_test(test_loads_outside_give_zero),
        cmocka_unit_test(test_indices_of_every_type),
        cmocka_unit_test(test_tables_of_every_type),
        cmocka_unit_test(test_parameters_and_spill_slots),
        cmocka_unit_test(test_atomics_of_64_bits),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
