/* Numbers of every type as text: suffixes, ranges, correct rounding both ways. strtod is the check
 * of f64; all finite f16 values are tried. */
#include "tests/ir/text_support.h"

#include "codegen/ir/number.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed ^ *seed >> 29;
}

/* ---- Literals -------------------------------------------------------------------------------- */

typedef struct literal_row {
    const char *type; /* "" to take the literal's own */
    const char *text;
    vyre_type is;
    uint64_t bits;
} literal_row;

static void check_literals(const literal_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[1024];
        bool typed = rows[i].type[0] != 0;
        snprintf(text, sizeof text, HEAD "kernel { let x%s%s = %s }", typed ? " : " : "",
                 rows[i].type, rows[i].text);
        vyre_program *p = parse_ok(text);
        const vy_expr *literal = root(p, &top(p, 0)->x);
        if (literal->bits[0] != rows[i].bits || literal->type != rows[i].is) {
            print_error("%s is %s %llx\n", rows[i].text,
                        vyre_type_keyword((vyre_type)literal->type),
                        (unsigned long long)literal->bits[0]);
        }
        assert_int_equal(literal->op, VYRE_OP_LITERAL);
        assert_int_equal(literal->type, rows[i].is);
        assert_true(literal->bits[0] == rows[i].bits);
        size_t size = 0;
        char *printed = round_trip_program(p, &size);
        vyre_text_free(NULL, printed, size);
        vyre_program_destroy(&p);
    }
}

static void test_suffixes_name_types(void **state)
{
    (void)state;
    static const literal_row rows[] = {
        {"", "7u", VYRE_TYPE_U32, 7},
        {"", "7i", VYRE_TYPE_I32, 7},
        {"", "7l", VYRE_TYPE_I64, 7},
        {"", "7ul", VYRE_TYPE_U64, 7},
        {"", "7h", VYRE_TYPE_F16, 0x4700},
        {"", "7f", VYRE_TYPE_F32, 0x40e00000},
        {"", "7d", VYRE_TYPE_F64, 0x401c000000000000},
        {"", "1.5h", VYRE_TYPE_F16, 0x3e00},
        {"", "1.5d", VYRE_TYPE_F64, 0x3ff8000000000000},
        {"", "1e3d", VYRE_TYPE_F64, 0x408f400000000000},
        {"", "1e3h", VYRE_TYPE_F16, 0x63d0},
        {"", "0x10ul", VYRE_TYPE_U64, 16},
        {"", "0x1f", VYRE_TYPE_U32, 0x1f},
        {"", "0x1d", VYRE_TYPE_U32, 0x1d},
        {"", "0b11l", VYRE_TYPE_I64, 3},
        {"", "0x1p-3h", VYRE_TYPE_F16, 0x3000},
        {"", "0x1.8p1d", VYRE_TYPE_F64, 0x4008000000000000},
        {"", "0x1p-3f", VYRE_TYPE_F32, 0x3e000000},
        {"", "-7l", VYRE_TYPE_I64, 0xfffffffffffffff9},
        {"", "-9223372036854775808l", VYRE_TYPE_I64, 0x8000000000000000},
        {"", "9223372036854775807l", VYRE_TYPE_I64, 0x7fffffffffffffff},
        {"", "18446744073709551615ul", VYRE_TYPE_U64, UINT64_MAX},
        {"", "0xffff_ffff_ffff_fffful", VYRE_TYPE_U64, UINT64_MAX},
        {"", "4294967295u", VYRE_TYPE_U32, 0xffffffff},
        {"", "-2147483648i", VYRE_TYPE_I32, 0x80000000},
        {"", "-0.0h", VYRE_TYPE_F16, 0x8000},
        {"", "-0d", VYRE_TYPE_F64, 0x8000000000000000},
        {"", "65504.0h", VYRE_TYPE_F16, 0x7bff},
        {"", "65519.99h", VYRE_TYPE_F16, 0x7bff},
        {"", "1.7976931348623157e308d", VYRE_TYPE_F64, 0x7fefffffffffffff},
        {"", "4.9e-324d", VYRE_TYPE_F64, 1},
        {"", "0x1p-1074d", VYRE_TYPE_F64, 1},
        {"", "0x1p-24h", VYRE_TYPE_F16, 1},
        {"", "16777217d", VYRE_TYPE_F64, 0x4170000010000000},
        {"", "2049h", VYRE_TYPE_F16, 0x6800}, /* a tie, to even */
        {"", "2051h", VYRE_TYPE_F16, 0x6802}};
    check_literals(rows, VY_COUNT_OF(rows));
}

