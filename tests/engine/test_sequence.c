/* Sequences: what they launch, in which order, how often, and what they refuse. */
#include "tests/engine/sequence_support.h"

/* ---- Launches -------------------------------------------------------------------------------- */

static void launch(vyre_device *device, int form)
{
    engine_program add = engine_build(device, add_text);
    vyre_buffer a = engine_buffer(device, 16, NULL);
    vyre_binding bindings[] = {engine_resident(a, 0, 4)};
    static const uint32_t repeats[] = {0, 1, 8, 64};
    uint32_t one = 1, two = 2;
    vyre_step prefix = step_of(&add, bindings, 1, &one, 1);
    vyre_step group = step_of(&add, bindings, 1, &two, 1);
    for (uint32_t with_prefix = 0; with_prefix < 2; with_prefix++) {
        for (size_t i = 0; i < sizeof repeats / sizeof *repeats; i++) {
            uint32_t r = repeats[i], words[4] = {0}, mixed = with_prefix ? 1 : 0;
            for (uint32_t k = 0; k < r; k++) {
                mixed = mixed * 3 + 2;
            }
            fill_words(device, a, 16, 0);
            vyre_sequence_params params;
            vyre_sequence_params_init(&params);
            params.prefix = &prefix;
            params.prefix_count = with_prefix;
            params.group = &group;
            params.group_count = 1;
            params.repeat = r;
            layer_clear_events();
            vyre_sequence *sequence = make(device, &params);
            assert_int_equal(layer_count(LAYER_DISPATCH), with_prefix + r);
            vyre_report report = run(sequence);
            assert_int_equal(report.dispatches_recorded, with_prefix + r);
            assert_int_equal(report.dispatches_executed, with_prefix + r);
            assert_int_equal(report.passes, with_prefix + r);
            /* One before the first, one between each and the next, one behind each block that is
             * copied. */
            uint32_t blocks = layer.heaps == LAYER_HEAPS_SEPARATE ? with_prefix + (r > 0) : 0;
            assert_int_equal(report.barriers_recorded, with_prefix + r + blocks);
            assert_int_equal(report.submissions, 1);
            assert_int_equal(report.waits, 1);
            if (with_prefix + r) {
                check_form(&report, form, engine_validates());
            }
            read_words(device, a, 0, words, 4);
            assert_int_equal(words[0], with_prefix + r);
            assert_int_equal(words[1], mixed);
            vyre_sequence_destroy(&sequence);
            assert_null(sequence);
        }
    }
    must_destroy(device, &a);
    engine_release(&add);
}

static void test_sequence_launches_the_prefix_once_and_the_group_often(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, launch);
}

