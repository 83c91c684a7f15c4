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

/* ---- Memory that the test makes up ----------------------------------------------------------- */

static uint32_t block[64], indices[4], elsewhere;
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
    return &elsewhere;
}

static void put_address(uint32_t binding, uint64_t address)
{
    uint32_t at = vy_param_addresses(3, 0) + 2 * binding;
    block[at] = (uint32_t)address;
    block[at + 1] = (uint32_t)(address >> 32);
}

static void run(const uint32_t *words, uint32_t count, uint32_t index, uint32_t length)
{
    memset(block, 0, sizeof block);
    touched_count = 0;
    for (int i = 0; i < 4; i++) {
        indices[i] = index;
    }
    block[VY_PARAM_GROUPS] = block[VY_PARAM_GROUPS + 1] = block[VY_PARAM_GROUPS + 2] = 1;
    block[VY_PARAM_ELEMENTS] = block[VY_PARAM_ELEMENTS + 1] = block[VY_PARAM_ELEMENTS + 2] = 1;
    block[VY_PARAM_GROUP_TOTAL] = block[VY_PARAM_INVOCATIONS] = 1;
    block[VY_PARAM_LENGTHS] = block[VY_PARAM_LENGTHS + 2] = length;
    block[VY_PARAM_LENGTHS + 1] = 4;
    put_address(0, X);
    put_address(1, I);
    put_address(2, Y);
    machine m;
    machine_init(&m, words, count);
    m.find = find;
    m.push[VY_PUSH_ADDRESS / 4] = (uint32_t)BLOCK;
    m.push[VY_PUSH_ADDRESS / 4 + 1] = (uint32_t)((uint64_t)BLOCK >> 32);
    machine_run(&m);
    machine_finish(&m);
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

static vyre_kernel *compile(void)
{
    vyre_program *program = NULL;
    vyre_kernel *kernel = NULL;
    vyre_diag diag;
    assert_int_equal(vyre_program_parse(text, strlen(text), "t", NULL, &program, &diag), VYRE_OK);
    assert_int_equal(vyre_kernel_compile(program, NULL, &kernel, &diag), VYRE_OK);
    vyre_program_destroy(&program);
    return kernel;
}

static const uint32_t corners[] = {0,           1,           2,           6,           7,
                                   8,           0x3fffffffu, 0x40000000u, 0x40000001u, 0x7ffffffeu,
                                   0x7fffffffu, 0x80000000u, 0x80000001u, 0xfffffffeu, 0xffffffffu};
#define CORNERS (sizeof corners / sizeof *corners)

static const uint32_t *words_of(const vyre_kernel *kernel, bool is_aliased, bool is_wide,
                                uint32_t *out_count)
{
    vy_variant variant = {VYRE_INTERFACE_ADDRESS, is_aliased, is_wide};
    const uint32_t *words = NULL;
    vyre_diag diag;
    if (vy_kernel_variant(kernel, variant, 0, &words, out_count, &diag) != VYRE_OK) {
        fail_msg("%s", diag.message);
    }
    return words;
}

static void test_byte_offsets_have_64_bits(void **state)
{
    (void)state;
    vyre_kernel *kernel = compile();
    for (int is_aliased = 0; is_aliased < 2; is_aliased++) {
        uint32_t count;
        const uint32_t *words = words_of(kernel, is_aliased, false, &count);
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
    vyre_kernel *kernel = compile();
    for (int is_aliased = 0; is_aliased < 2; is_aliased++) {
        uint32_t count;
        const uint32_t *words = words_of(kernel, is_aliased, true, &count);
        for (size_t i = 0; i < CORNERS; i++) {
            for (size_t l = 0; l < CORNERS; l++) {
                check(words, count, corners[i], corners[l]);
            }
        }
    }
    vyre_kernel_destroy(&kernel);
}

/* Which others do not, so that the engine has to choose. */
static void test_other_words_have_a_sign(void **state)
{
    (void)state;
    vyre_kernel *kernel = compile();
    uint32_t count;
    const uint32_t *words = words_of(kernel, false, false, &count);
    run(words, count, 0x80000000u, UINT32_MAX);
    assert_int_equal(touched_count, 4);
    assert_true(touched[0] == X - ((uint64_t)1 << 33));
    vyre_kernel_destroy(&kernel);
}

static void test_wide_words_are_valid_and_their_own(void **state)
{
    (void)state;
    for (int target = VYRE_TARGET_VULKAN_1_3; target <= VYRE_TARGET_VULKAN_1_2; target++) {
        vyre_program *program = NULL;
        vyre_kernel *kernel = NULL;
        vyre_diag diag;
        vyre_kernel_params params = {.target = (vyre_target)target};
        assert_int_equal(vyre_program_parse(text, strlen(text), "t", NULL, &program, &diag),
                         VYRE_OK);
        assert_int_equal(vyre_kernel_compile(program, &params, &kernel, &diag), VYRE_OK);
        vyre_program_destroy(&program);
        for (int is_aliased = 0; is_aliased < 2; is_aliased++) {
            uint32_t count, narrow;
            const uint32_t *words = words_of(kernel, is_aliased, true, &count);
            const uint32_t *others = words_of(kernel, is_aliased, false, &narrow);
            assert_false(count == narrow && memcmp(words, others, count * 4) == 0);
            spv_context context = spvContextCreate(
                target == VYRE_TARGET_VULKAN_1_3 ? SPV_ENV_VULKAN_1_3 : SPV_ENV_VULKAN_1_2);
            assert_int_equal(spvValidateBinary(context, words, count, NULL), SPV_SUCCESS);
            spvContextDestroy(context);
            vy_lint_expectation expectation = {.target = (vyre_target)target,
                                               .aliased = is_aliased,
                                               .binding_count = 3,
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
        /* Descriptors know nothing of it. */
        vy_variant variant = {VYRE_INTERFACE_DESCRIPTOR, false, true};
        const uint32_t *words, *own = vy_kernel_get_segment(kernel, 0)->words;
        uint32_t count;
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
        cmocka_unit_test(test_other_words_have_a_sign),
        cmocka_unit_test(test_wide_words_are_valid_and_their_own),
    };
    return cmocka_run_group_tests_name("wide", tests, NULL, NULL);
}
