/* Generated programs: interpreter and device agree on every element, record and pass count; and the
 * generator makes what it promises. */
#include "tests/support/differential.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS 500u

static void test_generator_covers_every_construct(void **state)
{
    (void)state;
    uint32_t counts[256] = {0};
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
        if (counts[i] * 20 < SEEDS) {
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
    vy_text a, b;
    vy_generated info;
    vy_text_init(&a, NULL);
    vy_text_init(&b, NULL);
    vy_generate(42, &a, &info);
    vy_generate(42, &b, &info);
    assert_string_equal(a.data, b.data);
    vy_text_finish(&a);
    vy_text_finish(&b);
}

static void test_device_agrees_with_interpreter(void **state)
{
    (void)state;
    if (getenv("VYRE_TESTS_NO_DEVICE")) {
        print_message("no device wanted: generated programs were not run\n");
        return;
    }
    vyre_device *device = vy_test_device();
    assert_non_null(device);
    assert_int_equal(vy_run_seeds(device, 1, SEEDS, NULL), 0);
    vyre_device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generator_covers_every_construct),
        cmocka_unit_test(test_generator_is_deterministic),
        cmocka_unit_test(test_device_agrees_with_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
