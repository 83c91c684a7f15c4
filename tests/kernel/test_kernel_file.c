/* Kernel files: what is saved comes back equal, whatever fails on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/kernel.h"
#include "tests/kernel/kernel_file_support.h"
#include "tests/kernel/shapes.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char everything[] =
    "// Places must come back, whatever stands between.\n\n\n"
    "program everything\nworkgroup 8, 4, 2\nfixpoint 9 until again\nloop_limit 50\n"
    "param k : u32\nparam r : f32\n"
    "in x : u32[]\nout y : f32[len(x) * 2 + k]\nscratch again : u32[1]\ninout z : bool[]\n"
    "shared w : u32[64]\nconst c = 3\nconst t : u32[] = [1, 2, 3]\n"
    "fn twice(a: u32) -> u32 {\n    if a > 7 {\n        return a\n    }\n    return a * 2\n}\n"
    "kernel {\n"
    "    let v = twice(x[gid.x])\n"
    "    if v > c { trap(77) }\n"
    "    let s = z[0]\n"
    "    z[1] = true\n"
    "    for i in 0 .. k step 2 {\n"
    "        grid_sync\n"
    "        y[i] = r\n"
    "    }\n\n\n"
    "    region \"mark\" {\n"
    "        while x[v] > t[1] { y[0] = r }\n"
    "        z[2] = s\n"
    "    }\n"
    "    w[lid.x] = 1\n"
    "    barrier\n"
    "    if w[0] == 1 { atomic_store(again[0], 1) }\n"
    "}\n";
static bytes save_one(const vyre_kernel *kernel)
{
    return save_kernels(&kernel, 1);
}

/* ---- Equality -------------------------------------------------------------------------------- */

static void expect_equal_segments(const vyre_kernel *a, const vyre_kernel *b)
{
    assert_int_equal(vyre_kernel_segment_count(a), vyre_kernel_segment_count(b));
    for (uint32_t i = 0; i < vyre_kernel_segment_count(a); i++) {
        const vy_kernel_segment *x = vy_kernel_get_segment(a, i), *y = vy_kernel_get_segment(b, i);
        assert_int_equal(x->word_count, y->word_count);
        assert_memory_equal(x->words, y->words, x->word_count * sizeof *x->words);
        assert_int_equal(x->instruction_count, y->instruction_count);
        assert_true(x->reads == y->reads && x->writes == y->writes && x->atomics == y->atomics);
        assert_int_equal(x->line, y->line);
        assert_string_equal(x->label, y->label);
    }
}

static void expect_equal_interfaces(const vyre_kernel *a, const vyre_kernel *b)
{
    assert_string_equal(vyre_kernel_name(a), vyre_kernel_name(b));
    assert_int_equal(vyre_kernel_interface(a), vyre_kernel_interface(b));
    assert_int_equal(vyre_kernel_binding_count(a), vyre_kernel_binding_count(b));
    for (uint32_t i = 0; i < vyre_kernel_binding_count(a); i++) {
        vyre_binding_info x, y;
        vyre_kernel_binding(a, i, &x);
        vyre_kernel_binding(b, i, &y);
        assert_string_equal(x.name, y.name);
        assert_int_equal(x.mode, y.mode);
        assert_int_equal(x.type, y.type);
        assert_int_equal(x.has_count, y.has_count);
    }
    assert_int_equal(vyre_kernel_param_count(a), vyre_kernel_param_count(b));
    for (uint32_t i = 0; i < vyre_kernel_param_count(a); i++) {
        assert_string_equal(vyre_kernel_param_name(a, i), vyre_kernel_param_name(b, i));
        assert_int_equal(vyre_kernel_param_type(a, i), vyre_kernel_param_type(b, i));
    }
    for (uint32_t i = 0;; i++) {
        const char *x = vyre_kernel_requirement(a, i), *y = vyre_kernel_requirement(b, i);
        assert_true((x == NULL) == (y == NULL));
        if (!x) {
            break;
        }
        assert_string_equal(x, y);
    }
}

