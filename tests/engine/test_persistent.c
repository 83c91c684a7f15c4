/* The strategy persistent: workgroups that stay walk the grid, and leave what replay leaves, bit
 * for bit. What a device that runs one workgroup after the other cannot show is judged by the
 * words. */
#include "codegen/kernel.h"
#include "engine/device/device.h"
#include "engine/exec/plan.h"
#include "tests/support/differential.h"
#include "tests/support/engine_fixture.h"
#include "tests/support/validate_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS       400u
#define MAX_WORDS   65536u
#define MAX_BUFFERS 3u

static vyre_device *device;

/* Devices with validation bind by descriptors unless they are told. */
static engine_program build(const char *text)
{
    return engine_build_bound(device, text, VYRE_BINDINGS_ADDRESS);
}

static int open_device(void **state)
{
    (void)state;
    layer_reset();
    vyre_device_info info = {.has_addresses = 0};
    device = engine_has_no_device() ? NULL : engine_open(1);
    if (device) {
        vyre_device_get_info(device, &info);
    }
    if (device && !info.has_addresses) {
        engine_close(&device);
    }
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

/* ---- Beside replay --------------------------------------------------------------------------- */

typedef struct outcome {
    uint32_t words[MAX_BUFFERS][MAX_WORDS];
    vyre_report report;
} outcome;

typedef struct subject {
    const char *text;
    uint32_t counts[MAX_BUFFERS];
    uint32_t buffer_count, elements, passes, residents;
} subject;

static void run(const engine_program *p, const subject *s, vyre_strategy strategy, outcome *out)
{
    vyre_binding bindings[MAX_BUFFERS] = {{.kind = VYRE_BINDING_NONE}};
    memset(out, 0, sizeof *out);
    for (uint32_t b = 0; b < s->buffer_count; b++) {
        for (uint32_t i = 0; i < s->counts[b]; i++) {
            out->words[b][i] = i * 2654435761u + b;
        }
        bindings[b] = engine_host_inout(out->words[b], s->counts[b]);
    }
    vyre_dispatch_params params = engine_elements(bindings, s->buffer_count, s->elements);
    params.passes = s->passes;
    params.strategy = strategy;
    params.resident_groups = s->residents;
    out->report = must_dispatch(p, &params);
}

/* Twice by each; the report of the last. */
static vyre_report compare(const subject *s)
{
    static outcome a, b;
    engine_program p = build(s->text);
    for (int i = 0; i < 2; i++) {
        run(&p, s, VYRE_STRATEGY_REPLAY, &a);
        run(&p, s, VYRE_STRATEGY_PERSISTENT, &b);
        const vyre_fault_record *x = &a.report.record, *y = &b.report.record;
        assert_string_equal(a.report.strategy, "replay");
        assert_string_equal(b.report.strategy, "persistent");
        assert_memory_equal(a.words, b.words, sizeof a.words);
        assert_int_equal(a.report.passes, b.report.passes);
        assert_int_equal(a.report.segments, b.report.segments);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->code, y->code);
        assert_int_equal(x->pass, y->pass);
        assert_int_equal(x->segment, y->segment);
        assert_int_equal(x->invocation, y->invocation);
    }
    engine_release(&p);
    return b.report;
}

static const char live_text[] =
    "program live\nworkgroup 16\nfixpoint 5\ninout a : u32[200]\ninout b : u32[200]\n"
    "shared s : u32[40]\nshared one : u32[1]\n"
    "kernel {\n  var keep : u32[6]\n  var x = a[gid.x]\n  let early = x * 3\n"
    "  if x % 3 == 0 { return }\n  let late = b[199 - gid.x] + pass\n"
    "  for i in 0 .. 5 step 2 {\n    grid_sync\n    keep[i] = a[gid.x] + i\n"
    "    s[lid.x] = keep[i]  s[39 - lid.x] += 7\n    atomic_add(one[0], 1)\n    barrier\n"
    "    x += s[(lid.x + 1) % 16] + one[0]\n    b[gid.x] += x\n  }\n"
    "  grid_sync\n  a[gid.x] = x + late + early + keep[4] + b[(gid.x + 1) % 200] + num_groups.x\n"
    "  if s[lid.x] != 0 { a[gid.x] = 12345 }\n}\n";

