/* Buffers beyond what descriptors reach, judged by their words alone: a host runs a module whose
 * buffers lie at addresses that it makes up, and sees which bytes each access reaches. No memory of
 * such sizes is needed. */
#include "codegen/kernel.h"
#include "tests/support/lint.h"
#include "tests/support/machine.h"
#include "tests/support/spirv_touch.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <spirv-tools/libspirv.h>

#define BLOCK 0x100000000u
/* Its lower word is near the top, so that sums carry. */
#define X 0x37fffff000u
#define I 0x9000000000u
#define Y 0xa0fffffff0u

static const char text[] = "program far\nworkgroup 1\n"
                           "inout x : u32[]\nin i : u32[]\ninout y : f32[]\n"
                           "kernel {\n"
                           "  let v = x[i[0]]\n"
                           "  x[i[1]] = v + 1\n"
                           "  atomic_add(x[i[2]], 5)\n"
                           "  y[i[3]] = 2.0\n"
                           "}\n";

/* Every kind of cell. */
static const char cells_text[] =
    "program cells\nworkgroup 1\n"
    "inout a : u8[]\ninout b : u16[]\ninout c : u32[]\ninout d : f32[]\ninout e : u64[]\n"
    "inout f : f64[]\ninout g : f32x2[]\ninout h : u32x4[]\nin i : u32[]\n"
    "kernel {\n"
    "  a[i[1]] = a[i[0]]\n"
    "  b[i[1]] = b[i[0]]\n"
    "  c[i[1]] = c[i[0]]\n"
    "  d[i[1]] = d[i[0]]\n"
    "  e[i[1]] = e[i[0]]\n"
    "  f[i[1]] = f[i[0]]\n"
    "  g[i[1]] = g[i[0]]\n"
    "  h[i[1]] = h[i[0]]\n"
    "}\n";
#define CELLS 8u
static const uint32_t cell_sizes[CELLS] = {1, 2, 4, 4, 8, 8, 8, 16};

/* A value crosses grid_sync by a spill slot. */
static const char kept_text[] = "program kept\nworkgroup 1\ninout x : u32[]\n"
                                "kernel {\n"
                                "  let v = x[gid.x] + 1\n"
                                "  grid_sync\n"
                                "  x[gid.x + 1] = v\n"
                                "}\n";

/* ---- Memory that the test makes up ----------------------------------------------------------- */

static uint32_t block[64], indices[4], elsewhere[4];
static uint64_t touched[16];
static uint32_t touched_count;

static uint32_t *find(uint64_t address)
{
    if (address >= BLOCK && address < BLOCK + sizeof block) {
        return &block[(address - BLOCK) / 4];
    }
    if (address >= I && address < I + sizeof indices) {
        return &indices[(address - I) / 4];
    }
    assert_true(touched_count < 16);
    touched[touched_count++] = address;
    return elsewhere;
}

static void put_binding(uint32_t count, uint32_t binding, uint64_t address, uint32_t length)
{
    uint32_t at = vy_param_addresses(count, 0) + 2 * binding;
    block[at] = (uint32_t)address;
    block[at + 1] = (uint32_t)(address >> 32);
    block[VY_PARAM_LENGTHS + binding] = length;
}

static void begin(uint32_t index)
{
    memset(block, 0, sizeof block);
    touched_count = 0;
    for (int i = 0; i < 4; i++) {
        indices[i] = index;
    }
    block[VY_PARAM_GROUPS] = block[VY_PARAM_GROUPS + 1] = block[VY_PARAM_GROUPS + 2] = 1;
    block[VY_PARAM_ELEMENTS] = block[VY_PARAM_ELEMENTS + 1] = block[VY_PARAM_ELEMENTS + 2] = 1;
    block[VY_PARAM_GROUP_TOTAL] = block[VY_PARAM_INVOCATIONS] = 1;
}

static void run_words(const uint32_t *words, uint32_t count)
{
    machine m;
    machine_init(&m, words, count);
    m.find = find;
    m.push[VY_PUSH_ADDRESS / 4] = (uint32_t)BLOCK;
    m.push[VY_PUSH_ADDRESS / 4 + 1] = (uint32_t)((uint64_t)BLOCK >> 32);
    machine_run(&m);
    machine_finish(&m);
}

