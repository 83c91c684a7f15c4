/* Grids that the device reads from a buffer: values, clamping, folding, barriers, the steady state,
 * sequences, and what is refused. The interpreter is the judge of the values. */
#include "tests/engine/sequence_support.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/vk_layer_scenario.h"

#include "vyre/text.h"

#define LINEAR "((wid.z * num_groups.y + wid.y) * num_groups.x + wid.x)"

/* Every workgroup notes itself, and what it is told of the grid. */
static const char count_text[] =
    "program count\nworkgroup 1\ngrid from n\n"
    "in n : u32[]\ninout c : u32[8]\ninout seen : u32[]\n"
    "kernel {\n"
    "  atomic_add(c[0], 1)\n"
    "  atomic_add(c[1], " LINEAR ")\n"
    "  atomic_max(c[2], num_groups.x) atomic_max(c[3], num_groups.y) atomic_max(c[4], "
    "num_groups.z)\n"
    "  atomic_max(c[5], gid.x) atomic_max(c[6], gid.y) atomic_max(c[7], gid.z)\n"
    "  atomic_add(seen[" LINEAR "], 1)\n"
    "}\n";

#define SEEN 140000u

typedef struct outcome {
    uint32_t c[8], groups[3];
    int is_clamped;
    uint32_t seen[SEEN];
} outcome;

static void by_interpreter(const char *text, const uint32_t n[3], uint32_t max_groups, outcome *out)
{
    vyre_program *program = NULL;
    vyre_interp_report report;
    vyre_diag diag;
    uint32_t counts[3] = {n[0], n[1], n[2]};
    memset(out, 0, sizeof *out);
    assert_int_equal(vyre_program_parse(text, strlen(text), "t", NULL, &program, &diag), VYRE_OK);
    vyre_host_buffer buffers[3] = {{counts, 3}, {out->c, 8}, {out->seen, SEEN}};
    vyre_interp_params params = {.struct_size = (uint32_t)sizeof params,
                                 .buffers = buffers,
                                 .buffer_count = 3,
                                 .max_groups = max_groups};
    if (vyre_interp_run(program, &params, &report, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    memcpy(out->groups, report.groups, sizeof out->groups);
    out->is_clamped = report.is_grid_clamped;
    vyre_program_destroy(&program);
}

static vyre_dispatch_params counted(const vyre_binding *bindings, uint32_t max_groups)
{
    vyre_dispatch_params params;
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = 3;
    params.max_groups = max_groups;
    return params;
}

static vyre_report by_device(const engine_program *p, const uint32_t n[3], uint32_t max_groups,
                             outcome *out)
{
    memset(out, 0, sizeof *out);
    vyre_binding bindings[3] = {engine_host_in(n, 3), engine_host_inout(out->c, 8),
                                engine_host_inout(out->seen, SEEN)};
    vyre_dispatch_params params = counted(bindings, max_groups);
    vyre_report report = must_dispatch(p, &params);
    memcpy(out->groups, report.groups, sizeof out->groups);
    out->is_clamped = report.is_grid_clamped;
    return report;
}

static uint64_t groups_so_far;

static void check_counts(vyre_device *device, int form)
{
    static const struct {
        uint32_t n[3], max_groups, total;
        int is_clamped;
    } rows[] = {
        {{0, 0, 0}, 0, 0, 0},
        {{0, 7, UINT32_MAX}, 0, 0, 0},
        {{1, 1, 1}, 0, 1, 0},
        {{3, 5, 7}, 0, 105, 0},
        {{65535, 1, 1}, 0, 65535, 0},
        {{65536, 1, 1}, 0, 65536, 0},
        {{1, 65537, 1}, 0, 65537, 0},
        {{2, 1, 65536}, 0, 131072, 0},
        {{65536, 2, 1}, 131071, 65536, 1},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, 70001, 70001, 1},
        {{3, UINT32_MAX, 2}, 1000, 999, 1},
        {{3, 4, UINT32_MAX}, 100, 96, 1},
        {{7, 2, 1}, 1, 1, 1},
        {{0x80000000u, 0, 1}, 5, 0, 0},
    };
    static outcome expected, got;
    vyre_device_info info;
    vyre_device_get_info(device, &info);
    engine_program p = engine_build(device, count_text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (groups_so_far + rows[i].total > ENGINE_MANY_GROUPS && rows[i].total > 1000) {
            continue;
        }
        groups_so_far += rows[i].total;
        by_interpreter(count_text, rows[i].n, rows[i].max_groups, &expected);
        vyre_report report = by_device(&p, rows[i].n, rows[i].max_groups, &got);
        check_form(&report, form, engine_validates());
        assert_int_equal(expected.c[0], rows[i].total);
        assert_int_equal(expected.is_clamped, rows[i].is_clamped);
        for (uint32_t s = 0; s < SEEN; s++) {
            if (expected.seen[s] != (s < rows[i].total)) {
                fail_msg("row %u: group %u ran %u times", (unsigned)i, (unsigned)s,
                         (unsigned)expected.seen[s]);
            }
        }
        assert_memory_equal(&got, &expected, sizeof got);
        int is_folded = 0;
        for (int d = 0; d < 3; d++) {
            is_folded |= rows[i].total > 0 && expected.groups[d] > info.max_groups[d];
        }
        assert_int_equal(report.is_folded, is_folded);
        assert_int_equal(report.submissions, 1);
    }
    engine_release(&p);
}

static void test_grid_from_runs_what_the_buffer_says(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, check_counts);
}

