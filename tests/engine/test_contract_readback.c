/* What comes back from a dispatch: which bytes, in how many copies, and what stays as it was. */
#include "tests/engine/forms.h"

#include "vyre/interp.h"
#include "vyre/text.h"

/* Everything that can come back, in an order that is none of its own. */
static const char all_text[] = "program all\nworkgroup 16\nfixpoint 3\n"
                               "scratch s : u32[64]\n"
                               "out y : u32[64]\n"
                               "in x : u32[64]\n"
                               "inout z : u32[64]\n"
                               "kernel {\n"
                               "  s[gid.x] = s[gid.x] + x[gid.x]\n"
                               "  z[gid.x] = z[gid.x] * 2 + 1\n"
                               "  grid_sync\n"
                               "  y[63 - gid.x] = s[gid.x] + z[gid.x] + pass\n"
                               "}\n";
enum { S, Y, X, Z, ALL, N = 64 };

static void set(uint32_t memory[ALL][N])
{
    for (uint32_t i = 0; i < N; i++) {
        memory[S][i] = memory[Y][i] = 0xdddddddd;
        memory[X][i] = i * i;
        memory[Z][i] = i + 1000;
    }
}

static void interpret(uint32_t memory[ALL][N])
{
    vyre_program *program = NULL;
    vyre_diag diag;
    vyre_interp_report report;
    vyre_host_buffer buffers[ALL];
    for (int b = 0; b < ALL; b++) {
        buffers[b] = (vyre_host_buffer){memory[b], N};
    }
    vyre_interp_params params = {.struct_size = sizeof params,
                                 .buffers = buffers,
                                 .buffer_count = ALL,
                                 .elements = {N, 0, 0}};
    assert_int_equal(vyre_program_parse(all_text, strlen(all_text), "all", NULL, &program, &diag),
                     VYRE_OK);
    assert_int_equal(vyre_interp_run(program, &params, &report, &diag), VYRE_OK);
    vyre_program_destroy(&program);
}

static void read_back(vyre_device *device, int form)
{
    engine_program p = engine_build(device, all_text);
    uint32_t expected[ALL][N], memory[ALL][N];
    set(expected);
    interpret(expected);
    for (uint32_t mask = 0; mask < 1u << ALL; mask++) {
        vyre_buffer buffers[ALL];
        vyre_binding bindings[ALL];
        set(memory);
        for (uint32_t b = 0; b < ALL; b++) {
            buffers[b] = engine_buffer(device, sizeof memory[b], memory[b]);
            bindings[b] = mask >> b & 1 ? engine_resident(buffers[b], 0, N)
                                        : engine_host_in(b == S || b == Y ? NULL : memory[b], N);
            bindings[b].out = b == X ? NULL : memory[b];
        }
        vyre_dispatch_params params = engine_elements(bindings, ALL, N);
        vyre_report report = must_dispatch(&p, &params);
        check_form(&report, form, engine_validates());
        /* All that is written, of both kinds, once, with one submission. */
        assert_int_equal(report.downloads, 3);
        assert_int_equal(report.download_size, 3 * sizeof memory[0]);
        assert_int_equal(report.submissions, 1);
        for (uint32_t b = 0; b < ALL; b++) {
            assert_memory_equal(memory[b], expected[b], sizeof memory[b]);
            uint32_t words[N];
            read_words(device, buffers[b], 0, words, N);
            if (mask >> b & 1) {
                assert_memory_equal(words, expected[b], sizeof words);
            }
            must_destroy(device, &buffers[b]);
        }
    }
    engine_release(&p);
}

static void test_readback_is_what_the_interpreter_leaves(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, read_back);
    in_each_form(LAYER_HEAPS_SEPARATE, read_back);
}

