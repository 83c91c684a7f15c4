/* The strategy workgroup: one dispatch runs all segments and passes of a grid of one workgroup, and
 * leaves what replay leaves, bit for bit: buffers, passes, convergence, records. */
#include "codegen/kernel.h"
#include "tests/support/differential.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/validate_words.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS       400u
#define MAX_WORDS   256u
#define MAX_BUFFERS 4u

/* ---- Both strategies side by side ------------------------------------------------------------ */

/* One inout buffer of words for each of the program's buffers that is not scratch. */
typedef struct outcome {
    uint32_t words[MAX_BUFFERS][MAX_WORDS];
    vyre_report report;
} outcome;

typedef struct subject {
    const char *text;
    uint32_t counts[MAX_BUFFERS]; /* 0: scratch */
    uint32_t buffer_count, elements, passes;
    uint32_t start; /* word 0 of the first buffer */
} subject;

static void run(const engine_program *p, const subject *s, vyre_strategy strategy, outcome *out)
{
    vyre_binding bindings[MAX_BUFFERS] = {{.kind = VYRE_BINDING_NONE}};
    memset(out, 0, sizeof *out);
    for (uint32_t b = 0; b < s->buffer_count; b++) {
        for (uint32_t i = 0; i < s->counts[b]; i++) {
            out->words[b][i] = i * 2654435761u + b;
        }
        if (s->counts[b]) {
            bindings[b] = engine_host_inout(out->words[b], s->counts[b]);
        } else {
            bindings[b] = (vyre_binding){.kind = VYRE_BINDING_NONE};
        }
    }
    out->words[0][0] = s->start;
    vyre_dispatch_params params = engine_elements(bindings, s->buffer_count, s->elements);
    params.passes = s->passes;
    params.strategy = strategy;
    out->report = must_dispatch(p, &params);
}

static void check_same(const outcome *a, const outcome *b)
{
    const vyre_fault_record *x = &a->report.record, *y = &b->report.record;
    assert_string_equal(a->report.strategy, "replay");
    assert_string_equal(b->report.strategy, "workgroup");
    assert_memory_equal(a->words, b->words, sizeof a->words);
    assert_int_equal(a->report.passes, b->report.passes);
    assert_int_equal(a->report.convergence, b->report.convergence);
    assert_int_equal(a->report.passes_saved, b->report.passes_saved);
    assert_int_equal(a->report.segments, b->report.segments);
    assert_int_equal(x->kind, y->kind);
    assert_int_equal(x->code, y->code);
    assert_int_equal(x->line, y->line);
    assert_int_equal(x->pass, y->pass);
    assert_int_equal(x->segment, y->segment);
    assert_int_equal(x->invocation, y->invocation);
}

/* Twice by each, in both ways of binding; the report of the last. */
static vyre_report compare(vyre_device *device, const subject *s)
{
    static outcome a, b;
    for (int mode = 0; mode < 2; mode++) {
        vyre_device_info info;
        vyre_device_get_info(device, &info);
        if (mode == 0 && !info.has_addresses) {
            continue;
        }
        engine_program p = engine_build_bound(
            device, s->text, mode == 0 ? VYRE_BINDINGS_ADDRESS : VYRE_BINDINGS_DESCRIPTOR);
        for (int i = 0; i < 2; i++) {
            run(&p, s, VYRE_STRATEGY_REPLAY, &a);
            run(&p, s, VYRE_STRATEGY_WORKGROUP, &b);
            check_same(&a, &b);
        }
        engine_release(&p);
    }
    return b.report;
}

static vyre_device *device;

static int open_device(void **state)
{
    (void)state;
    layer_reset();
    device = engine_has_no_device() ? NULL : engine_open(1);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    if (device) {
        engine_close(&device);
        assert_int_equal(layer_alive(), 0);
    }
    return 0;
}

/* ---- Fixpoints ------------------------------------------------------------------------------- */

static const char countdown_text[] = "program countdown\nworkgroup 1\n"
                                     "fixpoint 100000 until changed\n"
                                     "inout a : u32[4]\n"
                                     "scratch changed : u32[1]\n"
                                     "kernel {\n"
                                     "  if a[0] != 0 { a[0] = a[0] - 1  changed[0] = 1 }\n"
                                     "  grid_sync\n"
                                     "  a[1] = a[1] + 1\n"
                                     "  a[2] = a[2] + pass\n"
                                     "}\n";

