/* What is bound, of which length, and what becomes of it: borrowed and resident, empty,
 * overlapping, poisoned. */
#include "tests/engine/forms.h"

#define POISON UINT32_MAX

/* ---- Kinds ----------------------------------------------------------------------------------- */

/* The shared array is no binding, wherever it is declared. */
static const char mixed_text[] = "program mixed\nworkgroup 64\ngrid over z\n"
                                 "out y : u32[]\n"
                                 "shared t : u32[64]\n"
                                 "in x : u32[]\n"
                                 "inout z : u32[]\n"
                                 "kernel {\n"
                                 "  t[lid.x] = x[gid.x]\n"
                                 "  barrier\n"
                                 "  if gid.x < len(z) {\n"
                                 "    y[gid.x] = t[lid.x] * 3 + z[gid.x]\n"
                                 "    z[gid.x] = z[gid.x] + 1\n"
                                 "  }\n"
                                 "}\n";

enum { MIXED = 200 };

/* One dispatch with the bindings of `mask` resident; z goes on from what it was. */
static void run_mask(vyre_device *device, int form, const engine_program *p, uint32_t mask)
{
    uint32_t x[MIXED], y[MIXED], z[MIXED];
    for (uint32_t i = 0; i < MIXED; i++) {
        x[i] = i * 2654435761u;
        y[i] = POISON;
        z[i] = i + mask;
    }
    uint32_t *memory[] = {y, x, z};
    vyre_buffer buffers[3];
    vyre_binding bindings[3];
    for (uint32_t b = 0; b < 3; b++) {
        buffers[b] = engine_buffer(device, sizeof x, memory[b]);
        bindings[b] = engine_host_inout(memory[b], MIXED);
        bindings[b].out = b == 1 ? NULL : memory[b];
        if (mask >> b & 1) {
            bindings[b] = engine_resident(buffers[b], 0, MIXED);
        }
    }
    bindings[0].in = NULL;
    vyre_dispatch_params params = engine_elements(bindings, 3, 0);
    uint64_t uploads = (mask & 2 ? 0u : 1u) + (mask & 4 ? 0u : 1u);
    uint64_t downloads = (mask & 1 ? 0u : 1u) + (mask & 4 ? 0u : 1u);
    for (uint32_t round = 1; round <= 2; round++) {
        vyre_device_counters before, after;
        vyre_device_get_counters(device, &before);
        vyre_report report = must_dispatch(p, &params);
        vyre_device_get_counters(device, &after);
        check_form(&report, form, engine_validates());
        assert_int_equal(report.uploads, uploads);
        assert_int_equal(report.upload_size, uploads * sizeof x);
        assert_int_equal(report.downloads, downloads);
        assert_int_equal(report.download_size, downloads * sizeof x);
        assert_int_equal(report.submissions, 1);
        assert_int_equal(after.uploads - before.uploads, uploads);
        assert_int_equal(after.upload_size - before.upload_size, uploads * sizeof x);
        assert_int_equal(after.downloads - before.downloads, downloads);
        assert_int_equal(after.download_size - before.download_size, downloads * sizeof x);
        assert_int_equal(after.submissions - before.submissions, 1);
        assert_in_range(after.waits - before.waits, 0, 1);
        assert_int_equal(report.recordings, round == 1);
    }
    for (uint32_t b = 0; b < 3; b += 2) {
        if (mask >> b & 1) {
            assert_int_equal(memory[b][5], b == 0 ? POISON : 5 + mask); /* the host's is not used */
            read_words(device, buffers[b], 0, memory[b], MIXED);
        }
    }
    for (uint32_t i = 0; i < MIXED; i++) {
        assert_int_equal(y[i], x[i] * 3 + i + mask + 1);
        assert_int_equal(z[i], i + mask + 2);
    }
    for (uint32_t b = 0; b < 3; b++) {
        must_destroy(device, &buffers[b]);
    }
}

static void run_masks(vyre_device *device, int form)
{
    for (uint32_t mask = 0; mask < 8; mask++) {
        engine_program p = engine_build(device, mixed_text);
        run_mask(device, form, &p, mask);
        engine_release(&p);
    }
}