static void test_grid_from_on_memory_that_the_device_cannot_read_directly(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_SEPARATE, check_counts);
}

/* ---- Small devices --------------------------------------------------------------------------- */

static vyre_result try(const engine_program *p, const vyre_dispatch_params *params, vyre_diag *diag)
{
    return vyre_dispatch(p->pipeline, params, NULL, diag);
}

static void check_small(vyre_device *device, int form)
{
    static outcome expected, got;
    static const uint32_t grids[][3] = {{4, 4, 4},  {5, 1, 1}, {1, 17, 1}, {64, 1, 1},
                                        {1, 1, 63}, {8, 8, 1}, {3, 7, 3},  {100, 1, 1}};
    (void)form;
    engine_program p = engine_build(device, count_text);
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        by_interpreter(count_text, grids[i], 64, &expected);
        (void)by_device(&p, grids[i], 64, &got);
        assert_memory_equal(&got, &expected, sizeof got);
    }
    /* More may be read than can be launched. */
    vyre_diag diag;
    vyre_binding bindings[3] = {engine_host_in(grids[0], 3), engine_host_inout(got.c, 8),
                                engine_host_inout(got.seen, SEEN)};
    vyre_dispatch_params params = counted(bindings, 65);
    assert_int_equal(try(&p, &params, &diag), VYRE_ERROR_UNSUPPORTED_FEATURE);
    assert_int_equal(diag.binding, 0);
    assert_non_null(strstr(diag.message, "4 x 4 x 4. Fix: set max_groups"));
    params.max_groups = 0;
    assert_int_equal(try(&p, &params, &diag), VYRE_ERROR_UNSUPPORTED_FEATURE);
    engine_release(&p);
}

static void test_grid_from_on_a_device_that_launches_few(void **state)
{
    (void)state;
    for (int form = 0; !engine_has_no_device() && form < FORM_COUNT; form++) {
        layer_reset();
        layer.max_groups = 4;
        layer.no_judge = form == FORM_ADDRESS;
        vyre_device *device = engine_open(form == FORM_DESCRIPTOR);
        check_small(device, form);
        engine_close(&device);
    }
}

/* ---- Fixpoints, spilled values, host loops --------------------------------------------------- */

