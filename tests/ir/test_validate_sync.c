/* The validator's rules about grid_sync, and what programs answer about what they contain. */
#include "tests/ir/build.h"

/* ---- grid_sync ------------------------------------------------------------------------------- */

static void test_validate_grid_sync_in_host_evaluated_control(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref x = buffer(b, VYRE_BUFFER_IN, "x", VYRE_TYPE_U32);
    vyre_ref n = vyre_build_param(b, "n", VYRE_TYPE_I32);
    vyre_build_region_begin(b, "all of it");
    vyre_build_block_begin(b);
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    vyre_ref i = vyre_build_for_begin(b, "i", num(b, 0), vyre_build_length(b, x), NO_EXPR);
    vyre_build_for_down_begin(b, "j", get(b, i), vyre_build_length(b, x),
                              vyre_build_builtin(b, VYRE_BUILTIN_NUM_GROUPS_X));
    vyre_build_if_begin(b, less(b, vyre_build_param_value(b, n), num(b, 3)));
    vyre_build_grid_sync(b);
    vyre_build_else(b);
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    vyre_build_end(b);
    vyre_build_end(b);
    vyre_build_end(b);
    finish_ok(b);
}

static void test_validate_grid_sync_is_refused_with_its_path(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_builder_at(b, 4, 1);
    vyre_build_for_begin(b, "i", num(b, 0), num(b, 3), NO_EXPR);
    vyre_builder_at(b, 5, 1);
    vyre_build_if_begin(b, less(b, gid(b), num(b, 3)));
    vyre_build_else(b);
    vyre_builder_at(b, 6, 9);
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    vyre_build_end(b);
    finish_error(b, 6,
                 "kernel > for i (line 4) > else (line 5), and the host cannot evaluate the "
                 "condition of the `if` before a dispatch: `gid.x`");
    b = start();
    vyre_builder_at(b, 4, 1);
    vyre_build_while_begin(b, vyre_build_bool(b, 0));
    vyre_builder_at(b, 5, 1);
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    finish_error(b, 5, "kernel > while (line 4), inside a `while`");
    b = start();
    vyre_build_switch_begin(b, num(b, 0));
    vyre_build_case_begin(b, NULL, 0);
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    vyre_build_end(b);
    finish_error(b, 0, "kernel > switch > case, inside a `switch`");
    b = start();
    vyre_ref n = vyre_build_let(b, "n", VYRE_TYPE_VOID, num(b, 4));
    vyre_build_for_begin(b, "i", num(b, 0), get(b, n), NO_EXPR);
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    finish_error(b, 0, "cannot evaluate the range of the `for` before a dispatch: `n`");
    /* The index of an inner loop without a grid_sync is none of the host's. */
    b = start();
    vyre_ref i = vyre_build_for_begin(b, "i", num(b, 0), num(b, 2), NO_EXPR);
    vyre_build_if_begin(b, less(b, get(b, i), num(b, 1)));
    vyre_build_grid_sync(b);
    vyre_build_end(b);
    vyre_build_end(b);
    finish_ok(b);
}

static void test_validate_grid_sync_nests_in_few_loops(void **state)
{
    (void)state;
    for (uint32_t loops = VYRE_MAX_HOST_LOOPS; loops <= VYRE_MAX_HOST_LOOPS + 1; loops++) {
        vyre_builder *b = start();
        char name[16];
        for (uint32_t i = 0; i < loops; i++) {
            snprintf(name, sizeof name, "loop%u", i);
            vyre_build_for_begin(b, name, num(b, 0), num(b, 2), NO_EXPR);
        }
        vyre_builder_at(b, 20, 1);
        vyre_build_grid_sync(b);
        for (uint32_t i = 0; i < loops; i++) {
            vyre_build_end(b);
        }
        if (loops == VYRE_MAX_HOST_LOOPS) {
            finish_ok(b);
        } else {
            finish_error(b, 20, "within more than 8 loops");
        }
    }
}

static void test_validate_jumps_do_not_leave_loops_with_grid_sync(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        vyre_builder *b = start();
        vyre_builder_at(b, 4, 2);
        vyre_build_for_begin(b, "i", num(b, 0), num(b, 3), NO_EXPR);
        vyre_build_grid_sync(b);
        if (kind == 2) {
            vyre_build_for_begin(b, "j", num(b, 0), num(b, 3), NO_EXPR);
        }
        vyre_build_if_begin(b, less(b, gid(b), num(b, 3)));
        vyre_builder_at(b, 6, 2);
        if (kind == 1) {
            vyre_build_continue(b);
        } else {
            vyre_build_break(b);
        }
        for (int i = 0; i < (kind == 2 ? 3 : 2); i++) {
            vyre_build_end(b);
        }
        if (kind == 2) {
            finish_ok(b);
        } else {
            finish_error(b, 6,
                         kind ? "`continue` acts on the `for` at 4:2, which holds a grid_sync"
                              : "`break` acts on the `for` at 4:2, which holds a grid_sync");
        }
    }
}