static void test_persistent_keeps_what_segments_mean(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const char agnostic[] =
        "program agnostic\nworkgroup 64\ngrid over a\nfixpoint 9\ninout a : u32[]\n"
        "inout total : u32[8]\n"
        "kernel {\n  atomic_add(total[0], 1)\n  let x = a[gid.x] * 5 + 1\n  grid_sync\n"
        "  a[(gid.x + 1) % len(a)] = x + total[0]\n  if x % 2 == 0 { return }\n"
        "  atomic_xor(total[1], x)\n}\n";
    static const uint32_t sizes[] = {1, 15, 16, 17, 31, 32, 33, 199, 200};
    for (size_t i = 0; i < VY_COUNT_OF(sizes); i++) {
        subject s = {.text = live_text,
                     .counts = {200, 200},
                     .buffer_count = 2,
                     .elements = sizes[i],
                     .residents = 1};
        vyre_report report = compare(&s);
        assert_int_equal(report.dispatches_recorded, 1);
        assert_int_equal(report.dispatches_executed, 1);
        s = (subject){.text = agnostic, .counts = {sizes[i], 8}, .buffer_count = 2, .residents = 1};
        (void)compare(&s);
    }
}

static void test_persistent_numbers_groups_of_three_dimensions(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static uint32_t words[2][3 * 4 * 5 * 8];
    engine_program p =
        build("program cube\nworkgroup 2, 2, 2\nfixpoint 3\ninout a : u32[480]\nkernel {\n"
              "  let n = (wid.z * num_groups.y + wid.y) * num_groups.x + wid.x\n"
              "  a[n * 8 + lid.x + 2 * lid.y + 4 * lid.z] += gid.x + 100 * gid.y + 10000 * gid.z\n"
              "}\n");
    for (int i = 0; i < 2; i++) {
        vyre_binding binding = engine_host_inout(words[i], 480);
        vyre_dispatch_params params = engine_elements(&binding, 1, 6);
        params.elements[1] = 8;
        params.elements[2] = 10;
        params.strategy = i ? VYRE_STRATEGY_PERSISTENT : VYRE_STRATEGY_REPLAY;
        (void)must_dispatch(&p, &params);
    }
    assert_memory_equal(words[0], words[1], sizeof words[0]);
    assert_int_equal(words[1][479], 3 * (5 + 100 * 7 + 10000 * 9));
    engine_release(&p);
}

static void test_persistent_leaves_the_first_record(void **state)
{
    (void)state;
    NEED_OPEN(device);
    subject s = {.text = "program later\nworkgroup 8\nfixpoint 6\ninout a : u32[64]\n"
                         "kernel {\n  a[gid.x] += 3\n  for h in 0 .. 3 {\n    grid_sync\n"
                         "    if pass == 2 && h == 1 && gid.x > 12 { trap(77) }\n  }\n"
                         "  grid_sync\n  if pass == 3 { trap(5) }\n}\n",
                 .counts = {64},
                 .buffer_count = 1,
                 .elements = 64,
                 .residents = 1};
    vyre_report report = compare(&s);
    assert_int_equal(report.record.kind, VYRE_RECORD_TRAP);
    assert_int_equal(report.record.code, 77);
    assert_int_equal(report.record.pass, 2);
    assert_int_equal(report.record.segment, 1);
    assert_int_equal(report.record.invocation, 13);
}

/* What the driver would say, of a device with one unit: larger workgroups where the program cannot
 * tell, and the same bytes. */