static void check_fixpoint(vyre_device *device, int form)
{
    static const char text[] = "program down\nworkgroup 1\ngrid from n\nfixpoint 50 until more\n"
                               "in n : u32[3]\ninout c : u32[2]\nscratch more : u32[1]\n"
                               "kernel { atomic_add(c[0], 1) atomic_max(c[1], pass)\n"
                               "  if pass < 19 { atomic_store(more[0], 1) } }\n";
    (void)form;
    engine_program p = engine_build(device, text);
    static const struct {
        uint32_t n[3], passes, limit, runs;
        vyre_convergence convergence;
    } rows[] = {{{3, 1, 2}, 0, 50, 20, VYRE_CONVERGENCE_YES},
                {{700, 1, 1}, 3, 3, 3, VYRE_CONVERGENCE_LIMIT},
                {{3, 1, 0}, 0, 50, 1, VYRE_CONVERGENCE_YES}};
    for (size_t i = 0; i < 3; i++) {
        uint32_t c[2] = {0, 0};
        vyre_binding bindings[3] = {
            engine_host_in(rows[i].n, 3), engine_host_inout(c, 2), {.kind = VYRE_BINDING_NONE}};
        vyre_dispatch_params params = counted(bindings, 0);
        params.passes = rows[i].passes;
        vyre_report report = must_dispatch(&p, &params);
        uint32_t groups = rows[i].n[0] * rows[i].n[1] * rows[i].n[2];
        assert_int_equal(report.passes, rows[i].runs);
        assert_int_equal(report.convergence, rows[i].convergence);
        assert_int_equal(report.passes_saved, rows[i].limit - rows[i].runs);
        assert_int_equal(c[0], groups * rows[i].runs);
        assert_int_equal(c[1], groups ? rows[i].runs - 1 : 0);
        assert_memory_equal(report.groups, rows[i].n, sizeof report.groups);
    }
    engine_release(&p);
}

static void test_grid_from_in_a_fixpoint(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, check_fixpoint);
}

/* More passes than a chunk holds, in two lanes, each with a parameter block of its own. */
static void check_many_passes(vyre_device *device, int form)
{
    (void)form;
    engine_program p =
        engine_build(device, "program many\nworkgroup 2\ngrid from n\nfixpoint 9000\n"
                             "uniform n : u32[3]\ninout c : u32[2]\n"
                             "kernel { if lid.x == 0 { atomic_add(c[0], wid.x + 1)\n"
                             "  atomic_add(c[1], num_groups.x) } }\n");
    uint32_t n[3] = {3, 1, 1}, c[2] = {0, 0};
    vyre_binding bindings[2] = {engine_host_in(n, 3), engine_host_inout(c, 2)};
    vyre_dispatch_params params = counted(bindings, 0);
    params.binding_count = 2;
    vyre_report report = must_dispatch(&p, &params);
    assert_true(report.chunks > 2);
    assert_int_equal(report.passes, 9000);
    assert_int_equal(c[0], 9000 * 6);
    assert_int_equal(c[1], 9000 * 9);
    engine_release(&p);
}

static void test_grid_from_in_several_chunks(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, check_many_passes);
}

static const char spill_text[] = "program spill\nworkgroup 4\ngrid from n\n"
                                 "in n : u32[3]\ninout a : u32[]\nout y : u32[len(a)]\n"
                                 "kernel {\n"
                                 "  let v = a[gid.x] * 3 + gid.x\n"
                                 "  grid_sync\n"
                                 "  if gid.x < len(a) { a[len(a) - 1 - gid.x] = v }\n"
                                 "  grid_sync\n"
                                 "  y[gid.x] = a[gid.x] + v\n"
                                 "}\n";