static void expect_equal_numbers(const vyre_kernel *a, const vyre_kernel *b)
{
    uint32_t x[3], y[3], x_count, y_count;
    assert_int_equal(vyre_kernel_spill_size(a), vyre_kernel_spill_size(b));
    assert_int_equal(vyre_kernel_shared_size(a), vyre_kernel_shared_size(b));
    assert_int_equal(vyre_kernel_is_inexact(a), vyre_kernel_is_inexact(b));
    assert_int_equal(vy_kernel_is_aliased(a), vy_kernel_is_aliased(b));
    assert_int_equal(vy_kernel_is_schedule_fixed(a), vy_kernel_is_schedule_fixed(b));
    assert_int_equal(vy_kernel_grid_over(a), vy_kernel_grid_over(b));
    assert_int_equal(vy_kernel_passes(a), vy_kernel_passes(b));
    assert_int_equal(vy_kernel_until(a), vy_kernel_until(b));
    vy_kernel_workgroup(a, x);
    vy_kernel_workgroup(b, y);
    assert_memory_equal(x, y, sizeof x);
    const char *use = vy_kernel_workgroup_use(a), *other = vy_kernel_workgroup_use(b);
    assert_string_equal(use ? use : "", other ? other : "");
    assert_int_equal(vy_kernel_site_count(a), vy_kernel_site_count(b));
    for (uint32_t i = 0; i < vy_kernel_site_count(a); i++) {
        assert_memory_equal(vy_kernel_get_site(a, i), vy_kernel_get_site(b, i),
                            sizeof(vy_kernel_site));
    }
    const uint32_t *x_words = vy_kernel_tables(a, &x_count),
                   *y_words = vy_kernel_tables(b, &y_count);
    assert_int_equal(x_count, y_count);
    if (x_count) {
        assert_memory_equal(x_words, y_words, x_count * sizeof *x_words);
    }
}

static void expect_equal_schedules(const vyre_kernel *a, const vyre_kernel *b)
{
    uint32_t params[VYRE_MAX_PARAMS], lengths[VYRE_MAX_BUFFERS], x_count, y_count;
    vyre_allocator memory = vy_allocator_or_default(NULL);
    for (uint32_t i = 0; i < VYRE_MAX_PARAMS; i++) {
        params[i] = 5 + i;
    }
    for (uint32_t i = 0; i < VYRE_MAX_BUFFERS; i++) {
        lengths[i] = 100 + i;
    }
    vy_kernel_env env = {params, lengths, {3, 2, 1}, {64, 1, 1}};
    for (uint32_t i = 0; i < vyre_kernel_binding_count(a); i++) {
        vyre_binding_info info;
        vyre_kernel_binding(a, i, &info);
        if (info.has_count) {
            assert_int_equal(vy_kernel_eval_count(a, i, &env), vy_kernel_eval_count(b, i, &env));
        }
    }
    vy_execution *x, *y;
    assert_int_equal(vy_kernel_schedule(a, &env, &memory, &x, &x_count, NULL), VYRE_OK);
    assert_int_equal(vy_kernel_schedule(b, &env, &memory, &y, &y_count, NULL), VYRE_OK);
    assert_int_equal(x_count, y_count);
    if (x_count) {
        assert_memory_equal(x, y, x_count * sizeof *x);
    }
    vy_free(&memory, x, x_count * sizeof *x);
    vy_free(&memory, y, y_count * sizeof *y);
}

static void expect_equal_variants(const vyre_kernel *a, const vyre_kernel *b)
{
    for (uint32_t v = 0; v < 4; v++) {
        vy_variant variant = {.interface =
                                  v & 1 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR,
                              .is_aliased = (v & 2) != 0};
        for (uint32_t i = 0; i < vyre_kernel_segment_count(a); i++) {
            const uint32_t *x, *y;
            uint32_t x_count, y_count;
            assert_int_equal(vy_kernel_variant(a, variant, i, &x, &x_count, NULL), VYRE_OK);
            assert_int_equal(vy_kernel_variant(b, variant, i, &y, &y_count, NULL), VYRE_OK);
            assert_int_equal(x_count, y_count);
            assert_memory_equal(x, y, x_count * sizeof *x);
        }
    }
}

