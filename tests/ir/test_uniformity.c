/* Barriers and uniform loads in control flow that is uniform over a workgroup, and what is not. */
#include "tests/ir/build.h"

/* Line of the barrier in all programs here, and of the condition that differs. */
#define BARRIER_LINE   50
#define CONDITION_LINE 10

static void barrier(vyre_builder *b)
{
    vyre_builder_at(b, BARRIER_LINE, 1);
    vyre_build_barrier(b);
}

static vyre_expr builtin(vyre_builder *b, vyre_builtin which)
{
    return vyre_build_builtin(b, which);
}

/* A condition on line CONDITION_LINE. */
static vyre_expr below(vyre_builder *b, vyre_expr value)
{
    vyre_builder_at(b, CONDITION_LINE, 4);
    return less(b, value, num(b, 3));
}

static void under_if(vyre_builder *b, vyre_expr condition)
{
    vyre_builder_at(b, CONDITION_LINE, 1);
    vyre_build_if_begin(b, condition);
    barrier(b);
    vyre_build_end(b);
}

static void refused(vyre_builder *b, const char *part)
{
    finish_error(b, BARRIER_LINE, part);
}

static void test_uniformity_of_sources(void **state)
{
    (void)state;
    for (int which = 0; which < VYRE_BUILTIN_COUNT; which++) {
        vyre_builder *b = start();
        under_if(b, below(b, builtin(b, (vyre_builtin)which)));
        if (which <= VYRE_BUILTIN_LID_Z || which == VYRE_BUILTIN_LANE) {
            char part[64];
            snprintf(part, sizeof part, "differs between invocations (`%s`)",
                     vy_builtin_text((vyre_builtin)which));
            refused(b, part);
        } else {
            finish_ok(b);
        }
    }
    vyre_builder *b = start();
    under_if(b, below(b, vyre_build_param_value(b, vyre_build_param(b, "p", VYRE_TYPE_U32))));
    finish_ok(b);
    b = start();
    vyre_ref x = buffer(b, VYRE_BUFFER_INOUT, "x", VYRE_TYPE_U32);
    under_if(b, below(b, vyre_build_length(b, x)));
    finish_ok(b);
    b = start();
    vyre_ref a = vyre_build_array(b, "a", VYRE_TYPE_U32, 4);
    under_if(b, below(b, vyre_build_load(b, a, num(b, 0))));
    refused(b, "(`a`)");
}

static void test_uniformity_of_loads(void **state)
{
    (void)state;
    for (int mode = 0; mode < VYRE_BUFFER_MODE_COUNT; mode++) {
        for (int same_index = 0; same_index < 2; same_index++) {
            vyre_builder *b = start();
            vyre_ref x =
                vyre_build_buffer(b, (vyre_buffer_mode)mode, "x", VYRE_TYPE_U32, num(b, 4));
            vyre_builtin index = same_index ? VYRE_BUILTIN_WID_X : VYRE_BUILTIN_LID_X;
            under_if(b, below(b, vyre_build_load(b, x, builtin(b, index))));
            bool is_constant = mode == VYRE_BUFFER_IN || mode == VYRE_BUFFER_UNIFORM;
            if (is_constant && same_index) {
                finish_ok(b);
            } else {
                refused(b, same_index ? "(`x`)" : "(`lid.x`)");
            }
        }
    }
    for (int same_index = 0; same_index < 2; same_index++) {
        vyre_builder *b = start();
        vyre_ref t = vyre_build_table(b, "t", VYRE_TYPE_U32, (const uint32_t[]){1, 2}, 2);
        under_if(b, below(b, vyre_build_load(b, t,
                                             same_index ? builtin(b, VYRE_BUILTIN_PASS) : gid(b))));
        if (same_index) {
            finish_ok(b);
        } else {
            refused(b, "(`gid.x`)");
        }
    }
}

static void test_uniformity_errors_name_both_places(void **state)
{
    (void)state;
    vyre_builder *b = start();
    under_if(b, below(b, gid(b)));
    refused(b, "a barrier must be reached by the whole workgroup or not at all, but it stands in "
               "the `if` at 10:1, whose condition differs between invocations (`gid.x`)");
}