static void check_spill(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, spill_text);
    uint32_t n[3] = {5, 1, 1}, a[20], y[20], v[20];
    for (uint32_t i = 0; i < 20; i++) {
        a[i] = i * i + 7;
        v[i] = a[i] * 3 + i;
    }
    vyre_binding bindings[3] = {engine_host_in(n, 3), engine_host_inout(a, 20),
                                engine_host_out(y, 20)};
    vyre_dispatch_params params = counted(bindings, 0);
    vyre_diag diag;
    assert_int_equal(try(&p, &params, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "grid_sync need memory"));
    assert_non_null(strstr(diag.message, "Fix: set max_groups"));
    params.max_groups = 9;
    vyre_report report = must_dispatch(&p, &params);
    assert_true(report.spill_size >= 9 * 4 * 4);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(a[i], v[19 - i]);
        assert_int_equal(y[i], v[19 - i] + v[i]);
    }
    engine_release(&p);
}

static void test_grid_from_with_values_across_a_cut(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, check_spill);
}

/* ---- Barriers, the steady state, sequences --------------------------------------------------- */

/* The barriers between what writes the arguments and what reads them, of the newest commands. */
static void check_barriers(uint32_t first_dispatches)
{
    uint32_t count = 0, dispatches = 0;
    const layer_event *events = layer_events(&count);
    const layer_event *barrier = NULL;
    bool has_indirect = false;
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == LAYER_BARRIER) {
            barrier = &events[i];
        }
        dispatches += events[i].kind == LAYER_DISPATCH;
        if (events[i].kind != LAYER_INDIRECT || has_indirect) {
            continue;
        }
        has_indirect = true;
        assert_int_equal(dispatches, first_dispatches);
        assert_non_null(barrier);
        assert_true(barrier->src_stages & VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
        assert_true(barrier->dst_stages & VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT);
        assert_true(barrier->dst_stages & VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
        assert_true(barrier->dst_access & VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT);
    }
    assert_true(has_indirect);
}

static void check_steady(vyre_device *device, int form)
{
    engine_program p = engine_build(device, count_text);
    static outcome zero;
    uint32_t n[3] = {2, 3, 1};
    vyre_buffer counts = engine_buffer(device, sizeof n, n);
    vyre_buffer c = engine_buffer(device, sizeof zero.c, zero.c);
    vyre_buffer seen = engine_buffer(device, sizeof zero.seen, zero.seen);
    vyre_binding bindings[3] = {engine_resident(counts, 0, 3), engine_resident(c, 0, 8),
                                engine_resident(seen, 0, SEEN)};
    vyre_dispatch_params params = counted(bindings, 0);
    layer_clear_events();
    vyre_report report = must_dispatch(&p, &params);
    assert_int_equal(report.recordings, 1);
    /* The host has written the state's start where the device reads it: before the segments the
     * grid's kernel runs, and nothing else. */
    assert_true(form == FORM_DESCRIPTOR || strcmp(report.bindings, "address") == 0);
    check_barriers(1);
    uint32_t total = 6;
    for (uint32_t round = 0; round < 4; round++) {
        n[0] = 100 * round;
        n[2] = round == 3 ? 300 : 1;
        write_words(device, counts, n, 3);
        params.max_groups = round == 3 ? 2000 : 0;
        layer_clear_events();
        vyre_device_counters before = engine_counters(device);
        report = must_dispatch(&p, &params);
        vyre_device_counters after = engine_counters(device);
        assert_int_equal(report.recordings, 0);
        assert_int_equal(report.recordings_reused, 1);
        assert_int_equal(report.submissions, 1);
        assert_int_equal(report.descriptor_writes, 0);
        assert_int_equal(after.recordings, before.recordings);
        assert_int_equal(layer_count(LAYER_BARRIER), 0);
        assert_int_equal(report.is_grid_clamped, round == 3);
        total += report.groups[0] * report.groups[1] * report.groups[2];
    }
    /* 300 x 3 x 300, no more than 2,000: 300 x 3 x 2. */
    uint32_t words[1];
    read_words(device, c, 0, words, 1);
    assert_int_equal(words[0], 6 + 0 + 300 + 600 + 1800);
    assert_int_equal(words[0], total);
    must_destroy(device, &counts);
    must_destroy(device, &c);
    must_destroy(device, &seen);
    engine_release(&p);
}