/* A file has no coarse words, nor says whether there are any. */
static void expect_equal_coarse(const vyre_kernel *a, const vyre_kernel *b)
{
    vy_kernel_coarse x, y;
    vy_variant variant = {.interface = VYRE_INTERFACE_ADDRESS, .is_coarse = true};
    assert_int_equal(vy_kernel_coarsen(a, variant.interface, false, &x, NULL), VYRE_OK);
    assert_int_equal(vy_kernel_coarsen(b, variant.interface, false, &y, NULL), VYRE_OK);
    assert_int_equal(x.elements != NULL, y.elements != NULL);
    assert_int_equal(x.streams, y.streams);
    for (uint32_t i = 0; x.elements && i < vyre_kernel_segment_count(a); i++) {
        const uint32_t *x_words, *y_words;
        uint32_t x_count, y_count;
        assert_int_equal(x.elements[i], y.elements[i]);
        assert_int_equal(vy_kernel_variant(a, variant, i, &x_words, &x_count, NULL), VYRE_OK);
        assert_int_equal(vy_kernel_variant(b, variant, i, &y_words, &y_count, NULL), VYRE_OK);
        assert_int_equal(x_count, y_count);
        assert_memory_equal(x_words, y_words, x_count * sizeof *x_words);
    }
}

static void expect_equal(const vyre_kernel *a, const vyre_kernel *b)
{
    expect_equal_interfaces(a, b);
    expect_equal_segments(a, b);
    expect_equal_numbers(a, b);
    expect_equal_schedules(a, b);
}

/* ---- Round trips ----------------------------------------------------------------------------- */

/* A file with one set gives that set, and whatever it has not is compiled: the same words. */
static void expect_round_trip(const vyre_program *program)
{
    vyre_kernel *direct = compile_program(program, NULL);
    bytes file = save_one(direct);
    vyre_kernel *loaded = load_kernel(file, NULL);
    assert_int_equal(vyre_kernel_is_precompiled(loaded), 1);
    expect_equal(direct, loaded);
    expect_equal_variants(direct, loaded);
    expect_equal_coarse(direct, loaded);
    bytes again = save_one(loaded);
    assert_int_equal(again.size, file.size);
    assert_memory_equal(again.data, file.data, file.size);
    vyre_kernel_destroy(&direct);
    vyre_kernel_destroy(&loaded);

    /* Names and lines too, which the program's own text decides. */
    vyre_kernel_params other = {.target = VYRE_TARGET_VULKAN_1_2,
                                .interface = VYRE_INTERFACE_ADDRESS,
                                .float_modes = VYRE_FLOAT_DENORM_PRESERVE,
                                .aliased = 1,
                                .debug = 1};
    direct = compile_program(program, &other);
    loaded = load_kernel(file, &other);
    assert_int_equal(vyre_kernel_is_precompiled(loaded), 0);
    expect_equal(direct, loaded);
    drop_bytes(&again);
    again = save_one(direct);
    bytes second = save_one(loaded);
    assert_int_equal(again.size, second.size);
    assert_memory_equal(again.data, second.data, again.size);
    vyre_kernel_destroy(&direct);
    vyre_kernel_destroy(&loaded);
    drop_bytes(&again);
    drop_bytes(&second);
    drop_bytes(&file);
}

static void test_kernel_file_gives_an_equal_kernel(void **state)
{
    (void)state;
    static const char *const texts[] = {
        everything,
        small_text,
        "program empty\nworkgroup 1\nkernel { }",
        "program a\nworkgroup 64\ngrid over y\ninout y : f32[]\n"
        "kernel { y[gid.x] = sin(y[gid.x]) / 3.0 }",
    };
    for (size_t i = 0; i < VY_COUNT_OF(texts); i++) {
        vyre_program *program = parse_text(texts[i], strlen(texts[i]));
        expect_round_trip(program);
        vyre_program_destroy(&program);
    }
    char text[SHAPE_SIZE];
    for (uint32_t i = 0; shape_text(i, 32, text); i++) {
        vyre_program *program = parse_text(text, strlen(text));
        expect_round_trip(program);
        vyre_program_destroy(&program);
    }
}

