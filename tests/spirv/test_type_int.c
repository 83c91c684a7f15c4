/* Integers of every width on the device, against C on 128 bits. */
#include "batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

#define VALUES 40u
#define PAIRS  (VALUES * VALUES)

static const vyre_type types[] = {VYRE_TYPE_U8,  VYRE_TYPE_I8,  VYRE_TYPE_U16, VYRE_TYPE_I16,
                                  VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_U64, VYRE_TYPE_I64};

static gpu *device;

static wide number(vyre_type type, uint64_t bits)
{
    return vy_type_is_signed(type) ? (wide)vy_type_signed_value(type, bits) : (wide)bits;
}

static wide least(vyre_type type)
{
    return vy_type_is_signed(type) ? -((wide)1 << (vy_type_width(type) - 1)) : 0;
}

static wide most(vyre_type type)
{
    return ((wide)1 << (vy_type_width(type) - (vy_type_is_signed(type) ? 1 : 0))) - 1;
}

static wide clamped(vyre_type type, wide value)
{
    return value < least(type) ? least(type) : value > most(type) ? most(type) : value;
}

static uint64_t bit_count(uint64_t x)
{
    uint64_t count = 0;
    for (; x; x >>= 1) {
        count += x & 1;
    }
    return count;
}

static uint64_t expect_unary(vyre_op op, vyre_type type, uint64_t x)
{
    uint32_t width = vy_type_width(type);
    wide a = number(type, x);
    uint64_t count = 0;
    switch ((int)op) {
    case VYRE_OP_NEGATE:
        return (uint64_t)-a;
    case VYRE_OP_COMPLEMENT:
        return ~x;
    case VYRE_OP_ABS:
        return (uint64_t)(a < 0 ? -a : a);
    case VYRE_OP_SIGN:
        return (uint64_t)(a < 0 ? -1 : a > 0);
    case VYRE_OP_CLZ:
        while (count < width && !(x >> (width - 1 - count) & 1)) {
            count++;
        }
        return count;
    case VYRE_OP_CTZ:
        while (count < width && !(x >> count & 1)) {
            count++;
        }
        return count;
    case VYRE_OP_POPCOUNT:
        return bit_count(x);
    default:
        for (uint32_t i = 0; i < width; i++) {
            count |= (x >> i & 1) << (width - 1 - i);
        }
        return count;
    }
}

/* The product of two 64-bit numbers does not fit 128 bits with a sign where both are unsigned. */
static uint64_t product_high(vyre_type type, uint64_t x, uint64_t y)
{
    if (vy_type_is_signed(type)) {
        return (uint64_t)((number(type, x) * number(type, y)) >> vy_type_width(type));
    }
    return (uint64_t)(((uwide)x * y) >> vy_type_width(type));
}

static uint64_t product_saturated(vyre_type type, uint64_t x, uint64_t y)
{
    if (vy_type_is_signed(type)) {
        return (uint64_t)clamped(type, number(type, x) * number(type, y));
    }
    uwide product = (uwide)x * y;
    return product > (uwide)most(type) ? (uint64_t)most(type) : (uint64_t)product;
}

static uint64_t rotated(vyre_type type, uint64_t x, uint64_t amount)
{
    uint32_t width = vy_type_width(type), n = (uint32_t)amount & (width - 1);
    return n ? x << n | x >> (width - n) : x;
}