static void test_bindings_of_every_mask(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, run_masks);
    in_each_form(LAYER_HEAPS_SEPARATE, run_masks);
}

static void count_nothing_new(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, mixed_text);
    uint32_t x[MIXED] = {0}, y[MIXED], z[MIXED] = {0};
    vyre_buffer bx = engine_buffer(device, sizeof x, x), bz = engine_buffer(device, sizeof z, z);
    vyre_binding mixed[] = {engine_host_out(y, MIXED), engine_resident(bx, 0, MIXED),
                            engine_host_inout(z, MIXED)};
    vyre_buffer by = engine_buffer(device, sizeof y, NULL);
    vyre_binding resident[] = {engine_resident(by, 0, MIXED), engine_resident(bx, 0, MIXED),
                               engine_resident(bz, 0, MIXED)};
    const vyre_binding *lists[] = {mixed, resident};
    for (int i = 0; i < 2; i++) {
        vyre_dispatch_params params = engine_elements(lists[i], 3, 0);
        (void)must_dispatch(&p, &params);
        vyre_device_counters before, after;
        for (int round = 0; round < 3; round++) {
            vyre_device_get_counters(device, &before);
            uint32_t calls = layer_fallible_calls();
            layer_clear_events();
            vyre_report report = must_dispatch(&p, &params);
            vyre_device_get_counters(device, &after);
            /* Submit, look, times: nothing else that can fail, so no memory either. */
            assert_in_range(layer_fallible_calls() - calls, 2, 3);
            assert_int_equal(layer_count(LAYER_BEGIN), 0);
            assert_int_equal(after.memory_allocations, before.memory_allocations);
            assert_int_equal(after.memory_size, before.memory_size);
            assert_int_equal(after.descriptor_writes, before.descriptor_writes);
            assert_int_equal(after.pipelines, before.pipelines);
            assert_int_equal(after.recordings, before.recordings);
            assert_int_equal(after.recordings_reused, before.recordings_reused + 1);
            assert_int_equal(after.instance_hits, before.instance_hits + 1);
            assert_int_equal(report.descriptor_writes, 0);
            assert_int_equal(report.uploads, i == 0 ? 1 : 0);
        }
    }
    must_destroy(device, &bx);
    must_destroy(device, &by);
    must_destroy(device, &bz);
    engine_release(&p);
}

static void test_bindings_again_take_no_memory_and_write_nothing(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, count_nothing_new);
}

static void bind_others(vyre_device *device, int form)
{
    engine_program p = engine_build(device, mixed_text);
    uint32_t recordings = 0, x[MIXED], word = 0;
    for (uint32_t round = 0; round < 5; round++) {
        memset(x, (int)round, sizeof x);
        vyre_buffer buffers[3];
        vyre_binding bindings[3];
        for (uint32_t b = 0; b < 3; b++) {
            buffers[b] = engine_buffer(device, sizeof x, x);
            bindings[b] = engine_resident(buffers[b], 0, MIXED);
        }
        vyre_dispatch_params params = engine_elements(bindings, 3, 0);
        recordings += must_dispatch(&p, &params).recordings;
        read_words(device, buffers[0], 796, &word, 1);
        assert_int_equal(word, x[0] * 4);
        for (uint32_t b = 0; b < 3; b++) {
            must_destroy(device, &buffers[b]);
        }
    }
    /* By addresses other buffers are another block, by descriptors another recording. */
    assert_int_equal(recordings, form == FORM_ADDRESS || !engine_validates() ? 1 : 5);
    engine_release(&p);
}

static void test_bindings_of_other_buffers_need_no_recording_by_addresses(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, bind_others);
}

/* ---- Lengths --------------------------------------------------------------------------------- */

static const char counts_text[] = "program counts\nworkgroup 32\nparam n : u32\n"
                                  "in x : u32[]\n"
                                  "out y : u32[len(x) * 2]\n"
                                  "out z : u32[num_groups.x + n]\n"
                                  "scratch s : u32[len(y)]\n"
                                  "kernel {\n"
                                  "  s[gid.x] = x[gid.x]\n"
                                  "  y[gid.x] = len(y) + s[gid.x]\n"
                                  "  z[gid.x] = len(z)\n"
                                  "}\n";

