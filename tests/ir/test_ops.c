/* The operator tables. */
#include "tests/ir/build.h"

static void test_ops_have_rows_in_their_order(void **state)
{
    (void)state;
    assert_string_equal(vy_op_get(VYRE_OP_ADD)->name, "ADD");
    assert_string_equal(vy_op_get(VYRE_OP_ADD)->text, "+");
    assert_int_equal(vy_op_get(VYRE_OP_ADD)->form, VY_FORM_INFIX);
    assert_int_equal(vy_op_get(VYRE_OP_ADD)->operand_count, 2);
    assert_int_equal(vy_op_get(VYRE_OP_IS_FINITE)->shape, VY_SHAPE_FLOAT_TEST);
    assert_int_equal(vy_op_get(VYRE_OP_INSERT_BITS)->operand_count, 4);
    assert_int_equal(vy_op_get(VYRE_OP_CALL)->operand_count, 0);
    assert_string_equal(vy_op_get(VYRE_OP_COUNT)->name, "NONE");
    assert_string_equal(vy_op_get((vyre_op)-1)->name, "NONE");
    for (unsigned op = 0; op < VYRE_OP_COUNT; op++) {
        assert_true(vy_op_get((vyre_op)op)->operand_count <= 4);
    }
}

static void test_ops_written_as_calls_are_found(void **state)
{
    (void)state;
    int found = 0;
    for (unsigned op = 1; op < VYRE_OP_COUNT; op++) {
        const vy_op_info *info = vy_op_get((vyre_op)op);
        if (info->form == VY_FORM_CALL) {
            assert_int_equal(vy_op_find_call(info->text, strlen(info->text)), op);
            found++;
        }
    }
    assert_true(found > 50);
    assert_int_equal(vy_op_find_call("minimum", 3), VYRE_OP_MIN);
    assert_int_equal(vy_op_find_call("mi", 2), VYRE_OP_NONE);
    assert_int_equal(vy_op_find_call("", 0), VYRE_OP_NONE);
    assert_int_equal(vy_op_find_call("+", 1), VYRE_OP_NONE);
    assert_int_equal(vy_op_find_call("bitcast", 7), VYRE_OP_NONE);
}

static void test_tolerances_stand_for_inexact_operators_only(void **state)
{
    (void)state;
    static const vyre_op exact[] = {VYRE_OP_ADD,   VYRE_OP_DIV,   VYRE_OP_SQRT, VYRE_OP_FRACT,
                                    VYRE_OP_FLOOR, VYRE_OP_ROUND, VYRE_OP_MIN,  VYRE_OP_COPYSIGN};
    for (size_t i = 0; i < VY_COUNT_OF(exact); i++) {
        assert_null(vy_tolerance_find(exact[i]));
        assert_null(vy_tolerance_find_at(exact[i], 1));
    }
    for (int op = VYRE_OP_RSQRT; op <= VYRE_OP_POW; op++) {
        const vy_tolerance *row = vy_tolerance_find((vyre_op)op);
        assert_non_null(row);
        assert_int_equal(row->op, op);
        assert_true(row->low < row->high);
        assert_true(row->ulp > 0 || row->absolute > 0);
    }
    assert_true(vy_tolerance_find(VYRE_OP_RSQRT)->ulp == 2);
    assert_true(vy_tolerance_find_at(VYRE_OP_SIN, 0)->absolute == 0x1p-11);
    assert_null(vy_tolerance_find_at(VYRE_OP_SIN, 4));
    assert_true(vy_tolerance_find_at(VYRE_OP_LOG, 1.5)->absolute == 0x1p-21);
    assert_true(vy_tolerance_find_at(VYRE_OP_LOG, 1.5)->ulp == 0);
    assert_true(vy_tolerance_find_at(VYRE_OP_LOG, 3)->ulp == 3);
    assert_true(vy_tolerance_find_at(VYRE_OP_LOG, 3)->absolute == 0);
}

static void test_texts_of_enumerations(void **state)
{
    (void)state;
    assert_string_equal(vy_builtin_text(VYRE_BUILTIN_GROUP_SIZE_Y), "group_size.y");
    assert_string_equal(vy_builtin_text(VYRE_BUILTIN_COUNT), "");
    assert_string_equal(vy_atomic_text(VYRE_ATOMIC_COMPARE_EXCHANGE), "atomic_compare_exchange");
    assert_int_equal(vy_atomic_operand_count(VYRE_ATOMIC_COMPARE_EXCHANGE), 2);
    assert_int_equal(vy_atomic_operand_count(VYRE_ATOMIC_LOAD), 0);
    assert_string_equal(vy_buffer_mode_text(VYRE_BUFFER_SCRATCH_KEEP), "scratch keep");
    assert_string_equal(vy_buffer_mode_text(VYRE_BUFFER_MODE_COUNT), "");
    assert_true(vy_buffer_mode_writes(VYRE_BUFFER_SHARED));
    assert_false(vy_buffer_mode_writes(VYRE_BUFFER_UNIFORM));
    assert_true(vy_buffer_mode_is_input(VYRE_BUFFER_INOUT));
    assert_false(vy_buffer_mode_is_input(VYRE_BUFFER_OUT));
    assert_true(vy_buffer_mode_is_output(VYRE_BUFFER_OUT));
    assert_false(vy_buffer_mode_is_output(VYRE_BUFFER_SCRATCH));
    assert_int_equal(vyre_type_size(VYRE_TYPE_BOOL), 4);
    assert_int_equal(vyre_type_size(VYRE_TYPE_VOID), 0);
    assert_int_equal(vyre_type_size(VYRE_TYPE_INT), 0);
    assert_string_equal(vyre_type_keyword(VYRE_TYPE_F32), "f32");
    assert_string_equal(vyre_type_keyword((vyre_type)99), "unknown type");
    assert_true(vy_type_is_integer(VYRE_TYPE_I32));
    assert_false(vy_type_is_integer(VYRE_TYPE_BOOL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ops_have_rows_in_their_order),
        cmocka_unit_test(test_ops_written_as_calls_are_found),
        cmocka_unit_test(test_tolerances_stand_for_inexact_operators_only),
        cmocka_unit_test(test_texts_of_enumerations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
