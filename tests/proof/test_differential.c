/* Generated programs: interpreter and device agree on every element, record and pass count, each
 * seed in one of the ways in which programs reach a device; the generator makes what it promises;
 * and what differs is made small. */
#include "codegen/kernel.h"
#include "tests/support/differential.h"
#include "tests/support/validate_words.h"
#include "vyre/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <spirv/unified1/spirv.h>

#define SEEDS 500u

/* ---- Generator --------------------------------------------------------------------------------
 */

static void test_generator_covers_every_construct(void **state)
{
    (void)state;
    uint32_t counts[VY_GEN_CONSTRUCTS] = {0};
    uint32_t rich = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        vy_text text;
        vy_generated info;
        bool loop = false, live = false, shared = false;
        vy_text_init(&text, NULL);
        vy_generate(seed, &text, &info);
        for (uint32_t i = 0; vy_generate_construct_name(i); i++) {
            const char *name = vy_generate_construct_name(i);
            bool has = (info.constructs[i / 64] >> (i % 64)) & 1;
            counts[i] += has;
            loop |= has && strcmp(name, "loop") == 0;
            live |= has && strcmp(name, "live across") == 0;
            shared |= has && strcmp(name, "shared") == 0;
        }
        rich += loop && live && shared;
        vy_text_finish(&text);
    }
    for (uint32_t i = 0; vy_generate_construct_name(i); i++) {
        if (vy_generate_has_construct(i) && counts[i] * 20 < SEEDS) {
            fail_msg("%s stands in %u of %u programs", vy_generate_construct_name(i), counts[i],
                     SEEDS);
        }
    }
    if (rich * 2 < SEEDS) {
        fail_msg("only %u of %u programs have a loop, a live value and shared memory", rich, SEEDS);
    }
}

static void test_generator_is_deterministic(void **state)
{
    (void)state;
    vy_text a;
    vy_generated info;
    vy_gen_case b;
    vy_text_init(&a, NULL);
    vy_generate(42, &a, &info);
    vy_gen_case_generate(42, &b);
    assert_string_equal(a.data, b.text.data);
    assert_memory_equal(&info, &b.info, sizeof info);
    vy_text_finish(&a);
    vy_gen_case_finish(&b);
}

/* Parts nest, statements and declarations are whole lines, and edits keep all that. */
static void check_parts(const vy_gen_case *c)
{
    for (uint32_t i = 0; i < c->part_count; i++) {
        const vy_part *part = &c->parts[i];
        assert_true(part->begin <= part->end && part->end <= c->text.size);
        if (part->kind == VY_PART_STATEMENT || part->kind == VY_PART_DECLARATION) {
            assert_true(c->text.data[part->begin - 1] == '\n');
            assert_true(c->text.data[part->end - 1] == '\n');
        }
        for (uint32_t k = i + 1; k < c->part_count && c->parts[k].begin < part->end; k++) {
            assert_true(c->parts[k].begin >= part->begin && c->parts[k].end <= part->end);
        }
    }
}

static void test_parts_stay_right_when_edited(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        vy_gen_case c;
        vy_gen_case_generate(seed, &c);
        check_parts(&c);
        for (uint32_t i = 0; i < c.part_count; i += 3) {
            vy_part part = c.parts[i];
            vy_part inner = c.parts[i + 1 < c.part_count ? i + 1 : i];
            if (part.kind == VY_PART_EXPRESSION && inner.end <= part.end) {
                vy_gen_case_edit(&c, part.begin, part.end, inner.begin, inner.end, NULL);
            } else if (part.kind == VY_PART_STATEMENT) {
                vy_gen_case_edit(&c, part.begin, part.end, 0, 0, "");
            }
            check_parts(&c);
        }
        vy_gen_case_finish(&c);
    }
}

/* ---- Device -----------------------------------------------------------------------------------
 */

static vyre_device *open_device(void)
{
    if (getenv("VYRE_TESTS_NO_DEVICE")) {
        print_message("no device wanted: generated programs were not run\n");
        return NULL;
    }
    vyre_device *device = vy_test_device();
    assert_non_null(device);
    return device;
}

