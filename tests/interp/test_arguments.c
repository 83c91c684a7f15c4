/* What vyre_interp_run refuses, the shapes of grids, the race check, and failing memory. */
#include "tests/interp/case.h"

#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHECK(got, ...)                                                                            \
    do {                                                                                           \
        const uint32_t expected[] = {__VA_ARGS__};                                                 \
        interp_case_check(got, expected, sizeof expected / sizeof *expected);                      \
    } while (0)

static void check_refused(interp_case *c, const char *text, const char *part)
{
    assert_int_equal(interp_case_run(c, text), VYRE_ERROR_INVALID_ARGUMENT);
    if (!strstr(c->diag.message, part) || !strstr(c->diag.message, "Fix: ")) {
        fail_msg("'%s' does not say '%s' or has no fix", c->diag.message, part);
    }
}

static const char copy[] = "program t workgroup 4 in a : u32[] out o : u32[len(a)]\n"
                           "kernel { o[gid.x] = a[gid.x] }\n";

static void test_buffers_are_checked_before_anything_is_written(void **state)
{
    (void)state;
    uint32_t in[3] = {1, 2, 3}, out[3] = {9, 9, 9};
    interp_case few = {.params = {.groups = {1}}};
    interp_case_bind(&few, in, 3);
    check_refused(&few, copy, "2 buffers and 1");
    interp_case wrong = {.params = {.groups = {1}}};
    interp_case_bind(&wrong, in, 3);
    interp_case_bind(&wrong, out, 2);
    check_refused(&wrong, copy, "'o' declares 3 elements for these arguments and 2 were bound");
    assert_int_equal(wrong.diag.binding, 1);
    interp_case null_in = {.params = {.groups = {1}}};
    interp_case_bind(&null_in, NULL, 3);
    interp_case_bind(&null_in, out, 3);
    check_refused(&null_in, copy, "'a' has no data");
    interp_case null_out = {.params = {.groups = {1}}};
    interp_case_bind(&null_out, in, 3);
    interp_case_bind(&null_out, NULL, 3);
    check_refused(&null_out, copy, "'o' has no data");
    interp_case open_count = {.params = {.groups = {1}}};
    interp_case_bind(&open_count, in, UINT32_MAX);
    interp_case_bind(&open_count, out, 3);
    check_refused(&open_count, copy, "'a' declares no count");
    CHECK(out, 9, 9, 9);
    interp_case good = {.params = {.groups = {1}}};
    interp_case_bind(&good, in, 3);
    interp_case_bind(&good, out, UINT32_MAX);
    interp_case_run_ok(&good, copy);
    CHECK(out, 1, 2, 3);
    interp_case dropped = {.params = {.groups = {1}}};
    interp_case_bind(&dropped, in, 3);
    interp_case_bind(&dropped, NULL, UINT32_MAX);
    interp_case_run_ok(&dropped, copy);
}

