/* Kernels through their public and private faces: interface, schedule, tables, dumps, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/kernel.h"
#include "tests/support/fail_allocator.h"
#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static vyre_program *parse(const char *text)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, strlen(text), NULL, NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    return program;
}

/* The program is gone before the kernel is looked at. */
static vyre_kernel *compile_with(const char *text, const vyre_kernel_params *params)
{
    vyre_program *program = parse(text);
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    if (vyre_kernel_compile(program, params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    vyre_program_destroy(&program);
    assert_null(program);
    return kernel;
}

static vyre_kernel *compile(const char *text)
{
    return compile_with(text, NULL);
}

static const char everything[] =
    "program everything\nworkgroup 8, 4, 2\nfixpoint 9 until again\nloop_limit 50\n"
    "param k : u32\nparam r : f32\n"
    "in x : u32[]\nout y : f32[len(x) * 2 + k]\nscratch again : u32[1]\ninout z : bool[]\n"
    "shared w : u32[64]\nshared u : f32[10]\n"
    "kernel {\n"
    "    let v = x[gid.x]\n"
    "    if v > 3 { trap(77) }\n"
    "    let s = z[0]\n"
    "    z[1] = true\n"
    "    grid_sync\n"
    "    region \"mark\" {\n"
    "        while x[v] > 3 { y[0] = r }\n"
    "        z[2] = s\n"
    "    }\n"
    "    w[lid.x] = 1\n"
    "    barrier\n"
    "    if w[0] == 1 { atomic_store(again[0], 1) }\n"
    "}\n";

static void test_kernel_tells_its_interface(void **state)
{
    (void)state;
    vyre_kernel *k = compile(everything);
    vyre_binding_info info;
    uint32_t size[3];
    assert_string_equal(vyre_kernel_name(k), "everything");
    assert_int_equal(vyre_kernel_segment_count(k), 2);
    assert_int_equal(vyre_kernel_binding_count(k), 4);
    vyre_kernel_binding(k, 1, &info);
    assert_string_equal(info.name, "y");
    assert_int_equal(info.mode, VYRE_BUFFER_OUT);
    assert_int_equal(info.type, VYRE_TYPE_F32);
    assert_int_equal(info.has_count, 1);
    vyre_kernel_binding(k, 3, &info);
    assert_string_equal(info.name, "z");
    assert_int_equal(info.has_count, 0);
    vyre_kernel_binding(k, 4, &info);
    assert_string_equal(info.name, "");
    assert_int_equal(vyre_kernel_find_binding(k, "again"), 2);
    assert_int_equal(vyre_kernel_find_binding(k, "w"), -1);
    assert_int_equal(vyre_kernel_find_binding(k, NULL), -1);
    assert_int_equal(vyre_kernel_param_count(k), 2);
    assert_string_equal(vyre_kernel_param_name(k, 1), "r");
    assert_int_equal(vyre_kernel_param_type(k, 1), VYRE_TYPE_F32);
    assert_int_equal(vyre_kernel_find_param(k, "k"), 0);
    assert_int_equal(vyre_kernel_find_param(k, "q"), -1);
    assert_int_equal(vyre_kernel_spill_size(k), 4); /* s; v is computed again */
    assert_int_equal(vyre_kernel_shared_size(k), 64 * 4 + 10 * 4);
    assert_int_equal(vyre_kernel_is_inexact(k), 0);
    vy_kernel_workgroup(k, size);
    assert_int_equal(size[0], 8);
    assert_int_equal(size[1], 4);
    assert_int_equal(size[2], 2);
    assert_string_equal(vy_kernel_workgroup_use(k), "lid.x");
    assert_int_equal(vy_kernel_grid_over(k), -1);
    assert_int_equal(vy_kernel_passes(k), 9);
    assert_int_equal(vy_kernel_until(k), 2);
    assert_int_equal(vy_kernel_site_count(k), 2);
    assert_int_equal(vy_kernel_get_site(k, 0)->kind, VYRE_RECORD_TRAP);
    assert_int_equal(vy_kernel_get_site(k, 0)->code, 77);
    assert_int_equal(vy_kernel_get_site(k, 0)->line, 15);
    assert_int_equal(vy_kernel_get_site(k, 1)->kind, VYRE_RECORD_LOOP_LIMIT);
    assert_int_equal(vy_kernel_get_site(k, 1)->line, 20);
    vyre_kernel_destroy(&k);
    assert_null(k);
    vyre_kernel_destroy(&k);
    vyre_kernel_destroy(NULL);
}

static void test_kernel_segments_tell_what_they_touch(void **state)
{
    (void)state;
    const uint64_t spill = (uint64_t)1 << 63, records = (uint64_t)1 << 62;
    vyre_kernel *k = compile(everything);
    vyre_segment_info info;
    vyre_kernel_segment(k, 0, &info);
    assert_true(info.reads == (1u | 8u | records));
    assert_true(info.writes == (8u | spill | records));
    assert_true(info.atomics == records);
    assert_int_equal(info.line, 14);
    assert_true(info.word_count > 100);
    assert_int_equal(info.words[0], 0x07230203);
    assert_true(info.instruction_count > 5 && info.instruction_count < 40);
    vyre_kernel_segment(k, 1, &info);
    assert_true(info.reads == (1u | spill | records));
    assert_true(info.writes == (2u | 4u | 8u | records));
    assert_true(info.atomics == (4u | records));
    assert_string_equal(vy_kernel_get_segment(k, 0)->label, "everything.seg0");
    assert_string_equal(vy_kernel_get_segment(k, 1)->label, "everything.mark");
    vyre_kernel_segment(k, 2, &info);
    assert_null(info.words);
    vyre_kernel_destroy(&k);
}

static void test_kernel_agnostic_and_inexact(void **state)
{
    (void)state;
    vyre_kernel *k = compile("program a\nworkgroup 64\ngrid over y\ninout y : f32[]\n"
                             "kernel { y[gid.x] = sin(y[gid.x]) }");
    assert_null(vy_kernel_workgroup_use(k));
    assert_int_equal(vy_kernel_grid_over(k), 0);
    assert_int_equal(vyre_kernel_is_inexact(k), 1);
    vyre_kernel_destroy(&k);
    k = compile("program a\nworkgroup 64\nfast_math\ninout y : f32[]\nkernel { y[gid.x] = 1.0 }");
    assert_int_equal(vyre_kernel_is_inexact(k), 1);
    vyre_kernel_destroy(&k);
    static const struct {
        const char *type, *statement;
        int is_inexact;
    } joined[] = {
        {"f32", "atomic_add(y[0], 1.0)", 1},
        {"u32", "atomic_add(y[0], 1)", 0},
        {"f32", "let s = subgroup_add(1.5) y[gid.x] = s", 1},
        {"f32x2", "let s = subgroup_exclusive_mul(y[gid.x]) y[gid.x] = s", 1},
        {"f64", "let s = subgroup_inclusive_add(y[gid.x]) y[gid.x] = s", 1},
        {"f32", "let s = subgroup_max(y[gid.x]) y[gid.x] = s", 0},
        {"i32", "let s = subgroup_add(y[gid.x]) y[gid.x] = s", 0},
    };
    for (size_t i = 0; i < VY_COUNT_OF(joined); i++) {
        char text[256];
        snprintf(text, sizeof text, "program a\nworkgroup 64\ninout y : %s[]\nkernel { %s }",
                 joined[i].type, joined[i].statement);
        k = compile(text);
        assert_int_equal(vyre_kernel_is_inexact(k), joined[i].is_inexact);
        vyre_kernel_destroy(&k);
    }
}

static void test_kernel_without_statements(void **state)
{
    (void)state;
    vyre_kernel *k = compile("program empty\nworkgroup 1\nkernel { }");
    vy_kernel_env env = {.groups = {1, 1, 1}, .workgroup = {1, 1, 1}};
    vyre_allocator memory = vy_allocator_or_default(NULL);
    vy_execution *list = (vy_execution *)&env;
    uint32_t count = 9;
    vyre_diag diag;
    assert_int_equal(vyre_kernel_segment_count(k), 0);
    assert_int_equal(vyre_kernel_binding_count(k), 0);
    assert_int_equal(vy_kernel_schedule(k, &env, &memory, &list, &count, &diag), VYRE_OK);
    assert_int_equal(count, 0);
    assert_null(list);
    vyre_kernel_destroy(&k);
}

/* ---- Counts and the schedule ------------------------------------------------------------------
 */

static void test_kernel_evaluates_counts(void **state)
{
    (void)state;
    vyre_kernel *k = compile("program c\nworkgroup 64\nparam p : u32\nin x : u32[]\n"
                             "out a : u32[7]\nout b : u32[len(x) / 3 + p]\n"
                             "scratch s : u32[num_groups.x * group_size.x]\n"
                             "out q : u32[1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+"
                             "1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1]\n"
                             "kernel { a[0] = x[0] b[0] = 1 s[0] = 1 q[0] = 1 }");
    uint32_t params[1] = {5}, lengths[5] = {100, 0, 0, 0, 0};
    vy_kernel_env env = {params, lengths, {3, 1, 1}, {64, 1, 1}};
    assert_int_equal(vy_kernel_eval_count(k, 1, &env), 7);
    assert_int_equal(vy_kernel_eval_count(k, 2, &env), 38);
    assert_int_equal(vy_kernel_eval_count(k, 3, &env), 192);
    assert_int_equal(vy_kernel_eval_count(k, 4, &env), 60);
    vyre_kernel_destroy(&k);
}

/* "segment:index.index ..." of a pass over a program with param p and len(x). */
static void expect_schedule(const char *body, uint32_t p, uint32_t length, const char *wanted)
{
    char source[1000], got[2000] = "";
    snprintf(source, sizeof source,
             "program s\nworkgroup 4\nparam p : u32\nparam q : i32\nin x : u32[]\n"
             "inout y : u32[]\nkernel {\n%s\n}\n",
             body);
    vyre_kernel *k = compile(source);
    uint32_t params[2] = {p, 0xfffffffeu}, lengths[2] = {length, 9};
    vy_kernel_env env = {params, lengths, {2, 1, 1}, {4, 1, 1}};
    vyre_allocator memory = vy_allocator_or_default(NULL);
    vy_execution *list = NULL;
    uint32_t count = 0;
    vyre_diag diag;
    assert_int_equal(vy_kernel_schedule(k, &env, &memory, &list, &count, &diag), VYRE_OK);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = strlen(got);
        snprintf(got + at, sizeof got - at, "%u:%d.%d ", list[i].segment, (int)list[i].indices[0],
                 (int)list[i].indices[1]);
    }
    assert_string_equal(got, wanted);
    vy_free(&memory, list, count * sizeof *list);
    vyre_kernel_destroy(&k);
}

static void test_schedule_walks_loops_and_ifs(void **state)
{
    (void)state;
    expect_schedule("y[0] = 1 grid_sync y[1] = 1", 0, 0, "0:0.0 1:0.0 ");
    expect_schedule("for i in 0 .. p { y[i] = 1 grid_sync y[i] = 2 }", 2, 0,
                    "0:0.0 1:0.0 0:1.0 1:1.0 ");
    expect_schedule("for i in 0 .. p { y[i] = 1 grid_sync } y[0] = 3", 0, 0, "1:0.0 ");
    expect_schedule("for i in 1 .. p step 3 { y[i] = 1 grid_sync }", 8, 0, "0:1.0 0:4.0 0:7.0 ");
    expect_schedule("for i in 1 .. p step 3 down { y[i] = 1 grid_sync }", 8, 0,
                    "0:7.0 0:4.0 0:1.0 ");
    expect_schedule("for i in q .. 1i { y[0] = 1 grid_sync }", 0, 0, "0:-2.0 0:-1.0 0:0.0 ");
    expect_schedule("for i in 1 .. p step len(x) { y[i] = 1 grid_sync }", 3, 0, "0:1.0 0:2.0 ");
    expect_schedule("for i in 0 .. p { for j in i .. 2 { y[i] = j grid_sync } }", 3, 0,
                    "0:0.0 0:0.1 0:1.1 ");
    expect_schedule("for i in 0 .. 4 { if i % 2 == p { y[i] = 1 grid_sync } else { y[i] = 2 } }", 1,
                    0, "1:0.0 0:1.0 1:2.0 0:3.0 ");
    expect_schedule("if len(x) > 3 { y[0] = 1 grid_sync } y[0] = 2", 0, 3, "1:0.0 ");
    expect_schedule("if len(x) > 3 { y[0] = 1 grid_sync } y[0] = 2", 0, 4, "0:0.0 1:0.0 ");
    expect_schedule("if num_groups.x == 2 && group_size.x == 4 { y[0] = 1 grid_sync }", 0, 0,
                    "0:0.0 ");
}

static vyre_result schedule_of(const char *source, uint32_t p, vyre_diag *diag, uint32_t *out_count)
{
    vyre_kernel *k = compile(source);
    uint32_t lengths[1] = {9};
    vy_kernel_env env = {&p, lengths, {2, 1, 1}, {4, 1, 1}};
    vyre_allocator memory = vy_allocator_or_default(NULL);
    vy_execution *list = NULL;
    vyre_result result = vy_kernel_schedule(k, &env, &memory, &list, out_count, diag);
    vy_free(&memory, list, *out_count * sizeof *list);
    vyre_kernel_destroy(&k);
    return result;
}

static void test_schedule_is_limited(void **state)
{
    (void)state;
    static const char loop[] = "program s\nworkgroup 4\nparam p : u32\ninout y : u32[]\n"
                               "kernel { for i in 0 .. p { y[i] = 1 grid_sync } }";
    static const char idle[] = "program s\nworkgroup 4\nparam p : u32\ninout y : u32[]\n"
                               "kernel { for i in 0 .. p { if i > p { y[i] = 1 grid_sync } } }";
    vyre_diag diag;
    uint32_t count = 0;
    assert_int_equal(schedule_of(loop, 65536, &diag, &count), VYRE_OK);
    assert_int_equal(count, 65536);
    assert_int_equal(schedule_of(loop, 65537, &diag, &count), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(count, 0);
    assert_non_null(strstr(diag.message, "65536"));
    assert_non_null(strstr(diag.message, "Fix: "));
    /* Trips that execute nothing end as well. */
    assert_int_equal(schedule_of(idle, 100, &diag, &count), VYRE_OK);
    assert_int_equal(schedule_of(idle, UINT32_MAX, &diag, &count), VYRE_ERROR_INVALID_ARGUMENT);
}

/* ---- Tables, words, dumps ---------------------------------------------------------------------
 */

static char *with_tables(uint32_t first, uint32_t second)
{
    char *text = malloc(400000);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "program t\nworkgroup 4\ninout y : u32[]\n");
    uint32_t counts[2] = {first, second};
    for (uint32_t t = 0; t < 2; t++) {
        at += (size_t)sprintf(text + at, "const T%u : u32[] = [", t);
        for (uint32_t i = 0; i < counts[t]; i++) {
            at += (size_t)sprintf(text + at, "%s%u", i ? ", " : "", i * 3 + t);
        }
        at += (size_t)sprintf(text + at, "]\n");
    }
    sprintf(text + at, "kernel { y[gid.x] = T0[gid.x] + T1[gid.x] }");
    return text;
}

static void test_kernel_puts_large_tables_into_a_buffer(void **state)
{
    (void)state;
    uint32_t count = 0;
    char *text = with_tables(4096, 10);
    vyre_kernel *k = compile(text);
    (void)vy_kernel_tables(k, &count);
    assert_int_equal(count, 0); /* 16 KiB still lies in the module */
    vyre_kernel_destroy(&k);
    free(text);
    text = with_tables(4097, 5000);
    k = compile(text);
    const uint32_t *words = vy_kernel_tables(k, &count);
    assert_int_equal(count, 9097);
    assert_int_equal(words[0], 0);
    assert_int_equal(words[4096], 4096 * 3);
    assert_int_equal(words[4097], 1);
    assert_int_equal(words[9096], 4999 * 3 + 1);
    vyre_kernel_destroy(&k);
    free(text);
}

static void test_kernel_words_are_deterministic(void **state)
{
    (void)state;
    vyre_kernel_params params = {.struct_size = sizeof params, .debug = 1};
    vyre_kernel *a = compile(everything), *b = compile(everything);
    vyre_kernel *named = compile_with(everything, &params);
    for (uint32_t s = 0; s < 2; s++) {
        vyre_segment_info x, y, z;
        vyre_kernel_segment(a, s, &x);
        vyre_kernel_segment(b, s, &y);
        vyre_kernel_segment(named, s, &z);
        assert_int_equal(x.word_count, y.word_count);
        assert_memory_equal(x.words, y.words, x.word_count * 4);
        assert_true(z.word_count > x.word_count);
    }
    vyre_kernel_destroy(&a);
    vyre_kernel_destroy(&b);
    vyre_kernel_destroy(&named);
}

typedef struct dumped {
    uint32_t calls, segments;
    bool has_phi, has_fold;
} dumped;

static void on_dump(void *user, uint32_t segment, const char *pass, const char *text)
{
    dumped *d = user;
    d->calls++;
    d->segments |= 1u << segment;
    d->has_phi |= strstr(text, "= phi") != NULL;
    d->has_fold |= strcmp(pass, "fold") == 0;
    assert_non_null(strstr(text, "block 1:"));
}

static void test_kernel_dumps_after_a_pass(void **state)
{
    (void)state;
    dumped d = {0};
    vyre_kernel_params params = {.dump_after = "build", .dump = on_dump, .dump_user = &d};
    vyre_kernel *k = compile_with(everything, &params);
    assert_int_equal(d.calls, 2);
    assert_int_equal(d.segments, 3);
    assert_true(d.has_phi); /* the while's budget */
    assert_false(d.has_fold);
    vyre_kernel_destroy(&k);
    d = (dumped){0};
    params.dump_after = "fold";
    k = compile_with(everything, &params);
    assert_int_equal(d.calls, 4); /* fold runs twice */
    assert_true(d.has_fold);
    vyre_kernel_destroy(&k);
}

static void test_kernel_names_requirements(void **state)
{
    (void)state;
    vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_2};
    vyre_kernel *k = compile_with(everything, &params);
    assert_null(vyre_kernel_requirement(k, 0));
    vyre_segment_info info;
    vyre_kernel_segment(k, 0, &info);
    assert_int_equal(info.words[1], 0x00010500);
    vyre_kernel_destroy(&k);
    params.target = VYRE_TARGET_VULKAN_1_3;
    params.float_modes = VYRE_FLOAT_DENORM_PRESERVE;
    k = compile_with(everything, &params);
    bool model = false, denormals = false;
    const char *name;
    for (uint32_t i = 0; (name = vyre_kernel_requirement(k, i)) != NULL; i++) {
        model |= strcmp(name, "vulkanMemoryModel") == 0;
        denormals |= strcmp(name, "shaderDenormPreserveFloat32") == 0;
    }
    assert_true(model);
    assert_true(denormals);
    vyre_kernel_segment(k, 0, &info);
    assert_int_equal(info.words[1], 0x00010600);
    vyre_kernel_destroy(&k);
}