static void count(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, counts_text);
    uint32_t x[50], y[200], z[64], n = 3;
    memset(x, 1, sizeof x);
    vyre_buffer by = engine_buffer(device, sizeof y, NULL);
    vyre_buffer bx = engine_buffer(device, sizeof x, x), small = engine_buffer(device, 396, NULL);
    static const struct {
        uint32_t x, y, z; /* counts as given */
        const char *says; /* what is wrong, or NULL */
        uint32_t binding;
    } cases[] = {
        {50, VYRE_COUNT_DECLARED, VYRE_COUNT_DECLARED, NULL, 0},
        {50, 100, 5, NULL, 0},
        {20, 40, 5, NULL, 0},
        {50, 99, 5, "declares 100 elements", 1},
        {50, 100, 6, "declares 5 elements", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(z, 0xff, sizeof z);
        fill_words(device, by, sizeof y, POISON);
        vyre_binding bindings[] = {engine_host_in(x, cases[i].x),
                                   engine_resident(by, 0, cases[i].y),
                                   engine_host_out(z, cases[i].z),
                                   {.kind = VYRE_BINDING_NONE}};
        vyre_dispatch_params params = engine_elements(bindings, 4, 64);
        params.params = &n;
        params.param_count = 1;
        vyre_diag diag;
        vyre_report report;
        vyre_result code = vyre_dispatch(p.pipeline, &params, &report, &diag);
        read_words(device, by, 0, y, 200);
        if (cases[i].says) {
            assert_int_equal(code, VYRE_ERROR_INVALID_ARGUMENT);
            assert_non_null(strstr(diag.message, cases[i].says));
            assert_int_equal(diag.binding, cases[i].binding);
            assert_int_equal(y[0], POISON);
            assert_int_equal(z[0], POISON);
            continue;
        }
        assert_int_equal(code, VYRE_OK);
        uint32_t length = cases[i].x * 2;
        assert_int_equal(report.scratch_size >= length * 4, 1);
        for (uint32_t k = 0; k < 200; k++) {
            uint32_t input = k < cases[i].x ? x[0] : 0;
            uint32_t inside = k < 64 ? length + input : 0;
            assert_int_equal(y[k], k < length ? inside : POISON);
        }
        for (uint32_t k = 0; k < 64; k++) {
            assert_int_equal(z[k], k < 5 ? 5 : POISON);
        }
    }
    /* Too small by a word. */
    vyre_binding bindings[] = {engine_resident(bx, 0, VYRE_COUNT_DECLARED),
                               engine_resident(small, 0, VYRE_COUNT_DECLARED),
                               engine_host_out(z, VYRE_COUNT_DECLARED),
                               {.kind = VYRE_BINDING_NONE}};
    vyre_dispatch_params params = engine_elements(bindings, 4, 64);
    params.params = &n;
    params.param_count = 1;
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p.pipeline, &params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "'y' needs bytes 0 to 400 of a resident buffer of 396"));
    assert_int_equal(diag.binding, 1);
    must_destroy(device, &bx);
    must_destroy(device, &by);
    must_destroy(device, &small);
    engine_release(&p);
}

static void test_bindings_have_the_lengths_that_the_program_computes(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, count);
}

static const char empty_text[] = "program empty\nworkgroup 1\nparam n : u32\n"
                                 "in a : u32[]\nuniform b : u32[]\ninout c : u32[]\n"
                                 "out d : u32[]\nscratch e : u32[n]\nout seen : u32[8]\n"
                                 "kernel {\n"
                                 "  let i = gid.x * 16\n"
                                 "  c[i] = 5  d[i] = 6  e[i] = 7\n"
                                 "  c[0 - 1] = 5  d[0 - 1] = 6\n"
                                 "  let old = atomic_add(c[i], 9)\n"
                                 "  seen[gid.x] = a[i] + b[i] + c[i] + d[i] + e[i] + old\n"
                                 "    + len(a) + len(b) + len(c) + len(d) + len(e) + 100\n"
                                 "}\n";