static void test_null_arguments_and_params_are_refused(void **state)
{
    (void)state;
    vyre_diag diag;
    vyre_interp_params params = {0};
    assert_int_equal(vyre_interp_run(NULL, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_interp_run(NULL, NULL, NULL, NULL), VYRE_ERROR_INVALID_ARGUMENT);
    uint32_t out[1] = {0};
    static const char text[] = "program t workgroup 1 out o : u32[1] param n : u32\n"
                               "kernel { o[0] = n }\n";
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 1);
    check_refused(&c, text, "take 1 words and 0");
    interp_case_param(&c, 5);
    vyre_program *program = interp_case_parse(text);
    c.params.buffers = c.buffers;
    c.params.params = NULL;
    assert_int_equal(vyre_interp_run(program, &c.params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    c.params.params = c.values;
    assert_int_equal(vyre_interp_run(program, &c.params, NULL, NULL), VYRE_OK);
    c.params.buffers = NULL;
    assert_int_equal(vyre_interp_run(program, &c.params, NULL, NULL), VYRE_ERROR_INVALID_ARGUMENT);
    vyre_program_destroy(&program);
    assert_int_equal(out[0], 5);
}

static void check_grid(vyre_interp_params params, const char *text, const char *part)
{
    static uint32_t out[1];
    interp_case c = {.params = params};
    interp_case_bind(&c, out, 1);
    if (part) {
        check_refused(&c, text, part);
    } else {
        interp_case_run_ok(&c, text);
    }
}

static void test_grids_are_checked(void **state)
{
    (void)state;
    static const char plain[] = "program t workgroup 4 inout o : u32[]\nkernel { o[gid.x] = 1 }\n";
    static const char over[] =
        "program t workgroup 4 grid over o inout o : u32[]\nkernel { o[gid.x] = 1 }\n";
    static const char local[] = "program t workgroup 4 inout o : u32[]\nkernel { o[lid.x] = 1 }\n";
    static const char of[] =
        "program t workgroup 4 inout o : u32[] grid of len(o) kernel { o[gid.x] = 1 }\n";
    static const char of_many[] =
        "program t workgroup 4 inout o : u32[] grid of 0x40000000 + len(o)\n"
        "kernel { o[gid.x] = 1 }\n";
    static const char of_none[] = "program t workgroup 4 inout o : u32[]\n"
                                  "grid of 0xffffffff, len(o) - 1 kernel { o[gid.x] = 1 }\n";
    check_grid((vyre_interp_params){0}, plain, "no grid");
    check_grid((vyre_interp_params){.groups = {1}, .elements = {1}}, plain, "both");
    check_grid((vyre_interp_params){.groups = {1}}, over, "grid over buffer 'o'");
    check_grid((vyre_interp_params){.groups = {0x40000001u}}, plain,
               "2^32 invocations in dimension 0");
    check_grid((vyre_interp_params){.groups = {0x10000, 0x10000}}, plain, "2^32 - 1");
    check_grid((vyre_interp_params){.groups = {0x40000000u}}, plain, "2^32 - 1");
    check_grid((vyre_interp_params){.elements = {UINT32_MAX}, .workgroup = {1000}}, plain,
               "2^32 invocations in dimension 0");
    check_grid((vyre_interp_params){.elements = {4}, .workgroup = {8}}, local, "lid");
    check_grid((vyre_interp_params){.groups = {4}, .workgroup = {8}}, plain, "in elements");
    check_grid((vyre_interp_params){.workgroup = {0, 2}}, over, "N x 1 x 1");
    check_grid((vyre_interp_params){.elements = {4}, .workgroup = {2000}}, plain, "2000");
    check_grid((vyre_interp_params){.elements = {4}, .workgroup = {4}}, local, NULL);
    check_grid((vyre_interp_params){.groups = {1}}, of, "`grid of`");
    check_grid((vyre_interp_params){.elements = {1}}, of, "`grid of`");
    check_grid((vyre_interp_params){.workgroup = {8}}, of, "the program uses `grid of`");
    check_grid((vyre_interp_params){.max_groups = 1}, of, "max_groups");
    check_grid((vyre_interp_params){0}, of, NULL);
    check_grid((vyre_interp_params){0}, of_many, "2^32 invocations in dimension 0");
    check_grid((vyre_interp_params){0}, of_none, NULL);
    check_grid((vyre_interp_params){.elements = {4}, .workgroup = {64, 4, 4}}, plain, NULL);
    check_grid((vyre_interp_params){.workgroup = {1024}}, over, NULL);
}

static const char from[] =
    "program t workgroup 4, 2 grid from n uniform n : u32[] inout o : u32[4]\n"
    "kernel { atomic_add(o[0], 1) atomic_max(o[1], num_groups.x)\n"
    "  atomic_max(o[2], num_groups.y) atomic_max(o[3], num_groups.z) }\n";

static void test_grid_from_reads_and_clamps_the_counts(void **state)
{
    (void)state;
    static const struct {
        uint32_t n[3], most, groups[3];
        int is_clamped;
    } rows[] = {
        {{3, 2, 5}, 0, {3, 2, 5}, 0},          {{3, 2, 5}, 30, {3, 2, 5}, 0},
        {{3, 2, 5}, 29, {3, 2, 4}, 1},         {{3, 2, 5}, 5, {3, 1, 1}, 1},
        {{3, 2, 5}, 2, {2, 1, 1}, 1},          {{UINT32_MAX, 7, 1}, 100, {100, 1, 1}, 1},
        {{1, 1, UINT32_MAX}, 9, {1, 1, 9}, 1}, {{0, UINT32_MAX, 9}, 1, {0, UINT32_MAX, 9}, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t n[4] = {rows[i].n[0], rows[i].n[1], rows[i].n[2], 77}, o[4] = {0};
        interp_case c = {.params = {.max_groups = rows[i].most}};
        interp_case_bind(&c, n, 4);
        interp_case_bind(&c, o, 4);
        interp_case_run_ok(&c, from);
        uint32_t total = rows[i].groups[0] * rows[i].groups[1] * rows[i].groups[2];
        assert_int_equal(o[0], 8 * total);
        for (int d = 0; d < 3; d++) {
            assert_int_equal(o[1 + d], total ? rows[i].groups[d] : 0);
            assert_int_equal(c.report.groups[d], rows[i].groups[d]);
        }
        assert_int_equal(c.report.is_grid_clamped, rows[i].is_clamped);
    }
}

static void test_grid_from_is_checked(void **state)
{
    (void)state;
    uint32_t n[3] = {1, 1, 1}, o[4] = {0};
    static const struct {
        vyre_interp_params params;
        uint32_t count;
        const char *part;
    } rows[] = {{{.groups = {1}}, 3, "grid from buffer 'n'"},
                {{.elements = {1}}, 3, "grid from buffer 'n'"},
                {{.workgroup = {8}}, 3, "cannot be overridden"},
                {{.passes = 1}, 2, "fewer than 3 elements"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        interp_case c = {.params = rows[i].params};
        interp_case_bind(&c, n, rows[i].count);
        interp_case_bind(&c, o, 4);
        check_refused(&c, from, rows[i].part);
    }
    interp_case none = {.params = {.passes = 0}};
    interp_case_bind(&none, NULL, 3);
    interp_case_bind(&none, o, 4);
    check_refused(&none, from, "'n' has no data");
    check_grid((vyre_interp_params){.groups = {1}, .max_groups = 3},
               "program t inout o : u32[]\nkernel { }\n", "max_groups is 3");
    assert_int_equal(o[0], 0);
}

static uint32_t count_invocations(vyre_interp_params params, const char *body)
{
    uint32_t out[3] = {0};
    char text[400];
    (void)snprintf(text, sizeof text, "program t workgroup 4, 2 inout o : u32[]\nkernel { %s }\n",
                   body);
    interp_case c = {.params = params};
    interp_case_bind(&c, out, 3);
    interp_case_run_ok(&c, text);
    return out[0];
}

static void test_overhanging_invocations_run_nothing_where_none_can_tell(void **state)
{
    (void)state;
    static const char count[] = "atomic_add(o[0], 1)";
    assert_int_equal(count_invocations((vyre_interp_params){.elements = {5, 3}}, count), 15);
    assert_int_equal(count_invocations((vyre_interp_params){.elements = {5}}, count), 5);
    assert_int_equal(count_invocations((vyre_interp_params){.groups = {2, 2}}, count), 32);
    assert_int_equal(
        count_invocations((vyre_interp_params){.elements = {5, 3}, .workgroup = {32, 2}}, count),
        15);
    static const char barrier[] = "atomic_add(o[0], 1) barrier";
    assert_int_equal(count_invocations((vyre_interp_params){.elements = {5, 3}}, barrier), 32);
}

static void test_counts_may_depend_on_the_grid(void **state)
{
    (void)state;
    uint32_t in[9] = {0}, out[3] = {0};
    interp_case c = {.params = {.passes = 0}};
    interp_case_bind(&c, in, 9);
    interp_case_bind(&c, out, 3);
    interp_case_run_ok(&c,
                       "program t workgroup 4 grid over a in a : u32[] out o : u32[num_groups.x]\n"
                       "kernel { o[wid.x] = len(o) }\n");
    CHECK(out, 3, 3, 3);
}

static void test_the_callers_floating_point_environment_is_kept(void **state)
{
    (void)state;
    uint32_t out[1] = {0};
    interp_case c = {.params = {.groups = {1}}};
    interp_case_bind(&c, out, 1);
#if defined(FE_UPWARD)
    assert_int_equal(fesetround(FE_UPWARD), 0);
#endif
    vyre_result result = interp_case_run(&c, "program t workgroup 1 out o : f32[1] \n"
                                             "kernel { o[0] = 1.0 / (2.0 + f32(gid.x) + 1.0) }\n");
#if defined(FE_UPWARD)
    assert_int_equal(fegetround(), FE_UPWARD);
    assert_int_equal(fesetround(FE_TONEAREST), 0);
#endif
    assert_int_equal(result, VYRE_OK);
    assert_int_equal(out[0], 0x3eaaaaabu);
}

/* ---- Races ----------------------------------------------------------------------------------- */

static void check_races(const char *body, uint64_t count, const char *part)
{
    uint32_t out[8] = {0};
    char text[1000];
    (void)snprintf(text, sizeof text,
                   "program t workgroup 2\nshared s : u32[4] inout o : u32[]\nkernel {\n%s\n}\n",
                   body);
    interp_case c = {.params = {.groups = {2}, .detect_races = 1}};
    interp_case_bind(&c, out, 8);
    interp_case_run_ok(&c, text);
    if (c.report.race_count != count) {
        fail_msg("%u races, not %u in: %s", (unsigned)c.report.race_count, (unsigned)count, body);
    }
    if (part && !strstr(c.report.first_race.message, part)) {
        fail_msg("'%s' does not say '%s'", c.report.first_race.message, part);
    }
    if (part) {
        assert_int_equal(c.report.first_race.line, 4);
    }
}

static void test_races_between_and_within_workgroups_are_told(void **state)
{
    (void)state;
    check_races("o[0] = 1", 1,
                "element 0 of 'o': plain store by invocation 1 and plain store by invocation 0");
    check_races("o[lid.x] = 1", 2, "plain store by invocation 2 and plain store by invocation 0");
    check_races("o[gid.x] = o[gid.x] + o[7]", 0, NULL);
    check_races("o[gid.x] = o[gid.x ^ 1]", 4,
                "plain store by invocation 0 and plain load by "
                "invocation 1");
    check_races("s[lid.x] = 1 o[gid.x] = s[1 - lid.x]", 2, "'s'");
    check_races("s[lid.x] = 1 barrier o[gid.x] = s[1 - lid.x]", 0, NULL);
    check_races("s[lid.x] = 1 let n = uniform s[1] o[gid.x] = n", 0, NULL);
    check_races("o[gid.x] = 1 barrier o[gid.x ^ 1] = 2", 0, NULL);
    check_races("o[gid.x] = 1 barrier o[gid.x ^ 2] = 2", 4, NULL);
    check_races("o[gid.x] = 1 grid_sync o[3 - gid.x] = 2", 0, NULL);
    check_races("atomic_add(o[0], 1)", 0, NULL);
    check_races("atomic_add(o[0], 1) let n = atomic_load(o[0]) o[gid.x + 4] = n", 0, NULL);
    check_races("let n = o[0] atomic_add(o[0], n)", 1,
                "atomic by invocation 0 and plain load by "
                "invocation 1");
    check_races("let n = atomic_load(o[0]) if gid.x == 3 { o[0] = n }", 1, "atomic load");
    check_races("o[100] = 1", 0, NULL);
}

static void test_without_the_race_check_nothing_is_counted(void **state)
{
    (void)state;
    uint32_t out[1] = {0};
    interp_case c = {.params = {.groups = {4}}};
    interp_case_bind(&c, out, 1);
    interp_case_run_ok(&c, "program t workgroup 2 out o : u32[1]\nkernel { o[0] = gid.x }\n");
    assert_int_equal(c.report.race_count, 0);
    assert_int_equal(out[0], 7);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

typedef struct failing {
    uint32_t calls, fail_at;
    size_t live;
} failing;

static void *failing_reallocate(void *user, void *old, size_t old_size, size_t new_size)
{
    failing *f = user;
    if (new_size && f->calls++ == f->fail_at) {
        return NULL;
    }
    f->live += new_size;
    f->live -= old ? old_size : 0;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    vyre_program *program =
        interp_case_parse("program t workgroup 64 grid over a fixpoint 2 until f\n"
                          "in a : u32[] out o : u32[len(a)] scratch f : u32[1] shared s : u32[64]\n"
                          "fn id(n : u32) -> u32 { var k : u32[40] k[n] = n return k[n] }\n"
                          "kernel {\n"
                          "    var big : u32[64]  big[lid.x] = id(a[gid.x])\n"
                          "    for i in 0 .. 2 { let w = big[lid.x] grid_sync o[gid.x] += w }\n"
                          "}\n");
    static uint32_t in[1000], out[1000];
    for (uint32_t i = 0; i < 1000; i++) {
        in[i] = i % 40;
    }
    vyre_result result = VYRE_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t n = 0;
    for (; n < 500 && result != VYRE_OK; n++) {
        failing f = {.fail_at = n};
        vyre_allocator allocator = {&f, failing_reallocate};
        vyre_host_buffer buffers[] = {{in, 1000}, {out, 1000}, {NULL, UINT32_MAX}};
        vyre_interp_params params = {
            .allocator = &allocator, .buffers = buffers, .buffer_count = 3, .detect_races = 1};
        vyre_diag diag;
        memset(out, 0xff, sizeof out);
        result = vyre_interp_run(program, &params, NULL, &diag);
        assert_int_equal(f.live, 0);
        if (result != VYRE_OK) {
            assert_int_equal(result, VYRE_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(out[999], 0xffffffffu);
        }
    }
    assert_int_equal(result, VYRE_OK);
    assert_true(n > 4);
    assert_int_equal(out[999], (999 % 40) * 2);
    vyre_program_destroy(&program);
}

static void test_values_across_cuts_have_a_budget(void **state)
{
    (void)state;
    uint32_t out[1] = {5};
    interp_case c = {.params = {.groups = {1u << 24}}};
    interp_case_bind(&c, out, 1);
    assert_int_equal(interp_case_run(&c, "program t workgroup 64 out o : u32[1]\n"
                                         "kernel { let v = gid.x grid_sync o[0] = v }\n"),
                     VYRE_ERROR_OUT_OF_HOST_MEMORY);
    assert_non_null(strstr(c.diag.message, "grid_sync"));
    assert_int_equal(out[0], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers_are_checked_before_anything_is_written),
        cmocka_unit_test(test_null_arguments_and_params_are_refused),
        cmocka_unit_test(test_grids_are_checked),
        cmocka_unit_test(test_grid_from_reads_and_clamps_the_counts),
        cmocka_unit_test(test_grid_from_is_checked),
        cmocka_unit_test(test_overhanging_invocations_run_nothing_where_none_can_tell),
        cmocka_unit_test(test_counts_may_depend_on_the_grid),
        cmocka_unit_test(test_the_callers_floating_point_environment_is_kept),
        cmocka_unit_test(test_races_between_and_within_workgroups_are_told),
        cmocka_unit_test(test_without_the_race_check_nothing_is_counted),
        cmocka_unit_test(test_each_allocation_may_fail),
        cmocka_unit_test(test_values_across_cuts_have_a_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