static void repeat_nothing(vyre_device *device, int form)
{
    (void)form;
    engine_program add = engine_build(device, add_text);
    vyre_step nonsense = {.pipeline = NULL};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = &nonsense;
    params.group_count = 1;
    vyre_sequence *sequence = make(device, &params);
    vyre_report report = run(sequence);
    assert_int_equal(report.dispatches_recorded, 0);
    assert_true(report.device_dispatches_ns == VYRE_NS_NONE);
    vyre_sequence_destroy(&sequence);
    /* Not even the list is looked at. */
    params.group = NULL;
    params.group_count = 7;
    sequence = make(device, &params);
    vyre_sequence_destroy(&sequence);
    params.repeat = 1;
    vyre_diag diag;
    assert_int_equal(vyre_sequence_create(device, &params, &sequence, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_null(sequence);
    engine_release(&add);
}

static void test_sequence_that_repeats_nothing_takes_any_group(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, repeat_nothing);
}

static void run_again(vyre_device *device, int form)
{
    (void)form;
    engine_program add = engine_build(device, add_text);
    vyre_buffer a = engine_buffer(device, 16, NULL);
    vyre_binding bindings[] = {engine_resident(a, 0, 4)};
    uint32_t k = 5, words[4], mixed = 0;
    vyre_step group = step_of(&add, bindings, 1, &k, 1);
    vyre_download download = {.buffer = a, .size = 16, .data = words};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.flags = VYRE_DISPATCH_TIMED;
    params.group = &group;
    params.group_count = 1;
    params.repeat = 10;
    params.downloads = &download;
    params.download_count = 1;
    vyre_sequence *sequence = make(device, &params);
    /* The caller's arrays are not needed any more. */
    memset(&group, 0xff, sizeof group);
    memset(bindings, 0xff, sizeof bindings);
    k = 77;
    vyre_device_counters before, after;
    for (uint32_t i = 1; i < 6; i++) {
        vyre_device_get_counters(device, &before);
        uint32_t calls = layer_fallible_calls();
        layer_clear_events();
        vyre_report report = run(sequence);
        vyre_device_get_counters(device, &after);
        assert_int_equal(words[0], 10 * i);
        for (uint32_t n = 0; n < 10; n++) {
            mixed = mixed * 3 + 5; /* k was 5 when it was recorded */
        }
        assert_int_equal(words[1], mixed);
        assert_int_equal(report.recordings, 0);
        assert_int_equal(report.recordings_reused, 1);
        assert_int_equal(report.downloads, 1);
        assert_int_equal(report.download_size, 16);
        assert_int_equal(layer_count(LAYER_BEGIN), 0);
        assert_int_equal(layer_count(LAYER_SUBMIT), 1);
        assert_in_range(layer_fallible_calls() - calls, 1, 3); /* submit, look, times */
        assert_int_equal(after.recordings, before.recordings);
        assert_int_equal(after.descriptor_writes, before.descriptor_writes);
        assert_int_equal(after.memory_allocations, before.memory_allocations);
        assert_int_equal(after.submissions, before.submissions + 1);
        assert_int_equal(after.passes, before.passes + 10);
        assert_int_equal(after.download_size, before.download_size + 16);
        vyre_device_info info;
        vyre_device_get_info(device, &info);
        assert_int_equal(report.device_ns != VYRE_NS_NONE, info.timestamp_ns > 0);
        assert_true(report.device_ns >= report.device_dispatches_ns);
        assert_true(report.wall_ns >= report.wait_ns + report.submit_ns);
    }
    vyre_sequence_destroy(&sequence);
    must_destroy(device, &a);
    engine_release(&add);
}

static void test_sequence_runs_again_without_recording(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, run_again);
}

static void cut(vyre_device *device, int form)
{
    (void)form;
    engine_program add = engine_build(device, add_text);
    vyre_buffer a = engine_buffer(device, 16, NULL);
    vyre_binding bindings[] = {engine_resident(a, 0, 4)};
    uint32_t k = 1, words[4], mixed = 0;
    vyre_step group = step_of(&add, bindings, 1, &k, 1);
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = &group;
    params.group_count = 1;
    static const struct {
        uint32_t repeat, chunks, submissions;
    } cases[] = {{4096, 1, 1}, {4097, 2, 1}, {8193, 3, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mixed = 0;
        for (uint32_t n = 0; n < cases[i].repeat; n++) {
            mixed = mixed * 3 + k;
        }
        fill_words(device, a, 16, 0);
        params.repeat = cases[i].repeat;
        vyre_sequence *sequence = make(device, &params);
        vyre_report report = run(sequence);
        assert_int_equal(report.chunks, cases[i].chunks);
        assert_int_equal(report.submissions, cases[i].submissions);
        assert_int_equal(report.waits, 1);
        assert_int_equal(report.dispatches_executed, cases[i].repeat);
        read_words(device, a, 0, words, 4);
        assert_int_equal(words[0], cases[i].repeat);
        assert_int_equal(words[1], mixed);
        vyre_sequence_destroy(&sequence);
    }
    must_destroy(device, &a);
    engine_release(&add);
}

static void test_sequence_of_many_dispatches_is_cut(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, cut);
}

/* ---- Fills and downloads --------------------------------------------------------------------- */