static void test_integers_take_every_type_they_meet(void **state)
{
    (void)state;
    static const literal_row rows[] = {
        {"u8", "255", VYRE_TYPE_U8, 255},
        {"i8", "127", VYRE_TYPE_I8, 127},
        {"i8", "-128", VYRE_TYPE_I8, 0x80},
        {"u16", "65535", VYRE_TYPE_U16, 65535},
        {"i16", "-32768", VYRE_TYPE_I16, 0x8000},
        {"u64", "18446744073709551615", VYRE_TYPE_U64, UINT64_MAX},
        {"i64", "-9223372036854775808", VYRE_TYPE_I64, 0x8000000000000000},
        {"i64", "9223372036854775807", VYRE_TYPE_I64, 0x7fffffffffffffff},
        {"f16", "2048", VYRE_TYPE_F16, 0x6800},
        {"f16", "-65504", VYRE_TYPE_F16, 0xfbff},
        {"f64", "9007199254740992", VYRE_TYPE_F64, 0x4340000000000000},
        {"f64", "-1", VYRE_TYPE_F64, 0xbff0000000000000},
        {"f64", "18446744073709549568", VYRE_TYPE_F64, 0x43efffffffffffff}};
    check_literals(rows, VY_COUNT_OF(rows));
}

static void test_inf_and_nan_take_the_float_type_they_meet(void **state)
{
    (void)state;
    static const literal_row rows[] = {{"", "inf", VYRE_TYPE_F32, 0x7f800000},
                                       {"", "nan", VYRE_TYPE_F32, 0x7fc00000},
                                       {"f16", "inf", VYRE_TYPE_F16, 0x7c00},
                                       {"f16", "-inf", VYRE_TYPE_F16, 0xfc00},
                                       {"f16", "nan", VYRE_TYPE_F16, 0x7e00},
                                       {"f64", "inf", VYRE_TYPE_F64, 0x7ff0000000000000},
                                       {"f64", "-inf", VYRE_TYPE_F64, 0xfff0000000000000},
                                       {"f64", "nan", VYRE_TYPE_F64, 0x7ff8000000000000}};
    check_literals(rows, VY_COUNT_OF(rows));
    static const struct {
        const char *text;
        vyre_type type;
    } mixed[] = {{"1.5d + inf", VYRE_TYPE_F64},       {"inf - 1.5d", VYRE_TYPE_F64},
                 {"min(inf, 1.5h)", VYRE_TYPE_F16},   {"clamp(1.5d, -inf, inf)", VYRE_TYPE_F64},
                 {"inf + 1", VYRE_TYPE_F32},          {"inf + nan", VYRE_TYPE_F32},
                 {"select(true, nan, 2.0h)", 11},     {"f32x2(1) * inf", VYRE_TYPE_F32X2},
                 {"inf * f32x2(1)", VYRE_TYPE_F32X2}, {"f64(inf)", VYRE_TYPE_F64}};
    for (size_t i = 0; i < VY_COUNT_OF(mixed); i++) {
        char text[1024];
        snprintf(text, sizeof text, HEAD "kernel { let x = %s }", mixed[i].text);
        vyre_program *p = parse_ok(text);
        assert_int_equal(root(p, &top(p, 0)->x)->type, mixed[i].type);
        vyre_program_destroy(&p);
        round_trip(text);
    }
}

static void test_bitcasts_of_one_integer_are_literals(void **state)
{
    (void)state;
    static const literal_row rows[] = {
        {"", "bitcast<u8>(255)", VYRE_TYPE_U8, 255},
        {"", "bitcast<i8>(255)", VYRE_TYPE_I8, 255},
        {"", "bitcast<u16>(0xffff)", VYRE_TYPE_U16, 0xffff},
        {"", "bitcast<i16>(0x8000)", VYRE_TYPE_I16, 0x8000},
        {"", "bitcast<u64>(0xffffffffffffffff)", VYRE_TYPE_U64, UINT64_MAX},
        {"", "bitcast<i64>(0xffffffffffffffff)", VYRE_TYPE_I64, UINT64_MAX},
        {"", "bitcast<i64>(3ul)", VYRE_TYPE_I64, 3},
        {"", "bitcast<f16>(0x7c01)", VYRE_TYPE_F16, 0x7c01},
        {"", "bitcast<f16>(0xfe00)", VYRE_TYPE_F16, 0xfe00},
        {"", "bitcast<f32>(0xff800001)", VYRE_TYPE_F32, 0xff800001},
        {"", "bitcast<f64>(0x7ff0000000000001)", VYRE_TYPE_F64, 0x7ff0000000000001},
        {"", "bitcast<f64>(0x3ff0000000000000ul)", VYRE_TYPE_F64, 0x3ff0000000000000}};
    check_literals(rows, VY_COUNT_OF(rows));
}