static void test_workgroup_ends_a_fixpoint_where_replay_does(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const struct {
        uint32_t from, limit, passes;
        vyre_convergence convergence;
    } cases[] = {
        {0, 0, 1, VYRE_CONVERGENCE_YES},     {1, 0, 2, VYRE_CONVERGENCE_YES},
        {100, 0, 101, VYRE_CONVERGENCE_YES}, {5, 6, 6, VYRE_CONVERGENCE_YES},
        {5, 5, 5, VYRE_CONVERGENCE_LIMIT},   {5, 1, 1, VYRE_CONVERGENCE_LIMIT},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        subject s = {.text = countdown_text,
                     .counts = {4, 0},
                     .buffer_count = 2,
                     .elements = 1,
                     .passes = cases[i].limit,
                     .start = cases[i].from};
        vyre_report report = compare(device, &s);
        assert_int_equal(report.passes, cases[i].passes);
        assert_int_equal(report.convergence, cases[i].convergence);
        assert_int_equal(report.dispatches_recorded, 1);
        assert_int_equal(report.dispatches_executed, 1);
        assert_int_equal(report.chunks, 1);
    }
}

/* A launch holds 8,192 passes of two segments: what ended in one stays ended in the next. */
static void test_workgroup_cuts_long_fixpoints_into_launches(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const uint32_t froms[] = {8190, 8191, 8192, 20000};
    engine_program p = engine_build(device, countdown_text);
    for (size_t i = 0; i < VY_COUNT_OF(froms); i++) {
        static outcome o;
        subject s = {.text = countdown_text,
                     .counts = {4, 0},
                     .buffer_count = 2,
                     .elements = 1,
                     .start = froms[i]};
        run(&p, &s, VYRE_STRATEGY_WORKGROUP, &o);
        uint32_t n = froms[i] + 1;
        assert_int_equal(o.words[0][0], 0);
        assert_int_equal(o.words[0][1], 2654435761u + n);
        assert_int_equal(o.words[0][2], (uint32_t)(2 * 2654435761u + (uint64_t)n * (n - 1) / 2));
        assert_int_equal(o.report.passes, n);
        assert_int_equal(o.report.convergence, VYRE_CONVERGENCE_YES);
    }
    engine_release(&p);
    p = engine_build(device, "program count\nworkgroup 4\nfixpoint 20000\ninout a : u32[4]\n"
                             "kernel { a[gid.x] += pass }\n");
    static outcome o;
    subject s = {.counts = {4}, .buffer_count = 1, .elements = 3};
    run(&p, &s, VYRE_STRATEGY_WORKGROUP, &o);
    assert_int_equal(o.words[0][0], (uint32_t)(20000ull * 19999 / 2));
    assert_int_equal(o.words[0][3], 3 * 2654435761u); /* there is no invocation for it */
    assert_int_equal(o.report.passes, 20000);
    assert_int_equal(o.report.dispatches_executed, 2);
    engine_release(&p);
}

/* ---- Segments -------------------------------------------------------------------------------- */