static uint64_t expect_binary(vyre_op op, vyre_type type, uint64_t x, uint64_t y)
{
    wide a = number(type, x), b = number(type, y);
    uint32_t width = vy_type_width(type), n = (uint32_t)y & (width - 1);
    switch ((int)op) {
    case VYRE_OP_ADD:
        return (uint64_t)(a + b);
    case VYRE_OP_SUB:
        return (uint64_t)(a - b);
    case VYRE_OP_MUL:
        return x * y;
    case VYRE_OP_DIV:
        return (uint64_t)(b ? a / b : -1);
    case VYRE_OP_REM:
        return (uint64_t)(b ? a % b : 0);
    case VYRE_OP_AND:
        return x & y;
    case VYRE_OP_OR:
        return x | y;
    case VYRE_OP_XOR:
        return x ^ y;
    case VYRE_OP_SHL:
        return x << n;
    case VYRE_OP_SHR:
        return (uint64_t)(a >> n);
    case VYRE_OP_ROTATE_LEFT:
        return rotated(type, x, n);
    case VYRE_OP_ROTATE_RIGHT:
        return rotated(type, x, width - n);
    case VYRE_OP_MIN:
        return (uint64_t)(a < b ? a : b);
    case VYRE_OP_MAX:
        return (uint64_t)(a > b ? a : b);
    case VYRE_OP_ABS_DIFF:
        return (uint64_t)(a < b ? b - a : a - b);
    case VYRE_OP_MUL_HIGH:
        return product_high(type, x, y);
    case VYRE_OP_ADD_SAT:
        return (uint64_t)clamped(type, a + b);
    case VYRE_OP_SUB_SAT:
        return (uint64_t)clamped(type, a - b);
    case VYRE_OP_MUL_SAT:
        return product_saturated(type, x, y);
    case VYRE_OP_EQ:
        return a == b;
    case VYRE_OP_NE:
        return a != b;
    case VYRE_OP_LT:
        return a < b;
    case VYRE_OP_LE:
        return a <= b;
    case VYRE_OP_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static vyre_type result_of(vyre_op op, vyre_type type)
{
    switch (vy_op_get(op)->shape) {
    case VY_SHAPE_EQUALITY:
    case VY_SHAPE_ORDER:
        return VYRE_TYPE_BOOL;
    case VY_SHAPE_ABS_DIFF:
        return vy_type_of_width(false, vy_type_width(type));
    case VY_SHAPE_BIT_COUNT:
        return VYRE_TYPE_U32;
    default:
        return type;
    }
}

static void judge(const batch *b, const uint64_t *out, uint32_t i, uint64_t wanted)
{
    wanted = vy_type_bits(b->result, wanted);
    if (out[i] != wanted) {
        fail_msg("%s of %s: 0x%llx 0x%llx gives 0x%llx, not 0x%llx", vy_op_get(b->op)->name,
                 vyre_type_keyword(b->types[0]), (unsigned long long)b->operands[0][i],
                 b->operand_count > 1 && !b->has_literal ? (unsigned long long)b->operands[1][i]
                                                         : 0ull,
                 (unsigned long long)out[i], (unsigned long long)wanted);
    }
}

static const vyre_op binary[] = {
    VYRE_OP_ADD,     VYRE_OP_SUB,         VYRE_OP_MUL,          VYRE_OP_DIV,     VYRE_OP_REM,
    VYRE_OP_AND,     VYRE_OP_OR,          VYRE_OP_XOR,          VYRE_OP_SHL,     VYRE_OP_SHR,
    VYRE_OP_MIN,     VYRE_OP_ROTATE_LEFT, VYRE_OP_ROTATE_RIGHT, VYRE_OP_MAX,     VYRE_OP_ABS_DIFF,
    VYRE_OP_ADD_SAT, VYRE_OP_MUL_HIGH,    VYRE_OP_SUB_SAT,      VYRE_OP_MUL_SAT, VYRE_OP_EQ,
    VYRE_OP_NE,      VYRE_OP_LT,          VYRE_OP_LE,           VYRE_OP_GT,      VYRE_OP_GE};

static void test_binary_operators_match_c(void **state)
{
    static uint64_t values[VALUES], x[PAIRS], y[PAIRS], out[PAIRS];
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(types); t++) {
        batch_integers(types[t], values, VALUES);
        batch_pairs(values, VALUES, x, y);
        for (size_t row = 0; row < VY_COUNT_OF(binary); row++) {
            batch b = {.op = binary[row],
                       .operand_count = 2,
                       .count = PAIRS,
                       .types = {types[t], types[t]},
                       .result = result_of(binary[row], types[t]),
                       .operands = {x, y}};
            batch_run(device, &b, out);
            for (uint32_t i = 0; i < PAIRS; i++) {
                judge(&b, out, i, expect_binary(b.op, types[t], x[i], y[i]));
            }
        }
    }
}

static void test_literal_operands_match_c(void **state)
{
    static const vyre_op ops[] = {VYRE_OP_DIV, VYRE_OP_REM, VYRE_OP_SHL, VYRE_OP_ROTATE_RIGHT};
    static uint64_t values[VALUES], out[VALUES];
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(types); t++) {
        uint64_t top = (uint64_t)1 << (vy_type_width(types[t]) - 1);
        const uint64_t literals[] = {0, 3, top, vy_type_bits(types[t], UINT64_MAX)};
        batch_integers(types[t], values, VALUES);
        for (size_t i = 0; i < VY_COUNT_OF(ops) * VY_COUNT_OF(literals); i++) {
            const uint64_t *literal = &literals[i / VY_COUNT_OF(ops)];
            batch b = {.op = ops[i % VY_COUNT_OF(ops)],
                       .operand_count = 2,
                       .count = VALUES,
                       .types = {types[t], types[t]},
                       .result = types[t],
                       .operands = {values, literal},
                       .has_literal = true};
            batch_run(device, &b, out);
            for (uint32_t k = 0; k < VALUES; k++) {
                judge(&b, out, k, expect_binary(b.op, types[t], values[k], *literal));
            }
        }
    }
}

static void test_unary_operators_match_c(void **state)
{
    static const vyre_op ops[] = {VYRE_OP_NEGATE,   VYRE_OP_COMPLEMENT,  VYRE_OP_ABS,
                                  VYRE_OP_SIGN,     VYRE_OP_CLZ,         VYRE_OP_CTZ,
                                  VYRE_OP_POPCOUNT, VYRE_OP_REVERSE_BITS};
    static uint64_t values[256], out[256];
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(types); t++) {
        batch_integers(types[t], values, 256);
        for (size_t row = 0; row < VY_COUNT_OF(ops); row++) {
            batch b = {.op = ops[row],
                       .operand_count = 1,
                       .count = 256,
                       .types = {types[t]},
                       .result = result_of(ops[row], types[t]),
                       .operands = {values}};
            batch_run(device, &b, out);
            for (uint32_t i = 0; i < 256; i++) {
                judge(&b, out, i, expect_unary(b.op, types[t], values[i]));
            }
        }
    }
}