static void read_ranges(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, all_text);
    uint32_t expected[ALL][N], memory[ALL][N], y[N + 2];
    set(expected);
    interpret(expected);
    static const struct {
        uint64_t offset, size;
        bool is_good;
    } cases[] = {
        {0, 0, true},
        {0, 256, true},
        {0, 4, true},
        {252, 4, true},
        {100, 0, true},
        {100, 56, true},
        {256, 0, true},
        {0, 260, false},
        {2, 4, false},
        {4, 6, false},
        {256, 4, false},
        {260, 0, false},
        {4, 256, false},
        {UINT64_MAX - 3, 8, false},
        {8, UINT64_MAX - 3, false},
    };
    for (uint32_t resident = 0; resident < 2; resident++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            set(memory);
            memset(y, 0xee, sizeof y);
            vyre_buffer buffer = engine_buffer(device, 1024, NULL);
            vyre_binding bindings[] = {{.kind = VYRE_BINDING_NONE},
                                       resident ? engine_resident(buffer, 256, N)
                                                : engine_host_out(NULL, N),
                                       engine_host_in(memory[X], N),
                                       engine_host_inout(memory[Z], N)};
            bindings[Y].out = y + 1;
            bindings[Y].out_offset = cases[i].offset;
            bindings[Y].out_size = cases[i].size;
            vyre_dispatch_params params = engine_elements(bindings, ALL, N);
            vyre_report report;
            vyre_diag diag;
            layer_clear_events();
            vyre_result code = vyre_dispatch(p.pipeline, &params, &report, &diag);
            if (cases[i].is_good) {
                assert_int_equal(code, VYRE_OK);
                uint64_t rest = sizeof memory[Y] - cases[i].offset;
                uint32_t count = (uint32_t)((cases[i].size ? cases[i].size : rest) / 4);
                assert_int_equal(report.download_size, count * 4 + sizeof memory[Z]);
                assert_memory_equal(y + 1, expected[Y] + cases[i].offset / 4, count * 4);
                assert_int_equal(y[0], 0xeeeeeeee);
                assert_int_equal(y[1 + count], 0xeeeeeeee);
            } else {
                assert_int_equal(code, VYRE_ERROR_INVALID_ARGUMENT);
                assert_non_null(strstr(diag.message, "'y'"));
                assert_non_null(strstr(diag.message, "Fix: give multiples of 4"));
                assert_int_equal(diag.binding, Y);
                assert_int_equal(layer_count(LAYER_SUBMIT), 0);
                assert_int_equal(y[1], 0xeeeeeeee);
                assert_int_equal(memory[Z][0], 1000);
            }
            must_destroy(device, &buffer);
        }
    }
    engine_release(&p);
}

static void test_readback_of_ranges(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, read_ranges);
}

static void read_nothing(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, all_text);
    uint32_t expected[ALL][N], memory[ALL][N], words[N];
    set(expected);
    interpret(expected);
    for (uint32_t is_flag = 0; is_flag < 2; is_flag++) {
        set(memory);
        vyre_buffer by = engine_buffer(device, 256, NULL), bz = engine_buffer(device, 256, NULL);
        write_words(device, bz, memory[Z], N);
        vyre_binding bindings[] = {engine_host_out(memory[S], N), engine_resident(by, 0, N),
                                   engine_host_in(memory[X], N), engine_resident(bz, 0, N)};
        bindings[Y].out = memory[Y];
        vyre_dispatch_params params = engine_elements(bindings, ALL, N);
        params.flags = is_flag ? VYRE_DISPATCH_NO_READBACK : 0;
        if (!is_flag) {
            bindings[S].out = bindings[Y].out = NULL;
        }
        vyre_report report = must_dispatch(&p, &params);
        assert_int_equal(report.downloads, 0);
        assert_int_equal(report.download_size, 0);
        assert_int_equal(memory[S][0], 0xdddddddd);
        assert_int_equal(memory[Y][0], 0xdddddddd);
        /* The results are there. */
        read_words(device, by, 0, words, N);
        assert_memory_equal(words, expected[Y], sizeof words);
        read_words(device, bz, 0, words, N);
        assert_memory_equal(words, expected[Z], sizeof words);
        must_destroy(device, &by);
        must_destroy(device, &bz);
    }
    engine_release(&p);
}