static void bind_nothing(vyre_device *device, int form)
{
    engine_program p = engine_build(device, empty_text);
    uint32_t poison[256], words[256], seen[8], guard[4] = {1, 2, 3, 4}, n = 0;
    memset(poison, 0xff, sizeof poison);
    vyre_buffer buffer = engine_buffer(device, sizeof poison, poison);
    vyre_buffer empty = engine_buffer(device, 0, NULL);
    for (uint32_t kind = 0; kind < 4; kind++) {
        /* Empty ranges within poison, at its end, of an empty buffer, and host memory. */
        vyre_binding none = kind == 0   ? engine_resident(buffer, 256, 0)
                            : kind == 1 ? engine_resident(buffer, 1024, VYRE_COUNT_DECLARED)
                            : kind == 2 ? engine_resident(empty, 0, VYRE_COUNT_DECLARED)
                                        : engine_host_inout(guard, 0);
        vyre_binding in = none;
        in.out = NULL;
        vyre_binding bindings[] = {
            in, in, none, none, {.kind = VYRE_BINDING_NONE}, engine_host_out(seen, 8)};
        vyre_dispatch_params params = engine_elements(bindings, 6, 8);
        params.params = &n;
        params.param_count = 1;
        for (int round = 0; round < 2; round++) {
            vyre_report report = must_dispatch(&p, &params);
            check_form(&report, form, engine_validates());
            assert_int_equal(report.uploads, 0);
            assert_int_equal(report.downloads, 1); /* seen: an empty one is no copy */
            for (int i = 0; i < 8; i++) {
                assert_int_equal(seen[i], 100);
            }
        }
        read_words(device, buffer, 0, words, 256);
        assert_memory_equal(words, poison, sizeof poison);
        assert_int_equal(guard[0], 1);
    }
    /* Empty and full in turns, in one pipeline. */
    uint32_t c[4] = {1, 1, 1, 1};
    for (int round = 0; round < 4; round++) {
        bool is_full = round % 2;
        vyre_binding bindings[] = {engine_host_in(guard, is_full ? 4 : 0),
                                   engine_host_in(NULL, 0),
                                   engine_host_inout(c, is_full ? 4 : 0),
                                   engine_host_out(NULL, 0),
                                   {.kind = VYRE_BINDING_NONE},
                                   engine_host_out(seen, 8)};
        vyre_dispatch_params params = engine_elements(bindings, 6, 1);
        params.params = &n;
        params.param_count = 1;
        (void)must_dispatch(&p, &params);
        assert_int_equal(seen[0], is_full ? 1 + 14 + 5 + 4 + 4 + 100 : 100);
        assert_int_equal(c[0], round < 1 ? 1 : 14);
        assert_int_equal(seen[1], 0);
    }
    engine_release(&p);
    /* Validation sees one block behind all of them. */
    p = engine_build(device, "program cuts\nworkgroup 1\ninout a : u32[]\ninout b : u32[]\n"
                             "out y : u32[1]\n"
                             "kernel { a[0] = 1  grid_sync  y[0] = b[0] + 3 }\n");
    vyre_binding cuts[] = {engine_host_inout(guard, 0), engine_resident(empty, 0, 0),
                           engine_host_out(seen, 1)};
    vyre_dispatch_params cut_params = engine_elements(cuts, 3, 1);
    (void)must_dispatch(&p, &cut_params);
    assert_int_equal(seen[0], 3);
    engine_release(&p);
    must_destroy(device, &buffer);
    must_destroy(device, &empty);
}

static void test_bindings_of_no_length_touch_nothing(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, bind_nothing);
}

static void shrink(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, "program tail\nworkgroup 1\n"
                                            "in x : u32[]\nout y : u32[16]\n"
                                            "kernel { y[gid.x] = x[gid.x] + len(x) * 1000 }\n");
    uint32_t x[16], y[16];
    memset(x, 0xff, sizeof x);
    /* Memory of a longer one before is not read. */
    static const uint32_t lengths[] = {16, 7, 1, 13, 0, 3};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        vyre_binding bindings[] = {engine_host_in(x, lengths[i]), engine_host_out(y, 16)};
        vyre_dispatch_params params = engine_elements(bindings, 2, 16);
        (void)must_dispatch(&p, &params);
        for (uint32_t k = 0; k < 16; k++) {
            assert_int_equal(y[k], lengths[i] * 1000 - (k < lengths[i]));
        }
    }
    engine_release(&p);
}

