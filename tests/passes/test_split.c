/* Cuts, segments, the host's steps, and how values cross. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/passes/form_text.h"
#include "vyre/text.h"

#include <stdio.h>
#include <string.h>

/* The steps as text: segments by number, L0(...) a loop with slot 0, I(...|...) an if. */
static void steps_text(const ssa_case *c, uint32_t step, char *out, size_t size)
{
    for (; step; step = c->split.steps.data[step].next) {
        const vy_step *s = &c->split.steps.data[step];
        size_t at = strlen(out);
        if (s->kind == VY_STEP_SEGMENT) {
            snprintf(out + at, size - at, "%u ", (unsigned)s->segment);
            continue;
        }
        if (s->kind == VY_STEP_LOOP) {
            snprintf(out + at, size - at, "L%u( ", (unsigned)s->slot);
        } else {
            snprintf(out + at, size - at, "I( ");
        }
        steps_text(c, s->body, out, size);
        if (s->kind == VY_STEP_IF) {
            at = strlen(out);
            snprintf(out + at, size - at, "| ");
            steps_text(c, s->other, out, size);
        }
        at = strlen(out);
        snprintf(out + at, size - at, ") ");
    }
}

static void expect_steps(const char *statements, const char *wanted)
{
    ssa_case c;
    char text[200] = "";
    case_init(&c, statements);
    steps_text(&c, c.split.first_step, text, sizeof text);
    assert_string_equal(text, wanted);
    for (uint32_t s = 0; s < c.split.segments.count; s++) {
        case_build(&c, s);
    }
    case_finish(&c);
}

static void test_steps_follow_cuts(void **state)
{
    (void)state;
    expect_steps("", "");
    expect_steps("y[0] = 1", "0 ");
    expect_steps("grid_sync grid_sync", "");
    expect_steps("grid_sync y[0] = 1 grid_sync grid_sync y[0] = 2 grid_sync", "0 1 ");
    /* A scope is no cut; a loop or if around one is bounded by cuts of its own. */
    expect_steps("y[0] = 1 { y[1] = 1 grid_sync y[2] = 1 } y[3] = 1", "0 1 ");
    expect_steps("y[0] = 1 for i in 0 .. k { y[1] = 1 } y[2] = 1", "0 ");
    expect_steps("y[0] = 1 for i in 0 .. k { y[1] = 1 grid_sync } y[2] = 1", "0 L0( 1 ) 2 ");
    expect_steps("for i in 0 .. k { y[1] = 1 grid_sync y[2] = 1 }", "L0( 0 1 ) ");
    expect_steps("for i in 0 .. k { grid_sync }", "");
    expect_steps("for i in 0 .. k { for j in 0 .. i { y[0] = j grid_sync } }", "L0( L1( 0 ) ) ");
    expect_steps("for i in 0 .. k { y[0] = i grid_sync } for j in 0 .. k { grid_sync y[0] = j }",
                 "L0( 0 ) L0( 1 ) ");
    expect_steps("if k > 1 { y[0] = 1 grid_sync y[0] = 2 } else { y[0] = 3 }", "I( 0 1 | 2 ) ");
    expect_steps("if k > 1 { grid_sync } else { y[0] = 3 }", "I( | 0 ) ");
    expect_steps("if k > 1 { grid_sync }", "");
    expect_steps("region \"a\" { if k > 1 { y[0] = 1 { grid_sync } y[0] = 2 } } y[1] = 1",
                 "I( 0 1 | ) 2 ");
}

static void test_segments_are_named_by_their_region(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, "region \"mark\" { y[0] = 1 }\ngrid_sync\ny[0] = 2\ngrid_sync\n"
                  "region \"sweep\" { y[0] = 3 grid_sync y[0] = 4 }");
    assert_int_equal(c.split.segments.count, 4);
    assert_string_equal(c.split.segments.data[0].name, "mark");
    assert_null(c.split.segments.data[1].name);
    assert_string_equal(c.split.segments.data[2].name, "sweep");
    assert_string_equal(c.split.segments.data[3].name, "sweep");
    assert_int_equal(c.split.segments.data[1].loc.line, 23);
    case_finish(&c);
}

static const vy_var_crossing *crossing_of(const ssa_case *c, const char *name)
{
    for (uint32_t v = 1; v < c->program->vars.count; v++) {
        const vy_var *var = &c->program->vars.data[v];
        if (var->function == 0 && strcmp(var->name, name) == 0) {
            return &c->split.vars[v];
        }
    }
    fail_msg("there is no variable %s", name);
    return NULL;
}