static void test_persistent_runs_in_large_workgroups_where_nobody_can_tell(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const char text[] = "program tell_not\nworkgroup 64\ngrid over a\nfixpoint 70\n"
                               "inout a : u32[]\ninout total : u32[8]\n"
                               "kernel {\n  let x = a[gid.x] * 5 + pass\n"
                               "  if x % 7 == 0 { trap(9) }\n  grid_sync\n"
                               "  a[(gid.x + 1) % len(a)] = x\n  if x % 2 == 0 { return }\n"
                               "  atomic_xor(total[1], x)\n}\n";
    static const uint32_t sizes[] = {1, 64, 65, 1023, 1024, 1025, 2048, 2049};
    uint32_t units = device->snapshot.info.compute_units;
    for (size_t i = 0; i < VY_COUNT_OF(sizes); i++) {
        subject s = {.text = text, .counts = {sizes[i], 8}, .buffer_count = 2};
        device->snapshot.info.compute_units = 1;
        device->persistent_least = 64;
        vyre_report report = compare(&s);
        assert_int_equal(report.groups[0], (sizes[i] + 63) / 64);
        static outcome o;
        engine_program p = build(text);
        run(&p, &s, VYRE_STRATEGY_AUTO, &o);
        const char *by = sizes[i] <= 64     ? "workgroup"
                         : sizes[i] <= 2048 ? "persistent" /* two rounds of 1,024 */
                                            : "replay";
        assert_string_equal(o.report.strategy, by);
        engine_release(&p);
        device->snapshot.info.compute_units = units;
        device->persistent_least = 0;
    }
}

/* Two run at once on every device that has two threads to run them on. */
static void test_persistent_meets_with_two_workgroups(void **state)
{
    (void)state;
    NEED_OPEN(device);
    subject s = {.text = live_text,
                 .counts = {200, 200},
                 .buffer_count = 2,
                 .elements = 200,
                 .passes = 20,
                 .residents = 2};
    (void)compare(&s);
}

/* ---- Fixpoints ------------------------------------------------------------------------------- */

/* The flag by stores, atomics and loads, of several groups; its buffer is compared too. */
static void test_persistent_ends_a_fixpoint_where_replay_does(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const char text[] =
        "program hops\nworkgroup 16\nfixpoint 100000 until changed\ninout a : u32[64]\n"
        "inout b : u32[64]\ninout changed : u32[3]\nparam last : u32\n"
        "kernel {\n  b[gid.x] = a[63 - gid.x] + pass\n"
        "  if gid.x == 40 && pass % 2 == 0 && pass + 1 < last { atomic_add(changed[0], pass + 1) "
        "}\n"
        "  if gid.x == 3 && pass % 2 == 1 && pass + 1 < last { changed[0] = 7 }\n"
        "  if gid.x == 5 { changed[2] += 1 }\n"
        "  grid_sync\n  a[gid.x] += b[gid.x] * 3\n  if gid.x == 1 { changed[1] = changed[0] }\n"
        "}\n";
    static const struct {
        uint32_t last, limit, passes;
        vyre_convergence convergence;
    } cases[] = {
        {0, 0, 1, VYRE_CONVERGENCE_YES},   {1, 0, 1, VYRE_CONVERGENCE_YES},
        {2, 0, 2, VYRE_CONVERGENCE_YES},   {3, 0, 3, VYRE_CONVERGENCE_YES},
        {4, 0, 4, VYRE_CONVERGENCE_YES},   {5, 0, 5, VYRE_CONVERGENCE_YES},
        {6, 0, 6, VYRE_CONVERGENCE_YES},   {100, 0, 100, VYRE_CONVERGENCE_YES},
        {7, 7, 7, VYRE_CONVERGENCE_YES},   {8, 7, 7, VYRE_CONVERGENCE_LIMIT},
        {9, 8, 8, VYRE_CONVERGENCE_LIMIT}, {5, 1, 1, VYRE_CONVERGENCE_LIMIT},
    };
    engine_program p = build(text);
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        static uint32_t words[3][3][64];
        for (int k = 0; k < 3; k++) {
            vyre_binding bindings[3];
            for (uint32_t b = 0; b < 3; b++) {
                for (uint32_t w = 0; w < 64; w++) {
                    words[k][b][w] = w * 2654435761u + b;
                }
                bindings[b] = engine_host_inout(words[k][b], b == 2 ? 3 : 64);
            }
            vyre_dispatch_params params = engine_elements(bindings, 3, 64);
            params.params = &cases[i].last;
            params.param_count = 1;
            params.passes = cases[i].limit;
            params.strategy = k ? VYRE_STRATEGY_PERSISTENT : VYRE_STRATEGY_REPLAY;
            params.resident_groups = (uint32_t)k;
            vyre_report report = must_dispatch(&p, &params);
            assert_int_equal(report.passes, cases[i].passes);
            assert_int_equal(report.convergence, cases[i].convergence);
            assert_memory_equal(words[0], words[k], sizeof words[0]);
            if (k) {
                assert_string_equal(report.strategy, "persistent");
                assert_int_equal(report.dispatches_executed, 1);
                assert_int_equal(report.submissions, 1);
            }
        }
    }
    engine_release(&p);
}