static void run(const uint32_t *words, uint32_t count, uint32_t index, uint32_t length)
{
    begin(index);
    put_binding(3, 0, X, length);
    put_binding(3, 1, I, 4);
    put_binding(3, 2, Y, length);
    run_words(words, count);
}

static void check(const uint32_t *words, uint32_t count, uint32_t index, uint32_t length)
{
    run(words, count, index, length);
    if (index < length) {
        assert_int_equal(touched_count, 4);
        for (int i = 0; i < 3; i++) {
            assert_true(touched[i] == X + 4 * (uint64_t)index);
        }
        assert_true(touched[3] == Y + 4 * (uint64_t)index);
        return;
    }
    /* A load beyond the end is one of the first element, or of the zeros that stand for nothing. */
    assert_int_equal(touched_count, 1);
    assert_true(touched[0] == X);
}

static vyre_kernel *compile(const char *source, vyre_target target)
{
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_kernel_params params = {.target = target};
    vyre_diag diag;
    assert_int_equal(vyre_program_parse(source, strlen(source), "t", NULL, &program, &diag),
                     VYRE_OK);
    assert_int_equal(vyre_kernel_compile(program, &params, &kernel, &diag), VYRE_OK);
    vyre_program_destroy(&program);
    return kernel;
}

static const uint32_t corners[] = {0,           1,           2,           6,           7,
                                   8,           0x3fffffffu, 0x40000000u, 0x40000001u, 0x7ffffffeu,
                                   0x7fffffffu, 0x80000000u, 0x80000001u, 0xfffffffeu, 0xffffffffu};
#define CORNERS (sizeof corners / sizeof *corners)