/* Division is OpFDiv there, beside which the mode was seen to spoil other values. */
static void test_fast_math_declares_no_rounding(void **state)
{
    (void)state;
    static const char body[] = "inout y : f32[]\nkernel { y[gid.x] = 1.0 / y[gid.x] }";
    char text[160];
    for (int fast = 0; fast < 2; fast++) {
        vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_3,
                                     .float_modes = VYRE_FLOAT_ROUNDING_RTE |
                                                    VYRE_FLOAT_SIGNED_ZERO_INF_NAN_PRESERVE};
        snprintf(text, sizeof text, "program a\nworkgroup 64\n%s%s", fast ? "fast_math\n" : "",
                 body);
        vyre_kernel *k = compile_with(text, &params);
        bool rounding = false, zeros = false;
        const char *name;
        for (uint32_t i = 0; (name = vyre_kernel_requirement(k, i)) != NULL; i++) {
            rounding |= strcmp(name, "shaderRoundingModeRTEFloat32") == 0;
            zeros |= strcmp(name, "shaderSignedZeroInfNanPreserveFloat32") == 0;
        }
        assert_int_equal(rounding, !fast);
        assert_true(zeros);
        vyre_kernel_destroy(&k);
    }
}

/* ---- Errors -----------------------------------------------------------------------------------
 */