static void test_readback_can_be_left_out(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, read_nothing);
}

static void query(vyre_device *device, int form)
{
    (void)form;
    engine_program p =
        engine_build(device, "program lists\nworkgroup 1\n"
                             "inout a : u32[]\nin b : u32[]\nscratch c : u32[len(a)]\n"
                             "scratch keep d : u32[4]\nuniform e : u32[]\n"
                             "out f : u32[len(a) * 2]\nscratch g : u32[8]\n"
                             "kernel { f[0] = a[0] + b[0] + e[0] d[0] = 1 c[0] = 1\n"
                             "  g[0] = 1 }\n");
    uint32_t host[64] = {0};
    vyre_buffer a = engine_buffer(device, 1024, NULL), f = engine_buffer(device, 1024, NULL);
    vyre_binding bindings[] = {engine_resident(a, 256, 10),
                               engine_host_in(host, 4),
                               {.kind = VYRE_BINDING_NONE},
                               {.kind = VYRE_BINDING_NONE},
                               engine_resident(a, 0, 4),
                               engine_resident(f, 512, 20),
                               engine_host_out(host, VYRE_COUNT_DECLARED)};
    bindings[5].out_offset = 16;
    bindings[5].out_size = 8;
    bindings[0].out_offset = 4;
    vyre_dispatch_params params = engine_elements(bindings, 7, 1);
    const vyre_output expected[] = {
        {0, a, 256 + 4, 36}, {2, {0}, 0, 40}, {5, f, 512 + 16, 8}, {6, {0}, 0, 32}};
    vyre_output outputs[7];
    uint32_t count = 99;
    vyre_diag diag;
    layer_clear_events();
    for (uint32_t capacity = 0; capacity < 6; capacity++) {
        memset(outputs, 0x77, sizeof outputs);
        vyre_output untouched = outputs[0];
        assert_int_equal(vyre_dispatch_query_outputs(p.pipeline, &params, capacity ? outputs : NULL,
                                                     capacity, &count, &diag),
                         VYRE_OK);
        assert_int_equal(count, 4);
        for (uint32_t i = 0; i < 4 && i < capacity; i++) {
            assert_int_equal(outputs[i].binding, expected[i].binding);
            assert_int_equal(outputs[i].buffer.bits, expected[i].buffer.bits);
            assert_int_equal(outputs[i].offset, expected[i].offset);
            assert_int_equal(outputs[i].size, expected[i].size);
        }
        assert_memory_equal(&outputs[capacity < 4 ? capacity : 4], &untouched, sizeof untouched);
    }
    assert_int_equal(layer_count(LAYER_SUBMIT), 0);
    /* What a dispatch refuses is refused. */
    bindings[5].count = 21;
    assert_int_equal(vyre_dispatch_query_outputs(p.pipeline, &params, outputs, 7, &count, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(diag.binding, 5);
    assert_int_equal(count, 0);
    must_destroy(device, &a); /* nothing is in use */
    must_destroy(device, &f);
    engine_release(&p);
}

static void test_query_lists_outputs_in_declaration_order(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, query);
}

static void read_many(vyre_device *device, int form)
{
    (void)form;
    enum { OUTPUTS = 16 };
    char text[2000];
    size_t used = (size_t)snprintf(text, sizeof text, "program outputs\nworkgroup 1\n");
    for (uint32_t b = 0; b < OUTPUTS; b++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "out y%u : u32[]\n", b);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "kernel {\n");
    for (uint32_t b = 0; b < OUTPUTS; b++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "y%u[gid.x] = gid.x * 100 + %u\n",
                                 b, b);
    }
    (void)snprintf(text + used, sizeof text - used, "}\n");
    engine_program p = engine_build(device, text);
    uint32_t memory[OUTPUTS][32];
    vyre_binding bindings[OUTPUTS];
    vyre_buffer buffers[OUTPUTS];
    for (uint32_t b = 0; b < OUTPUTS; b++) {
        buffers[b] = engine_buffer(device, 128, NULL);
        bindings[b] =
            b % 3 ? engine_host_out(memory[b], b + 1) : engine_resident(buffers[b], 0, 32);
        bindings[b].out = memory[b];
    }
    vyre_dispatch_params params = engine_elements(bindings, OUTPUTS, 32);
    vyre_device_counters before, after;
    vyre_device_get_counters(device, &before);
    layer_clear_events();
    vyre_report report = must_dispatch(&p, &params);
    vyre_device_get_counters(device, &after);
    /* 16 copies, one submission, one wait. */
    assert_int_equal(report.downloads, OUTPUTS);
    assert_int_equal(layer_count(LAYER_SUBMIT), 1);
    assert_int_equal(after.submissions - before.submissions, 1);
    assert_in_range(after.waits - before.waits, 0, 1);
    assert_in_range(report.waits, 0, 1);
    for (uint32_t b = 0; b < OUTPUTS; b++) {
        uint32_t last = b % 3 ? b : 31;
        assert_int_equal(memory[b][last], last * 100 + b);
        must_destroy(device, &buffers[b]);
    }
    /* Some empty ones: no copies; all empty: none. */
    for (uint32_t b = 0; b < OUTPUTS; b++) {
        bindings[b] = engine_host_out(memory[b], b == 7 ? 4 : 0);
    }
    memset(memory, 0x33, sizeof memory);
    report = must_dispatch(&p, &params);
    assert_int_equal(report.downloads, 1);
    assert_int_equal(memory[7][3], 307);
    assert_int_equal(memory[8][0], 0x33333333);
    bindings[7].count = 0;
    report = must_dispatch(&p, &params);
    assert_int_equal(report.downloads, 0);
    engine_release(&p);
}