static void test_uniformity_of_variables(void **state)
{
    (void)state;
    /* kind 0: uniform throughout; 1: assigned a differing value; 2: assigned in differing control.
     */
    for (int kind = 0; kind < 3; kind++) {
        vyre_builder *b = start();
        vyre_ref v = vyre_build_var(b, "v", VYRE_TYPE_VOID, num(b, 0));
        if (kind == 2) {
            vyre_build_if_begin(b, less(b, gid(b), num(b, 9)));
        }
        if (kind == 1) {
            vyre_build_assign(b, v, gid(b));
        } else {
            vyre_build_assign(b, v, num(b, 1));
        }
        if (kind == 2) {
            vyre_build_end(b);
        }
        vyre_ref w = vyre_build_let(b, "w", VYRE_TYPE_VOID, get(b, v));
        under_if(b, below(b, get(b, w)));
        if (kind == 0) {
            finish_ok(b);
        } else {
            refused(b, "(`w`)");
        }
    }
    /* What one trip assigns is read by the next: three variables hand it on. */
    vyre_builder *b = start();
    vyre_ref x = vyre_build_var(b, "x", VYRE_TYPE_VOID, num(b, 0));
    vyre_ref y = vyre_build_var(b, "y", VYRE_TYPE_VOID, num(b, 0));
    vyre_ref z = vyre_build_var(b, "z", VYRE_TYPE_VOID, num(b, 0));
    vyre_build_for_begin(b, "i", num(b, 0), num(b, 5), NO_EXPR);
    under_if(b, below(b, get(b, x)));
    vyre_build_assign(b, x, get(b, y));
    vyre_build_assign(b, y, get(b, z));
    vyre_build_assign(b, z, gid(b));
    vyre_build_end(b);
    refused(b, "(`x`)");
}

static void test_uniformity_of_long_chains_is_decided(void **state)
{
    (void)state;
    for (int differs = 0; differs < 2; differs++) {
        vyre_builder *b = start();
        vyre_ref vars[200];
        char name[16];
        for (int i = 0; i < 200; i++) {
            snprintf(name, sizeof name, "v%d", i);
            vars[i] = vyre_build_var(b, name, VYRE_TYPE_VOID, num(b, 0));
        }
        vyre_build_for_begin(b, "i", num(b, 0), num(b, 5), NO_EXPR);
        under_if(b, below(b, get(b, vars[0])));
        for (int i = 0; i + 1 < 200; i++) {
            vyre_build_assign(b, vars[i], get(b, vars[i + 1]));
        }
        vyre_build_assign(b, vars[199], differs ? gid(b) : builtin(b, VYRE_BUILTIN_PASS));
        vyre_build_end(b);
        if (differs) {
            refused(b, "(`v0`)");
        } else {
            finish_ok(b);
        }
    }
}

static void test_uniformity_of_results(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref s = shared(b, "s", 4);
    vyre_ref n = vyre_build_uniform_load(b, "n", s, num(b, 0));
    under_if(b, below(b, get(b, n)));
    vyre_build_while_begin(b, less(b, get(b, n), num(b, 1)));
    barrier(b);
    vyre_build_end(b);
    finish_ok(b);
    b = start();
    s = shared(b, "s", 4);
    vyre_ref old = vyre_build_atomic(b, VYRE_ATOMIC_ADD, VYRE_ORDER_RELAXED, "old", s, num(b, 0),
                                     num(b, 1), NO_EXPR);
    under_if(b, below(b, get(b, old)));
    refused(b, "(`old`)");
}

static void test_uniformity_of_uniform_loads(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref s = shared(b, "s", 4);
    vyre_build_if_begin(b, below(b, gid(b)));
    vyre_builder_at(b, BARRIER_LINE, 1);
    vyre_build_uniform_load(b, "n", s, num(b, 0));
    vyre_build_end(b);
    refused(b, "a uniform load must be reached by the whole workgroup");
    b = start();
    s = shared(b, "s", 4);
    vyre_builder_at(b, BARRIER_LINE, 1);
    vyre_build_uniform_load(b, "n", s, gid(b));
    refused(b, "the index of the uniform load of `s` differs");
    b = start();
    vyre_ref x = buffer(b, VYRE_BUFFER_INOUT, "x", VYRE_TYPE_U32);
    vyre_builder_at(b, BARRIER_LINE, 1);
    vyre_build_uniform_load(b, "n", x, num(b, 0));
    refused(b, "which other workgroups may write meanwhile");
}

/* ---- Loops and jumps ------------------------------------------------------------------------- */