static void test_kernel_file_of_every_shader(void **state)
{
    (void)state;
    static const char *const names[] = {"bfs",       "compact", "components",      "dataflow",
                                        "histogram", "life",    "package_closure", "reduce",
                                        "scan"};
    for (size_t i = 0; i < VY_COUNT_OF(names); i++) {
        char path[500];
        static char text[1 << 16];
        snprintf(path, sizeof path, "%s/shaders/%s.vyre", VYRE_SOURCE_DIR, names[i]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t size = fread(text, 1, sizeof text, file);
        fclose(file);
        vyre_program *program = parse_text(text, size);
        expect_round_trip(program);
        vyre_program_destroy(&program);
    }
}

static void test_kernel_file_of_generated_programs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        vy_text text;
        vy_generated info;
        vy_text_init(&text, NULL);
        vy_generate(seed, &text, &info);
        assert_false(text.failed);
        vyre_program *program = parse_text(text.data, text.size);
        expect_round_trip(program);
        vyre_program_destroy(&program);
        vy_text_finish(&text);
    }
}

static void test_kernel_file_keeps_large_tables(void **state)
{
    (void)state;
    vyre_builder *b = NULL;
    vyre_program *program = NULL;
    vyre_expr none = {0};
    uint32_t *bits = calloc(5000, sizeof *bits);
    assert_non_null(bits);
    for (uint32_t i = 0; i < 5000; i++) {
        bits[i] = i * 2654435761u; /* NaNs among them */
    }
    assert_int_equal(vyre_builder_create("built", NULL, &b), VYRE_OK);
    vyre_build_workgroup(b, 64, 1, 1);
    vyre_ref table = vyre_build_table(b, "t", VYRE_TYPE_F32, bits, 5000);
    vyre_ref y = vyre_build_buffer(b, VYRE_BUFFER_OUT, "y", VYRE_TYPE_F32, none);
    vyre_expr x = vyre_build_builtin(b, VYRE_BUILTIN_GID_X);
    vyre_build_store(b, y, vyre_build_builtin(b, VYRE_BUILTIN_GID_X), vyre_build_load(b, table, x));
    assert_int_equal(vyre_builder_finish(&b, &program, NULL), VYRE_OK);
    free(bits);
    expect_round_trip(program);
    vyre_program_destroy(&program);
}

/* All choices in one file: each comes back as it was, with the variants that stand beside it. */
static void test_kernel_file_holds_every_choice(void **state)
{
    (void)state;
    enum { COUNT = 64 };
    vyre_kernel *kernels[COUNT];
    vyre_kernel_params params[COUNT];
    vyre_program *program = parse_text(small_text, strlen(small_text));
    for (uint32_t i = 0; i < COUNT; i++) {
        params[i] = (vyre_kernel_params){
            .target = i & 1 ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3,
            .aliased = (i & 2) != 0,
            .interface = i & 4 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR,
            .debug = (i & 8) != 0,
            .float_modes = (i >> 4) * 2 + 1};
        kernels[i] = compile_program(program, &params[i]);
    }
    vyre_program_destroy(&program);
    bytes file = save_kernels((const vyre_kernel *const *)kernels, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        vy_fail_allocator counter = {0};
        vyre_allocator memory = vy_fail_allocator_get(&counter);
        params[i].allocator = &memory;
        vyre_kernel *loaded = load_kernel(file, &params[i]);
        assert_int_equal(vyre_kernel_is_precompiled(loaded), 1);
        expect_equal(kernels[i], loaded);
        expect_equal_variants(kernels[i], loaded);
        vyre_kernel_destroy(&loaded);
        assert_int_equal(counter.live_blocks, 0);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        vyre_kernel_destroy(&kernels[i]);
    }
    drop_bytes(&file);
}