/* What ended in one launch stays ended in the next, and what did not goes on in its phase. */
static void test_persistent_goes_on_with_a_fixpoint_in_the_next_launch(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const char text[] = "program far\nworkgroup 1\nfixpoint 100000 until changed\n"
                               "inout a : u32[16384]\nscratch changed : u32[1]\nparam last : u32\n"
                               "kernel {\n  a[gid.x] += pass\n"
                               "  if gid.x == 9 && pass + 1 < last { changed[0] = 1 }\n"
                               "  grid_sync\n  a[gid.x] = a[gid.x] * 3 + 1\n}\n";
    /* 16,384 rounds: 4 executions a launch, two passes. */
    static const uint32_t lasts[] = {1, 2, 3, 4, 5, 9, 10};
    engine_program p = build(text);
    for (size_t i = 0; i < VY_COUNT_OF(lasts); i++) {
        static uint32_t words[2][16384];
        for (int k = 0; k < 2; k++) {
            memset(words[k], 0, sizeof words[k]);
            vyre_binding bindings[2] = {engine_host_inout(words[k], 16384),
                                        {.kind = VYRE_BINDING_NONE}};
            vyre_dispatch_params params = engine_elements(bindings, 2, 16384);
            params.params = &lasts[i];
            params.param_count = 1;
            params.strategy = k ? VYRE_STRATEGY_PERSISTENT : VYRE_STRATEGY_REPLAY;
            params.resident_groups = 1;
            vyre_report report = must_dispatch(&p, &params);
            assert_int_equal(report.passes, lasts[i]);
            assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
            if (k) {
                assert_int_equal(report.dispatches_executed, (lasts[i] + 1) / 2);
            }
        }
        assert_memory_equal(words[0], words[1], sizeof words[0]);
    }
    engine_release(&p);
}

/* ---- Launches -------------------------------------------------------------------------------- */

static void test_persistent_cuts_long_dispatches_into_launches(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const char chain[] = "program chain\nworkgroup 1\nfixpoint 7\ninout a : u32[65536]\n"
                                "inout b : u32[65536]\n"
                                "kernel { a[gid.x] = a[gid.x] * 3 + pass  grid_sync\n"
                                "  b[gid.x] += a[(gid.x + 1) % 65536]  grid_sync\n"
                                "  if gid.x == 0 { a[1] += b[2] } }\n";
    static const struct {
        uint32_t elements, passes, launches;
    } cases[] = {
        /* 16,384 rounds of one workgroup: 4 executions a launch, a pass of three. */
        {16384, 1, 1},
        {16384, 2, 2},
        {16384, 5, 5},
        /* 40,000: one execution a launch. */
        {40000, 1, 3},
        {40000, 3, 9},
        {65536, 2, 6},
        /* 64 rounds: 1,024 executions, 341 passes. */
        {64, 341, 1},
        {64, 342, 2},
        {64, 683, 3},
    };
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        subject s = {.text = chain,
                     .counts = {65536, 65536},
                     .buffer_count = 2,
                     .elements = cases[i].elements,
                     .passes = cases[i].passes,
                     .residents = 1};
        vyre_report report = compare(&s);
        assert_int_equal(report.dispatches_executed, cases[i].launches);
    }
}