static void fill_before(vyre_device *device, int form)
{
    (void)form;
    engine_program add = engine_build(device, add_text);
    uint32_t junk[16];
    memset(junk, 0xff, sizeof junk);
    vyre_buffer a = engine_buffer(device, 64, junk), b = engine_buffer(device, 64, junk);
    vyre_binding bindings[] = {engine_resident(a, 0, 4)};
    uint32_t k = 0, words[16], others[16];
    vyre_step group = step_of(&add, bindings, 1, &k, 1);
    vyre_fill fills[] = {
        {a, 0, 64, 10}, {b, 0, 32, 7}, {a, 0, 4, 20}, {a, 8, 0, 99}, {b, 16, 4, 8}, {a, 0, 4, 30},
    };
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = &group;
    params.group_count = 1;
    params.repeat = 2;
    params.fills = fills;
    params.fill_count = sizeof fills / sizeof *fills;
    layer_clear_events();
    vyre_sequence *sequence = make(device, &params);
    assert_int_equal(layer_count(LAYER_FILL), 5); /* the empty one is none */
    /* Before the first, a[0] = 20 (which lets b[4] = 8 go), a[0] = 30; then each step. */
    assert_int_equal(layer_count(LAYER_BARRIER), 3 + 2);
    for (int i = 0; i < 2; i++) {
        (void)run(sequence);
        read_words(device, a, 0, words, 16);
        read_words(device, b, 0, others, 16);
        assert_int_equal(words[0], 32); /* the last fill, and two steps */
        assert_int_equal(words[1], 90);
        assert_int_equal(words[2], 10);
        assert_int_equal(words[15], 10);
        assert_int_equal(others[3], 7);
        assert_int_equal(others[4], 8);
        assert_int_equal(others[7], 7);
        assert_int_equal(others[8], UINT32_MAX);
    }
    vyre_sequence_destroy(&sequence);
    must_destroy(device, &a);
    must_destroy(device, &b);
    engine_release(&add);
}

static void test_sequence_fills_before_and_the_last_fill_wins(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, fill_before);
}

static void download_after(vyre_device *device, int form)
{
    (void)form;
    unsigned char bytes[257], whole[257], first[16], second[16], tail[3], none = 0x55;
    for (uint32_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 7 + 1);
    }
    vyre_buffer a = engine_buffer(device, sizeof bytes, bytes);
    vyre_buffer b = engine_buffer(device, 64, bytes);
    memset(first, 0, sizeof first);
    vyre_download downloads[] = {
        {a, 16, 16, first}, {a, 32, 15, second},                    /* they touch */
        {a, 254, 3, tail},  {a, 100, 0, NULL},   {a, 17, 0, &none}, /* odd, and nothing */
        {b, 16, 16, whole},                                         /* another buffer */
    };
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.downloads = downloads;
    params.download_count = sizeof downloads / sizeof *downloads;
    layer_clear_events();
    vyre_sequence *sequence = make(device, &params);
    assert_int_equal(layer_count(LAYER_COPY), 3);
    vyre_report report = run(sequence);
    assert_int_equal(report.downloads, 3);
    assert_int_equal(report.download_size, 31 + 3 + 16);
    assert_int_equal(report.submissions, 1);
    assert_memory_equal(first, bytes + 16, 16);
    assert_memory_equal(second, bytes + 32, 15);
    assert_memory_equal(tail, bytes + 254, 3);
    assert_memory_equal(whole, bytes + 16, 16);
    assert_int_equal(none, 0x55);
    vyre_sequence_destroy(&sequence);
    /* Overlaps and duplicates are read once. */
    unsigned char again[100];
    vyre_download overlapping[] = {{a, 0, 100, whole}, {a, 50, 50, first + 0}, {a, 0, 100, again}};
    unsigned char half[50];
    overlapping[1].data = half;
    params.downloads = overlapping;
    params.download_count = 3;
    sequence = make(device, &params);
    report = run(sequence);
    assert_int_equal(report.downloads, 1);
    assert_int_equal(report.download_size, 100);
    assert_memory_equal(whole, bytes, 100);
    assert_memory_equal(half, bytes + 50, 50);
    assert_memory_equal(again, bytes, 100);
    vyre_sequence_destroy(&sequence);
    /* Nothing at all. */
    params.download_count = 0;
    sequence = make(device, &params);
    report = run(sequence);
    assert_int_equal(report.downloads, 0);
    assert_int_equal(report.barriers_recorded, 0);
    vyre_sequence_destroy(&sequence);
    must_destroy(device, &a);
    must_destroy(device, &b);
}

static void test_sequence_downloads_are_fused_and_split_back(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, download_after);
}

/* ---- Hazards --------------------------------------------------------------------------------- */

