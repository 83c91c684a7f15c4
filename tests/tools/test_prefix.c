/* Runs that end early: behind every segment execution device and interpreter have the same in every
 * buffer, and the whole is what a plain run leaves. */
#include "tests/tools/support.h"
#include "tools/common/open.h"
#include "tools/common/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD(name) "program " name "\nworkgroup 64\ngrid over y\ninout y : u32[]\n"

static const char spread_text[] = HEAD("spread") "fixpoint 5\nscratch t : u32[len(y)]\n"
                                                 "kernel {\n"
                                                 "  let old = atomic_add(t[gid.x], pass)\n"
                                                 "  grid_sync\n"
                                                 "  y[gid.x] = t[(gid.x + 1) % len(y)] + old\n"
                                                 "  grid_sync\n"
                                                 "  if gid.x == 9 && pass == 3 { trap(5) }\n"
                                                 "  t[gid.x] = y[gid.x] * 3\n"
                                                 "}\n";
static const char lower_text[] = HEAD("lower") "fixpoint 40 until more\nscratch more : u32[2]\n"
                                               "kernel {\n"
                                               "  for turn in 0 .. 3 {\n"
                                               "    if y[gid.x] > 20 {\n"
                                               "      y[gid.x] = y[gid.x] - turn\n"
                                               "      atomic_store(more[0], 1)\n"
                                               "    }\n"
                                               "    grid_sync\n"
                                               "  }\n"
                                               "}\n";
static const char keep_text[] = HEAD("keep") "fixpoint 3\nscratch keep k : u32[4]\n"
                                             "kernel { k[gid.x & 3] = pass + 1\n grid_sync\n"
                                             "  y[gid.x] = y[gid.x] + k[gid.x & 3] }\n";
static const char long_text[] = HEAD("long") "fixpoint 2\nkernel {\n"
                                             "  for i in 0 .. 4500 {\n"
                                             "    if gid.x == i % len(y) { y[gid.x] = i + pass }\n"
                                             "    grid_sync\n"
                                             "  }\n"
                                             "}\n";

typedef struct part_case {
    vy_source source;
    vy_arena arena;
    vy_run_data data;
    vyre_device *device;
    vy_device_program ready;
    vy_reference how;
    vy_run_result on_device, reference;
} part_case;

static void must(vyre_result result, const vyre_diag *diag)
{
    if (result != VYRE_OK) {
        fail_msg("%s", diag->message);
    }
}

static void begin(part_case *c, const char *text, uint32_t count)
{
    vyre_diag diag;
    char contents[32];
    *c = (part_case){.device = NULL};
    snprintf(contents, sizeof contents, "y[%u]=iota:15", count);
    vy_arena_init(&c->arena, NULL);
    vy_run_spec spec;
    vy_run_spec_init(&spec, &c->arena);
    must(vy_run_spec_take(&spec, VY_RUN_OPTION, contents, &diag), &diag);
    c->source = (vy_source){.path = "part.vyre", .text = strdup(text), .size = strlen(text)};
    assert_non_null(c->source.text);
    must(vy_source_parse(&c->source, &diag), &diag);
    must(vy_run_data_make(c->source.program, &spec, &c->data, &diag), &diag);
    c->data.has_scratch = true;
    must(vy_open_device(NULL, VYRE_VALIDATION_DEFAULT, stderr, &c->device, &diag), &diag);
    c->how = vy_reference_of(c->device);
}

static void end(part_case *c)
{
    vy_run_result_finish(&c->on_device);
    vy_run_result_finish(&c->reference);
    vyre_device_destroy(&c->device);
    vy_run_data_finish(&c->data);
    vy_source_finish(&c->source);
    vy_arena_finish(&c->arena);
}

static void open_pipeline(part_case *c)
{
    vyre_diag diag;
    must(vy_device_program_create(c->device, &c->source, c->data.workgroup, VYRE_BINDINGS_AUTO,
                                  &c->ready, &diag),
         &diag);
}