/* `v` is declared by the statements and used behind a grid_sync. */
static void expect_crossing(const char *statements, vy_crossing wanted)
{
    ssa_case c;
    char text[2000];
    snprintf(text, sizeof text, "%s\ngrid_sync\ny[gid.x] = v", statements);
    case_init(&c, text);
    const vy_var_crossing *v = crossing_of(&c, "v");
    if (v->crossing != wanted) {
        fail_msg("crossing %d, not %d:\n%s", (int)v->crossing, (int)wanted, statements);
    }
    assert_int_equal(c.split.spill_words, wanted == VY_CROSSING_SPILL ? 1 : 0);
    for (uint32_t s = 0; s < c.split.segments.count; s++) {
        case_build(&c, s);
    }
    case_finish(&c);
}

static void test_values_are_recomputed_only_where_nobody_can_tell(void **state)
{
    (void)state;
    expect_crossing("let v = 7", VY_CROSSING_RECOMPUTE);
    expect_crossing("let v = gid.x * 3 + k + len(y) + pass", VY_CROSSING_RECOMPUTE);
    expect_crossing("let v = x[gid.x] + T[2]", VY_CROSSING_RECOMPUTE);
    expect_crossing("let u = x[gid.x] let v = u + 1", VY_CROSSING_RECOMPUTE);
    expect_crossing("var v = gid.x", VY_CROSSING_RECOMPUTE);
    expect_crossing("if k == 1 { y[0] = 1 } let v = gid.x", VY_CROSSING_RECOMPUTE);
    /* Memory that is written, what is assigned later, what a call gives. */
    expect_crossing("let v = y[gid.x]", VY_CROSSING_SPILL);
    expect_crossing("let u = y[gid.x] let v = u + 1", VY_CROSSING_SPILL);
    expect_crossing("var v = gid.x v = v + 1", VY_CROSSING_SPILL);
    expect_crossing("var v = gid.x if k == 1 { v = 2 }", VY_CROSSING_SPILL);
    expect_crossing("let v = twice(gid.x)", VY_CROSSING_SPILL);
    expect_crossing("let v = atomic_load(y[gid.x])", VY_CROSSING_SPILL);
    expect_crossing("var a : u32[2] let v = a[0]", VY_CROSSING_SPILL);
    /* What may differ between two modules, and what costs too much. */
    expect_crossing("let v = u32(sin(f32(gid.x)))", VY_CROSSING_SPILL);
    expect_crossing("let v = k+k+k+k+k+k+k+k+k+k+k+k+k+k+k+k", VY_CROSSING_RECOMPUTE);
    expect_crossing("let v = k+k+k+k+k+k+k+k+k+k+k+k+k+k+k+k+k", VY_CROSSING_SPILL);
    /* An invocation may leave before the binding, and then has zero. */
    expect_crossing("if gid.x > 5 { return } let v = gid.x", VY_CROSSING_SPILL);
    expect_crossing("for i in 0 .. k { if x[i] == 1 { return } } let v = gid.x", VY_CROSSING_SPILL);
    expect_crossing("let v = gid.x if v > 5 { return }", VY_CROSSING_RECOMPUTE);
    expect_crossing("if gid.x > 5 { return } grid_sync let v = gid.x", VY_CROSSING_RECOMPUTE);
    /* A return of a function is none of the kernel. */
    expect_crossing("let u = early(3) let v = gid.x", VY_CROSSING_RECOMPUTE);
}

static void test_host_indices_are_pushed(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, "for h in 0 .. k {\n let v = h * 2\n y[0] = v\n grid_sync\n y[1] = v\n}");
    assert_int_equal(crossing_of(&c, "h")->crossing, VY_CROSSING_HOST);
    assert_int_equal(crossing_of(&c, "h")->slot, 0);
    assert_int_equal(crossing_of(&c, "v")->crossing, VY_CROSSING_RECOMPUTE);
    case_build(&c, 1);
    assert_int_equal(case_count(&c, VY_SSA_HOST_INDEX), 1);
    case_finish(&c);
}

static void test_variables_of_one_segment_do_not_cross(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, "let a = y[0]\ny[1] = a\ngrid_sync\nfor i in 0 .. 3 { var z = i y[i] = z }");
    assert_int_equal(crossing_of(&c, "a")->crossing, VY_CROSSING_NONE);
    assert_int_equal(crossing_of(&c, "z")->crossing, VY_CROSSING_NONE);
    assert_int_equal(crossing_of(&c, "i")->crossing, VY_CROSSING_NONE);
    assert_int_equal(c.split.spill_words, 0);
    case_finish(&c);
}

