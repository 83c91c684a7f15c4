/* Parameter structs of callers of other versions, and text in a caller's room. */
#include "codegen/base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct small_params {
    uint32_t struct_size, a;
} small_params;

typedef struct thing_params {
    uint32_t struct_size, a;
    uint64_t b;
} thing_params;

typedef struct large_params {
    uint32_t struct_size, a;
    uint64_t b;
    uint64_t c;
} large_params;

static vyre_result read_as(thing_params *out, size_t first_size, const void *given, vyre_diag *diag)
{
    return vy_params_read_raw(out, sizeof *out, first_size, given, "thing_params", diag);
}

static void test_params_of_other_sizes_are_read(void **state)
{
    (void)state;
    thing_params out, same = {sizeof same, 1, 2}, zero = {0, 3, 4};
    small_params small = {sizeof small, 5}, old = {0, 6};
    large_params large = {sizeof large, 7, 8, 0};
    vyre_diag diag;
    assert_int_equal(read_as(&out, sizeof out, NULL, &diag), VYRE_OK);
    assert_int_equal(out.struct_size, sizeof out);
    assert_int_equal(out.a, 0);
    assert_int_equal(out.b, 0);
    assert_int_equal(vy_params_read(thing_params, &out, &same, &diag), VYRE_OK);
    assert_int_equal(out.a, 1);
    assert_int_equal(out.b, 2);
    assert_int_equal(vy_params_read(thing_params, &out, &zero, &diag), VYRE_OK);
    assert_int_equal(out.struct_size, sizeof out);
    assert_int_equal(out.b, 4);
    assert_int_equal(read_as(&out, sizeof small, &small, &diag), VYRE_OK);
    assert_int_equal(out.a, 5);
    assert_int_equal(out.b, 0);
    assert_int_equal(out.struct_size, sizeof out);
    /* Size 0 is the first release's, here the small one: nothing behind it is looked at. */
    small_params *alone = malloc(sizeof *alone);
    *alone = old;
    assert_int_equal(read_as(&out, sizeof *alone, alone, &diag), VYRE_OK);
    free(alone);
    assert_int_equal(out.a, 6);
    assert_int_equal(out.b, 0);
    assert_int_equal(read_as(&out, sizeof small, &large, &diag), VYRE_OK);
    assert_int_equal(out.a, 7);
    assert_int_equal(out.b, 8);
}

static void test_params_that_say_more_are_refused(void **state)
{
    (void)state;
    thing_params out;
    large_params large = {sizeof large, 7, 8, (uint64_t)1 << 63};
    vyre_diag diag;
    assert_int_equal(
        vy_params_read_raw(&out, sizeof out, sizeof out, &large, "thing_params", &diag),
        VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "thing_params has 24 bytes, of which this library knows "
                                         "16, and byte 23 is not zero"));
    small_params small = {sizeof small, 5};
    assert_int_equal(read_as(&out, sizeof out, &small, &diag), VYRE_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(diag.message, "thing_params_init"));
    uint32_t tiny = 3;
    assert_int_equal(read_as(&out, sizeof small, &tiny, &diag), VYRE_ERROR_INVALID_ARGUMENT);
}

static void test_fixed_text_counts_what_it_cuts(void **state)
{
    (void)state;
    char room[8];
    memset(room, 'x', sizeof room);
    vy_fixed_text text = {room, sizeof room, 0};
    vy_fixed_text_printf(&text, "%s", "abcde");
    vy_fixed_text_printf(&text, "%d", 123456);
    vy_fixed_text_printf(&text, "!");
    assert_int_equal(text.length, 12);
    assert_string_equal(room, "abcde12");
    vy_fixed_text none = {NULL, 0, 0};
    vy_fixed_text_json(&none, "a\"b");
    assert_int_equal(none.length, 6);
    char json[40];
    vy_fixed_text whole = {json, sizeof json, 0};
    vy_fixed_text_json(&whole, "q\" b\\ n\n \x7f");
    vy_fixed_text_json(&whole, NULL);
    assert_string_equal(json, "\"q\\\" b\\\\ n\\u000a \x7f\"null");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_params_of_other_sizes_are_read),
        cmocka_unit_test(test_params_that_say_more_are_refused),
        cmocka_unit_test(test_fixed_text_counts_what_it_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