static const char copy_text[] = "program copy\nworkgroup 64\ngrid over y\n"
                                "in x : u32[]\ninout y : u32[]\n"
                                "kernel { y[gid.x] = x[gid.x] + 1 }\n";

static vyre_step copy_step(const engine_program *p, const vyre_binding bindings[2])
{
    vyre_step step = step_of(p, bindings, 2, NULL, 0);
    step.dispatch.groups[0] = 0;
    return step;
}

/* Barriers right before dispatches 1, 2, ... as bits. */
static uint32_t barriers_before(void)
{
    uint32_t count = 0, bits = 0, dispatches = 0;
    bool has = false;
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        has = has || events[i].kind == LAYER_BARRIER;
        if (events[i].kind == LAYER_DISPATCH) {
            bits |= (uint32_t)has << dispatches++;
            has = false;
        }
    }
    return bits;
}

static void order(vyre_device *device, int form)
{
    (void)form;
    engine_program copy = engine_build(device, copy_text);
    enum { A, B, C, D, E, BUFFERS };
    vyre_buffer buffers[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        buffers[i] = engine_buffer(device, 1024, NULL);
    }
    /* From, to, and what must stand before: the first has one against what was submitted before. */
    static const struct {
        uint8_t pairs[5][2];
        uint32_t count, barriers, elided;
    } cases[] = {
        {{{A, B}, {A, C}, {A, D}, {A, E}}, 4, 1, 3},     /* one reads what others read */
        {{{A, B}, {B, C}, {C, D}}, 3, 7, 0},             /* read after write */
        {{{A, B}, {C, A}}, 2, 3, 0},                     /* write after read */
        {{{A, B}, {C, B}}, 2, 3, 0},                     /* write after write */
        {{{A, B}, {C, D}, {B, E}, {D, C}}, 4, 1 | 4, 2}, /* the third's serves the fourth */
        {{{A, B}, {C, D}, {B, E}, {E, A}, {D, C}}, 5, 13, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vyre_binding bindings[5][2];
        vyre_step steps[5];
        uint32_t values[BUFFERS] = {100, 200, 300, 400, 500}, word = 0;
        for (uint32_t b = 0; b < BUFFERS; b++) {
            fill_words(device, buffers[b], 1024, values[b]);
        }
        for (uint32_t s = 0; s < cases[i].count; s++) {
            const uint8_t *pair = cases[i].pairs[s];
            bindings[s][0] = engine_resident(buffers[pair[0]], 0, 256);
            bindings[s][1] = engine_resident(buffers[pair[1]], 0, 256);
            steps[s] = copy_step(&copy, bindings[s]);
            values[pair[1]] = values[pair[0]] + 1;
        }
        vyre_sequence_params params;
        vyre_sequence_params_init(&params);
        params.prefix = steps;
        params.prefix_count = cases[i].count;
        layer_clear_events();
        vyre_sequence *sequence = make(device, &params);
        assert_int_equal(barriers_before(), cases[i].barriers);
        vyre_report report = run(sequence);
        assert_int_equal(report.barriers_elided, cases[i].elided);
        for (uint32_t b = 0; b < BUFFERS; b++) {
            read_words(device, buffers[b], 1020, &word, 1);
            assert_int_equal(word, values[b]);
        }
        vyre_sequence_destroy(&sequence);
    }
    /* Halves of one buffer are no hazard, a byte in common is. */
    vyre_binding halves[2][2] = {
        {engine_resident(buffers[A], 0, 256), engine_resident(buffers[B], 0, 128)},
        {engine_resident(buffers[A], 0, 256), engine_resident(buffers[B], 512, 128)}};
    for (uint32_t overlap = 0; overlap < 2; overlap++) {
        halves[0][1].count = 128 + overlap;
        vyre_step steps[2] = {copy_step(&copy, halves[0]), copy_step(&copy, halves[1])};
        vyre_sequence_params params;
        vyre_sequence_params_init(&params);
        params.prefix = steps;
        params.prefix_count = 2;
        layer_clear_events();
        vyre_sequence *sequence = make(device, &params);
        assert_int_equal(barriers_before(), overlap ? 3 : 1);
        (void)run(sequence);
        vyre_sequence_destroy(&sequence);
    }
    for (int i = 0; i < BUFFERS; i++) {
        must_destroy(device, &buffers[i]);
    }
    engine_release(&copy);
}

static void test_sequence_orders_steps_by_hazards_only(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, order);
}