/* Variants that the file has are not compiled: asking for them allocates nothing. */
static void test_kernel_file_variants_are_not_compiled(void **state)
{
    (void)state;
    vyre_kernel_params aliased = {.aliased = 1}, address = {.interface = VYRE_INTERFACE_ADDRESS};
    vyre_kernel_params both = {.interface = VYRE_INTERFACE_ADDRESS, .aliased = 1};
    vyre_kernel *kernels[3] = {compile_text(small_text, &aliased), compile_text(small_text, NULL),
                               compile_text(small_text, &address)};
    bytes file = save_kernels((const vyre_kernel *const *)kernels, 3);
    const vyre_kernel_params *asked[4] = {NULL, &aliased, &address, &both};
    for (uint32_t i = 0; i < 4; i++) {
        vy_fail_allocator counter = {0};
        vyre_allocator memory = vy_fail_allocator_get(&counter);
        vyre_kernel_params params = {0};
        if (asked[i]) {
            params = *asked[i];
        }
        params.allocator = &memory;
        vyre_kernel *loaded = load_kernel(file, &params);
        assert_int_equal(vyre_kernel_is_precompiled(loaded), i != 3);
        size_t calls = counter.calls;
        for (uint32_t v = 0; v < 3; v++) {
            const uint32_t *words;
            uint32_t count;
            vyre_segment_info info;
            vy_variant variant = vy_kernel_own_variant(kernels[v]);
            assert_int_equal(vy_kernel_variant(loaded, variant, 1, &words, &count, NULL), VYRE_OK);
            vyre_kernel_segment(kernels[v], 1, &info);
            assert_int_equal(count, info.word_count);
            assert_memory_equal(words, info.words, count * sizeof *words);
        }
        assert_int_equal(counter.calls, calls);
        vyre_kernel_destroy(&loaded);
    }
    for (uint32_t i = 0; i < 3; i++) {
        vyre_kernel_destroy(&kernels[i]);
    }
    drop_bytes(&file);
}