static void refuse(const vyre_program *program, const vyre_kernel_params *params,
                   vyre_result wanted, const char *part)
{
    vyre_kernel *kernel = (vyre_kernel *)1;
    vyre_diag diag;
    assert_int_equal(vyre_kernel_compile(program, params, &kernel, &diag), wanted);
    assert_null(kernel);
    assert_int_equal(diag.code, wanted);
    assert_non_null(strstr(diag.message, part));
    assert_non_null(strstr(diag.message, "Fix: "));
    assert_int_equal(vyre_kernel_compile(program, params, &kernel, NULL), wanted);
}

static void test_kernel_refuses_bad_params(void **state)
{
    (void)state;
    vyre_program *program = parse(everything);
    refuse(NULL, NULL, VYRE_ERROR_INVALID_ARGUMENT, "NULL");
    vyre_kernel_params params = {.target = (vyre_target)7};
    refuse(program, &params, VYRE_ERROR_INVALID_ARGUMENT, "target");
    params = (vyre_kernel_params){.interface = (vyre_interface)3};
    refuse(program, &params, VYRE_ERROR_INVALID_ARGUMENT, "interface");
    params = (vyre_kernel_params){.float_modes = 64};
    refuse(program, &params, VYRE_ERROR_INVALID_ARGUMENT, "float modes");
    params = (vyre_kernel_params){.dump_after = "unroll", .dump = on_dump};
    refuse(program, &params, VYRE_ERROR_INVALID_ARGUMENT, "unroll");
    vyre_program_destroy(&program);
}