static void check_part(part_case *c, vy_prefix prefix)
{
    vyre_diag diag;
    vyre_report report;
    vy_interp_watch watch = {0};
    must(vy_run_device_prefix(&c->ready, &c->data, prefix, &c->on_device, &report, &diag), &diag);
    must(vy_run_reference_prefix(c->source.program, &c->data, &c->how, prefix, &watch,
                                 &c->reference, &diag),
         &diag);
    if (prefix.executions) {
        /* Of whole passes alone. */
        c->on_device.passes = c->reference.passes;
        c->on_device.convergence = c->reference.convergence;
    }
    vy_tolerance_used exact = {0};
    if (vy_run_compare(&c->data, &c->on_device, &c->reference, &exact, stderr)) {
        fail_msg("they differ behind %u passes and %u executions", prefix.passes,
                 prefix.executions);
    }
}

/* Every part, in an order in which no part is behind one that is shorter. */
static void check_parts(const char *text, uint32_t count, uint32_t passes, uint32_t executions)
{
    part_case c;
    begin(&c, text, count);
    open_pipeline(&c);
    for (uint32_t p = passes + 2; p-- > 0;) {
        for (uint32_t e = executions + 1; e-- > 0;) {
            check_part(&c, (vy_prefix){p, e});
        }
    }
    vy_device_program_finish(&c.ready);
    end(&c);
}

static void test_parts_of_passes_and_segments_agree(void **state)
{
    (void)state;
    check_parts(spread_text, 130, 5, 3);
    check_parts(spread_text, 1, 5, 3);
    check_parts(spread_text, 0, 2, 3);
    check_parts("program none\nworkgroup 64\ngrid over y\ninout y : u32[]\nkernel { }\n", 5, 1, 1);
}

static void test_parts_of_fixpoints_end_where_they_converge(void **state)
{
    (void)state;
    check_parts(lower_text, 7, 3, 3); /* 15 to 21: one pass lowers, the next finds nothing */
    check_parts(lower_text, 200, 25, 3);
}

static void test_parts_with_kept_scratch_begin_anew(void **state)
{
    (void)state;
    part_case c;
    begin(&c, keep_text, 70);
    for (uint32_t p = 3; p-- > 0;) {
        for (uint32_t e = 3; e-- > 0;) {
            open_pipeline(&c);
            check_part(&c, (vy_prefix){p, e});
            vy_device_program_finish(&c.ready);
        }
    }
    end(&c);
}

/* Passes of more dispatches than a chunk has. */
static void test_parts_of_long_passes_agree(void **state)
{
    (void)state;
    static const vy_prefix parts[] = {{1, 4499}, {0, 4499}, {1, 4096}, {1, 4097},
                                      {0, 1},    {1, 1},    {1, 0},    {2, 0}};
    part_case c;
    begin(&c, long_text, 70);
    open_pipeline(&c);
    for (size_t i = 0; i < VY_COUNT_OF(parts); i++) {
        check_part(&c, parts[i]);
    }
    vy_device_program_finish(&c.ready);
    end(&c);
}

/* In the order of the passes and executions, without overlaps, with results of a plain run. */
static void check_marks(const char *text, uint32_t count, uint32_t executions)
{
    enum { MOST = 4096 };
    part_case c;
    vyre_diag diag;
    vyre_report report;
    vy_mark *list = calloc(MOST, sizeof *list);
    assert_non_null(list);
    begin(&c, text, count);
    open_pipeline(&c);
    vy_marks marks = {.list = list, .capacity = MOST};
    must(vy_run_marked(&c.ready, &c.data, &marks, &c.on_device, &report, &diag), &diag);
    must(vy_run_reference(c.source.program, &c.data, &c.how, &c.reference, &diag), &diag);
    vy_tolerance_used exact = {0};
    assert_int_equal(vy_run_compare(&c.data, &c.on_device, &c.reference, &exact, stderr), 0);
    uint64_t all = (uint64_t)report.passes * executions;
    if (report.device_ns == VYRE_NS_NONE) {
        assert_int_equal(marks.count, 0); /* no timestamps */
    } else {
        assert_true(marks.count >= (all < MOST ? all : MOST));
    }
    for (uint32_t i = 0; i < marks.count; i++) {
        assert_int_equal(list[i].pass, i / executions);
        assert_int_equal(list[i].execution, i % executions);
        assert_true(list[i].begin_ns <= list[i].end_ns);
        assert_true(i == 0 || list[i].begin_ns >= list[i - 1].end_ns);
    }
    vy_device_program_finish(&c.ready);
    free(list);
    end(&c);
}