static void test_workgroup_keeps_what_segments_mean(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const char *const texts[] = {
        /* Values live on; a return ends its segment alone; names not reached are zero. */
        "program live\nworkgroup 64\nfixpoint 5\ninout a : u32[64]\ninout b : u32[64]\n"
        "kernel {\n  var x = a[lid.x]\n  let early = x * 3\n"
        "  if x % 3 == 0 { return }\n  let late = b[63 - lid.x] + pass\n"
        "  for i in 0 .. lid.x { x += i  if x % 7 == 0 { x += 100  return } }\n"
        "  grid_sync\n  b[lid.x] += late + early\n  if x % 2 == 0 { x = x + 1 return }\n"
        "  x += 5\n  grid_sync\n  a[lid.x] = x + late * 7 + b[(lid.x + 1) % 64]\n}\n",
        /* Shared memory is zero in each segment, whatever its size and type. */
        "program cleared\nworkgroup 8, 8\nfixpoint 3\ninout a : u32[64]\ninout b : u32[200]\n"
        "shared s : u32[200]\nshared v : f32x4[10]\nshared w : bool[64]\nshared one : u32[1]\n"
        "fn at(i: u32) -> u32 { return s[i] }\n"
        "kernel {\n  let i = lid.y * 8 + lid.x\n"
        "  for k in 0 .. 4 { if i + 64 * k < 200 { b[i + 64 * k] += s[i + 64 * k] } }\n"
        "  if i < 10 { a[i] += u32(v[i].z) + one[0] }\n  barrier\n"
        "  s[i] = i + 1  s[199 - i] = 7\n  w[i] = true\n  if i < 10 { v[i] = f32x4(5.0) }\n"
        "  atomic_add(one[0], 1)\n  barrier\n  a[i] += s[(i + 1) % 64]\n  grid_sync\n"
        "  a[i] += at(i) + one[0]\n  if w[i] { a[i] = 12345 }\n  grid_sync\n  b[i] += one[0]\n}\n",
        /* What the host evaluates: loops, conditions, arrays that cross cuts. */
        "program host_steps\nworkgroup 16\nfixpoint 4\ninout a : u32[64]\ninout b : u32[64]\n"
        "kernel {\n  var keep : u32[6]\n  var sum = 1\n"
        "  for i in 0 .. 5 step 2 {\n    keep[i] = a[lid.x] + i\n    sum += keep[i]\n"
        "    if sum % 5 == 0 { return }\n"
        "    if len(a) == 64 { a[lid.x + 16] += sum  grid_sync  sum += a[(lid.x + 1) % 16 + 16] }\n"
        "    else { sum = 0  grid_sync }\n    for k in 1 .. 3 down { grid_sync  sum ^= k + i }\n  "
        "}\n"
        "  grid_sync\n  for i in 0 .. 6 { b[lid.x] += keep[i] * 3 + sum }\n}\n",
        /* Workgroup-agnostic, with fewer elements than invocations. */
        "program agnostic\nworkgroup 64\ngrid over a\nfixpoint 9\ninout a : u32[]\n"
        "inout total : u32[8]\n"
        "kernel {\n  atomic_add(total[0], 1)\n  let x = a[gid.x] * 5 + 1\n  grid_sync\n"
        "  a[(gid.x + 1) % len(a)] = x + total[0]\n  if x % 2 == 0 { return }\n"
        "  atomic_xor(total[1], x)\n}\n",
    };
    static const subject subjects[] = {
        {.counts = {64, 64}, .buffer_count = 2, .elements = 64},
        {.counts = {64, 200}, .buffer_count = 2, .elements = 8},
        {.counts = {64, 64}, .buffer_count = 2, .elements = 16},
        {.counts = {37, 8}, .buffer_count = 2, .elements = 0},
    };
    for (size_t i = 0; i < VY_COUNT_OF(subjects); i++) {
        subject s = subjects[i];
        s.text = texts[i];
        (void)compare(device, &s);
    }
}

static void test_workgroup_leaves_the_first_record(void **state)
{
    (void)state;
    NEED_OPEN(device);
    subject s = {.text = "program records\nworkgroup 8\nloop_limit 10\nfixpoint 6\n"
                         "inout a : u32[16]\n"
                         "kernel {\n  a[8] += 3\n"
                         "  for h in 0 .. 3 {\n    grid_sync\n"
                         "    var k = 0\n    while k < 5 + lid.x { k += 1 }\n"
                         "    a[lid.x] = k\n"
                         "    if pass == 2 && h == 1 && lid.x > 2 { trap(77) }\n  }\n"
                         "  grid_sync\n  trap(5)\n}\n",
                 .counts = {16},
                 .buffer_count = 1,
                 .elements = 8};
    vyre_report report = compare(device, &s);
    assert_int_equal(report.record.kind, VYRE_RECORD_LOOP_LIMIT);
    assert_int_equal(report.record.pass, 0);
    assert_int_equal(report.record.invocation, 6);
    s.text = "program later\nworkgroup 8\nfixpoint 6\ninout a : u32[16]\n"
             "kernel {\n  a[8] += 3\n  for h in 0 .. 3 {\n    grid_sync\n"
             "    if pass == 2 && h == 1 && lid.x > 2 { trap(77) }\n  }\n"
             "  grid_sync\n  if pass == 3 { trap(5) }\n}\n";
    report = compare(device, &s);
    assert_int_equal(report.record.kind, VYRE_RECORD_TRAP);
    assert_int_equal(report.record.code, 77);
    assert_int_equal(report.record.pass, 2);
    assert_int_equal(report.record.segment, 1);
    assert_int_equal(report.record.invocation, 3);
}

/* ---- What cannot run so ---------------------------------------------------------------------- */

static void check_refusal(const char *text, uint32_t elements, const char *why)
{
    static uint32_t words[MAX_WORDS];
    engine_program p = engine_build(device, text);
    vyre_binding bindings[] = {engine_host_inout(words, MAX_WORDS)};
    vyre_dispatch_params params = engine_elements(bindings, 1, elements);
    params.strategy = VYRE_STRATEGY_WORKGROUP;
    vyre_diag diag;
    words[0] = 1234;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, why));
    assert_int_equal(words[0], 1234);
    /* The library's own choice runs it. */
    params.strategy = VYRE_STRATEGY_AUTO;
    vyre_report report = must_dispatch(&p, &params);
    assert_string_equal(report.strategy, "replay");
    engine_release(&p);
}

