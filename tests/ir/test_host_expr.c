/* Expressions that the host evaluates: which they are, and their values. */
#include "tests/ir/build.h"

/* Meaning enough for the operators used here. */
static uint64_t evaluate(vyre_op op, vyre_type result, vyre_type operand, const uint64_t *operands,
                         bool flush_denormals)
{
    assert_false(flush_denormals);
    switch (op) {
    case VYRE_OP_ADD:
        return operands[0] + operands[1];
    case VYRE_OP_MUL:
        return operands[0] * operands[1];
    case VYRE_OP_LT:
        assert_int_equal(result, VYRE_TYPE_BOOL);
        return operand == VYRE_TYPE_I32 ? (int32_t)operands[0] < (int32_t)operands[1]
                                        : operands[0] < operands[1];
    case VYRE_OP_SELECT:
        return operands[0] ? operands[1] : operands[2];
    case VYRE_OP_CAST:
        assert_int_equal(operand, VYRE_TYPE_BOOL);
        return operands[0];
    default:
        fail_msg("operator %d is not expected", (int)op);
        return 0;
    }
}

/* The count of the last buffer of the program. */
static vy_range last_count(const vyre_program *program)
{
    return program->buffers.data[program->buffers.count - 1].count;
}

static uint32_t value_of(vyre_builder *b, vyre_expr count)
{
    static const uint32_t params[] = {10, 0xfffffff6u, 77};
    static const uint32_t lengths[] = {1000, 2000, 3000};
    const vy_host_env env = {
        .params = params, .lengths = lengths, .num_groups = {5, 6, 7}, .group_size = {64, 2, 3}};
    uint32_t scratch[32] = {0};
    vyre_build_buffer(b, VYRE_BUFFER_OUT, "o", VYRE_TYPE_U32, count);
    vyre_program *program = finish(b);
    vy_range range = last_count(program);
    assert_true(range.end - range.begin <= 32);
    uint32_t offender = 9;
    assert_true(vy_host_evaluable(program, range, NULL, &offender));
    assert_int_equal(offender, 0);
    uint32_t value = vy_host_evaluate(program, range, &env, evaluate, scratch);
    vyre_program_destroy(&program);
    return value;
}

static void test_host_evaluates_every_source(void **state)
{
    (void)state;
    vyre_builder *b = start();
    assert_int_equal(value_of(b, num(b, 42)), 42);
    static const struct {
        vyre_builtin which;
        uint32_t value;
    } rows[] = {{VYRE_BUILTIN_NUM_GROUPS_X, 5}, {VYRE_BUILTIN_NUM_GROUPS_Y, 6},
                {VYRE_BUILTIN_NUM_GROUPS_Z, 7}, {VYRE_BUILTIN_GROUP_SIZE_X, 64},
                {VYRE_BUILTIN_GROUP_SIZE_Y, 2}, {VYRE_BUILTIN_GROUP_SIZE_Z, 3}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        b = start();
        assert_int_equal(value_of(b, vyre_build_builtin(b, rows[i].which)), rows[i].value);
    }
    /* Lengths go by binding: shared buffers have none. */
    b = start();
    buffer(b, VYRE_BUFFER_IN, "x", VYRE_TYPE_U32);
    shared(b, "s", 9);
    vyre_ref y = buffer(b, VYRE_BUFFER_IN, "y", VYRE_TYPE_U32);
    assert_int_equal(value_of(b, vyre_build_length(b, y)), 2000);
    b = start();
    vyre_ref p = vyre_build_param(b, "p", VYRE_TYPE_U32);
    assert_int_equal(value_of(b, vyre_build_param_value(b, p)), 10);
}

static void test_host_evaluates_operators_with_their_types(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref p = vyre_build_param(b, "p", VYRE_TYPE_U32);
    vyre_ref q = vyre_build_param(b, "q", VYRE_TYPE_I32);  /* -10 */
    vyre_ref r = vyre_build_param(b, "r", VYRE_TYPE_BOOL); /* 77 is true, and 1 as a number */
    vyre_expr is_less = less(b, vyre_build_param_value(b, q), vyre_build_i32(b, 3));
    vyre_expr sum = op2(b, VYRE_OP_ADD, vyre_build_param_value(b, p),
                        vyre_build_cast(b, VYRE_TYPE_U32, vyre_build_param_value(b, r)));
    assert_int_equal(value_of(b, op3(b, VYRE_OP_SELECT, is_less, sum, num(b, 100))), 11);
}