/* The schedule lies in memory of its own, whatever a uniform block holds; both where the host
 * writes it in place and where it is copied. */
static void check_schedules(void)
{
    static const uint32_t lengths[] = {1, 2, 455, 456, 4095, 4096};
    for (size_t i = 0; i < VY_COUNT_OF(lengths); i++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "program schedule\nworkgroup 4\ninout a : u32[13]\n"
                       "kernel { for i in 0 .. %u { grid_sync\n"
                       "  a[(gid.x + 1) %% 13] ^= a[gid.x] * 3 + i + len(a) } }\n",
                       (unsigned)lengths[i]);
        subject s = {.text = text, .counts = {13}, .buffer_count = 1, .elements = 1};
        (void)compare(&s);
    }
}

static void test_persistent_reads_schedules_of_any_length(void **state)
{
    (void)state;
    NEED_OPEN(device);
    check_schedules();
}

static void test_persistent_reads_schedules_that_are_copied(void **state)
{
    (void)state;
    NEED_OPEN(device);
    engine_close(&device);
    layer.heaps = LAYER_HEAPS_SEPARATE;
    device = engine_open(1);
    assert_non_null(device);
    check_schedules();
}

/* ---- Stalls ---------------------------------------------------------------------------------- */

static void test_persistent_that_stalls_ends_and_is_off(void **state)
{
    (void)state;
    NEED_OPEN(device);
    /* More than any device runs at once. */
    static const char text[] = "program many\nworkgroup 1024\nfixpoint 4\ninout a : u32[4096]\n"
                               "kernel { if lid.x == 0 { a[wid.x] += 1 } }\n";
    static uint32_t words[4096];
    engine_program p = build(text);
    vyre_binding binding = engine_host_inout(words, 4096);
    vyre_dispatch_params params = engine_elements(&binding, 1, 4096 * 1024);
    params.strategy = VYRE_STRATEGY_PERSISTENT;
    params.resident_groups = 4096;
    vyre_diag diag;
    words[7] = 1234;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_DISPATCH_FAILED);
    assert_non_null(strstr(diag.message, "4096 workgroups"));
    assert_non_null(strstr(diag.message, "are lost"));
    assert_int_equal(words[7], 1234); /* nothing was read back */
    /* From now on it is refused by name, and the library replays, and is right. */
    params.resident_groups = 1;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "did not all run at once"));
    params.strategy = VYRE_STRATEGY_AUTO;
    params.passes = 100;
    vyre_report report = must_dispatch(&p, &params);
    assert_string_equal(report.strategy, "replay");
    assert_int_equal(words[7], 1334);
    assert_int_equal(words[4095], 100);
    engine_release(&p);
}

/* ---- What cannot run so, and the library's choice -------------------------------------------- */

static void check_refusal(const char *text, vyre_binding_mode mode, uint32_t elements,
                          const char *why)
{
    static uint32_t words[256];
    engine_program p = engine_build_bound(device, text, mode);
    vyre_binding bindings[] = {engine_host_inout(words, 256)};
    vyre_dispatch_params params = engine_elements(bindings, 1, elements);
    params.strategy = VYRE_STRATEGY_PERSISTENT;
    vyre_diag diag;
    words[0] = 1234;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, why));
    assert_int_equal(words[0], 1234);
    params.strategy = VYRE_STRATEGY_AUTO;
    (void)must_dispatch(&p, &params);
    engine_release(&p);
}