static void test_workgroup_is_refused_where_it_cannot_be(void **state)
{
    (void)state;
    NEED_OPEN(device);
    check_refusal("program large\nworkgroup 64\ninout a : u32[256]\nkernel { a[gid.x] += 1 }\n", 65,
                  "more than one workgroup");
    check_refusal("program lanes_\nworkgroup 64\ninout a : u32[256]\n"
                  "kernel { a[gid.x] += lane }\n",
                  64, "uses subgroups");
    static uint32_t words[4];
    engine_program p = engine_build(
        device, "program one\nworkgroup 4\ninout a : u32[4]\nkernel { a[gid.x] += 1 }\n");
    vyre_binding bindings[] = {engine_host_inout(words, 4)};
    vyre_dispatch_params params = engine_elements(bindings, 1, 4);
    params.strategy = (vyre_strategy)9;
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "no strategy"));
    engine_release(&p);
}

/* ---- The library's choice -------------------------------------------------------------------- */

static vyre_report run_by_choice(const char *text, uint32_t elements, uint32_t passes)
{
    static uint32_t words[MAX_WORDS];
    engine_program p = engine_build(device, text);
    vyre_binding bindings[] = {engine_host_inout(words, MAX_WORDS)};
    vyre_dispatch_params params = engine_elements(bindings, 1, elements);
    params.strategy = VYRE_STRATEGY_AUTO;
    params.passes = passes;
    memset(words, 0, sizeof words);
    vyre_report report = must_dispatch(&p, &params);
    assert_int_equal(words[0], report.passes * report.segments);
    engine_release(&p);
    return report;
}

static void test_choice_is_one_workgroup_where_that_saves_dispatches(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const char once[] = "program once\nworkgroup 64\nfixpoint 1\ninout a : u32[256]\n"
                               "kernel { a[gid.x] += 1 }\n";
    static const char twice[] = "program twice\nworkgroup 64\ninout a : u32[256]\n"
                                "kernel { a[gid.x] += 1  grid_sync  a[gid.x] += 1 }\n";
    static const char wide[] = "program wide\nworkgroup 64\nfixpoint 3\ninout a : u32[256]\n"
                               "kernel { a[gid.x] += 1 + lanes - lanes }\n";
    static const struct {
        const char *text, *strategy, *reason;
        uint32_t elements, passes;
    } cases[] = {
        {once, "replay", "one segment execution in all", 64, 1},
        {once, "workgroup", "a grid of one workgroup", 64, 2},
        {twice, "workgroup", "a grid of one workgroup", 64, 1},
        {once, "replay", "the grid has more than one workgroup", 65, 2},
        {twice, "replay", "the grid has more than one workgroup", 65, 1},
        {wide, "replay", "the program uses subgroups, whose width may differ between pipelines", 64,
         3},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        vyre_report report = run_by_choice(cases[i].text, cases[i].elements, cases[i].passes);
        assert_string_equal(report.strategy, cases[i].strategy);
        assert_string_equal(report.strategy_reason, cases[i].reason);
    }
}

static void test_choice_is_told_apart_from_what_is_asked_for(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static uint32_t words[4];
    engine_program p = engine_build(device, "program four\nworkgroup 4\nfixpoint 9\n"
                                            "inout a : u32[4]\nkernel { a[gid.x] += 1 }\n");
    vyre_binding bindings[] = {engine_host_inout(words, 4)};
    vyre_dispatch_params params = engine_elements(bindings, 1, 4);
    for (int i = 0; i < 2; i++) {
        params.strategy = i ? VYRE_STRATEGY_WORKGROUP : VYRE_STRATEGY_REPLAY;
        vyre_report report = must_dispatch(&p, &params);
        assert_string_equal(report.strategy, i ? "workgroup" : "replay");
        assert_string_equal(report.strategy_reason, "asked for");
    }
    engine_release(&p);
}

static void fail_pipeline(void)
{
    layer.fail_only = "vkCreateComputePipelines";
    layer.failure = VK_ERROR_INVALID_SHADER_NV;
    layer.fail_at = layer_fallible_calls() + 1;
}