static void test_bindings_end_where_they_end(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, shrink);
}

/* ---- Zeroing --------------------------------------------------------------------------------- */

static const char sparse_text[] = "program sparse\nworkgroup 1\n"
                                  "out y : u32[]\nscratch s : u32[64]\ninout z : u32[]\n"
                                  "kernel {\n"
                                  "  y[3] = y[3] + 0xaa + s[gid.x]\n"
                                  "  s[gid.x] = 0xff\n"
                                  "  z[1] = z[1] + 1\n"
                                  "  grid_sync\n"
                                  "  y[7] = y[7] + 0xbb\n"
                                  "}\n";

static void zero(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, sparse_text);
    uint32_t words[256], y[64], z[64];
    vyre_buffer by = engine_buffer(device, 1024, NULL), bz = engine_buffer(device, 1024, NULL);
    vyre_buffer bs = engine_buffer(device, 256, NULL);
    fill_words(device, by, 1024, POISON);
    fill_words(device, bz, 1024, POISON);
    fill_words(device, bs, 256, POISON);
    memset(y, 0xff, sizeof y);
    memset(z, 0xff, sizeof z);
    for (uint32_t round = 1; round <= 3; round++) {
        for (uint32_t resident = 0; resident < 2; resident++) {
            vyre_binding bindings[] = {
                engine_host_out(y, 64), {.kind = VYRE_BINDING_NONE}, engine_host_inout(z, 64)};
            if (resident) {
                bindings[0] = engine_resident(by, 256, 64);
                bindings[1] = engine_resident(bs, 0, 64);
                bindings[2] = engine_resident(bz, 256, 64);
            }
            vyre_dispatch_params params = engine_elements(bindings, 3, 1);
            params.passes = round;
            (void)must_dispatch(&p, &params);
            memset(words, 0xff, sizeof words);
            if (resident) {
                read_words(device, by, 0, words, 256);
            } else {
                memcpy(words + 64, y, sizeof y);
            }
            /* Zero once before all passes; nothing beyond the range; never in between. */
            for (uint32_t i = 0; i < 256; i++) {
                bool inside = i >= 64 && i < 128;
                uint32_t passes = round, value = inside ? 0 : POISON;
                value = i == 64 + 3 ? passes * 0xaa + (passes - 1) * 0xff : value;
                value = i == 64 + 7 ? passes * 0xbb : value;
                assert_int_equal(words[i], value);
            }
            if (resident) {
                read_words(device, bz, 0, words, 256);
            } else {
                memcpy(words + 64, z, sizeof z);
            }
            /* inout is never made zero: it goes on over dispatches and passes. */
            assert_int_equal(words[64 + 1], POISON + round * (round + 1) / 2);
            assert_int_equal(words[64 + 2], POISON);
        }
    }
    read_words(device, bs, 0, words, 64);
    assert_int_equal(words[0], 0xff);
    assert_int_equal(words[1], 0);
    must_destroy(device, &by);
    must_destroy(device, &bz);
    must_destroy(device, &bs);
    engine_release(&p);
}

static void test_bindings_are_made_zero_once_and_within_their_range(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, zero);
    in_each_form(LAYER_HEAPS_SEPARATE, zero);
}

/* ---- Overlaps -------------------------------------------------------------------------------- */

static uint32_t barriers_between_dispatches(void)
{
    uint32_t count = 0, barriers = 0, pending = 0;
    bool after = false;
    const layer_event *events = layer_events(&count);
    for (uint32_t i = 0; i < count; i++) {
        pending += after && events[i].kind == LAYER_BARRIER;
        if (events[i].kind == LAYER_DISPATCH) {
            barriers += pending;
            pending = 0;
            after = true;
        }
    }
    return barriers;
}

static const char pair_text[] = "program pair\nworkgroup 1\n"
                                "inout a : u32[]\ninout b : u32[]\ninout c : u32[]\n"
                                "kernel { a[64] = a[64] + 1\n  grid_sync\n  b[0] = b[0] * 10\n"
                                "  grid_sync\n  c[0] = c[0] + 5 }\n";