static void test_persistent_is_refused_where_it_cannot_be(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const char plain[] = "program plain\nworkgroup 64\ninout a : u32[256]\n"
                                "kernel { a[gid.x] += 1 }\n";
    check_refusal(plain, VYRE_BINDINGS_DESCRIPTOR, 256, "bound by descriptors");
    check_refusal("program nothing\nworkgroup 64\ninout a : u32[256]\nkernel { }\n",
                  VYRE_BINDINGS_ADDRESS, 256, "no statements");
    check_refusal("program long\nworkgroup 64\ninout a : u32[256]\n"
                  "kernel { for i in 0 .. 4097 { a[gid.x] += 1  grid_sync } }\n",
                  VYRE_BINDINGS_ADDRESS, 256, "more than 4,096 segment executions");
}

static void test_choice_is_workgroups_that_stay_where_they_are_known_to_run(void **state)
{
    (void)state;
    NEED_OPEN(device);
    static const struct {
        uint32_t elements, passes, residents;
        const char *strategy;
    } cases[] = {
        {128, 64, 1, "persistent"}, {128, 63, 1, "replay"},   {129, 64, 1, "replay"},
        {129, 64, 2, "persistent"}, {64, 64, 1, "workgroup"},
    };
    static uint32_t words[256];
    engine_program p = build("program some\nworkgroup 64\nfixpoint 9\n"
                             "inout a : u32[256]\nkernel { a[gid.x] += 1 }\n");
    /* The library's own number is never reached. */
    for (size_t i = 0; i < VY_COUNT_OF(cases); i++) {
        vyre_binding binding = engine_host_inout(words, 256);
        vyre_dispatch_params params = engine_elements(&binding, 1, cases[i].elements);
        params.strategy = VYRE_STRATEGY_AUTO;
        device->persistent_least = 64;
        params.passes = cases[i].passes;
        params.resident_groups = cases[i].residents;
        memset(words, 0, sizeof words);
        vyre_report report = must_dispatch(&p, &params);
        assert_string_equal(report.strategy, cases[i].strategy);
        assert_int_equal(words[cases[i].elements - 1], cases[i].passes);
        device->persistent_least = 0;
        if (cases[i].elements > 64) {
            report = must_dispatch(&p, &params);
            assert_string_equal(report.strategy, "replay");
        }
    }
    engine_release(&p);
}

/* ---- Meetings -------------------------------------------------------------------------------- */

static void test_plan_lets_workgroups_meet_for_hazards_alone(void **state)
{
    (void)state;
    /* Bit 0, 1, 2: buffers. */
    static const uint64_t spill = (uint64_t)1 << VY_MEM_SPILL;
    static const struct {
        vy_touch touches[4];
        uint32_t count;
        bool meets[4];
    } cases[] = {
        {{{1, 0}, {1, 0}}, 2, {false, false}},
        {{{1, 2}}, 1, {true}},                /* the next pass writes it again */
        {{{1, 2}, {1, 4}}, 2, {true, false}}, /* side by side */
        {{{1, 2}, {2, 4}}, 2, {true, true}},  /* what one leaves the other */
        {{{1, 2}, {4, 8}, {2, 16}}, 3, {true, false, true}},
        {{{1, 2}, {2, 4}, {4, 1}}, 3, {true, true, true}},
        {{{1, 0}, {1, 2}, {4, 0}, {2, 0}}, 4, {false, true, false, true}},
        {{{spill | 1, spill}, {spill | 1, spill | 2}}, 2, {false, true}}, /* spills are its own */
    };
    for (size_t c = 0; c < VY_COUNT_OF(cases); c++) {
        vy_execution executions[4];
        bool meets[4];
        memset(executions, 0, sizeof executions);
        for (uint32_t i = 0; i < 4; i++) {
            executions[i].segment = i;
        }
        vy_plan_meetings(executions, cases[c].count, cases[c].touches, meets);
        for (uint32_t i = 0; i < cases[c].count; i++) {
            if (meets[i] != cases[c].meets[i]) {
                fail_msg("case %u, execution %u", (unsigned)c, (unsigned)i);
            }
        }
    }
}

