/* Grids that the program counts itself (`grid of`): the same on the interpreter and the device, by
 * a kernel file too, and what is refused. */
#include "tests/engine/sequence_support.h"
#include "vyre/text.h"

#include "vyre/text.h"

/* Every workgroup notes itself, and what it is told of the grid; the count of `seen` follows it. */
static const char text[] =
    "program counted\nworkgroup 2\nparam k : u32\nin n : u32[]\n"
    "out c : u32[4]\nout seen : u32[num_groups.x * num_groups.y * num_groups.z]\n"
    "grid of (len(n) + 3) / 4, min(k, 3), select(k > 5, 2, 1)\n"
    "kernel {\n"
    "  atomic_max(c[0], num_groups.x) atomic_max(c[1], num_groups.y)\n"
    "  atomic_max(c[2], num_groups.z) atomic_add(c[3], gid.x + gid.y + gid.z)\n"
    "  atomic_add(seen[(wid.z * num_groups.y + wid.y) * num_groups.x + wid.x], 1)\n"
    "}\n";

enum { SEEN = 6000 };

typedef struct outcome {
    uint32_t c[4], seen[SEEN];
} outcome;

static void by_interpreter(uint32_t length, uint32_t k, uint32_t groups, outcome *out)
{
    static uint32_t n[4 * SEEN];
    vyre_program *program = NULL;
    vyre_diag diag;
    memset(out, 0, sizeof *out);
    assert_int_equal(vyre_program_parse(text, strlen(text), "t", NULL, &program, &diag), VYRE_OK);
    vyre_host_buffer buffers[3] = {{n, length}, {out->c, 4}, {out->seen, groups}};
    vyre_interp_params params = {.struct_size = (uint32_t)sizeof params,
                                 .buffers = buffers,
                                 .buffer_count = 3,
                                 .params = &k,
                                 .param_count = 1};
    if (vyre_interp_run(program, &params, NULL, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
}

static vyre_report by_device(const engine_program *p, uint32_t length, uint32_t k, uint32_t groups,
                             outcome *out)
{
    static uint32_t n[4 * SEEN];
    vyre_dispatch_params params;
    memset(out, 0, sizeof *out);
    vyre_binding bindings[3] = {engine_host_in(n, length), engine_host_out(out->c, 4),
                                engine_host_out(out->seen, groups)};
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = 3;
    params.params = &k;
    params.param_count = 1;
    return must_dispatch(p, &params);
}

static void test_grid_of_runs_what_the_program_counts(void **state)
{
    (void)state;
    static const struct {
        uint32_t length, k, groups[3];
    } rows[] = {{0, 1, {0, 1, 1}}, {1, 1, {1, 1, 1}}, {4, 1, {1, 1, 1}},       {5, 2, {2, 2, 1}},
                {5, 0, {2, 0, 1}}, {8, 6, {2, 3, 2}}, {3997, 6, {1000, 3, 2}}, {4, 5, {1, 3, 1}}};
    static outcome expected, got;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    engine_program p = engine_build(device, text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint32_t *g = rows[i].groups;
        uint32_t total = g[0] * g[1] * g[2];
        by_interpreter(rows[i].length, rows[i].k, total, &expected);
        vyre_report report = by_device(&p, rows[i].length, rows[i].k, total, &got);
        assert_memory_equal(&got, &expected, sizeof got);
        for (uint32_t d = 0; d < 3; d++) {
            assert_int_equal(got.c[d], total ? g[d] : 0);
        }
        for (uint32_t s = 0; s < total; s++) {
            assert_int_equal(got.seen[s], 2);
        }
        assert_int_equal(report.submissions, total ? 1 : report.submissions);
    }
    engine_release(&p);
    engine_close(&device);
}

static void check_refused(const engine_program *p, const vyre_dispatch_params *params,
                          const char *part)
{
    vyre_diag diag;
    assert_int_equal(vyre_dispatch(p->pipeline, params, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    if (!strstr(diag.message, part) || !strstr(diag.message, ". Fix: ")) {
        fail_msg("not \"%s\": %s", part, diag.message);
    }
}

static void test_grid_of_refuses_another_grid(void **state)
{
    (void)state;
    NEED_DEVICE();
    vyre_device *device = engine_open(0);
    engine_program p = engine_build(device, text);
    static uint32_t n[1], c[4];
    uint32_t k = 1;
    vyre_dispatch_params params;
    vyre_binding bindings[3] = {engine_host_in(n, 1), engine_host_out(c, 4), engine_host_out(c, 1)};
    vyre_dispatch_params_init(&params);
    params.bindings = bindings;
    params.binding_count = 3;
    params.params = &k;
    params.param_count = 1;
    params.groups[0] = 1;
    check_refused(&p, &params, "`grid of`");
    params.groups[0] = 0;
    params.elements[0] = 1;
    check_refused(&p, &params, "`grid of`");
    params.elements[0] = 0;
    params.max_groups = 1;
    check_refused(&p, &params, "max_groups is 1");
    engine_release(&p);
    p = engine_build(device, "program many\nworkgroup 64\nparam k : u32\nout o : u32[1]\n"
                             "grid of k, k\nkernel { o[0] = 1 }\n");
    k = 0x10000;
    params.max_groups = 0;
    params.bindings = &bindings[2];
    params.binding_count = 1;
    check_refused(&p, &params, "2^32 - 1");
    engine_release(&p);
    engine_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_of_runs_what_the_program_counts),
        cmocka_unit_test(test_grid_of_refuses_another_grid),
    };
    return cmocka_run_group_tests_name("grid_of", tests, NULL, NULL);
}