static const uint32_t *words_of(const vyre_kernel *kernel, bool is_aliased, bool is_wide,
                                uint32_t segment, uint32_t *out_count)
{
    vy_variant variant = {
        .interface = VYRE_INTERFACE_ADDRESS, .is_aliased = is_aliased, .is_wide = is_wide};
    const uint32_t *words = NULL;
    vyre_diag diag;
    if (vy_kernel_variant(kernel, variant, segment, &words, out_count, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return words;
}

static void test_byte_offsets_have_64_bits(void **state)
{
    (void)state;
    vyre_kernel *kernel = compile(text, VYRE_TARGET_VULKAN_1_3);
    for (int is_aliased = 0; is_aliased < 2; is_aliased++) {
        uint32_t count;
        const uint32_t *words = words_of(kernel, is_aliased, false, 0, &count);
        for (size_t i = 0; i < CORNERS; i++) {
            for (size_t l = 0; l < CORNERS; l++) {
                if (corners[l] <= 0x80000000u) {
                    check(words, count, corners[i], corners[l]);
                }
            }
        }
    }
    vyre_kernel_destroy(&kernel);
}

static void test_wide_words_reach_every_element(void **state)
{
    (void)state;
    vyre_kernel *kernel = compile(text, VYRE_TARGET_VULKAN_1_3);
    for (int is_aliased = 0; is_aliased < 2; is_aliased++) {
        uint32_t count;
        const uint32_t *words = words_of(kernel, is_aliased, true, 0, &count);
        for (size_t i = 0; i < CORNERS; i++) {
            for (size_t l = 0; l < CORNERS; l++) {
                check(words, count, corners[i], corners[l]);
            }
        }
    }
    vyre_kernel_destroy(&kernel);
}

/* Elements of every size, where sums of the lower words carry and where they do not. */
static void test_wide_words_reach_cells_of_every_size(void **state)
{
    static const uint64_t bases[] = {0x1000000000u, 0x10fffffff0u, 0x1080000000u, 0x10fffe0000u};
    (void)state;
    vyre_kernel *kernel = compile(cells_text, VYRE_TARGET_VULKAN_1_3);
    uint32_t count;
    const uint32_t *words = words_of(kernel, false, true, 0, &count);
    for (size_t i = 0; i < CORNERS * VY_COUNT_OF(bases); i++) {
        uint32_t index = corners[i % CORNERS];
        uint64_t base = bases[i / CORNERS];
        begin(index);
        for (uint32_t b = 0; b < CELLS; b++) {
            put_binding(CELLS + 1, b, base + ((uint64_t)b << 40), UINT32_MAX);
        }
        put_binding(CELLS + 1, CELLS, I, 4);
        run_words(words, count);
        bool is_inside = index < UINT32_MAX; /* else loads are of the first element */
        assert_int_equal(touched_count, is_inside ? 2 * CELLS : CELLS);
        for (uint32_t t = 0; t < touched_count; t++) {
            uint64_t b = is_inside ? t / 2 : t, at = is_inside ? index : 0;
            assert_true(touched[t] == base + (b << 40) + at * cell_sizes[b]);
        }
    }
    vyre_kernel_destroy(&kernel);
}

/* Which others do not, so that the engine has to choose. */
static void test_other_words_have_a_sign(void **state)
{
    (void)state;
    vyre_kernel *kernel = compile(text, VYRE_TARGET_VULKAN_1_3);
    uint32_t count;
    const uint32_t *words = words_of(kernel, false, false, 0, &count);
    run(words, count, 0x80000000u, UINT32_MAX);
    assert_int_equal(touched_count, 4);
    assert_true(touched[0] == X - ((uint64_t)1 << 33));
    vyre_kernel_destroy(&kernel);
}

static void check_words(const uint32_t *words, uint32_t count, vyre_target target, bool is_aliased,
                        uint32_t binding_count)
{
    spv_context context = spvContextCreate(target == VYRE_TARGET_VULKAN_1_3 ? SPV_ENV_VULKAN_1_3
                                                                            : SPV_ENV_VULKAN_1_2);
    assert_int_equal(spvValidateBinary(context, words, count, NULL), SPV_SUCCESS);
    spvContextDestroy(context);
    vy_lint_expectation expectation = {.target = target,
                                       .aliased = is_aliased,
                                       .binding_count = binding_count,
                                       .interface = VYRE_INTERFACE_ADDRESS};
    char message[300];
    const char *fault = vy_lint(words, count, &expectation, message, sizeof message);
    if (fault) {
        fail_msg("%s", fault);
    }
    spirv_touches touches;
    assert_true(spirv_touches_read(words, count, &touches));
    assert_false(touches.is_unknown);
}

static void test_wide_words_are_valid_and_their_own(void **state)
{
    static const struct {
        const char *source;
        uint32_t binding_count, segment_count;
    } rows[] = {{text, 3, 1}, {cells_text, CELLS + 1, 1}, {kept_text, 1, 2}};
    (void)state;
    for (size_t i = 0; i < 2 * VY_COUNT_OF(rows); i++) {
        vyre_target target = i & 1 ? VYRE_TARGET_VULKAN_1_2 : VYRE_TARGET_VULKAN_1_3;
        vyre_kernel *kernel = compile(rows[i / 2].source, target);
        for (uint32_t k = 0; k < 2 * rows[i / 2].segment_count; k++) {
            uint32_t count, narrow, segment = k / 2;
            const uint32_t *words = words_of(kernel, k & 1, true, segment, &count);
            const uint32_t *others = words_of(kernel, k & 1, false, segment, &narrow);
            assert_false(count == narrow && memcmp(words, others, count * 4) == 0);
            check_words(words, count, target, k & 1, rows[i / 2].binding_count);
        }
        /* Descriptors know nothing of it. */
        vy_variant variant = {.interface = VYRE_INTERFACE_DESCRIPTOR, .is_wide = true};
        const uint32_t *words, *own = vy_kernel_get_segment(kernel, 0)->words;
        uint32_t count;
        vyre_diag diag;
        assert_int_equal(vy_kernel_variant(kernel, variant, 0, &words, &count, &diag), VYRE_OK);
        assert_ptr_equal(words, own);
        vyre_kernel_destroy(&kernel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_offsets_have_64_bits),
        cmocka_unit_test(test_wide_words_reach_every_element),
        cmocka_unit_test(test_wide_words_reach_cells_of_every_size),
        cmocka_unit_test(test_other_words_have_a_sign),
        cmocka_unit_test(test_wide_words_are_valid_and_their_own),
    };
    return cmocka_run_group_tests_name("wide", tests, NULL, NULL);
}
