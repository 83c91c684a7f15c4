/* Growing text, hashing, diagnostics, results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "codegen/base/base.h"
#include "tests/support/fail_allocator.h"

static void test_text_appends_and_prints(void **state)
{
    (void)state;
    vy_text text;
    vy_text_init(&text, NULL);
    vy_text_append(&text, "", 0);
    assert_string_equal(text.data, "");
    vy_text_append(&text, "abcdef", 3);
    vy_text_printf(&text, "-%d-%s", 42, "x");
    assert_string_equal(text.data, "abc-42-x");
    assert_int_equal(text.size, 8);
    for (int i = 0; i < 10000; i++) {
        vy_text_printf(&text, "%d,", i % 10);
    }
    assert_int_equal(text.size, 8 + 20000);
    assert_int_equal(strlen(text.data), text.size);
    assert_false(text.failed);
    vy_text_finish(&text);
    assert_null(text.data);
}

static void test_text_failure_is_sticky(void **state)
{
    (void)state;
    vy_fail_allocator memory = {.fail_at = 2};
    vyre_allocator allocator = vy_fail_allocator_get(&memory);
    vy_text text;
    vy_text_init(&text, &allocator);
    for (int i = 0; i < 100; i++) {
        vy_text_printf(&text, "0123456789");
    }
    assert_true(text.failed);
    assert_int_equal(text.size, 60);
    assert_int_equal(strlen(text.data), 60);
    vy_text_finish(&text);
    assert_int_equal(memory.live_blocks, 0);
    assert_int_equal(memory.live_size, 0);
}

static uint64_t hash_of(const char *bytes, size_t size)
{
    vy_hash hash;
    vy_hash_init(&hash);
    vy_hash_bytes(&hash, bytes, size);
    return vy_hash_value(&hash);
}

static void test_hash_is_fixed_and_tells_inputs_apart(void **state)
{
    (void)state;
    /* Written out, so that a change of the function cannot go unnoticed: keys are kept on disk. */
    assert_true(hash_of("vyre", 4) == 0x4e70bd7f0c37ef2fu);
    assert_true(hash_of("", 0) != hash_of("\0", 1));
    assert_true(hash_of("a\0", 2) != hash_of("a", 1));
    assert_true(hash_of("12345678", 8) != hash_of("123456780", 9));

    vy_hash left, right;
    vy_hash_init(&left);
    vy_hash_init(&right);
    vy_hash_bytes(&left, "ab", 2);
    vy_hash_bytes(&left, "c", 1);
    vy_hash_bytes(&right, "a", 1);
    vy_hash_bytes(&right, "bc", 2);
    assert_true(vy_hash_value(&left) != vy_hash_value(&right));

    vy_hash_init(&left);
    vy_hash_init(&right);
    vy_hash_u32(&left, 1);
    vy_hash_u32(&left, 2);
    vy_hash_u32(&right, 2);
    vy_hash_u32(&right, 1);
    assert_true(vy_hash_value(&left) != vy_hash_value(&right));
}

static void test_hash_of_single_bits_differs_in_many_bits(void **state)
{
    (void)state;
    vy_hash base;
    vy_hash_init(&base);
    vy_hash_u64(&base, 0);
    for (int bit = 0; bit < 64; bit++) {
        vy_hash other;
        vy_hash_init(&other);
        vy_hash_u64(&other, (uint64_t)1 << bit);
        uint64_t change = vy_hash_value(&base) ^ vy_hash_value(&other);
        int count = 0;
        for (; change; change &= change - 1) {
            count++;
        }
        assert_true(count >= 12);
    }
}

static void test_diag_clear_says_that_nothing_applies(void **state)
{
    (void)state;
    vyre_diag diag;
    memset(&diag, 0xab, sizeof diag);
    vy_diag_clear(&diag);
    assert_int_equal(diag.code, VYRE_OK);
    assert_int_equal(diag.line, 0);
    assert_int_equal(diag.column, 0);
    assert_int_equal(diag.segment, VYRE_DIAG_NONE);
    assert_int_equal(diag.pass, VYRE_DIAG_NONE);
    assert_int_equal(diag.binding, VYRE_DIAG_NONE);
    assert_int_equal(diag.vk_result, 0);
    assert_string_equal(diag.file, "");
    assert_string_equal(diag.message, "");
    vy_diag_clear(NULL);
}

static void test_diag_set_fills_place_and_cuts_the_message(void **state)
{
    (void)state;
    vyre_diag diag;
    vy_diag_clear(&diag);
    diag.binding = 3;
    strcpy(diag.file, "a.vyre");
    assert_int_equal(vy_diag_set(&diag, VYRE_ERROR_INVALID_PROGRAM, (vy_loc){4, 7}, "x%d", 5),
                     VYRE_ERROR_INVALID_PROGRAM);
    assert_int_equal(diag.code, VYRE_ERROR_INVALID_PROGRAM);
    assert_int_equal(diag.line, 4);
    assert_int_equal(diag.column, 7);
    assert_int_equal(diag.binding, 3);
    assert_string_equal(diag.file, "a.vyre");
    assert_string_equal(diag.message, "x5");
    char long_text[2000];
    memset(long_text, 'y', sizeof long_text);
    long_text[sizeof long_text - 1] = 0;
    (void)vy_diag_set(&diag, VYRE_ERROR_IO, (vy_loc){0, 0}, "%s", long_text);
    assert_int_equal(strlen(diag.message), VYRE_DIAG_MESSAGE_SIZE - 1);
    assert_int_equal(vy_diag_set(NULL, VYRE_ERROR_BUSY, (vy_loc){0, 0}, "x"), VYRE_ERROR_BUSY);
    assert_int_equal(vy_diag_no_memory(&diag), VYRE_ERROR_OUT_OF_HOST_MEMORY);
    assert_non_null(strstr(diag.message, "Fix: "));
}

static void test_results_have_names_and_texts(void **state)
{
    (void)state;
    assert_string_equal(vyre_result_text(VYRE_OK), "success");
    assert_string_equal(vyre_result_name(VYRE_OK), "OK");
    assert_string_equal(vyre_result_text(VYRE_ERROR_INVALID_PROGRAM), "invalid program");
    assert_string_equal(vyre_result_name(VYRE_ERROR_INVALID_PROGRAM), "INVALID_PROGRAM");
    assert_string_equal(vyre_result_name(VYRE_ERROR_INTERNAL), "INTERNAL");
    assert_string_equal(vyre_result_text((vyre_result)1003), "unknown result");
    assert_string_equal(vyre_result_name((vyre_result)-1), "UNKNOWN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_appends_and_prints),
        cmocka_unit_test(test_text_failure_is_sticky),
        cmocka_unit_test(test_hash_is_fixed_and_tells_inputs_apart),
        cmocka_unit_test(test_hash_of_single_bits_differs_in_many_bits),
        cmocka_unit_test(test_diag_clear_says_that_nothing_applies),
        cmocka_unit_test(test_diag_set_fills_place_and_cuts_the_message),
        cmocka_unit_test(test_results_have_names_and_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
