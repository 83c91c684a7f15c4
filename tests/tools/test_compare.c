/* When two elements count as the same, for every type, and which tolerance a program asks for. */
#include "codegen/ir/ops.h"
#include "tests/tools/support.h"
#include "tools/common/run.h"
#include "tools/common/value.h"
#include "vyre/text.h"

#include <string.h>

static const vy_tolerance_used exact = {0};

static bool matches(vyre_type type, uint64_t a, uint64_t b, const vy_tolerance_used *tolerance)
{
    unsigned char left[32] = {0}, right[32] = {0};
    vy_value value = {{a}}, other = {{b}};
    vy_value_store(type, left, 1, &value);
    vy_value_store(type, right, 1, &other);
    bool forth = vy_element_matches(type, left, right, 1, tolerance);
    assert_int_equal(forth, vy_element_matches(type, right, left, 1, tolerance));
    return forth;
}

static void test_compare_takes_all_nans_as_one(void **state)
{
    (void)state;
    static const struct {
        vyre_type type;
        uint64_t nan, other, infinity;
    } rows[] = {{VYRE_TYPE_F16, 0x7e00, 0xfc01, 0x7c00},
                {VYRE_TYPE_BF16, 0x7fc0, 0xff81, 0x7f80},
                {VYRE_TYPE_F32, 0x7fc00000, 0xff800001, 0x7f800000},
                {VYRE_TYPE_F64, 0x7ff8000000000000, 0xfff0000000000001, 0x7ff0000000000000}};
    const vy_tolerance_used wide = {.inexact = true, .ulp = 1e30, .is_stated = true};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        assert_true(matches(rows[i].type, rows[i].nan, rows[i].other, &exact));
        assert_false(matches(rows[i].type, rows[i].nan, rows[i].infinity, &wide));
        assert_false(matches(rows[i].type, rows[i].nan, 0, &wide));
        assert_false(matches(rows[i].type, rows[i].infinity, rows[i].infinity - 1, &exact));
    }
    /* The same bits of other types are numbers. */
    assert_false(matches(VYRE_TYPE_U16, 0x7e00, 0xfc01, &wide));
    assert_false(matches(VYRE_TYPE_U64, 0x7ff8000000000000, 0xfff0000000000001, &wide));
}

static void test_compare_counts_ulp_of_the_type(void **state)
{
    (void)state;
    static const struct {
        vyre_type type;
        uint64_t one, sign;
    } rows[] = {{VYRE_TYPE_F16, 0x3c00, 0x8000},
                {VYRE_TYPE_BF16, 0x3f80, 0x8000},
                {VYRE_TYPE_F32, 0x3f800000, 0x80000000},
                {VYRE_TYPE_F64, 0x3ff0000000000000, 0x8000000000000000}};
    const vy_tolerance_used two = {.inexact = true, .ulp = 2, .is_stated = true};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        vyre_type type = rows[i].type;
        uint64_t one = rows[i].one, sign = rows[i].sign;
        assert_false(matches(type, one, one + 1, &exact));
        assert_true(matches(type, one, one + 2, &two));
        assert_false(matches(type, one, one + 3, &two));
        assert_true(matches(type, one | sign, (one + 2) | sign, &two));
        assert_true(matches(type, sign, 0, &two));
        assert_false(matches(type, sign, 0, &exact));
        assert_true(matches(type, 1, 1 | sign, &two));
        assert_false(matches(type, 2, 1 | sign, &two));
        assert_false(matches(type, one, one | sign, &two));
    }
    assert_false(matches(VYRE_TYPE_U32, 5, 6, &two));
    assert_true(matches(VYRE_TYPE_BOOL, 1, 7, &exact));
}