#define L KERNEL_LINE + 1

static void test_literals_that_fit_no_type_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t column;
        const char *part;
    } rows[] = {
        {"let x : u8 = 256", 14, "256 does not fit u8 (0 .. 255)"},
        {"let x : i8 = 128", 14, "128 does not fit i8 (-128 .. 127)"},
        {"let x : i8 = -129", 14, "-129 does not fit i8 (-128 .. 127)"},
        {"let x : u8 = -1", 14, "-1"},
        {"let x : u16 = 65536", 15, "65536 does not fit u16"},
        {"let x : i16 = -32769", 15, "-32769 does not fit i16"},
        {"let x : i64 = 9223372036854775808", 15, "does not fit i64"},
        {"let x : i64 = -9223372036854775809", 15, "does not fit i64"},
        {"let x : u64 = -1", 15, "`-1l` where i64 is meant"},
        {"let x : u64 = 18446744073709551616", 15, "2^64"},
        {"let x = 18446744073709551616ul", 9, "2^64"},
        {"let x : f16 = 2049", 15, "Fix: write it as a float, 2049.0h, which is rounded"},
        {"let x : f16 = 65536", 15, "Fix: write a smaller value, or use f32"},
        {"let x : f64 = 9007199254740993", 15, "9007199254740993.0d, which is rounded"},
        {"let x : f32 = -16777217", 15, "-16777217.0, which is rounded"},
        {"let x : f64 = 0.1", 15, "Fix: write the literal as f64: `0.1d`"},
        {"let x : f16 = -0.5", 15, "Fix: write the literal as f16: `-0.5h`"},
        {"let x : f32 = 0.5d", 15, "Fix: write the literal as f32: `0.5`"},
        {"let x = 1.5d + 0.1", 14,
         "mixes f64 with f32, and nothing is converted implicitly. Fix: "
         "write the literal as f"},
        {"let y = f64(pf) let x = y * 0.1", 27, "Fix: write the literal as f64: `0.1d`"},
        {"let y = f64(pf) let x = 0.1 * y", 29, "Fix: write the literal as f64: `0.1d`"},
        {"let y = f16(pf) let x = max(y, 2.5)", 25, "Fix: write the literal as f16: `2.5h`"},
        {"let x = pf + 0.1d", 12, "Fix: write the literal as f32: `0.1`"},
        {"let x = pf + f64(pf)", 12, "Fix: convert one of them: `f32(...)`"},
        {"let x = pu + 0.5", 12, "Fix: convert one of them: `u32(...)`"},
        {"let x : u32 = inf", 15, "the value is f32, but u32 is needed"}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[1024];
        snprintf(text, sizeof text, HEAD "kernel {\n%s\n}\n", rows[i].text);
        refuse(text, L, rows[i].column, rows[i].part);
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void check_f64(const char *text)
{
    uint64_t got = vy_number_read_decimal(VYRE_TYPE_F64, text, strlen(text));
    if (got != bits_of(strtod(text, NULL))) {
        print_error("%s\n", text);
    }
    assert_true(got == bits_of(strtod(text, NULL)));
}

static void test_f64_is_read_as_strtod_does(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (uint32_t i = 0; i < 20000; i++) {
        char text[80];
        uint64_t digits = next(&seed) >> (next(&seed) % 60);
        int exponent = (int)(next(&seed) % 700) - 360;
        snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)digits,
                 (unsigned long long)(next(&seed) >> (next(&seed) % 64)), exponent);
        check_f64(text);
    }
    /* Midpoints between neighbours, and just beside them: all digits decide. */
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t bits = next(&seed) >> 1;
        bits = i % 3 == 0 ? bits & 0x000fffffffffffffu : bits;
        double low, high;
        uint64_t above = bits + 1;
        memcpy(&low, &bits, sizeof low);
        memcpy(&high, &above, sizeof high);
        if (!isfinite(low) || !isfinite(high)) {
            continue;
        }
        static char text[1400];
        /* long double has the 11 bits more that the midpoint needs. */
        long double middle = ((long double)low + (long double)high) / 2;
        int length = snprintf(text, sizeof text, "%.1100Lf", middle);
        if (length < 0 || (size_t)length >= sizeof text) {
            continue;
        }
        check_f64(text);
        text[length - 1]++;
        check_f64(text);
    }
    static const char *const edges[] = {"0.0",
                                        "0e999999999999",
                                        "1e-999999999999",
                                        "2.4703282292062327208e-324",
                                        "2.4703282292062328e-324",
                                        "2.2250738585072011e-308",
                                        "2.2250738585072014e-308",
                                        "1.7976931348623158e308",
                                        "1.7976931348623159e308",
                                        "9007199254740993.0",
                                        "123456789012345678901234567890.0"};
    for (size_t i = 0; i < VY_COUNT_OF(edges); i++) {
        check_f64(edges[i]);
    }
    assert_true(vy_number_read_decimal(VYRE_TYPE_F64, "1e999999999", 11) ==
                vy_number_infinity(VYRE_TYPE_F64));
}