/* A driver that refuses the larger module runs the smaller ones; asked for, it is an error. */
static void test_choice_falls_back_where_the_module_cannot_be_made(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static uint32_t words[4];
    engine_program p = engine_build(device, "program five\nworkgroup 4\nfixpoint 9\n"
                                            "inout a : u32[4]\nkernel { a[gid.x] += 1 }\n");
    vyre_binding bindings[] = {engine_host_inout(words, 4)};
    vyre_dispatch_params params = engine_elements(bindings, 1, 4);
    vyre_diag diag;
    params.strategy = VYRE_STRATEGY_WORKGROUP;
    fail_pipeline();
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag),
                     VYRE_ERROR_KERNEL_COMPILE_FAILED);
    params.strategy = VYRE_STRATEGY_AUTO;
    fail_pipeline();
    for (int i = 0; i < 2; i++) { /* and is not asked again */
        memset(words, 0, sizeof words);
        vyre_report report = must_dispatch(&p, &params);
        assert_string_equal(report.strategy, "replay");
        assert_string_equal(report.strategy_reason,
                            "the module for one workgroup could not be made");
        assert_int_equal(words[3], 9);
    }
    engine_release(&p);
}

/* ---- Generated programs ---------------------------------------------------------------------- */

static bool judge_module(vyre_kernel *kernel, vyre_interface interface, bool is_aliased,
                         char *message, size_t size)
{
    const uint32_t *words = NULL;
    uint32_t count = 0;
    vyre_diag diag;
    vy_variant variant = {.interface = interface, .is_aliased = is_aliased, .is_whole = true};
    if (vy_kernel_variant(kernel, variant, 0, &words, &count, &diag) != VYRE_OK) {
        snprintf(message, size, "%s", diag.message);
        return false;
    }
    bool (*judge)(const uint32_t *, uint32_t, vyre_target, char *, size_t) = vy_validate_words;
    return !judge || judge(words, count, VYRE_TARGET_VULKAN_1_3, message, size);
}

static void judge_modules(void *unused, vyre_kernel *kernel)
{
    (void)unused;
    for (int i = 0; i < 4 && !vy_kernel_workgroup_hindrance(kernel); i++) {
        char message[1024] = "";
        vyre_interface interface = i & 1 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR;
        if (!judge_module(kernel, interface, i & 2, message, sizeof message)) {
            fail_msg("%s: %s", vyre_kernel_name(kernel), message);
        }
    }
}

/* The grid becomes one workgroup where the program leaves it to the caller. */
static void make_one_group(vy_generated *info)
{
    for (int i = 0; i < 3; i++) {
        info->groups[i] = 1;
        info->elements[i] = i == 0 && info->elements[i] % 8 ? info->elements[i] % 8 : 1;
    }
}

static void test_generated_programs_agree_as_one_workgroup(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *own = vy_test_device();
    assert_non_null(own);
    uint32_t whole_count = 0;
    const vy_hooks hooks = {.kernel = judge_modules};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        vy_gen_case c;
        vy_comparison comparison;
        vy_mode mode = vy_mode_of_seed(own, seed);
        mode.optimised = false;
        mode.whole = true;
        vy_gen_case_generate(seed, &c);
        make_one_group(&c.info);
        vy_compare(own, c.text.data, c.text.size, &c.info, &mode, &hooks, &comparison);
        whole_count += comparison.is_whole;
        if (comparison.verdict != VY_SAME && comparison.verdict != VY_SKIPPED) {
            fail_msg("seed %u: %s\n%s", (unsigned)seed, comparison.message, c.text.data);
        }
        vy_gen_case_finish(&c);
    }
    print_message("    %u of %u programs ran as one workgroup\n", (unsigned)whole_count, SEEDS);
    assert_true(whole_count > SEEDS / 3);
    vyre_device_destroy(&own);
}

/* Runs the tests whose names match the argument; without one all. */
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_workgroup_ends_a_fixpoint_where_replay_does,
                                        open_device, close_device),
        cmocka_unit_test_setup_teardown(test_workgroup_cuts_long_fixpoints_into_launches,
                                        open_device, close_device),
        cmocka_unit_test_setup_teardown(test_workgroup_keeps_what_segments_mean, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(test_workgroup_leaves_the_first_record, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(test_workgroup_is_refused_where_it_cannot_be, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(test_choice_is_one_workgroup_where_that_saves_dispatches,
                                        open_device, close_device),
        cmocka_unit_test_setup_teardown(test_choice_is_told_apart_from_what_is_asked_for,
                                        open_device, close_device),
        cmocka_unit_test_setup_teardown(test_choice_falls_back_where_the_module_cannot_be_made,
                                        open_device, close_device),
        cmocka_unit_test(test_generated_programs_agree_as_one_workgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