static void order_first(vyre_device *device, int form)
{
    (void)form;
    engine_program copy = engine_build(device, copy_text);
    vyre_buffer a = engine_buffer(device, 1024, NULL), b = engine_buffer(device, 1024, NULL);
    vyre_buffer other = engine_buffer(device, 64, NULL);
    vyre_binding bindings[] = {engine_resident(a, 0, 256), engine_resident(b, 0, 256)};
    vyre_step step = copy_step(&copy, bindings);
    vyre_fill fill = {other, 0, 64, 1};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.prefix = &step;
    params.prefix_count = 1;
    params.fills = &fill;
    /* A fill of something else comes first: the step waits for earlier submissions all the same,
     * by the fill's barrier. */
    for (uint32_t fills = 0; fills < 2; fills++) {
        params.fill_count = fills;
        layer_clear_events();
        vyre_sequence *sequence = make(device, &params);
        assert_int_equal(barriers_before(), 1);
        assert_int_equal(layer_count(LAYER_BARRIER), 1);
        uint32_t count = 0;
        const layer_event *events = layer_events(&count);
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].kind == LAYER_BARRIER) {
                uint64_t needed = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
                assert_int_equal(events[i].src_stages & needed, needed);
                assert_int_equal(events[i].dst_stages & needed, needed);
                assert_true(events[i].src_access & VK_ACCESS_2_SHADER_WRITE_BIT);
                assert_true(events[i].dst_access & VK_ACCESS_2_SHADER_READ_BIT);
                assert_true(events[i].dst_access & VK_ACCESS_2_TRANSFER_WRITE_BIT);
            }
        }
        vyre_sequence_destroy(&sequence);
    }
    must_destroy(device, &a);
    must_destroy(device, &b);
    must_destroy(device, &other);
    engine_release(&copy);
}

static void test_sequence_waits_for_what_was_submitted_before(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, order_first);
}

/* ---- What steps hold ------------------------------------------------------------------------- */

static void converge(vyre_device *device, int form)
{
    (void)form;
    engine_program down = engine_build(device, until_text);
    engine_program add = engine_build(device, "program put\nworkgroup 1\ninout a : u32[3]\n"
                                              "kernel { a[0] = a[0] + 4 }\n");
    uint32_t words[3] = {9, 0, 0};
    vyre_buffer a = engine_buffer(device, sizeof words, words);
    vyre_binding bindings[] = {engine_resident(a, 0, 3), {.kind = VYRE_BINDING_NONE}};
    vyre_step prefix = step_of(&add, bindings, 1, NULL, 0);
    vyre_step group = step_of(&down, bindings, 2, NULL, 0);
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.prefix = &prefix;
    params.prefix_count = 1;
    params.group = &group;
    params.group_count = 1;
    params.repeat = 3;
    vyre_sequence *sequence = make(device, &params);
    for (uint32_t i = 0; i < 2; i++) {
        /* 13 (then 4) to zero and a look: the repetitions find nothing left. */
        uint32_t passes = (i ? 4 : 13) + 1 + 1 + 1;
        vyre_report report = run(sequence);
        assert_int_equal(report.passes, 1 + passes);
        assert_int_equal(report.dispatches_executed, 1 + passes);
        assert_int_equal(report.passes_saved, 300 - passes);
        assert_int_equal(report.convergence, VYRE_CONVERGENCE_YES);
        read_words(device, a, 0, words, 3);
        assert_int_equal(words[0], 0);
        assert_int_equal(words[1], i ? 16 + 7 : 16);
    }
    vyre_sequence_destroy(&sequence);
    /* One of them stops at its limit. */
    group.dispatch.passes = 2;
    sequence = make(device, &params);
    vyre_report report = run(sequence);
    assert_int_equal(report.convergence, VYRE_CONVERGENCE_LIMIT);
    assert_int_equal(report.passes, 1 + 2 + 2 + 1);
    vyre_sequence_destroy(&sequence);
    must_destroy(device, &a);
    engine_release(&down);
    engine_release(&add);
}

static void test_sequence_counts_the_passes_of_each_repetition(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, converge);
}