static void test_hexadecimal_f64_is_read_as_strtod_does(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (uint32_t i = 0; i < 20000; i++) {
        char text[80];
        snprintf(text, sizeof text, "0x%llx.%llxp%d",
                 (unsigned long long)(next(&seed) >> (next(&seed) % 64)),
                 (unsigned long long)(next(&seed) >> (next(&seed) % 64)),
                 (int)(next(&seed) % 2300) - 1180);
        uint64_t got = vy_number_read_hex(VYRE_TYPE_F64, text + 2, strlen(text) - 2);
        assert_true(got == bits_of(strtod(text, NULL)));
    }
}

/* Every f16, and every midpoint between two of them, is a double; a decimal text of it is exact. */
static void test_every_f16_is_read_and_written(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        char text[VY_FLOAT_TEXT_SIZE], exact[80];
        double value = vy_number_value(VYRE_TYPE_F16, bits);
        double expected = bits < 0x400
                              ? ldexp((double)bits, -24)
                              : ldexp((double)(bits % 0x400 + 0x400), (int)(bits / 0x400) - 25);
        assert_true(value == expected);
        vy_number_write(VYRE_TYPE_F16, bits, text);
        assert_true(strpbrk(text, ".e") != NULL);
        assert_true(vy_number_read_decimal(VYRE_TYPE_F16, text, strlen(text)) == bits);
        snprintf(exact, sizeof exact, "%.30f", value);
        assert_true(vy_number_read_decimal(VYRE_TYPE_F16, exact, strlen(exact)) == bits);
        double above = bits == 0x7bff ? 65536.0 : vy_number_value(VYRE_TYPE_F16, bits + 1);
        double middle = (value + above) / 2;
        snprintf(exact, sizeof exact, "%.30f", middle);
        assert_true(vy_number_read_decimal(VYRE_TYPE_F16, exact, strlen(exact)) ==
                    bits + (bits & 1));
        snprintf(exact, sizeof exact, "%.30f1", middle);
        assert_true(vy_number_read_decimal(VYRE_TYPE_F16, exact, strlen(exact)) == bits + 1);
        snprintf(exact, sizeof exact, "%.30f", nextafter(middle, 0));
        assert_true(vy_number_read_decimal(VYRE_TYPE_F16, exact, strlen(exact)) == bits ||
                    bits == 0);
        snprintf(exact, sizeof exact, "%a", middle);
        assert_true(vy_number_read_hex(VYRE_TYPE_F16, exact + 2, strlen(exact) - 2) ==
                    bits + (bits & 1));
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* No decimal number of fewer digits reads back as the same value. */
static uint32_t digits_of(const char *text)
{
    uint32_t count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text == '.' || (*text == '0' && count == 0)) {
            continue;
        }
        zeros = *text == '0' ? zeros + 1 : 0;
        count++;
    }
    return count - zeros;
}