/* Joined atomics are a choice where the program has any, under maximal reconvergence. */
static void test_kernel_file_keeps_joined_words_apart(void **state)
{
    (void)state;
    static const char counts[] = "program counts\nworkgroup 8\ninout n : u32[]\nkernel {\n"
                                 "let k = atomic_add(n[0], 1)\natomic_max(n[1], gid.x)\n"
                                 "n[k + 2] = 1 }\n";
    static const vyre_kernel_params kinds[4] = {
        {.aggregate = 0},
        {.aggregate = VYRE_AGGREGATE_STORAGE, .reconvergence = VYRE_RECONVERGENCE_MAXIMAL},
        {.aggregate = VYRE_AGGREGATE_ALL, .reconvergence = VYRE_RECONVERGENCE_MAXIMAL},
        {.aggregate = VYRE_AGGREGATE_STORAGE,
         .interface = VYRE_INTERFACE_ADDRESS,
         .reconvergence = VYRE_RECONVERGENCE_MAXIMAL}};
    static const vyre_kernel_params same[] = {
        {.aggregate = VYRE_AGGREGATE_SHARED, /* of which there are none */
         .reconvergence = VYRE_RECONVERGENCE_MAXIMAL},
        {.aggregate = VYRE_AGGREGATE_STORAGE | VYRE_AGGREGATE_SHARED,
         .reconvergence = VYRE_RECONVERGENCE_MAXIMAL},
        {.aggregate = VYRE_AGGREGATE_STORAGE | VYRE_AGGREGATE_OLD,
         .reconvergence = VYRE_RECONVERGENCE_MAXIMAL},
        {.aggregate = VYRE_AGGREGATE_STORAGE | VYRE_AGGREGATE_SHARED,
         .interface = VYRE_INTERFACE_ADDRESS,
         .reconvergence = VYRE_RECONVERGENCE_MAXIMAL},
        {.aggregate = VYRE_AGGREGATE_ALL, .reconvergence = VYRE_RECONVERGENCE_UNIFORM}};
    vyre_kernel *kernels[4];
    for (uint32_t i = 0; i < 4; i++) {
        kernels[i] = compile_text(counts, &kinds[i]);
    }
    bytes file = save_kernels((const vyre_kernel *const *)kernels, 4);
    for (uint32_t i = 0; i < 4 + VY_COUNT_OF(same); i++) {
        vyre_kernel *loaded = load_kernel(file, i < 4 ? &kinds[i] : &same[i - 4]);
        assert_int_equal(vyre_kernel_is_precompiled(loaded), 1);
        expect_equal(kernels[i % 4], loaded);
        /* The other interface's words are joined as its own are. */
        expect_equal_variants(kernels[i % 4], loaded);
        vyre_kernel_destroy(&loaded);
    }
    for (uint32_t i = 0; i < 4; i++) {
        vyre_segment_info a, b;
        vyre_kernel_segment(kernels[i], 0, &a);
        vyre_kernel_segment(kernels[(i + 1) % 4], 0, &b);
        assert_true(a.word_count != b.word_count ||
                    memcmp(a.words, b.words, 4 * (size_t)a.word_count) != 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        vyre_kernel_destroy(&kernels[i]);
    }
    drop_bytes(&file);
}

/* ---- Errors of saving ------------------------------------------------------------------------ */

static void expect_save_error(const vyre_kernel *const *kernels, uint32_t count, vyre_result wanted,
                              const char *message)
{
    void *data = &count;
    size_t size = 9;
    vyre_diag diag;
    assert_int_equal(vyre_kernel_save(kernels, count, NULL, &data, &size, &diag), wanted);
    if (!strstr(diag.message, message) || !strstr(diag.message, "Fix: ")) {
        fail_msg("wanted '%s', got '%s'", message, diag.message);
    }
    assert_null(data);
    assert_int_equal(size, 0);
}

static void test_kernel_save_refuses_what_does_not_fit_together(void **state)
{
    (void)state;
    char changed[400];
    assert_true(strlen(small_text) < sizeof changed);
    memcpy(changed, small_text, strlen(small_text) + 1);
    strstr(changed, "program sm")[8] = 'q';
    vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_2};
    vyre_kernel *a = compile_text(small_text, NULL), *b = compile_text(small_text, &params),
                *same = compile_text(small_text, NULL);
    vyre_kernel *other = compile_text(everything, NULL), *renamed = compile_text(changed, &params);
    const vyre_kernel *lists[][3] = {{a, b, NULL}, {a, b, other}, {a, renamed}, {b, a, same}};
    void *data;
    size_t size;
    vyre_diag diag;
    const vyre_result invalid = VYRE_ERROR_INVALID_ARGUMENT;
    expect_save_error(lists[0], 3, invalid, "kernel 2 is NULL");
    expect_save_error(lists[1], 3, invalid, "kernel 2 is of another program (everything)");
    expect_save_error(lists[2], 2, invalid, "kernel 1 is of another program (qm)");
    expect_save_error(lists[3], 3, invalid, "kernels 1 and 2 have the same target");
    expect_save_error(lists[0], 0, invalid, "there are no kernels");
    expect_save_error(lists[0], 100000, invalid, "too many kernels");
    expect_save_error(NULL, 1, invalid, "an argument is NULL");
    assert_int_equal(vyre_kernel_save(lists[0], 1, NULL, NULL, &size, &diag), invalid);
    assert_int_equal(vyre_kernel_save(lists[0], 1, NULL, &data, NULL, &diag), invalid);
    bytes file = save_kernels(lists[0], 2); /* parsed apart, and the same */
    drop_bytes(&file);
    vyre_kernel_free_data(NULL, NULL, 0);
    vyre_kernel_destroy(&a);
    vyre_kernel_destroy(&b);
    vyre_kernel_destroy(&same);
    vyre_kernel_destroy(&other);
    vyre_kernel_destroy(&renamed);
}