static void test_sequence_copies_its_blocks_where_it_must(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_SEPARATE, converge);
    in_each_form(LAYER_HEAPS_SEPARATE, launch);
}

static void trap(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, "program once\nworkgroup 1\ninout a : u32[1]\n"
                                            "param at : u32\n"
                                            "kernel { if a[0] == at { trap(40) }\n"
                                            "  a[0] = a[0] + 1 }\n");
    vyre_buffer a = engine_buffer(device, 4, NULL);
    vyre_binding bindings[] = {engine_resident(a, 0, 1)};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group_count = 1;
    params.repeat = 4;
    /* In the first repetition, one between, the last one, none. */
    for (uint32_t at = 0; at < 6; at++) {
        vyre_step group = step_of(&p, bindings, 1, &at, 1);
        params.group = &group;
        vyre_sequence *sequence = make(device, &params);
        for (int i = 0; i < 2; i++) {
            fill_words(device, a, 4, 0);
            vyre_report report = run(sequence);
            assert_int_equal(report.record.kind, at < 4 ? VYRE_RECORD_TRAP : VYRE_RECORD_NONE);
            assert_int_equal(report.record.code, at < 4 ? 40 : 0);
        }
        /* It starts without the run's before. */
        fill_words(device, a, 4, 100);
        assert_int_equal(run(sequence).record.kind, VYRE_RECORD_NONE);
        vyre_sequence_destroy(&sequence);
    }
    must_destroy(device, &a);
    engine_release(&p);
}

static void test_sequence_keeps_a_record_of_any_repetition(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, trap);
}

static void keep(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, "program keeper\nworkgroup 1\nout y : u32[1]\n"
                                            "scratch keep n : u32[1]\n"
                                            "kernel { n[0] = n[0] + 1  y[0] = n[0] }\n");
    vyre_buffer y = engine_buffer(device, 256, NULL);
    vyre_binding bindings[] = {engine_resident(y, 0, 1), {.kind = VYRE_BINDING_NONE}};
    vyre_step steps[] = {step_of(&p, bindings, 2, NULL, 0), step_of(&p, bindings, 2, NULL, 0)};
    vyre_sequence_params params;
    vyre_sequence_params_init(&params);
    params.group = steps;
    params.group_count = 2;
    params.repeat = 3;
    vyre_sequence *sequence = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_sequence_create(device, &params, &sequence, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "scratch keep"));
    assert_int_equal(diag.segment, 0);
    uint32_t word = 0;
    vyre_binding borrowed[] = {engine_host_out(&word, 1), {.kind = VYRE_BINDING_NONE}};
    (void)engine_run(&p, borrowed, 2, NULL, 0, 1, 0);
    assert_int_equal(word, 1);
    layer_clear_events();
    sequence = make(device, &params);
    assert_int_equal(layer_count(LAYER_DISPATCH) >= 6, 1);
    (void)run(sequence);
    (void)run(sequence);
    read_words(device, y, 0, &word, 1);
    assert_int_equal(word, 13); /* one memory for all that the pipeline runs */
    (void)engine_run(&p, borrowed, 2, NULL, 0, 1, 0);
    assert_int_equal(word, 14);
    vyre_sequence_destroy(&sequence);
    must_destroy(device, &y);
    engine_release(&p);
}

static void test_sequence_shares_what_pipelines_keep(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequence_launches_the_prefix_once_and_the_group_often),
        cmocka_unit_test(test_sequence_that_repeats_nothing_takes_any_group),
        cmocka_unit_test(test_sequence_runs_again_without_recording),
        cmocka_unit_test(test_sequence_of_many_dispatches_is_cut),
        cmocka_unit_test(test_sequence_fills_before_and_the_last_fill_wins),
        cmocka_unit_test(test_sequence_downloads_are_fused_and_split_back),
        cmocka_unit_test(test_sequence_orders_steps_by_hazards_only),
        cmocka_unit_test(test_sequence_waits_for_what_was_submitted_before),
        cmocka_unit_test(test_sequence_counts_the_passes_of_each_repetition),
        cmocka_unit_test(test_sequence_copies_its_blocks_where_it_must),
        cmocka_unit_test(test_sequence_keeps_a_record_of_any_repetition),
        cmocka_unit_test(test_sequence_shares_what_pipelines_keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