static bool has_shorter(vyre_type type, uint64_t bits, uint32_t digits)
{
    double value = vy_number_value(type, bits);
    char text[64];
    snprintf(text, sizeof text, "%.*e", (int)digits - 2, value);
    /* The neighbours of the nearest number of that many digits, too. */
    uint64_t number = 0;
    int exponent = atoi(strchr(text, 'e') + 1) - (int)digits + 2;
    for (const char *at = text; *at != 'e'; at++) {
        number = *at == '.' ? number : number * 10 + (uint64_t)(*at - '0');
    }
    for (uint64_t n = number - 1; n <= number + 1; n++) {
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)n, exponent);
        if (vy_number_read_decimal(type, text, strlen(text)) == bits) {
            return true;
        }
    }
    return false;
}

static void check_shortest(vyre_type type, uint64_t bits)
{
    char text[VY_FLOAT_TEXT_SIZE];
    vy_number_write(type, bits, text);
    uint32_t digits = digits_of(text);
    if (vy_number_read_decimal(type, text, strlen(text)) != bits ||
        (digits > 1 && has_shorter(type, bits, digits))) {
        print_error("%llx is written %s\n", (unsigned long long)bits, text);
        fail();
    }
}

static void test_numbers_are_written_with_the_fewest_digits(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (uint32_t bits = 1; bits < 0x7c00; bits++) {
        check_shortest(VYRE_TYPE_F16, bits);
    }
    for (uint32_t i = 0; i < 3000; i++) {
        uint64_t wide = next(&seed) >> 1;
        if (wide < vy_number_infinity(VYRE_TYPE_F64)) {
            check_shortest(VYRE_TYPE_F64, wide);
        }
        if (wide >> 32 < 0x7f800000u) {
            check_shortest(VYRE_TYPE_F32, wide >> 32);
        }
    }
    for (uint64_t exponent = 1; exponent < 2047; exponent++) {
        check_shortest(VYRE_TYPE_F64, exponent << 52);
    }
    for (uint64_t exponent = 1; exponent < 255; exponent++) {
        check_shortest(VYRE_TYPE_F32, exponent << 23);
    }
    static const struct {
        vyre_type type;
        uint64_t bits;
        const char *text;
    } rows[] = {{VYRE_TYPE_F64, 0x3fb999999999999a, "0.1"},
                {VYRE_TYPE_F64, 0x7fefffffffffffff, "1.7976931348623157e308"},
                {VYRE_TYPE_F64, 1, "5e-324"},
                {VYRE_TYPE_F64, 0x3ff0000000000001, "1.0000000000000002"},
                {VYRE_TYPE_F16, 0x2e66, "0.1"},
                {VYRE_TYPE_F16, 0x7bff, "65500.0"},
                {VYRE_TYPE_F16, 1, "6e-8"}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        char text[VY_FLOAT_TEXT_SIZE];
        vy_number_write(rows[i].type, rows[i].bits, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void test_rounding_modes_of_the_thread_do_not_matter(void **state)
{
    (void)state;
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static const vyre_type types[] = {VYRE_TYPE_F16, VYRE_TYPE_F32, VYRE_TYPE_F64};
    uint64_t seed = 3;
    for (uint32_t i = 0; i < 3000; i++) {
        vyre_type type = types[i % 3];
        uint32_t width = 8 * vyre_type_size(type);
        uint64_t bits = next(&seed) >> (65 - width);
        if (bits >= vy_number_infinity(type)) {
            continue;
        }
        char expected[VY_FLOAT_TEXT_SIZE], got[VY_FLOAT_TEXT_SIZE];
        vy_number_write(type, bits, expected);
        for (size_t m = 0; m < VY_COUNT_OF(modes); m++) {
            fesetround(modes[m]);
            vy_number_write(type, bits, got);
            uint64_t back = vy_number_read_decimal(type, expected, strlen(expected));
            fesetround(FE_TONEAREST);
            assert_string_equal(got, expected);
            assert_true(back == bits);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_suffixes_name_types),
        cmocka_unit_test(test_integers_take_every_type_they_meet),
        cmocka_unit_test(test_inf_and_nan_take_the_float_type_they_meet),
        cmocka_unit_test(test_bitcasts_of_one_integer_are_literals),
        cmocka_unit_test(test_literals_that_fit_no_type_are_refused),
        cmocka_unit_test(test_f64_is_read_as_strtod_does),
        cmocka_unit_test(test_hexadecimal_f64_is_read_as_strtod_does),
        cmocka_unit_test(test_every_f16_is_read_and_written),
        cmocka_unit_test(test_numbers_are_written_with_the_fewest_digits),
        cmocka_unit_test(test_rounding_modes_of_the_thread_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