static void overlap(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, pair_text);
    vyre_buffer buffer = engine_buffer(device, 2048, NULL);
    static const struct {
        uint64_t offsets[3];
        uint32_t barriers; /* between the three dispatches */
    } cases[] = {
        {{0, 512, 1024}, 0}, /* apart */
        {{0, 256, 1024}, 1}, /* a[64] is b[0] */
        {{0, 512, 256}, 1},  /* a[64] is c[0] */
        {{0, 256, 256}, 2},  /* and both */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t words[512], expected[512];
        for (uint32_t k = 0; k < 512; k++) {
            words[k] = expected[k] = k + 1;
        }
        write_words(device, buffer, words, 512);
        vyre_binding bindings[3];
        for (int b = 0; b < 3; b++) {
            bindings[b] = engine_resident(buffer, cases[i].offsets[b], b == 0 ? 65 : 16);
        }
        expected[64] += 1;
        expected[cases[i].offsets[1] / 4] *= 10;
        expected[cases[i].offsets[2] / 4] += 5;
        vyre_dispatch_params params = engine_elements(bindings, 3, 1);
        layer_clear_events();
        vyre_report report = must_dispatch(&p, &params);
        assert_int_equal(barriers_between_dispatches(), cases[i].barriers);
        assert_int_equal(report.barriers_elided, 2 - cases[i].barriers);
        read_words(device, buffer, 0, words, 512);
        assert_memory_equal(words, expected, sizeof words);
        /* Another partition is another shape; the same one is not. */
        assert_int_equal(report.recordings, 1);
        assert_int_equal(must_dispatch(&p, &params).recordings, 0);
    }
    must_destroy(device, &buffer);
    engine_release(&p);
}

static void test_bindings_that_overlap_are_ordered(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, overlap);
}

static void overlap_zeroed(vyre_device *device, int form)
{
    (void)form;
    /* Both names are one memory: made zero for `y`, that is what `z` finds. */
    engine_program p = engine_build(device, "program both\nworkgroup 1\n"
                                            "out y : u32[]\ninout z : u32[]\n"
                                            "kernel { z[1] = z[1] + z[0] + 7\n  grid_sync\n"
                                            "  y[0] = y[1] + 1 }\n");
    uint32_t words[64];
    vyre_buffer buffer = engine_buffer(device, sizeof words, NULL);
    fill_words(device, buffer, sizeof words, 1000);
    vyre_binding bindings[] = {engine_resident(buffer, 0, 8), engine_resident(buffer, 0, 64)};
    vyre_dispatch_params params = engine_elements(bindings, 2, 1);
    (void)must_dispatch(&p, &params);
    read_words(device, buffer, 0, words, 64);
    assert_int_equal(words[0], 8);
    assert_int_equal(words[1], 7);
    assert_int_equal(words[7], 0);
    assert_int_equal(words[8], 1000);
    must_destroy(device, &buffer);
    engine_release(&p);
}

static void test_bindings_that_overlap_are_zero_for_both(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, overlap_zeroed);
}

static void refuse_overlaps(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, "program reads\nworkgroup 1\n"
                                            "in x : u32[]\nuniform u : u32[]\nout y : u32[]\n"
                                            "kernel { y[0] = x[0] + u[0] }\n");
    uint32_t words[256];
    vyre_buffer buffer = engine_buffer(device, 1024, NULL);
    fill_words(device, buffer, 1024, 3);
    static const struct {
        uint64_t x, u, y;
        const char *says; /* NULL: taken */
    } cases[] = {
        {0, 0, 256, NULL}, /* both only read */
        {0, 256, 512, NULL},
        {0, 256, 0, "'x' and 'y' overlap"},
        {256, 0, 0, "'u' and 'y' overlap"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vyre_binding bindings[] = {engine_resident(buffer, cases[i].x, 64),
                                   engine_resident(buffer, cases[i].u, 64),
                                   engine_resident(buffer, cases[i].y, 64)};
        vyre_dispatch_params params = engine_elements(bindings, 3, 1);
        vyre_diag diag;
        fill_words(device, buffer, 1024, 3);
        vyre_result code = vyre_dispatch(p.pipeline, &params, NULL, &diag);
        assert_int_equal(code, cases[i].says ? VYRE_ERROR_INVALID_ARGUMENT : VYRE_OK);
        read_words(device, buffer, 0, words, 256);
        assert_int_equal(words[cases[i].y / 4], cases[i].says ? 3 : 6);
        if (cases[i].says) {
            assert_non_null(strstr(diag.message, cases[i].says));
            assert_int_equal(diag.binding, 2);
        }
    }
    must_destroy(device, &buffer);
    engine_release(&p);
}