static void test_host_evaluates_indices_of_its_loops(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref i = vyre_build_for_begin(b, "i", num(b, 0), num(b, 4), NO_EXPR);
    vyre_build_for_begin(b, "j", get(b, i), op2(b, VYRE_OP_MUL, get(b, i), num(b, 3)), NO_EXPR);
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    vyre_build_end(b);
    vyre_program *program = finish(b);
    const vy_stmt *outer = &program->stmts.data[program->body];
    vy_range range = program->stmts.data[outer->body].y;
    bool is_host_index[3] = {false};
    uint32_t offender = 0;
    assert_false(vy_host_evaluable(program, range, NULL, &offender));
    assert_int_equal(program->exprs.data[offender].op, VYRE_OP_VARIABLE);
    assert_false(vy_host_evaluable(program, range, is_host_index, NULL));
    is_host_index[outer->result] = true;
    assert_true(vy_host_evaluable(program, range, is_host_index, &offender));
    uint32_t indices[3] = {0}, scratch[8];
    indices[outer->result] = 14;
    const vy_host_env env = {.indices = indices};
    assert_int_equal(vy_host_evaluate(program, range, &env, evaluate, scratch), 42);
    vyre_program_destroy(&program);
}

static void test_host_refuses_what_it_cannot_know(void **state)
{
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        vyre_builder *b = start();
        vyre_ref x = buffer(b, VYRE_BUFFER_IN, "x", VYRE_TYPE_U32);
        vyre_ref s = shared(b, "s", 4);
        vyre_ref t = vyre_build_table(b, "t", VYRE_TYPE_U32, (const uint32_t[]){1}, 1);
        vyre_ref p = vyre_build_param(b, "p", VYRE_TYPE_F32);
        vyre_ref f = vyre_build_function_begin(b, "f", VYRE_TYPE_U32);
        vyre_build_return(b, num(b, 1));
        vyre_build_end(b);
        vyre_expr value = NO_EXPR;
        switch (kind) {
        case 0:
            value = gid(b);
            break;
        case 1:
            value = vyre_build_builtin(b, VYRE_BUILTIN_WID_X);
            break;
        case 2:
            value = vyre_build_builtin(b, VYRE_BUILTIN_PASS);
            break;
        case 3:
            value = vyre_build_load(b, x, num(b, 0));
            break;
        case 4:
            value = vyre_build_load(b, t, num(b, 0));
            break;
        case 5:
            value = vyre_build_length(b, s);
            break;
        case 6:
            value = vyre_build_cast(b, VYRE_TYPE_U32, vyre_build_param_value(b, p));
            break;
        default:
            value = vyre_build_call(b, f, NULL, 0);
            break;
        }
        vyre_build_let(b, "v", VYRE_TYPE_VOID, op2(b, VYRE_OP_ADD, num(b, 1), value));
        vyre_program *program = finish(b);
        const vy_stmt *let = &program->stmts.data[program->body];
        uint32_t offender = 0;
        assert_false(vy_host_evaluable(program, let->x, NULL, &offender));
        assert_true(offender > let->x.begin && offender < let->x.root);
        vyre_program_destroy(&program);
    }
}

static void test_host_takes_an_empty_range(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_program *program = finish(b);
    const vy_host_env env = {0};
    assert_true(vy_host_evaluable(program, (vy_range){0, 0, 0}, NULL, NULL));
    assert_int_equal(vy_host_evaluate(program, (vy_range){0, 0, 0}, &env, evaluate, NULL), 0);
    vyre_program_destroy(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_evaluates_every_source),
        cmocka_unit_test(test_host_evaluates_operators_with_their_types),
        cmocka_unit_test(test_host_evaluates_indices_of_its_loops),
        cmocka_unit_test(test_host_refuses_what_it_cannot_know),
        cmocka_unit_test(test_host_takes_an_empty_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