/* Of kernels that use subgroups for nothing else. */
static void count_joined(void *user, vyre_kernel *kernel)
{
    bool is_joined = false;
    for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
        const vy_kernel_segment *segment = vy_kernel_get_segment(kernel, s);
        for (uint32_t at = 5; at < segment->word_count; at += segment->words[at] >> 16) {
            uint32_t op = segment->words[at] & 0xffff;
            is_joined |= op == SpvOpGroupNonUniformElect || op == SpvOpGroupNonUniformBallot;
        }
    }
    *(uint32_t *)user += is_joined && !vy_kernel_get_subgroups(kernel).is_used;
}

static bool run_seeds(uint64_t first, uint32_t count)
{
    uint32_t joined = 0;
    const vy_hooks hooks = {.words = vy_validate_words, .kernel = count_joined, .user = &joined};
    vyre_device *device = vy_test_device();
    vyre_kernel_params params;
    vyre_device_kernel_params(device, &params);
    uint32_t bad = device ? vy_run_seeds(device, first, count, &hooks) : 1;
    vyre_device_destroy(&device);
    printf("%u programs had joined atomics\n", (unsigned)joined);
    return bad == 0 && (joined || params.reconvergence != VYRE_RECONVERGENCE_MAXIMAL);
}

/* Half of them in a process of its own: almost all of the time goes into drivers' compilers, which
 * have one thread. No device is open yet. */
