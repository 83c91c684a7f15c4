/* Kernel files: what is saved comes back equal, and no bytes do harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/kernel.h"
#include "codegen/kernel_file.h"
#include "tests/kernel/shapes.h"
#include "tests/support/fail_allocator.h"
#include "vyre/text.h"

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
static const char small[] = "program s\nworkgroup 64\ninout y : u32[]\nout z : u32[len(y)]\n"
                            "kernel {\n    if y[gid.x] > 1 { trap(1) }\n    grid_sync\n"
                            "    z[gid.x] = y[0]\n}\n";

/* ---- Helpers --------------------------------------------------------------------------------- */

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static vyre_program *parse(const char *text, size_t size)
{
    vyre_program *program = NULL;
    vyre_diag diag;
    if (vyre_program_parse(text, size, NULL, NULL, &program, &diag) != VYRE_OK) {
        fail_msg("%u:%u: %s", diag.line, diag.column, diag.message);
    }
    return program;
}

static vyre_kernel *compile_program(const vyre_program *program, const vyre_kernel_params *params)
{
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    if (vyre_kernel_compile(program, params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    assert_int_equal(vyre_kernel_is_precompiled(kernel), 0);
    return kernel;
}

static vyre_kernel *compile(const char *text, const vyre_kernel_params *params)
{
    vyre_program *program = parse(text, strlen(text));
    vyre_kernel *kernel = compile_program(program, params);
    vyre_program_destroy(&program);
    return kernel;
}

static bytes save(const vyre_kernel *const *kernels, uint32_t count)
{
    void *data = NULL;
    bytes out = {0};
    vyre_diag diag;
    if (vyre_kernel_save(kernels, count, NULL, &data, &out.size, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    out.data = data;
    return out;
}

static bytes save_one(const vyre_kernel *kernel)
{
    return save(&kernel, 1);
}

static void drop(bytes *b)
{
    void *data = b->data;
    vyre_kernel_free_data(NULL, &data, b->size);
    assert_null(data);
    *b = (bytes){0};
}

static vyre_kernel *load(bytes b, const vyre_kernel_params *params)
{
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    if (vyre_kernel_load(b.data, b.size, params, &kernel, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return kernel;
}

static void expect_error(bytes b, vyre_result wanted, const char *message)
{
    vyre_kernel *kernel = (vyre_kernel *)&b;
    vyre_diag diag;
    vyre_result result = vyre_kernel_load(b.data, b.size, NULL, &kernel, &diag);
    if (result != wanted || !strstr(diag.message, message) || !strstr(diag.message, "Fix: ")) {
        fail_msg("wanted '%s', got %d '%s'", message, (int)result,
                 result == VYRE_OK ? "" : diag.message);
    }
    assert_int_equal(diag.code, wanted);
    assert_null(kernel);
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
        vy_variant variant = {v & 1 ? VYRE_INTERFACE_ADDRESS : VYRE_INTERFACE_DESCRIPTOR,
                              (v & 2) != 0};
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
    vyre_kernel *loaded = load(file, NULL);
    assert_int_equal(vyre_kernel_is_precompiled(loaded), 1);
    expect_equal(direct, loaded);
    expect_equal_variants(direct, loaded);
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
    loaded = load(file, &other);
    assert_int_equal(vyre_kernel_is_precompiled(loaded), 0);
    expect_equal(direct, loaded);
    drop(&again);
    again = save_one(direct);
    bytes second = save_one(loaded);
    assert_int_equal(again.size, second.size);
    assert_memory_equal(again.data, second.data, again.size);
    vyre_kernel_destroy(&direct);
    vyre_kernel_destroy(&loaded);
    drop(&again);
    drop(&second);
    drop(&file);
}

static void test_kernel_file_gives_an_equal_kernel(void **state)
{
    (void)state;
    static const char *const texts[] = {
        everything,
        small,
        "program empty\nworkgroup 1\nkernel { }",
        "program a\nworkgroup 64\ngrid over y\ninout y : f32[]\n"
        "kernel { y[gid.x] = sin(y[gid.x]) / 3.0 }",
    };
    for (size_t i = 0; i < VY_COUNT_OF(texts); i++) {
        vyre_program *program = parse(texts[i], strlen(texts[i]));
        expect_round_trip(program);
        vyre_program_destroy(&program);
    }
    char text[SHAPE_SIZE];
    for (uint32_t i = 0; shape_text(i, 32, text); i++) {
        vyre_program *program = parse(text, strlen(text));
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
        vyre_program *program = parse(text, size);
        expect_round_trip(program);
        vyre_program_destroy(&program);
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
    vyre_program *program = parse(small, strlen(small));
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
    bytes file = save((const vyre_kernel *const *)kernels, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        vy_fail_allocator counter = {0};
        vyre_allocator memory = vy_fail_allocator_get(&counter);
        params[i].allocator = &memory;
        vyre_kernel *loaded = load(file, &params[i]);
        assert_int_equal(vyre_kernel_is_precompiled(loaded), 1);
        expect_equal(kernels[i], loaded);
        expect_equal_variants(kernels[i], loaded);
        vyre_kernel_destroy(&loaded);
        assert_int_equal(counter.live_blocks, 0);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        vyre_kernel_destroy(&kernels[i]);
    }
    drop(&file);
}

/* Variants that the file has are not compiled: asking for them allocates nothing. */
static void test_kernel_file_variants_are_not_compiled(void **state)
{
    (void)state;
    vyre_kernel_params aliased = {.aliased = 1}, address = {.interface = VYRE_INTERFACE_ADDRESS};
    vyre_kernel_params both = {.interface = VYRE_INTERFACE_ADDRESS, .aliased = 1};
    vyre_kernel *kernels[3] = {compile(small, &aliased), compile(small, NULL),
                               compile(small, &address)};
    bytes file = save((const vyre_kernel *const *)kernels, 3);
    const vyre_kernel_params *asked[4] = {NULL, &aliased, &address, &both};
    for (uint32_t i = 0; i < 4; i++) {
        vy_fail_allocator counter = {0};
        vyre_allocator memory = vy_fail_allocator_get(&counter);
        vyre_kernel_params params = {0};
        if (asked[i]) {
            params = *asked[i];
        }
        params.allocator = &memory;
        vyre_kernel *loaded = load(file, &params);
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
    drop(&file);
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
    char changed[sizeof small];
    memcpy(changed, small, sizeof small);
    strstr(changed, "program s")[8] = 'q';
    vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_2};
    vyre_kernel *a = compile(small, NULL), *b = compile(small, &params),
                *same = compile(small, NULL);
    vyre_kernel *other = compile(everything, NULL), *renamed = compile(changed, &params);
    const vyre_kernel *lists[][3] = {{a, b, NULL}, {a, b, other}, {a, renamed}, {b, a, same}};
    void *data;
    size_t size;
    vyre_diag diag;
    const vyre_result invalid = VYRE_ERROR_INVALID_ARGUMENT;
    expect_save_error(lists[0], 3, invalid, "kernel 2 is NULL");
    expect_save_error(lists[1], 3, invalid, "kernel 2 is of another program (everything)");
    expect_save_error(lists[2], 2, invalid, "kernel 1 is of another program (q)");
    expect_save_error(lists[3], 3, invalid, "kernels 1 and 2 have the same target");
    expect_save_error(lists[0], 0, invalid, "there are no kernels");
    expect_save_error(lists[0], 100000, invalid, "too many kernels");
    expect_save_error(NULL, 1, invalid, "an argument is NULL");
    assert_int_equal(vyre_kernel_save(lists[0], 1, NULL, NULL, &size, &diag), invalid);
    assert_int_equal(vyre_kernel_save(lists[0], 1, NULL, &data, NULL, &diag), invalid);
    bytes file = save(lists[0], 2); /* parsed apart, and the same */
    drop(&file);
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

/* ---- Damage ---------------------------------------------------------------------------------- */

static bytes small_file(void)
{
    vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_2, .aliased = 1};
    vyre_kernel *kernels[2] = {compile(small, NULL), compile(small, &params)};
    bytes file = save((const vyre_kernel *const *)kernels, 2);
    vyre_kernel_destroy(&kernels[0]);
    vyre_kernel_destroy(&kernels[1]);
    return file;
}

static void set_u32(bytes b, size_t at, uint32_t value)
{
    for (uint32_t i = 0; i < 4; i++) {
        b.data[at + i] = (unsigned char)(value >> (8 * i));
    }
}

static uint32_t get_u32(bytes b, size_t at)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < 4; i++) {
        value |= (uint32_t)b.data[at + i] << (8 * i);
    }
    return value;
}

/* Makes size and checksum right again, as one does who means harm. */
static void seal(bytes b)
{
    set_u32(b, 8, (uint32_t)b.size);
    set_u32(b, 12, 0);
    uint64_t sum = vy_kernel_file_checksum(b.data, b.size);
    set_u32(b, 16, (uint32_t)sum);
    set_u32(b, 20, (uint32_t)(sum >> 32));
}

static void test_kernel_load_refuses_every_prefix(void **state)
{
    (void)state;
    bytes file = small_file();
    for (size_t size = 0; size < file.size; size++) {
        /* Memory of that size: reading on would be seen. */
        bytes part = {malloc(size ? size : 1), size};
        assert_non_null(part.data);
        memcpy(part.data, file.data, size);
        expect_error(part, VYRE_ERROR_IO, size < 4 ? "no kernel file" : "its end is missing");
        if (size >= 24) {
            seal(part);
            expect_error(part, VYRE_ERROR_IO, "is damaged: ");
        }
        free(part.data);
    }
    drop(&file);
}

static void test_kernel_load_refuses_every_changed_bit(void **state)
{
    (void)state;
    bytes file = small_file();
    for (size_t i = 0; i < file.size * 8; i++) {
        file.data[i / 8] ^= (unsigned char)(1u << i % 8);
        expect_error(file, VYRE_ERROR_IO, i < 32 ? "no kernel file" : "the kernel file is ");
        file.data[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    vyre_kernel *kernel = load(file, NULL);
    vyre_kernel_destroy(&kernel);
    drop(&file);
}

/* Everything that the engine asks of a kernel. */
static void use(const vyre_kernel *kernel)
{
    uint32_t lengths[VYRE_MAX_BUFFERS] = {7, 7}, params[VYRE_MAX_PARAMS] = {0}, count = 0;
    vyre_allocator memory = vy_allocator_or_default(NULL);
    vy_kernel_env env = {params, lengths, {1, 1, 1}, {64, 1, 1}};
    vy_execution *list = NULL;
    assert_int_equal(vy_kernel_schedule(kernel, &env, &memory, &list, &count, NULL), VYRE_OK);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(list[i].segment < vyre_kernel_segment_count(kernel));
    }
    vy_free(&memory, list, count * sizeof *list);
    for (uint32_t i = 0; i < vyre_kernel_segment_count(kernel); i++) {
        vyre_segment_info info;
        vyre_kernel_segment(kernel, i, &info);
        assert_true(info.word_count > 5);
        assert_int_equal(info.words[0], 0x07230203);
        assert_true((info.reads & 0x3ffffffffffffffcu) == 0); /* two bindings */
    }
}

/* The checksum does not protect from anybody: with a right one, every changed byte gives an error
 * or a kernel that can be used. */
static void test_kernel_load_survives_changes_with_a_right_checksum(void **state)
{
    (void)state;
    static const unsigned char changes[] = {0x01, 0x10, 0x80, 0xff};
    bytes file = small_file();
    uint32_t loaded = 0, refused = 0;
    for (size_t i = 24; i < file.size; i++) {
        for (size_t c = 0; c < VY_COUNT_OF(changes); c++) {
            vyre_kernel *kernel = NULL;
            vyre_diag diag;
            file.data[i] ^= changes[c];
            seal(file);
            vyre_result result = vyre_kernel_load(file.data, file.size, NULL, &kernel, &diag);
            file.data[i] ^= changes[c];
            if (result == VYRE_OK) {
                use(kernel);
                loaded++;
            } else {
                assert_true(result == VYRE_ERROR_IO || result == VYRE_ERROR_INVALID_PROGRAM);
                assert_null(kernel);
                refused++;
            }
            vyre_kernel_destroy(&kernel);
        }
    }
    assert_true(loaded > 100 && refused > 1000); /* operands of words; nearly all else */
    drop(&file);
}

/* Where things lie in a file of `small`. */
typedef struct layout {
    size_t text, places, counts, segments, sets, first_words;
} layout;

static layout find_layout(bytes file)
{
    layout l = {.text = 40};
    l.places = l.text + 4 + (get_u32(file, l.text) + 3) / 4 * 4;
    l.counts = l.places + 4 + 8 * (size_t)get_u32(file, l.places);
    l.segments = l.counts + 16;
    l.sets = l.segments + 28 * (size_t)get_u32(file, l.counts);
    l.first_words = l.sets + 4 + 16; /* their count */
    assert_int_equal(get_u32(file, l.sets), 2);
    assert_int_equal(get_u32(file, l.first_words + 4), 0x07230203);
    return l;
}

static void expect_damage(bytes file, size_t at, uint32_t value, const char *message)
{
    uint32_t old = get_u32(file, at);
    assert_int_not_equal(old, value);
    set_u32(file, at, value);
    seal(file);
    expect_error(file, VYRE_ERROR_IO, message);
    set_u32(file, at, old);
    seal(file);
}

static void test_kernel_load_names_the_damage(void **state)
{
    (void)state;
    bytes file = small_file();
    layout l = find_layout(file);
    expect_damage(file, 24, 1, "its hashes are not its program's");
    expect_damage(file, 32, 1, "its hashes are not its program's");
    expect_damage(file, l.text, 0xffffffff, "its program is longer than any");
    expect_damage(file, l.text, (uint32_t)file.size, "it ends within the program");
    expect_damage(file, l.places, 0xffffffff, "it ends within the places");
    expect_damage(file, l.counts, 0xffffffff, "it ends within the segments");
    expect_damage(file, l.counts + 4, 5, "its segments are not the program's");
    expect_damage(file, l.counts + 8, 5, "its segments are not the program's");
    expect_damage(file, l.counts + 12, 5, "its segments are not the program's");
    expect_damage(file, l.segments + 4, 4, "uses buffers that the program has not");
    expect_damage(file, l.segments + 8, 0x80000000, "uses buffers that the program has not");
    expect_damage(file, l.segments + 20, 2, "uses buffers that the program has not");
    expect_damage(file, l.sets, 0, "its number of sets");
    expect_damage(file, l.sets, 0xffffffff, "its number of sets");
    expect_damage(file, l.sets, 3, "no target, interface or float modes");
    expect_damage(file, l.sets, 1, "something follows its end");
    expect_damage(file, l.sets + 4, 2, "no target, interface or float modes");
    expect_damage(file, l.sets + 8, 2, "no target, interface or float modes");
    expect_damage(file, l.sets + 12, 8, "no target, interface or float modes");
    expect_damage(file, l.sets + 16, 4, "no target, interface or float modes");
    expect_damage(file, l.sets + 4, 1, "a module's version of SPIR-V is not its target's");
    expect_damage(file, l.first_words, 0xffffffff, "it ends within a set of words");
    expect_damage(file, l.first_words, 4, "a module is not SPIR-V");
    expect_damage(file, l.first_words, 7, "a module");
    expect_damage(file, l.first_words + 4, 0x03022307, "a module is not SPIR-V");
    expect_damage(file, l.first_words + 16, 0, "a module's header is not one");
    expect_damage(file, l.first_words + 16, 0x7fffffff, "a module's header is not one");
    expect_damage(file, l.first_words + 24, 0, "a module's instructions do not fill it");
    expect_damage(file, l.first_words + 24, 0xffff0011, "a module's instructions do not fill it");
    vyre_kernel *kernel = load(file, NULL); /* and it is whole still */
    vyre_kernel_destroy(&kernel);
    drop(&file);
}

/* Sets of the same choice, and a program that is none. */
static void test_kernel_load_checks_sets_and_text(void **state)
{
    (void)state;
    vyre_kernel_params modes = {.float_modes = 1};
    vyre_kernel *kernels[2] = {compile(small, NULL), compile(small, &modes)};
    bytes file = save((const vyre_kernel *const *)kernels, 2);
    layout l = find_layout(file);
    expect_damage(file, l.sets + 12, 1, "two sets of words are for the same choice");
    memcpy(file.data + l.text + 4, "program ?", 9);
    seal(file);
    expect_error(file, VYRE_ERROR_INVALID_PROGRAM, "");
    vyre_kernel_destroy(&kernels[0]);
    vyre_kernel_destroy(&kernels[1]);
    drop(&file);
}

static void test_kernel_load_refuses_other_files(void **state)
{
    (void)state;
    bytes file = small_file();
    bytes longer = {calloc(file.size + 8, 1), file.size + 8};
    assert_non_null(longer.data);
    memcpy(longer.data, file.data, file.size);
    expect_error(longer, VYRE_ERROR_IO, "something follows its end");
    seal(longer);
    expect_error(longer, VYRE_ERROR_IO, "something follows its end");
    free(longer.data);
    set_u32(file, 4, VY_KERNEL_FILE_VERSION + 1);
    expect_error(file, VYRE_ERROR_IO, "is of version 2, and this library reads version 1");
    drop(&file);
    expect_error((bytes){(unsigned char *)"program p", 9}, VYRE_ERROR_IO, "no kernel file");
    expect_error((bytes){(unsigned char *)"VYRK\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"
                                          "12345678",
                         24},
                 VYRE_ERROR_IO, "its end is missing");
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_kernel_load(NULL, 0, NULL, &kernel, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_int_equal(vyre_kernel_load("VYRK", 4, NULL, NULL, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    vyre_kernel_params params = {.target = (vyre_target)9};
    assert_int_equal(vyre_kernel_load("VYRK", 4, &params, &kernel, &diag),
                     VYRE_ERROR_INVALID_ARGUMENT);
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
    bytes file = small_file();
    expect_load_survives(file, (vyre_kernel_params){0}, 10);
    expect_load_survives(file, (vyre_kernel_params){.target = VYRE_TARGET_VULKAN_1_2}, 12);
    expect_load_survives(file, (vyre_kernel_params){.debug = 1}, 10);
    drop(&file);
}

static void test_kernel_save_survives_every_failed_allocation(void **state)
{
    (void)state;
    vyre_kernel_params params = {.target = VYRE_TARGET_VULKAN_1_2};
    vyre_kernel *kernels[2] = {compile(everything, NULL), compile(everything, &params)};
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
        cmocka_unit_test(test_kernel_file_holds_every_choice),
        cmocka_unit_test(test_kernel_file_variants_are_not_compiled),
        cmocka_unit_test(test_kernel_save_refuses_what_does_not_fit_together),
        cmocka_unit_test(test_kernel_save_refuses_what_text_cannot_say),
        cmocka_unit_test(test_kernel_load_refuses_every_prefix),
        cmocka_unit_test(test_kernel_load_refuses_every_changed_bit),
        cmocka_unit_test(test_kernel_load_survives_changes_with_a_right_checksum),
        cmocka_unit_test(test_kernel_load_names_the_damage),
        cmocka_unit_test(test_kernel_load_checks_sets_and_text),
        cmocka_unit_test(test_kernel_load_refuses_other_files),
        cmocka_unit_test(test_kernel_load_survives_every_failed_allocation),
        cmocka_unit_test(test_kernel_save_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