static void test_uniformity_of_loops(void **state)
{
    (void)state;
    for (int differs = 0; differs < 2; differs++) {
        for (int kind = 0; kind < 3; kind++) {
            vyre_builder *b = start();
            vyre_builder_at(b, CONDITION_LINE, 1);
            vyre_expr bound = differs ? gid(b) : builtin(b, VYRE_BUILTIN_PASS);
            if (kind == 0) {
                vyre_build_while_begin(b, less(b, bound, num(b, 3)));
            } else if (kind == 1) {
                vyre_build_for_begin(b, "i", num(b, 0), bound, NO_EXPR);
            } else {
                vyre_build_switch_begin(b, bound);
                vyre_build_case_begin(b, NULL, 0);
            }
            barrier(b);
            vyre_build_end(b);
            if (kind == 2) {
                vyre_build_end(b);
            }
            if (differs) {
                refused(b, "(`gid.x`)");
            } else {
                finish_ok(b);
            }
        }
    }
    /* The index of a loop with uniform bounds is uniform; after a loop all are together again. */
    vyre_builder *b = start();
    vyre_ref i = vyre_build_for_begin(b, "i", num(b, 0), num(b, 9), NO_EXPR);
    under_if(b, below(b, get(b, i)));
    vyre_build_end(b);
    vyre_build_for_begin(b, "j", num(b, 0), gid(b), NO_EXPR);
    vyre_build_end(b);
    barrier(b);
    finish_ok(b);
}

/* A loop: [barrier] if gid < 3 { jump } [barrier]; then [barrier]. */
static vyre_builder *build_jump(int where, int is_continue, int differs)
{
    vyre_builder *b = start();
    vyre_build_for_begin(b, "i", num(b, 0), num(b, 9), NO_EXPR);
    if (where == 0) {
        barrier(b);
    }
    vyre_builder_at(b, CONDITION_LINE, 1);
    vyre_build_if_begin(b, less(b, differs ? gid(b) : builtin(b, VYRE_BUILTIN_PASS), num(b, 3)));
    vyre_builder_at(b, CONDITION_LINE + 1, 1);
    if (is_continue) {
        vyre_build_continue(b);
    } else {
        vyre_build_break(b);
    }
    vyre_build_end(b);
    if (where == 1) {
        barrier(b);
    }
    vyre_build_end(b);
    if (where == 2) {
        barrier(b);
    }
    return b;
}

static void test_uniformity_after_jumps(void **state)
{
    (void)state;
    for (int where = 0; where < 3; where++) {
        finish_ok(build_jump(where, 0, 0));
        finish_ok(build_jump(where, 1, 0));
    }
    refused(build_jump(0, 0, 1), "in a loop with the `break` at 11:1 under the `if` at 10:1");
    refused(build_jump(1, 0, 1), "in a loop with the `break` at 11:1");
    finish_ok(build_jump(2, 0, 1));
    finish_ok(build_jump(0, 1, 1));
    refused(build_jump(1, 1, 1), "after the `continue` at 11:1 under the `if` at 10:1");
    finish_ok(build_jump(2, 1, 1));
}

static void test_uniformity_of_counters_in_loops_left_early(void **state)
{
    (void)state;
    vyre_builder *b = start();
    vyre_ref count = vyre_build_var(b, "count", VYRE_TYPE_VOID, num(b, 0));
    vyre_build_for_begin(b, "i", num(b, 0), num(b, 9), NO_EXPR);
    vyre_build_assign(b, count, op2(b, VYRE_OP_ADD, get(b, count), num(b, 1)));
    vyre_build_if_begin(b, less(b, gid(b), num(b, 3)));
    vyre_build_break(b);
    vyre_build_end(b);
    vyre_build_end(b);
    under_if(b, below(b, get(b, count)));
    refused(b, "(`count`)");
}

static vyre_builder *build_early_return(int differs)
{
    vyre_builder *b = start();
    vyre_builder_at(b, CONDITION_LINE, 1);
    vyre_build_if_begin(b, less(b, differs ? gid(b) : builtin(b, VYRE_BUILTIN_PASS), num(b, 3)));
    vyre_builder_at(b, CONDITION_LINE + 1, 1);
    vyre_build_return(b, NO_EXPR);
    vyre_build_end(b);
    return b;
}