static void test_grid_from_is_steady_whatever_the_counts(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, check_steady);
}

static void check_sequence(vyre_device *device, int form)
{
    (void)form;
    engine_program count = engine_build(device, count_text);
    engine_program grow = engine_build(device, "program grow\nworkgroup 1\ninout n : u32[3]\n"
                                               "kernel { n[0] = n[0] + 2  n[1] = n[1] + 1 }\n");
    static outcome zero;
    uint32_t n[3] = {1, 1, 1}, word = 0;
    vyre_buffer counts = engine_buffer(device, sizeof n, n);
    vyre_buffer c = engine_buffer(device, sizeof zero.c, zero.c);
    vyre_buffer seen = engine_buffer(device, sizeof zero.seen, zero.seen);
    vyre_binding grown[1] = {engine_resident(counts, 0, 3)};
    vyre_binding bindings[3] = {engine_resident(counts, 0, 3), engine_resident(c, 0, 8),
                                engine_resident(seen, 0, SEEN)};
    vyre_step steps[2] = {step_of(&grow, grown, 1, NULL, 0), step_of(&count, bindings, 3, NULL, 0)};
    steps[1].dispatch.groups[0] = 0;
    steps[1].dispatch.max_groups = 50;
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = steps;
    params.group_count = 2;
    params.repeat = 3;
    vyre_sequence *sequence = make(device, &params);
    vyre_report report = run(sequence);
    read_words(device, c, 0, &word, 1);
    assert_int_equal(word, 3 * 2 + 5 * 3 + 7 * 4);
    assert_int_equal(report.is_grid_clamped, 0);
    assert_int_equal(report.passes, 6);
    report = run(sequence); /* 9 x 5 and then 11 x 4, 13 x 3 of 50 */
    read_words(device, c, 0, &word, 1);
    assert_int_equal(word, 49 + 45 + 44 + 39);
    assert_int_equal(report.is_grid_clamped, 1);
    vyre_sequence_destroy(&sequence);
    must_destroy(device, &counts);
    must_destroy(device, &c);
    must_destroy(device, &seen);
    engine_release(&count);
    engine_release(&grow);
}

static void test_grid_from_follows_an_earlier_step(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, check_sequence);
}