/* kind 0: used before the cut only; 1: after it; 2: within a loop with a cut; 3: declared there. */
static vyre_builder *build_crossing(uint32_t count, int kind)
{
    vyre_builder *b = start();
    vyre_ref a = {0};
    if (kind != 3) {
        a = vyre_build_array(b, "a", VYRE_TYPE_U32, count);
    }
    if (kind >= 2) {
        vyre_build_for_begin(b, "i", num(b, 0), num(b, 3), NO_EXPR);
    }
    if (kind == 3) {
        a = vyre_build_array(b, "a", VYRE_TYPE_U32, count);
    }
    vyre_builder_at(b, 5, 5);
    if (kind != 1) {
        vyre_build_store(b, a, num(b, 0), num(b, 1));
    }
    vyre_build_grid_sync(b);
    if (kind == 1) {
        vyre_build_let(b, "v", VYRE_TYPE_VOID, vyre_build_load(b, a, num(b, 0)));
    }
    if (kind >= 2) {
        vyre_build_end(b);
    }
    return b;
}

static void test_validate_arrays_across_grid_sync_are_small(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        finish_ok(build_crossing(64, kind));
        if (kind == 1 || kind == 2) {
            finish_error(build_crossing(65, kind), 5,
                         "the array `a` of 65 elements lives across a grid_sync");
        } else {
            finish_ok(build_crossing(65, kind));
        }
    }
}

/* ---- Other questions ------------------------------------------------------------------------- */

static void test_program_answers_what_a_list_contains(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref f = vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    vyre_build_block_begin(b);
    vyre_build_barrier(b);
    vyre_build_end(b);
    vyre_build_end(b);
    vyre_ref g = vyre_build_function_begin(b, "g", VYRE_TYPE_VOID);
    vyre_build_call_statement(b, NULL, f, NULL, 0);
    vyre_build_end(b);
    vyre_build_block_begin(b);
    vyre_build_call_statement(b, NULL, g, NULL, 0);
    vyre_build_end(b);
    vyre_build_trap(b, 1);
    vyre_program *program = finish(b);
    assert_true(vy_list_contains(program, program->body, VY_STMT_BARRIER));
    assert_true(vy_list_contains(program, program->body, VY_STMT_TRAP));
    assert_false(vy_list_contains(program, program->stmts.data[program->body].body, VY_STMT_TRAP));
    assert_false(vy_list_contains(program, program->body, VY_STMT_GRID_SYNC));
    assert_false(vy_list_contains(program, 0, VY_STMT_BARRIER));
    vyre_program_destroy(&program);
}

static void test_program_tells_workgroup_agnostic_ones(void **state)
{
    (void)state;
    const char *use = "x";
    vyre_builder *b = start();
    vyre_ref out = buffer(b, VYRE_BUFFER_OUT, "o", VYRE_TYPE_U32);
    vyre_build_store(b, out, gid(b), vyre_build_builtin(b, VYRE_BUILTIN_PASS));
    vyre_program *program = finish(b);
    assert_true(vy_program_is_workgroup_agnostic(program, &use));
    assert_null(use);
    assert_true(vy_program_is_workgroup_agnostic(program, NULL));
    vyre_program_destroy(&program);
    static const struct {
        int kind;
        const char *use;
    } rows[] = {{VYRE_BUILTIN_LID_Y, "lid.y"},
                {VYRE_BUILTIN_WID_X, "wid.x"},
                {VYRE_BUILTIN_GROUP_SIZE_Z, "group_size.z"},
                {VYRE_BUILTIN_NUM_GROUPS_X, "num_groups.x"},
                {-1, "barrier"},
                {-2, "shared memory"}};
    for (size_t i = 0; i < VY_COUNT_OF(rows); i++) {
        b = start();
        if (rows[i].kind >= 0) {
            vyre_build_let(b, "v", VYRE_TYPE_VOID,
                           vyre_build_builtin(b, (vyre_builtin)rows[i].kind));
        } else if (rows[i].kind == -1) {
            vyre_build_barrier(b);
        } else {
            shared(b, "s", 1);
        }
        program = finish(b);
        assert_false(vy_program_is_workgroup_agnostic(program, &use));
        assert_string_equal(use, rows[i].use);
        vyre_program_destroy(&program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_validate_grid_sync_in_host_evaluated_control),
        cmocka_unit_test(test_validate_grid_sync_is_refused_with_its_path),
        cmocka_unit_test(test_validate_grid_sync_nests_in_few_loops),
        cmocka_unit_test(test_validate_jumps_do_not_leave_loops_with_grid_sync),
        cmocka_unit_test(test_validate_arrays_across_grid_sync_are_small),
        cmocka_unit_test(test_program_answers_what_a_list_contains),
        cmocka_unit_test(test_program_tells_workgroup_agnostic_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