static bool lists(const ssa_case *c, uint32_t first, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t var = c->split.var_lists.data[first + i];
        if (strcmp(c->program->vars.data[var].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* What is only partly overwritten before a way out must be known at the start. */
static void test_lists_hold_what_is_read_or_assigned(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, "var s = y[0]\nvar t = y[1]\nlet u = y[2]\ngrid_sync\n"
                  "if k > 2 { s = 4 }\ngrid_sync\ny[0] = s + t\ngrid_sync\ny[1] = u");
    const vy_segment *segments = c.split.segments.data;
    assert_int_equal(segments[0].in_count, 0);
    assert_int_equal(segments[0].out_count, 3);
    assert_int_equal(segments[1].in_count, 1);
    assert_int_equal(segments[1].out_count, 1);
    assert_true(lists(&c, segments[1].first_in, 1, "s"));
    assert_true(lists(&c, segments[1].first_out, 1, "s"));
    assert_int_equal(segments[2].in_count, 2);
    assert_int_equal(segments[2].out_count, 0);
    assert_int_equal(segments[3].in_count, 1);
    assert_true(lists(&c, segments[3].first_in, 1, "u"));
    assert_int_equal(c.split.spill_words, 3);
    case_finish(&c);
}

/* A recomputed value brings what it is computed from, although nothing else mentions that. */
static void test_recomputed_values_bring_their_operands(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, "let a = gid.x + 1\nlet b2 = a * 2\nlet v = b2 + a\ngrid_sync\ny[0] = v");
    const vy_segment *segment = &c.split.segments.data[1];
    assert_int_equal(segment->in_count, 3);
    for (uint32_t i = 1; i < 3; i++) {
        assert_true(c.split.var_lists.data[segment->first_in + i - 1] <
                    c.split.var_lists.data[segment->first_in + i]);
    }
    case_build(&c, 1);
    assert_int_equal(case_count(&c, VYRE_OP_MUL), 1);
    assert_int_equal(case_count(&c, VY_SSA_SPILL_LOAD), 0);
    case_finish(&c);
}

static void test_arrays_cross_whole_up_to_256_bytes(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, "var a : u32[64]\na[0] = 1\ngrid_sync\ny[0] = a[k]");
    assert_int_equal(crossing_of(&c, "a")->crossing, VY_CROSSING_SPILL);
    assert_int_equal(crossing_of(&c, "a")->words, 64);
    assert_int_equal(c.split.spill_words, 64);
    case_build(&c, 0);
    assert_int_equal(case_count(&c, VY_SSA_SPILL_STORE), 64);
    case_build(&c, 1);
    assert_int_equal(case_count(&c, VY_SSA_SPILL_LOAD), 64);
    /* The same program with one element more, past the validator: refused here too. */
    for (uint32_t v = 1; v < c.program->vars.count; v++) {
        if (c.program->vars.data[v].kind == VY_VAR_ARRAY) {
            c.program->vars.data[v].array_count = 65;
        }
    }
    vy_split split;
    vyre_diag diag;
    assert_int_equal(vy_split_program(c.program, VY_PRINTS_DROPPED, &c.arena, &split, &diag),
                     VYRE_ERROR_INVALID_PROGRAM);
    assert_non_null(strstr(diag.message, "260 bytes"));
    assert_int_equal(diag.line, 21);
    case_finish(&c);
}

/* Facts of loops: which variables they assign, each once, those of loops within included. */
static void test_loops_know_what_they_assign(void **state)
{
    (void)state;
    ssa_case c;
    case_init(&c, "var s = 0 var t = 0\nfor i in 0 .. k {\n s = s + 1\n"
                  " while t < 3 { t = t + 1 s = s + t var z = 1 z = 2 y[0] = z }\n}\ny[0] = s + t");
    uint32_t found = 0;
    for (uint32_t i = 1; i < c.program->stmts.count; i++) {
        const vy_stmt *stmt = &c.program->stmts.data[i];
        found += stmt->kind == VY_STMT_WHILE || (stmt->kind == VY_STMT_FOR && stmt->loc.line == 22);
        if (stmt->kind == VY_STMT_WHILE) {
            assert_int_equal(c.split.facts[i].assigned_count, 3); /* t s z */
            assert_true(c.split.facts[i].draws_budget);
        } else if (stmt->kind == VY_STMT_FOR && stmt->loc.line == 22) {
            assert_int_equal(c.split.facts[i].assigned_count, 3);
            assert_true(c.split.facts[i].draws_budget);
            assert_false(c.split.facts[i].has_barrier);
        }
    }
    assert_int_equal(found, 2);
    case_finish(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_follow_cuts),
        cmocka_unit_test(test_segments_are_named_by_their_region),
        cmocka_unit_test(test_values_are_recomputed_only_where_nobody_can_tell),
        cmocka_unit_test(test_host_indices_are_pushed),
        cmocka_unit_test(test_variables_of_one_segment_do_not_cross),
        cmocka_unit_test(test_lists_hold_what_is_read_or_assigned),
        cmocka_unit_test(test_recomputed_values_bring_their_operands),
        cmocka_unit_test(test_arrays_cross_whole_up_to_256_bytes),
        cmocka_unit_test(test_loops_know_what_they_assign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