static void test_marks_time_each_execution(void **state)
{
    (void)state;
    check_marks(spread_text, 130, 3);
    check_marks(lower_text, 200, 3);
    check_marks(long_text, 70, 4500);
    check_marks("program one\nworkgroup 64\ngrid over y\nfixpoint 5\ninout y : u32[]\n"
                "kernel { y[gid.x] = y[gid.x] + pass }\n",
                130, 1);
    check_marks("program none\nworkgroup 64\ngrid over y\ninout y : u32[]\nkernel { }\n", 5, 0);
    check_marks(spread_text, 0, 0);
}

/* Looking at a run while it works changes neither what it gives nor how often it waits. */
static void test_runs_that_are_looked_at_are_the_same(void **state)
{
    (void)state;
    part_case c;
    vyre_diag diag;
    vyre_report plain, shown;
    vy_progress progress = {.stream = NULL};
    begin(&c, long_text, 7000);
    open_pipeline(&c);
    must(vy_run_device(&c.ready, &c.data, &c.reference, &plain, &diag), &diag);
    c.data.progress = &progress;
    must(vy_run_device(&c.ready, &c.data, &c.on_device, &shown, &diag), &diag);
    vy_tolerance_used exact = {0};
    assert_int_equal(vy_run_compare(&c.data, &c.on_device, &c.reference, &exact, stderr), 0);
    assert_int_equal(shown.passes, 2);
    assert_true(plain.waits <= plain.chunks && shown.waits <= shown.chunks);
    vy_device_program_finish(&c.ready);
    end(&c);
}

typedef struct places {
    vy_interp_place list[32];
    uint32_t count, stop_at;
} places;

static bool take_place(void *user, const vy_interp_place *place)
{
    places *seen = user;
    assert_true(seen->count < VY_COUNT_OF(seen->list));
    seen->list[seen->count++] = *place;
    return seen->count != seen->stop_at;
}

/* Who looks on sees every segment execution in order, and ends the run where he likes. */
static void test_watch_sees_every_execution_and_write(void **state)
{
    (void)state;
    part_case c;
    vyre_diag diag;
    begin(&c, spread_text, 130);
    places seen = {.count = 0};
    vy_interp_watch watch = {.step = take_place, .user = &seen, .buffer = 1, .element = 9};
    must(vy_run_watched(c.source.program, &c.data, &c.how, &watch, &c.reference, &diag), &diag);
    assert_int_equal(seen.count, 15);
    for (uint32_t i = 0; i < seen.count; i++) {
        assert_int_equal(seen.list[i].pass, i / 3);
        assert_int_equal(seen.list[i].execution, i % 3);
        assert_int_equal(seen.list[i].segment, i % 3);
        assert_int_equal(seen.list[i].executions, 3);
        static const uint32_t lines[] = {8, 10, 12};
        assert_int_equal(seen.list[i].line, lines[i % 3]);
    }
    assert_int_equal(watch.pass, 4);
    assert_int_equal(watch.execution, 1);
    assert_int_equal(watch.invocation, 9);
    assert_int_equal(watch.writes, 1);
    assert_int_equal(c.source.program->stmts.data[watch.stmt].loc.line, 10);

    vy_run_result part = {0};
    seen = (places){.stop_at = 5};
    watch = (vy_interp_watch){.step = take_place, .user = &seen};
    must(vy_run_watched(c.source.program, &c.data, &c.how, &watch, &part, &diag), &diag);
    assert_int_equal(seen.count, 5);
    watch = (vy_interp_watch){.step = NULL};
    must(vy_run_reference_prefix(c.source.program, &c.data, &c.how, (vy_prefix){1, 2}, &watch,
                                 &c.reference, &diag),
         &diag);
    assert_memory_equal(part.out[0], c.reference.out[0], 130 * 4);
    assert_memory_equal(part.out[1], c.reference.out[1], 130 * 4);
    vy_run_result_finish(&part);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_passes_and_segments_agree),
        cmocka_unit_test(test_parts_of_fixpoints_end_where_they_converge),
        cmocka_unit_test(test_parts_with_kept_scratch_begin_anew),
        cmocka_unit_test(test_parts_of_long_passes_agree),
        cmocka_unit_test(test_marks_time_each_execution),
        cmocka_unit_test(test_runs_that_are_looked_at_are_the_same),
        cmocka_unit_test(test_watch_sees_every_execution_and_write),
    };
    return has_no_device() ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