static void test_readback_of_many_outputs_is_one_submission(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, read_many);
}

static void read_once(vyre_device *device, int form)
{
    (void)form;
    engine_program p = engine_build(device, all_text);
    uint32_t memory[ALL][N];
    static const uint32_t passes[] = {1, 2, 8, 500};
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        set(memory);
        vyre_binding bindings[] = {{.kind = VYRE_BINDING_NONE},
                                   engine_host_out(memory[Y], N),
                                   engine_host_in(memory[X], N),
                                   engine_host_inout(memory[Z], N)};
        vyre_dispatch_params params = engine_elements(bindings, ALL, N);
        params.passes = passes[i];
        /* A host that has its own slots gets them filled in place, time after time. */
        for (int round = 0; round < 2; round++) {
            set(memory);
            vyre_report report = must_dispatch(&p, &params);
            assert_int_equal(report.uploads, 2);
            assert_int_equal(report.upload_size, 2 * sizeof memory[0]);
            assert_int_equal(report.downloads, 2);
            assert_int_equal(report.download_size, 2 * sizeof memory[0]);
            assert_int_equal(report.dispatches_executed, 2 * passes[i]);
            assert_int_equal(report.submissions, 1);
            assert_int_equal(memory[X][9], 81);
            assert_true(memory[Y][0] != 0xdddddddd);
        }
    }
    engine_release(&p);
}

static void test_bytes_move_once_whatever_the_passes(void **state)
{
    (void)state;
    in_each_form(LAYER_HEAPS_REAL, read_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readback_is_what_the_interpreter_leaves),
        cmocka_unit_test(test_readback_of_ranges),
        cmocka_unit_test(test_readback_can_be_left_out),
        cmocka_unit_test(test_query_lists_outputs_in_declaration_order),
        cmocka_unit_test(test_readback_of_many_outputs_is_one_submission),
        cmocka_unit_test(test_bytes_move_once_whatever_the_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