static void test_device_agrees_with_interpreter(void **state)
{
    (void)state;
    int status = 0;
    if (getenv("VYRE_TESTS_NO_DEVICE")) {
        print_message("no device wanted: generated programs were not run\n");
        return;
    }
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool ok = run_seeds(SEEDS / 2 + 1, SEEDS - SEEDS / 2);
        (void)fflush(NULL);
        _exit(ok ? 0 : 1);
    }
    bool ok = run_seeds(1, SEEDS / 2);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(ok && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Found by generated programs: a driver took x for x + 0 where it knew the zero. */
static void check_zeros(vyre_device *device, const char *type, const char *minus_zero)
{
    char text[1000];
    snprintf(text, sizeof text,
             "program zeros\nin in_u32: u32[]\nout even_out: %s[7]\nout slots: f32[1]\nkernel {\n"
             "    let z: %s = %s\n"
             "    even_out[0] = z + %s(0.0)\n    even_out[1] = %s(0.0) + z\n"
             "    even_out[2] = z - (-%s(0.0))\n    even_out[3] = z + (-%s(0.0))\n"
             "    var sum = z\n    for i in 0 .. 2 { sum += %s(i * 0) }\n"
             "    even_out[4] = sum\n    even_out[5] = %s(0.0) - (z + %s(0.0))\n"
             "    even_out[6] = z + %s(u32(in_u32[0] > 5))\n"
             "    atomic_store(slots[0], -0.0)\n    atomic_add(slots[0], 0.0)\n}\n",
             type, type, minus_zero, type, type, type, type, type, type, type, type);
    vy_generated info = {.groups = {1, 1, 1}};
    vy_comparison comparison;
    info.lengths[vy_generate_find_type("u32")] = 1;
    info.zero_inputs[vy_generate_find_type("u32")] = true;
    const vy_mode mode = {.target = VYRE_TARGET_VULKAN_1_2};
    vy_compare(device, text, strlen(text), &info, &mode, NULL, &comparison);
    if (comparison.verdict != VY_SAME && comparison.verdict != VY_SKIPPED) {
        fail_msg("%s: %s", type, comparison.message);
    }
}

static void test_minus_zero_plus_zero_is_plus_zero(void **state)
{
    (void)state;
    vyre_device *device = open_device();
    if (!device) {
        return;
    }
    check_zeros(device, "f32", "bitcast<f32>(in_u32[0] | 0x80000000u)");
    check_zeros(device, "f16", "bitcast<f16>(u16(in_u32[0] | 0x8000u))");
    check_zeros(device, "f64", "bitcast<f64>(u64(in_u32[0] | 0x80000000u) << 32u)");
    vyre_device_destroy(&device);
}

/* A fault of the emitter: signed `<` compares as if unsigned. */
static void plant(void *user, vyre_kernel *kernel)
{
    (void)user;
    for (uint32_t s = 0; s < vyre_kernel_segment_count(kernel); s++) {
        const vy_kernel_segment *segment = vy_kernel_get_segment(kernel, s);
        for (uint32_t at = 5; at < segment->word_count; at += segment->words[at] >> 16) {
            if ((segment->words[at] & 0xffff) == SpvOpSLessThan) {
                segment->words[at] = (segment->words[at] & 0xffff0000u) | SpvOpULessThan;
            }
        }
    }
}

/* ---- Faults that generated programs find ------------------------------------------------------
 */

/* What the device gets for what the interpreter gets; of the same length. */
static const char *const swaps[][2] = {
    {"subgroup_min(", "subgroup_max("},
    {"subgroup_exclusive_", "subgroup_inclusive_"},
    {"& 15]", "& 14]"},
};

static void swap_text(void *user, char *text)
{
    const char *const *swap = user;
    size_t length = strlen(swap[0]);
    for (char *at = text; (at = strstr(at, swap[0])); at += length) {
        memcpy(at, swap[1], length);
    }
}

static bool finds(vyre_device *device, uint64_t seed, const char *const *swap)
{
    const vy_hooks hooks = {.device_text = swap_text, .user = (void *)(uintptr_t)swap};
    const vy_mode mode = {.target = VYRE_TARGET_VULKAN_1_2};
    vy_gen_case c;
    vy_comparison comparison = {.verdict = VY_SKIPPED};
    vy_gen_case_generate(seed, &c);
    if (strstr(c.text.data, swap[0])) {
        vy_compare(device, c.text.data, c.text.size, &c.info, &mode, &hooks, &comparison);
    }
    vy_gen_case_finish(&c);
    return comparison.verdict == VY_DIFFERENT;
}

static void test_generated_programs_find_faults(void **state)
{
    (void)state;
    vyre_device *device = open_device();
    if (!device) {
        return;
    }
    for (uint32_t i = 0; i < VY_COUNT_OF(swaps); i++) {
        uint64_t seed = 1;
        while (seed < 500 && !finds(device, seed, swaps[i])) {
            seed++;
        }
        if (seed == 500) {
            fail_msg("no program finds %s for %s", swaps[i][1], swaps[i][0]);
        }
        print_message("    %s: seed %u\n", swaps[i][0], (unsigned)seed);
    }
    vyre_device_destroy(&device);
}

static uint32_t count_lines(const char *text)
{
    uint32_t lines = 0;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static void test_difference_is_made_small(void **state)
{
    (void)state;
    vyre_device *device = open_device();
    if (!device) {
        return;
    }
    const vy_hooks hooks = {.kernel = plant};
    const vy_mode plain = {.target = VYRE_TARGET_VULKAN_1_2};
    bool found = false;
    for (uint64_t seed = 1; !found; seed++) {
        vy_gen_case c;
        vy_comparison comparison;
        vy_mode mode = plain;
        vy_gen_case_generate(seed, &c);
        vy_compare(device, c.text.data, c.text.size, &c.info, &mode, &hooks, &comparison);
        if (comparison.verdict == VY_DIFFERENT) {
            uint32_t runs = vy_shrink(device, &c, &mode, &hooks, 1500);
            print_message("    seed %u: %u lines after %u comparisons\n", (unsigned)seed,
                          count_lines(c.text.data), runs);
            vy_compare(device, c.text.data, c.text.size, &c.info, &mode, &hooks, &comparison);
            if (count_lines(c.text.data) > 15) {
                fail_msg("seed %u: %u lines are left:\n%s", (unsigned)seed,
                         count_lines(c.text.data), c.text.data);
            }
            assert_int_equal(comparison.verdict, VY_DIFFERENT);
            check_parts(&c);
            vy_compare(device, c.text.data, c.text.size, &c.info, &mode, NULL, &comparison);
            assert_int_equal(comparison.verdict, VY_SAME);
            found = true;
        }
        vy_gen_case_finish(&c);
        assert_true(seed < 100);
    }
    vyre_device_destroy(&device);
}

/* Runs the tests whose names match the argument, such as '*small*'; without one all. */
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generator_covers_every_construct),
        cmocka_unit_test(test_generator_is_deterministic),
        cmocka_unit_test(test_parts_stay_right_when_edited),
        cmocka_unit_test(test_device_agrees_with_interpreter),
        cmocka_unit_test(test_minus_zero_plus_zero_is_plus_zero),
        cmocka_unit_test(test_generated_programs_find_faults),
        cmocka_unit_test(test_difference_is_made_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