static void test_bindings_that_are_read_do_not_overlap_written_ones(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, refuse_overlaps);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static void bind_many(vyre_device *device, int form)
{
    (void)form;
    /* Far more arguments than push constants hold. */
    enum { BUFFERS = 20, PARAMS = 24 };
    char text[4000];
    size_t used = (size_t)snprintf(text, sizeof text, "program many\nworkgroup 1\n");
    for (uint32_t b = 0; b < BUFFERS; b++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "inout b%u : u32[]\n", b);
    }
    for (uint32_t k = 0; k < PARAMS; k++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "param p%u : u32\n", k);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "kernel {\n");
    for (uint32_t b = 0; b < BUFFERS; b++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "b%u[0] = b%u[0] + len(b%u) * 100 + p%u\n", b, b, b,
                                 (b * 7 + 3) % PARAMS);
    }
    (void)snprintf(text + used, sizeof text - used, "}\n");
    engine_program p = engine_build(device, text);
    uint32_t memory[BUFFERS][BUFFERS], values[PARAMS];
    vyre_binding bindings[BUFFERS];
    for (uint32_t k = 0; k < PARAMS; k++) {
        values[k] = k * 1000003u;
    }
    for (uint32_t b = 0; b < BUFFERS; b++) {
        memory[b][0] = b;
        bindings[b] = engine_host_inout(memory[b], b + 1);
    }
    vyre_dispatch_params params = engine_elements(bindings, BUFFERS, 1);
    params.params = values;
    params.param_count = PARAMS;
    vyre_report report = must_dispatch(&p, &params);
    assert_true(report.argument_size >= (BUFFERS + PARAMS) * 4);
    values[3] = 77; /* another value is no other recording */
    assert_int_equal(must_dispatch(&p, &params).recordings, 0);
    for (uint32_t b = 0; b < BUFFERS; b++) {
        uint32_t k = (b * 7 + 3) % PARAMS, first = k * 1000003u;
        assert_int_equal(memory[b][0], b + 2 * (b + 1) * 100 + first + (k == 3 ? 77 : first));
    }
    engine_release(&p);
}

static void test_bindings_and_parameters_beyond_push_constants(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, bind_many);
    in_each_form(LAYER_HEAPS_SEPARATE, bind_many);
}

static void bind_none(vyre_device *device, int form)
{
    engine_program p = engine_build(device, "program none\nworkgroup 4\n"
                                            "kernel { if gid.x == 5 { trap(9) } }\n");
    vyre_dispatch_params params = engine_elements(NULL, 0, 4);
    vyre_report report = must_dispatch(&p, &params);
    check_form(&report, form, engine_validates());
    assert_int_equal(report.record.kind, VYRE_RECORD_NONE);
    assert_int_equal(report.uploads + report.downloads, 0);
    params.elements[0] = 8;
    report = must_dispatch(&p, &params);
    assert_int_equal(report.record.kind, VYRE_RECORD_TRAP);
    assert_int_equal(report.record.code, 9);
    assert_int_equal(report.record.invocation, 5);
    engine_release(&p);
}

static void test_programs_without_bindings_run(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, bind_none);
}