/* ULP that nobody stated are those of an f32. */
static void test_compare_scales_what_the_program_allows(void **state)
{
    (void)state;
    const vy_tolerance_used two = {.inexact = true, .ulp = 2};
    const vy_tolerance_used near = {.inexact = true, .absolute = 0x1p-11};
    const uint64_t one = 0x3ff0000000000000, ulp = (uint64_t)1 << 29;
    assert_true(matches(VYRE_TYPE_F64, one, one + 2 * ulp, &two));
    assert_false(matches(VYRE_TYPE_F64, one, one + 2 * ulp + 1, &two));
    assert_true(matches(VYRE_TYPE_F16, 0x3c00, 0x3c03, &two));
    assert_false(matches(VYRE_TYPE_F16, 0x3c00, 0x3c04, &two));
    assert_true(matches(VYRE_TYPE_F32, 0x3f800000, 0x3f800002, &two));
    assert_false(matches(VYRE_TYPE_F32, 0x3f800000, 0x3f800003, &two));
    /* 0.5 and two f16 above it are 2^-10 apart, but rounding may have added one of them. */
    assert_true(matches(VYRE_TYPE_F16, 0x3800, 0x3802, &near));
    assert_false(matches(VYRE_TYPE_F16, 0x3800, 0x3804, &near));
    assert_true(matches(VYRE_TYPE_F16, 0x8001, 1, &near));
}

static void test_compare_looks_at_each_component(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 4; c++) {
        uint32_t a[4] = {1, 2, 3, 4}, b[4] = {1, 2, 3, 4};
        assert_true(vy_element_matches(VYRE_TYPE_U32X4, a, b, 0, &exact));
        b[c]++;
        assert_false(vy_element_matches(VYRE_TYPE_U32X4, a, b, 0, &exact));
        assert_int_equal(vy_element_matches(VYRE_TYPE_U32X2, a, b, 0, &exact), c > 1);
        assert_int_equal(vy_element_matches(VYRE_TYPE_U32X2, a, b, 1, &exact), c < 2);
    }
}

static vy_tolerance_used tolerance_of(const char *statements, double stated)
{
    char text[512];
    vyre_program *program = NULL;
    vyre_diag diag;
    snprintf(text, sizeof text,
             "program p\nworkgroup 8\ngrid over y\nout y : f32[8]\nout n : u32[8]\n"
             "kernel { %s }\n",
             statements);
    if (vyre_program_parse(text, strlen(text), "test", NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%s: %s", statements, diag.message);
    }
    vy_tolerance_used used = vy_run_tolerance(program, stated);
    vyre_program_destroy(&program);
    return used;
}

static void test_tolerance_is_what_the_program_uses(void **state)
{
    (void)state;
    assert_false(tolerance_of("y[gid.x] = 1.0", -1).inexact);
    assert_false(tolerance_of("let s = subgroup_add(gid.x)\nn[gid.x] = s", -1).inexact);
    assert_false(tolerance_of("let s = subgroup_max(f32(gid.x))\ny[gid.x] = s", -1).inexact);
    assert_false(tolerance_of("atomic_add(n[0], 1)", -1).inexact);
    vy_tolerance_used used = tolerance_of("y[gid.x] = exp(1.0)", -1);
    assert_true(used.inexact && !used.is_stated);
    assert_string_equal(used.because, "exp");
    used = tolerance_of("let s = subgroup_inclusive_mul(f32(gid.x))\ny[gid.x] = s", -1);
    assert_true(used.inexact);
    assert_string_equal(used.because, "subgroup_inclusive_mul");
    used = tolerance_of("atomic_add(y[0], 0.5)", 3);
    assert_true(used.inexact && used.is_stated && used.ulp > 2.9 && used.ulp < 3.1);
    assert_string_equal(used.because, "atomic_add");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compare_takes_all_nans_as_one),
        cmocka_unit_test(test_compare_counts_ulp_of_the_type),
        cmocka_unit_test(test_compare_scales_what_the_program_allows),
        cmocka_unit_test(test_compare_looks_at_each_component),
        cmocka_unit_test(test_tolerance_is_what_the_program_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