static void test_kernel_save_refuses_what_text_cannot_say(void **state)
{
    (void)state;
    vyre_builder *b = NULL;
    vyre_program *program = NULL;
    vyre_expr none = {0};
    assert_int_equal(vyre_builder_create("deep", NULL, &b), VYRE_OK);
    vyre_build_workgroup(b, 64, 1, 1);
    vyre_ref y = vyre_build_buffer(b, VYRE_BUFFER_INOUT, "y", VYRE_TYPE_U32, none);
    vyre_expr x = vyre_build_u32(b, 1);
    for (uint32_t i = 0; i < VYRE_MAX_NESTING + 10; i++) {
        x = vyre_build_op(b, VYRE_OP_MIN, x, vyre_build_u32(b, i), none, none);
    }
    vyre_build_store(b, y, vyre_build_u32(b, 0), x);
    assert_int_equal(vyre_builder_finish(&b, &program, NULL), VYRE_OK);
    vyre_kernel *kernel = compile_program(program, NULL);
    const vyre_kernel *list[1] = {kernel};
    expect_save_error(list, 1, VYRE_ERROR_INVALID_PROGRAM, "cannot be said as text");
    vyre_kernel_destroy(&kernel);
    vyre_program_destroy(&program);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void expect_load_survives(bytes file, vyre_kernel_params params, size_t least)
{
    size_t n = 1;
    for (bool failed = true; failed; n++) {
        vy_fail_allocator memory = {.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        vyre_kernel *kernel = NULL;
        params.allocator = &allocator;
        vyre_result result = vyre_kernel_load(file.data, file.size, &params, &kernel, NULL);
        failed = memory.calls >= n;
        assert_int_equal(result, failed ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
        assert_true((kernel == NULL) == failed);
        vyre_kernel_destroy(&kernel);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(memory.live_size, 0);
    }
    assert_true(n > least);
}

static void test_kernel_load_survives_every_failed_allocation(void **state)
{
    (void)state;
    bytes file = save_small();
    expect_load_survives(file, (vyre_kernel_params){0}, 10);
    expect_load_survives(file, (vyre_kernel_params){.target = VYRE_TARGET_VULKAN_1_2}, 12);
    expect_load_survives(file, (vyre_kernel_params){.debug = 1}, 10);
    drop_bytes(&file);
}

static void test_kernel_save_survives_every_failed_allocation(void **state)
{
    (void)state;
    vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_2};
    vyre_kernel *kernels[2] = {compile_text(everything, NULL), compile_text(everything, &params)};
    size_t n = 1;
    for (bool failed = true; failed; n++) {
        vy_fail_allocator memory = {.fail_at = n};
        vyre_allocator allocator = vy_fail_allocator_get(&memory);
        void *data = NULL;
        size_t size = 0;
        vyre_result result = vyre_kernel_save((const vyre_kernel *const *)kernels, 2, &allocator,
                                              &data, &size, NULL);
        failed = memory.calls >= n;
        assert_int_equal(result, failed ? VYRE_ERROR_OUT_OF_HOST_MEMORY : VYRE_OK);
        assert_true((data == NULL) == failed);
        vyre_kernel_free_data(&allocator, &data, size);
        assert_int_equal(memory.live_blocks, 0);
        assert_int_equal(memory.live_size, 0);
    }
    assert_true(n > 8);
    vyre_kernel_destroy(&kernels[0]);
    vyre_kernel_destroy(&kernels[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_file_gives_an_equal_kernel),
        cmocka_unit_test(test_kernel_file_of_every_shader),
        cmocka_unit_test(test_kernel_file_keeps_large_tables),
        cmocka_unit_test(test_kernel_file_of_generated_programs),
        cmocka_unit_test(test_kernel_file_holds_every_choice),
        cmocka_unit_test(test_kernel_file_variants_are_not_compiled),
        cmocka_unit_test(test_kernel_file_keeps_joined_words_apart),
        cmocka_unit_test(test_kernel_save_refuses_what_does_not_fit_together),
        cmocka_unit_test(test_kernel_save_refuses_what_text_cannot_say),
        cmocka_unit_test(test_kernel_load_survives_every_failed_allocation),
        cmocka_unit_test(test_kernel_save_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