/* The judge knows what addresses reach: no barrier is missing, and none is needless. */
static void test_grid_from_has_the_barriers_that_it_needs(void **state)
{
    (void)state;
    NEED_DEVICE();
    static const vyre_binding_mode modes[] = {VYRE_BINDINGS_ADDRESS, VYRE_BINDINGS_DESCRIPTOR};
    /* The one behind the kernel that writes the arguments is left out: the first behind any kernel,
     * or with addresses, where kernels copy before it, the second. */
    static const uint32_t left_out[] = {0, 2, 0, 1};
    for (uint32_t i = 0; i < 4; i++) {
        layer_reset();
        vyre_device *device = engine_open(0);
        engine_program p = engine_build_bound(device, count_text, modes[i / 2]);
        static outcome got;
        uint32_t n[3] = {4, 2, 1};
        layer_clear_events();
        layer.drop_barrier = left_out[i];
        (void)by_device(&p, n, 0, &got);
        assert_int_equal(layer_missing(!left_out[i]) > 0, left_out[i] != 0);
        assert_int_equal(layer_unjudged(), 0);
        if (left_out[i]) {
            layer_forget_hazards();
        } else {
            assert_int_equal(got.c[0], 8);
        }
        engine_release(&p);
        engine_close(&device);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void expect_refused(const engine_program *p, const vyre_dispatch_params *params,
                           vyre_result code, uint32_t binding, const char *part)
{
    vyre_diag diag;
    assert_int_equal(try(p, params, &diag), code);
    if (!strstr(diag.message, part)) {
        fail_msg("not \"%s\": %s", part, diag.message);
    }
    assert_non_null(strstr(diag.message, ". Fix: "));
    assert_int_equal(diag.binding, binding);
}

static void test_grid_from_refuses_what_it_cannot_run(void **state)
{
    (void)state;
    NEED_DEVICE();
    layer_reset();
    vyre_device *device = engine_open(0);
    engine_program p = engine_build(device, count_text);
    static outcome got;
    uint32_t n[3] = {1, 1, 1};
    vyre_binding bindings[3] = {engine_host_in(n, 2), engine_host_inout(got.c, 8),
                                engine_host_inout(got.seen, SEEN)};
    vyre_dispatch_params params = counted(bindings, 0);
    expect_refused(&p, &params, VYRE_ERROR_INVALID_ARGUMENT, 0, "has 2 elements");
    bindings[0].count = 3;
    params.groups[0] = 1;
    expect_refused(&p, &params, VYRE_ERROR_INVALID_ARGUMENT, 0, "grid from a buffer");
    params.groups[0] = 0;
    params.elements[0] = 1;
    expect_refused(&p, &params, VYRE_ERROR_INVALID_ARGUMENT, 0, "grid from a buffer");
    engine_release(&p);
    /* A buffer that the program writes cannot be it, whatever its name. */
    vyre_buffer one = engine_buffer(device, 64, NULL);
    p = engine_build(device,
                     "program o\nworkgroup 1\ngrid from n\nin n : u32[3]\ninout c : u32[3]\n"
                     "kernel { c[0] = 1 }\n");
    vyre_binding same[2] = {engine_resident(one, 0, 3), engine_resident(one, 0, 3)};
    params = counted(same, 0);
    params.binding_count = 2;
    expect_refused(&p, &params, VYRE_ERROR_INVALID_ARGUMENT, 1, "overlap");
    engine_release(&p);
    p = engine_build(device, "program o\nworkgroup 1\ninout c : u32[3]\nkernel { c[0] = 1 }\n");
    params = counted(&same[1], 7);
    params.binding_count = 1;
    params.groups[0] = 1;
    expect_refused(&p, &params, VYRE_ERROR_INVALID_ARGUMENT, VYRE_DIAG_NONE, "max_groups is 7");
    engine_release(&p);
    must_destroy(device, &one);
    engine_close(&device);
}

static void test_grid_from_pipelines_warm_up(void **state)
{
    (void)state;
    NEED_DEVICE();
    for (int mode = VYRE_BINDINGS_ADDRESS; mode <= VYRE_BINDINGS_DESCRIPTOR; mode++) {
        layer_reset();
        vyre_device *device = engine_open(0);
        engine_program p = engine_build_bound(device, count_text, (vyre_binding_mode)mode);
        vyre_diag diag;
        assert_int_equal(vyre_pipeline_warm_up(p.pipeline, &diag), VYRE_OK);
        engine_release(&p);
        engine_close(&device);
    }
}

/* ---- Failures -------------------------------------------------------------------------------- */

static const char fail_text[] = "program fails\nworkgroup 1\ngrid from n\nfixpoint 3\n"
                                "in n : u32[3]\nout c : u32[2]\n"
                                "kernel { let v = n[0] + wid.x  grid_sync\n"
                                "  atomic_add(c[0], 1) atomic_add(c[1], v) }\n";

typedef struct work {
    const vyre_allocator *allocator;
    vyre_device *device;
    vyre_kernel *kernel;
    vyre_pipeline *pipeline;
    uint32_t c[2];
} work;

static vyre_result fail_step(void *user, uint32_t number, vyre_diag *diag)
{
    work *w = user;
    const vyre_allocator *allocator = w->allocator;
    if (number == 0) {
        vyre_device_params params;
        vyre_device_params_init(&params);
        params.get_instance_proc_addr = layer_entry();
        params.allocator = allocator;
        return vyre_device_create(&params, &w->device, diag);
    }
    if (number == 1) {
        vyre_program *program = NULL;
        vyre_kernel_params params;
        vyre_device_kernel_params(w->device, &params);
        params.allocator = allocator;
        vyre_result code =
            vyre_program_parse(fail_text, sizeof fail_text - 1, "t", allocator, &program, diag);
        code = code ? code : vyre_kernel_compile(program, &params, &w->kernel, diag);
        vyre_program_destroy(&program);
        return code;
    }
    if (number == 2) {
        return vyre_pipeline_create(w->device, w->kernel, NULL, &w->pipeline, diag);
    }
    if (number == 3) {
        return vyre_pipeline_warm_up(w->pipeline, diag);
    }
    uint32_t n[3] = {3, 2, 1};
    vyre_binding bindings[2] = {engine_host_in(n, 3), engine_host_out(w->c, 2)};
    vyre_dispatch_params params = counted(bindings, 10);
    params.binding_count = 2;
    vyre_report report = {0};
    vyre_result code = vyre_dispatch(w->pipeline, &params, &report, diag);
    if (code == VYRE_OK) {
        assert_memory_equal(report.groups, n, sizeof n);
        assert_int_equal(w->c[0], 18);
        assert_int_equal(w->c[1], 3 * 2 * (3 + 4 + 5));
    }
    return code;
}

static layer_scenario_start opening;

static vyre_result fail_run(const vyre_allocator *allocator, void *user, vyre_diag *diag)
{
    work w = {.allocator = allocator};
    (void)user;
    const layer_scenario_steps steps = {fail_step, &w, 6, 1, &opening};
    vyre_result first = layer_scenario_run_steps(&steps, allocator, diag);
    vyre_pipeline_destroy(&w.pipeline);
    vyre_kernel_destroy(&w.kernel);
    vyre_device_destroy(&w.device);
    return first;
}

static void test_grid_from_survives_each_failure(void **state)
{
    (void)state;
    NEED_DEVICE();
    const layer_scenario_params params = {.run = fail_run, .start = &opening};
    for (int way = 0; way < 2; way++) {
        layer_reset();
        layer.no_addresses = layer.no_push_descriptor = way == 1;
        assert_true(layer_scenario_fail_calls(&params) > 50);
    }
    layer_reset();
    assert_true(layer_scenario_fail_allocations(&params, 3) > 20);
}

/* A program that does nothing has no segments: nothing reads the counts. */
static void check_nothing(vyre_device *device, int form)
{
    uint32_t n[3] = {3, 4, 5};
    (void)form;
    engine_program p = engine_build(
        device, "program nothing\nworkgroup 1\ngrid from n\nin n : u32[3]\nkernel { }\n");
    vyre_binding binding = engine_host_in(n, 3);
    vyre_dispatch_params params = counted(&binding, 0);
    params.binding_count = 1;
    vyre_report report = must_dispatch(&p, &params);
    assert_int_equal(report.segments, 0);
    assert_int_equal(report.groups[0] | report.groups[1] | report.groups[2], 0);
    assert_int_equal(report.is_grid_clamped, 0);
    engine_release(&p);
}

static void test_grid_from_is_not_read_without_segments(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, check_nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_from_runs_what_the_buffer_says),
        cmocka_unit_test(test_grid_from_on_memory_that_the_device_cannot_read_directly),
        cmocka_unit_test(test_grid_from_on_a_device_that_launches_few),
        cmocka_unit_test(test_grid_from_in_a_fixpoint),
        cmocka_unit_test(test_grid_from_is_not_read_without_segments),
        cmocka_unit_test(test_grid_from_in_several_chunks),
        cmocka_unit_test(test_grid_from_with_values_across_a_cut),
        cmocka_unit_test(test_grid_from_is_steady_whatever_the_counts),
        cmocka_unit_test(test_grid_from_follows_an_earlier_step),
        cmocka_unit_test(test_grid_from_has_the_barriers_that_it_needs),
        cmocka_unit_test(test_grid_from_refuses_what_it_cannot_run),
        cmocka_unit_test(test_grid_from_pipelines_warm_up),
        cmocka_unit_test(test_grid_from_survives_each_failure),
    };
    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