static void test_uniformity_after_return(void **state)
{
    (void)state;
    vyre_builder *b = build_early_return(0);
    barrier(b);
    finish_ok(b);
    b = build_early_return(1);
    barrier(b);
    refused(b, "after the `return` at 11:1 under the `if` at 10:1");
    b = build_early_return(1);
    vyre_build_block_begin(b);
    barrier(b);
    vyre_build_end(b);
    refused(b, "after the `return` at 11:1");
    /* A barrier before it is reached by all. */
    b = start();
    barrier(b);
    vyre_build_if_begin(b, less(b, gid(b), num(b, 3)));
    vyre_build_return(b, NO_EXPR);
    vyre_build_end(b);
    finish_ok(b);
    /* In a loop, what stands before it is after it on the next trip. */
    b = start();
    vyre_build_for_begin(b, "i", num(b, 0), num(b, 9), NO_EXPR);
    barrier(b);
    vyre_build_if_begin(b, less(b, gid(b), num(b, 3)));
    vyre_build_return(b, NO_EXPR);
    vyre_build_end(b);
    vyre_build_end(b);
    refused(b, "after the `return`");
    /* A branch taken by whole workgroups does not touch the other one. */
    b = start();
    vyre_build_if_begin(b, less(b, builtin(b, VYRE_BUILTIN_WID_X), num(b, 3)));
    vyre_build_if_begin(b, less(b, gid(b), num(b, 3)));
    vyre_build_return(b, NO_EXPR);
    vyre_build_end(b);
    vyre_build_else(b);
    barrier(b);
    vyre_build_end(b);
    finish_ok(b);
}

static void test_uniformity_is_restored_by_cuts(void **state)
{
    (void)state;
    vyre_builder *b = build_early_return(1);
    vyre_build_grid_sync(b);
    barrier(b);
    finish_ok(b);
    /* The cuts of a loop with a grid_sync: before it, at the end of each trip, after it. */
    b = build_early_return(1);
    vyre_build_for_begin(b, "i", num(b, 0), num(b, 3), NO_EXPR);
    barrier(b);
    vyre_build_grid_sync(b);
    vyre_build_if_begin(b, less(b, gid(b), num(b, 3)));
    vyre_build_return(b, NO_EXPR);
    vyre_build_end(b);
    vyre_build_end(b);
    barrier(b);
    finish_ok(b);
    /* What those who returned did not bind is zero for them. */
    b = build_early_return(1);
    vyre_ref v = vyre_build_let(b, "v", VYRE_TYPE_VOID, num(b, 5));
    vyre_build_grid_sync(b);
    under_if(b, below(b, get(b, v)));
    refused(b, "(`v`)");
}