static uint64_t expect_field(const batch *b, uint64_t x, uint64_t y, uint64_t offset,
                             uint64_t count)
{
    uint32_t width = vy_type_width(b->types[0]);
    offset = offset > width ? width : offset;
    count = count > width - offset ? width - offset : count;
    uint64_t ones = count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
    uint64_t field = offset < 64 ? x >> offset & ones : 0;
    if (b->op == VYRE_OP_EXTRACT_BITS) {
        bool extends = vy_type_is_signed(b->types[0]) && count && field >> (count - 1) & 1;
        return extends ? field | ~ones : field;
    }
    return count ? (x & ~(ones << offset)) | (y & ones) << offset : x;
}

static void test_bit_fields_clamp(void **state)
{
    static const uint64_t places[] = {0,  1,  3,  7,  8,  9,  15, 16,
                                      17, 31, 32, 33, 63, 64, 65, 0xffffffff};
    enum { N = 16 * 16 };
    static uint64_t x[N], y[N], offset[N], count[N], out[N];
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(types); t++) {
        batch_integers(types[t], x, N);
        for (uint32_t i = 0; i < N; i++) {
            x[i] = vy_type_bits(types[t], 0x9e3779b97f4a7c15u * (i + 1));
            y[i] = vy_type_bits(types[t], 0xc2b2ae3d27d4eb4fu * (i + 3));
            offset[i] = places[i % 16];
            count[i] = places[i / 16];
        }
        batch extract = {.op = VYRE_OP_EXTRACT_BITS,
                         .operand_count = 3,
                         .count = N,
                         .types = {types[t], VYRE_TYPE_U32, VYRE_TYPE_U32},
                         .result = types[t],
                         .operands = {x, offset, count}};
        batch insert = {.op = VYRE_OP_INSERT_BITS,
                        .operand_count = 4,
                        .count = N,
                        .types = {types[t], types[t], VYRE_TYPE_U32, VYRE_TYPE_U32},
                        .result = types[t],
                        .operands = {x, y, offset, count}};
        batch_run(device, &extract, out);
        for (uint32_t i = 0; i < N; i++) {
            judge(&extract, out, i, expect_field(&extract, x[i], 0, offset[i], count[i]));
        }
        batch_run(device, &insert, out);
        for (uint32_t i = 0; i < N; i++) {
            judge(&insert, out, i, expect_field(&insert, x[i], y[i], offset[i], count[i]));
        }
    }
}

/* Amounts of another width than the value's. */
static void test_amounts_of_other_types(void **state)
{
    static const vyre_type amounts[] = {VYRE_TYPE_I8, VYRE_TYPE_U16, VYRE_TYPE_I32, VYRE_TYPE_U64};
    static uint64_t x[VALUES], y[VALUES], out[VALUES];
    (void)state;
    for (size_t t = 0; device && t < VY_COUNT_OF(types) * VY_COUNT_OF(amounts); t++) {
        vyre_type type = types[t / VY_COUNT_OF(amounts)],
                  amount = amounts[t % VY_COUNT_OF(amounts)];
        batch_integers(type, x, VALUES);
        batch_integers(amount, y, VALUES);
        batch b = {.op = VYRE_OP_ROTATE_LEFT,
                   .operand_count = 2,
                   .count = VALUES,
                   .types = {type, amount},
                   .result = type,
                   .operands = {x, y}};
        batch_run(device, &b, out);
        for (uint32_t i = 0; i < VALUES; i++) {
            judge(&b, out, i, rotated(type, x[i], y[i]));
        }
    }
}

/* In the address form and with the older target. */
static void test_memory_of_every_width(void **state)
{
    static uint64_t x[256], out[256];
    (void)state;
    for (size_t t = 0; device && t < 4 * VY_COUNT_OF(types); t++) {
        vyre_type type = types[t / 4];
        batch_integers(type, x, 256);
        batch b = {.op = VYRE_OP_COMPLEMENT,
                   .operand_count = 1,
                   .count = 256,
                   .types = {type},
                   .result = type,
                   .operands = {x},
                   .target = t & 1 ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3,
                   .interface = t & 2 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR};
        batch_run(device, &b, out);
        for (uint32_t i = 0; i < 256; i++) {
            judge(&b, out, i, ~x[i]);
        }
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
        cmocka_unit_test(test_binary_operators_match_c),
        cmocka_unit_test(test_literal_operands_match_c),
        cmocka_unit_test(test_unary_operators_match_c),
        cmocka_unit_test(test_bit_fields_clamp),
        cmocka_unit_test(test_amounts_of_other_types),
        cmocka_unit_test(test_memory_of_every_width),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