/* ---- Generated programs ---------------------------------------------------------------------- */

static void judge_modules(void *unused, vyre_kernel *kernel)
{
    (void)unused;
    for (int i = 0; i < 2 && !vy_kernel_persistent_hindrance(kernel); i++) {
        char message[1024] = "";
        const uint32_t *words = NULL;
        uint32_t count = 0;
        vyre_diag diag;
        vy_variant variant = {.interface = VYRE_INTERFACE_ADDRESS,
                              .is_aliased = i == 1,
                              .is_wide = i == 1,
                              .is_persistent = true};
        if (vy_kernel_variant(kernel, variant, 0, &words, &count, &diag) != VYRE_OK) {
            fail_msg("%s: %s", vyre_kernel_name(kernel), diag.message);
        }
        bool (*judge)(const uint32_t *, uint32_t, vyre_target, char *, size_t) = vy_validate_words;
        if (judge && !judge(words, count, VYRE_TARGET_VULKAN_1_3, message, sizeof message)) {
            fail_msg("%s: %s", vyre_kernel_name(kernel), message);
        }
    }
}

static void test_generated_programs_agree_by_workgroups_that_stay(void **state)
{
    (void)state;
    if (engine_has_no_device()) {
        return;
    }
    vyre_device *own = vy_test_device();
    assert_non_null(own);
    uint32_t count = 0;
    const vy_hooks hooks = {.kernel = judge_modules};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        vy_gen_case c;
        vy_comparison comparison;
        vy_mode mode = vy_mode_of_seed(own, seed);
        mode.optimised = false;
        mode.interface = VYRE_INTERFACE_ADDRESS;
        mode.stays = true;
        vy_gen_case_generate(seed, &c);
        vy_compare(own, c.text.data, c.text.size, &c.info, &mode, &hooks, &comparison);
        count += comparison.has_stayed;
        if (comparison.verdict != VY_SAME && comparison.verdict != VY_SKIPPED) {
            fail_msg("seed %u: %s\n%s", (unsigned)seed, comparison.message, c.text.data);
        }
        vy_gen_case_finish(&c);
    }
    print_message("    %u of %u programs ran by workgroups that stay\n", (unsigned)count, SEEDS);
    assert_true(count > SEEDS / 4);
    vyre_device_destroy(&own);
}

/* Runs the tests whose names match the argument; without one all. */
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_persistent_keeps_what_segments_mean, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(test_persistent_numbers_groups_of_three_dimensions,
                                        open_device, close_device),
        cmocka_unit_test_setup_teardown(test_persistent_leaves_the_first_record, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(
            test_persistent_runs_in_large_workgroups_where_nobody_can_tell, open_device,
            close_device),
        cmocka_unit_test_setup_teardown(test_persistent_meets_with_two_workgroups, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(test_persistent_ends_a_fixpoint_where_replay_does,
                                        open_device, close_device),
        cmocka_unit_test_setup_teardown(test_persistent_goes_on_with_a_fixpoint_in_the_next_launch,
                                        open_device, close_device),
        cmocka_unit_test_setup_teardown(test_persistent_cuts_long_dispatches_into_launches,
                                        open_device, close_device),
        cmocka_unit_test_setup_teardown(test_persistent_reads_schedules_of_any_length, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(test_persistent_reads_schedules_that_are_copied,
                                        open_device, close_device),
        cmocka_unit_test_setup_teardown(test_persistent_that_stalls_ends_and_is_off, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(test_persistent_is_refused_where_it_cannot_be, open_device,
                                        close_device),
        cmocka_unit_test_setup_teardown(
            test_choice_is_workgroups_that_stay_where_they_are_known_to_run, open_device,
            close_device),
        cmocka_unit_test(test_plan_lets_workgroups_meet_for_hazards_alone),
        cmocka_unit_test(test_generated_programs_agree_by_workgroups_that_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