static void test_uniformity_of_loop_budgets(void **state)
{
    (void)state;
    for (int differs = 0; differs < 2; differs++) {
        vyre_builder *b = start();
        /* One loop uses the budget up at different places, so that the other may end early. */
        vyre_builder_at(b, CONDITION_LINE, 1);
        vyre_build_while_begin(
            b, less(b, differs ? gid(b) : builtin(b, VYRE_BUILTIN_PASS), num(b, 3)));
        vyre_build_end(b);
        vyre_ref n = vyre_build_var(b, "n", VYRE_TYPE_VOID, num(b, 0));
        vyre_builder_at(b, CONDITION_LINE + 5, 1);
        vyre_build_while_begin(b, less(b, get(b, n), num(b, 9)));
        vyre_build_assign(b, n, op2(b, VYRE_OP_ADD, get(b, n), num(b, 1)));
        vyre_build_end(b);
        under_if(b, below(b, get(b, n)));
        if (differs) {
            refused(b, "(`n`)");
        } else {
            finish_ok(b);
        }
    }
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* fn f(x) { if x < 3 { barrier } }, called with a uniform or a differing argument. */
static vyre_builder *build_call(int differs, int under_control)
{
    vyre_builder *b = start();
    vyre_ref f = vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    vyre_ref x = vyre_build_function_parameter(b, "x", VYRE_TYPE_U32);
    under_if(b, below(b, get(b, x)));
    vyre_build_end(b);
    vyre_expr argument = num(b, 1);
    vyre_build_call_statement(b, NULL, f, &argument, 1);
    if (under_control) {
        vyre_builder_at(b, CONDITION_LINE + 1, 1);
        vyre_build_if_begin(b, less(b, gid(b), num(b, 7)));
    }
    vyre_builder_at(b, 30, 5);
    argument = differs ? gid(b) : num(b, 2);
    vyre_build_call_statement(b, NULL, f, &argument, 1);
    if (under_control) {
        vyre_build_end(b);
    }
    return b;
}

static void test_uniformity_is_decided_for_each_call(void **state)
{
    (void)state;
    finish_ok(build_call(0, 0));
    refused(build_call(1, 0), "(`x`); called at 30:5");
    refused(build_call(0, 1), "the `if` at 11:1");
    /* Values: the same function gives a uniform and a differing one. */
    for (int differs = 0; differs < 2; differs++) {
        vyre_builder *b = start();
        vyre_ref f = vyre_build_function_begin(b, "f", VYRE_TYPE_U32);
        vyre_ref x = vyre_build_function_parameter(b, "x", VYRE_TYPE_U32);
        vyre_build_if_begin(b, less(b, get(b, x), num(b, 5)));
        vyre_build_return(b, num(b, 1));
        vyre_build_end(b);
        vyre_build_return(b, num(b, 2));
        vyre_build_end(b);
        vyre_expr other = gid(b);
        vyre_build_let(b, "other", VYRE_TYPE_VOID, vyre_build_call(b, f, &other, 1));
        vyre_expr argument = differs ? gid(b) : num(b, 2);
        under_if(b, below(b, vyre_build_call(b, f, &argument, 1)));
        if (differs) {
            refused(b, "differs between invocations");
        } else {
            finish_ok(b);
        }
    }
    /* A return leaves the function only: all are together behind the call. */
    vyre_builder *b = start();
    vyre_ref f = vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    vyre_build_if_begin(b, less(b, gid(b), num(b, 5)));
    vyre_build_return(b, NO_EXPR);
    vyre_build_end(b);
    vyre_build_end(b);
    vyre_build_call_statement(b, NULL, f, NULL, 0);
    barrier(b);
    finish_ok(b);
    b = start();
    vyre_build_function_begin(b, "f", VYRE_TYPE_VOID);
    under_if(b, below(b, gid(b)));
    vyre_build_end(b);
    finish_ok(b); /* never called */
}

static void test_uniformity_of_many_contexts_is_decided(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        vyre_builder *b = start();
        vyre_ref f = vyre_build_function_begin(b, "f", VYRE_TYPE_U32);
        vyre_ref parameters[8];
        char name[16];
        for (int i = 0; i < 8; i++) {
            snprintf(name, sizeof name, "p%d", i);
            parameters[i] = vyre_build_function_parameter(b, name, VYRE_TYPE_U32);
        }
        vyre_build_return(b, get(b, parameters[0]));
        vyre_build_end(b);
        for (int mask = 0; mask < 256; mask += 2) {
            vyre_expr arguments[8];
            for (int i = 0; i < 8; i++) {
                arguments[i] = mask >> i & 1 ? gid(b) : num(b, 1);
            }
            snprintf(name, sizeof name, "v%d", mask);
            vyre_build_let(b, name, VYRE_TYPE_VOID, vyre_build_call(b, f, arguments, 8));
        }
        vyre_expr arguments[8];
        for (int i = 0; i < 8; i++) {
            arguments[i] = wrong && i == 0 ? gid(b) : num(b, 1);
        }
        vyre_ref last =
            vyre_build_let(b, "last", VYRE_TYPE_VOID, vyre_build_call(b, f, arguments, 8));
        under_if(b, below(b, get(b, last)));
        if (wrong) {
            refused(b, "(`last`)");
        } else {
            finish_ok(b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniformity_of_sources),
        cmocka_unit_test(test_uniformity_of_loads),
        cmocka_unit_test(test_uniformity_errors_name_both_places),
        cmocka_unit_test(test_uniformity_of_variables),
        cmocka_unit_test(test_uniformity_of_long_chains_is_decided),
        cmocka_unit_test(test_uniformity_of_results),
        cmocka_unit_test(test_uniformity_of_uniform_loads),
        cmocka_unit_test(test_uniformity_of_loops),
        cmocka_unit_test(test_uniformity_after_jumps),
        cmocka_unit_test(test_uniformity_of_counters_in_loops_left_early),
        cmocka_unit_test(test_uniformity_after_return),
        cmocka_unit_test(test_uniformity_is_restored_by_cuts),
        cmocka_unit_test(test_uniformity_of_loop_budgets),
        cmocka_unit_test(test_uniformity_is_decided_for_each_call),
        cmocka_unit_test(test_uniformity_of_many_contexts_is_decided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