static void survive(const char *text, size_t least)
{
    vyre_program *program = parse(text);
    size_t n = 1;
    for (;; n++) {
        vy_fail_allocator memory = {.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        vyre_kernel_params params = {.allocator = &allocator};
        vyre_kernel *kernel = NULL;
        vyre_diag diag;
        vyre_result result = vyre_kernel_compile(program, &params, &kernel, &diag);
        bool failed = memory.calls >= n;
        assert_int_equal(result, failed ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
        if (result == VYRE_OK) {
            assert_non_null(kernel);
        } else {
            assert_null(kernel);
        }
        vyre_kernel_destroy(&kernel);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(memory.live_size, 0);
        if (!failed) {
            break;
        }
    }
    assert_true(n > least);
    vyre_program_destroy(&program);
}

static void test_kernel_survives_every_failed_allocation(void **state)
{
    (void)state;
    survive(everything, 3);
    /* Large enough for every table to grow on the way. */
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_printf(&text, "program l\nworkgroup 4\nin x : u32[]\ninout y : u32[]\n"
                          "fn f(a: u32) -> u32 { if a == 3 { return 9 } return a }\n"
                          "kernel {\nvar s = x[0]\n");
    for (uint32_t i = 0; i < 700; i++) {
        vy_text_printf(&text,
                       "if x[%u] > s { s = f(s) }\nwhile s > %u { s = s / 2 }\n"
                       "switch s { case %u { s = 1 } default { y[s] = 4 } }\n"
                       "for e in %u .. x[2] { atomic_add(y[x[e]], 1) }\n%s",
                       (unsigned)i, (unsigned)i, (unsigned)i, (unsigned)i,
                       i % 50 ? "" : "grid_sync\n");
    }
    vy_text_printf(&text, "y[0] = s\n}\n");
    assert_false(text.failed);
    survive(text.data, 30);
    vy_text_finish(&text);
}

static void test_schedule_survives_every_failed_allocation(void **state)
{
    (void)state;
    vyre_kernel *k = compile("program s\nworkgroup 4\nparam p : u32\ninout y : u32[]\n"
                             "kernel { for i in 0 .. p { y[i] = 1 grid_sync } }");
    uint32_t p = 100, lengths[1] = {9};
    vy_kernel_env env = {&p, lengths, {2, 1, 1}, {4, 1, 1}};
    for (size_t n = 1;; n++) {
        vy_fail_allocator memory = {.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        vy_execution *list = NULL;
        uint32_t count = 0;
        vyre_result result = vy_kernel_schedule(k, &env, &allocator, &list, &count, NULL);
        bool failed = memory.calls >= n;
        assert_int_equal(result, failed ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
        vy_free(&allocator, list, count * sizeof *list);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(memory.live_size, 0);
        if (!failed) {
            assert_int_equal(count, 100);
            break;
        }
    }
    vyre_kernel_destroy(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_tells_its_interface),
        cmocka_unit_test(test_kernel_segments_tell_what_they_touch),
        cmocka_unit_test(test_kernel_agnostic_and_inexact),
        cmocka_unit_test(test_kernel_without_statements),
        cmocka_unit_test(test_kernel_evaluates_counts),
        cmocka_unit_test(test_schedule_walks_loops_and_ifs),
        cmocka_unit_test(test_schedule_is_limited),
        cmocka_unit_test(test_kernel_puts_large_tables_into_a_buffer),
        cmocka_unit_test(test_kernel_words_are_deterministic),
        cmocka_unit_test(test_kernel_dumps_after_a_pass),
        cmocka_unit_test(test_kernel_names_requirements),
        cmocka_unit_test(test_fast_math_declares_no_rounding),
        cmocka_unit_test(test_kernel_refuses_bad_params),
        cmocka_unit_test(test_kernel_survives_every_failed_allocation),
        cmocka_unit_test(test_schedule_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