static void hide(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, "program hidden\nworkgroup 64\n"
                                            "inout a : u32[]\nscratch s : u32[1000]\n"
                                            "kernel {\n"
                                            "  let v = a[gid.x]\n"
                                            "  a[gid.x] = 0\n"
                                            "  s[gid.x] = v\n"
                                            "  grid_sync\n"
                                            "  a[gid.x] = v + s[gid.x]\n"
                                            "}\n");
    uint32_t a[256];
    for (uint32_t i = 0; i < 256; i++) {
        a[i] = i + 1;
    }
    vyre_buffer buffer = engine_buffer(device, sizeof a, a);
    vyre_binding bindings[] = {engine_resident(buffer, 0, 256), {.kind = VYRE_BINDING_NONE}};
    vyre_dispatch_params params = engine_elements(bindings, 2, 256);
    vyre_report report = must_dispatch(&p, &params);
    assert_int_equal(report.spill_size, 256 * (uint64_t)vyre_kernel_spill_size(p.kernel));
    assert_in_range(report.spill_size, 1024, 4096);
    assert_int_equal(report.scratch_size, 4000);
    assert_in_range(report.argument_size, 64, 65536);
    assert_in_range(report.staging_size, 1, 65536);
    read_words(device, buffer, 0, a, 256);
    assert_int_equal(a[255], 512);
    /* Memory of its own for what is borrowed, and staging both ways. */
    vyre_binding borrowed[] = {engine_host_inout(a, 256), {.kind = VYRE_BINDING_NONE}};
    params.bindings = borrowed;
    uint64_t staging = report.staging_size;
    report = must_dispatch(&p, &params);
    assert_int_equal(report.scratch_size, 4000 + sizeof a);
    assert_true(report.staging_size >= staging + 2 * sizeof a);
    must_destroy(device, &buffer);
    engine_release(&p);
}

static void test_hidden_memory_of_each_kind_is_told(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, hide);
}

static void resize(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, "program free\nworkgroup 64\n"
                                            "inout a : u32[]\nout n : u32[1]\n"
                                            "kernel { a[gid.x] = a[gid.x] + 1\n"
                                            "  atomic_add(n[0], 1) }\n");
    static const uint32_t sizes[] = {1, 7, 64, 96, 256}, elements[] = {1, 63, 64, 65, 1000};
    for (size_t i = 0; i < 5; i++) {
        vyre_pipeline_params options;
        vyre_pipeline_params_init(&options);
        options.workgroup[0] = sizes[i];
        engine_program other = {p.kernel, NULL};
        vyre_diag diag;
        assert_int_equal(vyre_pipeline_create(device, p.kernel, &options, &other.pipeline, &diag),
                         VYRE_OK);
        for (size_t k = 0; k < 5; k++) {
            uint32_t a[1024] = {0}, n = 0;
            vyre_binding bindings[] = {engine_host_inout(a, 1024), engine_host_out(&n, 1)};
            vyre_dispatch_params params = engine_elements(bindings, 2, elements[k]);
            (void)must_dispatch(&other, &params);
            /* Each element once; those that only fill the workgroup run nothing. */
            assert_int_equal(n, elements[k]);
            for (uint32_t e = 0; e < 1024; e++) {
                assert_int_equal(a[e], e < elements[k]);
            }
        }
        vyre_pipeline_destroy(&other.pipeline);
    }
    engine_release(&p);
}

static void test_workgroups_of_any_size_cover_each_element_once(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, resize);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bindings_of_every_mask),
        cmocka_unit_test(test_bindings_again_take_no_memory_and_write_nothing),
        cmocka_unit_test(test_bindings_of_other_buffers_need_no_recording_by_addresses),
        cmocka_unit_test(test_bindings_have_the_lengths_that_the_program_computes),
        cmocka_unit_test(test_bindings_of_no_length_touch_nothing),
        cmocka_unit_test(test_bindings_end_where_they_end),
        cmocka_unit_test(test_bindings_are_made_zero_once_and_within_their_range),
        cmocka_unit_test(test_bindings_that_overlap_are_ordered),
        cmocka_unit_test(test_bindings_that_overlap_are_zero_for_both),
        cmocka_unit_test(test_bindings_that_are_read_do_not_overlap_written_ones),
        cmocka_unit_test(test_bindings_and_parameters_beyond_push_constants),
        cmocka_unit_test(test_programs_without_bindings_run),
        cmocka_unit_test(test_hidden_memory_of_each_kind_is_told),
        cmocka_unit_test(test_workgroups_of_any_size_cover_each_element_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
